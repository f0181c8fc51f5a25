"""``rubric``, ``judge``, ``panel``, ``evaluator``, ``models``, ``schema``: lists, and one of each in full."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import jsonschema
import pytest

from deliberate import plugins
from tests.cli.conftest import Here, attempts, check_one_line


def first_words(out: str) -> list[str]:
    """The first word of every row that begins one."""
    return [line.split()[0] for line in out.splitlines() if line[:1].strip()]


@pytest.mark.parametrize(
    ("verb", "key", "names"),
    [
        (
            "rubric",
            "rubrics",
            ["api-design", "code-review", "general", "prose-quality", "sql-safety", "test-quality"],
        ),
        (
            "judge",
            "judges",
            ["domain-checker", "generalist", "literalist", "readers-advocate", "sceptic", "security-reviewer"],
        ),
        ("panel", "panels", ["board", "local"]),
        (
            "evaluator",
            "evaluators",
            list(plugins.names("evaluators")),
        ),
    ],
)
def test_all_there_are_is_listed(here: Here, verb: str, key: str, names: list[str]) -> None:
    listed = here(verb, "ls")
    assert (listed.code, listed.err, first_words(listed.out)) == (0, "", names)
    as_json = here(verb, "ls", "--json").json
    assert [one["name"] for one in as_json[key]] == names


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rubric", "show", "general"), ("relevance     0.4   Does the output address the task?", "## Severity Guide")),
        (("judge", "show", "sceptic"), ("sceptic  (any model)", "you look for the place")),
        (("panel", "show", "board"), ("sceptic", "any model (--judge MODEL), weight 1", "rule plurality", "general")),
        (("panel", "show", "local"), ("one a dimension", "local/qwen2.5-coder-1.5b", "rule mean")),
        (("panel", "show", "p.panel.yaml"), ("scripted/good, family good, weight 2", "maria, weight 1")),
        (("evaluator", "show", "llm_judge"), ("asks a model", "criteria  'correctness and quality'  str")),
        (("evaluator", "show", "script"), ("free", "command          (required)  str")),
    ],
)
def test_one_of_them_is_shown_in_full(
    here: Here, panel: Callable[..., Path], arguments: tuple[str, ...], said: tuple[str, ...]
) -> None:
    panel("model: scripted/good, weight: 2", "human: maria")
    shown = here(*arguments)
    assert (shown.code, shown.err) == (0, "")
    text = " ".join(shown.out.split())
    for words in said:
        assert " ".join(words.split()) in text
    assert isinstance(here(*arguments, "--json").json, dict)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("rubric", "show", "genral"), "unknown rubric 'genral' (did you mean 'general'?)"),
        (("judge", "show", "skeptic"), "unknown agent card 'skeptic' (did you mean 'sceptic'?)"),
        (("panel", "show", "bord"), "unknown panel 'bord' (did you mean 'board'?)"),
        (("evaluator", "show", "exakt"), "unknown evaluator 'exakt' (did you mean 'exact'?)"),
        (("schema", "verdcit"), "unknown schema 'verdcit' (did you mean 'verdict'?)"),
        (("models", "rm", "qwen"), "qwen"),
        (("models", "check", "qwen"), "unknown local model 'qwen'"),
        (("models", "calibrate", "qwen", "--from", "answer.txt"), "unknown local model 'qwen'"),
        (("models", "fetch", "qwn"), "qwn"),
        (("models", "add", "answer.txt"), "answer.txt"),
        (("models", "add", "nowhere.gguf"), "nowhere.gguf"),
        (("judge", "ping", "skeptic"), "unknown agent card 'skeptic' (did you mean 'sceptic'?)"),
        (("judge", "ping", "sceptic"), "deliberate judge ping sceptic --model MODEL"),
        (("judge", "ping", "openai/gpt-x"), "OPENAI_API_KEY is not set"),
    ],
)
def test_a_name_that_is_wrong_is_one_line(here: Here, arguments: tuple[str, ...], said: str) -> None:
    found = here(*arguments)
    check_one_line(found.err, 2, "usage")
    assert (found.code, found.out) == (2, "")
    assert said in found.err


def test_a_home_without_models_says_how_to_get_one(here: Here) -> None:
    found = here("models", "ls")
    assert (found.code, found.out) == (0, "")
    assert found.err == "no local model is here; next: deliberate models fetch\n"
    assert here("models", "ls", "--json").json == {"models": []}


def test_documents_of_ones_own_are_listed_with_ours(here: Here, folder: Path, panel: Callable[..., Path]) -> None:
    agents = folder / ".agents/agents"
    agents.mkdir(parents=True)
    (agents / "mine.md").write_text("---\nname: mine\ndescription: Of my own.\n---\nYou judge.\n", encoding="utf-8")
    path = panel("agent: mine, model: scripted/good")
    path.rename(agents / path.name)
    assert "mine" in first_words(here("judge", "ls").out)
    assert "p" in first_words(here("panel", "ls").out)
    assert here("ask", "answer.txt", "--panel", "p", "--json").json["votes"][0]["seat"] == "mine"


def test_a_panel_that_cannot_be_read_says_why_and_hides_no_other(here: Here, folder: Path) -> None:
    agents = folder / ".agents/agents"
    agents.mkdir(parents=True)
    (agents / "bad.panel.yaml").write_text("deliberate: 1\nseat: []\n", encoding="utf-8")
    listed = here("panel", "ls")
    assert listed.code == 0
    assert "unknown key 'seat' (did you mean 'seats'?)" in " ".join(listed.out.split())
    assert {"bad", "board", "local"} <= set(first_words(listed.out))


def test_a_ping_shows_the_reply_raw_and_read(here: Here, folder: Path) -> None:
    pinged = here("judge", "ping", "scripted/good:70")
    assert pinged.code == 0
    assert '{"reasoning":"Told to vote good."' in "".join(pinged.out.split("\n         "))
    assert pinged.out.splitlines()[-1] == "read as  Good 70"
    as_json = here("judge", "ping", "sceptic", "--model", "scripted/good:70", "--json").json
    assert as_json["judge"]["model"] == "scripted/good:70"
    assert as_json["answer"]["reply"]["score"] == 70
    assert [one["outcome"] for one in as_json["attempts"]] == ["stop"]
    assert attempts(folder) == 0


def test_a_ping_that_gets_no_vote_exits_4_with_its_reason(here: Here) -> None:
    unread = here("judge", "ping", "scripted/unreadable")
    assert unread.code == 4
    text = " ".join(unread.out.split())
    assert "reply 1 I would call this rather good work" in text
    assert "reply 2 I would call this rather good work" in text
    assert "read as unread: it was not one JSON object" in text


FITS: tuple[dict[str, object], ...] = (
    {"type": "regex", "params": {"pattern": "x"}, "weight": 3},
    {"type": "deliberation", "params": {"panel": "board"}},
    {"type": "composite", "params": {"parts": {"b": {"type": "exact"}}, "combine": {"by": "min"}}},
    {"type": "exact"},
)
MISFITS: tuple[dict[str, object], ...] = (
    {"type": "composite", "params": {"parts": {"b": {"type": "exakt"}}}},
    {"type": "regex", "params": {"patern": "x"}},
    {"type": "regex"},
    {"type": "regx", "params": {}},
    {"type": "exact", "weight": -1},
    {"type": "exact", "weigth": 1},
)


def test_editors_get_the_schema_of_a_plan(here: Here) -> None:
    schema = here("schema", "plan").json
    jsonschema.Draft202012Validator.check_schema(schema)
    editor = jsonschema.Draft202012Validator(schema)
    for part in (*FITS, *MISFITS):
        plan = {"deliberate": 1, "parts": {"a": part}, "gates": [{"part": "a", "min_bracket": "good"}]}
        assert editor.is_valid(plan) is (part in FITS), part
