"""Results -> outcome: pass rates, estimates, the comparison of two sides, the verdict. Pure.

Rules for whoever edits this file: nothing is rounded before it is compared; a task that could not be measured is
neither passed nor failed, and there is no rate over it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.suites.records import Attempted, Comparison, Outcome, Ruling, TaskResult, Trial
from deliberate.types import Record

__all__ = [
    "LEAST_BASELINE",
    "STANDALONE",
    "Bar",
    "compare",
    "flake_rate",
    "mcnemar",
    "outcome_of",
    "pass_at_k",
    "pass_pow_k",
    "pass_rate",
    "ruling",
    "skipped",
    "task_result",
]

LEAST_BASELINE = 0.2
"""Below this pass rate a baseline says more about the suite than about the skill."""

STANDALONE = 0.5
"""The pass rate from which a skill without a baseline passes."""

_SIGNIFICANT = 0.05
_EVEN = 1e-9  # how far a difference of two rates may lie below a bound it was meant to meet


class Bar(Record, frozen=True, kw_only=True):
    """What a candidate must clear.

    Args:
        min_effect: The least difference to the baseline, 0–1.
        weak_baseline: Whether a baseline below ``LEAST_BASELINE`` is an error, or only a warning.
        inconclusive: Whether a difference that chance explains (p > 0.05) is neither a pass nor a fail.
    """

    min_effect: float = 0.0
    weak_baseline: str = "error"
    inconclusive: bool = False


def pass_rate(passed: Sequence[bool]) -> float:
    """Passed tasks by tasks, 0–1.

    Raises:
        ValueError: There is no task.
    """
    if not passed:
        raise ValueError("no task, no rate")
    return sum(passed) / len(passed)


def pass_at_k(attempts: int, passed: int, k: int) -> float:
    """The unbiased estimate of the chance that at least one of k attempts passes, 0–1.

    Chen et al. (2021), Evaluating Large Language Models Trained on Code, arXiv:2107.03374, equation 1:
    1 − C(n − c, k) / C(n, k).

    Raises:
        ValueError: There are fewer attempts than k, or more passed than were made.

    >>> pass_at_k(5, 2, 1), pass_at_k(5, 2, 3)
    (0.4, 0.9)
    """
    _check(attempts, passed, k)
    return 1.0 - math.comb(attempts - passed, k) / math.comb(attempts, k)


def pass_pow_k(attempts: int, passed: int, k: int) -> float:
    """The unbiased estimate of the chance that all of k attempts pass, 0–1.

    Yao et al. (2024), τ-bench, arXiv:2406.12045, section 3: C(c, k) / C(n, k).

    Raises:
        ValueError: There are fewer attempts than k, or more passed than were made.

    >>> pass_pow_k(5, 4, 2)
    0.6
    """
    _check(attempts, passed, k)
    return math.comb(passed, k) / math.comb(attempts, k)


def _check(attempts: int, passed: int, k: int) -> None:
    if not 1 <= k <= attempts or not 0 <= passed <= attempts:
        raise ValueError(f"{passed} of {attempts} attempts passed, k = {k}: expected 1 ≤ k ≤ attempts ≥ passed ≥ 0")


def flake_rate(attempts: int, passed: int) -> float | None:
    """The share of attempts that went the other way than most did, 0–0.5; None below two attempts."""
    return None if attempts < 2 else min(passed, attempts - passed) / attempts  # noqa: PLR2004  one cannot waver


def mcnemar(gained: int, lost: int) -> float:
    """The chance of a difference at least this large if both sides were equally good, 0–1; 1 if none differs.

    McNemar (1947), doi:10.1007/BF02295996, in its exact two-sided form: with n = gained + lost tasks that came out
    differently, min(1, 2 · P(X ≤ min(gained, lost))) for X binomial with n and ½.

    >>> mcnemar(5, 0)
    0.0625
    """
    differing = gained + lost
    tail = sum(math.comb(differing, at) for at in range(min(gained, lost) + 1))
    return min(1.0, 2.0 * tail / float(2**differing))


def task_result(task_id: str, attempts: Sequence[Attempted], *, k: int) -> TaskResult:
    """What a task came to: passed if one of its first k attempts did.

    If none did, and one of them could not be measured, that one might have: the task is neither passed nor failed.
    Attempts beyond k sharpen the estimates and no more. Where fewer than k were made because one had passed, that one
    did is itself an unbiased estimate of pass@k, and of pass^k only a failure before it tells.
    """
    measured = [one for one in attempts if one.passed is not None]
    tried = attempts[:k]
    count, passed = len(measured), sum(one.passed is True for one in measured)
    told = next((one for one in tried if one.passed), None)
    if told is None and all(one.passed is not None for one in tried):
        told = max(tried, key=_score, default=None)
    at_k = pow_k = None
    if count >= k:
        at_k, pow_k = pass_at_k(count, passed, k), pass_pow_k(count, passed, k)
    elif told is not None and told.passed:
        at_k, pow_k = 1.0, 0.0 if passed < count else None
    return TaskResult(
        task_id=task_id,
        passed=None if told is None else told.passed,
        score=None if told is None else told.score,
        duration_ms=sum(one.duration_ms for one in attempts) if told is None else told.duration_ms,
        error=next((one.error for one in attempts if one.error), "") if told is None else told.error,
        pass_at_k=at_k,
        pass_pow_k=pow_k,
        flake_rate=flake_rate(count, passed),
        attempts=tuple(attempts),
    )


def _score(attempt: Attempted) -> float:
    return -1.0 if attempt.score is None else attempt.score


def compare(candidate: Sequence[TaskResult], baseline: Sequence[TaskResult]) -> Comparison:
    """Both sides of the same tasks, in the same order, all of them measured.

    Raises:
        ValueError: The tasks are not the same, or there are none.
    """
    pairs = list(zip(candidate, baseline, strict=True))
    if any(one.task_id != other.task_id for one, other in pairs):
        raise ValueError("the two sides are of different tasks")
    gained = sum(bool(one.passed) > bool(other.passed) for one, other in pairs)
    lost = sum(bool(one.passed) < bool(other.passed) for one, other in pairs)
    scores = [(one.score, other.score) for one, other in pairs]
    known = [one - other for one, other in scores if one is not None and other is not None]
    return Comparison(
        delta=_rate(candidate) - _rate(baseline),
        score_delta=math.fsum(known) / len(known) if len(known) == len(pairs) else None,
        gained=gained,
        lost=lost,
        p_value=mcnemar(gained, lost),
    )


def ruling(candidate: float, baseline: float | None, bar: Bar, *, p_value: float | None = None) -> tuple[Ruling, str]:
    """The verdict on two pass rates, 0–1, and why; without a baseline, on one.

    A baseline below ``LEAST_BASELINE`` is an error, however good the candidate; then ``pass`` means that the
    candidate is at least as good.
    """
    if baseline is None:
        better = candidate >= STANDALONE
        return "pass" if better else "fail", f"pass rate {candidate:.4g} {'≥' if better else '<'} {STANDALONE}"
    if baseline < LEAST_BASELINE and bar.weak_baseline == "error":
        return "error", f"baseline pass rate {baseline:.4g} < {LEAST_BASELINE}"
    delta = candidate - baseline
    enough = delta >= bar.min_effect - _EVEN if bar.min_effect else candidate >= baseline
    if bar.inconclusive and p_value is not None and p_value > _SIGNIFICANT:
        return "inconclusive", f"delta {delta:+.4g}: chance explains it (p = {p_value:.3g})"
    return "pass" if enough else "fail", f"delta {delta:+.4g} {'≥' if enough else '<'} {bar.min_effect:g}"


def skipped(score: float | None, threshold: float) -> str:
    """Why a candidate is not tried: its discriminator's score (0–10) is below the threshold; "" if it is not.

    A missing score counts as 0.
    """
    had = "no score, counted as 0" if score is None else f"score {score:g}"
    low = (score or 0.0) < threshold
    return f"{had} on the discriminator's scale 0..10 < threshold {threshold:g}" if low else ""


def outcome_of(trial: Trial, bar: Bar) -> Outcome:
    """How a suite ended.

    A side with a task that could not be measured has no rate, and without a rate the outcome is an ``error``.
    """
    rates = [_rate_or_none(side) for side in (trial.candidate, trial.baseline)]
    warnings = _warnings(trial, bar, rates[1])
    tried = _tried(trial)
    unmeasured = [one for one in tried if one.passed is None]
    if unmeasured:
        first = f"first {unmeasured[0].task_id}: {unmeasured[0].error}"
        return Outcome(
            verdict="error",
            reason=f"{len(unmeasured)} of {len(tried)} tasks could not be measured, {first}",
            execution_pass_rate=rates[0],
            baseline_pass_rate=rates[1],
            warnings=warnings,
            incomplete=any(attempt.unasked for one in unmeasured for attempt in one.attempts),
        )
    if trial.candidate is None:  # the baseline alone decided
        verdict, reason = ruling(0.0, rates[1], bar)
        return Outcome(verdict=verdict, reason=reason, baseline_pass_rate=rates[1], warnings=warnings)
    comparison = None if trial.baseline is None else compare(trial.candidate, trial.baseline)
    p_value = None if comparison is None else comparison.p_value
    verdict, reason = ruling(rates[0] or 0.0, rates[1], bar, p_value=p_value)
    return Outcome(
        verdict=verdict,
        reason=reason,
        execution_pass_rate=rates[0],
        baseline_pass_rate=rates[1],
        comparison=comparison,
        warnings=warnings,
    )


def _rate(side: Sequence[TaskResult]) -> float:
    return pass_rate([bool(one.passed) for one in side])


def _rate_or_none(side: Sequence[TaskResult] | None) -> float | None:
    return None if side is None or any(one.passed is None for one in side) else _rate(side)


def _warnings(trial: Trial, bar: Bar, baseline: float | None) -> tuple[str, ...]:
    found: list[str] = []
    if baseline is not None and baseline < LEAST_BASELINE and bar.weak_baseline == "warn":
        found.append(f"baseline pass rate {baseline:.4g} < {LEAST_BASELINE}")
    if trial.baseline is not None and len(trial.baseline) < 5:  # noqa: PLR2004  as the format advises
        found.append(f"{len(trial.baseline)} tasks: one of them is a difference of {1 / len(trial.baseline):.2g}")
    again = [[attempt.output for attempt in one.attempts] for one in _tried(trial) if len(one.attempts) > 1]
    if again and all(len(set(outputs)) == 1 for outputs in again):
        found.append("every further attempt said what the first had said: more of them tell nothing")
    return tuple(found)


def _tried(trial: Trial) -> list[TaskResult]:
    return [one for side in (trial.candidate, trial.baseline) for one in side or ()]
