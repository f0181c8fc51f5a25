"""Readers of linters' and type checkers' reports."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import EvaluatorError
from deliberate.evaluators._lint import READERS, Remark, clean, score_of

RUFF = [
    {"code": "F401", "message": "unused", "filename": "a.py", "location": {"row": 1, "column": 2}},
    {"code": "SIM115", "message": "use with", "filename": "a.py", "location": {"row": 2, "column": 2}},
    {"code": None, "message": "syntax", "filename": "b.py", "location": None},
]
PYRIGHT = {
    "generalDiagnostics": [
        {"file": "a.py", "severity": "error", "message": "m", "rule": "r", "range": {"start": {"line": 4}}},
        {"file": "a.py", "severity": "warning", "message": "m", "range": {"start": {"line": 0}}},
        {"file": "a.py", "severity": "information", "message": "m"},
    ]
}
CLIPPY = [
    {"reason": "compiler-artifact"},
    {
        "reason": "compiler-message",
        "message": {
            "level": "warning",
            "message": "m",
            "code": {"code": "clippy::len_zero"},
            "spans": [
                {"file_name": "other.rs", "line_start": 1, "is_primary": False},
                {"file_name": "a.rs", "line_start": 3, "is_primary": True},
            ],
        },
    },
    {
        "reason": "compiler-message",
        "message": {"level": "error", "message": "e", "code": None, "spans": [{"file_name": "b.rs"}]},
    },
    {"reason": "compiler-message", "message": {"level": "warning", "message": "2 warnings emitted", "spans": []}},
    {"reason": "compiler-message", "message": {"level": "note", "message": "n", "spans": [{}]}},
]
ESLINT = [
    {"filePath": "a.js", "messages": [{"ruleId": "no-undef", "severity": 2, "message": "m", "line": 3}]},
    {"filePath": "b.js", "messages": [{"ruleId": None, "severity": 1, "message": "m"}]},
]
MYPY = (
    '{"file": "a.py", "line": 3, "message": "m", "code": "arg-type", "severity": "error"}\n'
    '{"file": "a.py", "line": 3, "message": "n", "code": null, "severity": "note"}\n'
)


@pytest.mark.parametrize(
    ("tool", "text", "remarks"),
    [
        ("ruff", "[]", []),
        ("ruff", "All checks passed!\n", []),
        (
            "ruff",
            json.dumps(RUFF),
            [("error", "F401", "a.py:1"), ("warning", "SIM115", "a.py:2"), ("error", "", "b.py")],
        ),
        (
            "flake8",
            "./a.py:3:1: E999 SyntaxError\n./a.py:4:80: W291 space\n",
            [("error", "E999", "./a.py:3"), ("warning", "W291", "./a.py:4")],
        ),
        ("flake8", "", []),
        ("mypy", MYPY, [("error", "arg-type", "a.py:3")]),
        (
            "mypy",
            "a.py:3: error: m  [arg-type]\na.py:4:2: error: n\na.py:4: note: o\nFound 2 errors\n",
            [("error", "arg-type", "a.py:3"), ("error", "", "a.py:4")],
        ),
        ("mypy", "Success: no issues found\n", []),
        ("pyright", json.dumps(PYRIGHT), [("error", "r", "a.py:5"), ("warning", "", "a.py:1")]),
        (
            "clippy",
            "\n".join(map(json.dumps, CLIPPY)),
            [("warning", "clippy::len_zero", "a.rs:3"), ("error", "", "b.rs")],
        ),
        ("eslint", json.dumps(ESLINT), [("error", "no-undef", "a.js:3"), ("warning", "", "b.js")]),
        ("tsc", "src/a.ts(3,7): error TS2322: no\n  more of it\n", [("error", "TS2322", "src/a.ts:3")]),
    ],
)
def test_a_report_is_read(tool: str, text: str, remarks: list[tuple[str, str, str]]) -> None:
    assert [(one.level, one.code, one.location) for one in READERS[tool](text)] == remarks


@pytest.mark.parametrize("tool", ["ruff", "pyright", "eslint"])
@pytest.mark.parametrize("text", ["", "1", "error: no such option", "{", "[" * 100_000])
def test_what_is_no_report_is_refused(tool: str, text: str) -> None:
    with pytest.raises(EvaluatorError, match="the report is"):
        READERS[tool](text)


@given(st.sampled_from(sorted(READERS)), st.text())
def test_anything_is_read_or_refused(tool: str, text: str) -> None:
    try:
        assert READERS[tool](text) == () or tool in {"flake8", "mypy", "tsc"}
    except EvaluatorError:
        return


def test_clean_is_what_found_nothing_and_ended_so() -> None:
    assert clean("ruff", "[]", exit_code=0)
    assert not clean("ruff", "[]", exit_code=2)
    assert not clean("ruff", json.dumps(RUFF), exit_code=0)


@pytest.mark.parametrize(
    ("errors", "warnings", "score"), [(0, 0, 1.0), (2, 1, 0.77), (50, 0, 0.2), (0, 99, 0.2), (8, 0, 0.2)]
)
def test_the_score_goes_down_to_a_fifth(errors: int, warnings: int, score: float) -> None:
    remarks = [Remark(level="error", text="")] * errors + [Remark(level="warning", text="")] * warnings
    assert score_of(remarks) == score


def test_a_remark_without_a_place_has_none() -> None:
    assert Remark(level="error", text="").location is None
