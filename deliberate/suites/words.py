"""A suite's figures in words, and the means of its estimates."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deliberate.suites.records import Outcome, TaskResult, Trial

__all__ = ["compared_text", "estimates", "estimates_text"]

_ESTIMATES = ("pass_at_k", "pass_pow_k", "flake_rate")


def estimates(side: Sequence[TaskResult] | None) -> dict[str, float | None]:
    """The mean over the tasks of pass@k, pass^k and the flake rate, 0–1; None where one of the tasks has none."""
    found: dict[str, float | None] = {}
    for name in _ESTIMATES:
        known = [value for one in side or () if (value := getattr(one, name)) is not None]
        found[name] = math.fsum(known) / len(known) if side and len(known) == len(side) else None
    return found


def compared_text(outcome: Outcome, trial: Trial) -> str:
    """``3 of 9 tasks, baseline 4 of 9; gained none, lost fix; p = 1``; "" where there is nothing to compare."""
    candidate, baseline, compared = trial.candidate, trial.baseline, outcome.comparison
    if candidate is None or baseline is None or compared is None:
        return ""
    gained = _names(candidate, baseline)
    lost = _names(baseline, candidate)
    return (
        f"{_passed(candidate)} of {len(candidate)} tasks, baseline {_passed(baseline)} of {len(baseline)}; "
        f"gained {gained}, lost {lost}; p = {compared.p_value:.3g} (McNemar, exact)"
    )


def estimates_text(trial: Trial, k: int) -> str:
    """Both sides' means as far as they are known, candidate first; "" where none is."""
    sides = {"candidate": trial.candidate, "baseline": trial.baseline}
    titles = dict(zip(_ESTIMATES, (f"pass@{k}", f"pass^{k}", "flake rate"), strict=True))
    told: list[str] = []
    for name, title in titles.items():
        known = [(side, estimates(results)[name]) for side, results in sides.items() if results is not None]
        text = ", ".join(f"{side} {value:.3g}" for side, value in known if value is not None)
        told += [f"{title} {text}"] if text else []
    return "; ".join(told)


def _names(these: Sequence[TaskResult], others: Sequence[TaskResult]) -> str:
    found = [one.task_id for one, other in zip(these, others, strict=True) if one.passed and not other.passed]
    return " ".join(found) or "none"


def _passed(side: Sequence[TaskResult]) -> int:
    return sum(one.passed is True for one in side)
