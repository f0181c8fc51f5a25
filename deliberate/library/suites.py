"""Task suites: the tasks that one skill is tried on (``task_suite.yaml``), read in full before anything is asked.

The words of the format end here: ``contains`` ignores letter case there, ``llm-rubric`` is our ``llm_rubric``, and a
``pytest`` file lies in ``fixtures/`` beside the suite.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Annotated, Any, Literal, cast

from pydantic import AfterValidator, BeforeValidator, Field

from deliberate.errors import ConfigError, SuiteError
from deliberate.library._files import read_text
from deliberate.library._yaml import Document, Label, Model, Words, Written, load
from deliberate.library.plans import Require, stated
from deliberate.types import Param, Record, Spec, Suite, Task

__all__ = ["JUDGES", "LoadedSuite", "read_suite"]

_FIXTURES = "fixtures"


class LoadedSuite(Record, frozen=True, kw_only=True):
    """A suite with the folder its file lies in, and the digests of all that its outcome hangs on.

    ``digests`` holds the text of the suite (``""``) and each file below ``fixtures/``, by its path.
    """

    suite: Suite
    folder: Path
    document: Document
    digests: Mapping[str, str]


def _version(value: object) -> object:
    if value == "1.0" and isinstance(value, str):
        return value
    quoted = 'put it in quotes: version: "1.0"' if value == 1 else 'expected "1.0"'
    raise ValueError(f"{value!r} is no version of suites there is: {quoted}")


def _fixture(value: object) -> object:
    path = PurePosixPath(value) if isinstance(value, str) else PurePosixPath()
    inside = len(path.parts) > 1 and path.parts[0] == _FIXTURES and ".." not in path.parts
    if inside and not set(str(value)) & {"\\", "\0"}:
        return value
    raise ValueError(f"{value!r} may lie outside the suite's own tests: expected fixtures/NAME.py, without '..'")


def _needed(value: object) -> object:
    if value in ("all", "any") or (type(value) is int and value >= 1):
        return value
    raise ValueError(f"{value!r}: expected all, any, or how many must occur")


def _phrase(value: str) -> str:
    if value.strip():
        return value
    raise ValueError(f"{value!r} occurs everywhere: expected text that says something")


_Phrase = Annotated[str, AfterValidator(_phrase)]
_Seconds = Annotated[float, Field(gt=0)]


class _Contains(Written):
    type: Literal["contains"]
    expected: Annotated[tuple[_Phrase, ...], Field(min_length=1)]
    require: Annotated[Any, BeforeValidator(_needed)] = "all"
    ignore_case: bool = True
    whole_words: bool = False

    def spec(self) -> Spec:
        """The evaluator that it is."""
        return Spec(type="contains", params=self.model_dump(exclude={"type"}))


class _Pytest(Written):
    type: Literal["pytest"]
    test_file: Annotated[str, BeforeValidator(_fixture)]
    timeout_seconds: _Seconds = 60.0

    def spec(self) -> Spec:
        """The evaluator that it is."""
        return Spec(type="pytest", params=self.model_dump(exclude={"type"}))


class _Rubric(Written):
    type: Literal["llm-rubric"]
    rubric: Words
    pass_threshold: Annotated[float, Field(ge=0, le=1)] = 0.7
    model: Model | None = None

    def spec(self) -> Spec:
        """The evaluator that it is."""
        return Spec(type="llm_rubric", params=self.model_dump(exclude={"type"}, exclude_none=True))


_Judge = _Contains | _Pytest | _Rubric
JUDGES: Mapping[str, type[_Judge]] = {"contains": _Contains, "pytest": _Pytest, "llm-rubric": _Rubric}
"""What may judge a task, by the word for it in a suite."""


class _Task(Written):
    id: Label
    description: str = ""
    prompt: Words
    judge: dict[str, Any]
    timeout_seconds: _Seconds = 300.0


class _Require(Require):
    """Of one outcome, whose agreement is a share."""

    min_agreement: Annotated[float, Field(ge=0, le=1)] | None = None


class _Suite(Written):
    skill_id: Label
    version: Annotated[str, BeforeValidator(_version)]
    tasks: Annotated[tuple[_Task, ...], Field(min_length=1)]
    require: _Require = _Require()


def read_suite(path: Path) -> LoadedSuite:
    """The suite in a file, with the fixtures beside it.

    Raises:
        SuiteError: It cannot be read; the message lists everything that is wrong, each with its line and column.
    """
    if not path.exists():
        raise SuiteError("Task suite not found", where=str(path), expected="a YAML file", hint="--task-suite FILE")
    text = read_text(path, error=SuiteError)
    document = load(text, file=str(path), error=SuiteError)
    folder = path.absolute().parent
    faults = [*document.faults(_Suite), *_judges(document, folder), *_twice(document)]
    if faults:
        raise SuiteError.of(sorted(faults, key=_place))
    written = document.read(_Suite)
    tasks = tuple(
        Task(
            id=one.id,
            prompt=one.prompt,
            judge=JUDGES[one.judge["type"]].model_validate(one.judge).spec(),
            description=one.description,
            timeout_seconds=one.timeout_seconds,
        )
        for one in written.tasks
    )
    suite = Suite(skill_id=written.skill_id, tasks=tasks, require=stated(written.require))
    return LoadedSuite(suite=suite, folder=folder, document=document, digests=_digests(text, folder))


def _place(fault: ConfigError) -> tuple[int, int]:
    _, line, column = fault.where.rsplit(":", 2)
    return int(line), int(column)


def _tasks(document: Document) -> Iterator[tuple[int, Mapping[str, Param]]]:
    """The tasks as they are written, as far as they are mappings."""
    data = document.data
    tasks = data.get("tasks") if isinstance(data, Mapping) else None
    for at, task in enumerate(cast("tuple[Param, ...]", tasks) if isinstance(tasks, tuple) else ()):
        if isinstance(task, Mapping):
            yield at, task


def _judges(document: Document, folder: Path) -> Iterator[ConfigError]:
    """What is wrong with the judges of all tasks."""
    for at, task in _tasks(document):
        judge = task.get("judge")
        if not isinstance(judge, Mapping):
            continue
        here = ("tasks", at, "judge")
        kind = cast("Mapping[str, Param]", judge).get("type")
        named = f"task {task.get('id', at)!r}"
        if not isinstance(kind, str) or kind not in JUDGES:
            what = f"{named}: judge type {kind!r} is not known" if kind else f"{named}: the judge has no type"
            yield document.fault(what, *here, "type", expected=f"one of: {', '.join(JUDGES)}")
            continue
        found = document.faults(JUDGES[kind], *here)
        yield from found
        if kind == "pytest" and not found:
            yield from _outside(str(judge["test_file"]), document, folder, *here)


def _outside(name: str, document: Document, folder: Path, *here: str | int) -> Iterator[ConfigError]:
    """Whether a file that is there is one of the suite's own, links followed."""
    place = (folder / name).resolve()
    if place.exists() and not place.is_relative_to((folder / _FIXTURES).resolve()):
        yield document.fault(f"{name!r} leads outside fixtures/", *here, "test_file", expected="a file in fixtures/")


def _twice(document: Document) -> Iterator[ConfigError]:
    """Ids that two tasks share; a number is the same as its digits in quotes."""
    seen: set[str] = set()
    for at, task in _tasks(document):
        name = str(task.get("id", "")).strip()
        if name in seen:
            yield document.fault(f"duplicate task id {name!r}", "tasks", at, "id", expected="an id of its own")
        seen |= {name} if name else set()


def _digests(text: str, folder: Path) -> Mapping[str, str]:
    found = {"": hashlib.sha256(text.encode()).hexdigest()}
    for path in sorted((folder / _FIXTURES).rglob("*")):
        if path.is_file() and "__pycache__" not in path.parts:
            found[path.relative_to(folder).as_posix()] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
