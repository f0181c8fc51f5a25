"""What linters and type checkers report: ruff, flake8, mypy, pyright, clippy, eslint, tsc. Pure.

Every reader takes what a tool printed and gives its remarks; what is no such report is an ``EvaluatorError``. JSON is
read where a tool has it; flake8 and tsc print one line a remark, in a form of their own that has not changed in years.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, cast

from deliberate.errors import EvaluatorError
from deliberate.types import Record

__all__ = ["READERS", "Remark", "clean", "score_of"]


class Remark(Record, frozen=True, kw_only=True):
    """One thing a tool found; lines are counted from 1, 0 is the file as a whole."""

    level: Literal["error", "warning"]
    text: str
    code: str = ""
    path: str = ""
    line: int = 0

    @property
    def location(self) -> str | None:
        """``file:line``, the file alone, or None."""
        return f"{self.path}:{self.line}" if self.path and self.line else self.path or None


def score_of(remarks: Sequence[Remark]) -> float:
    """0–1: a tenth less for each error, 0.03 for each warning, at least 0.2.

    >>> score_of([Remark(level="error", text=""), Remark(level="warning", text="")])
    0.87
    """
    errors = sum(remark.level == "error" for remark in remarks)
    return round(1.0 - min(0.8, 0.1 * errors + 0.03 * (len(remarks) - errors)), 9)


def clean(tool: str, output: str, *, exit_code: int) -> bool:
    """Whether a tool found nothing, and ended as it does then."""
    return not READERS[tool](output) and exit_code == 0


def ruff(text: str) -> tuple[Remark, ...]:
    """``ruff check --output-format json``; a word for people that all is well is taken as that."""
    if text.strip() == "All checks passed!":
        return ()
    return tuple(
        Remark(
            level=_by_code(str(one.get("code") or "E999")),
            text=str(one.get("message", "")),
            code=str(one.get("code") or ""),
            path=str(one.get("filename", "")),
            line=_number(_at(one, "location", "row")),
        )
        for one in _list(text)
    )


def flake8(text: str) -> tuple[Remark, ...]:
    """Lines ``file:line:column: code text``."""
    return _matched(text, _FLAKE8, lambda found: _by_code(found["code"]))


def mypy(text: str) -> tuple[Remark, ...]:
    """``mypy --output json``, or its lines ``file:line: error: text  [code]``; notes are none."""
    if text.lstrip().startswith("{"):
        return tuple(
            Remark(
                level="error",
                text=str(one.get("message", "")),
                code=str(one.get("code") or ""),
                path=str(one.get("file", "")),
                line=max(0, _number(one.get("line"))),
            )
            for one in _lines(text)
            if one.get("severity") == "error"
        )
    return _matched(text, _MYPY, lambda _: "error")


def pyright(text: str) -> tuple[Remark, ...]:
    """``pyright --outputjson``; what is information only is none."""
    return tuple(
        Remark(
            level="error" if one.get("severity") == "error" else "warning",
            text=str(one.get("message", "")),
            code=str(one.get("rule") or ""),
            path=str(one.get("file", "")),
            line=_number(_at(one, "range", "start", "line")) + 1,
        )
        for one in _records(_decoded(text, dict).get("generalDiagnostics"))
        if one.get("severity") in {"error", "warning"}
    )


def clippy(text: str) -> tuple[Remark, ...]:
    """The compiler's messages of ``cargo clippy --message-format json``; sums and notes are none."""
    found: list[Remark] = []
    for one in _lines(text):
        message = _mapping(one.get("message"))
        if one.get("reason") != "compiler-message" or message.get("level") not in {"error", "warning"}:
            continue
        spans = _records(message.get("spans"))
        if not spans:
            continue
        place = next((span for span in spans if span.get("is_primary")), spans[0])
        found.append(
            Remark(
                level="error" if message["level"] == "error" else "warning",
                text=str(message.get("message", "")),
                code=str(_mapping(message.get("code")).get("code") or ""),
                path=str(place.get("file_name", "")),
                line=_number(place.get("line_start")),
            )
        )
    return tuple(found)


def eslint(text: str) -> tuple[Remark, ...]:
    """``eslint --format json``."""
    return tuple(
        Remark(
            level="error" if one.get("severity") == _ESLINT_ERROR else "warning",
            text=str(one.get("message", "")),
            code=str(one.get("ruleId") or ""),
            path=str(file.get("filePath", "")),
            line=_number(one.get("line")),
        )
        for file in _list(text)
        for one in _records(file.get("messages"))
    )


def tsc(text: str) -> tuple[Remark, ...]:
    """Lines ``file(line,column): error TS1234: text``."""
    return _matched(text, _TSC, lambda _: "error")


READERS: Mapping[str, Callable[[str], tuple[Remark, ...]]] = {
    "clippy": clippy,
    "eslint": eslint,
    "flake8": flake8,
    "mypy": mypy,
    "pyright": pyright,
    "ruff": ruff,
    "tsc": tsc,
}

_ESLINT_ERROR = 2
_FLAKE8 = re.compile(r"^(?P<path>[^:\n]+):(?P<line>\d+):\d+: (?P<code>[A-Z]+\d+) (?P<text>.*)$", re.MULTILINE)
_MYPY = re.compile(
    r"^(?P<path>[^:\n]+):(?P<line>\d+)(?::\d+)?: error: (?P<text>.*?)(?:  \[(?P<code>[\w-]+)\])?$", re.MULTILINE
)
_TSC = re.compile(r"^(?P<path>[^(\n]+)\((?P<line>\d+),\d+\): error (?P<code>TS\d+): (?P<text>.*)$", re.MULTILINE)


def _matched(
    text: str, shape: re.Pattern[str], level: Callable[[re.Match[str]], Literal["error", "warning"]]
) -> tuple[Remark, ...]:
    return tuple(
        Remark(
            level=level(found),
            text=found["text"],
            code=found["code"] or "",
            path=found["path"],
            line=int(found["line"]),
        )
        for found in shape.finditer(text)
    )


def _by_code(code: str) -> Literal["error", "warning"]:
    """Codes that begin with E or F are errors, the rest warnings; what cannot be parsed has a code without a digit."""
    return "error" if code[0] in "EF" or not any(sign.isdigit() for sign in code) else "warning"


def _decoded(text: str, kind: type[Any]) -> Any:  # noqa: ANN401  JSON
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise EvaluatorError(f"the report is not readable as JSON: {error}") from None
    if not isinstance(found, kind):
        raise EvaluatorError(f"the report is no JSON {'object' if kind is dict else 'list'}")
    return found


def _list(text: str) -> list[Mapping[str, Any]]:
    return _records(_decoded(text, list))


def _lines(text: str) -> Iterator[Mapping[str, Any]]:
    for line in text.splitlines():
        if line.startswith("{"):
            yield _decoded(line, dict)


def _records(value: object) -> list[Mapping[str, Any]]:
    if not isinstance(value, list):
        return []
    return [cast("Mapping[str, Any]", one) for one in cast("list[object]", value) if isinstance(one, dict)]


def _mapping(value: object) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}


def _at(one: Mapping[str, Any], *names: str) -> object:
    found: object = one
    for name in names:
        found = _mapping(found).get(name)
    return found


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0
