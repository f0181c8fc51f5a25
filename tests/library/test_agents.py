"""Agent cards."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from deliberate.errors import AgentCardError
from deliberate.library import Card, bundled, judge_of, read_card
from deliberate.library._filed import card_files
from deliberate.types import Judge

CARD = """\
---
name: critic
description: Looks for faults.
model: openai/gpt-x
family: gpt
temperature: 0.3
max_tokens: 900
weight: 2
---

You look for faults.
"""


def card(folder: Path, text: str = CARD, name: str = "critic.md") -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_card_says_who_and_how(tmp_path: Path) -> None:
    assert read_card(card(tmp_path), source="user") == Card(
        name="critic",
        description="Looks for faults.",
        persona="You look for faults.",
        model="openai/gpt-x",
        family="gpt",
        temperature=0.3,
        max_tokens=900,
        weight=2.0,
        source="user",
    )


def test_a_card_needs_only_a_name_a_description_and_a_persona(tmp_path: Path) -> None:
    read = read_card(card(tmp_path, "---\nname: critic\ndescription: d\n---\np\n"))
    assert read == Card(name="critic", description="d", persona="p", source="path")
    assert (read.model, read.temperature, read.max_tokens, read.weight) == (None, 0.1, 2000, 1.0)


def test_null_leaves_the_model_to_the_panel_and_the_temperature_to_the_model(tmp_path: Path) -> None:
    text = CARD.replace("openai/gpt-x", "null").replace("family: gpt", "family: null").replace("0.3", "null")
    read = read_card(card(tmp_path, text))
    assert (read.model, read.family, read.temperature) == (None, "", None)


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("name: critic\n", "", "2:1", "key 'name' is missing"),
        ("description: Looks for faults.\n", "", "2:1", "key 'description' is missing"),
        ("name: critic", "name: criticus", "2:7", "name is 'criticus', but the file is 'critic.md'; expected 'critic'"),
        ("name: critic", "name: a/b", "2:7", "name is 'a/b'; expected 1 to 64 letters, digits, _ or -"),
        ("model: openai/gpt-x", "model: gpt-x", "4:8", "model is 'gpt-x'; expected provider/model, as in openai/gpt-x"),
        ("model: openai/gpt-x", "modl: openai/gpt-x", "4:1", "unknown key 'modl' (did you mean 'model'?)"),
        ("family: gpt", "role: critic", "5:1", "unknown key 'role'; expected one of: name, description, model, family"),
        ("family: gpt", "family: ' '", "5:9", "family is ' '; expected one line of 1 to 64 characters"),
        ("temperature: 0.3", "temperature: hot", "6:14", "temperature is 'hot'; expected a number"),
        ("temperature: 0.3", "temperature: -1", "6:14", "temperature is -1; expected greater than or equal to 0"),
        ("temperature: 0.3", "temperature: 2.1", "6:14", "temperature is 2.1; expected less than or equal to 2"),
        ("max_tokens: 900", "max_tokens: 0", "7:13", "max_tokens is 0; expected greater than or equal to 1"),
        ("max_tokens: 900", "max_tokens: 9.5", "7:13", "max_tokens is 9.5; expected a whole number"),
        ("weight: 2", "weight: -1", "8:9", "weight is -1; expected greater than or equal to 0"),
        ("weight: 2", "weight: true", "8:9", "weight is True; expected a number"),
        ("\nYou look for faults.\n", "", "10", "the body is empty; expected the persona"),
        ("weight: 2\n---", "weight: 2", "1:1", "front matter does not end"),
    ],
)
def test_each_fault_of_a_card_is_a_named_error(tmp_path: Path, old: str, new: str, where: str, what: str) -> None:
    assert old in CARD
    path = card(tmp_path, CARD.replace(old, new, 1))
    with pytest.raises(AgentCardError, match=re.escape(what)) as caught:
        read_card(path)
    assert caught.value.where == f"{path}:{where}"


def test_a_linked_card_is_refused_unless_links_are_let(tmp_path: Path) -> None:
    (tmp_path / "link").mkdir()
    link = tmp_path / "link" / "critic.md"
    link.symlink_to(card(tmp_path))
    with pytest.raises(AgentCardError, match="is a symbolic link"):
        read_card(link)
    assert read_card(link, links=True).name == "critic"


def test_the_cards_family_counts_for_the_cards_model_only(tmp_path: Path) -> None:
    read = read_card(card(tmp_path))
    own = judge_of(read, model="openai/gpt-x")
    assert own == Judge(
        model="openai/gpt-x", persona="You look for faults.", temperature=0.3, max_tokens=900, family="gpt"
    )
    assert judge_of(read, model="anthropic/claude-x").family == ""
    assert judge_of(read, model="anthropic/claude-x", family="claude").family == "claude"


def test_a_readme_among_the_cards_is_none(tmp_path: Path) -> None:
    for name in ("b.md", "a.md", "README.md", "x.panel.yaml", "notes.txt"):
        (tmp_path / name).touch()
    assert [path.name for path in card_files(tmp_path)] == ["a.md", "b.md"]


@pytest.mark.parametrize("path", card_files(bundled("agents")), ids=lambda path: path.stem)
def test_every_bundled_card_serves_with_any_model(path: Path) -> None:
    read = read_card(path, source="bundled")
    assert read.model is None
    assert read.weight == 1.0
    assert 6 <= len(read.persona.splitlines()) <= 16
