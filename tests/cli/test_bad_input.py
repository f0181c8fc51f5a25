"""Bad input: one clear message (what, where, what to do next), the right exit code, nothing spent or lost."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.cli.conftest import Cli, Here, attempts, check_one_line

GOOD = ("--judge", "scripted/good")

REFUSED = {
    "missing file": (("nowhere.txt", *GOOD), ("nowhere.txt: cannot be read: No such file", "- for standard input")),
    "folder": (("home", *GOOD), ("home: cannot be read: Is a directory",)),
    "5 MB": (("big.txt", *GOOD), ("big.txt: too large to judge: 4.8 MB", "at most 1 MB")),
    "binary": (("binary.dat", *GOOD), ("binary.dat: binary (a NUL at byte 1)", "expected text")),
    "no UTF-8": (("latin.txt", *GOOD), ("latin.txt: not UTF-8 text (byte 3)", "expected text")),
    "missing task file": (("answer.txt", "--task", "@nowhere.txt", *GOOD), ("nowhere.txt", "--task @FILE")),
    "missing reference file": (("answer.txt", "--reference", "@nowhere.txt", *GOOD), ("nowhere.txt", "--reference")),
    "nobody": (("answer.txt",), ("no panel, judge or plan is named", "--judge MODEL", "deliberate models fetch")),
    "model without provider": (("answer.txt", "--judge", "good"), ("'good'", "PROVIDER/MODEL")),
    "unknown provider": (("answer.txt", "--judge", "opnai/gpt-x"), ("'opnai'", "PROVIDER/MODEL")),
    "missing key": (("answer.txt", "--judge", "openai/gpt-x"), ("OPENAI_API_KEY is not set", "deliberate doctor")),
    "one missing key of three": (
        ("answer.txt", *GOOD, "--judge", "openrouter/x/y", *GOOD),
        ("OPENROUTER_API_KEY is not set",),
    ),
    "plain http elsewhere": (
        ("answer.txt", "--judge", "openai/gpt-x", "--api-base", "openai=http://models.example/v1"),
        ("--api-base openai: plain http to models.example", "https://"),
    ),
    "no address": (("answer.txt", *GOOD, "--api-base", "openai"), ("--api-base: 'openai' is no address", "PREFIX=URL")),
    "unknown rubric": (
        ("answer.txt", *GOOD, "--rubric", "code-reviw"),
        ("unknown rubric 'code-reviw' (did you mean 'code-review'?)", "sql-safety"),
    ),
    "rubric that does not parse": (
        ("answer.txt", *GOOD, "--rubric", "./broken"),
        ("broken/rubric.yaml:3:1: not readable as YAML",),
    ),
    "rubric with a wrong sum": (
        ("answer.txt", *GOOD, "--rubric", "./heavy"),
        ("heavy/rubric.yaml:3:23: weights sum to 0.7", "1.0"),
    ),
    "unknown panel": (("answer.txt", "--panel", "bord"), ("unknown panel 'bord' (did you mean 'board'?)",)),
    "panel without models": (("answer.txt", "--panel", "board"), ("no model for this seat", "--judge provider/model")),
    "panel that cannot decide": (
        ("answer.txt", "--panel", "quorum.panel.yaml"),
        ("quorum.panel.yaml:4:9: quorum 3 of 2 voting seats",),
    ),
    "unknown key in a plan": (
        ("answer.txt", "--plan", "weigth.plan.yaml"),
        ("weigth.plan.yaml:3:48: unknown key 'parts.same.weigth' (did you mean 'weight'?)",),
    ),
    "unknown evaluator in a plan": (
        ("answer.txt", "--plan", "exakt.plan.yaml"),
        ("exakt.plan.yaml:3:16: unknown evaluator 'exakt' (did you mean 'exact'?)",),
    ),
    "unknown parameter in a plan": (
        ("answer.txt", "--plan", "param.plan.yaml"),
        ("param.plan.yaml", "param.plan.yaml:3:32", "unknown parameter 'expcted' (did you mean 'expected'?)"),
    ),
    "missing plan": (("answer.txt", "--plan", "nowhere.plan.yaml"), ("nowhere.plan.yaml: there is no such file",)),
    "plan and judge": (
        ("answer.txt", "--plan", "param.plan.yaml", *GOOD),
        ("--judge: param.plan.yaml names its own judges",),
    ),
    "panel and two judges": (("answer.txt", "--panel", "board", *GOOD, *GOOD), ("--judge: a panel takes one model",)),
    "rubric and criteria": (
        ("answer.txt", *GOOD, "--rubric", "general", "--criteria", "right?"),
        ("--criteria: there is a rubric already",),
    ),
    "drop from nothing": (("answer.txt", *GOOD, "--max-drop", "3"), ("--max-drop: ", "--baseline RUN")),
    "unknown rule": (
        ("answer.txt", *GOOD, "--rule", "plural"),
        ("--rule: unknown rule 'plural' (did you mean 'plurality'?)",),
    ),
    "unknown tie policy": (
        ("answer.txt", *GOOD, "--tie", "chair,loewr"),
        ("--tie: unknown tie policy 'loewr' (did you mean 'lower'?)",),
    ),
    "unknown bracket": (
        ("answer.txt", *GOOD, "--min-bracket", "god"),
        ("--min-bracket: unknown bracket 'god' (did you mean 'good'?)",),
    ),
    "no quorum": (("answer.txt", *GOOD, "--quorum", "few"), ("--quorum: 'few' is no quorum", "majority, all")),
    "quorum out of reach": (("answer.txt", *GOOD, "--quorum", "2"), ("a quorum of 2 cannot be met",)),
    "unknown ending": (
        ("answer.txt", *GOOD, "-o", "r.docx"),
        ("-o: ", "'r.docx'", ".junit.xml, .md, .sarif"),
    ),
    "unknown module": (("answer.txt", *GOOD, "--import", "nosuch"), ("--import: nosuch cannot be imported",)),
    "broken module": (("answer.txt", *GOOD, "--import", "broken_module"), ("ZeroDivisionError",)),
    "missing recording": (("answer.txt", *GOOD, "--replay", "nowhere.jsonl"), ("nowhere.jsonl: the recording cannot",)),
    "no recording": (("answer.txt", *GOOD, "--replay", "answer.txt"), ("answer.txt", "recording")),
    "unknown baseline": (("answer.txt", *GOOD, "--baseline", "zzzz"), ("unknown run 'zzzz'", "deliberate show")),
    "no ledger": (("answer.txt", *GOOD, "--ledger", "answer.txt"), ("ledger answer.txt: this file is not a ledger",)),
    "ledger nowhere": (("answer.txt", *GOOD, "--ledger", "answer.txt/l.db"), ("cannot be written here", "--ledger")),
}


@pytest.fixture
def mess(folder: Path) -> Path:
    """A folder with things that are wrong in it."""
    (folder / "big.txt").write_bytes(b"a" * 5_000_000)
    (folder / "binary.dat").write_bytes(b"a\0b")
    (folder / "latin.txt").write_bytes(b"caf\xe9")
    (folder / "broken_module.py").write_text("1 / 0\n", encoding="utf-8")
    front = (
        "---\nname: {0}\ndescription: d\nmetadata:\n  deliberate-kind: evaluator\n  deliberate-rubric: rubric.yaml\n"
    )
    rubrics = {
        "broken": "dimensions:\n  - {name: a, weight: 1\n",
        "heavy": "categories: []\ndimensions:\n  - {name: a, weight: 0.7, description: d}\n",
    }
    for name, text in rubrics.items():
        (folder / name).mkdir()
        (folder / name / "SKILL.md").write_text(f"{front.format(name)}---\nJudge.\n", encoding="utf-8")
        (folder / name / "rubric.yaml").write_text(text, encoding="utf-8")
    plan = "deliberate: 1\nparts:\n  same: {type: %s, params: {%s: '4'}%s}\n"
    for name, words in {
        "weigth": ("exact", "expected", ", weigth: 2"),
        "exakt": ("exakt", "expected", ""),
        "param": ("exact", "expcted", ""),
    }.items():
        (folder / f"{name}.plan.yaml").write_text(plan % words, encoding="utf-8")
    (folder / "quorum.panel.yaml").write_text(
        "deliberate: 1\nseats: [{model: scripted/good}, {model: scripted/fair}]\nrule: mean\nquorum: 3\n", "utf-8"
    )
    return folder


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_one_line_and_nothing_is_spent(here: Here, mess: Path, name: str) -> None:
    arguments, said = REFUSED[name]
    found = here("ask", *arguments)
    check_one_line(found.err, 2, "usage")
    assert (found.code, found.out) == (2, "")
    for words in said:
        assert words in found.err
    assert attempts(mess) == 0


@pytest.fixture
def broken(folder: Path) -> str:
    """What is wrong with a rubric of this folder."""
    bad = folder / ".agents/evaluators/bad"
    bad.mkdir(parents=True)
    (bad / "SKILL.md").write_text("---\nname: [bad\n---\nBody\n", encoding="utf-8")
    return f"{bad}/SKILL.md:3:1: not readable as YAML"


def test_a_broken_rubric_that_is_needed_is_told_once_as_an_error(cli: Cli, broken: str) -> None:
    found = cli("ask", "answer.txt", *GOOD, "--category", "bad")
    assert (found.code, found.out) == (2, "")
    check_one_line(found.err, 2, "usage")
    assert broken in found.err


def test_a_broken_rubric_that_nobody_needs_is_told_once_as_a_warning(cli: Cli, broken: str) -> None:
    found = cli("ask", "answer.txt", *GOOD)
    assert (found.code, found.err.count("\n")) == (0, 1)
    assert found.err.startswith(f"warning: document left out: where {broken.replace(': not', ', what not')}")


def test_json_changes_nothing_about_a_refusal(here: Here, mess: Path) -> None:  # noqa: ARG001
    found = here("ask", "big.txt", *GOOD, "--json")
    assert (found.code, found.out) == (2, "")
    check_one_line(found.err, 2, "usage")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("ask", "answer.txt", "--frsh"), "--fresh"),
        (("ask", "answer.txt", "--min-score", "high"), "--min-score"),
        (("ask", "answer.txt", "--min-score", "120"), "--min-score"),
        (("ask", "answer.txt", "--min-score", "nan"), "--min-score"),
        (("ask", "answer.txt", "--max-blockers", "-1"), "--max-blockers"),
        (("ask", "answer.txt", "--min-agreement", "-0.5"), "--min-agreement"),
        (("run", "--cases", "x.jsonl", "--min-agreement", "-1.5"), "--min-agreement"),
        (("suite", "--min-score", "400"), "--min-score"),
        (("ask", "answer.txt", "--rounds", "0"), "--rounds"),
        (("ask",), "OUTPUT"),
        (("aks", "answer.txt"), "aks"),
        (("rubric", "shwo", "general"), "shwo"),
    ],
)
def test_a_flag_or_verb_that_is_wrong_is_named(here: Here, arguments: tuple[str, ...], said: str) -> None:
    found = here(*arguments)
    assert (found.code, found.out) == (2, "")
    assert said in found.err.rstrip().splitlines()[-1]
    assert "Traceback" not in found.err


@pytest.mark.parametrize("verb", [("ask", "answer.txt"), ("run", "--cases", "cases.jsonl")])
def test_a_drop_of_more_than_all_points_is_refused(here: Here, folder: Path, verb: tuple[str, ...]) -> None:
    (folder / "cases.jsonl").write_text('{"output": "4"}\n', encoding="utf-8")
    found = here(*verb, *GOOD, "--baseline", "x", "--max-drop", "400")
    assert (found.code, found.out) == (2, "")
    check_one_line(found.err, 2, "usage")
    assert "--max-drop: max_drop is 400.0; expected points from 0 to 100" in found.err


@pytest.mark.parametrize(
    ("data", "said"), [(b"a\0b", "binary"), (b"a" * 1_100_000, "too large to judge: more than 1 MB")]
)
def test_standard_input_is_held_to_the_same(cli: Cli, data: bytes, said: str) -> None:
    found = cli("ask", "-", *GOOD, stdin=data)
    check_one_line(found.err, 2, "usage")
    assert f"standard input: {said}" in found.err


def test_a_missing_key_of_a_provider_behind_litellm_is_found_before_anybody_is_asked(cli: Cli, folder: Path) -> None:
    found = cli("ask", "answer.txt", *GOOD, "--judge", "anthropic/claude-x")
    check_one_line(found.err, 2, "usage")
    assert "ANTHROPIC_API_KEY is not set" in found.err
    assert attempts(folder) == 0


def test_empty_output_is_poor_without_a_call(cli: Cli, folder: Path) -> None:
    found = cli("ask", "-", *GOOD, "--json", stdin=b"")
    assert (found.code, found.json["score"], found.json["flags"]) == (0, 0.0, ["degenerate"])
    assert attempts(folder) == 0


def test_a_server_that_cannot_be_reached_is_no_verdict_with_its_cause(here: Here, folder: Path) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))  # bound, and nobody listens
        address = f"127.0.0.1:{closed.getsockname()[1]}"
        found = here(
            "ask",
            "answer.txt",
            "--judge",
            "ollama/qwen",
            "--api-base",
            f"ollama=http://{address}/v1",
            "--deadline",
            "9",
        )
    assert found.code == 4
    text = " ".join(found.out.split())
    assert f"ABSENT qwen, failed: the connection to {address} failed" in text
    assert "NO VERDICT quorum not reached" in text
    assert "NEXT run it again" in text
    assert "Traceback" not in found.out + found.err
    assert attempts(folder) == 5


@pytest.mark.parametrize(
    ("judge", "said"),
    [
        ("scripted/goood", "no scripted judge is called 'goood'; there are poor, fair, good, excellent"),
        ("scripted/good:700", "'good:700': 700 is no score from 0 to 100"),
    ],
)
def test_an_unknown_scripted_judge_names_those_there_are(here: Here, judge: str, said: str) -> None:
    found = here("ask", "answer.txt", "--judge", judge)
    assert found.code == 4
    assert said in " ".join(found.out.split())
