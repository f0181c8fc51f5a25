"""What a plan file says, by names only."""

from __future__ import annotations

from collections.abc import Mapping

from deliberate.types._record import Record, digest_of
from deliberate.types.case import Param, Spec
from deliberate.types.evaluation import Gate

__all__ = ["Plan", "PlanPart"]


class PlanPart(Record, frozen=True, kw_only=True):
    """One named, weighted part of a plan."""

    name: str
    spec: Spec
    weight: float = 1.0


class Plan(Record, frozen=True, kw_only=True):
    """What a plan file says, by names only; its digest is the plan digest of a run."""

    parts: tuple[PlanPart, ...]
    combine: Spec = Spec(type="weighted_mean")
    gates: tuple[Gate, ...] = ()
    cases: Mapping[str, Param] = {}
    require: Mapping[str, Param] = {}
    limits: Mapping[str, Param] = {}

    @property
    def digest(self) -> str:
        """Sha-256 of the plan."""
        return digest_of(self)
