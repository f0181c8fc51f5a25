"""``ask``: one output before judges, a panel or a plan; what it prints, reads back, and exits with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import anyio
import jsonschema
import pytest

from deliberate.sandbox import SandboxRunner
from tests.cli.conftest import THREE, Cli, Here, attempts

Panels = Callable[..., Path]


def test_three_judges_vote_and_a_person_sees_why(cli: Cli, folder: Path) -> None:
    found = cli("ask", "answer.txt", "--task", "What is 2 + 2?", *THREE)
    assert (found.code, found.err) == (0, "")
    text = " ".join(found.out.split())
    assert "VERDICT ■■■□ Good 56.7/100 (0.567) 2 of 3 votes for Good" in text
    assert 'DISSENT fair-40 (Fair, 40): "Told to vote fair."' in text
    assert "HINGES ON" in text
    assert found.result.startswith("ok (no gate asked) run ")
    assert attempts(folder) == 3


def test_json_is_one_object_as_its_schema_says_and_the_text_goes_to_stderr(cli: Cli, here: Here) -> None:
    found = cli("ask", "-", "--task", "@task.txt", "--json", *THREE, stdin=b"4\n")
    assert found.code == 0
    schema = here("schema", "verdict").json
    assert schema == here("schema").json
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.validate(found.json, schema, cls=jsonschema.Draft202012Validator)
    told = found.json
    assert (told["status"], told["bracket"], told["rule"]) == ("decided", "good", "plurality")
    assert told["score"] == pytest.approx(170 / 3)
    assert [vote["seat"] for vote in told["votes"]] == ["good-70", "good-60", "fair-40"]
    assert told["counts"] == {"voted": 3, "abstained": 0, "unread": 0, "failed": 0, "unasked": 0}
    assert "VERDICT" in found.err
    assert found.result.startswith("ok (no gate asked)")


def test_standard_input_and_files_say_the_same_as_arguments(cli: Cli, here: Here) -> None:
    flags = ("--task", "@task.txt", "--reference", "@answer.txt", "--judge", "scripted/seeded", "--json")
    by_file = here("ask", "answer.txt", *flags)
    by_stdin = cli("ask", "-", *flags, stdin=b"4\n", env={"DELIBERATE_HOME": "elsewhere"})
    by_words = here("ask", "answer.txt", "--task", "What is 2 + 2?\n", "--reference", "4\n", *flags[4:])
    assert by_file.json["digest"] == by_stdin.json["digest"] == by_words.json["digest"]
    other = here("ask", "answer.txt", "--task", "What is 2 + 3?", *flags[4:])
    assert other.json["digest"] != by_file.json["digest"]


def test_a_bundled_panel_takes_the_model_named_with_it(here: Here) -> None:
    found = here("ask", "answer.txt", "--panel", "board", "--judge", "scripted/good:70", "--json")
    assert [vote["seat"] for vote in found.json["votes"]] == ["sceptic", "domain-checker", "generalist"]
    assert {vote["judge"] for vote in found.json["votes"]} == {"scripted/good:70"}
    assert "one_model" in found.json["flags"]


def test_a_panel_file_brings_its_seats_and_rules(here: Here, panel: Panels) -> None:
    path = panel("model: scripted/good", "model: scripted/fair", "model: scripted/poor", more="rule: mean")
    found = here("ask", "answer.txt", "--panel", path, "--json")
    assert (found.json["rule"], found.json["bracket"]) == ("mean", "fair")


def test_rubric_and_criteria_say_how_to_judge(here: Here) -> None:
    by_rubric = here("ask", "answer.txt", "--rubric", "code-review", "--judge", "scripted/good", "--json").json
    assert [one["dimension"] for one in by_rubric["votes"][0]["dimensions"]] == [
        "correctness",
        "safety",
        "style",
        "completeness",
    ]
    by_criteria = here("ask", "answer.txt", "--criteria", "is it right?", "--judge", "scripted/good", "--json").json
    assert by_criteria["votes"][0]["dimensions"] == []
    assert by_criteria["digests"]["rubric"] == ""


def test_the_environment_names_who_judges_where_nobody_is_named(here: Here, panel: Panels) -> None:
    path = panel("model: scripted/poor")
    by_judge = here("ask", "answer.txt", "--json", DELIBERATE_JUDGE="scripted/fair:40")
    assert by_judge.json["score"] == 40
    by_panel = here("ask", "answer.txt", "--json", DELIBERATE_PANEL=str(path), DELIBERATE_JUDGE="scripted/fair:40")
    assert by_panel.json["bracket"] == "poor"


PLAN = """\
deliberate: 1
parts:
  tests: {type: script, params: {command: "echo '{\\"score\\": 100, \\"reasoning\\": \\"12 of 12\\"}'"}, weight: 3}
  jury: {type: deliberation, params: {panel: jury.panel.yaml}, weight: 1}
"""


def test_a_plan_runs_its_script_in_a_sandbox_or_where_it_is_trusted(cli: Cli, folder: Path, panel: Panels) -> None:
    panel("model: scripted/good:70", "model: scripted/fair:40", name="jury.panel.yaml")
    (folder / "p.plan.yaml").write_text(PLAN, encoding="utf-8")
    plain = cli("ask", "answer.txt", "--plan", "p.plan.yaml", "--fresh")
    if anyio.run(SandboxRunner(trust_code=False).tier) is None:
        assert (plain.code, plain.out) == (2, "")
        assert "--trust-code" in plain.err
        assert attempts(folder) == 0
    else:
        assert plain.code == 0
    found = cli("ask", "answer.txt", "--plan", "p.plan.yaml", "--trust-code", "--json")
    assert found.code == 0
    whole = found.json["evaluation"]
    assert [(part["name"], part["score"], part["weight"]) for part in whole["parts"]] == [
        ("tests", 100.0, 3.0),
        ("jury", 50.0, 1.0),
    ]
    assert found.json["score"] == whole["score"] == 87.5
    assert found.json["bracket"] == "fair"  # of its only panel
    assert whole["parts"][1]["verdict"]["digest"] == found.json["digest"]


def test_what_a_plan_requires_and_limits_holds_unless_a_flag_says_otherwise(here: Here, folder: Path) -> None:
    part = "deliberate: 1\nparts:\n  jury: {type: llm_judge, params: {model: scripted/good:60}}\n"
    (folder / "p.plan.yaml").write_text(f"{part}require: {{min_score: 70, min_bracket: good}}\n", encoding="utf-8")
    asked = ("ask", "answer.txt", "--plan", "p.plan.yaml")
    failed = here(*asked)
    assert failed.code == 3
    assert failed.result.startswith("gate failed: min-score 70 (got 60) (exit 3)")
    assert here(*asked, "--min-score", "60").code == 0
    (folder / "p.plan.yaml").write_text(
        part.replace("good:60", "hang") + "limits: {deadline_seconds: 0.2}\n", encoding="utf-8"
    )
    late = here(*asked, "--json")
    assert (late.code, late.json["why"]) == (5, "deadline")


def test_a_warning_of_the_library_goes_to_stderr(cli: Cli, folder: Path) -> None:
    cli("ask", "answer.txt", *THREE)
    (folder / "home/ledger.db.anchor").unlink()
    found = cli("ask", "answer.txt", *THREE, "--json")
    assert found.json["bracket"] == "good"
    assert found.err.startswith("warning: ledger anchor missing: ")


def test_the_rules_of_a_panel_can_be_stated(here: Here) -> None:
    judges = [
        flag for model in ("good", "good:60", "excellent", "excellent:90") for flag in ("--judge", f"scripted/{model}")
    ]
    told = {
        flags: here("ask", "answer.txt", *judges, *flags, "--json").json
        for flags in (
            (),
            ("--tie", "upper"),
            ("--rule", "mean"),
            ("--rule", "unanimous", "--tie", "unresolved"),
            ("--quorum", "all"),
            ("--quorum", "3"),
            ("--seed", "7"),
        )
    }
    assert told[()]["bracket"] == "good"
    assert told[()]["tied"] == ["good", "excellent"]
    assert told["--tie", "upper"]["bracket"] == "excellent"
    assert told["--rule", "mean"]["numbers"]["mean"] == told["--rule", "mean"]["score"]
    assert told["--rule", "unanimous", "--tie", "unresolved"]["why"] == "tied"
    assert told["--quorum", "all"]["quorum"] == {"needed": 4, "valid": 4, "seats": 4}
    assert told["--quorum", "3"]["quorum"]["needed"] == 3
    panels = {flags: one["digests"]["panel"] for flags, one in told.items()}
    assert panels["--seed", "7"] != panels[()] == panels["--tie", "upper"]


def test_more_rounds_deliberate_on_disagreement_only(here: Here, folder: Path) -> None:
    split = here("ask", "answer.txt", *THREE, "--rounds", "2", "--json").json
    assert [one["round"] for one in split["rounds"]] == [0, 1]
    (folder / "r.panel.yaml").write_text(
        "deliberate: 1\nseats: [{model: scripted/good}, {model: scripted/fair}]\n"
        "protocol: {type: rounds, params: {rounds: 3}}\n",
        encoding="utf-8",
    )
    by_file = [
        here("ask", "answer.txt", "--panel", "r.panel.yaml", *flags, "--json").json["rounds"]
        for flags in ((), ("--rounds", "2"), ("--rounds", "1"))
    ]
    assert [len(rounds) for rounds in by_file] == [2, 2, 1]  # nobody moved: there was no third
    agreed = here("ask", "answer.txt", "--judge", "scripted/good", "--rounds", "2", "--json").json
    assert [one["round"] for one in agreed["rounds"]] == [0]


def test_flags_reach_the_panels_inside_a_plan(here: Here, folder: Path, panel: Panels) -> None:
    panel("model: scripted/good:70", "model: scripted/fair:40", name="jury.panel.yaml")
    (folder / "p.plan.yaml").write_text(PLAN, encoding="utf-8")
    found = here("ask", "answer.txt", "--plan", "p.plan.yaml", "--trust-code", "--tie", "upper", "--json")
    assert found.json["bracket"] == "good"


def test_the_second_time_every_vote_is_read_back_and_it_says_so(here: Here, folder: Path) -> None:
    first = here("ask", "answer.txt", *THREE, "--json")
    again = here("ask", "answer.txt", *THREE)
    assert attempts(folder) == 3
    assert "3 of 3 votes read back, oldest 20" in " ".join(again.out.split())
    assert "read back" not in first.err
    third = here("ask", "answer.txt", *THREE, "--json")
    assert third.json["digest"] == first.json["digest"]
    assert third.json["run"] != first.json["run"]


def test_fresh_asks_anew_and_keeps_what_was_there(here: Here, folder: Path) -> None:
    here("ask", "answer.txt", *THREE)
    anew = here("ask", "answer.txt", *THREE, "--fresh")
    assert attempts(folder) == 6
    assert "read back" not in anew.out
    assert "3 of 3 votes read back" in " ".join(here("ask", "answer.txt", *THREE).out.split())


def test_another_ledger_knows_nothing_of_the_first(here: Here, folder: Path) -> None:
    first = here("ask", "answer.txt", *THREE, "--json")
    other = here("ask", "answer.txt", *THREE, "--ledger", "other.db", "--json")
    assert attempts(folder, "other.db") == 3
    assert first.json["digest"] == other.json["digest"]
    assert other.json["ledger"] == "other.db"


def test_what_is_recorded_is_replayed_without_a_judge_and_leaves_no_trace(here: Here, folder: Path) -> None:
    said = here("ask", "answer.txt", *THREE, "--record", "replies.jsonl", "--json")
    (folder / "home/ledger.db").rename(folder / "kept.db")
    again = here("ask", "answer.txt", *THREE, "--replay", "replies.jsonl", "--json")
    assert again.json["digest"] == said.json["digest"]
    assert again.json["run"] is None
    assert not (folder / "home/ledger.db").exists()
    assert "deliberate show" not in again.err
    (folder / "other.txt").write_text("5\n", encoding="utf-8")
    unknown = here("ask", "other.txt", *THREE, "--replay", "replies.jsonl", "--json")
    assert (unknown.code, unknown.json["why"]) == (4, "no_quorum")


def test_votes_that_were_read_back_are_not_recorded_and_it_says_so(here: Here, folder: Path) -> None:
    here("ask", "answer.txt", *THREE)
    silent = here("ask", "answer.txt", *THREE, "--record", "replies.jsonl")
    assert silent.err == "3 of 3 votes were read back and are not recorded; --fresh asks them anew\n"
    assert here("ask", "answer.txt", *THREE, "--record", "replies.jsonl", "--fresh").err == ""
    assert (folder / "replies.jsonl").exists()


def test_a_dry_run_asks_nobody(here: Here, folder: Path) -> None:
    found = here("ask", "answer.txt", *THREE, "--rounds", "3", "--dry-run")
    assert found.code == 0
    assert found.out.startswith("3 to 9 calls (")
    assert "nothing was asked" in found.out
    as_json = here("ask", "answer.txt", *THREE, "--rounds", "3", "--dry-run", "--json").json
    assert (as_json["least_calls"], as_json["most_calls"], as_json["worst_usd"]) == (3, 9, 0.0)
    assert attempts(folder) == 0
    unpriced = here("ask", "answer.txt", "--judge", "openai/gpt-of-tomorrow", "--dry-run", OPENAI_API_KEY="k")
    assert "cost unknown (openai/gpt-of-tomorrow)" in " ".join(unpriced.out.split())


def test_no_quorum_is_no_verdict(here: Here) -> None:
    judges = ("--judge", "scripted/good", "--judge", "scripted/refuse", "--judge", "scripted/refuse")
    found = here("ask", "answer.txt", *judges, "--json")
    assert found.code == 4
    assert (found.json["status"], found.json["why"], found.json["score"]) == ("undecided", "no_quorum", None)
    assert [vote["score"] for vote in found.json["votes"]] == [63.0, None, None]
    assert found.result.startswith("no verdict: no_quorum: 1 of 3 seats voted, 2 needed (exit 4)")


def test_a_person_who_has_not_voted_leaves_it_incomplete(here: Here, panel: Panels) -> None:
    path = panel("model: scripted/good", "human: maria")
    found = here("ask", "answer.txt", "--panel", path, "--json")
    assert (found.code, found.json["why"]) == (5, "waiting")
    again = here("ask", "answer.txt", "--panel", path)
    assert (again.code, "1 of 1 vote read back" in " ".join(again.out.split())) == (5, True)


def test_time_that_is_up_leaves_it_incomplete_and_later_it_goes_on(here: Here, folder: Path) -> None:
    judges = ("--judge", "scripted/good", "--judge", "scripted/fair", "--judge", "scripted/hang")
    found = here("ask", "answer.txt", *judges, "--quorum", "all", "--deadline", "1", "--json")
    assert (found.code, found.json["why"]) == (5, "deadline")
    assert [vote["status"] for vote in found.json["votes"]] == ["voted", "voted", "failed"]
    again = here("ask", "answer.txt", *judges, "--deadline", "1", "--json")
    assert (again.code, again.json["bracket"]) == (0, "fair")
    assert attempts(folder) == 4


def test_a_budget_that_is_spent_leaves_it_incomplete(here: Here) -> None:
    arguments = ("--judge", "openai/gpt-4o", "--max-cost", "0.000001", "--json")
    found = here("ask", "answer.txt", *arguments, OPENAI_API_KEY="k", OPENAI_API_BASE="http://127.0.0.1:9/v1")
    assert (found.code, found.json["why"]) == (5, "budget")
    assert found.json["usage"]["calls"] == 0


def test_a_panel_that_spends_just_enough_vouches_for_no_number(here: Here, folder: Path, panel: Panels) -> None:
    path = panel(*(f"model: scripted/good:{number}" for number in (60, 61, 62, 63, 64)), more="spend: enough")
    refused = here("ask", "answer.txt", "--panel", path, "--min-score", "50")
    assert refused.code == 2
    assert "spend: enough" in refused.err
    assert "--min-bracket" in refused.err
    assert attempts(folder) == 0
    found = here("ask", "answer.txt", "--panel", path, "--min-bracket", "good", "--json")
    assert (found.code, found.json["path"], found.json["counts"]["unasked"]) == (0, "shortened", 2)


def test_a_module_of_ones_own_brings_parts(cli: Cli, folder: Path) -> None:
    (folder / "mine.py").write_text("print('imported')\n", encoding="utf-8")
    assert "imported" in cli("ask", "answer.txt", "--import", "mine", "--judge", "scripted/good").out


def test_a_plan_reaches_evaluators_of_ones_own(here: Here, folder: Path) -> None:
    source = "from deliberate import Case, evaluator\n\n@evaluator\n"
    source += "def shorter(case: Case, *, than: int = 80) -> bool:\n    return len(case.output) < than\n"
    (folder / "shorter_checks.py").write_text(source, encoding="utf-8")
    plan = folder / "own.plan.yaml"
    plan.write_text("deliberate: 1\nparts: {short: {type: shorter, params: {than: 1}}}\n", encoding="utf-8")
    asked = ("ask", "answer.txt", "--plan", "own.plan.yaml")
    assert "unknown evaluator 'shorter'" in here(*asked).err
    found = here(*asked, "--import", "shorter_checks", "--json")
    assert found.code == 0, found.err
    assert found.json["score"] == 0.0
    plan.write_text("deliberate: 1\nparts: {short: {type: shorter, params: {then: 1}}}\n", encoding="utf-8")
    assert "own.plan.yaml:2:41: unknown parameter 'then'" in here(*asked, "--import", "shorter_checks").err


def test_s0_37_the_same_output_with_its_previous_run_is_skipped_as_identical(here: Here) -> None:
    flags = ("--rubric", "prose-quality", "--judge", "scripted/poor:20", "--json")
    first = here("ask", "answer.txt", *flags).json
    again = here("ask", "answer.txt", *flags, "--previous", first["run"])
    told = again.json["evaluation"]
    assert told["revision"]["decision"] == "skipped: identical"
    assert (told["outcome"]["origin"], told["score"], again.json["usage"]["calls"]) == ("carried", 20.0, 0)
    assert "DECISION    skipped: identical (iteration 2): the output is the same" in again.err
    shown = here("show", again.json["run"]).out
    assert "DECISION    skipped: identical (iteration 2): the output is the same" in shown
    third = here("ask", "answer.txt", *flags, "--previous", again.json["run"]).json
    assert third["evaluation"]["revision"]["iteration"] == 3


def test_s0_42_a_changed_output_with_its_previous_run_is_judged_in_part(here: Here, folder: Path) -> None:
    text = "\n".join(f"In room {at} the floor was laid anew and the lamps work." for at in range(120))
    flags = ("--rubric", "prose-quality", "--judge", "scripted/poor:20", "--task", "Report", "--json")
    (folder / "report.md").write_text(f"{text}\nIt took 3 days.\n")
    first = here("ask", "report.md", *flags).json
    (folder / "report.md").write_text(f"{text}\nIt took 4 days.\n")
    again = here("ask", "report.md", *flags, "--previous", first["run"])
    told = again.json["evaluation"]["revision"]
    assert (told["decision"], told["why"]) == ("incremental", "the change moves no dimension")
    assert told["tokens_saved"] > 0
    assert "tokens saved" in again.err
    assert "CARRIED" in again.err


@pytest.mark.parametrize(
    ("run", "said"),
    [("QQQQ", "--previous: unknown run 'QQQQ'"), ("", "--previous: unknown run ''")],
)
def test_a_previous_run_that_is_not_there_is_refused_before_anything_is_asked(
    here: Here, folder: Path, run: str, said: str
) -> None:
    here("ask", "answer.txt", "--judge", "scripted/good:70")
    asked = attempts(folder)
    found = here("ask", "answer.txt", "--judge", "scripted/fair:40", "--previous", run)
    assert found.code == 2
    assert said in found.err
    assert attempts(folder) == asked
