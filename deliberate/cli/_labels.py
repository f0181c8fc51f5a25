"""``labels``: the votes that people owe, and how they are cast.

A person's vote is stored under the same content key as a model's would be, so the command that began the run finds it
there when it is run again. Voting is blind: nothing here shows what others said.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from deliberate.cli._exits import say
from deliberate.cli._show import case_of
from deliberate.cli._table import print_json
from deliberate.errors import ConfigError, ReplyError
from deliberate.gates import verdicts_of
from deliberate.judging import post_of, read, visible
from deliberate.ledger import Reader, default_path, open_ledger, read_ledger
from deliberate.library import Library
from deliberate.protocols import protocol_of
from deliberate.runtime import Post
from deliberate.types import Answer, Ask, Ballot, Case, Evaluation, Undecided, Verdict, ask_id

__all__ = ["queue", "vote"]

_MOST_RUNS = 200


class Owed(NamedTuple):
    """One vote a person owes: in which run, and the question as a judge would get it."""

    run: str
    person: str
    post: Post


async def queue(*, ledger: Path | None, as_json: bool) -> int:
    """Lists every vote owed in the last runs: task and output, and no vote of anybody."""
    found = [owed async for owed in _owed(_path(ledger))]
    if as_json:
        print_json(
            [
                {"run": one.run, "person": one.person, "task": one.post.case.task, "output": one.post.case.output}
                for one in found
            ]
        )
        return 0
    for one in found:
        case = one.post.case
        sys.stdout.write(
            f"run {one.run}, {one.person}\n\nTask\n{visible(case.task)}\n\nOutput\n{visible(case.output)}\n\n"
        )
        sys.stdout.write(
            f"deliberate labels vote {one.run} --as {one.person} --bracket BRACKET --score N --reason TEXT\n\n"
        )
    if not found:
        say("nobody is waited for")
    return 0


async def vote(
    *, run: str, person: str, bracket: str | None, score: float | None, reason: str, ledger: Path | None
) -> int:
    """Casts the votes one person owes in a run."""
    path = _path(ledger)
    owed = [one async for one in _owed(path, run=run) if one.person == person]
    if not owed:
        what = f"run {run} waits for no vote of {person}"
        raise ConfigError(what, where="--as", hint="deliberate labels queue lists what is waited for")
    async with open_ledger(path) as written:
        for one in owed:
            ballot = _ballot(one.post, bracket=bracket, score=score, reason=reason)
            answer = Answer(
                key=one.post.key, reply=ballot, model=person, requested={"model": person}, effective={"model": person}
            )
            written.put(one.post.key, "Answer", msgspec.json.encode(answer))
        await written.committed()
    say(f"{len(owed)} vote cast; the command that began run {owed[0].run} goes on with it")
    return 0


def _ballot(post: Post, *, bracket: str | None, score: float | None, reason: str) -> Ballot:
    """The vote as a ballot, read by the same reader as a model's: bracket and score cannot contradict."""
    reply: Mapping[str, object] = {
        name: value for name, value in (("bracket", bracket), ("score", score)) if value is not None
    }
    whole = msgspec.structs.replace(post, rubric=None)
    try:
        found = read(msgspec.json.encode({**reply, "reasoning": reason}).decode(), whole)
    except ReplyError as error:
        raise ConfigError(str(error), where="--bracket, --score", expected="a bracket, a score, or both") from None
    if not isinstance(found, Ballot):
        raise ConfigError("this run does not wait for a vote", where="RUN")
    return found


async def _owed(path: Path, *, run: str | None = None) -> AsyncIterator[Owed]:
    async with read_ledger(path) as reader:
        runs = [await reader.run(run)] if run is not None else (await reader.runs())[:_MOST_RUNS]
        waiting = [one for one in runs if one.status == "incomplete"]
        found = [owed for one in waiting for owed in await _of_run(reader, one.run)]
    seen: set[str] = set()
    for one in found:
        if one.post.key not in seen:
            seen.add(one.post.key)
            yield one


async def _of_run(reader: Reader, run: str) -> list[Owed]:
    found: list[Owed] = []
    for step in await reader.results(run):
        evaluation = msgspec.json.decode(step.body or b"", type=Evaluation)
        case = await case_of(reader, run, step.path)
        for verdict in verdicts_of(evaluation):
            if isinstance(verdict.decision, Undecided) and verdict.decision.why == "waiting":
                for ask in verdict.asks:
                    seat = verdict.panel.seat(ask.seat)
                    if seat.judge.human and ask_id(ask) not in verdict.answers:
                        post = _post(ask, verdict, case)
                        if await reader.body(post.key) is None:
                            found.append(Owed(run, seat.judge.model, post))
    return found


def _post(ask: Ask, verdict: Verdict, case: Case) -> Post:
    panel = verdict.panel
    protocol = protocol_of(panel.protocol)
    rubric = None if panel.rubric is None else Library(workspace=Path.cwd()).rubric(panel.rubric)
    return post_of(
        ask,
        case=case,
        panel=panel,
        rubric=rubric,
        protocol=protocol,
        form=next(form for form in protocol.forms if form.name == ask.form),
        heard={at: answer.reply for at, answer in verdict.answers.items()},
    )


def _path(ledger: Path | None) -> Path:
    path = Path(ledger or default_path(os.environ))
    if not path.exists():
        raise ConfigError("there is no ledger yet", where=str(path), hint="deliberate ask makes one")
    return path
