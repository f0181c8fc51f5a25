"""A pytest file of the user's own tests the output."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path, PurePosixPath
from typing import ClassVar

import msgspec
from anyio import to_thread

from deliberate.errors import ConfigError
from deliberate.evaluators._files import inside, steady
from deliberate.evaluators._tests import evaluation_of, pytest_isolated, run_pytest
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["Pytest"]


class Pytest(Record, frozen=True, kw_only=True):
    """Runs pytest on a test file that finds the output in the file ``AI_OUTPUT_FILE``.

    The score is the share of tests that passed (0–1); ``details["all_passed"]`` says whether all did. A test file that
    cannot be loaded, holds no test, or does not end in time gives no score. Each failed test is a Blocker.

    Args:
        test_file: The file, relative to ``folder`` and inside it, links resolved.
        folder: Where test file and fixtures lie: beside the suite. Empty: the case's workspace. The tests run in a
            copy of it, and see no other configuration of pytest's than this evaluator's.
        plugins: Plugins of pytest's to load, by module; no other is.
        network: Whether the tests may use the network.
        timeout_seconds: The total they may take.
    """

    name: ClassVar[str] = "pytest"
    spends_tokens: ClassVar[bool] = False

    test_file: str
    folder: str = ""
    plugins: tuple[str, ...] = ()
    network: bool = False
    timeout_seconds: float = 60.0

    def __post_init__(self) -> None:
        """Checks the parameters.

        Raises:
            ConfigError: The file's name leads out of its folder, or there is no time.
        """
        path = PurePosixPath(self.test_file.replace("\\", "/"))
        if not self.test_file.strip() or "\0" in self.test_file or path.is_absolute() or ".." in path.parts:
            expected = "a file inside the folder, such as fixtures/test_answer.py"
            raise ConfigError(f"{self.test_file!r} is no such file", where="pytest.test_file", expected=expected)
        if not 0 < self.timeout_seconds < float("inf"):
            raise ConfigError("tests need time", where="pytest.timeout_seconds", expected="seconds above 0")

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Runs the tests.

        Raises:
            ConfigError: There is no such file in the folder, or no sandbox works here and code is not trusted.
            EvaluatorError: pytest is not installed or was broken off, or the file or its neighbors changed meanwhile.
        """
        if not (self.folder or case.workspace):
            raise ConfigError("there is no folder", where="pytest.folder", expected="where the test file lies")
        folder, test = await to_thread.run_sync(self._places, case.workspace)
        with tempfile.TemporaryDirectory(prefix="deliberate-") as place:
            output = Path(os.path.realpath(place), "output.txt")  # noqa: ASYNC240  two folders deep
            await to_thread.run_sync(output.write_bytes, case.output.encode("utf-8", "replace"))
            async with steady(self, [test if test.parent == folder else test.parent]) as fingerprint:
                ran = await run_pytest(
                    runtime,
                    [str(test.relative_to(folder))],
                    workspace=str(folder),
                    env={"AI_OUTPUT_FILE": str(output)},
                    options=(*pytest_isolated(), *(word for name in self.plugins for word in ("-p", name))),
                    readable=[str(output), *([case.workspace] if case.workspace else [])],
                    network=self.network,
                    timeout_seconds=self.timeout_seconds,
                )
        found = evaluation_of(self, [ran], timeout_seconds=self.timeout_seconds, required=True)
        return msgspec.structs.replace(found, fingerprint=fingerprint)

    def _places(self, workspace: str) -> tuple[Path, Path]:
        """The folder, and the test file in it, both without links."""
        folder = Path(self.folder or workspace)
        return folder.resolve(), inside(folder, self.test_file, where="pytest.test_file")
