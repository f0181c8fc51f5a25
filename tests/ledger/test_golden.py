"""Ledgers as earlier releases wrote them: what was decided then is decided from them now, byte for byte."""

from __future__ import annotations

import lzma
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import msgspec
import pytest

from deliberate.evaluators._deliberate import deliberate
from deliberate.ledger import verify
from deliberate.ledger._chain import anchor_path
from deliberate.ledger._schema import VERSION, prepare
from deliberate.library import Library
from deliberate.protocols import redecide
from deliberate.runtime import Post
from deliberate.types import Answer, Evaluation, Verdict, ask_id
from tests.ledger._golden import CASES, GOLDEN, PANELS, decided, session, verdicts

pytestmark = pytest.mark.anyio

NAMES = sorted(path.name.removesuffix(".db.xz") for path in GOLDEN.glob("*.db.xz"))


def laid(name: str, folder: Path) -> Path:
    """A golden ledger to write to, with its anchor."""
    path = folder / "ledger.db"
    path.write_bytes(lzma.decompress((GOLDEN / f"{name}.db.xz").read_bytes()))
    anchor_path(str(path)).write_bytes((GOLDEN / f"{name}.anchor").read_bytes())
    return path


def told(name: str) -> dict[str, str]:
    """What was decided when it was written."""
    return msgspec.json.decode((GOLDEN / f"{name}.json").read_bytes(), type=dict[str, str])


def test_every_golden_panel_is_there() -> None:
    assert sorted(PANELS) == NAMES


@pytest.mark.parametrize("name", NAMES)
async def test_a_golden_ledger_is_sound_and_says_what_it_said(tmp_path: Path, name: str) -> None:
    path = laid(name, tmp_path)
    assert (await verify(path)).sound
    assert await decided(path) == told(name)


class Told:
    """Judges that say what they said then."""

    def __init__(self, verdict: Verdict) -> None:
        self._answers = verdict.answers

    async def ask(self, posts: Sequence[Post]) -> tuple[Answer, ...]:
        return tuple(self._answers[ask_id(post.ask)] for post in posts)


@pytest.mark.parametrize("name", NAMES)
async def test_from_its_votes_the_same_bytes_are_decided_today(tmp_path: Path, name: str) -> None:
    path = laid(name, tmp_path)
    said = await verdicts(path)
    panel = PANELS[name]
    library = Library(home=tmp_path, workspace=tmp_path, extra=(GOLDEN,))
    rubric = None if panel.rubric is None else library.rubric(panel.rubric)
    found: dict[str, str] = {}
    async with session(tmp_path / "today.db") as opened:
        run = await opened.ledger.begin("today", {})
        for case in CASES:
            runtime = msgspec.structs.replace(opened._opened.runtime, judges=Told(said[case.id]), run=run)  # noqa: SLF001
            verdict = await deliberate(case, panel, runtime=runtime, rubric=rubric)
            found[case.id] = verdict.decision_bytes.decode()
            assert redecide(said[case.id], panel.rules).decision_bytes.decode() == found[case.id]
    assert found == told(name)


@pytest.mark.parametrize("name", NAMES)
async def test_migrated_it_decides_the_same_and_a_copy_stays_as_it_was(tmp_path: Path, name: str) -> None:
    path = laid(name, tmp_path)
    before = path.read_bytes()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        step = {VERSION: ("ALTER TABLE run ADD COLUMN note TEXT NOT NULL DEFAULT ''",)}
        prepare(connection, str(path), version=VERSION + 1, migrations=step)
        (version,) = connection.execute("SELECT value FROM meta WHERE key = 'schema'").fetchone()
        bodies = connection.execute("SELECT body FROM step WHERE kind = 'Evaluation'").fetchall()
    copy = path.with_name(f"{path.name}.v{VERSION}")
    assert version == str(VERSION + 1)
    assert await decided(copy) == told(name)
    assert len(copy.read_bytes()) == len(before)
    verdicts = [msgspec.json.decode(body, type=Evaluation).verdict for (body,) in bodies]
    assert {one.decision_bytes.decode() for one in verdicts if one is not None} == set(told(name).values())
