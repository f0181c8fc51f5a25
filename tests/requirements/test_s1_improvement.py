"""S1.1–S1.55, task suites: one test a line, named after it."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from deliberate.errors import SuiteError
from deliberate.library import read_suite
from deliberate.suites import lint
from deliberate.suites.cache import LASTS_SECONDS, is_fresh
from deliberate.suites.compare import pass_rate
from tests.requirements._suites import Bench, contains, task

NEW_IS_BETTER = (("new skill of c1", "good"), "bad")


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def faults(bench: Bench, *tasks: object, **more: object) -> str:
    """What the suite of these tasks is refused with."""
    with pytest.raises(SuiteError) as refused:
        read_suite(bench.suite(*tasks, **more))
    return str(refused.value)


# --- purpose ---------------------------------------------------------------------------------------


def test_s1_1_it_measures_whether_a_skill_makes_the_model_do_better(bench: Bench) -> None:
    command = bench.says(("new skill", "good"), ("Do a.", "good"), "bad")
    told = bench.pipeline(*command).line
    assert told == {"execution_pass_rate": 1.0, "baseline_pass_rate": 0.5, "delta": 0.5, "verdict": "pass"}


def test_s1_2_the_structure_of_the_document_is_not_scored(bench: Bench) -> None:
    command = bench.says("good")
    first = bench.alone(*command).artifact
    (bench.folder / "SKILL.md").write_text("---\nname: s\n---\n# Much more structure\n## In it\n", encoding="utf-8")
    assert bench.alone(*command).artifact["execution_pass_rate"] == first["execution_pass_rate"]


def test_s1_3_seven_tasks_at_pass_1_are_seven_calls_a_side(bench: Bench) -> None:
    bench.suite(*(task(f"t{at}") for at in range(7)))
    assert bench.pipeline(*bench.says("good")).artifact["usage"]["calls"] == 14


def test_s1_4_gates_read_the_execution_pass_rate(bench: Bench) -> None:
    half = bench.says(("Do a.", "good"), "bad")
    assert bench.alone(*half, "--min-score", 50).line["execution_pass_rate"] == 0.5
    assert "min-score 51 (got 50)" in bench.alone(*half, "--min-score", 51, code=3).err


def test_s1_5_a_baseline_is_kept_for_seven_days_to_the_second(bench: Bench) -> None:
    cache = ("--baseline-cache-dir", bench.folder / "cache")
    assert not bench.pipeline("--mock", *cache).artifact["baseline_cached"]
    assert bench.pipeline("--mock", *cache).artifact["baseline_cached"]
    (kept,) = (bench.folder / "cache").glob("*.json")
    body = json.loads(kept.read_text())
    kept.write_text(json.dumps({**body, "measured_at": time.time() - LASTS_SECONDS - 1}))
    assert not bench.pipeline("--mock", *cache).artifact["baseline_cached"]
    assert LASTS_SECONDS == 7 * 24 * 60 * 60
    assert is_fresh(0.0, now=LASTS_SECONDS)
    assert not is_fresh(0.0, now=LASTS_SECONDS + 1)
    assert not is_fresh(1.0, now=0.0), "from the future"


def test_s1_6_pass_k_is_1_by_default(bench: Bench) -> None:
    artifact = bench.alone("--mock").artifact
    assert artifact["pass_k"] == 1
    assert [len(one["attempts"]) for one in artifact["candidate_results"]] == [1, 1]


# --- the suite -------------------------------------------------------------------------------------


def test_s1_7_one_yaml_file_for_one_skill(bench: Bench) -> None:
    path = bench.folder / "suite.yaml"
    path.write_text(
        'skill_id: s\nversion: "1.0"\ntasks:\n- id: a\n  prompt: p\n  judge: {type: contains, expected: [x]}\n'
    )
    assert read_suite(path).suite.skill_id == "s"
    path.write_text(path.read_text() + "---\nskill_id: other\n")
    with pytest.raises(SuiteError, match="one document a file"):
        read_suite(path)


@pytest.mark.parametrize(("count", "warned"), [(4, True), (5, False), (10, False), (11, True)])
def test_s1_8_five_to_ten_tasks_are_advice(bench: Bench, count: int, *, warned: bool) -> None:
    suite = read_suite(bench.suite(*(task(f"t{at}") for at in range(count)))).suite
    assert any(f"{count} tasks" in warning for warning in lint(suite)) == warned


def test_s1_9_every_field_is_read(bench: Bench) -> None:
    one = read_suite(bench.suite(task("a", contains("x"), timeout_seconds=30))).suite.tasks[0]
    assert (one.id, one.description, one.prompt, one.timeout_seconds) == ("a", "d", "Do a.", 30)
    assert one.judge.type == "contains"
    assert one.judge.params["expected"] == ("x",)
    assert "unknown key 'tasks[0].prompts' (did you mean 'prompt'?)" in faults(bench, {**task("a"), "prompts": "x"})


def test_s1_10_the_version_of_the_schema_is_1_0(bench: Bench) -> None:
    assert bench.alone("--mock").artifact["schema_version"] == "1.0"
    assert 'put it in quotes: version: "1.0"' in faults(bench, task("a"), version=1.0)


def test_s1_11_a_task_has_its_time_and_a_rubric_its_threshold(bench: Bench) -> None:
    judge = {"type": "llm-rubric", "rubric": "Is it kind?"}
    suite = read_suite(bench.suite(task("a", judge, timeout_seconds=120), task("b"))).suite
    assert [one.timeout_seconds for one in suite.tasks] == [120, 300]
    assert suite.tasks[0].judge.params["pass_threshold"] == 0.7
    bench.suite(task("a", timeout_seconds=0.2), task("b"))
    slow, quick = bench.alone("--command", 'grep -q "Do a" && sleep 9; echo good').artifact["candidate_results"]
    assert (slow["passed"], quick["passed"]) == (False, True)
    assert "deadline" in slow["error"]


@pytest.mark.parametrize("name", ["", "  ", None, 7])
def test_s1_12_a_skill_id_says_something(bench: Bench, name: object) -> None:
    assert "skill_id" in faults(bench, task("a"), skill_id=name)


@pytest.mark.parametrize("version", ["1.1", "2", 1, 1.0, None, ""])
def test_s1_13_the_version_is_the_text_1_0(bench: Bench, version: object) -> None:
    assert "version" in faults(bench, task("a"), version=version)


def test_s1_14_ids_are_unique_and_prompts_and_judges_are_there(bench: Bench) -> None:
    broken = [task("a"), task("a"), {**task("b"), "prompt": " "}, {**task("c"), "judge": None}, {"id": "d"}]
    said = faults(bench, *broken).splitlines()
    assert any("duplicate task id 'a'" in one for one in said)
    assert any("tasks[2].prompt" in one for one in said)
    assert any("tasks[3].judge" in one for one in said)
    assert any("key 'tasks[4].prompt' is missing" in one for one in said)
    assert any("key 'tasks[4].judge' is missing" in one for one in said)
    assert all(one.split(":")[1].isdecimal() and one.split(":")[2].isdecimal() for one in said), "line and column"


def test_s1_15_a_judge_is_contains_pytest_or_llm_rubric(bench: Bench) -> None:
    assert "one of: contains, pytest, llm-rubric" in faults(bench, task("a", {"type": "magic"}))
    assert "has no type" in faults(bench, task("a", {"expected": ["x"]}))


@pytest.mark.parametrize("expected", [[], None, "x", [1], [""], [" "], {"a": "b"}])
def test_s1_16_contains_expects_a_list_of_words(bench: Bench, expected: object) -> None:
    assert "expected" in faults(bench, task("a", {"type": "contains", "expected": expected}))


@pytest.mark.parametrize(
    "name",
    ["test_a.py", "fixtures", "fixtures/../x.py", "fixtures/../fixtures_evil/t.py", "/fixtures/a.py", "fixtures\\a.py"],
)
def test_s1_17_a_test_file_lies_in_fixtures(bench: Bench, name: str) -> None:
    assert "fixtures" in faults(bench, task("a", {"type": "pytest", "test_file": name}))


def test_s1_17_a_link_out_of_fixtures_is_refused(bench: Bench) -> None:
    (bench.folder / "fixtures").mkdir()
    (bench.folder / "evil.py").write_text("")
    (bench.folder / "fixtures" / "t.py").symlink_to(bench.folder / "evil.py")
    assert "leads outside" in faults(bench, task("a", {"type": "pytest", "test_file": "fixtures/t.py"}))


@pytest.mark.parametrize("rubric", ["", "  ", None])
def test_s1_18_a_rubric_says_something(bench: Bench, rubric: object) -> None:
    assert "rubric" in faults(bench, task("a", {"type": "llm-rubric", "rubric": rubric}))
    assert "pass_threshold" in faults(bench, task("a", {"type": "llm-rubric", "rubric": "r", "pass_threshold": 1.5}))


# --- judges ----------------------------------------------------------------------------------------


def test_s1_19_contains_wants_all_words_wherever_and_however_written(bench: Bench) -> None:
    bench.suite(task("a", contains("sanitiz", "Input")))
    (found,) = bench.alone(*bench.says("INPUT must be sanitized")).artifact["candidate_results"]
    assert (found["passed"], found["score"]) == (True, 1.0)
    (found,) = bench.alone(*bench.says("the input")).artifact["candidate_results"]
    assert (found["passed"], found["score"]) == (False, 0.5)


def test_s1_20_pytest_reads_the_output_where_ai_output_file_says(bench: Bench) -> None:
    (bench.folder / "fixtures").mkdir()
    test = (
        "import os\ndef test_a():\n    assert 'good' in open(os.environ['AI_OUTPUT_FILE'], encoding='utf-8').read()\n"
    )
    (bench.folder / "fixtures" / "test_a.py").write_text(test)
    bench.suite(task("a", {"type": "pytest", "test_file": "fixtures/test_a.py"}))
    good = bench.alone(*bench.says("good"), "--trust-code").artifact
    assert [one["passed"] for one in good["candidate_results"]] == [True]
    bad = bench.alone(*bench.says("bad"), "--trust-code").artifact
    assert [one["passed"] for one in bad["candidate_results"]] == [False]


@pytest.mark.parametrize(("threshold", "passed"), [(0.69, True), (0.7, True), (0.71, False)])
def test_s1_21_22_a_rubric_scores_0_to_1_and_passes_from_its_threshold(
    bench: Bench, threshold: float, *, passed: bool
) -> None:
    bench.suite(task("a", {"type": "llm-rubric", "rubric": "r", "pass_threshold": threshold}))
    artifact = bench.alone(*bench.says("good"), "--judge", "scripted/good:70", code=None).artifact
    (found,) = artifact["candidate_results"]
    assert found["passed"] is passed
    assert found["score"] == pytest.approx(0.7)


def test_s1_23_mock_gives_a_fixed_passing_score_and_asks_nobody(bench: Bench) -> None:
    bench.suite(
        task("a", {"type": "llm-rubric", "rubric": "r", "pass_threshold": 0.9}),
        task("b", {"type": "pytest", "test_file": "fixtures/test_a.py"}),
    )
    artifact = bench.alone("--mock").artifact
    assert artifact["mock"] is True
    assert [(one["passed"], one["score"]) for one in artifact["candidate_results"]] == [(True, 1.0)] * 2


def test_s1_24_deterministic_judges_ask_no_model(bench: Bench) -> None:
    assert bench.alone(*bench.says("good")).artifact["usage"]["calls"] == 2, "one a task, and that is the subject"


# --- running ---------------------------------------------------------------------------------------


def test_s1_25_standard_output_is_the_four_figures(bench: Bench) -> None:
    told = bench.pipeline("--mock")
    assert told.out.count("\n") == 1
    assert list(told.line) == ["execution_pass_rate", "baseline_pass_rate", "delta", "verdict"]


def test_s1_26_there_are_two_modes(bench: Bench) -> None:
    assert bench.pipeline("--mock").artifact["mode"] == "pipeline"
    alone = bench.alone("--mock").line
    assert (alone["baseline_pass_rate"], alone["delta"]) == (None, None)


@pytest.mark.parametrize(("passing", "verdict"), [("a", "pass"), ("none", "fail")])
def test_s1_26_a_skill_alone_passes_from_a_rate_of_one_half(bench: Bench, passing: str, verdict: str) -> None:
    assert bench.alone(*bench.says((f"Do {passing}.", "good"), "bad")).line["verdict"] == verdict


def test_s1_27_no_suite_is_told_before_anything_is_done(bench: Bench) -> None:
    (bench.folder / "suite.yaml").unlink()
    assert "Task suite not found" in bench.alone("--mock", code=2).err
    assert not (bench.folder / "state").exists()


def test_s1_28_a_baseline_below_a_fifth_ends_it_before_the_candidate_is_asked(bench: Bench) -> None:
    bench.suite(*(task(f"t{at}") for at in range(6)))
    told = bench.pipeline(*bench.says(("new skill", "good"), ("Do t0.", "good"), "bad"), code=4)
    assert told.line == {
        "execution_pass_rate": None,
        "baseline_pass_rate": pytest.approx(1 / 6),
        "delta": None,
        "verdict": "error",
    }
    assert told.artifact["reason"] == "baseline pass rate 0.1667 < 0.2"
    assert told.artifact["usage"]["calls"] == 6


@pytest.mark.parametrize("given", [(), ("--input", "rank.json"), ("--candidate-id", "c1")])
def test_s1_29_pipeline_mode_needs_input_and_candidate_id(bench: Bench, given: tuple[str, ...]) -> None:
    told = bench.run(*given, "--mock", code=2)
    assert "pipeline mode needs" in told.err
    assert ("--input" in told.err.partition("needs")[2]) == ("--input" not in given)


def test_s1_30_standalone_mode_needs_its_flag_and_takes_a_skill(bench: Bench) -> None:
    assert bench.run("--standalone", "--mock").line["verdict"] == "pass"
    assert "--standalone beside it" in bench.pipeline("--skill-path", "SKILL.md", "--mock", code=2).err
    assert "belongs to pipeline mode" in bench.pipeline("--standalone", "--mock", code=2).err


# --- flags -----------------------------------------------------------------------------------------


def test_s1_31_input_is_the_ranking_of_the_discriminator(bench: Bench) -> None:
    artifact = bench.pipeline("--mock").artifact
    assert artifact["target"]["path"] == str(bench.folder / "SKILL.md")
    (bench.folder / "rank.json").write_text("[]")
    assert "is no ranking artifact" in bench.pipeline("--mock", code=2).err


def test_s1_32_candidate_id_chooses_one(bench: Bench) -> None:
    assert bench.pipeline("--mock", candidate="c1").artifact["candidate_id"] == "c1"
    assert "unknown candidate 'c99'" in bench.pipeline("--mock", candidate="c99", code=2).err


def test_s1_33_standalone_is_off_by_default(bench: Bench) -> None:
    assert bench.run("--mock", code=2).err.startswith("2 usage: suite: pipeline mode needs")


@pytest.mark.parametrize("flag", ["--task-suite", "--state-root"])
def test_s1_34_35_task_suite_and_state_root_are_always_needed(bench: Bench, flag: str) -> None:
    given = {"--task-suite": "suite.yaml", "--state-root": "state"}
    given.pop(flag)
    words = [word for pair in given.items() for word in pair]
    done = subprocess.run(
        [sys.executable, "-m", "deliberate", "suite", *words, "--standalone", "--mock"],
        cwd=bench.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert flag in done.stderr


def test_s1_35_state_and_output_go_below_the_state_root(bench: Bench) -> None:
    bench.pipeline("--mock")
    assert [path.name for path in (bench.folder / "state" / "evaluations").iterdir()] == ["r1.json"]


def test_s1_36_mock_is_off_by_default(bench: Bench) -> None:
    assert "there is nobody to do the tasks" in bench.alone(code=2).err


def test_s1_37_skill_path_is_a_skill_or_its_folder(bench: Bench) -> None:
    said = bench.says(("The old skill.", "good"), "bad")
    for path in (bench.folder, bench.folder / "SKILL.md"):
        assert bench.run("--standalone", "--skill-path", path, *said).line["execution_pass_rate"] == 1.0
    assert "no skill can be read" in bench.run("--standalone", "--skill-path", "nowhere", "--mock", code=2).err


def test_s1_38_pass_k_passes_if_any_attempt_does_and_stops_there(bench: Bench) -> None:
    bench.suite(task("a"))
    count = f'echo . >> "{bench.folder}/n"; n=$(wc -l < "{bench.folder}/n"); [ "$n" -ge 2 ] && echo good || echo bad'
    (found,) = bench.alone("--command", count, "--pass-k", 3).artifact["candidate_results"]
    assert found["passed"] is True
    assert [one["passed"] for one in found["attempts"]] == [False, True]
    assert (found["pass_at_k"], found["pass_pow_k"], found["flake_rate"]) == (1.0, 0.0, 0.5)


def test_s1_39_baselines_are_kept_only_where_a_folder_is_named(bench: Bench) -> None:
    bench.pipeline("--mock")
    assert not list(bench.folder.rglob("*cache*"))
    bench.pipeline("--mock", "--baseline-cache-dir", bench.folder / "cache")
    assert len(list((bench.folder / "cache").iterdir())) == 1


@pytest.mark.parametrize(("threshold", "skips"), [(None, False), (8, False), (8.1, True)])
def test_s1_40_the_threshold_of_the_discriminator_is_6(bench: Bench, threshold: float | None, *, skips: bool) -> None:
    given = () if threshold is None else ("--eval-threshold", threshold)
    assert (bench.pipeline("--mock", *given).line["verdict"] == "skipped") == skips
    assert "score 3 on the discriminator's scale 0..10 < threshold 6" in bench.pipeline("--mock", candidate="c2").err


def test_s1_41_the_pass_rate_is_passed_tasks_by_tasks(bench: Bench) -> None:
    bench.suite(task("a"), task("b"), task("c"))
    told = bench.alone(*bench.says(("Do a.", "good"), "bad")).line
    assert told["execution_pass_rate"] == pass_rate([True, False, False]) == 1 / 3


def test_s1_41b_a_mock_run_needs_nothing_installed_and_no_network(bench: Bench) -> None:
    program = """
import socket, sys
from importlib.abc import MetaPathFinder

class No(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {"litellm", "openai", "pytest", "numpy", "xllamacpp"}:
            raise ImportError(f"{name} is not installed")

def no(*args, **kwargs):
    raise OSError("no network")

sys.meta_path.insert(0, No())
socket.socket.connect = no
socket.getaddrinfo = no
from deliberate.cli import main
sys.argv = ["deliberate", *sys.argv[1:]]
main()
"""
    words = ["suite", "--standalone", "--mock", "--task-suite", "suite.yaml", "--state-root", "state"]
    env = {"PATH": os.defpath, "HOME": str(bench.folder), "DELIBERATE_HOME": str(bench.folder / "home")}
    done = subprocess.run(
        [sys.executable, "-c", program, *words], cwd=bench.folder, env=env, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["verdict"] == "pass"


def test_s1_42_output_says_where_the_artifact_goes(bench: Bench) -> None:
    path = bench.folder / "elsewhere" / "O.json"
    artifact = bench.pipeline("--mock", "--output", path).artifact
    assert artifact["truth_anchor"] == str(path)
    assert not (bench.folder / "state").exists()


# --- the artifact ----------------------------------------------------------------------------------


@pytest.fixture
def artifact(bench: Bench) -> dict[str, Any]:
    return bench.pipeline(*bench.says(("new skill", "good"), ("Do a.", "good"), "bad")).artifact


def test_s1_43_44_45_46_the_figures_stand_flat_and_under_evaluation(artifact: dict[str, Any]) -> None:
    figures = {"execution_pass_rate": 1.0, "baseline_pass_rate": 0.5, "delta": 0.5, "verdict": "pass"}
    assert {name: artifact[name] for name in figures} == figures
    assert artifact["evaluation"] == {**figures, "reason": artifact["reason"]}


@pytest.mark.parametrize(("side", "passed"), [("candidate", [True, True]), ("baseline", [True, False])])
def test_s1_47_48_each_side_has_its_results(artifact: dict[str, Any], side: str, passed: list[bool]) -> None:
    found = artifact[f"{side}_results"]
    assert [one["task_id"] for one in found] == ["a", "b"]
    assert [one["passed"] for one in found] == passed
    assert [one["score"] for one in found] == [float(one) for one in passed]
    assert all(isinstance(one["duration_ms"], int) and one["duration_ms"] >= 0 for one in found)


def test_s1_49_the_truth_anchor_is_its_own_absolute_path(artifact: dict[str, Any]) -> None:
    path = Path(artifact["truth_anchor"])
    assert path.is_absolute()
    assert json.loads(path.read_text()) == artifact


def test_s1_50_as_good_is_a_pass_and_worse_a_fail(bench: Bench) -> None:
    assert bench.pipeline(*bench.says("good")).line == {
        "execution_pass_rate": 1.0,
        "baseline_pass_rate": 1.0,
        "delta": 0.0,
        "verdict": "pass",
    }
    worse = bench.says(("new skill", "bad"), "good")
    told = bench.pipeline(*worse)
    assert (told.line["verdict"], told.line["delta"], told.code) == ("fail", -1.0, 0)
    assert "require-pass pass (got fail)" in bench.pipeline(*worse, "--require-pass", code=3).err


def test_s1_51_a_candidate_below_the_threshold_is_skipped_without_a_call(bench: Bench) -> None:
    for candidate in ("c2", "c3"):
        told = bench.pipeline("--command", "exit 1", candidate=candidate)
        assert told.line["verdict"] == "skipped"
        assert told.artifact["candidate_results"] == []


def test_s1_52_a_weak_baseline_is_an_error_or_if_told_so_a_warning(bench: Bench) -> None:
    command = bench.says(*NEW_IS_BETTER)
    assert bench.pipeline(*command, code=4).line["verdict"] == "error"
    warned = bench.pipeline(*command, "--weak-baseline", "warn")
    assert warned.line["verdict"] == "pass"
    assert "baseline pass rate 0 < 0.2" in warned.artifact["warnings"]


def test_s1_53_gates_and_orchestrators_can_read_the_artifact(artifact: dict[str, Any]) -> None:
    for name in ("schema_version", "lane", "run_id", "stage", "status", "created_at", "candidate_id", "target"):
        assert artifact[name] is not None
    assert artifact["stage"] == "evaluated"


def test_s1_54_it_stands_between_the_discriminator_and_the_gate(artifact: dict[str, Any]) -> None:
    assert artifact["candidate_score"] == 8.0
    assert artifact["next_step"] == "gate"


def test_s1_55_the_regression_layer_of_a_gate_is_max_drop(bench: Bench) -> None:
    command = bench.says(("new skill", "bad"), "good")
    told = bench.pipeline(*command, "--max-drop", 10, code=3)
    assert "max-drop 10 (got 100)" in told.err
    assert math.isclose(bench.pipeline(*command, "--max-drop", 100).line["delta"], -1.0)
