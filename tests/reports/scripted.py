"""Evaluations made by hand: what the reports of this folder are tested on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import ClassVar, cast

import anyio
import msgspec

from deliberate.evaluators.composite import Composite, Member
from deliberate.protocols import conclude
from deliberate.runtime import Runtime
from deliberate.types import (
    Absent,
    AbsentReason,
    Answer,
    Ask,
    Ballot,
    Bracket,
    Case,
    Close,
    Decided,
    DimensionScore,
    Evaluation,
    Finding,
    Gate,
    Judge,
    Key,
    Note,
    Panel,
    Record,
    Reply,
    Review,
    Rules,
    Scored,
    Seat,
    Severity,
    Spec,
    UndecidedWhy,
    Unscored,
    Usage,
    Verdict,
    adjusted_ballot,
    ask_id,
    bracket_of,
    digest_of,
)

CASE = Case(
    id="refund-rounding",
    task="Fix the refund rounding bug: amounts are rounded half to even.",
    output="-    return round(total, 2)\n+    return math.floor(total * 100 + 0.5) / 100\n",
    reference="return total.quantize(CENT, ROUND_HALF_EVEN)",
)

WEIGHTS = {"correctness": 0.4, "safety": 0.2, "style": 0.2, "completeness": 0.2}


def finding(
    severity: Severity,
    dimension: str,
    title: str,
    *,
    location: str | None = None,
    quote: str | None = None,
    description: str = "",
    fix: str | None = None,
    flags: tuple[str, ...] = (),
) -> Finding:
    """A finding with its key."""
    return Finding(
        id="F1",
        key=digest_of([dimension, title, location])[:16],
        severity=severity,
        dimension=dimension,
        title=title,
        description=description,
        location=location,
        quote=quote,
        fix=fix,
        flags=flags,
    )


UNTESTED = finding("important", "completeness", "No test for negative totals", location="tests/test_refund.py")
HALF_UP = finding(
    "blocker",
    "correctness",
    "Rounds half up, not half to even",
    location="refund.py:88",
    quote="math.floor(total * 100 + 0.5) / 100",
    description="0.125 becomes 0.13; the task asked for half to even, which is 0.12. Negative totals go wrong too.",
    fix="Use Decimal.quantize with ROUND_HALF_EVEN.",
)


def dimensioned(scores: Sequence[float], reason: str, *findings: Finding) -> Ballot:
    """A ballot by the four dimensions above, adjusted by its findings."""
    dimensions = tuple(
        DimensionScore(dimension=name, weight=weight, judged=float(score), adjusted=float(score))
        for (name, weight), score in zip(WEIGHTS.items(), scores, strict=True)
    )
    return adjusted_ballot(
        Ballot(bracket=Bracket.POOR, score=0.0, dimensions=dimensions, findings=findings, reason=reason)
    )


def ballot(score: float, reason: str = "", *findings: Finding, flags: tuple[str, ...] = ()) -> Ballot:
    """A ballot with a score and no dimensions."""
    return Ballot(bracket=bracket_of(score), score=float(score), reason=reason, findings=findings, flags=flags)


def absent(reason: AbsentReason, detail: str = "") -> Absent:
    """An absence."""
    return Absent(reason=reason, detail=detail)


def answered(model: str, reply: Reply, *, seconds: float = 2.1, effective: Mapping[str, str] | None = None) -> Answer:
    """An answer as the judges give it."""
    heard = not isinstance(reply, Absent) or reply.reason in ("refused", "unreadable", "truncated")
    name = model.rsplit("/", 1)[-1]
    return Answer(
        key=Key(digest_of([model, reply])),
        reply=reply,
        model=f"{name}-2026-04-01" if heard else "",
        requested={"model": name, "temperature": "0.1", "max_tokens": "2000", "schema": "json"},
        effective={"model": f"{name}-2026-04-01", "finish": "stop", **(effective or {})} if heard else {},
        prompt_sha256=digest_of(model),
        usage=Usage(calls=1, tokens_in=3100, tokens_out=210, cost_usd=0.0161) if heard else Usage(calls=1),
        latency_seconds=seconds,
        attempts=1,
    )


def verdict(
    *votes: tuple[str, str, Reply | None],
    more: Sequence[tuple[str, str, Reply | None]] = (),
    rules: Rules | None = None,
    rubric: str | None = "code-review",
    because: str = "every seat was asked once",
    stopped: UndecidedWhy | None = None,
    effective: Mapping[str, str] | None = None,
    flags: Sequence[str] = (),
) -> Verdict:
    """The verdict on these votes (seat, model, reply; None = no answer came), with a second round of ``more``."""
    panel = Panel(
        name="board",
        seats=tuple(Seat(name=seat, judge=Judge(model=model)) for seat, model, _ in votes),
        rubric=rubric,
        protocol=Spec(type="independent") if not more else Spec(type="rounds", params={"rounds": 2}),
        rules=rules or Rules(),
    )
    asks: list[Ask] = []
    answers = {}
    for number, wave in enumerate((votes, more)):
        for at, (seat, model, reply) in enumerate(wave):
            ask = Ask(seat=seat, form="ballot", round=number)
            asks.append(ask)
            if reply is not None:
                answers[ask_id(ask)] = answered(model, reply, seconds=1.3 + at, effective=effective)
    last = {ask.seat: ask_id(ask) for ask in asks}
    return conclude(
        panel,
        asks=asks,
        answers=answers,
        close=None if stopped and not because else Close(counting=tuple(last.values()), because=because),
        digests={
            "case": CASE.digest,
            "rubric": "" if rubric is None else digest_of(rubric),
            "protocol": "independent@1",
        },
        stopped=stopped,
        flags=flags,
    )


def with_others() -> Verdict:
    """Two votes, an argument, a verifier who refutes one finding and one who was silent, and a chair."""
    good, fair = ballot(70.0, "It does what was asked.", UNTESTED), ballot(40.0, "It rounds wrongly.", HALF_UP)
    seats = (
        Seat(name="a", judge=Judge(model="m/x")),
        Seat(name="b", judge=Judge(model="m/y")),
        Seat(name="checker", judge=Judge(model="m/z"), duty="verify"),
        Seat(name="second", judge=Judge(model="m/w"), duty="verify"),
        Seat(name="head", judge=Judge(model="m/v"), duty="chair"),
    )
    heard: tuple[tuple[Ask, Reply], ...] = (
        (Ask(seat="a", form="ballot"), good),
        (Ask(seat="b", form="ballot"), fair),
        (Ask(seat="a", form="argument", role="for"), Note(text="The drift is gone.")),
        (Ask(seat="checker", form="review", round=1, role="verifier"), Review(confirmed=(), refuted=(HALF_UP.key,))),
        (Ask(seat="second", form="review", round=1, role="verifier"), absent("deadline")),
        (Ask(seat="head", form="ballot", round=2, role="chair"), ballot(70.0, "The test decides it.")),
    )
    return conclude(
        Panel(seats=seats, rubric=None, criteria="is it right?"),
        asks=[ask for ask, _ in heard],
        answers={ask_id(ask): answered(f"m/{ask.seat}", reply) for ask, reply in heard},
        close=Close(
            counting=(ask_id(heard[0][0]), ask_id(heard[1][0])),
            struck=(HALF_UP.key,),
            because="1 of 2 findings were refuted",
        ),
        digests={"case": CASE.digest, "rubric": "", "protocol": "verify@1"},
    )


def evaluated(found: Verdict) -> Evaluation:
    """The evaluation a panel's evaluator makes of a verdict."""
    decision = found.decision
    ballots = [vote.ballot for vote in found.votes if vote.ballot is not None]
    merged = {one.key: one for ballot in reversed(ballots) for one in reversed(ballot.findings)}
    outcome: Scored | Unscored
    if isinstance(decision, Decided):
        outcome = Scored(score=decision.score, raw=decision.score)
        reason = f"{decision.bracket.label}, {len(ballots) - len(found.dissent)} of {len(ballots)} votes"
    else:
        outcome = Unscored(why="undecided", detail=f"{decision.why}: {decision.detail}")
        reason = outcome.detail
    return Evaluation(
        evaluator="deliberation",
        fingerprint=digest_of("deliberation"),
        outcome=outcome,
        reason=reason,
        flags=found.flags,
        findings=tuple(
            msgspec.structs.replace(one, id=f"F{at}") for at, one in enumerate(reversed(merged.values()), start=1)
        ),
        verdict=found,
        usage=found.usage,
    )


def split_panel() -> Evaluation:
    """Two for Good, one for Fair with a blocker: the panel of the first journey."""
    return evaluated(
        verdict(
            (
                "opus-5",
                "anthropic/claude-opus-5",
                dimensioned((75, 60, 85, 85), "Fixes the drift and stays small.", UNTESTED),
            ),
            ("gpt-5-5", "openai/gpt-5.5", dimensioned((70, 60, 80, 80), "The sum is right; tests are thin.", UNTESTED)),
            (
                "gemini-3-5",
                "gemini/gemini-3.5",
                dimensioned(
                    (60, 60, 85, 35),
                    "Negative totals round away from zero; the task asked for half to even.",
                    HALF_UP,
                ),
            ),
        )
    )


def undecided_panel(why: UndecidedWhy) -> Evaluation:
    """A panel that did not decide, for that reason."""
    good, fair = ballot(70, "It does what was asked."), ballot(40, "Half of it is missing.")
    a, b, c = ("sceptic", "openai/gpt-x"), ("generalist", "anthropic/claude-x"), ("maria", "gemini/gemini-x")
    if why == "tied":
        return evaluated(verdict((*a, good), (*b, fair), rules=Rules(tie=("unresolved",))))
    if why == "not_independent":
        rules = Rules(independence=2)
        return evaluated(verdict((*a, good), ("second", "openai/gpt-y", good), rules=rules))
    if why == "no_quorum":
        lost = absent("transport", "connection refused")
        return evaluated(verdict((*a, good), (*b, absent("unreadable", "it was empty")), (*c, lost)))
    if why == "budget":
        unpaid = absent("budget", "the call could have passed the budget")
        return evaluated(verdict((*a, good), (*b, unpaid), (*c, unpaid)))
    return evaluated(verdict((*a, good), (*b, None), (*c, None), because="", stopped=why))


def checked(score: float, reason: str, *findings: Finding) -> Evaluation:
    """What a script says."""
    return Evaluation(
        evaluator="script",
        outcome=Scored(score=score, raw=score),
        reason=reason,
        findings=findings,
        details={"exit_code": 0},
        fingerprint=digest_of("script"),
        duration_seconds=0.8,
    )


def broken(detail: str) -> Evaluation:
    """What is left of a part that broke."""
    return Evaluation(evaluator="script", outcome=Unscored(why="failed", detail=detail), reason=detail)


class Said(Record, frozen=True, kw_only=True):
    """An evaluator that says what it was told to."""

    name: ClassVar[str] = "said"
    spends_tokens: ClassVar[bool] = False

    evaluation: Evaluation

    async def evaluate(self, case: Case, *, runtime: Runtime, previous: Evaluation | None = None) -> Evaluation:  # noqa: ARG002
        """What it was told."""
        return self.evaluation


def planned(*parts: tuple[str, float, Evaluation], gates: Sequence[Gate] = (), on_missing: str = "fail") -> Evaluation:
    """What a plan of these parts comes to; no clock is in it."""
    plan = Composite(
        members=tuple(Member(name=name, weight=weight, evaluator=Said(evaluation=one)) for name, weight, one in parts),
        gates=tuple(gates),
        on_missing=on_missing,
    )
    nothing = cast("Runtime", None)
    found = anyio.run(partial(plan.evaluate, CASE, runtime=nothing))
    timeless = tuple(
        msgspec.structs.replace(part, evaluation=one) for part, (_, _, one) in zip(found.parts, parts, strict=True)
    )
    return msgspec.structs.replace(found, parts=timeless)
