"""Proposing rubrics: a kind of task that comes again and again, judged by the same criteria, deserves one of its own.

``mine`` is pure: it reads judgments and says what it would propose. ``propose``, ``approve`` and ``dismiss`` keep the
proposals in our own folder. Nothing uses a proposal before a person approved it, as it stands; what was dismissed
comes again only on much stronger evidence.
"""

from __future__ import annotations

import math
import re
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import msgspec

from deliberate.errors import ConfigError, UnknownName
from deliberate.judging import visible
from deliberate.library import APPROVED, read_rubric, write_rubric
from deliberate.studies.history import Judged
from deliberate.types import Dimension, Record, Rubric, same_name

__all__ = ["Dismissal", "Mining", "Proposal", "approve", "dismiss", "dismissed", "mine", "propose", "proposed", "slug"]

_DISMISSED = "dismissed.json"
_MOST_CONFIDENCE = 0.95
_MUCH_RISEN = 0.2
_MOST_QUESTIONS = 5
_GUIDE = """\
## Severity Guide

- **Blocker**: the output cannot be used, or does harm where it is used.
- **Important**: something is wrong or missing that must be mended before use.
- **Suggestion**: what would make a good output better."""


class Mining(Record, frozen=True, kw_only=True):
    """When a kind of task is worth a rubric.

    Args:
        days: How far back to look.
        min_samples: Judgments of that category, at least.
        min_confidence: Its share of all judgments (0–1, at most 0.95), at least.
        min_share: The share of its judgments that a criterion must occur in to be consistent.
        min_criteria: Consistent criteria, at least.
    """

    days: int = 30
    min_samples: int = 3
    min_confidence: float = 0.7
    min_share: float = 0.7
    min_criteria: int = 2


class Dismissal(Record, frozen=True, kw_only=True):
    """On what evidence a proposal was dismissed."""

    samples: int
    confidence: float


class Proposal(Record, frozen=True, kw_only=True):
    """A rubric somebody might want; ``samples`` judgments speak for it."""

    category: str
    samples: int
    confidence: float
    rubric: Rubric


def slug(name: str) -> str:
    """A name as rubrics may have it: ``Financial Report`` becomes ``financial-report``.

    >>> slug("Financial Report")
    'financial-report'
    """
    return "-".join(re.findall(r"[a-z0-9]+", name.casefold()))[:64].strip("-") or "rubric"


def mine(
    judged: Sequence[Judged],
    *,
    known: Iterable[Rubric] = (),
    dismissals: Mapping[str, Dismissal] | None = None,
    mining: Mining | None = None,
) -> tuple[Proposal, ...]:
    """What to propose, by category.

    A category recurs with confidence min(0.95, n / N), n its judgments and N all. A criterion is consistent if enough
    of its judgments scored it; its weight is its mean weight there, greater the more of them found fault with it.

    Args:
        judged: Judgments, of the time looked back on.
        known: The rubrics there are: a category that has one needs no other.
        dismissals: What was dismissed before, by category.
        mining: The thresholds.
    """
    mining = Mining() if mining is None else mining
    served = {name.casefold() for one in known for name in one.categories}
    names = {one.name for one in known}
    groups: dict[str, list[Judged]] = {}
    for one in judged:
        groups.setdefault(one.category.casefold(), []).append(one)
    found: list[Proposal] = []
    for category in sorted(groups):
        group = groups[category]
        confidence = min(_MOST_CONFIDENCE, len(group) / len(judged))
        before = (dismissals or {}).get(category)
        if not category or category in served or len(group) < mining.min_samples or confidence < mining.min_confidence:
            continue
        if before is not None and not _much_stronger(len(group), confidence, before):
            continue
        weights = _criteria(group, mining)
        if len(weights) < mining.min_criteria:
            continue
        name = slug(category)
        name = name if name not in names else f"{name[:57]}-learned"
        rubric = _drafted(name, group[0].category, weights, group)
        found.append(Proposal(category=category, samples=len(group), confidence=confidence, rubric=rubric))
    return tuple(found)


def propose(proposals: Iterable[Proposal], home: Path) -> tuple[Path, ...]:
    """Writes proposals into the proposed source, and gives where; one that lies there already stays as it is."""
    places: list[Path] = []
    for one in proposals:
        place = _folder(home) / one.rubric.name
        if not place.exists():
            write_rubric(one.rubric, place.parent)
            facts = Dismissal(samples=one.samples, confidence=one.confidence)
            (place / "evidence.json").write_bytes(msgspec.json.encode({one.category: facts}))
            places.append(place)
    return tuple(places)


def proposed(home: Path) -> tuple[tuple[Rubric, bool], ...]:
    """All proposals, by name, and whether each is approved as it stands."""
    folder = _folder(home)
    found = sorted(path for path in folder.iterdir() if (path / "SKILL.md").exists()) if folder.is_dir() else []
    rubrics = [(path, read_rubric(path, source="proposed")) for path in found]
    return tuple((one, _approval(path) == one.digest) for path, one in rubrics)


def approve(name: str, home: Path) -> Rubric:
    """Lets a proposal be used, as it stands now: changed afterwards, it has to be approved again.

    Raises:
        UnknownName: There is none of that name.
        RubricError: It cannot be read.
    """
    place = _place(name, home)
    rubric = read_rubric(place, source="proposed")
    (place / APPROVED).write_text(f"{rubric.digest}\n", encoding="utf-8", newline="\n")
    return rubric


def dismiss(name: str, home: Path) -> None:
    """Removes a proposal, and remembers on what evidence it was made.

    Raises:
        UnknownName: There is none of that name.
    """
    place = _place(name, home)
    evidence = place / "evidence.json"
    told = msgspec.json.decode(evidence.read_bytes(), type=dict[str, Dismissal]) if evidence.is_file() else {}
    known = {**dismissed(home), **told}
    (_folder(home) / _DISMISSED).write_bytes(msgspec.json.encode(known))
    shutil.rmtree(place)


def dismissed(home: Path) -> Mapping[str, Dismissal]:
    """What was dismissed, by category, with the evidence of then.

    Raises:
        ConfigError: The file is not what we wrote.
    """
    path = _folder(home) / _DISMISSED
    if not path.is_file():
        return {}
    try:
        return msgspec.json.decode(path.read_bytes(), type=dict[str, Dismissal])
    except msgspec.DecodeError as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path), hint="delete it to forget them") from None


def _much_stronger(samples: int, confidence: float, before: Dismissal) -> bool:
    return confidence >= before.confidence + _MUCH_RISEN or samples >= 2 * before.samples


def _criteria(group: Sequence[Judged], mining: Mining) -> Mapping[str, float]:
    """The criteria that occur again and again, with weights that sum to 1."""
    weights: dict[str, list[float]] = {}
    blamed: Counter[str] = Counter()
    for one in group:
        for each in one.dimensions:
            name = next((known for known in weights if same_name(known, each.dimension)), each.dimension)
            weights.setdefault(name, []).append(each.weight)
            blamed[name] += any(same_name(finding.dimension, name) for finding in one.findings)
    raw = {
        name: math.fsum(each) / len(each) * (1.0 + blamed[name] / len(group))
        for name, each in weights.items()
        if len(each) >= mining.min_share * len(group)
    }
    total = math.fsum(raw.values())
    shares = {name: max(0.01, round(weight / total, 2)) for name, weight in raw.items()}
    if shares:  # what rounding leaves goes to the heaviest
        heaviest = max(shares, key=lambda name: (shares[name], name))
        rest = math.fsum(weight for name, weight in shares.items() if name != heaviest)
        shares[heaviest] = round(1.0 - rest, 2)
    return shares


def _drafted(name: str, category: str, weights: Mapping[str, float], group: Sequence[Judged]) -> Rubric:
    sections: list[str] = []
    for dimension, weight in weights.items():
        titles = Counter(
            " ".join(visible(finding.title).split())
            for one in group
            for finding in one.findings
            if same_name(finding.dimension, dimension)
        )
        asked = [
            f"- Found before: {title}. Is it so here?" for title, _ in titles.most_common(_MOST_QUESTIONS) if title
        ]
        lead = f"- Is the {dimension.replace('_', ' ')} as the task asks?"
        sections.append("\n".join([f"## {dimension} ({weight * 100:g}%)", "", lead, *asked]))
    body = "\n\n".join(
        [
            f"You judge outputs of the kind {category!r}. Proposed after {len(group)} judgments: read it before use.",
            *sections,
            _GUIDE,
        ]
    )
    return Rubric(
        name=name,
        description=f"Judges outputs of the kind {category}. Use it for tasks of that category.",
        body=body,
        dimensions=tuple(
            Dimension(
                name=one,
                weight=weight,
                description=f"Is the {one.replace('_', ' ')} as the task asks?",
                question=f"Is the {one.replace('_', ' ')} of the output good?",
            )
            for one, weight in weights.items()
        ),
        categories=(category,),
        source="path",
    )


def _folder(home: Path) -> Path:
    return home / "evaluators" / "proposed"


def _place(name: str, home: Path) -> Path:
    known = [one.name for one, _ in proposed(home)]
    wanted = slug(name)
    if wanted not in known:
        raise UnknownName("proposal", name, known, hint="`deliberate learn ls` lists them")
    return _folder(home) / wanted


def _approval(place: Path) -> str:
    path = place / APPROVED
    return path.read_text(encoding="utf-8").strip() if path.is_file() else ""
