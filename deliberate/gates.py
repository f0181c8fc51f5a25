"""Gates and exit codes: one function over one evaluation, rendered everywhere alike.

Two kinds of gate. Those *inside* the score (``Gate``: veto or cap) change the whole, and stand in a plan. Those
*outside* (``Required``) leave the score alone and decide about the exit code. The RESULT line, the exit code, JUnit
and Markdown all render the ``Result`` made here.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

import msgspec

from deliberate.errors import ConfigError, GateFailed, NoVerdict
from deliberate.types import (
    Absent,
    Bracket,
    Evaluation,
    Gate,
    Record,
    Scored,
    Undecided,
    Unscored,
    Verdict,
    bracket_of,
    check_bounds,
    required_bracket,
    state_of,
)

__all__ = [
    "EXIT",
    "INCOMPLETE",
    "GateLine",
    "Required",
    "Result",
    "RunFacts",
    "Status",
    "agreement_in",
    "blockers_in",
    "hold",
    "require",
    "result_of",
    "result_of_run",
    "verdicts_of",
]

Status = Literal["ok", "gate", "no_verdict", "incomplete"]

EXIT: dict[str, int] = {
    "ok": 0,
    "crash": 1,
    "usage": 2,
    "gate": 3,
    "no_verdict": 4,
    "incomplete": 5,
    "interrupted": 130,
}
"""Exit codes by name; of several, the first of 1, 2, 130, 5, 4, 3 counts."""

INCOMPLETE = frozenset({"waiting", "budget", "deadline", "cancelled"})


class Required(Record, frozen=True, kw_only=True):
    """What is asked of a result from outside.

    ``max_unread`` and ``min_agreement`` are shares, 0–1 (of a run the latter is an alpha, −1 to 1); ``max_drop`` is in
    points below a baseline.

    Raises:
        ConfigError: A number is outside of its bounds: such a gate could not hold, or could not fail.
    """

    min_score: float | None = None
    min_bracket: Bracket | None = None
    max_blockers: int | None = None
    max_unread: float | None = None
    min_agreement: float | None = None
    max_drop: float | None = None

    def __post_init__(self) -> None:
        """Holds every number against its bounds, whoever wrote it."""
        numbers = ("min_score", "max_blockers", "max_unread", "min_agreement", "max_drop")
        check_bounds({name: getattr(self, name) for name in numbers}, of_run=True)


class GateLine(Record, frozen=True, kw_only=True):
    """One gate: what was wanted, what was got, whether it held (None = could not be tried)."""

    gate: str
    wanted: str
    got: str
    held: bool | None


class Result(Record, frozen=True, kw_only=True):
    """How it ended: the one object behind RESULT line and exit code."""

    status: Status
    why: str = ""
    gates: tuple[GateLine, ...] = ()

    @property
    def exit_code(self) -> int:
        """The exit code of this result."""
        return EXIT[self.status]

    @property
    def line(self) -> str:
        """The RESULT line, without its word."""
        if self.status == "ok":
            return "ok (every gate held)" if self.gates else "ok (no gate asked)"
        if self.status == "gate":
            failed = [f"{gate.gate} {gate.wanted} (got {gate.got})" for gate in self.gates if gate.held is False]
            return "gate failed: " + ", ".join(failed)
        return f"{'no verdict' if self.status == 'no_verdict' else self.status}: {self.why}"


class RunFacts(Record, frozen=True, kw_only=True):
    """A run of many cases in numbers.

    ``judged`` of ``cases`` were judged; ``mean`` is the mean score of the ``scored`` ones (0–100, None if there is
    none), ``without`` says how many have none, and why; ``blockers`` are counted over all cases; ``unread`` is the
    share of unread votes, 0–1, and ``agreement`` an ordinal alpha, None where it is undefined.
    """

    cases: int
    judged: int
    scored: int
    mean: float | None = None
    without: Mapping[str, int] = {}
    blockers: int = 0
    unread: float = 0.0
    agreement: float | None = None


def verdicts_of(evaluation: Evaluation) -> tuple[Verdict, ...]:
    """Every panel's verdict in an evaluation and its parts, in order."""
    own = () if evaluation.verdict is None else (evaluation.verdict,)
    return own + tuple(verdict for part in evaluation.parts for verdict in verdicts_of(part.evaluation))


def hold(
    score: float, gates: Iterable[Gate], parts: Sequence[tuple[str, Evaluation]]
) -> tuple[float, tuple[Gate, ...]]:
    """The score after the gates inside it, and the gates with whether each held.

    A veto that does not hold makes the score 0; a cap, at most its ``cap``.

    Raises:
        KeyError: A gate names no part.
        ValueError: The part of a gate has no score.
    """
    tried: list[Gate] = []
    named = dict(parts)
    for gate in gates:
        held = _held(gate, named[gate.part])
        tried.append(msgspec.structs.replace(gate, held=held))
        if not held:
            score = 0.0 if gate.effect == "veto" else min(score, gate.cap)
    return score, tuple(tried)


def result_of(evaluation: Evaluation, required: Required, *, baseline: float | None = None) -> Result:
    """How an evaluation ended, held against what was required of it.

    ``baseline`` is the score (0–100) that ``max_drop`` is measured from. A gate that cannot be tried, because its
    number does not exist, has not held.
    """
    if isinstance(evaluation.outcome, Unscored):
        return _unfinished(evaluation, evaluation.outcome)
    gates = _lines(evaluation, evaluation.outcome, required, baseline=baseline)
    failed = any(not gate.held for gate in gates)
    return Result(status="gate" if failed else "ok", gates=gates)


def result_of_run(facts: RunFacts, required: Required, *, baseline: float | None = None) -> Result:
    """How a run of many cases ended, held against what was required of it.

    A case that was not judged, or stopped before all was asked, makes it incomplete; a case without a score, whatever
    the reason, leaves it without a verdict: no gate is tried on what is left. Scores are held against their gates by
    their mean; ``baseline`` is the mean (0–100) that ``max_drop`` is measured from.
    """
    stopped = {why: number for why, number in facts.without.items() if why in INCOMPLETE}
    if left := facts.cases - facts.judged:
        stopped["not judged"] = left
    if stopped:
        return Result(status="incomplete", why=_of_cases(stopped, facts))
    if facts.mean is None or facts.without:
        return Result(status="no_verdict", why=_of_cases(facts.without, facts))
    gates = _run_lines(facts, facts.mean, required, baseline=baseline)
    return Result(status="gate" if any(not gate.held for gate in gates) else "ok", gates=gates)


def _of_cases(counts: Mapping[str, int], facts: RunFacts) -> str:
    told = ", ".join(f"{why} {number}" for why, number in counts.items())
    return f"{sum(counts.values())} of {facts.cases} cases ({told})"


def require(
    evaluation: Evaluation,
    *,
    min_score: float | None = None,
    min_bracket: Bracket | str | None = None,
    max_blockers: int | None = None,
    max_unread: float | None = None,
    min_agreement: float | None = None,
    baseline: Evaluation | float | None = None,
    max_drop: float | None = None,
) -> None:
    """Holds an evaluation against gates, as an assertion.

    Args:
        evaluation: What is held against them.
        min_score: The least score, 0–100.
        min_bracket: The least bracket, or its name.
        max_blockers: The most blockers.
        max_unread: The largest share of unread votes, 0–1.
        min_agreement: The least share of pairs of votes in the same bracket, 0–1.
        baseline: What it is compared with: an earlier evaluation, or its score, 0–100.
        max_drop: The most points below the baseline; 0 where a baseline is given without it.

    Raises:
        NoVerdict: There is no score, here or in the baseline.
        GateFailed: A gate does not hold; the message is the table of the votes.
        ConfigError: A number is outside of its bounds, there is no bracket of that name, or nothing to drop below.
    """
    __tracebackhide__ = True  # pytest then shows the test, and not this function
    if max_drop is not None and baseline is None:
        raise ConfigError("there is nothing to drop below", where="max_drop", expected="baseline= beside it")
    before = baseline.score if isinstance(baseline, Evaluation) else baseline
    check_bounds({"min_agreement": min_agreement, "baseline": before})
    if isinstance(baseline, Evaluation) and before is None:
        raise NoVerdict("the baseline has no score")
    required = Required(
        min_score=min_score,
        min_bracket=required_bracket(min_bracket),
        max_blockers=max_blockers,
        max_unread=max_unread,
        min_agreement=min_agreement,
        max_drop=None if baseline is None else max_drop or 0.0,
    )
    result = result_of(evaluation, required, baseline=before)
    if result.status == "gate":
        raise GateFailed(_printable(f"{_headline(evaluation, result)}\n{_votes(evaluation)}"))
    if result.status != "ok":
        raise NoVerdict(_printable(f"{result.line}\n{_votes(evaluation)}"))


def _headline(evaluation: Evaluation, result: Result) -> str:
    """``Fair 46/100, wanted min-bracket Good (P0 F2 G1 E0, 0 unread)``."""
    bracket, score = evaluation.bracket, evaluation.score or 0.0
    wanted = ", ".join(f"{gate.gate} {gate.wanted} (got {gate.got})" for gate in result.gates if not gate.held)
    counts = [verdict.counts for verdict in verdicts_of(evaluation)]
    unread = sum(one["unread"] for one in counts)
    ballots = [vote.ballot.bracket for verdict in verdicts_of(evaluation) for vote in verdict.votes if vote.ballot]
    split = " ".join(f"{one.label[0]}{ballots.count(one)}" for one in Bracket)
    label = "" if bracket is None else bracket.label
    return f"{label} {score:.3g}/100, wanted {wanted} ({split}, {unread} unread)"


def _votes(evaluation: Evaluation) -> str:
    rows: list[str] = []
    for verdict in verdicts_of(evaluation):
        for vote in verdict.votes:
            told = (
                state_of(vote.answer.reply)
                if vote.ballot is None
                else f"{vote.ballot.bracket.label:<9} {vote.ballot.score:5.1f}"
            )
            reply = vote.answer.reply
            why = reply.detail if isinstance(reply, Absent) else "" if vote.ballot is None else vote.ballot.reason
            rows.append(f"  {vote.seat.name:<16} {told}  {' '.join(why.split())[:_MOST_REASON]}".rstrip())
    findings = [f"  {one.severity}: {one.title}" for one in evaluation.findings if one.severity == "blocker"]
    return "\n".join([*rows, *findings])


def _printable(text: str) -> str:
    """Text from judges as it may stand in a test's output: nothing in it commands a terminal or a workflow."""
    shown = "".join(sign if sign.isprintable() or sign == "\n" else "\N{REPLACEMENT CHARACTER}" for sign in text)
    return shown.rstrip()


_MOST_REASON = 160
"""Characters of a judge's reason in the table."""


def _unfinished(evaluation: Evaluation, outcome: Unscored) -> Result:
    undecided = [v.decision for v in verdicts_of(evaluation) if isinstance(v.decision, Undecided)]
    open_ended = [one for one in undecided if one.why in INCOMPLETE]
    if open_ended:
        return Result(status="incomplete", why=f"{open_ended[0].why}: {open_ended[0].detail}")
    return Result(status="no_verdict", why=outcome.detail)


def _held(gate: Gate, evaluation: Evaluation) -> bool:
    if not isinstance(evaluation.outcome, Scored):
        msg = f"gate on {gate.part!r}: the part has no score"
        raise ValueError(msg)  # noqa: TRY004  the value is missing, its type is right
    score = evaluation.outcome.score
    bracket = bracket_of(score) if evaluation.bracket is None else evaluation.bracket
    return (
        (gate.min_score is None or score >= gate.min_score)
        and (gate.min_bracket is None or bracket >= gate.min_bracket)
        and (gate.max_blockers is None or blockers_in(evaluation) <= gate.max_blockers)
    )


def blockers_in(evaluation: Evaluation) -> int:
    """How many blockers an evaluation and its parts found."""
    own = sum(finding.severity == "blocker" for finding in evaluation.findings)
    return own or sum(blockers_in(part.evaluation) for part in evaluation.parts)


def agreement_in(evaluation: Evaluation) -> float | None:
    """The share of pairs of votes on the same question that fell into the same bracket, 0–1; None without a pair.

    All panels count together, each pair once, as ``agreement.percent_agreement`` has it.
    """
    alike = pairs = 0
    for verdict in verdicts_of(evaluation):
        votes = [vote.ballot.bracket for vote in verdict.votes if vote.ballot is not None]
        pairs += len(votes) * (len(votes) - 1) // 2
        alike += sum(one is other for at, one in enumerate(votes) for other in votes[:at])
    return alike / pairs if pairs else None


def _lines(
    evaluation: Evaluation, outcome: Scored, required: Required, *, baseline: float | None
) -> tuple[GateLine, ...]:
    bracket = bracket_of(outcome.score) if evaluation.bracket is None else evaluation.bracket
    lines = _score_lines(outcome.score, bracket, required)
    if (most := required.max_blockers) is not None:
        found = blockers_in(evaluation)
        lines.append(_line("max-blockers", str(most), str(found), held=found <= most))
    return (*lines, *_share_lines(outcome.score, required, _unread(evaluation), agreement_in(evaluation), baseline))


def _run_lines(facts: RunFacts, mean: float, required: Required, *, baseline: float | None) -> tuple[GateLine, ...]:
    lines = _score_lines(mean, bracket_of(mean), required)
    if (most := required.max_blockers) is not None:
        lines.append(_line("max-blockers", str(most), str(facts.blockers), held=facts.blockers <= most))
    return (*lines, *_share_lines(mean, required, facts.unread, facts.agreement, baseline))


def _score_lines(score: float, bracket: Bracket, required: Required) -> list[GateLine]:
    lines: list[GateLine] = []
    if (least := required.min_score) is not None:
        lines.append(_line("min-score", f"{least:g}", f"{score:.4g}", held=score >= least))
    if (wanted := required.min_bracket) is not None:
        lines.append(_line("min-bracket", wanted.label, bracket.label, held=bracket >= wanted))
    return lines


def _share_lines(
    score: float, required: Required, unread: float, agreement: float | None, baseline: float | None
) -> list[GateLine]:
    lines: list[GateLine] = []
    if (share := required.max_unread) is not None:
        lines.append(_line("max-unread", f"{share:g}", f"{unread:g}", held=unread <= share))
    if (concur := required.min_agreement) is not None:
        text = "undefined" if agreement is None else f"{agreement:.2f}"
        lines.append(_line("min-agreement", f"{concur:g}", text, held=agreement is not None and agreement >= concur))
    if (drop := required.max_drop) is not None:
        fell = None if baseline is None else baseline - score
        text = "no baseline" if fell is None else f"{fell:.4g}"
        lines.append(_line("max-drop", f"{drop:g}", text, held=fell is not None and fell <= drop))
    return lines


def _line(gate: str, wanted: str, got: str, *, held: bool) -> GateLine:
    return GateLine(gate=gate, wanted=wanted, got=got, held=held)


def _unread(evaluation: Evaluation) -> float:
    counts = [verdict.counts for verdict in verdicts_of(evaluation)]
    asked = sum(sum(one.values()) for one in counts)
    return sum(one["unread"] for one in counts) / asked if asked else 0.0
