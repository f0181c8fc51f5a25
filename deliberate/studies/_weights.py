"""How far apart labels count, in kappa."""

from __future__ import annotations

from typing import Literal

__all__ = ["Weights"]

Weights = Literal["none", "linear", "quadratic"]
