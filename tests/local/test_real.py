"""The real model, where its weights are here: does it tell right from wrong, and the same twice?

The driver's ``--all``, ``DELIBERATE_ALL=1`` and ``--all`` ask about all pairs, and fetch the weights where they are
missing; otherwise a sample, and only where they are.
"""

from __future__ import annotations

import importlib.util
import os
import random
import re
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

import anyio
import msgspec
import pytest

from deliberate.library import weights
from deliberate.providers._base import Message, Request, Settings
from deliberate.providers._llama import CHATML, Llama, loaded
from deliberate.providers._logits import Head, Logits, Next, Written
from deliberate.providers.local import Local
from deliberate.types import Case, Record
from tests.local.items import NAME, RUBRIC, request_about

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
MISSING = f"weights of {NAME}: run deliberate models fetch"
SAMPLE = 8
ELSEWHERE = """\
The canal took eleven years to dig and joined two rivers that had never met. Barges carried coal down and grain up,
and a family lived in each lock keeper's house. The railway took the coal away within ten years. The water stayed, and
with it the herons. Today people walk on the old towpath, and in winter they skate where the barges waited."""


class Pair(Record, frozen=True, kw_only=True):
    """A question with a right and a wrong answer."""

    id: str
    question: str
    right: str
    wrong: str
    reference: str | None = None


class Silent:
    """A model that gives no reasons, which take as long as the votes (a ``Logits``)."""

    def __init__(self, inner: Logits) -> None:
        self.lane = inner.lane
        self.weights = inner.weights
        self.runtime = inner.runtime
        self.threads = inner.threads
        self._inner = inner

    def read(self, head: Head) -> int | None:
        return self._inner.read(head)

    def next(self, head: Head, said: tuple[str, ...], *, begun: str) -> Next:
        return self._inner.next(head, said, begun=begun)

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        if len(said) > 1:
            return Written(text="", whole=True, tokens_in=0, tokens_out=0)
        return self._inner.write(head, said, most_tokens=most_tokens, temperature=temperature, seed=seed)


def pairs() -> tuple[Pair, ...]:
    lines = (EXAMPLES / "questions.jsonl").read_bytes().splitlines()
    return tuple(msgspec.json.decode(line, type=Pair) for line in lines)


def auc(right: Sequence[float], wrong: Sequence[float]) -> float:
    """The chance that a right answer lies above a wrong one, ties counting half."""
    return sum((one > other) + (one == other) / 2 for one in right for other in wrong) / (len(right) * len(wrong))


def overlap(pair: Pair, answer: str) -> float:
    """The share of the answer's words that the question has."""
    asked, said = (set(re.findall(r"\w+", text.casefold())) for text in (pair.question, answer))
    return len(asked & said) / len(said)


def baseline(measure: Callable[[Pair, str], float]) -> float:
    """What a judge would reach who looks at no more than this."""
    return auc(*([measure(pair, getattr(pair, kind)) for pair in pairs()] for kind in ("right", "wrong")))


def test_neither_length_nor_overlap_gives_the_right_answer_away(
    record_property: Callable[[str, object], None],
) -> None:
    length, words = baseline(lambda _, answer: len(answer)), baseline(overlap)
    print(f"length AUC {length:.3f}, overlap AUC {words:.3f} over {len(pairs())} pairs")  # noqa: T201
    record_property("length_auc", round(length, 3))
    record_property("overlap_auc", round(words, 3))
    assert 0.40 <= length <= 0.60
    assert 0.40 <= words <= 0.60


def everything(config: pytest.Config) -> bool:
    """Whether all is asked for."""
    asked = os.environ.get("DELIBERATE_ALL") == "1" or os.environ.get("DELIBERATE_CHECK") == "all"
    return asked or bool(config.getoption("--all"))


@pytest.fixture(scope="module")
def local(pytestconfig: pytest.Config) -> Local:
    """The real judge."""
    home = weights.default_home(os.environ)
    if weights.find(NAME, home) is None:
        if not everything(pytestconfig):
            pytest.skip(MISSING)
        anyio.run(partial(weights.fetch, NAME, home=home))
    if importlib.util.find_spec("xllamacpp") is None:
        pytest.skip("the extra 'local': pip install deliberate-eval[local]")
    return Local(
        Settings(weights=weights.paths(home), calibration=weights.calibrations(home)),
        load=lambda path, **said: Silent(loaded(path, **said)),
    )


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One is enough: what is tested here is the model, and it is slow."""
    return "asyncio"


async def score(local: Local, request: Request) -> float:
    """The rubric's score, 0–1."""
    said = (await local.complete(request)).effective
    assert said["split"] == "exact"
    return sum(float(said[f"p.{one.name}"]) * one.weight for one in RUBRIC.dimensions)


@pytest.mark.timeout(3600)
async def test_right_answers_score_above_wrong_ones(
    local: Local, request: pytest.FixtureRequest, record_property: Callable[[str, object], None]
) -> None:
    asked = pairs()
    if not everything(request.config):
        record_property("sampled", f"{SAMPLE} of {len(asked)} pairs, the real model asked")
        asked = tuple(random.Random(1).sample(asked, SAMPLE))
    right = [await score(local, about(pair, pair.right)) for pair in asked]
    wrong = [await score(local, about(pair, pair.wrong)) for pair in asked]
    found = auc(right, wrong)
    better = sum(one > other for one, other in zip(right, wrong, strict=True))
    print(f"AUC {found:.3f}, {better} of {len(asked)} pairs in order")  # noqa: T201
    record_property("auc", round(found, 3))
    assert found >= 0.90


def patient(case: Case) -> Request:
    """An ask about a case, with a deadline that a busy machine meets."""
    return msgspec.structs.replace(request_about(case), deadline_seconds=1200.0)


def about(pair: Pair, answer: str) -> Request:
    """An ask about an answer; the reference is not shown."""
    return patient(Case(task=pair.question, output=answer))


@pytest.mark.thorough
@pytest.mark.timeout(3600)
async def test_a_summary_scores_above_one_of_another_article(local: Local) -> None:
    article = EXAMPLES / "article"
    task = f"{(article / 'task.txt').read_text('utf-8')}\n{(article / 'article.md').read_text('utf-8')}"
    outputs = ((article / "summary-good.md").read_text("utf-8"), ELSEWHERE)
    good, elsewhere = [await score(local, patient(Case(task=task, output=output))) for output in outputs]
    assert good > elsewhere


@pytest.mark.timeout(1200)
async def test_log_odds_are_the_same_to_the_last_bit_in_any_order(local: Local) -> None:
    case = Case(task="Name a fruit that is yellow.", output="A banana is yellow when it is ripe.")
    other = about(pairs()[0], pairs()[0].wrong)
    request = patient(case)
    backwards = msgspec.structs.replace(request, questions=request.questions[::-1])
    alone = msgspec.structs.replace(request, questions=request.questions[1:2])
    first = _odds(dict((await local.complete(request)).effective))
    assert _odds(dict((await local.complete(backwards)).effective)) == first
    await local.complete(other)
    assert _odds(dict((await local.complete(backwards)).effective)) == first
    assert _odds(dict((await local.complete(alone)).effective)).items() <= first.items()
    assert len(first) == 3


def _odds(said: dict[str, str]) -> dict[str, str]:
    assert said["split"] == "exact"
    return {name: value for name, value in said.items() if name.startswith("log_odds")}


@pytest.mark.timeout(600)
async def test_attempts_are_drawn_apart_and_each_again_by_its_seed(local: Local) -> None:
    text = Request(
        model=f"local/{NAME}", messages=(Message(role="user", content="Name three animals."),), max_tokens=20
    )

    async def said(seed: int, temperature: float = 1.0) -> str:
        return (await local.complete(msgspec.structs.replace(text, seed=seed, temperature=temperature))).text

    first = [await said(seed) for seed in range(3)]
    assert len(set(first)) > 1
    assert [await said(seed) for seed in (2, 0)] == [first[2], first[0]], "whatever was asked before"
    assert await said(0, 0.0) == await said(1, 0.0)


@pytest.mark.timeout(600)
async def test_what_is_too_long_is_refused_with_both_numbers(local: Local) -> None:
    request = request_about(Case(output="word " * 5000))
    with pytest.raises(Exception, match=r"5\d\d\d tokens long; this judge takes 3776"):
        await local.complete(request)


async def test_the_models_own_template_is_taken_apart(local: Local) -> None:  # noqa: ARG001  skips without weights
    model = loaded(weights.paths(weights.default_home(os.environ))[NAME], weights="", threads=1)
    assert isinstance(model, Llama)
    assert model._template == CHATML  # noqa: SLF001
