"""Ballots -> bracket: the only place a bracket comes from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import cast

from deliberate import plugins
from deliberate.errors import ConfigError, UnknownName
from deliberate.tallies._base import LevelVote, Rule
from deliberate.tallies._numbers import BRACKET_SCORES, numbers
from deliberate.tallies._ties import TIE_POLICIES, settle
from deliberate.tallies.median import median
from deliberate.types import (
    BRACKETS,
    Absent,
    AskId,
    Ballot,
    Bracket,
    Close,
    Decided,
    Heard,
    Judge,
    Panel,
    Rules,
    Undecided,
    UndecidedWhy,
    round_at,
    seat_at,
    without_findings,
)

__all__ = ["bracket", "decide", "needed", "polled", "winner"]

_vote = cast("Callable[[tuple[int, float, float]], LevelVote]", partial(tuple.__new__, LevelVote))  # pyright: ignore[reportUnknownMemberType]  of any tuple
"""A vote of its three parts: a third of the time its name takes, and it is what many verdicts are decided by."""

_BRACKETS = {bracket.value: bracket for bracket in Bracket}

_FAR = 2
"""Brackets this many apart make a verdict contested."""


def needed(rules: Rules, seats: int) -> int:
    """How many valid votes of that many seats make a quorum.

    Raises:
        ConfigError: The quorum asks for more seats than there are, or for none.
    """
    if rules.quorum == "majority":
        return seats // 2 + 1
    if rules.quorum == "all":
        return seats
    if not 1 <= rules.quorum <= seats:
        what = f"a quorum of {rules.quorum} cannot be met"
        raise ConfigError(what, where="quorum", expected=f"majority, all, or a number from 1 to {seats}")
    return rules.quorum


def decide(panel: Panel, heard: Heard, close: Close, rules: Rules) -> Decided | Undecided:
    """The bracket the counting ballots give under these rules, or why there is none.

    In this order: quorum (every absent seat stays in the denominator), independence (valid votes of at least that
    many model families; equal judges are one voter), rule, tie policy, number. Nothing depends on the order of seats
    or of arrival.

    Raises:
        UnknownName: A rule, tie policy or bracket score that does not exist.
        ConfigError: The quorum asks for more seats than there are.
    """
    rule = _rule_of(rules.rule, rules.bracket_score, rules.tie)
    votes = polled(panel, heard, close, rules)
    if isinstance(votes, Undecided):
        return votes
    found = _won(rule, votes, rules, panel, heard)
    if isinstance(found, Undecided):
        return found
    won, tied = found
    middle = median(votes, BRACKETS)[0]
    values = numbers(votes, won)
    unasked = len(votes) < len(heard) and any(
        isinstance(reply, Absent) and reply.reason == "not_needed" for reply in heard.values()
    )
    return Decided(
        bracket=won,
        score=values["mean" if rules.rule == "mean" else rules.bracket_score],
        numbers=values,
        tied=tied,
        contested=abs(won - middle) >= _FAR or (bool(tied) and max(tied) - min(tied) >= _FAR),
        path="shortened" if unasked else "full",
    )


def bracket(panel: Panel, heard: Heard, close: Close, rules: Rules) -> Bracket | None:
    """The bracket alone that ``decide`` gives, None where it gives none: what many another way would have decided."""
    votes = polled(panel, heard, close, rules)
    return None if isinstance(votes, Undecided) else winner(votes, panel, heard, rules)


def winner(votes: Sequence[LevelVote], panel: Panel, heard: Heard, rules: Rules) -> Bracket | None:
    """The bracket that votes which were polled give, None where they give none."""
    found = _won(_rule_of(rules.rule, rules.bracket_score, rules.tie), votes, rules, panel, heard)
    return None if isinstance(found, Undecided) else found[0]


def polled(panel: Panel, heard: Heard, close: Close, rules: Rules) -> Sequence[LevelVote] | Undecided:
    """The votes that count, in their order, each with a weight; or why they are too few or too much alike.

    Of the rules, quorum and independence matter here.
    """
    seats, struck = panel.named, close.struck
    votes: list[LevelVote] = []
    ballots = 0
    for at in close.counting:
        ballot = heard.get(at)
        if isinstance(ballot, Ballot):
            ballots += 1
            weight = seats[seat_at(at)].weight
            if weight > 0:
                ballot = without_findings(ballot, struck) if struck else ballot
                votes.append(_vote((ballot.bracket, ballot.score, weight)))
    over = close.quorum_over or close.counting
    quorum = needed(rules, len(over) if isinstance(rules.quorum, str) else max(len(over), len(panel.voters)))
    if ballots < quorum or close.quorum_over:  # else enough have voted
        short = _too_few(heard, over, quorum=quorum)
        if short is not None:
            return short
    if not ballots:
        return Undecided(why="no_quorum", detail="no ballot counts")
    if not votes:
        return Undecided(why="no_quorum", detail="no vote has a weight")
    if rules.independence > 1 or close.quorum_over:  # a vote is of one family
        voters = [seats[seat_at(at)] for at in over if isinstance(heard.get(at), Ballot)]
        families = _families([seat.judge for seat in voters if seat.weight > 0])
        if families < rules.independence:
            return Undecided(
                why="not_independent", detail=f"votes of {families} model families, {rules.independence} asked for"
            )
    return votes


def _won(
    rule: Rule, votes: Sequence[LevelVote], rules: Rules, panel: Panel, heard: Heard
) -> tuple[Bracket, tuple[Bracket, ...]] | Undecided:
    """The bracket that won, and those it was tied with."""
    winners = rule(votes, BRACKETS)
    if len(winners) == 1:
        return _BRACKETS[winners[0]], ()
    tied = tuple([_BRACKETS[level] for level in winners])
    won = settle(
        tied,
        rules.tie,
        middle=_BRACKETS[median(votes, BRACKETS)[0]],
        chair=_chair(panel, heard, human=False),
        human=_chair(panel, heard, human=True),
    )
    if isinstance(won, Bracket):
        return won, tied
    names = ", ".join(bracket.label for bracket in tied)
    return Undecided(why=cast("UndecidedWhy", won), detail=f"tied between {names}", tied=tied)


@lru_cache(maxsize=256)
def _rule_of(rule: str, bracket_score: str, tie: tuple[str, ...]) -> Rule:
    """The rule of that name; the other names are looked at with it.

    Raises:
        UnknownName: One of them does not exist.
    """
    if bracket_score not in BRACKET_SCORES:
        kind = "bracket score"
        raise UnknownName(kind, bracket_score, BRACKET_SCORES, where="bracket_score")
    unknown = [policy for policy in tie if policy not in TIE_POLICIES]
    if unknown:
        kind = "tie policy"
        raise UnknownName(kind, unknown[0], TIE_POLICIES, where="tie")
    return cast("Rule", plugins.part("tallies", rule, where="rule"))


def _too_few(heard: Heard, over: Sequence[AskId], *, quorum: int) -> Undecided | None:
    valid = sum([at in heard and not isinstance(heard[at], Absent) for at in over])
    if valid >= quorum:
        return None
    reasons = [reply.reason for at in over if isinstance(reply := heard.get(at), Absent)]
    unpaid = reasons.count("budget")
    why: UndecidedWhy = "budget" if unpaid and valid + unpaid >= quorum else "no_quorum"
    return Undecided(why=why, detail=f"{valid} of {len(over)} seats voted, {quorum} needed")


def _families(judges: Sequence[Judge]) -> int:
    return len({(judge.human, judge.model if judge.human else judge.kin) for judge in judges})


def _chair(panel: Panel, heard: Heard, *, human: bool) -> Bracket | None:
    """The last bracket a chair gave, a person's or a model's; of several chairs, the first by name speaks."""
    chair = next((seat.name for seat in panel.chairs if seat.judge.human == human), None)
    if chair is None:
        return None
    words = {at: reply.bracket for at, reply in heard.items() if isinstance(reply, Ballot) and seat_at(at) == chair}
    return words[max(words, key=round_at)] if words else None
