"""What an evaluator says: the one result type."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Literal

from deliberate.errors import GateFailed, NoVerdict
from deliberate.types._record import Record, digest_of
from deliberate.types.ballot import DimensionScore, Finding, Usage
from deliberate.types.bounds import check_bounds, required_bracket
from deliberate.types.case import Param
from deliberate.types.revision import Revision
from deliberate.types.scale import Bracket, bracket_of, normalize
from deliberate.types.verdict import Decided, Verdict

__all__ = ["Evaluation", "Gate", "Outcome", "Part", "Scored", "Unscored", "UnscoredWhy"]

UnscoredWhy = Literal["failed", "abstained", "undecided", "skipped", "unscaled"]


class Scored(Record, frozen=True, kw_only=True, tag=True):
    """A score 0–100, with the source's own number on its declared scale."""

    score: float
    raw: float
    scale: str = "0..100"
    origin: Literal["measured", "carried", "defaulted"] = "measured"


class Unscored(Record, frozen=True, kw_only=True, tag=True):
    """No score, and why.

    ``raw`` is there with ``unscaled`` alone: a number that was read, on no declared scale. It is reported and compared
    with itself; no aggregate takes it.
    """

    why: UnscoredWhy
    detail: str
    raw: float | None = None


Outcome = Scored | Unscored


class Gate(Record, frozen=True, kw_only=True):
    """A condition on one part that changes the whole: ``veto`` makes it 0, ``cap`` at most ``cap``.

    ``held`` is None until it was tried. A gate whose part has no score leaves the whole without one.
    """

    part: str
    min_score: float | None = None
    min_bracket: Bracket | None = None
    max_blockers: int | None = None
    effect: Literal["cap", "veto"] = "veto"
    cap: float = 0.0
    held: bool | None = None


class Part(Record, frozen=True, kw_only=True):
    """One named, weighted part of a whole."""

    name: str
    weight: float
    evaluation: Evaluation


class Evaluation(Record, frozen=True, kw_only=True, dict=True):
    """What an evaluator says of a case.

    ``coverage`` (0–1) is observed over declared weight, and ``missing`` names the parts that broke. Duration
    (seconds), usage and revision are no part of its result bytes. ``resolved`` are findings of earlier iterations that
    no longer hold.
    """

    evaluator: str
    outcome: Scored | Unscored
    fingerprint: str = ""
    reason: str = ""
    suggestion: str = ""
    coverage: float = 1.0
    missing: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    details: Mapping[str, Param] = {}
    duration_seconds: float = 0.0
    decision: Literal["full", "incremental", "skipped: identical", "skipped: confident"] = "full"
    dimensions: tuple[DimensionScore, ...] = ()
    findings: tuple[Finding, ...] = ()
    parts: tuple[Part, ...] = ()
    gates: tuple[Gate, ...] = ()
    verdict: Verdict | None = None
    usage: Usage = Usage()
    resolved: tuple[Finding, ...] = ()
    revision: Revision | None = None

    @property
    def feedback(self) -> str:
        """What whoever made the output needs for the next iteration: the suggestion, then every finding's remedy.

        Blockers first, then what is important, then the rest; each with its place and its fix, else its description.
        """
        found = sorted(self.findings, key=lambda one: _ORDER[one.severity])
        lines = [self.suggestion.strip()] if self.suggestion.strip() else []
        return "\n".join([*lines, *map(_remedy, found)])

    @property
    def trace(self) -> tuple[tuple[str, int], ...]:
        """What was done, in order, each step with the tokens it took; empty where there was but one step."""
        tokens = {one.name: one.evaluation.usage.tokens_in + one.evaluation.usage.tokens_out for one in self.parts}
        steps: tuple[str, ...] = tuple(self.details.get("steps", ()))  # type: ignore[arg-type]
        return tuple((step, tokens.get(step, 0)) for step in steps)

    @property
    def score(self) -> float | None:
        """The score 0–100, or None."""
        return self.outcome.score if isinstance(self.outcome, Scored) else None

    @property
    def raw(self) -> float | None:
        """The source's own number, on its declared scale or on none; None if there was none."""
        return self.outcome.raw

    @property
    def normalized(self) -> float | None:
        """The score 0–1, or None."""
        return None if self.score is None else normalize(self.score)

    @property
    def bracket(self) -> Bracket | None:
        """The bracket a panel decided on the whole, else that of the score; None without a score."""
        if self.score is None:
            return None
        partial = self.revision is not None and self.revision.affected
        if self.verdict is not None and isinstance(self.verdict.decision, Decided) and not partial:
            return self.verdict.decision.bracket
        return bracket_of(self.score)

    def __getitem__(self, name: str) -> Evaluation:
        """The evaluation of the part of that name.

        Raises:
            KeyError: No part has it; the message lists those there are.
        """
        for part in self.parts:
            if part.name == name:
                return part.evaluation
        known = ", ".join(part.name for part in self.parts) or "none"
        msg = f"no part {name!r}: there are {known}"
        raise KeyError(msg)

    def require(
        self, *, min_score: float | None = None, min_bracket: str | None = None, max_blockers: int | None = None
    ) -> Evaluation:
        """This evaluation, if it has a score and every gate asked for holds.

        Raises:
            NoVerdict: There is no score.
            GateFailed: A gate did not hold; the message names wanted and got.
            ConfigError: A gate asks for what nothing could have, or for a bracket that there is not.
        """
        check_bounds({"min_score": min_score, "max_blockers": max_blockers})
        wanted = required_bracket(min_bracket)
        score = self.score
        if score is None:
            detail = self.outcome.detail if isinstance(self.outcome, Unscored) else ""
            msg = f"no score: {detail}"
            raise NoVerdict(msg)
        blockers = sum(finding.severity == "blocker" for finding in self.findings)
        if min_score is not None and score < min_score:
            msg = f"min-score {min_score:g}: got {score:g}"
            raise GateFailed(msg)
        bracket = bracket_of(score) if self.bracket is None else self.bracket
        if wanted is not None and bracket < wanted:
            msg = f"min-bracket {min_bracket}: got {bracket.label}"
            raise GateFailed(msg)
        if max_blockers is not None and blockers > max_blockers:
            msg = f"max-blockers {max_blockers}: got {blockers}"
            raise GateFailed(msg)
        return self

    @cached_property
    def digest(self) -> str:
        """Sha-256 of its result bytes: everything but duration and usage, verdicts by their own digests."""
        return digest_of(_result(self))


_ORDER = {"blocker": 0, "important": 1, "suggestion": 2}


def _remedy(finding: Finding) -> str:
    place = f" ({finding.location})" if finding.location else ""
    said = finding.fix or finding.description
    return f"- {finding.id} [{finding.severity}] {finding.title}{place}" + (f": {said}" if said else "")


def _result(evaluation: Evaluation) -> dict[str, object]:
    return {
        "evaluator": evaluation.evaluator,
        "outcome": evaluation.outcome,
        "fingerprint": evaluation.fingerprint,
        "reason": evaluation.reason,
        "suggestion": evaluation.suggestion,
        "coverage": evaluation.coverage,
        "missing": evaluation.missing,
        "flags": evaluation.flags,
        "details": dict(evaluation.details),
        "decision": evaluation.decision,
        "dimensions": evaluation.dimensions,
        "findings": evaluation.findings,
        "parts": [[part.name, part.weight, _result(part.evaluation)] for part in evaluation.parts],
        "gates": evaluation.gates,
        **({"resolved": evaluation.resolved} if evaluation.resolved else {}),
        "verdict": None if evaluation.verdict is None else evaluation.verdict.digest,
    }
