"""Markdown with front matter."""

from __future__ import annotations

import pytest

from deliberate.errors import AgentCardError, ConfigError
from deliberate.library._frontmatter import parse_front_matter, split_front_matter

TEXT = "---\nname: x\nkind: y\n---\n# Body\n\n---\n\nafter the rule\n"


def test_the_halves_are_where_they_say() -> None:
    halves = split_front_matter(TEXT, file="f.md")
    assert halves.yaml == "name: x\nkind: y\n" == TEXT[halves.yaml_start : halves.yaml_end]
    assert halves.body == "# Body\n\n---\n\nafter the rule\n" == TEXT[halves.body_start :]
    assert TEXT.splitlines()[halves.body_line - 1] == "# Body"


@pytest.mark.parametrize(
    ("text", "body"), [("--- \nname: x\n---  \nbody", "body"), ("---\n---", ""), ("---\na: 1\n---\n", "")]
)
def test_fences_may_have_spaces_behind_them_and_nothing_after(text: str, body: str) -> None:
    assert split_front_matter(text, file="f.md").body == body


@pytest.mark.parametrize("text", ["", "# Title\n", "\n---\na: 1\n---\n", " ---\na: 1\n---\n", "----\na: 1\n---\n"])
def test_a_text_without_front_matter_is_refused(text: str) -> None:
    with pytest.raises(AgentCardError, match=r"f\.md:1:1: has no front matter; expected a first line '---'"):
        split_front_matter(text, file="f.md", error=AgentCardError)


@pytest.mark.parametrize("text", ["---", "---\n", "---\na: 1", "---\na: 1\n ---\n", "---\na: 1\n--- b\n"])
def test_front_matter_without_an_end_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match=r"f\.md:1:1: front matter does not end; expected a second line '---'"):
        split_front_matter(text, file="f.md")


def test_its_places_are_those_of_the_file() -> None:
    document, halves = parse_front_matter(TEXT, file="f.md")
    assert document.data == {"name": "x", "kind": "y"}
    assert document.where("kind") == "f.md:3:7"
    assert halves.body_line == 5


def test_a_front_matter_that_is_no_yaml_is_refused_with_its_place() -> None:
    with pytest.raises(ConfigError, match=r"f\.md:3:1: not readable as YAML"):
        parse_front_matter("---\nname: [unclosed\n---\nbody\n", file="f.md")
