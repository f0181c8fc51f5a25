"""What reaches a terminal: nothing wider than it, no codes but our own colors, and never a raw sign of the outside."""

from __future__ import annotations

import os
import pty
import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import anyio.from_thread
import msgspec
import pytest
from rich.cells import cell_len

from deliberate import plugins
from deliberate.providers._base import Request
from deliberate.providers.scripted import Scripted
from deliberate.testing.endpoint import Endpoint
from tests.cli.conftest import ESCAPES, THREE, Cli, Here, Result, command, environment

COLORS = re.compile(r"\x1b\[[0-9;]*m")

LONG = "scripted/good:70.00000000000000000000000000000000000000000000000000000000000000000000000001"

VERBS: tuple[tuple[str, ...], ...] = (
    ("--help",),
    ("ask", "--help"),
    ("ask", "answer.txt", *THREE),
    ("ask", "answer.txt", *THREE, "--rounds", "3", "--rubric", "api-design"),
    ("ask", "answer.txt", *THREE, "--min-score", "90", "--min-bracket", "excellent", "--min-agreement", "1"),
    ("ask", "answer.txt", *THREE, "--dry-run"),
    ("ask", "answer.txt", "--judge", "scripted/refuse", "--judge", "scripted/unreadable", "--judge", "scripted/good"),
    ("ask", "answer.txt", "--judge", LONG, "--judge", "scripted/fair"),
    ("ask", "answer.txt", "--plan", "p.plan.yaml"),
    ("ask", "answer.txt", "--panel", "human.panel.yaml"),
    ("show", "--help"),
    ("rubric", "ls"),
    ("rubric", "show", "general"),
    ("rubric", "show", "code-review"),
    ("judge", "ls"),
    ("judge", "show", "sceptic"),
    ("judge", "ping", "scripted/good"),
    ("judge", "ping", "scripted/refuse"),
    ("panel", "ls"),
    ("panel", "show", "board"),
    ("panel", "show", "local"),
    ("evaluator", "ls"),
    *(("evaluator", "show", name) for name in plugins.names("evaluators")),
    ("models", "ls"),
    ("models", "--help"),
    ("doctor",),
)


@pytest.fixture
def furnished(folder: Path, panel: Callable[..., Path]) -> Path:
    """A folder with a plan and a panel that a person sits on."""
    panel("model: scripted/good", "human: the-person-who-has-to-sign-for-it-in-the-end", name="human.panel.yaml")
    (folder / "p.plan.yaml").write_text(
        "deliberate: 1\nparts:\n"
        "  the_same_as_what_was_expected: {type: exact, params: {expected: '5'}}\n"
        "  a_number_of_at_least_one_digit: {type: regex, params: {pattern: '[0-9]+'}, weight: 2}\n"
        "  jury: {type: deliberation, params: {panel: human.panel.yaml}, weight: 0}\n",
        encoding="utf-8",
    )
    return folder


@pytest.mark.usefixtures("furnished")
@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_nothing_is_wider_than_the_terminal_or_holds_a_code(here: Here, verb: tuple[str, ...]) -> None:
    found = here(*verb, NO_COLOR="")
    assert found.code in {0, 3, 4, 5}
    assert found.out or verb == ("models", "ls")
    assert [line for line in found.out.splitlines() if cell_len(line) > 80] == []
    assert not ESCAPES.search(found.out + found.err)


HOSTILE = (
    "\x1b[31mred\x1b]8;;http://evil.example\x07link\x1b]8;;\x07 [bold]rich[/bold]"
    " \u202eright to left\u2066 \x9b2J\r::error::x"
)


@pytest.fixture
def hostile(folder: Path) -> Iterator[str]:
    """The address of an endpoint whose every word is an attack."""
    (folder / "hostile.txt").write_text(f"4 {HOSTILE}\n", encoding="utf-8", newline="")

    def reply(request: Request) -> str:
        if request.model.endswith("refuse"):
            return HOSTILE
        finding = dict.fromkeys(("title", "dimension", "description", "location", "quote", "fix"), HOSTILE)
        words = {"reasoning": HOSTILE, "suggestion": HOSTILE, "findings": [{"severity": "important", **finding}]}
        return msgspec.json.encode({**words, "bracket": "fair" if "fair" in request.model else "good"}).decode()

    with (
        anyio.from_thread.start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Endpoint(judge=Scripted(reply))) as endpoint,
    ):
        yield endpoint.address


def asked(address: str) -> tuple[str, ...]:
    judges = [part for name in ("good", "good-2", "fair", "refuse") for part in ("--judge", f"ollama/{name}")]
    flags = ("--task", f"Add. {HOSTILE}", "--criteria", f"Right? {HOSTILE}", "--api-base", f"ollama={address}")
    return ("ask", "hostile.txt", *judges, *flags)


def check_harmless(text: str) -> None:
    """The attack is there to be seen, and none of it works."""
    assert not ESCAPES.search(text)
    folded = "".join(text.split())
    assert "⟨U+001B⟩[31mred⟨U+001B⟩]8;;http" in folded
    assert "[bold]rich[/bold]⟨U+202E⟩righttoleft⟨U+2066⟩" in folded
    assert not any(line.startswith("::error::") for line in text.splitlines())


def test_hostile_text_reaches_a_pipe_only_as_text(here: Here, hostile: str) -> None:
    found = here(*asked(hostile), NO_COLOR="")
    assert found.code == 0
    check_harmless(found.out)
    as_json = here(*asked(hostile), "--json", NO_COLOR="")
    assert not ESCAPES.search(as_json.out)
    assert as_json.json["dissent"][0]["reason"] == HOSTILE
    check_harmless(as_json.err)
    check_harmless(here("show", as_json.json["run"]).out)
    assert not ESCAPES.search(here("show", as_json.json["run"], "--json").out)


def test_a_ping_shows_a_hostile_reply_as_text(here: Here, hostile: str) -> None:
    found = here("judge", "ping", "ollama/refuse", "--api-base", f"ollama={hostile}")
    assert found.code == 4
    check_harmless(found.out)
    assert not ESCAPES.search(here("judge", "ping", "ollama/refuse", "--api-base", f"ollama={hostile}", "--json").out)


def test_hostile_documents_and_names_are_shown_as_text(here: Here, folder: Path) -> None:
    rubric = folder / ".agents/evaluators/mine"
    rubric.mkdir(parents=True)
    front = "name: mine\nkind: evaluator\ndescription: '\u202eevil'\nmetadata:\n  categories: []\n"
    dimensions = "  dimensions:\n    - {name: one, weight: 1.0, description: '\u202eevil'}\n"
    (rubric / "SKILL.md").write_text(f"---\n{front}{dimensions}---\nJudge {HOSTILE}\n", encoding="utf-8", newline="")
    shown = [here("rubric", "ls"), here("rubric", "show", "mine"), here("rubric", "show", "mine", "--json")]
    here("ask", "answer.txt", "--judge", "scripted/good")
    shown += [here("show", "\x1b[31mred"), here("ask", "\x1b[31mnowhere"), here("panel", "show", "\u202eboard")]
    for found in shown:
        assert not ESCAPES.search(found.out + found.err)
    assert "⟨U+202E⟩evil" in shown[1].out
    assert "⟨U+001B⟩[31mnowhere" in shown[4].err


def on_terminal(folder: Path, *arguments: str, **env: str) -> Result:
    """What a terminal of 80 columns gets, standard error too."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        command(*arguments),
        cwd=folder,
        env=environment(folder, TERM="xterm-256color", **env),
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
    ) as process:
        os.close(theirs)
        chunks: list[bytes] = []
        try:
            while chunk := os.read(ours, 65536):
                chunks.append(chunk)
        except OSError:  # how a terminal says that the last writer has gone
            pass
        os.close(ours)
    return Result(process.returncode, b"".join(chunks).decode().replace("\r\n", "\n"), "")


def test_on_a_terminal_a_table_follows_the_panel_and_is_gone_when_the_result_comes(folder: Path, hostile: str) -> None:
    found = on_terminal(folder, *asked(hostile), NO_COLOR="")
    assert found.code == 0
    assert COLORS.search(found.out)
    plain = COLORS.sub("", found.out)
    drawn, _, after = plain.rpartition("\x1b[?25h")
    assert " open · $0.0000" in drawn  # the foot of the table, whenever it was last drawn
    after = re.sub(r"(?:\x1b\[1A|\x1b\[2K|\r)+", "", after, count=1)  # and how it is taken away
    check_harmless(after)


def test_a_terminal_that_moves_no_cursor_gets_a_line_a_vote(folder: Path, hostile: str) -> None:
    found = on_terminal(folder, *asked(hostile), NO_COLOR="1")
    assert found.code == 0
    check_harmless(found.out)
    lines = found.out.splitlines()
    assert {"  good: Good 63", "  good-2: Good 63", "  fair: Fair 38"} <= set(lines)
    assert any(line.startswith("  refuse: unread (") for line in lines)


def test_no_color_is_honored_on_a_terminal(folder: Path) -> None:
    found = on_terminal(folder, "ask", "answer.txt", *THREE)
    assert found.code == 0
    assert "VERDICT" in found.out
    assert not ESCAPES.search(found.out)


def test_a_terminal_that_knows_few_letters_gets_those(cli: Cli, here: Here, folder: Path) -> None:
    (folder / "snow.txt").write_text("snow\n", encoding="utf-8")
    judges = ("--task", "What falls? ☃", "--judge", "scripted/good")
    found = cli("ask", "snow.txt", *judges, env={"PYTHONIOENCODING": "ascii"})
    assert (found.code, found.err) == (0, "")
    assert found.out.isascii()
    as_json = cli("evaluator", "show", "script", "--json", env={"PYTHONIOENCODING": "ascii"})
    assert as_json.out.isascii()
    assert as_json.json == here("evaluator", "show", "script", "--json").json
