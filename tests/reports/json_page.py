"""Writes ``docs/json.md`` from the objects of ``deliberate/reports``: ``python -m tests.reports.json_page``."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from deliberate.reports import Line, encode, schema, verdict_object
from deliberate.types import BRACKETS, Evaluation
from tests.reports.scripted import HALF_UP, UNTESTED, absent, ballot, evaluated, verdict

PAGE = Path(__file__).resolve().parents[2] / "docs" / "json.md"

HEAD = """\
# The JSON of `ask --json` and of `run --json`

<!-- Made by `python -m tests.reports.json_page` from the types in `deliberate/reports/*_objects.py`. Edit those. -->

`deliberate ask … --json` prints one object on standard output; everything for people goes to standard error.
`-o FILE.json` writes the same object. `deliberate schema verdict` prints its JSON Schema (2020-12), made from the same
types as this page.

    deliberate ask change.diff --panel board --json | jq '.bracket, .score, .dissent[].reason'

## What stays, what may grow

- A field may be **added** to any object. Ignore what you do not know.
- No field is renamed or removed, and none gets another type or meaning. All fields listed here are always there; what
  is unknown or does not apply is `null` or empty, as said below. `null` is never 0: a vote that did not come has no
  score.
- `status`, `bracket` and a vote's `status` take the values listed here and no others. `why`, `flags`, `absent.reason`,
  rules, evaluators, and the keys of `numbers`, `requested`, `effective`, `details` and `digests` may grow.
- `score` runs from 0 to 100, `normalized` from 0 to 1. Poor ≤ 25 < Fair ≤ 50 < Good ≤ 75 < Excellent, on the unrounded
  score.
- Votes stand by round, then in the order of the seats, whoever answered first. The order of keys means nothing.
- Equal `digest`, equal decision: time, cost, run and place are no part of it.
- Words of judges stand here as they came. Signs nobody can see (control characters, marks that turn the direction of
  text) are written as `\\uXXXX`, so that printing the JSON is harmless; escape the strings where you show them.

## A panel, a plan

Asked with a panel or a judge, all of it speaks of that panel. With `--plan`, `status`, `why`, `score`, `normalized`,
`flags` and `usage` are the whole's. The other fields of the verdict, `bracket` among them, are those of the plan's only
panel; if it has none, or several, they are `null`. The bracket of the whole is `evaluation.outcome.bracket`, and every
part has its own `verdict`.

Asked with `--previous`, `evaluation.revision` says what was decided. Where only some dimensions were judged again
(`evaluation.revision.affected`), `votes`, `numbers` and what follows from them are on those alone; `score`, `bracket`
and `evaluation` are the whole's, with what was carried.

The exit code says how it ended against the gates that were asked for: 0 they held, 3 one failed, 4 no verdict, 5
stopped before all was asked.

## Fields
"""

EXAMPLE = """\
## An example

Four seats: two vote Good, one votes Fair and names a blocker, and one answered in a form that cannot be read.

```json
{example}```
"""


def example() -> Evaluation:
    """The evaluation the example shows."""
    return evaluated(
        verdict(
            ("opus-5", "anthropic/claude-opus-5", ballot(73, "Fixes the drift and stays small.", UNTESTED)),
            ("gpt-5-5", "openai/gpt-5.5", ballot(69, "The sum is right; tests are thin.", UNTESTED)),
            (
                "gemini-3-5",
                "gemini/gemini-3.5",
                ballot(47, "Negative totals round away from zero; the task asked for half to even.", HALF_UP),
            ),
            ("qwen3", "ollama/qwen3", absent("unreadable", "it was not one JSON object")),
        )
    )


RUN = """\
## Many cases

`deliberate run … --json` prints two records, a line each: `launch` when the first case is about to be taken, `done`
when the run has ended, even if it was stopped. With `--dry-run` it prints one, `dry_run`. `-o FILE.jsonl` writes a line
a case, the object above with two fields more; `.csv` and `.parquet` hold a row a case, as listed below; `.md`, `.html`
and `.junit.xml` are for people and for CI. `deliberate schema launch|done|dry-run|case` prints their JSON Schemas.

    deliberate run refunds.plan.yaml --json | tail -1 | jq '.status, .mean, .usage.cost_usd'
"""

RECORDS = {"launch": "LaunchObject", "done": "DoneObject", "dry-run": "DryRunObject", "case": "CaseObject"}


def page() -> str:
    """The page."""
    whole = schema("verdict")
    lines = [HEAD.rstrip("\n")]
    for name, one in (("VerdictObject", whole), *_in_order(whole)):
        lines += _section(name, one)
    shown = encode(verdict_object(example(), run="7F3K", ledger="reviews.db")).decode()
    lines += ["", EXAMPLE.format(example=shown), RUN.rstrip("\n")]
    said = {"VerdictObject", *whole["$defs"]}
    for record, name in RECORDS.items():
        found = schema(record)
        for each, one in ((name, found), *_in_order(found)):
            if each not in said:
                said.add(each)
                lines += _section(each, one)
    lines += ["", "### row", "", "A row of `-o FILE.csv` and `-o FILE.parquet`: " + _columns() + "."]
    return "\n".join(lines) + "\n"


def _columns() -> str:
    return ", ".join(f"`{name}`" for name in Line.__struct_fields__)


def _section(name: str, one: dict[str, Any]) -> list[str]:
    said = one["description"]
    fields: dict[str, Any] = one["properties"]
    if name == "PanelObject":
        said += " Its fields are those of the object above from `status` to `digests`, said of this panel alone."
        fields = {}
    elif name == "RaisedObject":
        said += " A [finding](#finding), and:"
        fields = {name: fields[name] for name in ("raised_by", "agreed_by", "disputed_by", "merged")}
    elif name == "CaseObject":
        said += " The fields of [the object](#the-object), and:"
        fields = {name: fields[name] for name in ("case", "category")}
    lines = ["", f"### {_named(name)}", "", said]
    lines += ["", "| field | type | |", "| --- | --- | --- |"] if fields else []
    lines += [
        f"| `{field}` | {_type(told)} | {told.get('description') or _kind_note(told)} |"
        for field, told in fields.items()
    ]
    return lines


def _kind_note(told: dict[str, Any]) -> str:
    return f"Always `{told['enum'][0]}`."


def _in_order(whole: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """All objects below the first, in the order in which they are first named."""
    seen: list[str] = []
    queue = [whole]
    while queue:
        for name in _references(queue.pop(0)):
            if name not in seen:
                seen.append(name)
                queue.append(whole["$defs"][name])
                yield name, whole["$defs"][name]


def _references(told: object) -> Iterator[str]:
    if isinstance(told, dict):
        for key, value in told.items():
            if key == "$ref":
                yield value.rsplit("/", 1)[-1]
            elif key != "discriminator":
                yield from _references(value)
    elif isinstance(told, list):
        for one in told:
            yield from _references(one)


def _named(name: str) -> str:
    special = {"VerdictObject": "The object", "DryRunObject": "dry_run"}
    return special.get(name, name.removesuffix("Object").lower())


def _type(told: dict[str, Any]) -> str:
    if "anyOf" in told:
        return " or ".join(_type(one) for one in told["anyOf"])
    if "$ref" in told:
        name = _named(told["$ref"].rsplit("/", 1)[-1])
        return f"[{name}](#{name})"
    if "enum" in told:
        values = BRACKETS.labels if set(told["enum"]) == set(BRACKETS.labels) else told["enum"]
        return ", ".join(f"`{one}`" for one in values)
    kind: str = told.get("type", "anything")
    if kind == "array":
        return f"list of {_type(told['items'])}"
    if kind == "object":
        return f"map to {_type(told['additionalProperties'])}" if "additionalProperties" in told else "map"
    return {"null": "`null`", "boolean": "true or false"}.get(kind, kind)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
