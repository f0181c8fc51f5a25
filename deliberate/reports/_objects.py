"""The objects of ``ask --json``, field by field: schema and page are made from what stands here.

Rules for whoever edits them: a field may be added; none is renamed, removed or given another meaning, and no value is
taken from an enumeration. Every field has its description; ``python -m tests.reports.json_page`` writes the page anew.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

import msgspec

from deliberate.types import (
    AbsentReason,
    BallotState,
    Record,
    Severity,
    UndecidedWhy,
    UnscoredWhy,
)

__all__ = [
    "AbsentObject",
    "BracketName",
    "CountsObject",
    "DimensionObject",
    "DissentObject",
    "EvaluationObject",
    "FindingObject",
    "GateObject",
    "MergedObject",
    "MoveObject",
    "PanelObject",
    "PartObject",
    "QuorumObject",
    "RaisedObject",
    "RevisionObject",
    "RoundObject",
    "ScoredObject",
    "SensitivityObject",
    "UnscoredObject",
    "UsageObject",
    "VerdictObject",
    "VoteObject",
]

BracketName = Literal["poor", "fair", "good", "excellent"]
Score = Annotated[float, msgspec.Meta(ge=0.0, le=100.0)]
Share = Annotated[float, msgspec.Meta(ge=0.0, le=1.0)]


def _says(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class UsageObject(Record, frozen=True, kw_only=True):
    """Calls, tokens and US dollars."""

    calls: Annotated[int, _says("Calls made, retries included.")]
    tokens_in: Annotated[int, _says("Tokens sent.")]
    tokens_out: Annotated[int, _says("Tokens received.")]
    cost_usd: Annotated[float | None, _says("US dollars; null is unknown, never 0.")]


class FindingObject(Record, frozen=True, kw_only=True):
    """One concrete issue."""

    id: Annotated[str, _says("`F1`, `F2` … within its list.")]
    key: Annotated[str, _says("Its identity across iterations: a digest of dimension, title and location.")]
    severity: Annotated[Severity, _says("How bad it is.")]
    dimension: Annotated[str, _says("The dimension of the rubric it touches; may be empty.")]
    title: Annotated[str, _says("What is wrong, in a few words.")]
    description: Annotated[str, _says("What is wrong, at length; may be empty.")]
    location: Annotated[str | None, _says("`file:line`, or a place in the text.")]
    quote: Annotated[str | None, _says("Words of the output it is about.")]
    fix: Annotated[str | None, _says("What would mend it.")]
    state: Annotated[
        Literal["new", "persisting", "resolved", "regressed"], _says("What became of it since the last iteration.")
    ]
    flags: Annotated[
        tuple[str, ...],
        _says(
            "`quote_not_found`: the quote is not in the output; `refuted`: verifiers struck it; `carried`: it stands "
            "from an earlier evaluation."
        ),
    ]


class MergedObject(Record, frozen=True, kw_only=True):
    """Another seat's way of putting the same finding."""

    seat: Annotated[str, _says("Who put it so.")]
    key: Annotated[str, _says("The key it has in that seat's vote.")]
    severity: Annotated[Severity, _says("How bad that seat holds it.")]
    title: Annotated[str, _says("Its title there.")]


class RaisedObject(FindingObject, frozen=True, kw_only=True):
    """One finding of the whole, with all who raised it."""

    raised_by: Annotated[
        tuple[str, ...], _says("Seats that reported it unasked, or the name of the part that is no panel.")
    ]
    agreed_by: Annotated[
        tuple[str, ...], _says("Seats that reported it after reading it from a peer, and verifiers that confirmed it.")
    ]
    disputed_by: Annotated[tuple[str, ...], _says("Verifiers that refuted it.")]
    merged: Annotated[
        tuple[MergedObject, ...],
        _says("The other ways it was put: same dimension, overlapping quote or location."),
    ]


class DimensionObject(Record, frozen=True, kw_only=True):
    """One dimension's score."""

    dimension: Annotated[str, _says("Its name in the rubric.")]
    weight: Annotated[float, _says("Its weight in the rubric.")]
    judged: Annotated[Score, _says("0–100, as the judge gave it.")]
    adjusted: Annotated[Score, _says("0–100, after the severity of its findings; this is what counts.")]
    origin: Annotated[Literal["measured", "carried"], _says("`carried`: taken over from an earlier evaluation.")]


class RevisionObject(Record, frozen=True, kw_only=True):
    """Where an evaluation stands in a chain of iterations, and what of the earlier one stands in it."""

    decision: Annotated[
        Literal["full", "incremental", "skipped: identical", "skipped: confident"],
        _says("Whether all was judged, only what a change can have moved, or nothing."),
    ]
    why: Annotated[str, _says("Why, in words; empty in a first iteration.")]
    iteration: Annotated[int, _says("From 1.")]
    changed: Annotated[Share | None, _says("The share of the text that changed; null if it was not compared.")]
    affected: Annotated[
        tuple[str, ...],
        _says("The dimensions its votes are on; empty: all. What they give stands in the score of the whole."),
    ]
    tokens: Annotated[int, _says("What it took, in and out together.")]
    tokens_full: Annotated[int, _says("What the last full evaluation of the chain took.")]
    tokens_saved: Annotated[int, _says("The difference; below 0 if it took more.")]


class MoveObject(Record, frozen=True, kw_only=True):
    """A seat that changed its bracket."""

    seat: Annotated[str, _says("Who moved.")]
    before: Annotated[BracketName, _says("Its bracket before.")]
    after: Annotated[BracketName, _says("Its bracket in this round.")]
    direction: Annotated[Literal["up", "down"], _says("Whether its bracket became better or worse.")]
    to_majority: Annotated[bool, _says("Whether most of the others held its new bracket the round before.")]
    cited: Annotated[tuple[str, ...], _says("Keys of the findings that came new with the move and quote the output.")]


class RoundObject(Record, frozen=True, kw_only=True):
    """One round of ballots."""

    round: Annotated[int, _says("Its number; 0 is the first, in which no seat sees another's ballot.")]
    agreement: Annotated[Share | None, _says("Share of pairs of its ballots in the same bracket; null below two.")]
    entropy: Annotated[float, _says("Of its ballots' brackets, in bits: 0 if all agree, at most 2.")]
    spread: Annotated[Score | None, _says("Its highest score less its lowest; null below two.")]
    moves: Annotated[tuple[MoveObject, ...], _says("Who changed the bracket in this round.")]


class QuorumObject(Record, frozen=True, kw_only=True):
    """Whether enough seats voted."""

    needed: Annotated[int, _says("Valid votes needed.")]
    valid: Annotated[int, _says("Valid votes there were.")]
    seats: Annotated[int, _says("Seats it is counted over; absent ones stay in.")]


class AbsentObject(Record, frozen=True, kw_only=True):
    """Why a ballot did not come."""

    reason: Annotated[AbsentReason | None, _says("Null where the seat was not asked, or had not answered at the stop.")]
    detail: Annotated[str, _says("In words.")]


class VoteObject(Record, frozen=True, kw_only=True):
    """One ballot of one voting seat in one round."""

    seat: Annotated[str, _says("The seat's name.")]
    judge: Annotated[str, _says("The model asked for (`provider/name`), or the person.")]
    model: Annotated[str | None, _says("The model that says it answered; null if none did.")]
    family: Annotated[str, _says("The model family that counts for independence.")]
    round: Annotated[int | None, _says("The round, from 0; null if the seat was never asked.")]
    bracket: Annotated[BracketName | None, _says("Null unless it voted.")]
    score: Annotated[Score | None, _says("0–100; null unless it voted, never 0 for a missing vote.")]
    reason: Annotated[str | None, _says("The judge's own words.")]
    dimensions: Annotated[tuple[DimensionObject, ...], _says("Its scores by dimension, where the rubric has any.")]
    findings: Annotated[tuple[FindingObject, ...], _says("What it found.")]
    status: Annotated[BallotState, _says("What became of the ballot.")]
    absent: Annotated[AbsentObject | None, _says("Why there is none; null if it voted.")]
    usage: Annotated[UsageObject, _says("What this ballot took, whenever it was paid.")]
    requested: Annotated[
        Mapping[str, str], _says("Parameters asked for, as text, with `prompt_sha256`: the digest of the prompt.")
    ]
    effective: Annotated[
        Mapping[str, str],
        _says("Parameters that really held, as text, with `attempts` and `latency_seconds` over all of them."),
    ]


class CountsObject(Record, frozen=True, kw_only=True):
    """Voting seats by the state of their last ballot; they sum to the number of voting seats."""

    voted: Annotated[int, _says("A valid ballot.")]
    abstained: Annotated[int, _says("The judge declined.")]
    unread: Annotated[int, _says("It answered, but not in a form that can be read.")]
    failed: Annotated[int, _says("No answer: deadline, connection, crash.")]
    unasked: Annotated[int, _says("Not asked: budget, no longer needed, stopped before.")]


class DissentObject(Record, frozen=True, kw_only=True):
    """A vote for another bracket than the one decided, in the dissenter's own words."""

    seat: Annotated[str, _says("Who dissents.")]
    bracket: Annotated[BracketName, _says("What it voted.")]
    score: Annotated[Score, _says("0–100.")]
    reason: Annotated[str, _says("Why, in its own words.")]
    findings: Annotated[tuple[FindingObject, ...], _says("What it found.")]


class SensitivityObject(Record, frozen=True, kw_only=True):
    """Whether the verdict hinges on one seat or on the rule."""

    hinges_on: Annotated[tuple[str, ...], _says("Seats without which the bracket would be another.")]
    without: Annotated[Mapping[str, BracketName | None], _says("The bracket without each seat; null is no verdict.")]
    rules: Annotated[Mapping[str, BracketName | None], _says("The bracket under each other rule; null is no verdict.")]


class PanelObject(Record, frozen=True, kw_only=True):
    """How a panel's deliberation ended."""

    status: Annotated[Literal["decided", "undecided"], _says("Whether there is a score.")]
    why: Annotated[UndecidedWhy | UnscoredWhy | None, _says("Why not; null if decided.")]
    flags: Annotated[tuple[str, ...], _says("What every reader must know, such as `one_model` or `uncalibrated`.")]
    bracket: Annotated[BracketName | None, _says("The bracket that won.")]
    score: Annotated[float | None, _says("0–100; null unless decided.")]
    normalized: Annotated[float | None, _says("The same as 0–1.")]
    numbers: Annotated[
        Mapping[str, float] | None,
        _says("Every named score of the same votes (`nearest`, `mean` …); null unless decided."),
    ]
    rule: Annotated[str | None, _says("Which bracket wins: `plurality`, `median` …")]
    tie: Annotated[tuple[str, ...] | None, _says("How ties are settled, in order.")]
    path: Annotated[
        Literal["full", "shortened"] | None,
        _says("`shortened`: seats were left out that could not change the bracket; null unless decided."),
    ]
    rounds: Annotated[tuple[RoundObject, ...] | None, _says("Every round.")]
    because: Annotated[str | None, _says("Why the deliberation stopped.")]
    quorum: Annotated[QuorumObject | None, _says("Whether enough seats voted.")]
    votes: Annotated[
        tuple[VoteObject, ...] | None,
        _says(
            "Every ballot of every voting seat, by round and seat; a seat's last word is its entry of the last round."
        ),
    ]
    counts: Annotated[CountsObject | None, _says("Voting seats by the state of their last ballot.")]
    dissent: Annotated[tuple[DissentObject, ...] | None, _says("Votes for another bracket; empty while undecided.")]
    sensitivity: Annotated[
        SensitivityObject | None, _says("Whether it hinges on one seat or rule; null unless decided.")
    ]
    contested: Annotated[
        bool | None, _says("Winner and median, or two tied brackets, lie two or more apart; null unless decided.")
    ]
    tied: Annotated[tuple[BracketName, ...] | None, _says("The brackets that were tied; empty if none were.")]
    usage: Annotated[UsageObject, _says("What it took, whenever it was paid.")]
    digest: Annotated[
        str | None,
        _says("Sha-256 of the decision: no time, cost or place is in it, so equal decisions have equal ones."),
    ]
    digests: Annotated[
        Mapping[str, str] | None,
        _says("Sha-256 of case, panel, rules and rubric (empty: none), and the protocol's version."),
    ]


class GateObject(Record, frozen=True, kw_only=True):
    """A condition on one part that changes the whole."""

    part: Annotated[str, _says("The part it looks at.")]
    min_score: Annotated[float | None, _says("The least score it accepts.")]
    min_bracket: Annotated[BracketName | None, _says("The least bracket it accepts.")]
    max_blockers: Annotated[int | None, _says("The most blockers it accepts.")]
    effect: Annotated[Literal["cap", "veto"], _says("`veto` makes the whole 0, `cap` at most `cap`.")]
    cap: Annotated[float, _says("The cap, 0–100.")]
    held: Annotated[bool | None, _says("Whether it held; null if it could not be tried.")]


class ScoredObject(Record, frozen=True, kw_only=True, tag="scored", tag_field="type"):
    """There is a score."""

    bracket: Annotated[BracketName, _says("The bracket of the score.")]
    raw: Annotated[float, _says("The source's own number.")]
    scale: Annotated[str, _says("The scale of that number, `low..high`.")]
    origin: Annotated[
        Literal["measured", "carried", "defaulted"],
        _says("`carried`: from an earlier evaluation; `defaulted`: from a default somebody asked for."),
    ]
    gates: Annotated[tuple[GateObject, ...], _says("Conditions on parts that stand in the plan.")]


class UnscoredObject(Record, frozen=True, kw_only=True, tag="unscored", tag_field="type"):
    """There is none."""

    why: Annotated[UnscoredWhy, _says("Why not.")]
    detail: Annotated[str, _says("In words.")]
    raw: Annotated[float | None, _says("A number that was read on no declared scale; null unless `unscaled`.")]
    gates: Annotated[tuple[GateObject, ...], _says("Conditions on parts that stand in the plan.")]


class PartObject(Record, frozen=True, kw_only=True):
    """One named, weighted part of a plan."""

    name: Annotated[str, _says("Its name in the plan.")]
    weight: Annotated[float, _says("Its weight; 0 is reported and never counted.")]
    evaluator: Annotated[str, _says("What kind of evaluator it is.")]
    fingerprint: Annotated[str, _says("Digest of evaluator and parameters: scores compare only within one.")]
    outcome: Annotated[ScoredObject | UnscoredObject, _says("Whether it has a score, and where that comes from.")]
    score: Annotated[float | None, _says("0–100; null if it has none.")]
    normalized: Annotated[float | None, _says("The same as 0–1.")]
    reason: Annotated[str, _says("Why, in words.")]
    suggestion: Annotated[str, _says("What to do better; may be empty.")]
    flags: Annotated[tuple[str, ...], _says("What every reader must know.")]
    details: Annotated[Mapping[str, Any], _says("What the evaluator has to add.")]
    dimensions: Annotated[
        tuple[DimensionObject, ...], _says("Means over its judges: for reading, nothing is computed from them.")
    ]
    findings: Annotated[tuple[RaisedObject, ...], _says("What it found.")]
    missing: Annotated[tuple[str, ...], _says("Its own parts that broke.")]
    coverage: Annotated[Share, _says("Observed over declared weight of its own parts.")]
    parts: Annotated[tuple[PartObject, ...], _says("Its own parts.")]
    usage: Annotated[UsageObject, _says("What it took.")]
    duration_seconds: Annotated[float, _says("How long it took.")]
    verdict: Annotated[PanelObject | None, _says("Its panel's verdict; null if it is no panel.")]
    resolved: Annotated[tuple[FindingObject, ...], _says("Findings of earlier iterations that no longer hold.")]
    revision: Annotated[RevisionObject | None, _says("Its place in a chain of iterations; null if it keeps none.")]


class EvaluationObject(Record, frozen=True, kw_only=True):
    """The whole: a panel's score, or the aggregate of a plan."""

    outcome: Annotated[ScoredObject | UnscoredObject, _says("Whether there is a score, and where it comes from.")]
    score: Annotated[float | None, _says("0–100; null if there is none.")]
    normalized: Annotated[float | None, _says("The same as 0–1.")]
    parts: Annotated[tuple[PartObject, ...], _says("The parts of a plan; empty for a panel alone.")]
    findings: Annotated[tuple[RaisedObject, ...], _says("All findings, most severe first.")]
    missing: Annotated[tuple[str, ...], _says("Parts that broke.")]
    coverage: Annotated[Share, _says("Observed over declared weight.")]
    suggestion: Annotated[str, _says("What to do next; may be empty.")]
    feedback: Annotated[str, _says("The suggestion and every finding's remedy, a line each: for whoever mends it.")]
    details: Annotated[
        Mapping[str, Any],
        _says("What the evaluator has to add: `rubric`, `rubric_by` and `rubric_why` say which was chosen, and why."),
    ]
    dimensions: Annotated[
        tuple[DimensionObject, ...], _says("A panel's means over its judges; of a plan, see its parts.")
    ]
    resolved: Annotated[tuple[FindingObject, ...], _says("Findings of earlier iterations that no longer hold.")]
    revision: Annotated[RevisionObject | None, _says("Its place in a chain of iterations; null if it keeps none.")]


class VerdictObject(PanelObject, frozen=True, kw_only=True):
    """What `ask --json` prints: the whole, and the verdict of its only panel."""

    evaluation: Annotated[EvaluationObject, _says("The whole, with its parts.")]
    run: Annotated[str | None, _says("The run in the ledger.")]
    ledger: Annotated[str | None, _says("The ledger's file.")]
