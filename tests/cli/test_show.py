"""``show``: the runs of a ledger, or one of them."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import anyio
import pytest

from deliberate.ledger import open_ledger
from tests.cli.conftest import THREE, Here


@pytest.fixture
def runs(here: Here) -> list[str]:
    """Three runs: decided, undecided, waiting for nobody; the last first."""
    found = [
        here("ask", "answer.txt", *flags, "--json").json["run"]
        for flags in (THREE, ("--judge", "scripted/refuse"), ("--judge", "scripted/poor"))
    ]
    return found[::-1]


def test_runs_are_listed_the_last_first(here: Here, runs: list[str]) -> None:
    listed = here("show")
    assert listed.code == 0
    assert [line.split()[0] for line in listed.out.splitlines()] == runs
    assert {line.split()[-1] for line in listed.out.splitlines()} == {"ok"}
    assert [one["run"] for one in here("show", "--json").json["runs"]] == runs


def test_one_run_is_shown_as_it_was(here: Here, runs: list[str]) -> None:
    shown = here("show", runs[-1])
    asked = here("ask", "answer.txt", *THREE)
    assert shown.code == 0
    verdict = [line for line in asked.out.splitlines() if not line.startswith(("COST", "RESULT", " " * 12 + "oldest"))]
    assert shown.out.splitlines()[: len(verdict)] == verdict
    assert f"run {runs[-1]}" in shown.out
    assert here("show", runs[1]).code == 4


def test_json_and_files_of_a_run_are_those_of_ask(here: Here, folder: Path) -> None:
    asked = here("ask", "answer.txt", *THREE, "-o", "asked.html", "--json")
    shown = here("show", asked.json["run"], "-o", "shown.json", "-o", "shown.html", "--json")
    assert shown.json == asked.json
    assert (folder / "shown.json").read_text(encoding="utf-8") == shown.out
    assert (folder / "shown.html").read_bytes() == (folder / "asked.html").read_bytes()


def test_the_start_of_an_id_is_enough_where_it_is_the_only_one(here: Here, runs: list[str]) -> None:
    whole = runs[0]
    unique = next(whole[:end] for end in range(1, 5) if sum(one.startswith(whole[:end]) for one in runs) == 1)
    assert here("show", unique, "--json").json["run"] == whole
    assert here("show", whole.upper(), "--json").json["run"] == whole


def test_several_runs_that_begin_alike_are_named(here: Here, folder: Path) -> None:
    async def begin(names: Iterable[str]) -> list[str]:
        async with open_ledger(folder / "home/ledger.db") as ledger:
            return [await ledger.begin(name, {}) for name in names]

    runs = anyio.run(begin, map(str, range(33)))  # more than there are first letters
    first = next(run[0] for at, run in enumerate(runs) if any(run[0] == other[0] for other in runs[:at]))
    alike = [run for run in runs if run[0] == first]
    several = here("show", first)
    assert (several.code, several.out) == (2, "")
    assert all(run in several.err for run in alike)


def test_an_unknown_run_names_the_known_ones(here: Here, runs: list[str]) -> None:
    unknown = here("show", "zzzz")
    assert (unknown.code, unknown.out) == (2, "")
    assert all(run in unknown.err for run in runs)


def test_without_a_ledger_it_says_how_to_get_one(here: Here) -> None:
    nothing = here("show")
    assert (nothing.code, nothing.out) == (2, "")
    assert "there is no ledger yet; deliberate ask makes one" in nothing.err
    assert here("show", "--ledger", "answer.txt").err.startswith(
        "2 usage: ledger answer.txt: this file is not a ledger"
    )
