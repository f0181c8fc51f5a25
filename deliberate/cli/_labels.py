"""``labels``: the votes that people owe, and how they are cast.

A person's vote is stored under the same content key as a model's would be, so the command that began the run finds it
there when it is run again. Voting is blind: nothing here shows what others said.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
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
from deliberate.types import Answer, Ask, Ballot, Case, Evaluation, Key, Record, Undecided, Verdict, ask_id

__all__ = ["queue", "vote"]

_MOST_RUNS = 200


class Owed(NamedTuple):
    """One vote a person owes: in which run, and the question as a judge would get it."""

    run: str
    person: str
    post: Post


class Said(Record, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One line of a file of votes."""

    run: str
    person: str
    bracket: str | None = None
    score: float | None = None
    reason: str = ""


async def queue(*, ledger: Path | None, person: str | None, as_json: bool) -> int:
    """Lists every vote owed in the last runs: task and output, and no vote of anybody.

    Given a person, on a terminal, it asks for that person's votes one after the other.
    """
    path = _path(ledger)
    found = [owed async for owed in _owed(path) if person in (None, owed.person)]
    if person is not None and found and not as_json and sys.stdin.isatty():
        return await _asked_for(found, path)
    if as_json:
        print_json(
            [
                {"run": one.run, "person": one.person, "task": one.post.case.task, "output": one.post.case.output}
                for one in found
            ]
        )
        return 0
    for one in found:
        _show(one)
        sys.stdout.write(
            f"deliberate labels vote {one.run} --as {one.person} --bracket BRACKET --score N --reason TEXT\n\n"
        )
    if not found:
        say("nobody is waited for")
    return 0


async def vote(
    *,
    run: str | None,
    person: str | None,
    bracket: str | None,
    score: float | None,
    reason: str,
    file: Path | None,
    ledger: Path | None,
) -> int:
    """Casts the votes one person owes in a run, or all votes of a file: every one of them, or none."""
    path = _path(ledger)
    if file is not None:
        if run is not None or person is not None:
            raise ConfigError("the file names runs and people", where="--from", expected="it alone")
        said = [(f"{file}:{line}", one) for line, one in _lines(file)]
    elif run is None or person is None:
        raise ConfigError("whose vote, and where?", where="labels vote", expected="RUN and --as NAME, or --from FILE")
    else:
        said = [("--as", Said(run=run, person=person, bracket=bracket, score=score, reason=reason))]
    cast: dict[Key, tuple[Owed, Ballot]] = {}
    for where, one in said:
        owed = [each async for each in _owed(path, run=one.run) if each.person == one.person]
        owed = [each for each in owed if each.post.key not in cast]
        if not owed:
            what = f"run {one.run} waits for no vote of {one.person}"
            raise ConfigError(what, where=where, hint="deliberate labels queue lists what is waited for")
        at = "--bracket, --score" if file is None else where
        cast |= {each.post.key: (each, _ballot(each.post, one, where=at)) for each in owed}
    await _write(path, list(cast.values()))
    runs = ", ".join(dict.fromkeys(each.run for each, _ in cast.values()))
    say(f"{len(cast)} vote{'s' if len(cast) > 1 else ''} cast; the command that began run {runs} goes on")
    return 0


async def _asked_for(found: Sequence[Owed], path: Path) -> int:
    """Asks a person for one vote after the other; each is kept as it comes, and the end of input ends it."""
    for one in found:
        _show(one)
        try:
            ballot = _ballot(one.post, _said(one))
        except EOFError:
            break
        except (ConfigError, ValueError) as error:
            say(f"not cast: {error}")
            continue
        await _write(path, [(one, ballot)])
        say(f"cast; the command that began run {one.run} goes on with it")
    return 0


def _said(one: Owed) -> Said:
    bracket = input("bracket (poor, fair, good, excellent; empty: by the score): ").strip()
    score = input("score 0-100 (empty: none): ").strip()
    reason = input("why: ").strip()
    number = float(score) if score else None
    return Said(run=one.run, person=one.person, bracket=bracket or None, score=number, reason=reason)


async def _write(path: Path, cast: Sequence[tuple[Owed, Ballot]]) -> None:
    async with open_ledger(path) as written:
        for one, ballot in cast:
            named = {"model": one.person}
            answer = Answer(key=one.post.key, reply=ballot, model=one.person, requested=named, effective=named)
            written.put(one.post.key, "Answer", msgspec.json.encode(answer))
        await written.committed()


def _lines(file: Path) -> Iterator[tuple[int, Said]]:
    """The votes of a file, JSON lines, with their line numbers."""
    try:
        lines = file.read_bytes().splitlines()
    except OSError as error:
        raise ConfigError(f"it cannot be read: {error.strerror or error}", where=str(file)) from None
    for number, line in enumerate(lines, start=1):
        if line.strip():
            try:
                yield number, msgspec.json.decode(line, type=Said)
            except (msgspec.MsgspecError, UnicodeDecodeError) as error:
                form = '{"run": "...", "person": "...", "bracket": "good", "score": 71, "reason": "..."}'
                raise ConfigError(str(error), where=f"{file}:{number}", expected=form) from None


def _show(one: Owed) -> None:
    case = one.post.case
    sys.stdout.write(f"run {one.run}, {one.person}\n\nTask\n{visible(case.task)}\n\nOutput\n{visible(case.output)}\n\n")


def _ballot(post: Post, said: Said, *, where: str = "vote") -> Ballot:
    """The vote as a ballot, read by the same reader as a model's: bracket and score cannot contradict."""
    reply: Mapping[str, object] = {
        name: value for name, value in (("bracket", said.bracket), ("score", said.score)) if value is not None
    }
    whole = msgspec.structs.replace(post, rubric=None)
    try:
        found = read(msgspec.json.encode({**reply, "reasoning": said.reason}).decode(), whole)
    except ReplyError as error:
        raise ConfigError(str(error), where=where, expected="a bracket, a score, or both") from None
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
