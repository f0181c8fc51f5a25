"""What of an earlier evaluation may stand: the difference between two outputs, and decisions over it. All pure.

Two skips (identical; confident) and one way in between: only the dimensions that a change can have moved are judged
again. Every rule has its number in ``Carry``; every decision says why.
"""

from __future__ import annotations

import fnmatch
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Literal

import msgspec

from deliberate.evaluators._pattern import compiled
from deliberate.types import (
    BLOCKER_CAP,
    Carry,
    Dimension,
    DimensionScore,
    Evaluation,
    Finding,
    Record,
    Revision,
    Scored,
    SeverityMode,
    Usage,
    adjusted_score,
    digest_of,
    is_expression,
    same_name,
)

__all__ = [
    "Change",
    "Hunk",
    "Merged",
    "Standing",
    "affected_by",
    "carried",
    "change_between",
    "followed",
    "full_because",
    "merged",
    "skipped",
    "too_many",
]

_CONTEXT = {"lines": 3, "words": 12}
_MOST_UNITS = 20_000
"""Lines or words of both outputs together that are compared; beyond, a change counts as a whole."""
_PATTERN_SECONDS = 0.2
_PLACE = re.compile(r"^(?:\+\+\+ (?:b/)?(?P<file>\S+)|#{1,6} +(?P<heading>.+?) *$)")


class Hunk(Record, frozen=True, kw_only=True):
    """One stretch of change with what stands around it; ``places`` are the file and the heading it lies under."""

    removed: tuple[str, ...]
    added: tuple[str, ...]
    text: str
    places: tuple[str, ...] = ()


class Change(Record, frozen=True, kw_only=True):
    """The difference between two outputs; ``share`` (0–1) is changed over all lines, words in texts of one line."""

    share: float
    hunks: tuple[Hunk, ...] = ()

    @property
    def text(self) -> str:
        """All of it, as judges are shown it."""
        return "\n@@\n".join(hunk.text for hunk in self.hunks)


def change_between(before: str, after: str) -> Change:
    r"""What was changed, by lines; by words where both texts are one line.

    The share is 1 − 2M/T, M what both have in common and in one order, T all of both (``difflib``'s ratio, inverted).

    >>> change_between("a\nb\nc\nd", "a\nb\nc\ne").share
    0.25
    >>> change_between("one two three four", "one two three five").hunks[0].text
    'one two three [-four-] {+five+}'
    """
    unit = "words" if "\n" not in before.strip() and "\n" not in after.strip() else "lines"
    old, new = (text.split() if unit == "words" else text.splitlines() for text in (before, after))
    if len(old) + len(new) > _MOST_UNITS:
        return Change(share=1.0 if before != after else 0.0)
    matcher = SequenceMatcher(None, old, new, autojunk=False)
    share = round(1.0 - matcher.ratio(), 9)
    show = _words if unit == "words" else _lines
    hunks = tuple(
        Hunk(
            removed=tuple(one for tag, i, j, _, _ in group if tag != "equal" for one in old[i:j]),
            added=tuple(one for tag, _, _, i, j in group if tag != "equal" for one in new[i:j]),
            text=show(group, old, new),
            places=_places(new, group[0][3]) if unit == "lines" else (),
        )
        for group in matcher.get_grouped_opcodes(_CONTEXT[unit])
    )
    return Change(share=share, hunks=hunks)


_Opcodes = Sequence[tuple[str, int, int, int, int]]


def _lines(group: _Opcodes, old: Sequence[str], new: Sequence[str]) -> str:
    found: list[str] = []
    for tag, i, j, k, m in group:
        if tag == "equal":
            found += [f"  {line}" for line in old[i:j]]
        else:
            found += [*(f"- {line}" for line in old[i:j]), *(f"+ {line}" for line in new[k:m])]
    return "\n".join(found)


def _words(group: _Opcodes, old: Sequence[str], new: Sequence[str]) -> str:
    found: list[str] = []
    for tag, i, j, k, m in group:
        if tag == "equal":
            found.append(" ".join(old[i:j]))
            continue
        found += [f"[-{' '.join(old[i:j])}-]"] if i < j else []
        found += [f"{{+{' '.join(new[k:m])}+}}"] if k < m else []
    return " ".join(found)


def _places(lines: Sequence[str], at: int) -> tuple[str, ...]:
    """The file of a diff and the heading that a line stands under, the nearest above it."""
    found: dict[str, str] = {}
    for line in reversed(lines[: at + _CONTEXT["lines"] + 1]):
        match = _PLACE.match(line)
        if match is not None:
            kind = match.lastgroup or ""
            found.setdefault(kind, match[kind])
    return tuple(found.values())


def affected_by(change: Change, dimensions: Sequence[Dimension]) -> tuple[str, ...] | None:
    """The dimensions that a change can have moved, by the rubric's own patterns.

    A dimension without patterns is moved by every change, and a stretch that no pattern knows moves them all.

    Returns:
        Their names in the rubric's order; None where no dimension has a pattern: then somebody has to be asked.
    """
    if not any(one.affects for one in dimensions):
        return None
    found = {one.name for one in dimensions if not one.affects}
    for hunk in change.hunks:
        texts = (*hunk.places, *hunk.removed, *hunk.added)
        hit = {one.name for one in dimensions if any(_fits(pattern, texts) for pattern in one.affects)}
        found |= hit or {one.name for one in dimensions}
    return tuple(one.name for one in dimensions if one.name in found)


def _fits(pattern: str, texts: Iterable[str]) -> bool:
    if not is_expression(pattern):
        glob = pattern.casefold()
        return any(fnmatch.fnmatchcase(text.strip().casefold(), glob) for text in texts)
    expression = compiled(pattern[1:-1])
    try:
        return any(expression.search(text, timeout=_PATTERN_SECONDS) for text in texts)
    except TimeoutError:
        return True  # whoever cannot say whether it fits takes it as fitting: more is judged, never less


def full_because(iteration: int, change: Change, *, carry: Carry) -> str:
    """Why the whole has to be judged, before anybody looked which dimensions are affected; "" if it need not."""
    if iteration <= 1:
        return "the first iteration"
    if iteration % carry.full_every == 0:
        return f"every {carry.full_every}. iteration is judged as a whole"
    if change.share > carry.most_changed:
        return f"{change.share:.0%} of the text changed, more than {carry.most_changed:.0%}"
    return ""


def too_many(
    affected: Sequence[str], dimensions: Sequence[Dimension], findings: Iterable[Finding], *, carry: Carry
) -> str:
    """Why the whole has to be judged although only some dimensions are affected; "" if it need not."""
    weight = math.fsum(one.weight for one in dimensions if one.name in affected)
    whole = math.fsum(one.weight for one in dimensions)
    if weight > carry.most_weight * whole + 1e-9:
        return f"the affected dimensions hold {weight / whole:.0%} of the weight, more than {carry.most_weight:.0%}"
    for one in findings:
        if one.severity == "blocker" and not any(same_name(one.dimension, name) for name in affected):
            return f"the Blocker {one.id} would be carried along unjudged"
    return ""


class Standing(Record, frozen=True, kw_only=True):
    """An iteration as the skip rule sees it.

    ``output`` and ``basis`` are digests: of what was judged, and of how. ``evidence`` has tests and static analysis:
    True = passed or clean, False = not, None = they did not run. ``normalized`` is the score 0–1, None without one.
    """

    output: str
    basis: str = ""
    normalized: float | None = None
    evidence: Mapping[str, bool | None] = {}


def skipped(
    before: Standing | None, now: Standing, *, carry: Carry
) -> Literal["", "skipped: identical", "skipped: confident"]:
    """Whether a judge need not be asked, and by which rule; "" if one has to be.

    The evidence is that of the current output, never of the one before.
    """
    if before is None or before.normalized is None or before.basis != now.basis:
        return ""
    if before.output == now.output:
        return "skipped: identical"
    told = tuple(now.evidence.values())
    proved = all(told) if carry.require_evidence else False not in told
    if before.normalized >= carry.skip_eval_confidence and proved and (told or not carry.require_evidence):
        return "skipped: confident"
    return ""


def carried(
    previous: Evaluation,
    *,
    decision: Literal["incremental", "skipped: identical", "skipped: confident"],
    revision: Revision,
    usage: Usage,
    flags: Sequence[str] = (),
) -> Evaluation:
    """The whole previous evaluation once more, its score and findings marked as carried."""
    outcome = previous.outcome
    if isinstance(outcome, Scored):
        outcome = msgspec.structs.replace(outcome, origin="carried")
    return msgspec.structs.replace(
        previous,
        outcome=outcome,
        reason=f"{revision.why}; before: {previous.reason}" if previous.reason else revision.why,
        flags=tuple(sorted({*previous.flags, *flags})),
        decision=decision,
        dimensions=tuple(msgspec.structs.replace(one, origin="carried") for one in previous.dimensions),
        findings=tuple(_kept(one) for one in previous.findings),
        usage=usage,
        duration_seconds=0.0,
        revision=msgspec.structs.replace(
            revision, affected=previous.revision.affected if previous.revision is not None else ()
        ),
    )


def followed(found: Sequence[Finding], previous: Evaluation | None) -> tuple[tuple[Finding, ...], tuple[Finding, ...]]:
    """Findings of a whole judgment with their ids and states along the chain, and all that are resolved by now.

    A finding known from before keeps its id and persists; one that was resolved before has regressed; whatever is new
    gets a number that was never used in the chain.
    """
    old = () if previous is None else previous.findings
    gone = () if previous is None else previous.resolved
    known = {identity(one): one for one in (*gone, *old)}
    live = {identity(one) for one in old}
    number = max((int(one.id[1:]) for one in (*old, *gone) if re.fullmatch(r"F\d+", one.id)), default=0)
    told: list[Finding] = []
    for one in found:
        key = identity(one)
        if key in known:
            state: Literal["persisting", "regressed"] = "persisting" if key in live else "regressed"
            told.append(msgspec.structs.replace(one, id=known[key].id, state=state))
        else:
            number += 1
            told.append(msgspec.structs.replace(one, id=f"F{number}", state="new"))
    here = {identity(one) for one in found}
    resolved = [one for one in gone if identity(one) not in here]
    resolved += [msgspec.structs.replace(one, state="resolved") for one in old if identity(one) not in here]
    return tuple(told), tuple(resolved)


class Merged(Record, frozen=True, kw_only=True):
    """A partial judgment put into the whole; ``score`` is 0–100."""

    score: float
    dimensions: tuple[DimensionScore, ...]
    findings: tuple[Finding, ...]
    resolved: tuple[Finding, ...]


def merged(
    previous: Evaluation,
    votes: Sequence[tuple[Sequence[DimensionScore], Sequence[Finding], Sequence[str]]],
    *,
    mode: SeverityMode = "adjust",
) -> Merged:
    """The previous evaluation with what the votes say of the dimensions they judged.

    Scores of those are the mean over the votes, after the severity arithmetic with the vote's own findings and those
    earlier ones that stand. An earlier finding is resolved if more than half of the votes say so; an id that is not
    there resolves nothing, and a finding that a vote lists again stands. Everything else is carried and marked so.

    Args:
        previous: What was said before.
        votes: Of each vote the dimensions it scored, the findings it added, and the ids it calls resolved.
        mode: What findings do to scores.
    """
    added = {identity(one): one for _, findings, _ in votes for one in findings}
    counts = {one.id: sum(one.id in ids for _, _, ids in votes) for one in previous.findings}
    out = {one.id for one in previous.findings if counts[one.id] * 2 > len(votes) and identity(one) not in added}
    stand = [one for one in previous.findings if one.id not in out]
    dimensions = tuple(_scored_again(one, votes, stand, mode=mode) for one in previous.dimensions)
    again = {identity(one): one for one in stand}
    findings = tuple(_kept(one) for one in stand)
    new, _ = followed([one for key, one in added.items() if key not in again], previous)
    back = {identity(one) for one in new}
    resolved = [one for one in previous.resolved if identity(one) not in back]
    resolved += [msgspec.structs.replace(one, state="resolved") for one in previous.findings if one.id in out]
    everything = (*findings, *new)
    weight = math.fsum(one.weight for one in dimensions)
    score = math.fsum(one.weight * one.adjusted for one in dimensions) / weight
    if mode != "advisory" and any(
        one.severity == "blocker" and not any(same_name(one.dimension, each.dimension) for each in dimensions)
        for one in everything
    ):
        score = min(score, BLOCKER_CAP)
    return Merged(score=round(score, 9), dimensions=dimensions, findings=everything, resolved=tuple(resolved))


def _scored_again(
    before: DimensionScore,
    votes: Sequence[tuple[Sequence[DimensionScore], Sequence[Finding], Sequence[str]]],
    stand: Sequence[Finding],
    *,
    mode: SeverityMode,
) -> DimensionScore:
    judged: list[float] = []
    adjusted: list[float] = []
    for scores, findings, _ in votes:
        for one in scores:
            if same_name(one.dimension, before.dimension):
                all_of_it = {identity(each): each for each in (*stand, *findings)}.values()
                named = [each for each in all_of_it if same_name(each.dimension, before.dimension)]
                judged.append(one.judged)
                adjusted.append(adjusted_score(one.judged, named, mode=mode))
    if not judged:
        return msgspec.structs.replace(before, origin="carried")
    return msgspec.structs.replace(
        before,
        judged=round(math.fsum(judged) / len(judged), 9),
        adjusted=round(math.fsum(adjusted) / len(adjusted), 9),
        origin="measured",
    )


def identity(finding: Finding) -> str:
    """What makes a finding the same one across iterations."""
    if finding.key:
        return finding.key
    return digest_of([finding.dimension.casefold(), finding.title.casefold(), finding.location])


def _kept(finding: Finding) -> Finding:
    return msgspec.structs.replace(finding, state="persisting", flags=tuple(dict.fromkeys((*finding.flags, "carried"))))
