"""Case files: reading them, holding what was observed against what a case expects, and changing an expectation.

A case is ``{"id", "title", "kind", "level", "input", "expect", "tol"?, …}``; files of more cases of the same kinds can
be put into the folder that ``DELIBERATE_CASES`` names.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any, Literal

import msgspec

__all__ = ["CASES", "Case", "Missing", "Observed", "changed", "mismatches"]

Observed = Mapping[str, Any]
"""What an adapter saw, in the words and on the scale of the case; ``error`` is there if an error was raised."""


class Missing(Exception):
    """What of a case no adapter can run, or no rule can check."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One case; whatever else stands in it is for people."""

    id: str
    title: str
    kind: str
    level: Literal["must", "should"]
    input: dict[str, Any]
    expect: dict[str, Any]
    tol: float = 1e-6


def _read() -> Iterator[Case]:
    more = os.environ.get("DELIBERATE_CASES")
    folders = [Path(__file__).parent / "cases", *([Path(more)] if more else [])]
    seen: dict[str, Case] = {}
    for path in sorted(path for folder in folders for path in folder.glob("*.json")):
        # Not msgspec's decoder: a case may hold half of a surrogate pair, as careless programs write it.
        for raw in json.loads(path.read_text(encoding="utf-8"))["cases"]:
            case = msgspec.convert(raw, Case)
            if seen.setdefault(case.id, case) != case:
                msg = f"{path}: another case is called {case.id}"
                raise ValueError(msg)
    yield from seen.values()


CASES: Mapping[str, Case] = {case.id: case for case in _read()}


# --- holding observed against expected -------------------------------------------------------------


def mismatches(case: Case, got: Observed, *, other: Callable[[str], Observed]) -> list[str]:
    """What of a case's expectation does not hold, in words; ``other`` observes another case.

    Raises:
        Missing: Nobody here can check one of its words.
    """
    return _wrong(case.expect, got, tol=case.tol, other=other)


def _wrong(expect: Mapping[str, Any], got: Observed, *, tol: float, other: Callable[[str], Observed]) -> list[str]:
    if "error" in got and expect.get("or_error"):
        return []
    if "error" in got and not any(key.startswith(_ABOUT_ERRORS) for key in _flat(expect)):
        return [f"raised {got['error']}"]
    found: list[str] = []
    for key, value in expect.items():
        if key == "or_error":
            continue
        if key == "any_of":
            holds = any(not _wrong(one, got, tol=tol, other=other) for one in value)
        elif key in ("same_result_as", "same_score_as"):
            same = ("score",) if key == "same_score_as" else ("winner", "score", "resolved")
            holds = all(_equal(other(value).get(name), got.get(name), tol) for name in same)
        elif key in ("score", "score_one_of") and {"score", "score_one_of"} <= expect.keys():
            holds = any(_equal(one, got.get("score"), tol) for one in (expect["score"], *expect["score_one_of"]))
        else:
            holds = _holds(key, value, got, tol)
        if not holds:
            found.append(f"{key}: expected {value!r}, got {_seen(key, got)!r}")
    return found


_ABOUT_ERRORS = ("error", "no_raise", "valid", "evaluator")


def _flat(expect: Mapping[str, Any]) -> Iterator[str]:
    for key, value in expect.items():
        yield key
        if key == "any_of":
            for one in value:
                yield from _flat(one)


def _holds(key: str, value: Any, got: Observed, tol: float) -> bool:  # noqa: ANN401  JSON
    if key == "error":
        return ("error" in got) is bool(value)
    if key == "no_raise":
        return ("error" not in got) is bool(value)
    if key in _RULES:
        name, rule = _RULES[key]
        return rule(value, got.get(name), tol)
    for ending, rule in _ENDINGS.items():
        name = key.removesuffix(ending)
        if name != key and (name in got or name == "error"):
            return rule(value, got.get(name, ""), tol)
    if key in got:
        return _equal(value, got[key], tol)
    msg = f"a way to check {key!r}"
    raise Missing(msg)


def _seen(key: str, got: Observed) -> object:
    name = _RULES[key][0] if key in _RULES else key
    for ending in _ENDINGS:
        name = name if name in got else name.removesuffix(ending)
    return got.get(name, got.get("error", ""))


def _equal(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401
    if isinstance(value, bool) or value is None or isinstance(got, bool) or got is None:
        return value is got
    if isinstance(value, (int, float)) and isinstance(got, (int, float)):
        return abs(value - got) <= tol
    if isinstance(value, Mapping) and isinstance(got, Mapping):
        return value.keys() == got.keys() and all(_equal(value[name], got[name], tol) for name in value)
    if isinstance(value, list):
        return isinstance(got, (list, tuple)) and list(got) == value
    return bool(value == got)


def _within(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401
    if isinstance(value, Mapping):
        return all(name in got and _within(one, got[name], tol) for name, one in value.items())
    return got is not None and value[0] - tol <= got <= value[1] + tol


def _listed(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401
    """Of a mapping or list only the members named."""
    if isinstance(value, Mapping):
        return got is not None and all(name in got and _equal(one, got[name], tol) for name, one in value.items())
    return set(value) <= set(got or ())


def _says(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401, ARG001
    words = [value] if isinstance(value, str) else value
    return all(word.casefold() in str(got).casefold() for word in words)


def _says_any(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401, ARG001
    return any(word.casefold() in str(got).casefold() for word in value)


def _in_order(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401, ARG001
    at = 0
    for words in value:
        at = str(got).find(words, at) + 1
        if not at:
            return False
    return True


def _each(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401
    """Lists of equal length, of whose members only what is named counts."""
    pairs = zip(value, got or (), strict=False)
    return len(value) == len(got or ()) and all(
        isinstance(one, Mapping) and _listed(one, two, tol) for one, two in pairs
    )


def _any_of(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401
    if isinstance(value, Mapping):
        return all(any(_equal(one, (got or {}).get(name), tol) for one in each) for name, each in value.items())
    return any(_equal(one, got, tol) for one in value)


def _one_finding(value: Any, got: Any, tol: float) -> bool:  # noqa: ANN401
    return any(not _wrong(value, finding, tol=tol, other=lambda _: {}) for finding in got or ())


Rule = Callable[[Any, Any, float], bool]

_RULES: Mapping[str, tuple[str, Rule]] = {
    "dimension_scores": ("dimension", _listed),
    "evaluator_failed": ("failed", _equal),
    "exit_code_recorded": ("exit_code", lambda value, got, _: bool(got) == value),
    "finding": ("findings", _one_finding),
    "findings": ("findings", _each),
    "flag": ("flags", lambda value, got, _: value in (got or ())),
    "judge_failed": ("failed", _equal),
    "mentions_all": ("suggestion", _says),
    "no_file": ("written", lambda value, got, _: value not in (got or ())),
    "reports_missing": ("missing", _listed),
    "score_finite": ("score", lambda value, got, _: (got is None or math.isfinite(got)) == value),
    "score_not_nan": ("score", lambda value, got, _: (got is None or not math.isnan(got)) == value),
}
_ENDINGS: Mapping[str, Rule] = {
    "_contains": _says,
    "_exclude": lambda value, got, _: not set(value) & set(got or ()),
    "_in_order": _in_order,
    "_include": _listed,
    "_lacks": lambda value, got, tol: not _says_any([value] if isinstance(value, str) else value, got, tol),
    "_max": lambda value, got, tol: got is None or got <= value + tol,
    "_mentions": _says,
    "_mentions_all": _says,
    "_mentions_any": _says_any,
    "_min": lambda value, got, tol: got is not None and got >= value - tol,
    "_nonempty": lambda value, got, _: bool(got) == value,
    "_not": lambda value, got, tol: not _equal(value, got, tol),
    "_one_of": _any_of,
    "_range": _within,
    "_superset": _listed,
}


# --- changing an expectation -----------------------------------------------------------------------

_NOBODY_SAYS = "\N{SNOWMAN} nobody says this"


def changed(case: Case, got: Observed, chance: Random) -> Case | None:
    """The same case with one expectation changed so that what was observed breaks it; None if none can be."""
    unbroken = {key for key in case.expect if key.endswith("_max") and got.get(key.removesuffix("_max")) is None}
    keys = sorted(case.expect.keys() - {"or_error", "same_result_as", "same_score_as", "score_one_of"} - unbroken)
    if not keys:
        return None
    key = chance.choice(keys)
    expect = {name: value for name, value in case.expect.items() if name not in ("or_error", "score_one_of")}
    expect[key] = _other(key, expect[key], got)
    return msgspec.structs.replace(case, expect=expect)


def _other(key: str, value: Any, got: Observed) -> Any:  # noqa: ANN401  JSON
    for ending, other in _OTHERS.items():
        if key.endswith(ending):
            return other(got, key.removesuffix(ending))
    if isinstance(value, bool):
        return not value
    if isinstance(value, Mapping):
        first = min(value)
        return {**value, first: _other(first, value[first], got)}
    if isinstance(value, list):
        numbers = value and all(isinstance(one, (int, float)) for one in value)
        return [one + 1e9 for one in value] if numbers else [*value, _NOBODY_SAYS]
    if isinstance(value, (int, float)):
        return value + 1e9
    return _NOBODY_SAYS if isinstance(value, str) else 50


_OTHERS: Mapping[str, Callable[[Observed, str], Any]] = {
    "any_of": lambda _, __: [{"flag": _NOBODY_SAYS}],
    "no_file": lambda got, _: got["written"][0],
    "_any": lambda _, __: [_NOBODY_SAYS],
    "_exclude": lambda got, name: [got[name][0]],
    "_lacks": lambda got, name: [str(got[name])[:5]],
    "_max": lambda _, __: -1e9,
    "_not": lambda got, name: got[name],
}
"""What breaks an expectation, where another value of the same kind would not."""
