"""Guarded YAML, checked against strict models; every error names file, line, column and key.

A document is data with the place of each piece of it. Models are pydantic, strict, and refuse keys they do not know.
``_compose`` (and with it ruamel) is imported when the first text is read.
"""

from __future__ import annotations

import difflib
import types
import typing
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, StringConstraints, ValidationError

from deliberate.errors import ConfigError
from deliberate.library._files import MOST_BYTES, read_text
from deliberate.types import Param, Record

__all__ = [
    "Document",
    "Format",
    "FreeName",
    "Label",
    "Model",
    "Name",
    "SkillName",
    "Words",
    "Written",
    "load",
    "load_file",
    "spelled",
]

_NAME = r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$"
_FREE_NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$"
_SKILL_NAME = r"^[a-z0-9]+(-[a-z0-9]+)*$"
_LABEL = r"^[^\x00-\x1f\x7f]+$"
_MODEL = r"^[^\s/]+/\S+$"

Words = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
"""Text that says something."""

Label = Annotated[str, StringConstraints(strip_whitespace=True, pattern=_LABEL, max_length=64)]
"""One short line."""

Name = Annotated[str, StringConstraints(pattern=_NAME)]
"""A name that can be a file's, a seat's and a flag's."""

FreeName = Annotated[str, StringConstraints(pattern=_FREE_NAME)]
"""A name as other tools allow it, which can still be a folder's."""

SkillName = Annotated[str, StringConstraints(pattern=_SKILL_NAME, max_length=64)]
"""A name as Agent Skills want it."""

Model = Annotated[str, StringConstraints(pattern=_MODEL, max_length=200)]
"""A model with the prefix that says who serves it."""


def _first(value: object) -> object:
    if value == 1 and type(value) is int:
        return value
    raise ValueError(f"{value!r} is no format there is: expected 1")


Format = Annotated[int, BeforeValidator(_first)]
"""The number of a file format: there is one so far."""

_WANTED = {
    "model_type": "a mapping",
    "dict_type": "a mapping",
    "tuple_type": "a list",
    "string_type": "text",
    "float_type": "a number",
    "int_type": "a whole number",
    "bool_type": "true or false",
    "too_short": "at least one",
    "string_too_short": "text that says something",
}
_SHOWN = 60  # characters of a value in an error
_SPELLED = {
    _NAME: "1 to 64 letters, digits, _ or -, the first a letter or digit",
    _FREE_NAME: "1 to 64 letters, digits, '.', _ or -, the first a letter or digit",
    _SKILL_NAME: "1 to 64 lower-case letters and digits, with single hyphens between them",
    _LABEL: "one line of 1 to 64 characters",
    _MODEL: "provider/model, as in openai/gpt-x",
}


class Written(BaseModel):
    """What a person may write: strict types, no unknown keys, finite numbers."""

    model_config = ConfigDict(strict=True, extra="forbid", allow_inf_nan=False, frozen=True)


W = TypeVar("W", bound=Written)


class Document(Record, frozen=True, kw_only=True):
    """A document's data, tuples for lists, and where each piece of it stands.

    ``marks`` leads from a path of keys and indices to (line, column, line of its key, column of its key), from 1.
    ``error`` is what its faults are raised as.
    """

    file: str
    data: Param
    marks: Mapping[tuple[str | int, ...], tuple[int, int, int, int]]
    error: type[ConfigError] = ConfigError

    def where(self, *path: str | int, key: bool = False) -> str:
        """``file:line:column`` of the value at a path, or of its key; of what is around it where there is none."""
        while path and path not in self.marks:
            path, key = path[:-1], False
        line, column, key_line, key_column = self.marks[path]
        return f"{self.file}:{key_line}:{key_column}" if key else f"{self.file}:{line}:{column}"

    def paths(self, length: int) -> tuple[tuple[str | int, ...], ...]:
        """All paths of so many keys and indices, in the order of the file."""
        return tuple(path for path in self.marks if len(path) == length)

    def fault(self, what: str, *path: str | int, key: bool = False, expected: str = "", hint: str = "") -> ConfigError:
        """The error to raise about a path."""
        return self.error(what, where=self.where(*path, key=key), expected=expected, hint=hint)

    @contextmanager
    def placing(self) -> Generator[None, None, None]:
        """Tells of an error that names keys with dots between (``evaluator.params``) where in the file they stand."""
        try:
            yield
        except ConfigError as error:
            if error.where.startswith(f"{self.file}:"):
                raise
            steps = (int(step) if step.isdigit() else step for step in error.where.split("."))
            raise error.at(self.where(*steps)) from None

    def unknown_key(self, known: Sequence[str], *path: str | int) -> ConfigError:
        """The error to raise about a key that is not known there."""
        near = difflib.get_close_matches(str(path[-1]), known, n=1)
        guess = f" (did you mean {near[0]!r}?)" if near else ""
        return self.fault(
            f"unknown key {spelled(path)!r}{guess}", *path, key=True, expected=f"one of: {', '.join(known)}"
        )

    def read(self, model: type[W]) -> W:
        """The data as the model, if it fits.

        Raises:
            ConfigError: It does not, as ``error``: an unknown key before anything else, then the first in the file.
        """
        try:
            return model.model_validate(self.data)
        except ValidationError as error:
            found = error.errors(include_url=False)
        # A list whose only items are bad is called too short as well.
        order = {"extra_forbidden": 0, "too_short": 2}
        first = min(found, key=lambda one: (order.get(one["type"], 1), self._at(one["loc"])))
        raise self._explained(first, model)

    def faults(self, model: type[Written], *at: str | int) -> tuple[ConfigError, ...]:
        """All that keeps the data at a path from being the model, in the order of the file."""
        data: Any = self.data
        for step in at:
            data = data[step]
        try:
            model.model_validate(data)
        except ValidationError as error:
            found: list[dict[str, Any]] = [
                {**one, "loc": (*at, *one["loc"])} for one in error.errors(include_url=False)
            ]
            # A list whose items are bad is called too short as well.
            paths: list[tuple[str | int, ...]] = [one["loc"] for one in found]
            faulty = {path[:size] for path in paths for size in range(len(path))}
            found = [one for one in found if one["type"] != "too_short" or one["loc"] not in faulty]
            found.sort(key=lambda one: self._at(one["loc"]))
            return tuple(self._explained(one, model, within=len(at)) for one in found)
        return ()

    def _at(self, path: tuple[str | int, ...]) -> tuple[int, int]:
        while path not in self.marks:
            path = path[:-1]
        return self.marks[path][:2]

    def _explained(self, found: Mapping[str, Any], model: type[Written], *, within: int = 0) -> ConfigError:
        kind: str = found["type"]
        path: tuple[str | int, ...] = found["loc"]
        if path[-1:] == ("[key]",):
            return self.fault(f"{path[-2]!r} is no name", *path[:-1], key=True, expected=_wanted(found))
        if kind == "extra_forbidden":
            return self.unknown_key(_keys(_model_at(model, path[within:-1])), *path)
        if kind == "missing":
            inner = _model_at(model, path[within:-1])
            return self.fault(f"key {spelled(path)!r} is missing", *path, expected=f"keys: {', '.join(_keys(inner))}")
        if kind == "value_error":
            return self.fault(f"{spelled(path)}: {found['ctx']['error']}", *path)
        value = found["input"]
        unquoted = kind == "string_type" and isinstance(value, (bool, int, float))
        hint = "put it in quotes" if unquoted else ""
        return self.fault(
            f"{spelled(path) or 'the document'} is {_shown(value)}", *path, expected=_wanted(found), hint=hint
        )


def load(text: str, *, file: str, error: type[ConfigError] = ConfigError, first_line: int = 1) -> Document:
    """The document a text holds.

    Args:
        text: YAML 1.2: one document of at most 1 MiB, 64 levels and 50 000 values, without aliases, tags or
            duplicate keys.
        file: What errors call it.
        error: What errors are raised as.
        first_line: What line of the file the text begins in.

    Raises:
        ConfigError: It is not such a text; as ``error``.
    """
    from deliberate.library._compose import RefusedText, compose  # noqa: PLC0415  ruamel takes 90 ms to import

    if len(text.encode(errors="replace")) > MOST_BYTES:
        raise error("is larger than 1 MiB", where=file, expected="a text of at most 1 MiB")
    try:
        data, marks = compose(text, first_line=first_line)
    except RefusedText as refused:
        where = f"{file}:{refused.line}:{refused.column}"
        raise error(refused.what, where=where, hint=refused.hint) from refused
    return Document(file=file, data=data, marks={(): (first_line, 1, first_line, 1), **marks}, error=error)


def load_file(path: Path, *, error: type[ConfigError] = ConfigError, links: bool = True) -> Document:
    """The document in a file (see ``load`` and ``read_text``)."""
    return load(read_text(path, error=error, links=links), file=str(path), error=error)


def spelled(path: Sequence[str | int]) -> str:
    """A path as people write it: ``seats[0].model``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path).removeprefix(".")


def _shown(value: object) -> str:
    if value is None:
        return "empty"
    if isinstance(value, (dict, tuple)):
        return "a mapping" if isinstance(value, dict) else "an empty list" if not value else "a list"
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN - 1]}…"


def _wanted(found: Mapping[str, Any]) -> str:
    wanted = _SPELLED.get(found.get("ctx", {}).get("pattern", "")) or _WANTED.get(found["type"])
    return wanted or str(found["msg"]).removeprefix("Input should be ").removeprefix("String should have ")


def _keys(model: type[BaseModel]) -> tuple[str, ...]:
    return tuple(field.alias or name for name, field in model.model_fields.items())


def _model_at(model: type[BaseModel], path: Sequence[str | int]) -> type[BaseModel]:
    """The model that the mapping at a path is checked by."""
    at: Any = model
    for step in path:
        if isinstance(at, type) and issubclass(at, BaseModel):
            named = {field.alias or name: field for name, field in at.model_fields.items()}
            at = named[str(step)].annotation
        else:  # of tuple[X, ...] and dict[str, X]
            at = [one for one in typing.get_args(at) if one is not Ellipsis][-1]
        if isinstance(at, types.UnionType):  # X | None
            at = typing.get_args(at)[0]
    return cast("type[BaseModel]", at)
