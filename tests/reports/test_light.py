from __future__ import annotations

import json
import subprocess
import sys

import pytest

from deliberate import reports

PROGRAM = (
    "import sys, json, deliberate.reports{more}\nprint(json.dumps(sorted(m.partition('.')[0] for m in sys.modules)))"
)


def imported_by(more: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM.format(more=more)], capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("more", "unwanted"),
    [
        ("", {"anyio", "jinja2", "rich", "structlog"}),
        ("\nfrom deliberate.reports import verdict_object", {"anyio", "jinja2", "rich", "structlog"}),
        ("\nfrom deliberate.reports import show", {"jinja2"}),
    ],
    ids=["room", "json", "terminal"],
)
def test_a_form_is_paid_for_when_it_is_asked_for(more: str, unwanted: set[str]) -> None:
    assert not imported_by(more) & unwanted


def test_every_name_is_there_and_sorted() -> None:
    assert reports.__all__ == sorted(reports.__all__)
    assert dir(reports) == reports.__all__
    for name in reports.__all__:
        assert getattr(reports, name) is not None


def test_an_unknown_name_is_said_to_be_unknown() -> None:
    with pytest.raises(AttributeError, match="no attribute 'viewer'"):
        _ = reports.viewer
