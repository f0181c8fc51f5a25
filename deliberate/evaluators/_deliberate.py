"""Runs a deliberation: the one loop between a pure protocol and the judges.

``advance`` says what is open; the judges answer; ``conclude`` makes the verdict. Nothing here knows a rule or a
prompt. A verdict is released only after the commit that holds its votes.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import anyio

from deliberate.errors import ConfigError
from deliberate.judging import addresses_judges, post_of
from deliberate.protocols import Protocol, advance, batches, conclude, protocol_of, settled
from deliberate.runtime import Post, Runtime
from deliberate.tallies import needed
from deliberate.types import (
    Absent,
    Answer,
    Ask,
    AskId,
    Ballot,
    BallotCast,
    Case,
    Close,
    Decided,
    Form,
    Key,
    Later,
    Panel,
    Pending,
    Reply,
    ResultReached,
    RoundClosed,
    Rubric,
    SeatAbsent,
    UndecidedWhy,
    Verdict,
    ask_id,
    laid_out,
)

__all__ = ["deliberate"]


async def deliberate(
    case: Case, panel: Panel, *, runtime: Runtime, rubric: Rubric | None, forms: Sequence[Form] = ()
) -> Verdict:
    """The verdict of a panel on a case.

    Args:
        case: What is judged.
        panel: Who judges; it is laid out on the rubric here.
        runtime: The doors.
        rubric: How to judge; None judges by the panel's criteria.
        forms: Forms an evaluator brings besides the protocol's own.

    Raises:
        ConfigError: Panel, rules or protocol do not fit together; nothing was spent.
        LedgerError: The votes cannot be written.
    """
    seated = laid_out(panel, rubric)
    known: frozenset[Key] = frozenset()
    while True:
        sitting = _Sitting(case, seated, runtime=runtime, rubric=rubric, forms=forms)
        verdict = await sitting.run()
        await runtime.ledger.committed()
        # Where another process put other replies first, those are on record: the sitting is held again on them.
        lost = runtime.ledger.superseded - known
        if not lost or not lost & {answer.key for answer in verdict.answers.values()}:
            break
        known |= lost
    runtime.emit(_reached(sitting.name, verdict))
    return verdict


def _reached(case: str, verdict: Verdict) -> ResultReached:
    decision = verdict.decision
    if isinstance(decision, Decided):
        return ResultReached(case=case, digest=verdict.digest, bracket=decision.bracket, score=decision.score)
    return ResultReached(case=case, digest=verdict.digest, why=f"{decision.why}: {decision.detail}")


class _Sitting:
    """One panel on one case: the answers so far."""

    def __init__(
        self, case: Case, panel: Panel, *, runtime: Runtime, rubric: Rubric | None, forms: Sequence[Form]
    ) -> None:
        if not panel.voters:
            raise ConfigError("a panel needs at least one seat that votes", where="seats")
        needed(panel.rules, len(panel.voters))
        self.name = case.id or case.digest[:8]
        self._case = case
        self._panel = panel
        self._runtime = runtime
        self._rubric = rubric
        self._protocol: Protocol = protocol_of(panel.protocol)
        self._forms = {form.name: form for form in (*self._protocol.forms, *forms)}
        self._asks: list[Ask] = []
        self._answers: dict[AskId, Answer] = {}

    async def run(self) -> Verdict:
        while isinstance(step := advance(self._protocol, self._case, self._panel, self._replies()), Pending):
            asks = {ask_id(ask): ask for ask in step.wave.asks}
            self._asks += [ask for at, ask in asks.items() if at in step.open]
            if (stopped := await self._wave(step, asks)) is not None:
                return self._verdict(None, stopped=stopped)
            self._runtime.emit(RoundClosed(case=self.name, round=step.wave.asks[0].round))
        return self._verdict(step.close, stopped="deadline" if self._time_is_up() else None)

    async def _wave(self, step: Pending, asks: Mapping[AskId, Ask]) -> UndecidedWhy | None:
        """Asks what is open; why it had to stop, if it had to."""
        for batch in batches(self._panel, step):
            if step.wave.spend == "enough" and self._settled(step):
                self._leave_out(at for at in step.open if at not in self._answers)
                break
            posts = [self._post(asks[at], step) for at in batch]
            waiting = False
            for at, answer in zip(batch, await self._asked(posts), strict=True):
                if isinstance(answer, Later):
                    waiting = True
                else:
                    self._heard(at, asks[at], answer)
            if waiting:
                return "waiting"
        return None

    async def _asked(self, posts: Sequence[Post]) -> Sequence[Answer | Later]:
        if self._time_is_up():
            gone = Absent(reason="deadline", detail="the session's time was up")
            return [Answer(key=post.key, reply=gone) for post in posts]
        return await self._runtime.judges.ask(posts)

    def _post(self, ask: Ask, step: Pending) -> Post:
        ends = self._runtime.ends
        return post_of(
            ask,
            case=self._case,
            panel=self._panel,
            rubric=self._rubric,
            protocol=self._protocol,
            form=self._forms[ask.form],
            heard=step.heard,
            deadline_seconds=self._runtime.call_seconds,
            session_seconds=None if ends is None else max(0.0, ends - anyio.current_time()),
        )

    def _heard(self, at: AskId, ask: Ask, answer: Answer) -> None:
        self._answers[at] = answer
        reply = answer.reply
        ours = reply if isinstance(reply, Absent) and not reply.lasting else None
        self._runtime.ledger.place(f"{self.name}/{at}", answer.key, absent=ours, run=self._runtime.run)
        if isinstance(reply, Ballot):
            self._runtime.emit(
                BallotCast(
                    case=self.name,
                    at=at,
                    seat=ask.seat,
                    bracket=reply.bracket,
                    score=reply.score,
                    dimensions=reply.dimensions,
                    usage=answer.usage,
                    read_back=self._runtime.steps.was_read_back(answer.key),
                )
            )
        elif isinstance(reply, Absent):
            self._runtime.emit(SeatAbsent(case=self.name, at=at, seat=ask.seat, state=reply.state, detail=reply.detail))

    def _settled(self, step: Pending) -> bool:
        left = tuple(at for at in step.open if at not in self._answers)
        if len(left) == len(step.open):
            return False
        pending = Pending(wave=step.wave, heard=step.heard, open=left)
        return settled(self._protocol, self._case, self._panel, pending, self._replies())

    def _leave_out(self, unasked: Iterator[AskId]) -> None:
        reply = Absent(reason="not_needed", detail="no further vote could change the bracket")
        self._answers.update((at, Answer(key=Key(""), reply=reply)) for at in unasked)

    def _replies(self) -> dict[AskId, Reply]:
        return {at: answer.reply for at, answer in self._answers.items()}

    def _time_is_up(self) -> bool:
        return self._runtime.ends is not None and anyio.current_time() >= self._runtime.ends

    def _verdict(self, close: Close | None, *, stopped: UndecidedWhy | None) -> Verdict:
        return conclude(
            self._panel,
            asks=self._asks,
            answers=self._answers,
            close=close,
            digests={
                "case": self._case.digest,
                "rubric": "" if self._rubric is None else self._rubric.digest,
                "protocol": f"{self._protocol.name}@{self._protocol.version}",
            },
            stopped=stopped,
            flags=("injection_suspected",) if addresses_judges(self._case.output) else (),
        )
