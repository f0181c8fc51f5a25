"""What a run is written as, and the records it prints: whole, in order, by their schemas, harmless in every sink."""

from __future__ import annotations

import csv
import resource
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import duckdb
import jsonschema
import msgspec
import pytest

from deliberate.cli._results import Results, checked_results, placed
from deliberate.errors import ConfigError, ReportError
from deliberate.gates import Required, result_of_run
from deliberate.reports import Totals, schema
from deliberate.reports.run_objects import DoneObject
from deliberate.reports.runs import RUN_FORMS, done_object
from deliberate.types import Case, Evaluation, Scored, Usage
from tests.cli.conftest import THREE, Here, attempts

FILES = tuple(f"r{ending}" for ending in RUN_FORMS)
HOSTILE = "<script>alert(1)</script> [x](http://e) ::error:: =1+1 \x1b[31m| \u202e"


def cases(folder: Path, number: int = 3, output: str = "text {}") -> Path:
    path = folder / "cases.jsonl"
    rows = [{"id": f"c{at}", "output": output.format(at), "task": "say"} for at in range(number)]
    path.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    return path


def parquet(path: Path) -> list[tuple[Any, ...]]:
    return duckdb.connect(":memory:").execute("SELECT * FROM read_parquet(?)", [str(path)]).fetchall()


def suite_of(path: Path) -> ET.Element:
    return ET.parse(path).getroot()[0]  # noqa: S314  we wrote it


def written(*names: str) -> list[str]:
    return [word for name in names for word in ("-o", name)]


def test_a_run_is_written_in_every_form_and_shown_again_in_the_same(folder: Path, here: Here) -> None:
    told = here("run", "--cases", cases(folder), *THREE, "--max-blockers", "0", *written(*FILES))
    assert told.code == 0, told.err
    run = told.out.split()[1]
    lines = [msgspec.json.decode(line) for line in (folder / "r.jsonl").read_bytes().splitlines()]
    for one in lines:
        jsonschema.Draft202012Validator(schema("case")).validate(one)
    with (folder / "r.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.reader(file))
    table = parquet(folder / "r.parquet")
    assert [row[0] for row in table] == [one["case"] for one in lines] == ["c0", "c1", "c2"]
    assert [[("" if cell is None else str(cell)) for cell in row] for row in table] == rows[1:]
    assert [type(cell) for cell in table[0]] == [str, str, str, float, float, str, str, int, int, str, int, float]
    text = (folder / "r.md").read_text(encoding="utf-8")
    assert f"## Run {run}" in text
    assert "| cases | 3 of 3 judged&#58; good 3 |" in text
    assert "| max-blockers | 0 | 0 | held |" in text
    assert text.count("dissent&#58; fair-40") == 3
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.count("<tr><td>c") == 3
    assert page.endswith("</html>\n")
    suite = suite_of(folder / "r.junit.xml")
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("4", "0", "0")
    assert [test.get("name") for test in suite] == ["c0", "c1", "c2", "max-blockers"]
    assert here("show", run, *written("s.csv", "s.parquet", "s.jsonl", "s.junit.xml")).code == 0
    assert (folder / "s.csv").read_bytes() == (folder / "r.csv").read_bytes()
    assert (folder / "s.jsonl").read_bytes() == (folder / "r.jsonl").read_bytes()
    assert parquet(folder / "s.parquet") == table
    assert not [path for path in folder.iterdir() if path.name.startswith(".")]


def test_a_case_without_a_score_is_an_error_and_a_gate_that_fails_a_failure(folder: Path, here: Here) -> None:
    judges = ("--judge", "scripted/fail", "--judge", "scripted/fail", "--judge", "scripted/good:60")
    assert here("run", "--cases", cases(folder, 1), *judges, *written(*FILES)).code == 4
    suite = suite_of(folder / "r.junit.xml")
    assert [(test.get("name"), test[0].tag, test[0].get("type")) for test in suite] == [("c0", "error", "no_quorum")]
    assert "no&#95;quorum" in (folder / "r.md").read_text(encoding="utf-8")
    assert parquet(folder / "r.parquet")[0][3] is None
    assert here("run", "--cases", cases(folder, 1), *THREE, "--min-score", "99", *written(*FILES)).code == 3
    suite = suite_of(folder / "r.junit.xml")
    assert (suite.get("failures"), suite[1].get("name"), suite[1][0].tag) == ("1", "min-score", "failure")
    assert "| min-score | 99 | 56.67 | **failed** |" in (folder / "r.md").read_text(encoding="utf-8")


def test_hostile_words_are_shown_and_do_nothing(tmp_path: Path) -> None:
    case = Case(output="4", id=HOSTILE)
    evaluation = Evaluation(evaluator="x", outcome=Scored(score=10.0, raw=10.0), reason=HOSTILE)
    for name in ("h.html", "h.md", "h.junit.xml"):
        one = Results(tmp_path / name)
        one.add(1, case, evaluation, run="r")
        one.place(done(evaluation))
        one.close()
        text = (tmp_path / name).read_text(encoding="utf-8")
        assert "\x1b" not in text
        assert "<script>" not in text
    assert suite_of(tmp_path / "h.junit.xml")[0].tag == "testcase"


def done(*evaluations: Evaluation) -> DoneObject:
    """How a run of these ended."""
    totals = Totals()
    for one in evaluations:
        totals.add(one)
    number = len(evaluations)
    result = result_of_run(totals.facts(number), Required())
    return done_object(totals, number, result, run="r1", usage=Usage())


EVALUATION = Evaluation(evaluator="x", outcome=Scored(score=10.0, raw=10.0))


def test_lines_stand_in_the_order_of_their_cases_whoever_was_first(tmp_path: Path) -> None:
    one = Results(tmp_path / "r.parquet")
    for row in (3, 1, 2):
        one.add(row, Case(output="", id=f"c{row}"), EVALUATION, run="r1")
    one.place(done(EVALUATION))
    one.close()
    assert [row[0] for row in parquet(tmp_path / "r.parquet")] == ["c1", "c2", "c3"]


def test_a_file_that_cannot_be_put_there_spoils_no_other(tmp_path: Path) -> None:
    results = [Results(tmp_path / name) for name in ("a.csv", "b.csv")]
    for one in results:
        one.add(1, Case(output="", id="c"), EVALUATION, run="r1")
    (tmp_path / "a.csv").mkdir()
    error = placed(results, done(EVALUATION), again="deliberate show r1")
    assert isinstance(error, ReportError)
    assert str(error).endswith("nothing is lost: deliberate show r1 -o FILE writes it again")
    assert (tmp_path / "b.csv").is_file()
    for one in results:
        one.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.csv", "b.csv"]


def test_a_disk_that_fills_up_meanwhile_spoils_the_file_and_not_the_run(tmp_path: Path) -> None:
    one = Results(tmp_path / "r.csv")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, hard))
    try:
        for row in range(200):
            one.add(row, Case(output="", id=f"c{row}"), EVALUATION, run="r1")
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    with pytest.raises(ReportError, match=r"cannot write the results: File too large; the same command"):
        one.place(done(EVALUATION))
    one.close()
    assert list(tmp_path.iterdir()) == []


def test_what_cannot_be_written_is_refused_before_anybody_is_asked(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"\.parquet, \.md"):
        checked_results(tmp_path / "r.xlsx")
    with pytest.raises(ConfigError, match="cannot write the results"):
        Results(tmp_path / "none" / "r.csv")


@pytest.mark.parametrize("name", ["launch", "done", "dry-run", "case"])
def test_every_record_has_a_schema_that_describes_its_fields(name: str, here: Here) -> None:
    whole = here("schema", name).json
    jsonschema.Draft202012Validator.check_schema(whole)
    for one in (whole, *whole["$defs"].values()):
        assert one["description"]
        assert set(one["required"]) == set(one["properties"])


def valid(name: str, line: str) -> Any:  # noqa: ANN401  JSON
    found = msgspec.json.decode(line)
    jsonschema.Draft202012Validator(schema(name)).validate(found)
    return found


def test_the_records_of_a_run_are_what_their_schemas_say(folder: Path, here: Here) -> None:
    flags = ("run", "--cases", cases(folder), *THREE, "--json")
    assert valid("dry-run", here(*flags, "--dry-run").out)["cases"] == 3
    launch, ended = here(*flags, "--min-score", "50").out.splitlines()
    assert valid("launch", launch)["answers_kept"] == 0
    found = valid("done", ended)
    assert found["judges"]["fair-40"]["usage"]["calls"] == 3
    assert found["gates"] == [{"gate": "min-score", "wanted": "50", "got": "56.67", "held": True}]


def test_a_dry_run_says_what_code_runs_where_and_whether_it_may_use_the_network(folder: Path, here: Here) -> None:
    cases(folder)
    plan = folder / "p.plan.yaml"
    plan.write_text(
        "deliberate: 1\ncases: {from: cases.jsonl}\nparts:\n"
        "  open: {type: script, params: {command: 'echo 1', network: true}}\n"
        "  shut: {type: script, params: {command: 'echo 1'}}\n",
        encoding="utf-8",
    )
    record = valid("dry-run", here("run", plan, "--dry-run", "--json").out)
    assert [(one["part"], one["network"]) for one in record["code"]] == [("open", True), ("shut", False)]
    told = here("run", plan, "--dry-run").out
    where = record["code"][0]["tier"]
    said = f"sandbox {where}" if where else "NO SANDBOX HERE (only with --trust-code)"
    assert f"open runs code: {said}, with network" in " ".join(told.split())
    assert "shut runs code: " in told
    assert here("ask", "answer.txt", "--plan", plan, "--dry-run", "--json").json["code"] == record["code"]


def test_a_workflow_is_told_and_its_summary_is_written(folder: Path, here: Here) -> None:
    summary = folder / "summary.md"
    flags = ("run", "--cases", cases(folder), *THREE, "--github", "--min-score", "60")
    told = here(*flags, GITHUB_ACTIONS="true", GITHUB_STEP_SUMMARY=str(summary))
    assert told.code == 3
    assert "::error title=run " in told.err
    assert told.out.startswith("::stop-commands::")
    assert "gate failed&#58; min-score 60" in summary.read_text(encoding="utf-8")


def test_a_summary_that_cannot_be_written_leaves_the_verdict_and_says_how_to_have_it(folder: Path, here: Here) -> None:
    flags = ("run", "--cases", cases(folder), *THREE, "--github", "-o", "r.csv")
    told = here(*flags, GITHUB_STEP_SUMMARY=str(folder))
    assert told.code == 5
    assert "RESULT     ok (no gate asked)" in told.out
    assert "5 incomplete: GITHUB_STEP_SUMMARY: the summary cannot be written" in told.err
    assert "nothing is lost: deliberate show " in told.err
    assert (folder / "r.csv").is_file()


def test_what_is_recorded_is_replayed_without_a_ledger(folder: Path, here: Here) -> None:
    flags = ("run", "--cases", cases(folder), *THREE)
    assert here(*flags, "--record", "heard.jsonl", "-o", "a.csv").code == 0
    asked = attempts(folder)
    assert here(*flags, "--replay", "heard.jsonl", "-o", "b.csv").code == 0
    assert attempts(folder) == asked == 9
    a, b = ((folder / name).read_text(encoding="utf-8").splitlines() for name in ("a.csv", "b.csv"))
    assert [line.split(",")[9] for line in a] == [line.split(",")[9] for line in b]  # the digests of the decisions
    again = here(*flags, "--record", "more.jsonl")
    assert "9 votes were read back and are not recorded; --fresh asks them anew" in again.err
    both = here(*flags, "--record", "x.jsonl", "--replay", "heard.jsonl")
    assert (both.code, "nothing new can be heard in a replay" in both.err) == (2, True)
