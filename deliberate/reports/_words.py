"""What a report says in words, so that every rendering says the same in the same words.

Whole sentences, or parts of one that stand for themselves. They hold names and reasons from outside as they came: each
sink escapes them at its door.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from deliberate.reports._facts import Other, Raised, ReadBack, Round, absent_text, last_words
from deliberate.types import (
    Absent,
    Ballot,
    Bracket,
    Decided,
    Evaluation,
    Gate,
    Move,
    Note,
    Review,
    Undecided,
    Usage,
    Verdict,
    bracket_of,
)

__all__ = [
    "also_put",
    "apart_text",
    "flag_note",
    "gate_text",
    "hinges",
    "missing",
    "move_text",
    "next_step",
    "normalized_text",
    "other_text",
    "other_words",
    "read_back_text",
    "reason_text",
    "said_of",
    "score_text",
    "split",
    "tie_text",
    "undecided_text",
    "usage_text",
]

_HIGHEST = 100.0


def score_text(score: float) -> str:
    """A score in as few decimals as keep it in its bracket, one at the most otherwise.

    >>> score_text(71.0), score_text(70.97), score_text(75.04)
    ('71', '71', '75.04')
    """
    text = f"{score:.1f}"
    for digits in range(1, 10):
        text = f"{score:.{digits}f}"
        if not 0.0 <= score <= _HIGHEST or bracket_of(float(text)) == bracket_of(score):
            break
    return text.rstrip("0").rstrip(".")


def normalized_text(score: float) -> str:
    """The same number as 0–1.

    >>> normalized_text(71.0), normalized_text(75.04), normalized_text(100.0)
    ('0.71', '0.7504', '1.00')
    """
    text = score_text(score)
    return f"{Decimal(text) / 100:.{max(2, len(text.partition('.')[2]) + 2)}f}"


def reason_text(evaluation: Evaluation) -> str:
    """Why an evaluation has its score, without the bracket, which stands beside it."""
    bracket = evaluation.bracket
    return evaluation.reason if bracket is None else evaluation.reason.removeprefix(f"{bracket.label}: ")


_FLAGS = {
    "blocker_of_unknown_dimension": "a blocker names no dimension of the rubric and caps its ballot at 30",
    "degenerate": "the output holds no letter and no digit: decided without asking anybody",
    "injection_suspected": "the output seems to speak to its judges: read it before relying on this verdict",
    "one_model": "its seats share one model: opinions are not independent",
    "quote_not_found": "a judge quotes words that are not in the output",
    "stale": "cast on an earlier version of what is judged",
    "uncalibrated": "uncalibrated: use for ranking",
}


def flag_note(flag: str) -> str:
    """What a flag tells its reader."""
    return _FLAGS.get(flag, flag.replace("_", " "))


def apart_text(one: Round) -> str:
    """How far apart the votes of a round are: ``"agreement 0.33, spread 25"``."""
    agreement = "" if one.agreement is None else f"agreement {one.agreement:.2f}"
    spread = "" if one.spread is None else f"spread {score_text(one.spread)}"
    return ", ".join(text for text in (agreement, spread) if text)


def move_text(move: Move, *, arrow: str = "→") -> str:
    """Who moved, where to, and on what: ``"b: Fair → Good (to the majority, citing 1 finding)"``."""
    told = ["to the majority"] if move.to_majority else []
    told.append(f"citing {_count(len(move.cited), 'finding')}" if move.cited else "citing no finding")
    return f"{move.seat}: {move.before.label} {arrow} {move.after.label} ({', '.join(told)})"


def said_of(one: Raised) -> str:
    """Who said what of a finding: ``"raised by a, agreed b, disputed c"``; empty if nobody is named."""
    spoken = (("raised by", one.by), ("agreed", one.agreed), ("disputed", one.disputed))
    return ", ".join(f"{what} {', '.join(seats)}" for what, seats in spoken if seats)


def also_put(one: Raised) -> tuple[str, ...]:
    """The other ways in which a merged finding was put: ``"b: no test (important)"``."""
    return tuple(f"{seat}: {finding.title} ({finding.severity})" for seat, finding in one.others)


def split(verdict: Verdict) -> str:
    """How the votes fell: ``"2 of 3 votes for Good, 1 seat absent"``."""
    votes = [vote.ballot.bracket for vote in verdict.votes if vote.ballot is not None]
    absent = sum(count for state, count in verdict.counts.items() if state != "voted")
    if isinstance(verdict.decision, Decided):
        won = verdict.decision.bracket
        text = f"{votes.count(won)} of {_count(len(votes), 'vote')} for {won.label}"
    else:
        text = ", ".join(
            f"{votes.count(bracket)} for {bracket.label}" for bracket in reversed(Bracket) if bracket in votes
        )
        text = text or "no votes"
    return f"{text}, {_count(absent, 'seat')} absent" if absent else text


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def tie_text(decision: Decided) -> str:
    """Between which brackets the votes were tied; empty if they were not."""
    names = [bracket.label for bracket in decision.tied]
    return f"tied between {', '.join(names[:-1])} and {names[-1]}, settled by policy" if names else ""


def hinges(verdict: Verdict) -> tuple[str, ...]:
    """What the verdict hinges on: first among its seats, then among the rules; nothing while undecided."""
    told = verdict.sensitivity
    decision = verdict.decision
    if told is None or not isinstance(decision, Decided):
        return ()
    if not told.without:
        seats = "its only seat"
    elif told.hinges_on:
        seats = ", ".join(f"{name} (without it {_label(told.without.get(name))})" for name in told.hinges_on)
    else:
        seats = "no single seat"
    other = {rule: bracket for rule, bracket in told.rules.items() if bracket != decision.bracket}
    if not told.rules:
        return (seats,)
    if not other:
        return (seats, f"every other rule gives {decision.bracket.label} too")
    return (seats, "other rules: " + ", ".join(f"{rule} {_label(bracket)}" for rule, bracket in other.items()))


def _label(bracket: Bracket | None) -> str:
    return "no verdict" if bracket is None else bracket.label


_WHY: Mapping[str, str] = {
    "tied": "tied",
    "no_quorum": "quorum not reached",
    "not_independent": "votes not independent enough",
    "waiting": "a person has not voted",
    "budget": "the budget is spent",
    "deadline": "out of time",
    "cancelled": "cancelled",
}


def undecided_text(decision: Undecided) -> str:
    """Why a panel did not decide, in words."""
    why = _WHY[decision.why]
    return decision.detail if decision.detail.startswith(why) else f"{why}: {decision.detail}".removesuffix(": ")


def missing(verdict: Verdict) -> tuple[tuple[str, str, str], ...]:
    """Seat, state and reason of every voting seat whose vote is missing."""
    return tuple((cast.seat.name, cast.state, cast.why) for cast in last_words(verdict) if cast.state != "voted")


def next_step(verdict: Verdict) -> str:
    """What to do about a panel that did not decide; empty if it did."""
    decision = verdict.decision
    if not isinstance(decision, Undecided):
        return ""
    if decision.why != "no_quorum":
        return _NEXT[decision.why]
    lost = [cast.absent for cast in last_words(verdict) if cast.state != "voted"]
    if all(absent is not None and absent.lasting for absent in lost):
        return "these replies are on record; ask anew with --fresh, or give the seat another model"
    return "run it again: votes cast are read back, only the missing ones are asked; or lower --quorum"


_NEXT: Mapping[str, str] = {
    "tied": "run it again with --tie lower; votes are read back, nothing is asked",
    "not_independent": "add a seat whose model is of another family, or lower 'independence' in the panel",
    "waiting": "run it again when the person has voted; all other votes are kept",
    "budget": "run it again with a higher --max-cost; votes cast are kept",
    "deadline": "run it again, or with a later --deadline; votes cast are kept",
    "cancelled": "run it again; votes cast are kept",
}


def usage_text(usage: Usage) -> str:
    """Calls, tokens and cost; an unknown cost is called unknown."""
    if not usage.calls:
        return "no calls"
    cost = "cost unknown" if usage.cost_usd is None else f"${_dollars(usage.cost_usd)}"
    return f"{_count(usage.calls, 'call')}, {usage.tokens_in:,} tokens in, {usage.tokens_out:,} out, {cost}"


def _dollars(cost: float) -> str:
    """Two decimals, or as many as show two digits of a small sum."""
    text = f"{cost:.2f}"
    if cost and cost < 1:
        text = f"{Decimal(f'{cost:.2g}'):f}"
    return text


def read_back_text(read_back: ReadBack | None) -> str:
    """How many votes were read back, and how old they are; empty if none was."""
    if read_back is None or not read_back.votes:
        return ""
    oldest = f", oldest {read_back.oldest[:10]}" if read_back.oldest else ""
    return f"{read_back.votes} of {_count(read_back.of, 'vote')} read back{oldest}"


def other_text(other: Other) -> str:
    """What such a word comes to, in one line; its own text follows it."""
    reply = other.reply
    if isinstance(reply, Ballot):
        return f"{other.role} {other.seat}: {reply.bracket.label}, {score_text(reply.score)}"
    if isinstance(reply, Review):
        told = f"confirms {_count(len(reply.confirmed), 'finding')}, refutes {_count(len(reply.refuted), 'finding')}"
        return f"{other.role} {other.seat}: {told}"
    if isinstance(reply, Absent):
        return f"{other.role} {other.seat}: {reply.state}, {absent_text(reply)}"
    return f"{other.role} {other.seat}"


def other_words(other: Other) -> str:
    """The words themselves; empty if there are none."""
    reply = other.reply
    if isinstance(reply, Ballot):
        return reply.reason
    return reply.text if isinstance(reply, Note) else ""


def gate_text(gate: Gate) -> str:
    """A gate inside the score, in words: what it asks of which part, what it does, and whether it held."""
    asks = [
        f"score at least {gate.min_score:g}" if gate.min_score is not None else "",
        f"at least {gate.min_bracket.label}" if gate.min_bracket is not None else "",
        f"at most {gate.max_blockers} blockers" if gate.max_blockers is not None else "",
    ]
    effect = "veto: the whole is 0" if gate.effect == "veto" else f"cap: the whole is at most {gate.cap:g}"
    held = {True: "held", False: f"lost ({effect})", None: "not tried"}[gate.held]
    return f"{gate.part}: {' and '.join(ask for ask in asks if ask) or 'nothing asked'}: {held}"
