"""Many cases: read, judged, told, gone on with; every mistake said before anything is asked."""

from __future__ import annotations

import csv
import fcntl
import io
import os
import pty
import re
import signal
import struct
import subprocess
import termios
import time
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest
from rich.console import Console

from deliberate.cli._following import Following
from deliberate.judging import UnderWay
from deliberate.reports import Screen, Totals
from deliberate.types import AskId, BallotCast, Bracket, CaseFailed, RoundClosed, RunStarted, SeatAbsent, Usage
from tests.cli.conftest import THREE, Cli, Here, Result, attempts, check_one_line, command, environment

PANEL = "deliberate: 1\nname: board\nseats:\n{seats}rubric: {rubric}\n"


def laid(
    folder: Path, *, cases: int = 3, seats: tuple[str, ...] = ("good:70", "good:60", "fair:40"), more: str = ""
) -> Path:
    """A plan of three seats on so many cases."""
    rows = [{"n": at, "answer": f"text {at}", "prompt": f"say {at}"} for at in range(1, cases + 1)]
    (folder / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    lines = "".join(f"  - {{agent: generalist, model: 'scripted/{seat}'}}\n" for seat in seats)
    (folder / "board.panel.yaml").write_text(PANEL.format(seats=lines, rubric="general"), encoding="utf-8")
    plan = folder / "p.plan.yaml"
    plan.write_text(
        "deliberate: 1\n"
        "cases: {from: cases.jsonl, id: n, task: prompt, output: answer}\n"
        f"parts:\n  jury: {{type: deliberation, params: {{panel: board}}, weight: 1}}\n{more}",
        encoding="utf-8",
    )
    return plan


def records(told: Result) -> tuple[Any, Any]:
    """The launch and the done record."""
    launch, done = (msgspec.json.decode(line) for line in told.out.splitlines())
    assert (launch["event"], done["event"]) == ("launch", "done")
    return launch, done


def test_a_plan_runs_over_its_cases_and_is_read_back_when_it_is_run_again(folder: Path, here: Here) -> None:
    plan = laid(folder)
    told = here("run", plan, "-o", "r.jsonl", "-o", "r.csv")
    assert told.code == 0
    rows = {line.split()[0]: " ".join(line.split()[1:]) for line in told.out.splitlines() if line[:1].strip()}
    assert rows["cases"] == "3 of 3 judged: good 3"
    assert rows["score"] == "56.7/100, the mean of 3"
    assert rows["votes"] == "9 voted"
    assert rows["took"].startswith("9 calls (estimated 9), ")
    assert rows["RESULT"] == "ok (no gate asked)"
    lines = [msgspec.json.decode(line) for line in (folder / "r.jsonl").read_bytes().splitlines()]
    assert [(one["case"], one["bracket"], len(one["votes"])) for one in lines] == [(n, "good", 3) for n in "123"]
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        assert [(row["case"], row["bracket"], row["voted"]) for row in csv.DictReader(file)] == [
            (n, "good", "3") for n in "123"
        ]
    launch, done = records(here("run", plan, "--json", "-o", "again.jsonl"))
    assert attempts(folder) == 9
    assert (launch["cases"], done["read_back"], done["judged"], done["exit_code"]) == (3, 9, 3, 0)
    again = [msgspec.json.decode(line) for line in (folder / "again.jsonl").read_bytes().splitlines()]
    assert [one["digest"] for one in again] == [one["digest"] for one in lines]
    assert {path.name for path in folder.iterdir()} == {
        *("home", "answer.txt", "task.txt", "cases.jsonl", "board.panel.yaml", "p.plan.yaml"),
        *("r.jsonl", "r.csv", "again.jsonl"),
    }


def test_cases_without_a_plan_go_before_judges(folder: Path, here: Here) -> None:
    (folder / "outputs").mkdir()
    for name in ("a.txt", "b.txt"):
        (folder / "outputs" / name).write_text(name, encoding="utf-8")
    _, done = records(here("run", "--cases", "outputs", "--task", "@task.txt", *THREE, "--json"))
    assert (done["judged"], done["brackets"], done["votes"]["voted"], len(done["judges"])) == (2, {"good": 2}, 6, 3)


def test_a_dry_run_says_what_it_takes_and_asks_nobody(folder: Path, here: Here) -> None:
    plan = laid(folder, cases=4)
    told = here("run", plan, "--dry-run")
    assert told.code == 0
    assert told.out.startswith("4 cases: 12 to 12 calls (12.0 expected), about ")
    assert "nothing was asked" in " ".join(told.out.split())
    (record,) = map(msgspec.json.decode, here("run", plan, "--dry-run", "--json").out.splitlines())
    assert (record["event"], record["cases"], record["estimate"]["most_calls"]) == ("dry_run", 4, 12)
    assert attempts(folder) == 0


@pytest.mark.parametrize(
    ("flags", "code", "line"),
    [
        (("--min-score", "56"), 0, "ok (every gate held)"),
        (("--min-score", "57"), 3, "gate failed: min-score 57 (got 56.67)"),
        (("--min-bracket", "excellent"), 3, "gate failed: min-bracket Excellent (got Good)"),
        (("--min-agreement", "0.5"), 3, "gate failed: min-agreement 0.5 (got "),
        (("--max-blockers", "0", "--max-unread", "0"), 0, "ok (every gate held)"),
        (("--quorum", "all"), 0, "ok"),
    ],
)
def test_a_run_is_held_against_its_gates(
    folder: Path, here: Here, flags: tuple[str, ...], code: int, line: str
) -> None:
    told = here("run", laid(folder), *flags)
    assert told.code == code
    assert told.result.startswith(line)


def test_an_earlier_run_is_a_baseline(folder: Path, here: Here) -> None:
    _, before = records(here("run", laid(folder), "--json"))
    worse = laid(folder, seats=("fair:40", "fair:40", "fair:40"))
    told = here("run", worse, "--baseline", before["run"], "--max-drop", "10")
    assert told.code == 3
    assert told.result.startswith("gate failed: max-drop 10 (got 16.67) (exit 3)")


def test_when_no_case_has_a_quorum_it_ends_without_a_verdict_and_goes_on_when_run_again(
    folder: Path, here: Here
) -> None:
    plan = laid(folder, seats=("fail", "fail", "good:60"))
    launch, done = records(here("run", plan, "--json"))
    assert (done["exit_code"], done["status"], done["why"]) == (4, "no_verdict", "3 of 3 cases (no_quorum 3)")
    assert (done["mean"], done["scored"], done["votes"]["failed"]) == (None, 0, 6)
    again = here("run", plan)
    assert f"run {launch['run']} goes on: 3 answers are kept" in again.err


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (("board.panel.yaml", "fair:40", "fair:30"), "judge generalist-3 (scripted/fair:40 "),
        (("board.panel.yaml", "general\n", "code-review\n"), "rubric general ("),
        (("p.plan.yaml", "weight: 1}", "weight: 1}\ncombine: {by: min}"), "plan ("),
        ((".agents/agents/mine.md", "Be kind.", "Be strict."), "judge mine (scripted/fair:40 "),
    ],
)
def test_what_changed_is_named_and_never_mixed(
    folder: Path, here: Here, change: tuple[str, str, str], named: str
) -> None:
    card = folder / ".agents/agents/mine.md"
    card.parent.mkdir(parents=True)
    card.write_text("---\nname: mine\ndescription: one of mine\n---\nBe kind.\n", encoding="utf-8")
    plan = laid(folder, seats=("fail", "fail", "fair:40"))
    if named.startswith("judge mine"):
        board = folder / "board.panel.yaml"
        text = board.read_text(encoding="utf-8")
        board.write_text(
            text.replace("{agent: generalist, model: 'scripted/fair", "{agent: mine, model: 'scripted/fair")
        )
    _, done = records(here("run", plan, "--json"))
    file, before, after = change
    text = (folder / file).read_text(encoding="utf-8")
    assert before in text
    (folder / file).write_text(text.replace(before, after), encoding="utf-8")
    asked = attempts(folder)
    told = here("run", plan)
    assert told.code == 2
    check_one_line(told.err, 2, "usage")
    assert f"run {done['run']} is unfinished, and since then this changed: " in told.err
    assert named in told.err
    assert "--fresh starts anew" in told.err
    assert attempts(folder) == asked
    _, fresh = records(here("run", plan, "--fresh", "--json"))
    assert fresh["run"] != done["run"]
    _, on = records(here("run", plan, "--json"))
    assert on["run"] == fresh["run"]
    assert on["read_back"] == fresh["votes"]["voted"] == 3


def test_a_finished_fresh_run_is_what_is_read_back_later(folder: Path, here: Here) -> None:
    plan = laid(folder)
    here("run", plan)
    here("run", plan, "--fresh")
    assert attempts(folder) == 18
    _, done = records(here("run", plan, "--json"))
    assert (attempts(folder), done["read_back"]) == (18, 9)


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ((), "there are no cases to run; give --cases FILE|FOLDER"),
        (("--cases", "none.jsonl"), "there is no such file or folder"),
        (("--cases", "bad.jsonl"), "bad.jsonl:2: there is no 'output' in this row"),
        (("bad.jsonl",), "bad.jsonl: holds cases, not a plan; deliberate run --cases bad.jsonl"),
        (("p.plan.yaml", "--judge", "scripted/good"), "--judge: p.plan.yaml names its own judges"),
        (("p.plan.yaml", "-o", "r.xlsx"), "the results of a run cannot be written as 'r.xlsx'"),
        (("p.plan.yaml", "-o", "none/r.csv"), "there is no folder 'none'"),
        (("p.plan.yaml", "-o", "home/r.jsonl", "-o", "home.csv"), "is a folder"),
        (("p.plan.yaml", "--baseline", "zzzz"), "unknown run 'zzzz'"),
    ],
)
def test_a_mistake_is_one_clear_message_and_nobody_is_asked(
    folder: Path, here: Here, flags: tuple[str, ...], said: str
) -> None:
    laid(folder)
    (folder / "home.csv").mkdir()
    (folder / "bad.jsonl").write_text('{"output": "4"}\n{"answer": "5"}\n', encoding="utf-8")
    told = here("run", *flags)
    assert told.code == 2
    check_one_line(told.err, 2, "usage")
    assert said in told.err
    assert attempts(folder) == 0


def test_a_spent_budget_stops_the_run_and_says_what_is_left(folder: Path, here: Here) -> None:
    told = here("run", laid(folder, cases=200), "--deadline", "0.00001", "--json")
    _, done = records(told)
    assert (told.code, done["status"]) == (5, "incomplete")
    assert done["scored"] < 200
    assert "not judged" in done["why"] or "deadline 200" in done["why"]


def test_a_table_follows_a_run_on_a_terminal_and_plain_lines_do_without() -> None:
    totals = Totals()
    heard = Following(totals, cases=4, lines=False)
    heard(RunStarted(run="r1", plan_digest=""))
    at = AskId("0.ballot..a")
    heard(BallotCast(case="1", at=at, seat="a", bracket=Bracket.GOOD, score=70.0, usage=Usage(cost_usd=0.5)))
    heard(SeatAbsent(case="1", at=AskId("0.ballot..b"), seat="b", state="unread"))
    heard(RoundClosed(case="1", round=0))
    heard(CaseFailed(case="4", detail="its script broke"))
    busy = (
        UnderWay("1", "a", "m", "asked", "", 0.0),
        UnderWay("2", "a", "m", "queued", "", 0.0),
        UnderWay("1", "b", "m", "waiting", "rate limit", 12.0),
    )
    console = Console(file=io.StringIO(), width=100, legacy_windows=False, record=True)
    console.print(heard.drawn(Screen(console), busy))
    rows = [" ".join(line.split()) for line in console.export_text().splitlines()]
    assert rows == [
        "judge progress done agree unread tok/min cost state",
        "a ■■□□□□□□□□ 1/4 – 0 0 $0.00 running 1, queued 1",
        "b ■■■■■□□□□□ 2/4 – 1 0 $0.00 waiting 12 s for rate limit",
        "0 of 4 cases · 1 votes · agreement undefined · 1 unread · 1 failed · $0.5000",
    ]


def test_a_run_of_many_is_shown_a_line_a_case_and_written_again(folder: Path, here: Here) -> None:
    _, done = records(here("run", laid(folder), "--json", "-o", "r.jsonl"))
    told = here("show", done["run"], "-o", "again.jsonl", "-o", "again.csv")
    rows = [line.split() for line in told.out.splitlines()]
    assert rows == [["case", "bracket", "score", "votes", "why"], *([n, "good", "56.7", "3/3"] for n in "123")]
    assert (folder / "again.jsonl").read_bytes() == (folder / "r.jsonl").read_bytes()
    lines = here("show", done["run"], "--json").out.splitlines()
    assert [msgspec.json.decode(line)["case"] for line in lines] == ["1", "2", "3"]
    assert here("show", done["run"], "-o", "r.sarif").code == 2
    asks = here("audit", done["run"], "--json").json["asks"]
    assert len(asks) == 9


def test_a_plan_says_how_fast_and_how_long(folder: Path, here: Here) -> None:
    more = (
        "limits: {requests_per_minute: 600000, tokens_per_minute: 600000000, case_seconds: 0.0001, call_seconds: 5}\n"
    )
    plan = laid(folder, more=more)
    told = here("run", plan)
    assert (told.code, told.result.partition(" (")[0]) == (5, "incomplete: 3 of 3 cases")
    assert here("run", plan, "--case-seconds", "60").code == 0
    assert here("ask", "answer.txt", "--plan", plan).code == 5
    wrong = laid(folder, more="limits: {requests_per_hour: 3}\n")
    told = here("run", wrong)
    assert told.code == 2
    assert "requests_per_hour" in told.err
    assert "requests_per_minute" in told.err


def test_a_spreadsheet_takes_no_cell_for_a_formula(folder: Path, here: Here) -> None:
    rows = [{"id": sign + "1+1", "output": "4", "category": "=cmd"} for sign in "=+-@"]
    (folder / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    assert here("run", "--cases", "cases.jsonl", *THREE, "-o", "r.csv").code == 0
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        found = [(row["case"], row["category"]) for row in csv.DictReader(file)]
    assert found == [(f"'{sign}1+1", "'=cmd") for sign in "=+-@"]


def test_a_line_is_said_each_half_minute(capsys: pytest.CaptureFixture[str]) -> None:
    async def main() -> None:
        heard = Following(Totals(), cases=4, lines=True)
        heard.began()
        heard.tell()
        heard._said -= 31  # noqa: SLF001  half a minute ago
        heard.tell()
        heard.tell()

    anyio.run(main)
    assert capsys.readouterr().err == "run : 0 of 4 cases, 0 votes, agreement undefined, $0.0000\n"


@pytest.mark.parametrize(("signals", "number"), [(1, signal.SIGINT), (2, signal.SIGINT), (1, signal.SIGTERM)])
def test_interrupted_it_ends_cleanly_and_says_how_to_go_on(folder: Path, cli: Cli, signals: int, number: int) -> None:
    plan = laid(folder, cases=9, seats=("good:70", "hang", "good:60"))
    seconds = 0.5 if signals == 1 else 60
    flags = ("--json", "-o", "r.jsonl", "-o", "old.md", "--in-flight", "1", "--call-seconds", str(seconds))
    (folder / "old.md").write_text("of yesterday", encoding="utf-8")
    process = subprocess.Popen(
        command("run", plan, *flags),
        cwd=folder,
        env=environment(folder),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        assert process.stderr is not None
        assert b"9 cases" in process.stderr.readline()
        process.send_signal(number)
        if signals == 2:
            assert (
                b"stopping: calls in flight have 10 s to be answered; again stops at once" in process.stderr.readline()
            )
            process.send_signal(number)
        began = time.monotonic()
        out, err = process.communicate(timeout=30)
    finally:
        process.kill()
        process.wait()
    assert time.monotonic() - began < 8  # not the ten seconds: nobody hung that long
    assert process.returncode == 130
    assert " of 9 cases are judged" in err.decode()
    assert "the same command goes on with run" in err.decode()
    assert err.endswith(b"old.md is of an earlier run: it was not written\n")
    assert b"Traceback" not in err + out
    launch, done = map(msgspec.json.decode, out.splitlines())
    assert (launch["event"], done["event"], done["status"], done["exit_code"]) == ("launch", "done", "interrupted", 130)
    assert not list(folder.glob("*r.jsonl*"))
    assert cli("audit", "--verify").code == 0
    assert "interrupted" in cli("show").out


def test_several_inputs_are_one_run_and_two_without_ids_have_none_in_common(folder: Path, here: Here) -> None:
    for name in ("a", "b"):
        (folder / f"{name}.jsonl").write_text('{"output": "1"}\n{"output": "2"}\n', encoding="utf-8")
    _, done = records(here("run", "--cases", "a.jsonl", "--cases", "b.jsonl", *THREE, "--json", "-o", "r.csv"))
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        assert [row["case"] for row in csv.DictReader(file)] == ["1", "2", "3", "4"]
    assert done["judged"] == 4


def test_cases_come_in_on_standard_input_and_are_gone_on_with(folder: Path, cli: Cli) -> None:
    flags = ("run", "--cases", "-", *THREE, "--json")
    rows = b'{"output": "1"}\n{"output": "2"}\n'
    _, done = records(cli(*flags, stdin=rows))
    assert (done["judged"], attempts(folder)) == (2, 6)
    wrong = cli(*flags, stdin=rows + b"[]\n")
    check_one_line(wrong.err, 2, "usage")
    assert wrong.err.startswith("2 usage: standard input:3: this line is no JSON object")


def test_a_case_that_cannot_be_evaluated_is_told_while_the_others_go_on(folder: Path, here: Here) -> None:
    rows = [{"id": name, "output": name} for name in ("good", "bad")]
    (folder / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    plan = folder / "p.plan.yaml"
    plan.write_text(
        "deliberate: 1\ncases: {from: cases.jsonl}\nparts:\n  check: {type: script, params: {command: "
        "'grep -q good && echo ''{\"score\": 90}'''}}\n",
        encoding="utf-8",
    )
    told = here("run", plan, "--trust-code")
    assert told.code == 4
    assert "case bad failed: " in told.err
    assert "cases      2 of 2 judged: excellent 1, failed 1" in told.out


def test_on_a_terminal_a_table_follows_the_run(folder: Path) -> None:
    plan = laid(folder, cases=60, seats=("good:70@0.2", "good:64@0.2", "fair:40@0.2"))
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 110, 0, 0))
    env = {**environment(folder, TERM="xterm-256color"), "COLUMNS": "110"}
    del env["NO_COLOR"]
    with subprocess.Popen(
        command("run", plan), cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        shown = b""
        while True:
            try:
                chunk = os.read(ours, 65536)
            except OSError:  # how a terminal says that the last writer has gone
                break
            shown += chunk
        os.close(ours)
    text = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", shown.decode())
    assert process.returncode == 0
    assert re.search(r"judge +progress +done +agree +unread +tok/min +cost +state", text)
    assert re.search(r"generalist-3 +[■□]{10} +\d+/60 ", text)
    assert re.search(r"\d+ of 60 cases · \d+ votes · agreement", text)
    assert text.index("run        ") > text.rindex("state")  # the result comes when the table is gone
