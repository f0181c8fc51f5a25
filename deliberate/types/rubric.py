"""How to judge: a rubric and its weighted dimensions."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property, lru_cache
from typing import Literal

from deliberate.types._record import Record, digest_of

__all__ = [
    "AUTO",
    "GENERAL",
    "Choice",
    "Dimension",
    "Rubric",
    "SeverityMode",
    "is_expression",
    "plain_name",
    "same_name",
]

AUTO = "auto"
"""Stands for the rubric that fits the case: its category, files and task choose."""

GENERAL = "general"
"""The rubric for whatever no other fits; it always exists."""

SeverityMode = Literal["adjust", "cap_only", "advisory"]
"""What findings do to a dimension's score: subtract and cap, cap only, or nothing."""


class Dimension(Record, frozen=True, kw_only=True):
    """One weighted aspect. ``question`` is one positive yes/no question for judges that read probabilities.

    ``affects`` are patterns of what bears on it: globs, or regular expressions between slashes; one that matches a
    changed line, or the name of the file it lies in, says that the change can have moved this dimension.
    """

    name: str
    weight: float
    description: str = ""
    question: str = ""
    affects: tuple[str, ...] = ()


class Rubric(Record, frozen=True, kw_only=True, dict=True):
    """How to judge: the body is what a judge reads; weights of the dimensions sum to 1 within 1e-6."""

    name: str
    body: str
    description: str = ""
    dimensions: tuple[Dimension, ...] = ()
    categories: tuple[str, ...] = ()
    severity: SeverityMode = "adjust"
    eligibility: Mapping[str, tuple[str, ...]] = {}
    source: str = "bundled"

    @cached_property
    def digest(self) -> str:
        """Sha-256 of what the rubric says, whatever form it was written in; not its source."""
        return digest_of(
            {
                "name": self.name,
                "description": self.description,
                "body": self.body.strip(),
                "dimensions": self.dimensions,
                "categories": self.categories,
                "severity": self.severity,
                "eligibility": dict(self.eligibility),
            }
        )


class Choice(Record, frozen=True, kw_only=True):
    """The rubric chosen for a case: by what, why, and who was passed over as not eligible, each with its reason."""

    rubric: Rubric
    by: Literal["category", "file_type", "keyword", "general"]
    why: str
    refused: tuple[str, ...] = ()


def is_expression(pattern: str) -> bool:
    """Whether a pattern of ``affects`` is a regular expression (``/…/``) rather than a glob."""
    return len(pattern) > 2 and pattern.startswith("/") and pattern.endswith("/")  # noqa: PLR2004  more than slashes


def same_name(one: str, other: str) -> bool:
    """Whether two dimension names are the same, case, spaces, ``_`` and ``-`` ignored."""
    return plain_name(one) == plain_name(other)


@lru_cache(maxsize=1024)
def plain_name(name: str) -> str:
    """What of a dimension's name counts: its letters and digits, case ignored."""
    return "".join(sign for sign in name.casefold() if sign.isalnum())
