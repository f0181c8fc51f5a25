"""Recorded panels decided again: as a fresh decision would be, whatever the order of judges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from random import Random

import msgspec

from benchmarks import _figures
from benchmarks import _recorded as rec
from benchmarks._figures import TEAMS
from deliberate.plugins import names
from deliberate.protocols import conclude, redecide
from deliberate.tallies import BRACKET_SCORES, TIE_POLICIES
from deliberate.types import Panel, Reply, Rules, Verdict
from tests.recorded._data import concluded, needs

pytestmark = needs(rec.LLMJUDGE, rec.POINTWISE)

COUNT = 200


def drawn(chance: Random) -> Rules:
    """Some rules."""
    return Rules(
        rule=chance.choice(names("tallies")),
        tie=(chance.choice(TIE_POLICIES),),
        bracket_score=chance.choice(BRACKET_SCORES),
        quorum=chance.choice(("majority", "all", 1, 5)),
        independence=chance.choice((1, 2)),
    )


def said_of(row: Sequence[float | None]) -> list[Reply]:
    """Ballots of scores."""
    return [rec.reply_of(score) for score in row]


def sittings() -> Iterator[tuple[Random, tuple[str, ...], list[Reply]]]:
    """Two hundred recorded panels, of two sets, one of them with every missing vote; each with a chance of its own."""
    judged, rated = _figures.llmjudge(TEAMS), _figures.ratings()
    for votes, step in ((judged, 100 / 3), (rated, 10.0)):
        lacking = [row for row in votes.votes if None in row]
        others = Random(1).sample([row for row in votes.votes if None not in row], COUNT // 2 - len(lacking))
        for at, row in enumerate((*lacking, *others)):
            scores = [None if vote is None else round(step * vote, 9) for vote in row]
            yield Random(at), votes.judges, said_of(scores)


def test_there_are_two_hundred() -> None:
    found = list(sittings())
    assert len(found) == COUNT
    assert sum(any(not hasattr(reply, "bracket") for reply in said) for *_, said in found) == 4


def test_redecided_is_decided_afresh() -> None:
    undecided = 0
    for chance, judges, said in sittings():
        before, after = drawn(chance), drawn(chance)
        stored = concluded(rec.sitting(judges, rules=before), said)
        fresh = concluded(rec.sitting(judges, rules=after), said)
        again = redecide(stored, after)
        assert again == fresh
        assert again.decision_bytes == fresh.decision_bytes
        undecided += not hasattr(again.decision, "bracket")
    assert 0 < undecided < COUNT / 2


def test_redecided_under_other_weights_and_with_fewer_seats() -> None:
    for chance, judges, said in list(sittings())[::5]:
        rules = msgspec.structs.replace(drawn(chance), quorum="majority")
        panel = rec.sitting(judges, rules=rules)
        kept = sorted(chance.sample(range(len(judges)), 5))
        weights = {panel.seats[at].name: float(chance.choice((1, 2, 3))) for at in range(len(judges))}
        fewer = _with(panel, weights, kept)
        found = redecide(concluded(panel, said), rules, weights=weights, seats=[panel.seats[at].name for at in kept])
        assert found == concluded(fewer, [said[at] for at in kept])


def test_the_order_of_judges_does_not_matter() -> None:
    for chance, judges, said in list(sittings())[::2]:
        rules = drawn(chance)
        verdict = concluded(rec.sitting(judges, rules=rules), said)
        order = chance.sample(range(len(judges)), len(judges))
        other = concluded(rec.sitting([judges[at] for at in order], rules=rules), [said[at] for at in order])
        assert other.decision == verdict.decision
        assert _facts(other) == _facts(verdict)


def test_the_order_in_which_answers_came_does_not_matter() -> None:
    for chance, judges, said in list(sittings())[::5]:
        panel = rec.sitting(judges, rules=drawn(chance))
        verdict = concluded(panel, said)
        came = chance.sample(list(verdict.answers.items()), len(said))
        other = conclude(
            panel, asks=verdict.asks, answers=dict(came), close=verdict.close, digests=dict(verdict.digests)
        )
        assert other.digest == verdict.digest


def _with(panel: Panel, weights: dict[str, float], kept: Sequence[int]) -> Panel:
    seats = [msgspec.structs.replace(panel.seats[at], weight=weights[panel.seats[at].name]) for at in kept]
    return msgspec.structs.replace(panel, seats=tuple(seats))


def _facts(verdict: Verdict) -> object:
    """What sensitivity says, seats in the order of their names."""
    said = verdict.sensitivity
    return said and (sorted(said.hinges_on), sorted(said.without.items()), sorted(said.rules.items()))
