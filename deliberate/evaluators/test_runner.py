"""The tests of the case's own project: pytest, cargo, go, npm."""

from __future__ import annotations

import json
import re
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal, cast

from anyio import to_thread

from deliberate.errors import ConfigError
from deliberate.evaluators._base import unscored
from deliberate.evaluators._console import cargo_text, go_text, npm_text
from deliberate.evaluators._report import Tally, cargo_json, go_json, jest_json, junit_xml, mocha_json
from deliberate.evaluators._tests import MOST_BYTES, Ran, evaluation_of, pytest_isolated, read, run_pytest
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Finished, Record

__all__ = ["TestRunner"]

Tool = Literal["pytest", "cargo", "go", "npm"]


class TestRunner(Record, frozen=True, kw_only=True):
    """Runs the tests of the project that the case's workspace is; the score is the share that passed (0–1).

    It finds out which tools the project uses, runs all of them in a copy of it, and reads their structured reports
    (JUnit XML, JSON); where a tool has none, what it prints for people (``flags``: ``read_from_text``). A tool's exit
    code overrules its report. A project without tests is skipped. Tests that cannot be loaded or built, that do not
    end in time, or whose report contradicts the exit code leave no score. Each failed test is a Blocker. Of cargo's
    tests, those in documentation are not run.

    Args:
        tool: ``auto``, or the only tool to run.
        required: Whether a project without tests has failed, instead of being skipped.
        plugins: Plugins of pytest's to load, by module; no other is.
        use_project_config: Whether pytest follows the project's own configuration, which can run any code in its
            name; it needs ``--trust-code``.
        network: Whether the tests may use the network.
        timeout_seconds: The total for each tool.
    """

    __test__: ClassVar[bool] = False  # its name begins like one, and it is no test
    name: ClassVar[str] = "test_runner"
    spends_tokens: ClassVar[bool] = False

    tool: Literal["auto", "pytest", "cargo", "go", "npm"] = "auto"
    required: bool = False
    plugins: tuple[str, ...] = ()
    use_project_config: bool = False
    network: bool = False
    timeout_seconds: float = 300.0

    def __post_init__(self) -> None:
        """Checks the parameters.

        Raises:
            ConfigError: The tool is unknown, or there is no time.
        """
        if self.tool not in {"auto", *_TOOLS}:
            raise ConfigError(
                f"unknown tool {self.tool!r}", where="test_runner.tool", expected=f"one of: auto, {', '.join(_TOOLS)}"
            )
        if not 0 < self.timeout_seconds < float("inf"):
            raise ConfigError("tests need time", where="test_runner.timeout_seconds", expected="seconds above 0")

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Runs the tests.

        Raises:
            ConfigError: No sandbox works here, or the project's configuration is wanted, and code is not trusted.
            EvaluatorError: A tool is not installed, or broke off without a report.
        """
        if self.use_project_config and not runtime.sandbox.trusts_code:
            raise ConfigError(
                "the project's own configuration can run any code",
                where="test_runner.use_project_config",
                hint="give --trust-code if you trust the project",
            )
        why = "required" if self.required else "skipped"
        tools = await to_thread.run_sync(tools_of, Path(case.workspace)) if case.workspace else ()
        if self.tool != "auto" and case.workspace:
            tools = (self.tool,)
        if not tools:
            detail = "the workspace has no tests that are known here" if case.workspace else "the case has no workspace"
            return unscored(self, "failed" if why == "required" else "skipped", detail)
        runs = [await _TOOLS[tool](self, case.workspace, runtime) for tool in tools]
        return evaluation_of(self, runs, timeout_seconds=self.timeout_seconds, required=self.required)


def tools_of(folder: Path) -> tuple[Tool, ...]:
    """The test tools a project uses, by the files at its top."""
    found: list[Tool] = []
    if (folder / "Cargo.toml").is_file():
        found.append("cargo")
    if (folder / "go.mod").is_file():
        found.append("go")
    if any((folder / name).is_file() for name in _PYTEST_FILES) or any(_python_tests(folder)):
        found.append("pytest")
    if npm_script(folder):
        found.append("npm")
    return tuple(found)


_PYTEST_FILES = ("pytest.ini", "pyproject.toml", "setup.py", "tox.ini", "conftest.py")
_NO_TEST = re.compile(r"no test specified")


def _python_tests(folder: Path) -> list[Path]:
    places = (folder, folder / "tests", folder / "test")
    return [path for place in places for shape in ("test_*.py", "*_test.py") for path in place.glob(shape)]


def npm_script(folder: Path) -> str:
    """The command of a project's ``npm test``; empty if there is none."""
    try:
        package: object = json.loads((folder / "package.json").read_bytes())
    except (OSError, ValueError, RecursionError):
        return ""
    scripts = cast("Mapping[str, Any]", package).get("scripts") if isinstance(package, dict) else None
    test = cast("Mapping[str, Any]", scripts).get("test") if isinstance(scripts, dict) else None
    return test if isinstance(test, str) and not _NO_TEST.search(test) else ""


async def _pytest(self: TestRunner, workspace: str, runtime: Runtime) -> Ran:
    own = () if self.use_project_config else pytest_isolated()
    return await run_pytest(
        runtime,
        [],
        workspace=workspace,
        env={},
        options=(*own, *(word for name in self.plugins for word in ("-p", name))),
        network=self.network,
        timeout_seconds=self.timeout_seconds,
    )


async def _cargo(self: TestRunner, workspace: str, runtime: Runtime) -> Ran:
    # JSON is for test binaries of nightly compilers, unless they are told otherwise; only they are, not the compiler.
    runner = """target."cfg(all())".runner=["env","RUSTC_BOOTSTRAP=1"]"""
    offline = () if self.network else ("--offline",)
    command = ["cargo", "test", "--no-fail-fast", "--lib", "--bins", "--tests", "--examples", *offline]
    command += ["--config", runner, "--", "-Z", "unstable-options", "--format=json"]
    return await _run(self, "cargo", command, workspace=workspace, runtime=runtime, readers=(cargo_json, cargo_text))


async def _go(self: TestRunner, workspace: str, runtime: Runtime) -> Ran:
    command = ["go", "test", "-json", "./..."]
    return await _run(self, "go", command, workspace=workspace, runtime=runtime, readers=(go_json, go_text))


async def _npm(self: TestRunner, workspace: str, runtime: Runtime) -> Ran:
    script = await to_thread.run_sync(npm_script, Path(workspace))
    kind = next((shape for shape in _NPM if re.search(shape, script)), "")
    options, reader, env = _NPM.get(kind, ((), npm_text, {}))
    command = ["npm", "test", "--silent", *(["--", *options] if options else [])]
    variables = {"CI": "true", **env}
    return await _run(
        self, "npm", command, workspace=workspace, runtime=runtime, readers=(reader, npm_text), env=variables
    )


Reader = Callable[[str], Tally]

_NPM: Mapping[str, tuple[tuple[str, ...], Reader, Mapping[str, str]]] = {
    r"\bvitest\b": (("--run", "--reporter=junit"), junit_xml, {}),
    r"\bjest\b": (("--json",), jest_json, {}),
    r"\bmocha\b": (("--reporter", "json"), mocha_json, {}),
    r"\bnode\b.* --test\b": (
        (),
        junit_xml,
        {"NODE_OPTIONS": "--test-reporter=junit --test-reporter-destination=stdout"},
    ),
}
"""By the runner that a script starts: what it is told, how its report is read, and variables."""


async def _run(
    self: TestRunner,
    tool: Tool,
    command: list[str],
    *,
    workspace: str,
    runtime: Runtime,
    readers: tuple[Reader, Reader],
    env: Mapping[str, str] = {},
) -> Ran:
    """One tool, run to its end, and read."""
    done: Finished = await runtime.sandbox.run(
        command,
        workspace=workspace,
        env=env,
        network=self.network,
        timeout_seconds=self.timeout_seconds,
        most_bytes=MOST_BYTES,
    )
    return await to_thread.run_sync(read, tool, done, *readers)


_TOOLS: Mapping[Tool, Callable[[TestRunner, str, Runtime], Awaitable[Ran]]] = {
    "pytest": _pytest,
    "cargo": _cargo,
    "go": _go,
    "npm": _npm,
}
