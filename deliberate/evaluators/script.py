"""A script the user wrote says the score."""

from __future__ import annotations

import json
import os
import re
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import msgspec
from anyio import to_thread

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators._base import measured
from deliberate.evaluators._files import inside, steady, words_that_are_files
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Finished, Record, finite, parse_scale

__all__ = ["Script"]

_MOST_VARIABLE_BYTES = 131_000
"""Linux refuses a variable whose name, ``=``, value and NUL pass 131,072 bytes."""

_MOST_SEARCHED = 20_000_000
"""How many characters are read, at most, to find the last object: nested beginnings could make it quadratic."""

_KAPSO = re.compile(r"^[ \t]*SCORE:[ \t]*(\S+)[ \t\r]*$", re.IGNORECASE | re.MULTILINE)
_SCALES = {"json": "0..100", "number": "0..100", "kapso": "0..1"}


class Script(Record, frozen=True, kw_only=True):
    """Runs a shell command that prints one JSON object ``{"score": …, "reasoning": …}`` on standard output.

    The last JSON object printed counts. The output under test is in the file ``EVAL_OUTPUT_FILE``, on standard input,
    and in the variable ``EVAL_OUTPUT`` where it fits (at most 128 KiB, no NUL). The command runs in a copy of the
    case's workspace, which it may change, in the best sandbox of the machine. Anything but exit code 0 and a score on
    its scale is a failed reading, and so is a script that changed while it ran.

    Args:
        command: A shell command.
        protocol: What it prints: ``json``; ``number``, a bare number on the last line; ``kapso``, a line
            ``SCORE: <number>`` (the last counts; others, such as ``STOP: true``, are its own).
        scale: What its numbers mean; None is ``0..100``, and ``0..1`` with ``kapso``.
        timeout_seconds: The total it may take.
        network: Whether it may use the network.
        files: Files of the workspace it is made of, besides those its command names: they are part of its
            fingerprint, and a change while it runs leaves no score.
    """

    name: ClassVar[str] = "script"
    spends_tokens: ClassVar[bool] = False

    command: str
    protocol: Literal["json", "number", "kapso"] = "json"
    scale: str | None = None
    timeout_seconds: float = 60.0
    network: bool = False
    files: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Checks the parameters.

        Raises:
            ConfigError: There is no command, the protocol is unknown, the scale is none, or there is no time.
        """
        if not self.command.strip() or "\0" in self.command:
            raise ConfigError("there is no command", where="script.command", expected="a shell command")
        if self.protocol not in _SCALES:
            expected = f"one of: {', '.join(_SCALES)}"
            raise ConfigError(f"unknown protocol {self.protocol!r}", where="script.protocol", expected=expected)
        try:
            parse_scale(self._scale)
        except ValueError as error:
            raise ConfigError(str(error), where="script.scale") from None
        if not 0 < self.timeout_seconds < float("inf"):
            raise ConfigError("a script needs time", where="script.timeout_seconds", expected="seconds above 0")

    @property
    def _scale(self) -> str:
        return self.scale or _SCALES[self.protocol]

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Runs the command.

        Raises:
            ConfigError: One of its files is not there, or no sandbox works here and code is not trusted.
            EvaluatorError: It failed, took too long, printed no score, or its files changed.
        """
        own = await to_thread.run_sync(self._own_files, case.workspace)
        async with steady(self, own) as fingerprint:
            done = await self._run(case, runtime)
        text = self._checked(done)
        raw, reasoning = await to_thread.run_sync(_READERS[self.protocol], text)
        found = measured(self, raw, scale=self._scale, reason=_clean(reasoning), exit_code=done.exit_code)
        return msgspec.structs.replace(found, fingerprint=fingerprint)

    async def _run(self, case: Case, runtime: Runtime) -> Finished:
        with tempfile.TemporaryDirectory(prefix="deliberate-") as folder:
            output = Path(os.path.realpath(folder), "output.txt")  # noqa: ASYNC240  a folder of ours
            data = case.output.encode("utf-8", "replace")
            await to_thread.run_sync(output.write_bytes, data)
            env = {"EVAL_OUTPUT_FILE": str(output)}
            if len(data) <= _MOST_VARIABLE_BYTES and b"\0" not in data:
                env["EVAL_OUTPUT"] = data.decode()
            return await runtime.sandbox.run(
                ["/bin/sh", "-c", self.command],
                workspace=case.workspace,
                env=env,
                readable=(str(output),),
                network=self.network,
                stdin=data,
                timeout_seconds=self.timeout_seconds,
            )

    def _own_files(self, workspace: str) -> tuple[Path, ...]:
        if not workspace:
            if self.files:
                raise ConfigError("the case has no workspace", where="script.files", expected="a case with a workspace")
            return ()
        folder = Path(workspace)
        named = tuple(inside(folder, name, where="script.files") for name in self.files)
        return tuple(dict.fromkeys((*words_that_are_files(self.command, folder), *named)))

    def _checked(self, done: Finished) -> str:
        if done.timed_out:
            msg = f"{self.command!r} took longer than {self.timeout_seconds:g} s"
            raise EvaluatorError(msg)
        if done.exit_code != 0:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
            msg = f"{self.command!r} ended with exit code {done.exit_code}" + (f": {last[0][:500]}" if last else "")
            raise EvaluatorError(msg)
        text = done.stdout.decode("utf-8", "replace")
        if done.truncated and len(done.stdout) > len(done.stderr):
            raise EvaluatorError(f"{self.command!r} printed more than can be kept, and its score comes last")
        return text


Reading = tuple[float, str]


def _json(text: str) -> Reading:
    reply = _last_object(text)
    try:
        return finite(reply["score"]), str(reply.get("reasoning", ""))
    except (KeyError, ValueError) as error:
        raise EvaluatorError(f"the script printed no score: {error}") from None


def _number(text: str) -> Reading:
    *before, last = text.strip().splitlines() or [""]
    return _plain(last), "\n".join(before).strip()


def _kapso(text: str) -> Reading:
    found = _KAPSO.findall(text)
    if not found:
        raise EvaluatorError("the script printed no line 'SCORE: <number>'")
    return _plain(found[-1]), ""


def _plain(word: str) -> float:
    try:
        return finite(float(word.strip()))
    except ValueError:
        raise EvaluatorError(f"the script printed no score: {word[:100]!r} is not a finite number") from None


_READERS = {"json": _json, "number": _number, "kapso": _kapso}


def _last_object(text: str) -> Mapping[str, Any]:
    """The last JSON object in a text that lies in no other.

    Raises:
        EvaluatorError: There is none, or too much looks like one.
    """
    decoder = json.JSONDecoder()
    found: dict[str, Any] | None = None
    searched = 0
    at = text.find("{")
    while at >= 0:
        try:
            value, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError) as error:
            end = at + 1
            searched += getattr(error, "pos", len(text)) - at
            if searched > _MOST_SEARCHED:
                raise EvaluatorError("the script printed too much that begins like a JSON object and is none") from None
        else:
            found = value
        at = text.find("{", end)
    if found is None:
        raise EvaluatorError("the script printed no JSON object")
    return found


def _clean(text: str) -> str:
    """Text as it can be stored: lone surrogates, which JSON can spell and UTF-8 cannot, are replaced."""
    return text.encode("utf-8", "replace").decode()
