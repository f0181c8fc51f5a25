"""Reply -> ballot: the one reader, strict and bounded.

A vote is read only from the judge's own structured reply, never from prose that may quote what it judged. Nothing is
repaired or guessed: what cannot be read is a ``ReplyError``, which earns one repair ask and then is absent.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import msgspec

from deliberate.errors import ReplyError
from deliberate.judging._lines import Sections, score_lines, sections, severity_named
from deliberate.judging._prompt import findings_of, labels_of
from deliberate.judging._revised import ids_in, said_in_text
from deliberate.judging._schema import asked_dimensions
from deliberate.judging._wire import (
    BallotSaid,
    FindingSaid,
    NoteSaid,
    NumberSaid,
    ReviewSaid,
    converted,
    decoded,
    unwrapped,
)
from deliberate.runtime import Post
from deliberate.types import (
    AskId,
    Ballot,
    Bracket,
    Dimension,
    DimensionScore,
    Finding,
    Note,
    Review,
    Revised,
    adjusted_ballot,
    bracket_named,
    bracket_of,
    digest_of,
    finite,
    midpoint,
    parse_scale,
    plain_name,
    to_score,
)

__all__ = ["finding_key", "read"]

_MOST_FINDINGS = 100
_MOST_TEXT = 20_000
_MOST_LINES = 100_000
_SHORT = 32 * 1024
"""Characters of an output that is kept at hand in one line, for what is quoted from it otherwise than it stands."""


def read(text: str, post: Post, *, before: str = "") -> Ballot | Review | Note:  # noqa: PLR0911  one for each form
    """What a judge's reply says.

    Args:
        text: The reply.
        post: What was asked.
        before: The reply that this one mends. Of a text form, the dimensions that could be read there stand.

    Raises:
        ReplyError: It is not in the form asked for; the message says why, in words a judge can act on.
    """
    if post.form.wire == "text":
        return Note(text=_whole(text))
    body = unwrapped(text)
    in_text = not body.startswith("{") and bool(
        post.form.wire == "score" or post.form.fallback or post.form.reply is Revised
    )
    if in_text and len(body) > _MOST_LINES:
        msg = f"it was longer than {_MOST_LINES} characters"
        raise ReplyError(msg)
    if post.form.reply is Revised:
        wire = (
            converted(said_in_text(body), BallotSaid) if in_text else decoded(body, BallotSaid, output=post.case.output)
        )
        return Revised(**msgspec.structs.asdict(_ballot(wire, post)), resolved=ids_in(wire.resolved))
    if in_text:
        if post.form.wire == "score":
            said = score_lines(body, most=parse_scale(post.form.scale)[1])
            return _placed(said.score, said.reason, post)
        return _sectioned(body, before, post)
    if post.form.wire in ("number", "score"):
        number = decoded(body, NumberSaid, output=post.case.output)
        return _placed(number.score, number.reasoning or number.feedback or number.reason, post)
    if post.form.reply is Ballot:
        return _ballot(decoded(body, BallotSaid, output=post.case.output), post)
    is_review = post.form.reply is Review
    return (
        _review(decoded(body, ReviewSaid, output=post.case.output), post)
        if is_review
        else Note(text=_clean(decoded(body, NoteSaid, output=post.case.output).text))
    )


def finding_key(dimension: str, title: str, location: str | None) -> str:
    """A finding's identity across iterations: the first 16 hex digits of a digest, case and spacing ignored."""
    words = [" ".join((part or "").casefold().split()) for part in (dimension, title, location)]
    return digest_of(words)[:16]


def _ballot(wire: BallotSaid, post: Post) -> Ballot:
    dimensions = asked_dimensions(post.rubric, post.ask.dimensions)
    severity = "adjust" if post.rubric is None else post.rubric.severity
    findings = _findings(wire.findings, post, dimensions)
    reason, suggestion = _clean(wire.reasoning), _clean(wire.suggestion)
    flags = ("quote_not_found",) if any(finding.flags for finding in findings) else ()
    cites = _cited(wire, post)
    if dimensions:
        return adjusted_ballot(
            Ballot(
                bracket=Bracket.POOR,
                score=0.0,
                dimensions=_scores(wire.dimensions, dimensions),
                findings=findings,
                reason=reason,
                suggestion=suggestion,
                cites=cites,
                severity=severity,
                flags=flags,
            )
        )
    bracket, score, number = _voted(wire.bracket, wire.score)
    return Ballot(
        bracket=bracket,
        score=score,
        number="given" if number else "midpoint",
        findings=findings,
        reason=reason,
        suggestion=suggestion,
        cites=cites,
        severity=severity,
        flags=flags,
    )


def _review(wire: ReviewSaid, post: Post) -> Review:
    """Confirmed and refuted findings by key; a refutation whose quote is not in the output counts for nothing."""
    keys = {finding.id: finding.key for finding in findings_of(post)}
    strangers = [name for name in (*wire.confirmed, *(one.finding for one in wire.refuted)) if name not in keys]
    if strangers:
        msg = f"it speaks of {strangers[0]!r}, which is no finding asked about"
        raise ReplyError(msg)
    proved = [one for one in wire.refuted if one.quote.strip() and _occurs(one.quote, post.case.output)]
    refuted = tuple(dict.fromkeys(keys[one.finding] for one in proved))
    return Review(
        confirmed=tuple(dict.fromkeys(keys[name] for name in wire.confirmed if keys[name] not in refuted)),
        refuted=refuted,
        quotes=tuple(_clean(one.quote) for one in proved),
    )


def _cited(wire: BallotSaid, post: Post) -> tuple[AskId, ...]:
    """The shown votes a ballot says it rests on.

    Raises:
        ReplyError: It had to name some, and names none, or one that was not shown.
    """
    if not post.form.cites:
        return ()
    letters = {label.removeprefix("vote-"): at for at, label in labels_of(post).items()}
    names = [name.strip().removeprefix("vote-").casefold() for name in wire.cites]
    if not names or any(name not in letters for name in names):
        msg = f"its cites must name one or more of {', '.join(letters)}"
        raise ReplyError(msg)
    return tuple(dict.fromkeys(letters[name] for name in names))


def _voted(name: str | None, number: float | None) -> tuple[Bracket, float, bool]:
    try:
        bracket = None if name is None else bracket_named(name)
        score = None if number is None else finite(number, low=0.0, high=100.0)
    except ValueError as error:
        raise ReplyError(str(error)) from None
    if score is None:
        if bracket is None:
            msg = "it has neither a bracket nor a score"
            raise ReplyError(msg)
        return bracket, midpoint(bracket), False
    if bracket is not None and bracket != bracket_of(score):
        msg = f"its bracket {bracket.label} contradicts its score {score:g}, which lies in {bracket_of(score).label}"
        raise ReplyError(msg)
    return bracket_of(score), score, True


def _scores(given: dict[str, float] | None, dimensions: Sequence[Dimension]) -> tuple[DimensionScore, ...]:
    values: dict[str, list[float]] = {}
    for name, value in (given or {}).items():
        values.setdefault(plain_name(name), []).append(value)
    found: list[DimensionScore] = []
    for dimension in dimensions:
        said = values.get(plain_name(dimension.name), ())
        if len(said) != 1:
            msg = f"dimension {dimension.name!r} is scored {len(said)} times instead of once"
            raise ReplyError(msg)
        try:
            judged = to_score(said[0], scale="0..1")
        except ValueError as error:
            msg = f"dimension {dimension.name!r}: {error}"
            raise ReplyError(msg) from None
        found.append(DimensionScore(dimension=dimension.name, weight=dimension.weight, judged=judged, adjusted=judged))
    strangers = values.keys() - {plain_name(one.name) for one in dimensions}
    if strangers:
        first = next(name for name in given or () if plain_name(name) in strangers)
        msg = f"it scores {first!r}, which is no dimension asked about"
        raise ReplyError(msg)
    return tuple(found)


def _findings(wire: Sequence[FindingSaid], post: Post, dimensions: Sequence[Dimension]) -> tuple[Finding, ...]:
    if len(wire) > _MOST_FINDINGS:
        msg = f"it lists more than {_MOST_FINDINGS} findings"
        raise ReplyError(msg)
    names = {plain_name(each.name): each.name for each in reversed(dimensions)}
    found: list[Finding] = []
    for number, one in enumerate(wire, start=1):
        severity = severity_named(one.severity)
        if severity is None:
            msg = f"{one.severity!r} is no severity: expected blocker, important or suggestion"
            raise ReplyError(msg)
        name = names.get(plain_name(one.dimension)) or _clean(one.dimension)
        title, location, quote = _clean(one.title), _maybe(one.location), _maybe(one.quote)
        found.append(
            Finding(
                id=f"F{number}",
                key=finding_key(name, title, location),
                severity=severity,
                dimension=name,
                title=title,
                description=_clean(one.description),
                location=location,
                quote=quote,
                fix=_maybe(one.fix),
                flags=() if quote is None or _occurs(quote, post.case.output) else ("quote_not_found",),
            )
        )
    return tuple(found)


def _placed(raw: float, reason: str, post: Post) -> Ballot:
    """A number on the form's scale, placed in its bracket; one without reasons counts, and is flagged."""
    try:
        score = to_score(raw, scale=post.form.scale)
    except ValueError as error:
        msg = f"its score cannot be taken: {error}"
        raise ReplyError(msg) from None
    reason = _clean(reason)
    flags = () if reason else ("missing_reasoning",)
    return Ballot(bracket=bracket_of(score), score=score, reason=reason, flags=flags)


def _sectioned(body: str, before: str, post: Post) -> Ballot:
    """A ballot from the text form, dimension by dimension.

    What could be read stands, in the reply before this one too; the message names what is missing.
    """
    dimensions = asked_dimensions(post.rubric, post.ask.dimensions)
    now, earlier = _own_sections(body, post), _earlier_sections(before, post)
    scores: dict[str, float] = {}
    missing: list[str] = []
    for dimension in dimensions:
        first, why = earlier.score_of(dimension.name)
        last, why = now.score_of(dimension.name) if first is None else (first, why)
        if last is None:
            missing.append(f"dimension {dimension.name!r} {why}")
        else:
            scores[dimension.name] = last
    if missing or not scores:
        raise ReplyError("; ".join(missing) or "no dimension is asked about")
    merged = {tuple(one.items()): one for one in (*earlier.findings, *now.findings)}
    wire = BallotSaid(
        findings=[converted(dict(one), FindingSaid) for one in merged.values()],
        suggestion=now.suggestion or earlier.suggestion,
        dimensions=scores,
    )
    return _ballot(wire, post)


def _own_sections(body: str, post: Post) -> Sections:
    names = [one.name for one in asked_dimensions(post.rubric, post.ask.dimensions)]
    found = sections(body, names)
    if found.copied_from(post.case.output):
        msg = "its scores were copied from the output that is judged"
        raise ReplyError(msg)
    return found


def _earlier_sections(before: str, post: Post) -> Sections:
    """What stands of the reply before; nothing, if it was in no form at all."""
    try:
        return _own_sections(unwrapped(before), post)
    except ReplyError:
        return Sections()


def _whole(text: str) -> str:
    """Text as it was written, but for lone surrogates, which cannot be stored."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _clean(text: str) -> str:
    """Model text as it is stored: no lone surrogates, bounded length."""
    head = text[:_MOST_TEXT]
    return (head if head.isascii() else head.encode("utf-8", "replace").decode("utf-8")).strip()


def _maybe(text: str | None) -> str | None:
    return _clean(text) or None if text is not None else None


def _occurs(quote: str, output: str) -> bool:
    """Whether the output says it, however either is broken into lines."""
    if quote in output:
        return True
    unbroken = _at_hand if len(output) <= _SHORT else _unbroken
    return _unbroken(quote) in unbroken(output)


def _unbroken(text: str) -> str:
    return " ".join(text.split())


_at_hand = lru_cache(maxsize=128)(_unbroken)  # the seats of a panel quote the same output
