"""People vote hours later, blind and once; redecide and audit read what is on record."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from pathlib import Path

import anyio
import pytest

from deliberate import Case, Panel, Session
from deliberate.cli import _audit, _labels, _redecide
from deliberate.errors import ConfigError
from deliberate.library import Library
from deliberate.types import Bracket, Judge, Rules, Seat
from tests.cli.conftest import command, environment

CASE = Case(output="hello\u202e", task="greet", id="q1")


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DELIBERATE_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def panel(*, rules: Rules | None = None, spend: str = "all") -> Panel:
    models = (
        Seat(name="a", judge=Judge(model="scripted/good:70")),
        Seat(name="b", judge=Judge(model="scripted/fair:40")),
    )
    person = Seat(name="c", judge=Judge(model="maria", human=True))
    return Panel(seats=(*models, person), rules=rules or Rules(), spend=spend)  # type: ignore[arg-type]


def ask(ledger: Path, who: Panel) -> tuple[Bracket | None, str]:
    async def work() -> tuple[Bracket | None, str]:
        async with Session(ledger=ledger, library=Library(), env={}, exclusive=True) as session:
            found = await session.evaluate(CASE, who)
            (run, *_) = await session.ledger.reader.runs()
        return found.bracket, run.run

    return anyio.run(work)


def call(verb: object, **flags: object) -> int:
    code: int = anyio.run(lambda: verb(**flags))  # type: ignore[operator]
    return code


def test_a_person_votes_blind_and_once_and_the_run_goes_on(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = home / "runs.db"
    bracket, run = ask(ledger, panel())
    assert bracket is None
    assert call(_labels.queue, ledger=ledger, person=None, as_json=False) == 0
    shown = capsys.readouterr().out
    assert "hello⟨U+202E⟩" in shown
    assert "Good" not in shown
    assert call(_labels.queue, ledger=ledger, person=None, as_json=True) == 0
    assert [one["person"] for one in json.loads(capsys.readouterr().out)] == ["maria"]
    vote = {"run": run, "person": "maria", "reason": "kind", "ledger": ledger, "file": None}
    with pytest.raises(ConfigError, match="contradicts"):
        call(_labels.vote, bracket="good", score=10.0, **vote)
    with pytest.raises(ConfigError, match="waits for no vote of otto"):
        call(_labels.vote, **{**vote, "person": "otto"}, bracket="good", score=None)
    assert call(_labels.vote, bracket="good", score=60.0, **vote) == 0
    capsys.readouterr()
    call(_labels.queue, ledger=ledger, person=None, as_json=False)
    assert "nobody is waited for" in capsys.readouterr().err
    with pytest.raises(ConfigError, match="waits for no vote"):
        call(_labels.vote, bracket="poor", score=None, **vote)
    assert ask(ledger, panel()) == (Bracket.GOOD, run)


def test_votes_come_from_a_file_all_of_them_or_none(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = home / "runs.db"
    _, run = ask(ledger, panel())
    file = home / "votes.jsonl"
    good = {"run": run, "person": "maria", "score": 60, "reason": "kind"}
    given = dict.fromkeys(("run", "person", "bracket", "score"))

    def cast(*lines: object, **flags: object) -> int:
        file.write_text("".join(f"{json.dumps(line)}\n\n" for line in lines), encoding="utf-8")
        return call(_labels.vote, **{**given, **flags}, reason="", file=file, ledger=ledger)

    for wrong, where in (
        ({**good, "person": "otto"}, "votes.jsonl:3: run .* waits for no vote of otto"),
        (good, "votes.jsonl:3: run .* waits for no vote of maria"),
        ({**good, "bracket": "poor"}, "contradicts"),
        ({**good, "scoer": 1}, "votes.jsonl:3: .*scoer"),
    ):
        with pytest.raises(ConfigError, match=where):
            cast(good, wrong) if "contradicts" not in where else cast(wrong)
    with pytest.raises(ConfigError, match="names runs and people"):
        cast(good, run=run)
    with pytest.raises(ConfigError, match="whose vote"):
        call(_labels.vote, **given, reason="", file=None, ledger=ledger)
    with pytest.raises(ConfigError, match="cannot be read"):
        call(_labels.vote, **given, reason="", file=home / "nowhere", ledger=ledger)
    assert ask(ledger, panel())[0] is None, "nothing of the broken files was cast"
    assert cast(good) == 0
    assert "1 vote cast" in capsys.readouterr().err
    assert ask(ledger, panel()) == (Bracket.GOOD, run)


def answered(folder: Path, *lines: str) -> str:
    """What a person sees who types these lines at a real terminal, the end of input behind them."""
    ours, theirs = pty.openpty()
    verb = command("labels", "queue", "--as", "maria", "--ledger", folder / "runs.db")
    with subprocess.Popen(
        verb, cwd=folder, env=environment(folder), stdin=theirs, stdout=subprocess.PIPE, stderr=subprocess.STDOUT
    ) as process:
        os.write(ours, "".join(f"{line}\n" for line in lines).encode() + b"\x04")
        seen, _ = process.communicate(timeout=60)
    os.close(ours)
    os.close(theirs)
    assert process.returncode == 0
    return seen.decode()


def test_a_person_is_asked_on_the_terminal(home: Path) -> None:
    ledger = home / "runs.db"
    _, run = ask(ledger, panel())
    assert "not cast: " in answered(home, "good", "10", "x")
    assert "not cast: " in answered(home, "", "many", "x")
    assert "cast" not in answered(home)
    assert ask(ledger, panel())[0] is None
    shown = answered(home, "", "60", "kind")
    assert "hello⟨U+202E⟩" in shown
    assert "Good" not in shown
    assert ask(ledger, panel()) == (Bracket.GOOD, run)


def redecide(ledger: Path, run: str, **flags: object) -> int:
    given = dict.fromkeys(("rule", "tie", "bracket_score", "quorum", "independence", "weight", "seats"))
    return call(_redecide.redecide_run, **{**given, **flags}, run=run, ledger=ledger, as_json=True)


def test_a_run_is_decided_again_under_other_rules(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ledger = home / "runs.db"
    three = Panel.of("scripted/good:70", "scripted/fair:40", "scripted/fair:30")
    _, run = ask(ledger, three)
    assert redecide(ledger, run, rule="median") == 0
    assert json.loads(capsys.readouterr().out)["verdicts"][0]["is"] == "Fair 46.7"
    assert redecide(ledger, run, seats="good-70,fair-40", tie="upper") == 0
    (told,) = json.loads(capsys.readouterr().out)["verdicts"]
    assert (told["was"], told["is"], told["live"]) == ("Fair 46.7", "Good 55.0", "same")
    assert redecide(ledger, run, weight=["good-70=5"]) == 0
    assert json.loads(capsys.readouterr().out)["verdicts"][0]["is"].startswith("Good")
    assert redecide(ledger, run, rule="unanimous", tie="unresolved") == 4
    assert redecide(ledger, run, quorum="all", independence=1, bracket_score="midpoint") == 0


@pytest.mark.parametrize(
    ("flags", "why"),
    [
        ({"rule": "most"}, "unknown rule"),
        ({"tie": "coin"}, "unknown 'coin'"),
        ({"bracket_score": "best"}, "unknown 'best'"),
        ({"quorum": "two"}, "no quorum"),
        ({"weight": ["a"]}, "no weight"),
        ({"weight": ["good-70=-1"]}, "no weight"),
        ({"weight": ["nobody=1"]}, "no seat nobody"),
        ({"seats": "nobody"}, "no seat nobody"),
    ],
)
def test_a_wrong_wish_is_a_clear_error(home: Path, flags: dict[str, object], why: str) -> None:
    ledger = home / "runs.db"
    _, run = ask(ledger, Panel.of("scripted/good:70", "scripted/fair:40"))
    with pytest.raises(ConfigError, match=why):
        redecide(ledger, run, **flags)


def audit(ledger: Path, **flags: object) -> int:
    given = {"run": None, "verify": False, "prompts": False, "as_json": False, **flags}
    return call(_audit.audit, **given, ledger=ledger)


def test_an_audit_shows_what_each_seat_saw_and_that_the_record_is_whole(
    home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ledger = home / "runs.db"
    two = Panel.of("scripted/good:70", "scripted/fair:40", criteria="kind?", rounds=2)
    _, run = ask(ledger, two)
    assert audit(ledger, run=run, prompts=True) == 0
    shown = capsys.readouterr().out
    assert "no other vote (sealed)" in shown
    assert "## What was said so far" in shown
    assert "<vote-a-*>" in shown
    assert audit(ledger, run=run, prompts=True, as_json=True) == 0
    asks = json.loads(capsys.readouterr().out)["asks"]
    assert [one["ask"][0] for one in asks] == ["0", "0", "1", "1"]
    assert audit(ledger, verify=True) == 0
    assert "chain sound" in capsys.readouterr().out


def test_a_broken_ledger_fails_the_audit(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import sqlite3  # noqa: PLC0415  only here is a ledger broken by hand

    ledger = home / "runs.db"
    ask(ledger, Panel.of("scripted/good:70"))
    with sqlite3.connect(ledger) as connection:
        connection.execute("UPDATE step SET body = x'00' WHERE seq = 1")
    connection.close()
    assert audit(ledger, verify=True) == 3
    assert "BROKEN" in capsys.readouterr().out


def test_without_a_ledger_the_next_command_is_named(home: Path) -> None:
    with pytest.raises(ConfigError, match="deliberate ask makes one"):
        call(_labels.queue, ledger=home / "none.db", person=None, as_json=False)
    with pytest.raises(ConfigError, match="deliberate ask makes one"):
        audit(home / "none.db", verify=True)
    with pytest.raises(ConfigError, match="deliberate ask makes one"):
        redecide(home / "none.db", "x")
