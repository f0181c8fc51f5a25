"""A script the user wrote says the score."""

from __future__ import annotations

import json
import os
import tempfile
from pathlib import Path
from typing import Any, ClassVar

import anyio.to_thread

from deliberate.errors import EvaluatorError
from deliberate.evaluators._base import measured
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Finished, Record, finite

__all__ = ["Script"]

_MOST_VARIABLE_BYTES = 131_000
"""Linux refuses a variable whose name, ``=``, value and NUL pass 131,072 bytes."""


class Script(Record, frozen=True, kw_only=True):
    """Runs a shell command that prints one JSON object ``{"score": …, "reasoning": …}`` on standard output.

    The last JSON object printed counts. The output under test is in the file ``EVAL_OUTPUT_FILE``, on standard input,
    and in the variable ``EVAL_OUTPUT`` where it fits. The command runs in the case's workspace. Anything but exit
    code 0 and a score on its scale is a failed reading.

    Args:
        command: A shell command.
        timeout_seconds: The total it may take.
        scale: What its numbers mean.
    """

    name: ClassVar[str] = "script"
    spends_tokens: ClassVar[bool] = False

    command: str
    timeout_seconds: float = 60.0
    scale: str = "0..100"

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        """Runs the command.

        Raises:
            ConfigError: Code may not be run here without ``--trust-code``.
            EvaluatorError: It failed, took too long, or printed no score.
        """
        with tempfile.TemporaryDirectory(prefix="deliberate-") as folder:
            output = Path(folder) / "output.txt"
            data = case.output.encode("utf-8", "replace")
            await anyio.to_thread.run_sync(output.write_bytes, data)
            env = {"EVAL_OUTPUT_FILE": str(output), "HOME": folder, "PATH": os.environ.get("PATH", os.defpath)}
            if len(data) <= _MOST_VARIABLE_BYTES and b"\0" not in data:
                env["EVAL_OUTPUT"] = data.decode()
            done = await runtime.sandbox.run(
                ["/bin/sh", "-c", self.command],
                cwd=case.workspace or folder,
                env=env,
                stdin=data,
                timeout_seconds=self.timeout_seconds,
            )
        reply = _last_object(self._checked(done))
        try:
            raw = finite(reply["score"])
        except (KeyError, ValueError) as error:
            msg = f"{self.command!r} printed no score: {error}"
            raise EvaluatorError(msg) from None
        return measured(
            self, raw, scale=self.scale, reason=_clean(reply.get("reasoning", "")), exit_code=done.exit_code
        )

    def _checked(self, done: Finished) -> str:
        if done.timed_out:
            msg = f"{self.command!r} took longer than {self.timeout_seconds:g} s"
            raise EvaluatorError(msg)
        if done.exit_code != 0:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            msg = f"{self.command!r} ended with exit code {done.exit_code}" + (f": {last[0]}" if last else "")
            raise EvaluatorError(msg)
        return done.stdout.decode("utf-8", "replace")


def _last_object(text: str) -> dict[str, Any]:
    """The last JSON object in a text."""
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            found = value
        at = text.find("{", end)
    if found is None:
        msg = "the script printed no JSON object"
        raise EvaluatorError(msg)
    return found


def _clean(text: object) -> str:
    """Text as it can be stored: lone surrogates, which JSON can spell and UTF-8 cannot, are replaced."""
    return str(text).encode("utf-8", "replace").decode()
