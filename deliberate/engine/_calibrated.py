"""Only judges that were measured against people count: refused before anything is paid, and again when they answer.

What a model calls itself is known only from its reply. One that answers as another version than was measured is heard
and written down, but its vote does not count.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec

from deliberate.errors import ConfigError
from deliberate.library import Calibrated, version_of, why_not
from deliberate.runtime import Judges, Post
from deliberate.types import AUTO, Absent, Answer, Later, Panel, Rubric

__all__ = ["CalibratedJudges", "refuse_uncalibrated"]

_FLAG = "--require-calibration"


def refuse_uncalibrated(
    panels: Iterable[Panel], known: Sequence[Calibrated], *, rubric: Callable[[str], Rubric]
) -> None:
    """Whether every judge of every panel was measured by the rubric it will judge by.

    Raises:
        ConfigError: One was not, or what was measured is stale; the message names every such judge and why.
    """
    lacking: list[str] = []
    for panel in panels:
        if panel.rubric in (None, AUTO):
            what = "a panel judges by free criteria" if panel.rubric is None else "a panel chooses its rubric by case"
            raise ConfigError(what, where=_FLAG, expected="a rubric by name, as judges are calibrated by one")
        found = rubric(panel.rubric)
        for seat in panel.seats:
            if not seat.judge.human:
                why = why_not(known, seat.judge, rubric=found.name, rubric_digest=found.digest)
                lacking += [why] if why and why not in lacking else []
    if lacking:
        hint = "deliberate compare LABELS --judge MODEL --rubric NAME --calibrate measures them"
        raise ConfigError("; ".join(lacking), where=_FLAG, expected="a fresh calibration of every judge", hint=hint)


class CalibratedJudges:
    """Judges whose answers count only as the version that was measured.

    Args:
        inner: Who asks.
        known: What was measured.
    """

    def __init__(self, inner: Judges, known: Sequence[Calibrated]) -> None:
        self._inner = inner
        self._known = known

    async def ask(self, posts: Sequence[Post]) -> tuple[Answer | Later, ...]:
        """The answers, in the order of the posts; one that does not count is an abstention that says why."""
        answers = await self._inner.ask(posts)
        return tuple(self._counted(post, answer) for post, answer in zip(posts, answers, strict=True))

    def _counted(self, post: Post, answer: Answer | Later) -> Answer | Later:
        if isinstance(answer, Later) or isinstance(answer.reply, Absent) or post.judge.human or post.rubric is None:
            return answer
        why = why_not(
            self._known,
            post.judge,
            rubric=post.rubric.name,
            rubric_digest=post.rubric.digest,
            version=version_of(answer),
        )
        if not why:
            return answer
        return msgspec.structs.replace(answer, reply=Absent(reason="abstained", detail=f"does not count: {why}"))
