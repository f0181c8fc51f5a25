"""The records of ``run --json``, and the lines of ``run -o``, field by field: schema and page are made from them.

The rules of ``_objects`` hold here too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from deliberate.reports._objects import UsageObject, VerdictObject
from deliberate.types import Record

__all__ = [
    "CaseObject",
    "CodeObject",
    "DoneObject",
    "DryRunObject",
    "EstimateObject",
    "HeldObject",
    "JudgeObject",
    "LaunchObject",
]


def _says(text: str) -> msgspec.Meta:
    return msgspec.Meta(description=text)


class EstimateObject(Record, frozen=True, kw_only=True):
    """What it may take, before anything is asked; retries come on top."""

    least_calls: Annotated[int, _says("The fewest calls.")]
    expected_calls: Annotated[float, _says("Calls to expect.")]
    most_calls: Annotated[int, _says("The most calls.")]
    tokens_in: Annotated[int, _says("Tokens sent, at 4 characters each.")]
    tokens_out: Annotated[int, _says("Tokens received, at 300 a reply.")]
    low_usd: Annotated[float | None, _says("Of the fewest calls with short replies; null is unknown, never 0.")]
    expected_usd: Annotated[float | None, _says("US dollars to expect; null is unknown, never 0.")]
    worst_usd: Annotated[float | None, _says("Of the most calls with the longest replies; null is unknown, never 0.")]
    unpriced: Annotated[tuple[str, ...], _says("Models whose price is not known.")]


class CodeObject(Record, frozen=True, kw_only=True):
    """A part of the plan that runs a program."""

    part: Annotated[str, _says("Its name in the plan.")]
    tier: Annotated[str | None, _says("The sandbox it runs in here; null is none, and then only with `--trust-code`.")]
    network: Annotated[bool, _says("Whether it may use the network.")]


class DryRunObject(Record, frozen=True, kw_only=True):
    """The only record of `run --dry-run --json`; nothing was asked."""

    event: Annotated[Literal["dry_run"], _says("Always `dry_run`.")]
    cases: Annotated[int, _says("How many cases there are.")]
    estimate: Annotated[EstimateObject, _says("What all of them may take.")]
    code: Annotated[tuple[CodeObject, ...], _says("What will be run, and where.")]


class LaunchObject(Record, frozen=True, kw_only=True):
    """The first record of `run --json`: the first case is about to be taken."""

    event: Annotated[Literal["launch"], _says("Always `launch`.")]
    run: Annotated[str, _says("The run in the ledger.")]
    ledger: Annotated[str, _says("The ledger's file.")]
    cases: Annotated[int, _says("How many cases there are.")]
    answers_kept: Annotated[int, _says("Answers that an earlier start of the run left; they are not asked again.")]
    paid: Annotated[UsageObject, _says("What those took.")]
    estimate: Annotated[EstimateObject, _says("What all cases may take, from nothing.")]


class HeldObject(Record, frozen=True, kw_only=True):
    """A gate that was asked for."""

    gate: Annotated[str, _says("Its flag, without the dashes.")]
    wanted: Annotated[str, _says("What was asked for.")]
    got: Annotated[str, _says("What it came to.")]
    held: Annotated[bool | None, _says("Whether it held; null if it could not be tried.")]


class JudgeObject(Record, frozen=True, kw_only=True):
    """What one seat did."""

    votes: Annotated[Mapping[str, int], _says("Its ballots by state: `voted`, `unread`, `failed` …")]
    agreement: Annotated[
        float | None, _says("Share of pairs with another seat's vote on the same case in one bracket; null below one.")
    ]
    usage: Annotated[UsageObject, _says("What its ballots took, whenever they were paid.")]


class DoneObject(Record, frozen=True, kw_only=True):
    """The last record of `run --json`: how it ended. It comes too when the run was stopped."""

    event: Annotated[Literal["done"], _says("Always `done`.")]
    run: Annotated[str, _says("The run in the ledger.")]
    status: Annotated[Literal["ok", "gate", "no_verdict", "incomplete", "interrupted"], _says("How it ended.")]
    why: Annotated[str, _says("Why not every case has a score; empty with `ok` and `gate`.")]
    exit_code: Annotated[int, _says("The exit code that says the same.")]
    gates: Annotated[tuple[HeldObject, ...], _says("The gates that were asked for; empty if none was tried.")]
    cases: Annotated[int, _says("How many cases there are.")]
    judged: Annotated[int, _says("How many were judged.")]
    scored: Annotated[int, _says("How many have a score.")]
    mean: Annotated[float | None, _says("Mean score of those, 0–100; null if there is none.")]
    without: Annotated[Mapping[str, int], _says("Cases without a score, by the reason.")]
    blockers: Annotated[int, _says("Blockers in all cases.")]
    unread: Annotated[float, _says("Share of ballots that came in no form that can be read, 0–1.")]
    agreement: Annotated[float | None, _says("Krippendorff's ordinal alpha of all votes; null where undefined.")]
    brackets: Annotated[Mapping[str, int], _says("Cases by bracket.")]
    votes: Annotated[Mapping[str, int], _says("All ballots by state.")]
    read_back: Annotated[int, _says("Votes that were in the ledger already.")]
    judges: Annotated[Mapping[str, JudgeObject], _says("The same by seat.")]
    usage: Annotated[UsageObject, _says("What the run took in all, lost attempts included.")]
    estimate: Annotated[EstimateObject | None, _says("What it was estimated to take; null where a run is shown again.")]


class CaseObject(VerdictObject, frozen=True, kw_only=True):
    """A line of `run -o FILE.jsonl`: one case, in the order of the cases."""

    case: Annotated[str, _says("The case's id.")]
    category: Annotated[str | None, _says("Its category; null if it has none.")]
