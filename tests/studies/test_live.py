"""Judges asked live from Python, and compared."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pytest

from deliberate import Case, Panel, Rules, Session, compare
from deliberate.errors import ConfigError
from deliberate.studies._pair import better, pair_of
from deliberate.types import Bracket

pytestmark = pytest.mark.anyio

ROWS = b"\n".join(
    msgspec.json.encode({"item": f"q{at}", "rater": "ann", "kind": "human", "vote": vote, "output": f"o{at}"})
    for at, vote in enumerate(["poor", "good"] * 4)
)


async def test_a_study_comes_out_and_its_rows_are_found_by_name(tmp_path: Path) -> None:
    path = tmp_path / "labels.jsonl"
    path.write_bytes(ROWS)
    async with Session(ledger=tmp_path / "runs.db") as session:
        study = await compare(["scripted/good:70", "scripted/poor:10"], items=path, session=session)
    assert study.n == 8
    assert study["scripted/good:70"].exact == 0.5
    assert study["scripted/poor:10"].kappa.value == 0
    assert study.labels == ("poor", "fair", "good", "excellent")


def labeled(folder: Path, *rows: Mapping[str, object]) -> Path:
    """A file of what ann and bob say of each."""
    path = folder / "labels.jsonl"
    said = [
        {"item": f"q{at}", "rater": who, "kind": "human", **row} for at, row in enumerate(rows) for who in ("a", "b")
    ]
    path.write_bytes(b"\n".join(map(msgspec.json.encode, said)))
    return path


def points(folder: Path) -> Path:
    return labeled(folder, *({"vote": vote, "output": f"o{at}"} for at, vote in enumerate(["poor", "good"] * 4)))


def pairs(folder: Path) -> Path:
    return labeled(folder, *({"vote": 1 + at % 2, "output": f"o{at}", "other": f"p{at}"} for at in range(8)))


BOARD = msgspec.structs.replace(Panel.of("scripted/good:70", "scripted/poor:10", "scripted/poor:20"), name="board")


async def test_a_panel_is_held_against_people_by_its_verdict_beside_judges(tmp_path: Path) -> None:
    async with Session(ledger=":memory:") as session:
        study = await compare(["scripted/good:70", BOARD, BOARD], items=points(tmp_path), session=session, repeat=2)
    assert [row.name for row in study.judges] == ["scripted/good:70"]
    assert [row.name for row in study.panels] == ["board", "board (2)"]
    assert study.together is None  # one judge is no panel
    board = study["board"]
    assert (board.kind, board.n, board.exact, board.inside) == ("panel", 8, 0.5, False)
    assert board.confusion[0][0] == board.confusion[2][0] == 4  # Poor, by two of three
    assert board.conduct is not None
    assert (board.conduct.asked, board.conduct.self_flip, board.conduct.cost_usd) == (16, 0, 0)
    assert study.raters == ("a", "b", "scripted/good:70")  # who votes alone
    assert "By its verdict, board has kappa 0.00" in study.answer
    assert study.redecide(rule="mean")["board"] == board


@pytest.mark.parametrize("several", [False, True])
async def test_where_panels_alone_are_named_their_seats_are_the_judges(tmp_path: Path, *, several: bool) -> None:
    other = Panel.of("scripted/good:70", rounds=2)
    async with Session(ledger=":memory:") as session:
        study = await compare([BOARD, other] if several else BOARD, items=points(tmp_path), session=session)
    within = [" in board", " in board", " in board", " in panel 2"] if several else ["", "", ""]
    names = ["scripted/good:70", "scripted/poor:10", "scripted/poor:20", "scripted/good:70"]
    expected = [name + where for name, where in zip(names, within, strict=False)]
    assert sorted(row.name for row in study.judges) == sorted(expected)
    assert study.together is not None
    assert study.together.name == f"panel of {len(expected)}, plurality"
    assert {row.name for row in study.panels} == ({"board", "panel 2"} if several else {"board"})


async def test_a_panel_asked_again_is_asked_again_and_without_a_verdict_is_unread(tmp_path: Path) -> None:
    split = Panel.of("scripted/seeded", "scripted/refuse", "scripted/refuse", rules=Rules(quorum="all"))
    async with Session(ledger=":memory:") as session:
        study = await compare(["scripted/seeded", split], items=points(tmp_path), repeat=2, session=session)
        calls = len(await session.ledger.reader.runs())
    assert calls == 3  # the judges, and the panel twice
    conduct = study["panel 1"].conduct
    assert conduct is not None
    assert (study["panel 1"].n, conduct.asked, conduct.unread) == (0, 16, 1.0)
    assert "By its verdict, panel 1 cannot be told from chance: kappa is undefined." in study.answer
    alone = study["scripted/seeded"].conduct
    assert alone is not None
    assert alone.self_flip is not None


async def test_two_outputs_are_shown_in_both_orders_and_a_judge_that_goes_by_the_order_is_seen(tmp_path: Path) -> None:
    board = Panel.of("scripted/good:70", "scripted/good:60", rubric="code-review")
    async with Session(ledger=":memory:") as session:
        study = await compare(["scripted/good:70", board], items=pairs(tmp_path), swap=True, session=session)
    assert study.labels == ("1", "tie", "2")
    for name in ("scripted/good:70", "panel 1"):
        conduct = study[name].conduct
        assert conduct is not None
        assert (study[name].exact, conduct.asked, conduct.order_flip, conduct.self_flip) == (0.5, 16, 1, None)


@pytest.mark.parametrize(
    ("bracket", "swap", "named"), [(2, False, "1"), (1, False, "2"), (2, True, "2"), (0, True, "1")]
)
def test_a_bracket_names_the_better_output_whichever_stood_first(bracket: int, *, swap: bool, named: str) -> None:
    assert better(Bracket(bracket), swap=swap) == named
    case = Case(output="mine", context={"other": "yours"})
    one, two = ("yours", "mine") if swap else ("mine", "yours")
    assert pair_of(case, swap=swap).output == f"Answer A:\n{one}\n\nAnswer B:\n{two}"


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"swap": True}, "vote 'poor'; expected one of: 1, tie, 2"),
        ({"scale": "ordinal:0..3"}, "scale: 'ordinal:0..3'; expected brackets, as judges are asked for these"),
        ({"swap": True, "rubric": "code-review"}, "rubric: two outputs are compared by the task alone"),
        ({"repeat": 0}, "nobody to ask"),
    ],
)
async def test_what_cannot_be_compared_is_told_before_anybody_is_asked(
    tmp_path: Path, more: dict[str, Any], said: str
) -> None:
    async with Session(ledger=":memory:") as session:
        with pytest.raises(ConfigError, match=re.escape(said)):
            await compare("scripted/good:70", items=points(tmp_path), session=session, **more)
        assert await session.ledger.reader.runs() == ()


async def test_an_item_without_a_second_output_is_named(tmp_path: Path) -> None:
    path = labeled(tmp_path, {"vote": 1, "output": "o", "other": "p"}, {"vote": 2, "output": "o"})
    with pytest.raises(ConfigError, match="item 'q1' has one output; expected a column 'other'"):
        await compare("scripted/good:70", items=path, swap=True)


async def test_nobody_to_ask_is_named_before_anything_is_spent(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="nobody to ask"):
        await compare([], items=tmp_path / "labels.jsonl")
