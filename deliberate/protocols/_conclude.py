"""Makes verdicts: the only place one comes from.

A verdict is a pure function of panel, asks, answers and close. ``redecide`` makes another of a stored one, under
other rules, weights or seats, without a call.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import cast

import msgspec

from deliberate.tallies import LevelVote, bracket, decide, polled, winner
from deliberate.types import (
    Answer,
    Ask,
    AskId,
    Ballot,
    Bracket,
    Close,
    Decided,
    Panel,
    Reply,
    Rules,
    Sensitivity,
    Undecided,
    UndecidedWhy,
    Verdict,
    seat_at,
)

__all__ = ["conclude", "redecide"]

_COMPARED = ("mean", "median", "plurality", "unanimous")
"""The rules every verdict is tried under besides its own. Fixed, for they are in the decision bytes: a rule that is
added, here or by another package, must not change the digest of a decision it had no part in."""


def conclude(
    panel: Panel,
    *,
    asks: Sequence[Ask],
    answers: Mapping[AskId, Answer],
    close: Close | None,
    digests: Mapping[str, str],
    stopped: UndecidedWhy | None = None,
    flags: Sequence[str] = (),
) -> Verdict:
    """The verdict on all that was asked and answered.

    ``close`` None, with ``stopped``, is a deliberation that was cut off: undecided, whatever was heard. If it closed
    but ``stopped`` says why seats are missing, that is the reason given where the quorum is missed.
    """
    decision: Decided | Undecided
    if close is None:
        decision = Undecided(why=stopped or "cancelled", detail="the deliberation was not finished")
        sensitivity = None
    else:
        heard = {at: answer.reply for at, answer in answers.items()}
        decision = decide(panel, heard, close, panel.rules)
        if stopped is not None and isinstance(decision, Undecided) and decision.why == "no_quorum":
            decision = msgspec.structs.replace(decision, why=stopped)
        sensitivity = _sensitivity(panel, heard, close, decision) if isinstance(decision, Decided) else None
    return Verdict(
        panel=panel,
        asks=tuple(asks),
        answers=dict(answers),
        close=close,
        decision=decision,
        digests={**digests, "panel": panel.digest, "rules": panel.rules.digest},
        sensitivity=sensitivity,
        flags=tuple(sorted({*flags, *_flags(panel, answers)})),
    )


def redecide(
    verdict: Verdict, rules: Rules, *, weights: Mapping[str, float] | None = None, seats: Sequence[str] | None = None
) -> Verdict:
    """The verdict under other rules, seat weights or fewer seats, from the same ballots and with no call.

    Args:
        verdict: A stored verdict.
        rules: The rules to decide by.
        weights: New weights by seat name; others keep theirs.
        seats: The voting seats that count; None = all. Verifiers and chairs stay.

    Raises:
        ValueError: A seat that does not exist.
    """
    names = {seat.name for seat in verdict.panel.seats}
    unknown = sorted({*(weights or {}), *(seats or ())} - names)
    if unknown:
        msg = f"no seat {', '.join(unknown)}: there are {', '.join(sorted(names))}"
        raise ValueError(msg)
    panel = msgspec.structs.replace(
        verdict.panel,
        rules=rules,
        seats=tuple(
            msgspec.structs.replace(seat, weight=(weights or {}).get(seat.name, seat.weight))
            for seat in verdict.panel.seats
            if seats is None or seat.name in seats or seat.duty != "vote"
        ),
    )
    kept = {seat.name for seat in panel.seats}
    close = None if verdict.close is None else _only(verdict.close, kept)
    why = verdict.decision.why if isinstance(verdict.decision, Undecided) else None
    stopped = why if close is None or why in ("deadline", "cancelled") else None
    carried = _flags(verdict.panel, verdict.answers)
    return conclude(
        panel,
        asks=[ask for ask in verdict.asks if ask.seat in kept],
        answers={at: answer for at, answer in verdict.answers.items() if seat_at(at) in kept},
        close=close,
        digests=verdict.digests,
        stopped=stopped,
        flags=[flag for flag in verdict.flags if flag not in carried],
    )


def _sensitivity(panel: Panel, heard: Mapping[AskId, Reply], close: Close, decided: Decided) -> Sensitivity:
    """What leaving out one seat, or another rule, would have decided."""
    rules = panel.rules
    votes = cast("Sequence[LevelVote]", polled(panel, heard, close, rules))  # there are such: it was decided
    counted = [seat_at(at) for at in close.counting]
    voting = [seat.name for seat in panel.voters if seat.name in counted]
    # Where every seat voted once and counts, and kinship does not matter, whoever is left is a quorum.
    every = counted == voting and len(votes) == len(voting) and not close.quorum_over and rules.independence == 1
    without: dict[str, Bracket | None] = {}
    for at, name in enumerate(voting if len(voting) > 1 else ()):
        if every:
            without[name] = winner([*votes[:at], *votes[at + 1 :]], panel, heard, rules)
        else:
            without[name] = _left_out(panel, heard, close, name)
    others: dict[str, Bracket | None] = {
        rule: winner(votes, panel, heard, _under(rules, rule)) for rule in _COMPARED if rule != rules.rule
    }
    return Sensitivity(
        hinges_on=tuple(name for name, found in without.items() if found != decided.bracket),
        without=without,
        rules=others,
    )


def _left_out(panel: Panel, heard: Mapping[AskId, Reply], close: Close, name: str) -> Bracket | None:
    """The bracket without one voting seat: a quorum given as a number asks for no more seats than are left."""
    fewer = Close(
        counting=tuple([at for at in close.counting if seat_at(at) != name]),
        quorum_over=tuple([at for at in close.quorum_over if seat_at(at) != name]) if close.quorum_over else (),
        struck=close.struck,
        because=close.because,
    )
    over = len(fewer.quorum_over or fewer.counting)
    quorum = panel.rules.quorum
    rules = panel.rules if isinstance(quorum, str) else msgspec.structs.replace(panel.rules, quorum=min(quorum, over))
    return bracket(panel, heard, fewer, rules)


@lru_cache(maxsize=256)
def _under(rules: Rules, rule: str) -> Rules:
    return msgspec.structs.replace(rules, rule=rule)


def _only(close: Close, seats: set[str]) -> Close:
    return msgspec.structs.replace(
        close,
        counting=tuple(at for at in close.counting if seat_at(at) in seats),
        quorum_over=tuple(at for at in close.quorum_over if seat_at(at) in seats),
    )


def _flags(panel: Panel, answers: Mapping[AskId, Answer]) -> set[str]:
    """What every reader must know: one model behind several seats, and what judges or readers marked."""
    found: set[str] = set()
    voters = panel.voters
    models = {seat.judge.model for seat in voters}
    if len(voters) > 1 and len(models) == 1:
        found.add("one_model")
    for answer in answers.values():
        if isinstance(answer.reply, Ballot):
            found.update(answer.reply.flags)
        if answer.effective.get("calibration") in ("none", "shipped"):
            found.add("uncalibrated")
    return found
