"""The output is JSON that fits a schema."""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from functools import cache
from itertools import islice
from typing import TYPE_CHECKING, Any, ClassVar, cast

import anyio
import anyio.to_thread
import msgspec

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators._base import passed
from deliberate.evaluators._pattern import check_time, compiled
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

if TYPE_CHECKING:
    from jsonschema.exceptions import ValidationError
    from jsonschema.protocols import Validator

__all__ = ["JsonSchema"]

_MOST_CHARACTERS = 4 * 1024 * 1024
_MOST_SHOWN = 20  # faults in the details


class JsonSchema(Record, frozen=True, kw_only=True):
    """100 if the output is JSON that fits ``schema``, otherwise 0, with each fault and its place.

    The schema says its draft by ``$schema``; the newest known otherwise. References reach inside the schema only:
    nothing is fetched. Patterns are searched with a time limit.

    Args:
        schema: A JSON Schema.
        trim_fence: Whether the output may stand in one Markdown code fence.
        timeout_seconds: The total it may take.
    """

    name: ClassVar[str] = "json_schema"
    spends_tokens: ClassVar[bool] = False

    schema: Mapping[str, Any]
    trim_fence: bool = False
    timeout_seconds: float = 2.0

    def __post_init__(self) -> None:
        """Checks the schema.

        Raises:
            ConfigError: It is no schema, or needs what is outside of it.
        """
        check_time(self.timeout_seconds, part="json_schema")
        _check(_plain(self.schema))

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,  # noqa: ARG002  a free part opens no door
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Holds the output against the schema, in a thread.

        Raises:
            EvaluatorError: The output is too large, or it took too long.
        """
        if len(case.output) > _MOST_CHARACTERS:
            msg = f"the output has {len(case.output)} characters: more than {_MOST_CHARACTERS} are not read as JSON"
            raise EvaluatorError(msg)
        text = _unfenced(case.output) if self.trim_fence else case.output
        ends = time.monotonic() + self.timeout_seconds
        faults: list[str] | None = None
        with anyio.move_on_after(2 * self.timeout_seconds):  # what looks at no clock in between is left behind
            faults = await anyio.to_thread.run_sync(_faults, _plain(self.schema), text, ends, abandon_on_cancel=True)
        if faults is None:
            msg = f"the schema took longer than {self.timeout_seconds:g} s"
            raise EvaluatorError(msg)
        reason = f"{faults[0]}{f' (and {len(faults) - 1} more)' if len(faults) > 1 else ''}" if faults else "it fits"
        return passed(self, not faults, reason, faults=tuple(faults))


def _plain(schema: Mapping[str, Any]) -> Any:  # noqa: ANN401  JSON
    """The schema in JSON's own types: documents come with tuples."""
    return msgspec.json.decode(msgspec.json.encode(schema))


def _check(schema: Any) -> None:  # noqa: ANN401  JSON
    from jsonschema import validators  # noqa: PLC0415  100 ms that a plan without schemas need not pay
    from jsonschema.exceptions import SchemaError  # noqa: PLC0415  only where it is needed

    if not schema:
        raise ConfigError("an empty schema fits everything", where="json_schema.schema", expected="a JSON Schema")
    draft = schema.get("$schema")
    newest = validators.Draft202012Validator
    kind = validators.validator_for(schema, default=newest)
    if draft is not None and kind.META_SCHEMA["$schema"].rstrip("#") != str(draft).rstrip("#"):
        raise ConfigError(
            f"unknown draft {draft!r}",
            where="json_schema.schema",
            expected="a draft's own address, as in https://json-schema.org/draft/2020-12/schema",
        )
    try:
        kind.check_schema(schema)
    except SchemaError as error:
        place = ".".join(str(step) for step in error.absolute_path)
        raise ConfigError(
            f"is no JSON Schema: {error.message}", where=f"json_schema.schema{place and f'.{place}'}"
        ) from None
    keys = set(_keys(schema))
    for pattern in _patterns(schema):
        compiled(pattern, where="json_schema.schema")
    if {"unevaluatedProperties", "patternProperties"} <= keys:
        raise ConfigError(
            "unevaluatedProperties beside patternProperties cannot be given a time limit",
            where="json_schema.schema",
            expected="additionalProperties",
        )
    if any(isinstance(inner.get("$schema"), str) for inner in _walk(schema) if inner is not schema):
        raise ConfigError("a draft inside a schema", where="json_schema.schema", expected="$schema at the top alone")
    for reference in _references(schema):
        if not reference.startswith("#"):
            raise ConfigError(
                f"the reference {reference!r} leads out of the schema",
                where="json_schema.schema",
                expected="#/…, as nothing is fetched",
            )


def _walk(value: object) -> Iterator[Mapping[str, object]]:
    if isinstance(value, Mapping):
        mapping = cast("Mapping[str, object]", value)
        yield mapping
        for inner in mapping.values():
            yield from _walk(inner)
    elif isinstance(value, list):
        for inner in cast("list[object]", value):
            yield from _walk(inner)


def _keys(schema: object) -> Iterator[str]:
    for mapping in _walk(schema):
        yield from mapping


def _patterns(schema: object) -> Iterator[str]:
    for mapping in _walk(schema):
        pattern, named = mapping.get("pattern"), mapping.get("patternProperties")
        if isinstance(pattern, str):
            yield pattern
        if isinstance(named, Mapping):
            yield from cast("Mapping[str, object]", named)


def _references(schema: object) -> Iterator[str]:
    for mapping in _walk(schema):
        for key in ("$ref", "$dynamicRef"):
            reference = mapping.get(key)
            if isinstance(reference, str):
                yield reference


def _unfenced(text: str) -> str:
    lines = text.strip().splitlines()
    fenced = len(lines) > 1 and lines[0].startswith("```") and lines[-1].strip() == "```"
    return "\n".join(lines[1:-1]) if fenced else text


def _faults(schema: Any, text: str, ends: float) -> list[str] | None:  # noqa: ANN401  JSON
    """Every fault with its place, at most so many; None if it took too long."""
    from referencing import Registry  # noqa: PLC0415  only where it is needed

    try:
        value = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        return [f"is not JSON: {error}"]
    _ENDS.set(ends)
    # A draft named where a reference leads to would bring back the keywords without a time limit.
    bare = {key: inner for key, inner in schema.items() if key != "$schema"}
    try:
        errors = list(islice(_kind(schema.get("$schema"))(bare, registry=Registry()).iter_errors(value), _MOST_SHOWN))
    except TimeoutError:
        return None
    except RecursionError:
        msg = "the schema leads into itself without end"
        raise EvaluatorError(msg) from None
    return [f"{_place(error)}: {_short(error.message)}" for error in errors]


def _place(error: ValidationError) -> str:
    return "$" + "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in error.absolute_path)


def _short(text: str) -> str:
    return text if len(text) <= 200 else f"{text[:200]}…"  # noqa: PLR2004  enough to recognize it


def _refuse(constant: str) -> float:
    msg = f"{constant} is no JSON"
    raise ValueError(msg)


# --- keywords with a time limit ----------------------------------------------------------------------

Keyword = Callable[..., Iterator[Any] | None]

_ENDS: ContextVar[float] = ContextVar("ends")
"""When the validation of this context ends, on the monotonic clock."""


@cache
def _kind(draft: str | None) -> type[Validator]:
    """The validator of a draft: it looks at the clock at every keyword, and searches patterns by ours."""
    validators: Any = importlib.import_module("jsonschema.validators")  # its ``extend`` has no types
    kind: Any = validators.validator_for({"$schema": draft or ""}, default=validators.Draft202012Validator)
    known: Mapping[str, Keyword] = {**kind.VALIDATORS, **_OURS}
    found: type[Validator] = validators.extend(kind, {name: _timed(keyword) for name, keyword in known.items()})
    return found


def _timed(keyword: Keyword) -> Keyword:
    def look(*args: Any) -> Iterator[Any]:  # noqa: ANN401  as called
        if time.monotonic() > _ENDS.get():
            raise TimeoutError
        yield from keyword(*args) or ()

    return look


def _occurs(pattern: str, text: str) -> bool:
    left = max(_ENDS.get() - time.monotonic(), 1e-3)
    return compiled(pattern).search(text, timeout=left, concurrent=True) is not None


def _fault(message: str) -> ValidationError:
    from jsonschema.exceptions import ValidationError  # noqa: PLC0415  only where it is needed

    return ValidationError(message)


def _pattern(validator: Any, wanted: str, value: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401  as called
    if validator.is_type(value, "string") and not _occurs(wanted, value):
        yield _fault(f"{value!r} does not match {wanted!r}")


def _pattern_properties(validator: Any, wanted: Any, value: Any, _: Any) -> Iterator[Any]:  # noqa: ANN401  as called
    if validator.is_type(value, "object"):
        for each, inner in wanted.items():
            for key in (key for key in value if _occurs(each, key)):
                yield from validator.descend(value[key], inner, path=key, schema_path=each)


def _additional_properties(validator: Any, wanted: Any, value: Any, schema: Any) -> Iterator[Any]:  # noqa: ANN401  as called
    if not validator.is_type(value, "object"):
        return
    known, patterns = schema.get("properties", {}), schema.get("patternProperties", {})
    more = [key for key in value if key not in known and not any(_occurs(each, key) for each in patterns)]
    if validator.is_type(wanted, "object"):
        for key in more:
            yield from validator.descend(value[key], wanted, path=key)
    elif not wanted and more:
        yield _fault(f"unexpected {', '.join(repr(key) for key in more[:5])}")


# jsonschema searches patterns by ``re``, which knows no time limit and lets nobody else run.
_OURS: Mapping[str, Keyword] = {
    "pattern": _pattern,
    "patternProperties": _pattern_properties,
    "additionalProperties": _additional_properties,
}
