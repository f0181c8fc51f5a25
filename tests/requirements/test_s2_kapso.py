"""S2, Kapso's evaluators that ask no model: each test is named after the line it holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import ClassVar

import pytest

from deliberate import Case, evaluator
from deliberate.cli._catalog import list_evaluators
from deliberate.errors import ConfigError, UnknownName
from deliberate.evaluators import Evaluator, RegexPattern, evaluator_of, kind_of, plan_of
from deliberate.evaluators.composite import Composite, spends
from deliberate.library import KAPSO, Library, kapso_spec, read_plan
from deliberate.runtime import Runtime
from deliberate.types import Evaluation, Param, Record, Scored, Spec, Unscored
from tests.conftest import Install
from tests.requirements.conftest import Judge

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: that the evaluators run on both is tested beside them."""
    return "asyncio"


ACCURACY = r"Accuracy: ([\d.]+)"
METRICS: dict[str, Param] = {
    "patterns": {"accuracy": (ACCURACY, 0.5), "f1": (r"F1: ([\d.]+)", 0.3), "speed": (r"Time: ([\d.]+)s", 0.2)}
}


def kapso(name: str, **params: Param) -> Evaluator:
    """The evaluator that Kapso's configuration names."""
    return evaluator_of(kapso_spec(name, params), panel=Library().panel)


def two(aggregation: str = "weighted_avg", weights: tuple[float, float] = (0.6, 0.4), **params: Param) -> Evaluator:
    """A composite of two patterns."""
    children = [
        ("regex_pattern", {"pattern": rf"{name}: ([\d.]+)", **params}, weight)
        for name, weight in zip("AB", weights, strict=True)
    ]
    return kapso("composite", evaluators=tuple(children), aggregation=aggregation)


async def test_s2_01_an_evaluator_reads_the_output_and_gives_a_score(judge: Judge) -> None:
    assert (await judge(RegexPattern(scale="0..1"), "SCORE: 0.5")).score == 50.0


@pytest.mark.parametrize("name", ["no_score", "regex_pattern", "file_json", "multi_metric"])
def test_s2_02_these_need_no_model(name: str) -> None:
    assert kind_of(name).spends_tokens is False


@pytest.mark.parametrize("name", sorted(KAPSO))
def test_s2_02_each_is_there_by_its_name(name: str) -> None:
    assert kind_of(name).name == name


async def test_s2_03_by_name_and_params(judge: Judge, tmp_path: Path) -> None:
    assert (await judge(kapso("regex_pattern", pattern=ACCURACY), "Accuracy: 0.95")).raw == 0.95
    written = {"evaluator": "regex_pattern", "evaluator_params": {"pattern": ACCURACY}}
    (tmp_path / "config.yaml").write_text(json.dumps(written))
    found = await judge(plan_of(read_plan(tmp_path / "config.yaml").plan, panel=Library().panel), "Accuracy: 0.95")
    assert found["regex_pattern"].raw == 0.95


def test_s2_04_the_factory_takes_a_name_and_params_and_lists_the_known_names() -> None:
    assert kapso("regex_pattern", pattern=ACCURACY).name == "regex_pattern"
    assert kapso("NO_SCORE").name == "no_score"
    with pytest.raises(UnknownName, match="file_json, llm_comparison, llm_judge, multi_metric, no_score"):
        kapso("nope")


async def test_s2_05_evaluating_an_output_gives_a_result_with_a_score(judge: Judge) -> None:
    found = await judge(kapso("multi_metric", patterns={"a": (ACCURACY, 1)}), "Accuracy: 0.5")
    assert (found.score, found.raw) == (50.0, 0.5)


async def test_s2_06_the_workspace_is_where_files_are_read(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"score": 0.4}')
    assert (await judge(kapso("file_json"))).raw == 0.4


def test_s2_07_whether_a_composite_needs_a_model_depends_on_its_children() -> None:
    free = two()
    paid = kapso("composite", evaluators=(("no_score", {}, 1), ("llm_judge", {}, 1)))
    assert isinstance(free, Composite)
    assert isinstance(paid, Composite)
    assert (spends(free), spends(paid)) == (False, True)
    for child, asks in (("no_score", False), ("llm_judge", True)):
        inner: Param = ("composite", {"evaluators": ((child, {}, 1),)}, 1)
        assert spends(kapso("composite", evaluators=(inner,))) is asks


async def test_s2_08_the_pages_own_pattern_reads_its_own_output(judge: Judge) -> None:
    assert (await judge(kapso("regex_pattern", pattern=ACCURACY), "Accuracy: 0.95")).raw == 0.95


@pytest.mark.parametrize("output", ["", "SCORE: 1", "anything"])
async def test_s2_09_no_score_is_always_0(judge: Judge, output: str) -> None:
    found = await judge(kapso("no_score"), output)
    assert (found.score, found.raw) == (0.0, 0.0)
    assert "nothing was measured" in found.reason


async def test_s2_10_a_pattern_scores_by_its_group_whatever_the_letter_case(judge: Judge) -> None:
    assert (await judge(kapso("regex_pattern"), "score: 0.4")).raw == 0.4


@pytest.mark.parametrize(
    ("output", "raw"), [("SCORE: 3", 3.0), ("SCORE: +2", 2.0), ("SCORE: -.5", -0.5), ("SCORE:\n\n3", 3.0)]
)
async def test_s2_11_the_default_pattern_is_the_documented_one(judge: Judge, output: str, raw: float) -> None:
    assert (await judge(kapso("regex_pattern"), output)).raw == raw
    assert RegexPattern().pattern == KAPSO["regex_pattern"]["pattern"] == r"SCORE:\s*([-+]?\d*\.?\d+)"


def test_s2_11_a_pattern_without_a_group_is_refused_when_it_is_built() -> None:
    with pytest.raises(ConfigError, match="no capture group 1"):
        kapso("regex_pattern", pattern=r"Accuracy: [\d.]+")


async def test_s2_12_where_nothing_is_found_the_default_stands_in_and_says_so(judge: Judge) -> None:
    for params, raw in (({}, 0.0), ({"default_score": -1.0}, -1.0)):
        found = await judge(kapso("regex_pattern", **params), "zip")
        assert (found.raw, found.flags) == (raw, ("defaulted",))
    ours = await judge(RegexPattern(), "zip")
    assert isinstance(ours.outcome, Unscored)
    assert (ours.outcome.why, ours.raw) == ("failed", None)


@pytest.mark.parametrize(
    ("pattern", "output", "raw"),
    [
        (r"accuracy:\s*([\d.]+)%", "Accuracy: 87.5%", 87.5),
        (r"accuracy:\s*([\d.]+%)", "Accuracy: 87.5%", 0.875),
        (r"loss[:=]\s*([\d.eE+-]+)", "loss=1.5e-3", 0.0015),
        (r"SCORE:\s*(\S+)", "SCORE: 1,234.5", 1234.5),
        (r"F1[:=]\s*([\d.]+)", "F1: 0.87", 0.87),
    ],
)
async def test_s2_13_patterns_for_accuracy_loss_score_and_f1(
    judge: Judge, pattern: str, output: str, raw: float
) -> None:
    assert (await judge(kapso("regex_pattern", pattern=pattern), output)).raw == pytest.approx(raw)


@pytest.mark.parametrize(
    ("text", "raw"),
    [
        ('{"score": 0.87}', 0.87),
        ('{"score": "0.5"}', 0.5),
        ('{"score": true}', 1.0),
        ('{"scores": 1}', 0.0),
        ('{"score": null}', 0.0),
        ('{"score": NaN}', 0.0),
        ('{"score": 1e999}', 0.0),
        ("{oops", 0.0),
    ],
)
async def test_s2_14_a_json_file_gives_the_score_and_never_what_is_no_number(
    judge: Judge, tmp_path: Path, text: str, raw: float
) -> None:
    (tmp_path / "results.json").write_text(text)
    assert (await judge(kapso("file_json"))).raw == raw


async def test_s2_15_file_key_and_default_are_the_documented_ones(judge: Judge, tmp_path: Path) -> None:
    missing = await judge(kapso("file_json"))
    assert (missing.raw, missing.flags) == (0.0, ("defaulted",))
    (tmp_path / "results.json").write_text('{"score": 0.3}')
    assert (await judge(kapso("file_json"))).raw == 0.3
    (tmp_path / "metrics.json").write_text('{"m": {"acc": 0.6}}')
    assert (await judge(kapso("file_json", filename="metrics.json", score_key="m.acc"))).raw == 0.6
    assert (await judge(kapso("file_json", filename="metrics.json", score_key="m.f1", default_score=0.1))).raw == 0.1


async def test_s2_16_a_dotted_path_reaches_inside(judge: Judge, tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text('{"evaluation": {"f1_score": 0.87, "accuracy": 0.92}}')
    assert (await judge(kapso("file_json", score_key="evaluation.f1_score"))).raw == 0.87


async def test_s2_17_several_metrics_make_one_score(judge: Judge) -> None:
    found = await judge(kapso("multi_metric", **METRICS, invert=("speed",)), "Accuracy: 0.9 F1: 0.8 Time: 0.5s")
    assert found.raw == pytest.approx(0.9 * 0.5 + 0.8 * 0.3 + 0.5 * 0.2)


async def test_s2_18_only_the_ratios_of_weights_matter(judge: Judge) -> None:
    for scale in (1, 7):
        weights: Param = {"a": (r"A: ([\d.]+)", 3 * scale), "b": (r"B: ([\d.]+)", scale)}
        assert (await judge(kapso("multi_metric", patterns=weights), "A: 1 B: 0")).raw == 0.75


async def test_s2_19_where_less_is_better_the_metric_is_inverted(judge: Judge) -> None:
    speed: Param = {"speed": (r"Time: ([\d.]+)s", 1)}
    for output, raw in (("Time: 0.25s", 0.75), ("Time: 12.5s", 0.0)):
        assert (await judge(kapso("multi_metric", patterns=speed, invert=("speed",)), output)).raw == raw


@pytest.mark.parametrize("name", ["llm_judge", "llm_comparison"])
def test_s2_21_and_24_the_documented_model_is_stated_and_another_stands(name: str) -> None:
    assert kapso_spec(name).params["model"] == "openai/gpt-4.1-mini"
    assert kapso_spec(name, {"model": "gpt-x"}).params["model"] == "openai/gpt-x"
    assert kapso_spec(name, {"model": "local/x"}).params["model"] == "local/x"


async def test_s2_25_a_composite_weighs_its_children(judge: Judge) -> None:
    found = await judge(two(), "A: 0.9 B: 0.5")
    assert found.normalized == pytest.approx(0.74)
    assert [part.name for part in found.parts] == ["regex_pattern-1", "regex_pattern-2"]


async def test_s2_26_a_composites_parts_may_be_mappings_as_files_write_them(judge: Judge) -> None:
    child: Param = {"type": "regex_pattern", "params": {"pattern": r"A: ([\d.]+)"}, "weight": 2}
    other: Param = ("regex_pattern", {"pattern": r"B: ([\d.]+)"}, 1)
    inner: Param = ("composite", {"evaluators": (other,)}, 1)
    found = await judge(kapso("composite", evaluators=(child, inner)), "A: 0.4 B: 0.1")
    assert found.normalized == pytest.approx((2 * 0.4 + 0.1) / 3)
    assert [part.name for part in found.parts] == ["regex_pattern-1", "composite-2"]


def test_s2_26_evaluators_are_type_params_and_weight() -> None:
    wrongs: tuple[Param, ...] = (("regex_pattern", {}), ("regex_pattern", 1, {}), "regex_pattern")
    for wrong in wrongs:
        with pytest.raises(ConfigError, match=r"expected \[type, params, weight\]"):
            kapso("composite", evaluators=(wrong,))


@pytest.mark.parametrize(
    ("aggregation", "normalized"), [("weighted_avg", 0.74), ("min", 0.5), ("max", 0.9), ("product", 0.45)]
)
async def test_s2_27_four_ways_to_aggregate(judge: Judge, aggregation: str, normalized: float) -> None:
    assert (await judge(two(aggregation), "A: 0.9 B: 0.5")).normalized == pytest.approx(normalized)
    if aggregation != "weighted_avg":  # the others ignore weights
        assert (await judge(two(aggregation, (9, 1)), "A: 0.9 B: 0.5")).normalized == pytest.approx(normalized)


def test_s2_27_an_unknown_aggregation_is_refused_and_lists_the_known() -> None:
    with pytest.raises(UnknownName, match="expected one of: max, min, product, weighted_avg"):
        two("average")


async def test_s2_28_the_weighted_average_is_the_default(judge: Judge) -> None:
    assert KAPSO["composite"]["aggregation"] == "weighted_avg"
    children = (("regex_pattern", {"pattern": r"A: ([\d.]+)"}, 1),)
    found = await judge(kapso("composite", evaluators=children), "A: 0.9")
    assert found.details["by"] == "weighted_mean"


async def test_s2_29_scores_in_an_aggregate_are_0_to_1_and_a_lone_number_is_reported_as_read(judge: Judge) -> None:
    beyond = await judge(two(), "A: 95 B: 0.5")
    assert beyond.score is None
    assert "outside its scale 0..1" in beyond["regex_pattern-1"].reason
    alone = await judge(kapso("regex_pattern", pattern=r"A: ([\d.]+)"), "A: 95")
    assert (alone.score, alone.raw) == (None, 95.0)
    assert isinstance(alone.outcome, Unscored)
    assert alone.outcome.why == "unscaled"


async def test_s2_30_a_result_has_score_feedback_and_details(judge: Judge) -> None:
    found = await judge(kapso("regex_pattern", pattern=ACCURACY), "Accuracy: 0.95")
    assert found.reason == "read 0.95 at character 10"
    assert found.details == {"matched": "Accuracy: 0.95"}


class Fixed(Record, frozen=True, kw_only=True):
    """An evaluator as another package would write it."""

    name: ClassVar[str] = "fixed"
    spends_tokens: ClassVar[bool] = False

    score: float = 10.0

    async def evaluate(
        self,
        case: Case,  # noqa: ARG002
        *,
        runtime: Runtime,  # noqa: ARG002
        previous: Evaluation | None = None,  # noqa: ARG002
    ) -> Evaluation:
        return Evaluation(evaluator=self.name, outcome=Scored(score=self.score, raw=self.score))


async def test_s2_31_an_evaluator_of_ones_own_is_a_class_or_a_decorated_function(judge: Judge) -> None:
    assert (await judge(Fixed(score=20.0))).score == 20.0

    @evaluator(description="Whether a word occurs.", spends_tokens=False)
    def mentions(case: Case, *, word: str = "refund") -> bool:
        return word in case.output

    assert (mentions.description, mentions.spends_tokens) == ("Whether a word occurs.", False)
    assert (await judge(mentions, "a refund")).score == 100.0
    assert (await judge(mentions(word="loan"), "a refund")).score == 0.0
    with pytest.raises(UnknownName):  # it registers nothing
        kind_of("mentions")


async def test_s2_31_another_package_brings_one_by_entry_point(judge: Judge, install: Install) -> None:
    source = "from deliberate import evaluator, Case\n\n@evaluator\ndef long(case: Case, *, least: int = 3) -> bool:\n"
    source += "    return len(case.output) >= least\n"
    install("theirs", modules={"theirs": source}, parts={"evaluators": {"long": "theirs:long"}})
    spec = Spec(type="long", params={"least": 5})
    assert (await judge(evaluator_of(spec, panel=Library().panel), "four")).score == 0.0


@pytest.mark.parametrize(
    "text",
    [
        "evaluator:\n  type: regex_pattern\n  params:\n    pattern: 'Accuracy: ([\\d.]+)'\n",
        "evaluator: regex_pattern\nevaluator_params:\n  pattern: 'Accuracy: ([\\d.]+)'\n",
    ],
)
async def test_s2_32_the_configuration_block_is_a_plan_as_it_stands(judge: Judge, tmp_path: Path, text: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    loaded = read_plan(tmp_path / "config.yaml")
    plan = plan_of(loaded.plan, panel=Library().panel, where=loaded.where)
    assert (await judge(plan, "Accuracy: 0.95")).normalized == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("evaluator: {type: regex_patern}\n", "config.yaml:1:1"),
        ("evaluator: {type: regex_pattern, params: {patern: x}}\n", "unknown parameter 'patern'"),
        (
            "evaluator: {type: regex_pattern, params: {pattern: x}}\n",
            "config.yaml:1:52: the pattern 'x' has no capture",
        ),
        ("evaluator: {type: regex_pattern, parms: {}}\n", "unknown key 'evaluator.parms'"),
    ],
)
def test_s2_32_a_fault_in_the_block_names_its_place(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.yaml").write_text(text)
    with pytest.raises(ConfigError) as caught:
        loaded = read_plan(tmp_path / "config.yaml")
        plan_of(loaded.plan, panel=Library().panel, where=loaded.where)
    assert said in str(caught.value)


async def test_s2_33_the_command_line_lists_evaluators(capsys: pytest.CaptureFixture[str]) -> None:
    assert await list_evaluators(as_json=True) == 0
    listed = {one["name"]: one for one in json.loads(capsys.readouterr().out)["evaluators"]}
    assert KAPSO.keys() <= listed.keys()
    assert listed["regex_pattern"]["needs_model"] == "free"
    assert {"name": "which", "default": "'first'"}.items() <= next(
        one for one in listed["regex_pattern"]["parameters"] if one["name"] == "which"
    ).items()


def test_s2_34_the_cheap_evaluators_spend_nothing() -> None:
    assert not any(kind_of(name).spends_tokens for name in ("exact", "contains", "regex", "regex_pattern"))
    advice = " ".join((kind_of("llm_judge").__doc__ or "").split())
    assert "It takes time and money: use it for criteria that are a matter of judgment." in advice
    assert "``regex`` is fastest" in advice
