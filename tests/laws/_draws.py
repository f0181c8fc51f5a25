"""What the laws are tried on: ballots, panels, rules and protocols, drawn by hypothesis, and two ways to play.

Scores have six decimals: what decides is rounded to nine, so that sums do not depend on their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from random import Random
from typing import Any, NamedTuple, cast, get_args

import msgspec
from hypothesis import reject, settings
from hypothesis import strategies as st

from deliberate.errors import ConfigError
from deliberate.plugins import names, part
from deliberate.protocols import Protocol, advance, protocol_of
from deliberate.tallies import BRACKET_SCORES, TIE_POLICIES
from deliberate.types import (
    Absent,
    AbsentReason,
    Answer,
    Ask,
    AskId,
    Ballot,
    Bracket,
    Case,
    Close,
    Closed,
    Duty,
    Finding,
    Judge,
    Key,
    Note,
    Panel,
    Pending,
    Reply,
    Review,
    Rules,
    Seat,
    Spec,
    Spend,
    Wave,
    ask_id,
    laid_out,
)


def looking(times: float) -> settings:
    """Looks so many times as long as any other law."""
    usual = settings.get_current_profile_name()
    return settings(max_examples=round(settings.get_profile(usual).max_examples * times))


CASE = Case(output="the output", task="the task")
MILLION = 1_000_000
TOPS = (-1, 25 * MILLION, 50 * MILLION, 75 * MILLION, 100 * MILLION)

REASONS: tuple[AbsentReason, ...] = get_args(AbsentReason)
OTHERS: tuple[list[Duty], ...] = ([], ["verify"], ["chair"], ["verify", "chair"])
SPEND: tuple[Spend, ...] = ("all", "enough")
LOST: tuple[AbsentReason, ...] = tuple(reason for reason in REASONS if reason not in ("budget", "not_needed"))
"""The reasons of a seat that was asked and whose ballot did not come."""

JUDGES = (
    Judge(model="openai/gpt-a"),
    Judge(model="openai/gpt-b"),
    Judge(model="openai/gpt-a", persona="strict"),
    Judge(model="anthropic/claude-a"),
    Judge(model="gemini/gemini-a"),
    Judge(model="local/tiny", family="tiny"),
    Judge(model="maria", human=True),
)
FINDINGS = (
    Finding(key="k0", severity="blocker", dimension="d", title="t0"),
    Finding(key="k1", severity="important", dimension="d", title="t1"),
)
KEYS = ((), ("k0",), ("k1",), ("k0", "k1"))


def scores_in(low: int, top: int) -> st.SearchStrategy[float]:
    """Scores above ``low`` up to ``top``, both in millionths; the edges often."""
    return (st.sampled_from((low + 1, top)) | st.integers(low + 1, top)).map(lambda millionths: millionths / MILLION)


def _ballots(bracket: Bracket) -> st.SearchStrategy[Ballot]:
    found = st.sampled_from([tuple(one for one in FINDINGS if one.key in keys) for keys in KEYS])
    return st.tuples(scores_in(TOPS[bracket], TOPS[bracket + 1]), found).map(
        lambda drawn: Ballot(bracket=bracket, score=drawn[0], findings=drawn[1])
    )


BALLOTS: st.SearchStrategy[Ballot] = st.one_of(*map(_ballots, Bracket))
"""Ballots whose number lies in their bracket."""

ABSENTS: st.SearchStrategy[Absent] = st.sampled_from([Absent(reason=reason) for reason in REASONS])
"""Ballots that did not come."""

LOSSES: st.SearchStrategy[Absent] = st.sampled_from(
    [Absent(reason=reason, detail=detail) for reason in LOST for detail in ("", "told")]
)
"""Ballots that were asked for and did not come."""

VOTES: st.SearchStrategy[Reply] = st.one_of(BALLOTS, BALLOTS, ABSENTS)
"""What an ask for a vote may bring."""


@cache
def rules(*, seats: int = 1) -> st.SearchStrategy[Rules]:
    """Any rules that can be met by that many seats."""
    return st.tuples(
        st.sampled_from(names("tallies")),
        st.lists(st.sampled_from(TIE_POLICIES), max_size=3, unique=True).map(tuple),
        st.sampled_from(BRACKET_SCORES),
        st.sampled_from(("majority", "all", *range(1, seats + 1))),
        st.sampled_from((1, 1, 1, 2, 3)),
    ).map(
        lambda drawn: Rules(rule=drawn[0], tie=drawn[1], bracket_score=drawn[2], quorum=drawn[3], independence=drawn[4])
    )


SEATS = st.tuples(
    st.sampled_from(JUDGES), st.sampled_from((1.0, 1.0, 1.0, 2.0, 3.0, 0.5)), st.sampled_from((0, 0, 0, 1))
)
"""Judge, weight and stage of a seat."""


@st.composite
def panels(draw: st.DrawFn, *, most: int = 5, others: bool = False, spend: Spend | None = None) -> Panel:
    """Panels of one voter to ``most``; with ``others``, of a verifier, a chair and later stages too."""
    voters = draw(st.integers(1, most))
    duties: list[Duty] = ["vote"] * voters
    if others:
        duties += draw(st.sampled_from(OTHERS))
    seats: list[Seat] = []
    for at, duty in enumerate(duties):
        judge, weight, stage = draw(SEATS)
        seats.append(Seat(name=f"{duty}{at}", judge=judge, duty=duty, weight=weight, stage=stage if others else 0))
    panel = Panel(
        seats=tuple(seats),
        rules=draw(rules(seats=voters)),
        spend=draw(st.sampled_from(SPEND)) if spend is None else spend,
        seed=draw(st.integers(0, 3)),
    )
    return laid_out(panel, None)


def params(kind: type[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Parameters of a part by what its fields say: small numbers, either truth, each literal; else the default."""
    found: dict[str, st.SearchStrategy[Any]] = {}
    info = cast("msgspec.inspect.StructType", msgspec.inspect.type_info(kind))
    for field in info.fields:
        if isinstance(field.type, msgspec.inspect.IntType):
            found[field.encode_name] = st.integers(1, 3)
        elif isinstance(field.type, msgspec.inspect.BoolType):
            found[field.encode_name] = st.booleans()
        elif isinstance(field.type, msgspec.inspect.LiteralType):
            found[field.encode_name] = st.sampled_from(field.type.values)
    return st.fixed_dictionaries({}, optional=found)


@st.composite
def specs(draw: st.DrawFn, name: str) -> Spec:
    """A protocol of the room, by name, with parameters it takes."""
    spec = Spec(type=name, params=draw(params(part("protocols", name))))
    try:
        protocol_of(spec)
    except ConfigError:
        reject()
    return spec


Answering = Callable[[Ask], Reply]

POOL: Mapping[Bracket, tuple[Ballot, ...]] = {
    bracket: tuple(
        Ballot(bracket=bracket, score=score / MILLION, findings=found)
        for score in (TOPS[bracket] + 1, (TOPS[bracket] + TOPS[bracket + 1]) // 2, TOPS[bracket + 1])
        for found in ((), FINDINGS[:1], FINDINGS)
    )
    for bracket in Bracket
}


class Mood(NamedTuple):
    """How a panel answers: how often alike, how often not at all; and the seed of the rest."""

    seed: int
    alike: float
    silent: float


MOODS: st.SearchStrategy[Mood] = st.builds(
    Mood,
    st.integers(0, 2**20),
    alike=st.sampled_from((0.0, 0.5, 0.9, 1.0)),
    silent=st.sampled_from((0.0, 0.1, 0.4, 0.8, 1.0)),
)


def answering(mood: Mood, protocol: Protocol) -> Answering:
    """A reply to each ask, always the same to the same ask.

    Not drawn one by one: that would take most of the time there is.
    """
    kinds = {form.name: form.reply for form in protocol.forms}

    def answer(ask: Ask) -> Reply:
        chance = Random(f"{mood.seed} {ask_id(ask)}")
        if chance.random() < mood.silent:
            return Absent(reason=chance.choice((*LOST, "budget")))
        kind = kinds.get(ask.form, Ballot)
        if kind is Review:
            return Review(confirmed=chance.choice(KEYS), refuted=chance.choice(KEYS))
        if kind is Note:
            return Note(text=ask.role)
        bracket = Bracket(mood.seed % 4) if chance.random() < mood.alike else chance.choice(list(Bracket))
        return chance.choice(POOL[bracket])

    return answer


class Sitting(NamedTuple):
    """A panel that sits under a protocol, and how it will answer."""

    panel: Panel
    protocol: Protocol
    mood: Mood

    @property
    def answer(self) -> Answering:
        """A reply to each ask."""
        return answering(self.mood, self.protocol)

    def played(self) -> Played:
        """From its first ask to its close."""
        return played(self.protocol, self.panel, self.answer)


@st.composite
def sittings(draw: st.DrawFn, name: str, *, most: int = 5, spend: Spend | None = None) -> Sitting:
    """A panel that sits under a protocol of the room, by name, with a verifier and a chair where it needs them."""
    panel = draw(panels(most=most, others=True, spend=spend))
    panel = msgspec.structs.replace(panel, protocol=draw(specs(name)))
    protocol = protocol_of(panel.protocol)
    try:
        protocol.move(CASE, panel, {})
    except ConfigError:
        more = [Seat(name=f"{duty}9", judge=JUDGES[0], duty=duty) for duty in OTHERS[-1]]
        panel = laid_out(msgspec.structs.replace(panel, seats=(*panel.voters, *more)), None)
    return Sitting(panel, protocol, draw(MOODS))


class Played(NamedTuple):
    """A deliberation from its first ask to its close."""

    close: Close
    heard: dict[AskId, Reply]
    asks: tuple[Ask, ...]

    @property
    def answers(self) -> dict[AskId, Answer]:
        """What was heard, as the ledger would give it."""
        return {at: Answer(key=Key(at), reply=reply) for at, reply in self.heard.items()}


def played(protocol: Protocol, panel: Panel, answer: Answering) -> Played:
    """Plays step by step with ``move`` alone, so that ``advance`` has something to be held against."""
    heard: dict[AskId, Reply] = {}
    asks: list[Ask] = []
    while isinstance(step := protocol.move(CASE, panel, dict(heard)), Wave):
        asks += step.asks
        assert step.asks, "a wave that asks nobody never ends"
        assert len(asks) <= protocol.most_asks(panel), "more was asked than was declared"
        heard |= {ask_id(ask): answer(ask) for ask in step.asks}
    return Played(step, heard, tuple(asks))


def gone_on(sitting: Sitting, answers: Mapping[AskId, Reply]) -> tuple[Closed, tuple[Ask, ...]]:
    """Goes on from the answers there are; how it closed, and what was asked for it."""
    have = dict(answers)
    asks: list[Ask] = []
    while isinstance(step := advance(sitting.protocol, CASE, sitting.panel, have), Pending):
        left = [ask for ask in step.wave.asks if ask_id(ask) in step.open]
        asks += left
        have |= {ask_id(ask): sitting.answer(ask) for ask in left}
    return step, tuple(asks)
