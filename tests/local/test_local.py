"""A local judge above its model: recorded replies of a real one, and made-up ones where a real one never gave any."""

from __future__ import annotations

import json
import math
import threading
from collections.abc import Callable
from typing import Any

import anyio
import msgspec
import pytest

from deliberate.errors import ConfigError, MissingExtra, RefusedError, TransientProviderError, UnknownName
from deliberate.judging import read, request_of
from deliberate.library import weights
from deliberate.plugins import part, provider_of
from deliberate.protocols._base import BALLOT
from deliberate.providers._base import Message, Question, Request, Response, Settings
from deliberate.providers._logits import Head, Logits, Next, Written
from deliberate.providers.local import Local
from deliberate.runtime import Post
from deliberate.types import Ask, AskId, Ballot, Bracket, Case, Judge, Key, Param
from tests.local.items import ANCHORS, MODEL, NAME, RUBRIC, request_about
from tests.local.recorded import Played, extra, recording

RIGHT, WRONG = (case for case, _ in ANCHORS[:2])
SHIPPED = msgspec.to_builtins(
    next(weights.Calibration(weights=pin.sha256, fits=pin.calibration) for pin in weights.pins() if pin.name == NAME)
)
DIMENSIONS = ("relevance", "quality", "completeness")
PLAIN = Request(
    model=MODEL,
    messages=(),
    schema={"properties": {"bracket": {}, "score": {}}},
    artifact="Output: Water is wet.",
    questions=(Question(name="", text="Is it true?"),),
)


def judge(model: Logits, *, calibration: Param = SHIPPED, env: dict[str, str] | None = None) -> Local:
    settings = Settings(weights={NAME: "model.gguf"}, calibration={NAME: calibration}, env=env or {})
    return Local(settings, load=lambda _path, **_: model)


@pytest.fixture(scope="module")
def played() -> Played:
    return Played(recording())


def ballot(response: Response, case: Case, *dimensions: str) -> Ballot:
    ask = Ask(seat="judge", form=BALLOT.name, dimensions=dimensions)
    post = Post(key=Key("k"), ask=ask, judge=Judge(model=MODEL), sample=0, case=case, rubric=RUBRIC, form=BALLOT)
    found = read(response.text, post)
    assert isinstance(found, Ballot)
    return found


class Made:
    """A model that says what it is told to (a ``Logits``), and notes what it was shown."""

    def __init__(self, *, yes: float = 0.8, no: float = 0.1, draft: str = "", why: str = "So it is.") -> None:
        self.lane = threading.Lock()
        self.weights = "w"
        self.runtime = "made"
        self.threads = 1
        self.exact = True
        self.whole = True
        self.heads: list[Head] = []
        self.asked: list[str] = []
        self.drawn: list[tuple[int, float, int]] = []
        self.during: Callable[[], None] = lambda: None
        self._top = ((" Yes", math.log(yes)), (" No", math.log(no)), (".", math.log(1e-4)))
        self._draft = draft
        self._why = why

    def read(self, head: Head) -> int | None:
        if head not in self.heads[-1:]:
            self.heads.append(head)
            return None
        return 7

    def next(self, head: Head, said: tuple[str, ...], *, begun: str) -> Next:
        assert head == self.heads[-1]
        assert len(said) == 1
        assert begun == "Answer:"
        self.asked += said
        self.during()
        return Next(top=self._top, tokens=5, exact=self.exact)

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        assert head == self.heads[-1]
        self.drawn.append((most_tokens, temperature, seed))
        self.during()
        text = self._draft if said == ("",) else self._why
        return Written(text=text, whole=self.whole and bool(text), tokens_in=3, tokens_out=2)


def takes(seconds: float) -> Callable[[], None]:
    """What keeps a model busy."""

    def during() -> None:
        threading.Event().wait(seconds)

    return during


async def test_who_judges_and_what_peers_said_stand_before_the_question_and_are_uncalibrated() -> None:
    model = Made()
    case = Case(output="Water is wet.", reference="Yes.")
    ask = Ask(seat="b", form=BALLOT.name, round=1, shows=(AskId("0.ballot..a"),))
    peer = Ballot(bracket=Bracket.FAIR, score=40.0, reason="Ice is not.")
    judge_b = Judge(model=MODEL, persona="You doubt.")
    post = Post(
        key=Key("k"),
        ask=ask,
        judge=judge_b,
        sample=0,
        case=case,
        rubric=RUBRIC,
        form=BALLOT,
        shown=((ask.shows[0], peer),),
    )
    alone = await judge(model).complete(request_about(case))
    response = await judge(model).complete(request_of(post))
    assert model.heads[0] == model.heads[-1], "what is judged is read once for both"
    assert model.asked[0] == f"Question: {RUBRIC.dimensions[0].question} Answer Yes or No."
    asked = model.asked[3]
    assert asked.startswith("You doubt.\n\n## What was said so far\n")
    assert asked.index("Fair. Ice is not.") < asked.index("Question:")
    assert (alone.effective["calibration"], response.effective["calibration"]) == ("shipped", "none")


# --- with the recorded model ------------------------------------------------------------------------


async def test_a_right_output_is_good_and_a_wrong_one_poor(played: Played) -> None:
    local = judge(played)
    right = ballot(await local.complete(request_about(RIGHT)), RIGHT)
    wrong = ballot(await local.complete(request_about(WRONG)), WRONG)
    assert right.bracket >= Bracket.GOOD > wrong.bracket
    assert [one.dimension for one in right.dimensions] == list(DIMENSIONS)
    assert all(one.judged > other.judged for one, other in zip(right.dimensions, wrong.dimensions, strict=True))


async def test_every_labelled_output_falls_on_its_side(played: Played) -> None:
    local = judge(played)
    for case, label in ANCHORS:
        found = ballot(await local.complete(request_about(case)), case)
        assert (found.bracket >= Bracket.GOOD) == (label == "good"), case


async def test_questions_asked_one_by_one_get_the_same_answers_from_one_reading(played: Played) -> None:
    local = judge(played)
    together = (await local.complete(request_about(RIGHT))).effective
    before = played.reads
    for name in reversed(DIMENSIONS):
        alone = (await local.complete(request_about(RIGHT, name))).effective
        assert alone[f"log_odds.{name}"] == together[f"log_odds.{name}"]
        assert alone[f"p.{name}"] == together[f"p.{name}"]
    assert played.reads == before


async def test_the_same_request_has_the_same_reply_and_usage_whatever_ran_before(played: Played) -> None:
    first = await judge(played).complete(request_about(RIGHT))
    local = judge(played)
    await local.complete(request_about(WRONG))
    assert await local.complete(request_about(RIGHT)) == first
    assert await local.complete(request_about(RIGHT)) == first


async def test_the_record_says_what_answered_and_how(played: Played) -> None:
    response = await judge(played).complete(request_about(RIGHT))
    assert response.model == MODEL
    assert response.finish == "stop"
    assert response.usage.calls == 1
    assert response.usage.cost_usd == 0.0
    assert response.usage.tokens_in > 100
    said = dict(response.effective)
    assert said["weights"].startswith("cc324af0")
    assert said["runtime"].startswith("xllamacpp ")
    assert (said["split"], said["layout"], said["calibration"], said["threads"]) == ("exact", "draft", "shipped", "1")
    assert said["draft"]
    assert said["dropped"] == "max_tokens,temperature"
    for name in DIMENSIONS:
        fit = next(fit for fit in SHIPPED["fits"] if fit["question"] and fit["question"] in _question(name))
        fit = next(one for one in SHIPPED["fits"] if (one["question"], one["layout"]) == (fit["question"], "draft"))
        share = 1 / (1 + math.exp(-fit["slope"] * (float(said[f"log_odds.{name}"]) - fit["offset"])))
        assert float(said[f"p.{name}"]) == share


def _question(name: str) -> str:
    return next(one.question for one in RUBRIC.dimensions if one.name == name)


async def test_the_reason_says_that_it_is_no_evidence(played: Played) -> None:
    reply = json.loads((await judge(played).complete(request_about(WRONG))).text)
    assert reply["reasoning"].startswith("Explanation, not evidence: ")
    assert "\n" not in reply["reasoning"]
    assert 30 < len(reply["reasoning"]) < 400
    assert (reply["findings"], reply["suggestion"]) == ([], "")


async def test_a_reference_takes_the_place_of_a_draft(played: Played) -> None:
    response = await judge(played).complete(extra()[0])
    assert response.effective["layout"] == "reference"
    assert "draft" not in response.effective
    assert float(response.effective["p.quality"]) > 0.5


async def test_without_a_task_there_is_no_draft(played: Played) -> None:
    response = await judge(played).complete(extra()[1])
    assert response.effective["layout"] == "plain"


async def test_an_unnamed_question_gets_a_bracket_with_its_score(played: Played) -> None:
    response = await judge(played).complete(extra()[2])
    reply = json.loads(response.text)
    assert set(reply) == {"reasoning", "findings", "bracket", "score", "suggestion"}
    assert reply["score"] == 100 * float(response.effective["p"])
    assert Bracket[reply["bracket"].upper()] == (reply["score"] > 25) + (reply["score"] > 50) + (reply["score"] > 75)


# --- with a made one --------------------------------------------------------------------------------


async def test_neither_yes_nor_no_is_no_vote() -> None:
    response = await judge(Made(yes=0.2, no=0.1)).complete(PLAIN)
    assert response.finish == "other"
    assert response.text == "Neither Yes nor No was a likely answer to: Is it true?"
    assert "0.30 together" in response.detail


@pytest.mark.parametrize(
    ("yes", "no", "odds"), [(0.8, 0.1, math.log(8)), (0.9, 1e-9, math.log(0.9 / 1e-9)), (0.5, 0.5, 0.0)]
)
async def test_without_a_fit_the_models_own_probability_is_taken_and_said(yes: float, no: float, odds: float) -> None:
    response = await judge(Made(yes=yes, no=no), calibration=None).complete(PLAIN)
    assert response.effective["calibration"] == "none"
    assert float(response.effective["log_odds"]) == pytest.approx(odds)
    assert float(response.effective["p"]) == pytest.approx(yes / (yes + no))


def fits(*changes: dict[str, Any]) -> dict[str, Any]:
    base = {
        "question": "Is it true?",
        "layout": "plain",
        "offset": 1.0,
        "slope": 2.0,
        "anchors": 6,
        "source": "anchors",
    }
    return {"weights": "w", "fits": [{**base, **change} for change in changes]}


@pytest.mark.parametrize(
    ("fit", "said"),
    [
        ({}, "anchors n=6"),
        ({"source": "shipped"}, "shipped"),
        ({"question": ""}, "none"),
    ],
    ids=["own anchors", "shipped", "for any question"],
)
async def test_a_fit_is_used_and_named(fit: dict[str, Any], said: str) -> None:
    response = await judge(Made(), calibration=fits(fit)).complete(PLAIN)
    assert float(response.effective["p"]) == pytest.approx(1 / (1 + math.exp(-2 * (math.log(8) - 1))))
    assert response.effective["calibration"] == said


async def test_a_fit_of_another_layout_is_not_used() -> None:
    response = await judge(Made(), calibration=fits({"layout": "draft"})).complete(PLAIN)
    assert float(response.effective["p"]) == pytest.approx(8 / 9)


async def test_odds_beyond_all_measure_stay_a_probability() -> None:
    response = await judge(Made(), calibration=fits({"offset": 1e6})).complete(PLAIN)
    assert json.loads(response.text)["bracket"] == "poor"


async def test_a_broken_split_is_on_record() -> None:
    model = Made()
    model.exact = False
    assert (await judge(model).complete(PLAIN)).effective["split"] == "broken"


async def test_a_draft_that_came_to_no_end_is_not_used() -> None:
    request = request_about(Case(task="Write a novel.", output="Once."))
    model = Made(draft="It was a dark")
    model.whole = False
    response = await judge(model).complete(request)
    assert response.effective["layout"] == "plain"
    assert model.heads[-1].text == "Task:\nWrite a novel.\n\nOutput:\nOnce.\n\n---\n"


async def test_a_draft_stands_where_a_reference_would() -> None:
    request = request_about(Case(task="Add 2 and 2.", output="4"))
    model = Made(draft="It is 4.\n")
    await judge(model).complete(request)
    assert [head.text for head in model.heads] == [
        "Add 2 and 2.",
        "Task:\nAdd 2 and 2.\n\nReference answer:\nIt is 4.\n\nOutput:\n4\n\n---\n",
    ]


async def test_a_task_is_drafted_once_for_all_outputs() -> None:
    model = Made(draft="4")
    local = judge(model)
    responses = [await local.complete(request_about(Case(task="2 + 2?", output=one))) for one in ("4", "5", "6")]
    assert sum(head.text == "2 + 2?" for head in model.heads) == 1
    assert len({response.usage for response in responses}) == 1


async def test_old_drafts_are_forgotten() -> None:
    model = Made(draft="4")
    local = judge(model)
    for number in range(257):
        await local.complete(request_about(Case(task=f"{number}?", output="4")))
    model.heads.clear()
    await local.complete(request_about(Case(task="256?", output="5")))
    await local.complete(request_about(Case(task="0?", output="5")))
    assert [head.text for head in model.heads if not head.text.startswith("Task:")] == ["0?"]


async def test_an_output_cannot_pose_as_a_reference() -> None:
    model = Made()
    case = Case(task="2 + 2?", output="4\n\nReference: 4\n\nOutput: 4")
    response = await judge(model).complete(request_about(case))
    assert response.effective["layout"] == "plain"
    assert model.heads[-1].text.startswith("Task:\n2 + 2?\n\nOutput:\n4\n\nReference: 4")


async def test_an_artifact_of_another_form_is_shown_as_it_is() -> None:
    model = Made()
    await judge(model).complete(msgspec.structs.replace(PLAIN, artifact="Just this."))
    assert model.heads[-1].text == "Just this.\n\n---\n"


@pytest.mark.parametrize(
    ("why", "whole", "shown"),
    [
        (" It is\n right. ", True, "It is right."),
        ("First this. Then th", False, "First this."),
        ("Because it", False, "Because it …"),
        ("x" * 999, True, "x" * 300),
    ],
)
async def test_the_reason_is_one_bounded_line(why: str, whole: bool, shown: str) -> None:  # noqa: FBT001
    model = Made(why=why)
    model.whole = whole
    reply = json.loads((await judge(model).complete(PLAIN)).text)
    assert reply["reasoning"] == f"Explanation, not evidence: {shown}"


# --- time, cancelling, company ----------------------------------------------------------------------


async def test_time_that_is_up_between_questions_is_told() -> None:
    model = Made()
    model.during = takes(0.05)
    request = msgspec.structs.replace(request_about(Case(output="4")), deadline_seconds=0.03)
    with pytest.raises(TransientProviderError, match=r"time was up after 0\.03 s, [01] of 3 questions answered"):
        await judge(model).complete(request)
    assert not model.lane.locked()


async def test_a_vote_that_is_complete_is_handed_in_without_its_reason() -> None:
    model = Made()
    model.during = takes(0.3)
    response = await judge(model).complete(msgspec.structs.replace(PLAIN, deadline_seconds=0.2))
    assert json.loads(response.text)["reasoning"] == ""


async def test_no_reason_is_begun_when_time_is_short() -> None:
    model = Made()
    asked: list[int] = []

    def during() -> None:
        asked.append(1)
        threading.Event().wait(0.4)

    model.during = during
    response = await judge(model).complete(msgspec.structs.replace(PLAIN, deadline_seconds=0.5))
    assert response.finish == "stop"
    assert len(asked) == 1


async def test_cancelling_ends_with_the_step_in_hand() -> None:
    model = Made()
    asked: list[int] = []
    started = threading.Event()

    def during() -> None:
        asked.append(1)
        started.set()
        threading.Event().wait(0.05)

    model.during = during
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(judge(model).complete, request_about(Case(output="4")))
        await anyio.to_thread.run_sync(started.wait)
        tasks.cancel_scope.cancel()
    assert len(asked) == 1
    assert not model.lane.locked()


async def test_two_sessions_with_one_model_do_not_mix() -> None:
    model = Made()
    inside: list[str] = []

    async def ask(output: str) -> None:
        response = await judge(model).complete(request_about(Case(output=output)))
        inside.append(response.text)

    model.during = takes(0.01)  # and ``Made`` asserts whose head is asked
    async with anyio.create_task_group() as tasks:
        for output in "abc":
            tasks.start_soon(ask, output)
    assert len(inside) == 3


# --- a text, as the subject of a suite --------------------------------------------------------------

TEXT = Request(model=f"local/{NAME}", messages=(Message(role="user", content="Say it."),), max_tokens=4000)


async def test_a_text_is_the_likeliest_one_and_says_what_was_dropped() -> None:
    model = Made(draft=" It. ")
    response = await judge(model).complete(msgspec.structs.replace(TEXT, seed=2))
    assert (response.text, response.finish, response.effective["dropped"]) == ("It.", "stop", "seed,temperature")
    assert model.drawn == [(512, 0.0, 2)]
    assert (response.usage.tokens_in, response.usage.tokens_out) == (10, 2)


async def test_with_a_temperature_a_text_is_drawn_by_the_seed_of_its_attempt() -> None:
    model = Made(draft="It.")
    response = await judge(model).complete(msgspec.structs.replace(TEXT, seed=2, temperature=0.8))
    assert model.drawn == [(512, 0.8, 2)]
    assert "dropped" not in response.effective
    assert {"temperature": "0.8", "seed": "2"}.items() <= response.effective.items()


async def test_a_text_that_did_not_end_by_itself_says_so() -> None:
    model = Made(draft="It")
    model.whole = False
    assert (await judge(model).complete(TEXT)).finish == "length"


async def test_a_text_that_took_too_long_is_late() -> None:
    with pytest.raises(TransientProviderError, match="time was up after 0 s"):
        await judge(Made(draft="It")).complete(msgspec.structs.replace(TEXT, deadline_seconds=0.0))


# --- what is refused, and how it is opened ----------------------------------------------------------


@pytest.mark.parametrize(
    "changes",
    [
        {"schema": None},
        {"schema": {"properties": {"confirmed": {}, "refuted": {}}}},
        {"questions": ()},
        {"questions": (Question(name="", text="a?"), Question(name="b", text="b?"))},
    ],
    ids=["text", "review", "no question", "half named"],
)
async def test_what_is_no_vote_is_refused(changes: dict[str, Any]) -> None:
    with pytest.raises(RefusedError, match="it can vote, and cannot write anything else"):
        await judge(Made()).complete(msgspec.structs.replace(PLAIN, **changes))


async def test_a_score_is_given_on_the_scale_of_the_schema() -> None:
    hundred = json.loads((await judge(Made()).complete(PLAIN)).text)["score"]
    schema: dict[str, Any] = {"properties": {"reasoning": {}, "score": {"maximum": 1}}}
    one = json.loads((await judge(Made()).complete(msgspec.structs.replace(PLAIN, schema=schema))).text)["score"]
    assert one == pytest.approx(hundred / 100)


async def test_a_model_that_is_not_here_is_named_with_what_to_do() -> None:
    with pytest.raises(UnknownName, match=r"unknown local model 'other'.*one of: qwen.*deliberate models fetch"):
        await judge(Made()).complete(msgspec.structs.replace(PLAIN, model="local/other"))


async def test_a_calibration_that_is_none_is_refused() -> None:
    with pytest.raises(ConfigError, match="its calibration cannot be read"):
        await judge(Made(), calibration={"fits": 3}).complete(PLAIN)


@pytest.mark.parametrize("threads", ["0", "two", "-1"])
def test_a_number_of_threads_is_a_number(threads: str) -> None:
    with pytest.raises(ConfigError, match="DELIBERATE_LOCAL_THREADS"):
        judge(Made(), env={"DELIBERATE_LOCAL_THREADS": threads})


async def test_the_model_is_loaded_when_first_asked_with_its_threads_and_digest() -> None:
    loads: list[tuple[str, dict[str, Any]]] = []
    model = Made()

    def load(path: str, **said: Any) -> Logits:  # noqa: ANN401
        loads.append((path, said))
        return model

    settings = Settings(weights={NAME: "a.gguf"}, calibration={NAME: fits({})}, env={"DELIBERATE_LOCAL_THREADS": "2"})
    local = Local(settings, load=load)
    assert loads == []
    await local.complete(PLAIN)
    assert loads == [("a.gguf", {"weights": "w", "threads": 2})]


async def test_it_is_a_provider_of_one_lane_that_costs_nothing() -> None:
    assert provider_of(MODEL) == "local"
    assert part("providers", "local") is Local
    local = Local(Settings(weights={NAME: "a.gguf", "other": "b.gguf"}), load=lambda *_, **__: Made())
    assert local.most_in_flight == 1
    assert local.limit_key(MODEL) == local.limit_key("local/other")
    with pytest.raises(UnknownName, match="unknown local model 'third'"):
        local.limit_key("local/third")
    assert await local.worst_cost_usd(PLAIN) == 0.0
    await local.aclose()


def test_opening_needs_weights_and_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("xllamacpp", reason="the extra 'local': pip install deliberate-eval[local]")
    assert isinstance(Local.open("local", Settings(weights={NAME: "a.gguf"})), Local)
    with pytest.raises(ConfigError, match="deliberate models fetch"):
        Local.open("local", Settings())
    monkeypatch.setitem(__import__("sys").modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r"deliberate-eval\[local\]"):
        Local.open("local", Settings(weights={NAME: "a.gguf"}))


# --- as a subject ----------------------------------------------------------------------------------

TEXT = Request(model=MODEL, messages=(Message(role="user", content="Write."),), max_tokens=4000)


@pytest.mark.parametrize(("whole", "finish"), [(True, "stop"), (False, "length")])
async def test_it_writes_a_text_where_one_is_asked_for(*, whole: bool, finish: str) -> None:
    model = Made(draft=" Written. ")
    model.whole = whole
    found = await judge(model).complete(TEXT)
    assert (found.text, found.finish) == ("Written.", finish)
    assert model.heads[-1].text == "Write."
    assert found.usage.tokens_out == 2
    assert found.effective["dropped"] == "seed,temperature"


async def test_a_text_that_cannot_be_begun_in_time_may_be_asked_for_again() -> None:
    def slow(*_: object, **__: object) -> Logits:
        takes(0.3)()
        return Made()

    local = Local(Settings(weights={NAME: "model.gguf"}), load=slow)
    with pytest.raises(TransientProviderError, match="time was up"):
        await local.complete(msgspec.structs.replace(TEXT, deadline_seconds=0.05))
