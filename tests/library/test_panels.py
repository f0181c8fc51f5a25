"""Panels, and everything that can be wrong with one."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from deliberate.errors import AgentCardError, ConfigError, RubricError, UnknownName
from deliberate.library import Library, bundled, pinned_name, read_panel, read_rubric
from deliberate.library._filed import panel_files
from deliberate.types import Judge, Panel, Rules, Seat, Spec, laid_out

Write = Callable[[str, str], Path]
Read = Callable[..., Panel]

CRITIC = "---\nname: critic\ndescription: d\nmodel: {model}\nfamily: {family}\nweight: 2\n---\nYou look for faults.\n"
RUBRIC = """\
---
name: mine
kind: evaluator
description: d
metadata:
  categories: []
  dimensions: [{name: a, weight: 1.0, description: d}]
---
body
"""


@pytest.fixture
def read(write: Write, library: Library) -> Read:
    """Reads a panel file, its first line aside; the card ``critic`` is the user's."""
    write("home/agents/critic.md", CRITIC.format(model="null", family="null"))

    def panel(text: str, *, model: str | None = None) -> Panel:
        return read_panel(write("p/x.panel.yaml", f"deliberate: 1\n{text}"), documents=library, model=model)

    return panel


def test_a_panel_file_says_all_that_a_panel_can(read: Read) -> None:
    found = read(
        """\
name: board
seats:
  - {agent: sceptic, model: openai/gpt-x}
  - {agent: generalist, model: anthropic/claude-x, weight: 1.5, family: claude}
  - {human: maria}
  - {agent: critic, model: openai/gpt-y, duty: chair, stage: 1, name: head}
model: gemini/gemini-x
rubric: code-review
protocol: {type: independent, params: {}}
rule: median
tie: [chair, upper]
bracket_score: mean
quorum: 2
independence: 2
spend: enough
seed: 7
"""
    )
    assert found.name == "board"
    assert [(seat.name, seat.judge.model, seat.duty, seat.stage, seat.weight) for seat in found.seats] == [
        ("sceptic", "openai/gpt-x", "vote", 0, 1.0),
        ("generalist", "anthropic/claude-x", "vote", 0, 1.5),
        ("maria", "maria", "vote", 0, 1.0),
        ("head", "openai/gpt-y", "chair", 1, 2.0),
    ]
    assert found.seats[1].judge.family == "claude"
    assert found.seats[2].judge == Judge(model="maria", human=True)
    assert found.seats[3].judge.persona == "You look for faults."
    assert found.rules == Rules(rule="median", tie=("chair", "upper"), bracket_score="mean", quorum=2, independence=2)
    assert (found.rubric, found.criteria, found.protocol) == ("code-review", "", Spec(type="independent"))
    assert (found.spend, found.seed) == ("enough", 7)


def test_what_is_left_out_is_the_panels_default(read: Read) -> None:
    found = read("seats: [{model: openai/gpt-x}]\n")
    assert found == Panel(name="x", seats=(Seat(name="gpt-x", judge=Judge(model="openai/gpt-x")),))


def test_protocol_and_tie_may_be_plain_words(read: Read) -> None:
    found = read("seats: [{model: openai/gpt-x}]\nprotocol: independent\ntie: lower\nquorum: all\n")
    assert (found.protocol, found.rules.tie, found.rules.quorum) == (Spec(type="independent"), ("lower",), "all")


def test_criteria_stand_in_for_a_rubric(read: Read) -> None:
    found = read("seats: [{model: openai/gpt-x}]\ncriteria: Is it kind?\n")
    assert (found.rubric, found.criteria) == (None, "Is it kind?")


@pytest.mark.parametrize("name", ["x.yaml", "x.yml", "x.panel.yaml"])
def test_a_panel_without_a_name_is_called_as_its_file(write: Write, library: Library, name: str) -> None:
    path = write(name, "deliberate: 1\nseats: [{model: openai/gpt-x}]\n")
    assert read_panel(path, documents=library).name == "x"


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        ("seat card given panel", "a/seat"),
        ("card given panel", "a/card"),
        ("given panel", "a/given"),
        ("panel", "a/panel"),
    ],
)
def test_the_seats_model_is_the_nearest_that_is_named(write: Write, read: Read, named: str, expected: str) -> None:
    models = {who: f"a/{who}" if who in named else "null" for who in ("seat", "card", "given", "panel")}
    write("home/agents/critic.md", CRITIC.format(model=models["card"], family="null"))
    text = f"seats: [{{agent: critic, model: {models['seat']}}}]\nmodel: {models['panel']}\n"
    found = read(text, model=None if models["given"] == "null" else models["given"])
    assert found.seats[0].judge.model == expected


def test_the_cards_family_does_not_follow_another_model(write: Write, read: Read) -> None:
    write("home/agents/critic.md", CRITIC.format(model="a/b", family="bees"))
    found = read("seats:\n  - {agent: critic}\n  - {agent: critic, model: c/d}\n  - {agent: critic, family: wasps}\n")
    assert [seat.judge.family for seat in found.seats] == ["bees", "", "wasps"]


def test_a_seat_without_a_model_says_who_could_name_one(read: Read) -> None:
    with pytest.raises(ConfigError) as caught:
        read("seats:\n  - {model: a/b}\n  - {agent: critic}\n")
    assert caught.value.where.endswith("x.panel.yaml:4:5")
    assert caught.value.expected == "model: provider/model in the seat, its card 'critic', or the panel"
    assert "--judge provider/model" in caught.value.hint
    with pytest.raises(ConfigError, match="expected model: provider/model in the seat, or the panel"):
        read("seats: [{weight: 2}]\n")


def test_seats_are_numbered_from_the_second_of_a_name_and_have_no_odd_signs(read: Read) -> None:
    models = ("openai/gpt-4.1", "azure/gpt-4.1", "x/org/model:1.5b@q4", "y/…", "y/…", "o/gpt-4-1-3")
    found = read(f"seats: [{', '.join(f'{{model: {name!r}}}' for name in models)}, {{agent: critic}}]\nmodel: a/b\n")
    assert [seat.name for seat in found.seats] == [
        *("gpt-4-1", "gpt-4-1-2", "model-1-5b-q4", "judge", "judge-2", "gpt-4-1-3", "critic"),
    ]


def test_a_name_that_was_given_is_kept_for_its_seat(read: Read) -> None:
    found = read("seats: [{model: a/b}, {model: c/d, name: b}, {model: e/b}]\n")
    assert [seat.name for seat in found.seats] == ["b-2", "b", "b-3"]


def test_three_equal_seats_are_three_samples_once_laid_out(read: Read) -> None:
    found = laid_out(read("seats: [{model: a/b}, {model: a/b}, {model: a/b}]\n"), None)
    assert [(seat.name, seat.sample) for seat in found.seats] == [("b", 0), ("b-2", 1), ("b-3", 2)]


def test_one_seat_a_dimension_is_laid_out_when_panel_and_rubric_meet(read: Read, library: Library) -> None:
    found = read("seats: {each: dimension, model: local/small-1.5b, weight: 2, family: small}\nquorum: 3\n")
    (seat,) = found.seats
    assert (seat.each, seat.name, seat.judge.family) == ("dimension", "small-1-5b", "small")
    seats = laid_out(found, library.rubric("general")).seats
    assert [(one.name, one.weight, one.dimensions) for one in seats] == [
        ("relevance", 0.8, ("relevance",)),
        ("quality", 0.7, ("quality",)),
        ("completeness", 0.5, ("completeness",)),
    ]


def test_one_seat_a_dimension_may_have_a_persona(read: Read) -> None:
    found = read("seats: {each: dimension, agent: critic}\nmodel: a/b\n")
    assert (found.seats[0].name, found.seats[0].weight) == ("critic", 2.0)


def test_cards_and_rubrics_given_by_path_lie_beside_the_panel(write: Write, read: Read, library: Library) -> None:
    write("p/cards/mine.md", CRITIC.replace("critic", "mine").format(model="a/b", family="null"))
    rubric = read_rubric(write("p/rules/mine/SKILL.md", RUBRIC))
    found = read("seats: [{agent: cards/mine.md}]\nrubric: ./rules/mine\n")
    assert found.seats[0].name == "mine"
    assert found.rubric == pinned_name(rubric)
    assert library.rubric(found.rubric) == rubric


def test_a_panel_says_the_same_wherever_it_lies(write: Write, library: Library) -> None:
    text = "deliberate: 1\nseats: [{model: a/b}]\nrubric: ./mine.md\n"
    found: list[Panel] = []
    for folder in ("one", "two"):
        write(f"{folder}/mine.md", RUBRIC)
        found.append(read_panel(write(f"{folder}/x.panel.yaml", text), documents=library))
    assert found[0].digest == found[1].digest


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("seats: []\n", "2:8", "seats is an empty list; expected at least one"),
        ("seats: a\n", "2:8", "seats is 'a'; expected a list"),
        ("name: x\n", "1:1", "key 'seats' is missing"),
        ("seats: [{model: a/b}]\nruel: mean\n", "3:1", "unknown key 'ruel' (did you mean 'rule'?)"),
        (
            "seats: [{modl: a/b}]\n",
            "2:10",
            "unknown key 'seats[0].modl' (did you mean 'model'?); expected one of: agent,",
        ),
        ("seats: {each: dimension, modl: a/b}\n", "2:26", "unknown key 'seats[0].modl' (did you mean 'model'?)"),
        ("seats: [{model: gpt}]\n", "2:17", "seats[0].model is 'gpt'; expected provider/model"),
        ("seats: [{model: a/b}]\nmodel: gpt\n", "3:8", "model is 'gpt'; expected provider/model"),
        (
            "seats: [{model: a/b, duty: judge}]\n",
            "2:28",
            "seats[0].duty is 'judge'; expected 'vote', 'verify' or 'chair'",
        ),
        ("seats: [{model: a/b, weight: -1}]\n", "2:30", "seats[0].weight is -1; expected greater than or equal to 0"),
        ("seats: [{model: a/b, weight: yes}]\n", "2:30", "seats[0].weight is 'yes'; expected a number"),
        ("seats: [{model: a/b, stage: -1}]\n", "2:29", "seats[0].stage is -1; expected greater than or equal to 0"),
        (
            "seats: [{model: a/b, name: a.b}]\n",
            "2:28",
            "seats[0].name is 'a.b'; expected 1 to 64 letters, digits, _ or -",
        ),
        ("seats: [{model: a/b, name: c}, {model: a/b, name: c}]\n", "2:51", "two seats are called 'c'"),
        ("seats: [{human: maria b}]\n", "2:17", "seats[0].human is 'maria b'; expected 1 to 64 letters"),
        ("seats: [{human: maria, model: a/b}]\n", "2:24", "human and model do not go together"),
        ("seats: [{human: maria, agent: critic}]\n", "2:24", "human and agent do not go together"),
        ("seats: [{human: maria, family: x}]\n", "2:24", "human and family do not go together"),
        ("seats: [{each: dimension, model: a/b}]\n", "2:16", "'each' stands for all seats"),
        ("seats: {model: a/b}\n", "2:8", "seats is one mapping, without 'each'"),
        ("seats: {each: seat, model: a/b}\n", "2:15", "seats[0].each is 'seat'; expected 'dimension'"),
        ("seats: {each: dimension, model: a/b, duty: chair}\n", "2:38", "each and duty do not go together"),
        ("seats: {each: dimension, human: maria}\n", "2:26", "each and human do not go together"),
        ("seats: {each: dimension}\n", "2:8", "no model for this seat"),
        ("seats: [{model: a/b}]\nrubric: general\ncriteria: x\n", "4:1", "both rubric and criteria are given"),
        ("seats: [{model: a/b}]\ncriteria: ' '\n", "3:11", "criteria is ' '; expected text that says something"),
        ("seats: [{model: a/b}]\nprotocol: {type: independent, prams_: {}}\n", "3:31", "unknown key 'protocol.prams_'"),
        ("seats: [{model: a/b}]\nprotocol: 3\n", "3:11", "protocol is 3; expected a mapping"),
        ("seats: [{model: a/b}]\nprotocol: {}\n", "3:11", "key 'protocol.type' is missing"),
        ("seats: [{model: a/b}]\ntie: []\n", "3:6", "tie is an empty list; expected at least one"),
        (
            "seats: [{model: a/b}]\nquorum: 0\n",
            "3:9",
            "quorum: 0 is no quorum: expected majority, all or a whole number",
        ),
        ("seats: [{model: a/b}]\nquorum: most\n", "3:9", "quorum: 'most' is no quorum"),
        ("seats: [{model: a/b}]\nquorum: true\n", "3:9", "quorum: True is no quorum"),
        ("seats: [{model: a/b}]\nquorum: 0.5\n", "3:9", "quorum: 0.5 is no quorum"),
        ("seats: [{model: a/b}]\nquorum: 2\n", "3:9", "quorum 2 of 1 voting seats; expected at most 1"),
        ("seats: [{model: a/b}, {model: a/c, duty: chair}]\nquorum: 2\n", "3:9", "quorum 2 of 1 voting seats"),
        ("seats: [{model: a/b}]\nindependence: 0\n", "3:15", "independence is 0; expected greater than or equal to 1"),
        (
            "seats: [{model: o/gpt-1}, {model: o/gpt-2}]\nindependence: 2\n",
            "3:15",
            "independence 2 of 1 model families (gpt); expected at most 1; seat another family, or state it",
        ),
        ("seats: [{model: a/b, duty: chair}]\n", "2:8", "no seat votes with a weight above 0"),
        ("seats: [{model: a/b, weight: 0}]\n", "2:8", "no seat votes with a weight above 0"),
        ("seats: [{model: a/b}]\nspend: some\n", "3:8", "spend is 'some'; expected 'all' or 'enough'"),
        ("seats: [{model: a/b}]\nseed: 1.5\n", "3:7", "seed is 1.5; expected a whole number"),
        ("seats: [{model: a/b}]\nname: a b\n", "3:7", "name is 'a b'; expected 1 to 64 letters"),
        ("seats: [\n", "3:1", "not readable as YAML"),
    ],
)
def test_each_fault_of_a_panel_is_a_named_error(read: Read, text: str, where: str, what: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(what)) as caught:
        read(text)
    assert caught.value.where.endswith(f"x.panel.yaml:{where}")


def test_people_count_as_families_of_their_own(read: Read) -> None:
    found = read("seats: [{human: maria}, {human: jonas}, {model: a/claude-x}]\nindependence: 3\n")
    assert found.rules.independence == 3


@pytest.mark.parametrize(
    ("version", "what"),
    [
        ("", "key 'deliberate' is missing"),
        ("deliberate: 2", "deliberate: 2 is no format there is: expected 1"),
        ("deliberate: '1'", "deliberate: '1' is no format"),
        ("deliberate: true", "deliberate: True is no format"),
        ("deliberate: 1.0", "deliberate: 1.0 is no format"),
    ],
)
def test_the_format_has_a_number(write: Write, library: Library, version: str, what: str) -> None:
    path = write("x.panel.yaml", f"{version}\nseats: [{{model: a/b}}]\n")
    with pytest.raises(ConfigError, match=re.escape(what)):
        read_panel(path, documents=library)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("seats: [{agent: critik}]\n", "2:17", "unknown agent card 'critik' (did you mean 'critic'?)"),
        ("seats: [{model: a/b}]\nrubric: genera\n", "3:9", "unknown rubric 'genera' (did you mean 'general'?)"),
        ("seats: [{model: a/b}]\nrule: medium\n", "3:7", "unknown rule 'medium' (did you mean 'median'?)"),
        ("seats: [{model: a/b}]\ntie: [chair, lowr]\n", "3:14", "unknown tie policy 'lowr' (did you mean 'lower'?)"),
        ("seats: [{model: a/b}]\ntie: lowr\n", "3:6", "unknown tie policy 'lowr' (did you mean 'lower'?)"),
        (
            "seats: [{model: a/b}]\nbracket_score: avg\n",
            "3:16",
            "unknown bracket score 'avg'; expected one of: expected,",
        ),
        (
            "seats: [{model: a/b}]\nprotocol: independentt\n",
            "3:11",
            "unknown protocol 'independentt' (did you mean 'independent'?)",
        ),
    ],
)
def test_each_unknown_name_lists_what_is_known(read: Read, text: str, where: str, what: str) -> None:
    with pytest.raises(UnknownName, match=re.escape(what)) as caught:
        read(text)
    assert caught.value.where.endswith(f"x.panel.yaml:{where}")
    assert caught.value.known


def test_a_wrong_parameter_of_a_protocol_is_an_error(read: Read) -> None:
    with pytest.raises(ConfigError) as caught:
        read("seats: [{model: a/b}]\nprotocol: {type: rounds, params: {rounds: many}}\n")
    assert "x.panel.yaml:3:11" in caught.value.where


def test_a_broken_card_or_rubric_is_its_own_error(write: Write, read: Read) -> None:
    write("home/agents/broken.md", "no front matter")
    write("home/evaluators/user/broken/SKILL.md", "no front matter")
    with pytest.raises(AgentCardError, match=r"broken\.md:1:1: has no front matter"):
        read("seats: [{agent: broken}]\nmodel: a/b\n")
    with pytest.raises(RubricError, match=r"SKILL\.md:1:1: has no front matter"):
        read("seats: [{model: a/b}]\nrubric: broken\n")


def test_a_panel_may_be_a_link_only_where_links_are_let(write: Write, library: Library, tmp_path: Path) -> None:
    link = tmp_path / "link.panel.yaml"
    link.symlink_to(write("x.panel.yaml", "deliberate: 1\nseats: [{model: a/b}]\n"))
    assert read_panel(link, documents=library).name == "link"
    with pytest.raises(ConfigError, match="is a symbolic link"):
        read_panel(link, documents=library, links=False)


@pytest.mark.parametrize("path", panel_files(bundled("agents")), ids=lambda path: path.name)
def test_every_bundled_panel_reads(path: Path, library: Library) -> None:
    found = read_panel(path, documents=library, model="openai/gpt-x")
    assert found.name == path.name.removesuffix(".panel.yaml")
    assert laid_out(found, library.rubric(found.rubric or "")).voters


def test_the_local_panel_needs_no_model_and_the_board_does(library: Library) -> None:
    local = library.panel("local")
    assert {seat.judge.model for seat in local.seats} == {"local/qwen2.5-coder-1.5b"}
    assert local.rules.rule == "mean"
    with pytest.raises(ConfigError, match="no model for this seat"):
        library.panel("board")
    assert [seat.name for seat in library.panel("board", model="a/b").seats] == [
        *("sceptic", "domain-checker", "generalist"),
    ]
