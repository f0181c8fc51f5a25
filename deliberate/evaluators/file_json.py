"""A number in a JSON file of the workspace is the score."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any, ClassVar, cast

import anyio.to_thread

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators._base import checked_scale, measured
from deliberate.evaluators._pattern import number_in
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record, finite

__all__ = ["FileJson"]

_MOST_BYTES = 4 * 1024 * 1024  # reading JSON lets nobody else run; this takes some 50 ms
_STEP = re.compile(r"(?:[^.\\]|\\.)+")


class FileJson(Record, frozen=True, kw_only=True):
    r"""The number at a path in a JSON file that the subject left in its workspace.

    Numbers written as text count (``"0.87"``, ``"87%"``), and true and false are 1 and 0. The file must lie inside the
    workspace, be no link, and have at most 4 MiB: anything else is a failed reading, whatever the default. Without a
    ``scale`` the number is reported, and cannot enter an aggregate.

    Args:
        filename: The file, relative to the workspace.
        score_key: Keys from the outside in, with dots between; an index reaches into a list (``runs.0.f1``, ``-1`` is
            the last), and ``\.`` is a dot that belongs to a key.
        default_score: Stands in, marked as such, where file or number is missing; None: the reading has failed then.
        scale: What the number means, as in ``"0..1"``.
    """

    name: ClassVar[str] = "file_json"
    spends_tokens: ClassVar[bool] = False

    filename: str = "results.json"
    score_key: str = "score"
    default_score: float | None = None
    scale: str | None = None

    def __post_init__(self) -> None:
        """Checks file name, path, scale and default.

        Raises:
            ConfigError: One of them does not fit.
        """
        path = PurePath(self.filename)
        if path.is_absolute() or ".." in path.parts or not path.parts or "\0" in self.filename:
            raise ConfigError(
                f"{self.filename!r} leads out of the workspace",
                where="file_json.filename",
                expected="a file inside of it, as in results.json",
            )
        if not _steps(self.score_key):
            raise ConfigError("no key", where="file_json.score_key", expected="a path such as evaluation.f1_score")
        checked_scale(self.scale, self.default_score, part="file_json")

    @property
    def unscaled(self) -> bool:
        """Whether its number is on no declared scale."""
        return self.scale is None

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Reads the file, in a thread.

        Raises:
            ConfigError: The case has no workspace.
            EvaluatorError: The file may not be read, or there is no number in it and no default.
        """
        if not case.workspace:
            raise ConfigError("there is no folder to read from", where="file_json", expected="a case with a workspace")
        try:
            raw = await anyio.to_thread.run_sync(self._read, case.workspace)
        except ValueError as error:
            reason = f"{self.filename}: {error}"
            if self.default_score is None:
                raise EvaluatorError(reason) from None
            reason += "; the default stands in"
            return measured(self, self.default_score, scale=self.scale, reason=reason, defaulted=True)
        return measured(self, raw, scale=self.scale, reason=f"{self.filename}: {self.score_key} is {raw:g}")

    def _read(self, workspace: str) -> float:
        data = _bytes(Path(workspace), self.filename)
        try:
            found = json.loads(data.decode("utf-8-sig"), parse_constant=_refuse)
        except UnicodeDecodeError:
            msg = "is not text"
            raise ValueError(msg) from None
        except (ValueError, RecursionError) as error:
            msg = f"is not JSON: {error}"
            raise ValueError(msg) from None
        for step in _steps(self.score_key):
            found = _inner(found, step)
        return _number(found)


def _bytes(workspace: Path, filename: str) -> bytes:
    """A file of the workspace.

    Raises:
        ValueError: There is none.
        EvaluatorError: It is a link or lies behind one, is no plain file, or is too large.
    """
    root = workspace.resolve()
    path = root / filename
    try:
        if path.resolve() != path:
            msg = f"{filename} is a link, or lies behind one: it may lead out of the workspace"
            raise EvaluatorError(msg)
        handle = _opened(root, filename)
    except (FileNotFoundError, NotADirectoryError):
        msg = "there is no such file"
        raise ValueError(msg) from None
    except OSError as error:
        msg = f"{filename} cannot be read: {error.strerror}"
        raise EvaluatorError(msg) from None
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        msg = f"{filename} is no plain file"
        raise EvaluatorError(msg)
    with os.fdopen(handle, "rb") as file:
        data = file.read(_MOST_BYTES + 1)
    if len(data) > _MOST_BYTES:
        msg = f"{filename} is larger than {_MOST_BYTES // 1024 // 1024} MiB"
        raise EvaluatorError(msg)
    return data


def _opened(root: Path, filename: str) -> int:
    """A handle on the file, folder by folder from the root's own: none of them can be swapped for a link meanwhile.

    Where the system opens nothing beside a handle, only the file itself cannot.
    """
    alone = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0)
    at_once = alone | getattr(os, "O_NONBLOCK", 0)  # no waiting for a pipe's other end
    if os.open not in os.supports_dir_fd:
        return os.open(root / filename, at_once)
    *folders, name = PurePath(filename).parts
    handle = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for folder in folders:
            inner = os.open(folder, alone | os.O_DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = inner
        return os.open(name, at_once, dir_fd=handle)
    finally:
        os.close(handle)


def _steps(key: str) -> tuple[str, ...]:
    r"""The keys of a dotted path; none if one of them is empty.

    >>> _steps(r"a.0.b\.c"), _steps("a..b")
    (('a', '0', 'b.c'), ())
    """
    steps = _STEP.findall(key)
    whole = ".".join(steps) == key
    return tuple(re.sub(r"\\(.)", r"\1", step) for step in steps) if whole else ()


def _inner(value: object, step: str) -> object:
    if isinstance(value, Mapping):
        inner = cast("Mapping[str, object]", value)
        if step in inner:
            return inner[step]
        msg = f"there is no key {step!r}"
        raise ValueError(msg)
    if isinstance(value, Sequence) and not isinstance(value, str):
        items = cast("Sequence[object]", value)
        if re.fullmatch(r"-?\d{1,9}", step) and -len(items) <= int(step) < len(items):
            return items[int(step)]
        msg = f"there is no item {step!r} in a list of {len(items)}"
        raise ValueError(msg)
    msg = f"{step!r} leads into something that is neither mapping nor list"
    raise ValueError(msg)


def _number(value: Any) -> float:  # noqa: ANN401  JSON
    if isinstance(value, bool):
        return float(value)
    return number_in(value) if isinstance(value, str) else finite(value)


def _refuse(constant: str) -> float:
    msg = f"{constant} is no number"
    raise ValueError(msg)
