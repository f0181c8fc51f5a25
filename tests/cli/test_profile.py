"""``--profile FILE``: where the time of a verb goes."""

from __future__ import annotations

import cProfile
import json
import pstats
import sys
from pathlib import Path

import msgspec

from deliberate.cli._profile import shares, text_of
from tests.cli.conftest import THREE, Here


def test_a_name_in_txt_gets_tables_by_room(here: Here, folder: Path) -> None:
    done = here("ask", "answer.txt", *THREE, "--profile", "profile.txt", "--json")
    assert done.code == 0, done.err
    text = (folder / "profile.txt").read_text(encoding="utf-8")
    rooms = {line.split("|")[1].strip() for line in text.splitlines() if line.startswith("| ")}
    assert {"deliberate.engine", "deliberate.judging", "deliberate.tallies", "waiting"} <= rooms
    assert "cumtime" in text


def test_any_other_name_gets_what_pstats_reads(here: Here, folder: Path) -> None:
    (folder / "cases.jsonl").write_text('{"id": "1", "output": "one"}\n{"id": "2", "output": "two"}\n')
    done = here("run", "--cases", "cases.jsonl", *THREE, "--profile", "run.prof")
    assert done.code == 0, done.err
    names = {one.name for one in shares(pstats.Stats(str(folder / "run.prof")))}
    assert {"deliberate.engine", "deliberate.cli"} <= names


def test_it_is_written_though_the_verb_fails(here: Here, folder: Path) -> None:
    assert here("ask", "missing.txt", *THREE, "--profile", "profile.txt").code == 2
    assert (folder / "profile.txt").exists()


def test_a_place_that_cannot_be_written_is_an_error_before_anything_is_asked(here: Here, folder: Path) -> None:
    gone = here("ask", "answer.txt", *THREE, "--profile", "nowhere/profile.txt")
    assert (gone.code, gone.err.startswith("2 usage: --profile: there is no folder 'nowhere'")) == (2, True)
    taken = here("ask", "answer.txt", *THREE, "--profile", str(folder))
    assert (taken.code, "is a folder" in taken.err) == (2, True)
    assert not list(folder.rglob("*.db"))


def test_what_is_written_in_c_counts_for_whoever_called_it() -> None:
    profile = cProfile.Profile()
    profile.runcall(_encodes_much)
    stats = pstats.Stats(profile)
    found = {one.name: one for one in shares(stats)}
    assert found["json"].seconds > 0.0
    assert sum(one.seconds for one in found.values()) <= vars(stats)["total_tt"] + 1e-9
    assert "| json |" in text_of(pstats.Stats(profile, stream=sys.stderr))


def _encodes_much() -> None:
    for _ in range(50):
        json.dumps({"value": [msgspec.json.encode(number).decode() for number in range(100)]})
