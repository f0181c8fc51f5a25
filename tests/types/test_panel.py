"""Who judges: families, voters, digests, and seats laid out so that no two of them share a question."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from deliberate.errors import ConfigError
from deliberate.types import Dimension, Judge, Panel, Rubric, Rules, Seat, Spec, family_of, laid_out

RUBRIC = Rubric(
    name="r", body="b", dimensions=(Dimension(name="safety", weight=0.75), Dimension(name="style", weight=0.25))
)
ONE, TWO = Judge(model="openai/gpt-x"), Judge(model="anthropic/claude-x")
PANEL = Panel(
    seats=(
        Seat(name="a", judge=ONE),
        Seat(name="b", judge=TWO),
        Seat(name="v", judge=ONE, duty="verify"),
        Seat(name="c", judge=TWO, duty="chair"),
    )
)


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openai/gpt-4o", "gpt"),
        ("gpt-5.1-mini", "gpt"),
        ("openai/o1", "gpt"),
        ("azure/o3-mini", "gpt"),
        ("openai/chatgpt-4o-latest", "gpt"),
        ("openrouter/openai/gpt-oss-120b", "gpt-oss"),
        ("anthropic/claude-sonnet-4-5", "claude"),
        ("openrouter/anthropic/claude-3.5-haiku", "claude"),
        ("anthropic.claude-v2", "claude"),
        ("gemini/gemini-2.5-pro", "gemini"),
        ("vertex_ai/gemini-x", "gemini"),
        ("ollama/gemma3:27b", "gemma"),
        ("ollama/llama3:8b", "llama"),
        ("hosted_vllm/Meta-Llama-3-8B-Instruct", "llama"),
        ("together_ai/Qwen2.5-72B", "qwen"),
        ("groq/qwq-32b", "qwen"),
        ("mistral/mistral-large", "mistral"),
        ("open-mixtral-8x22b", "mistral"),
        ("mistral/codestral-latest", "mistral"),
        ("deepseek/deepseek-chat", "deepseek"),
        ("cohere/command-r-plus", "command"),
        ("xai/grok-4", "grok"),
        ("local/phi-4", "phi"),
        ("moonshot/kimi-k2", "kimi"),
        ("zai/glm-4.6", "glm"),
        ("amazon_nova-pro", "nova"),
    ],
)
def test_a_models_name_speaks_of_its_family(model: str, family: str) -> None:
    assert family_of(model) == family


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("openrouter/some/unheard-of", "unheard-of"),
        ("local/Tiny-Judge", "tiny-judge"),
        ("o", "o"),
        ("omni-1", "omni-1"),
        ("", ""),
    ],
)
def test_a_name_that_speaks_of_none_is_its_own_family(model: str, family: str) -> None:
    assert family_of(model) == family


@pytest.mark.parametrize("place", ["", "openrouter/", "local/", "openrouter/anthropic/", "hosted_vllm/org/"])
def test_where_a_model_is_served_from_says_nothing(place: str) -> None:
    assert family_of(f"{place}qwen3-32b") == "qwen"


@pytest.mark.parametrize(
    ("model", "family"),
    [
        ("bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0", "claude"),
        ("bedrock/meta.llama3-70b-instruct-v1:0", "llama"),
        ("bedrock/cohere.command-r-v1:0", "command"),
        ("bedrock/eu.amazon.nova-pro-v1:0", "nova"),
    ],
)
def test_a_makers_name_before_a_dot_does_not_hide_the_family(model: str, family: str) -> None:
    assert family_of(model) == family


def test_a_stated_family_counts_before_the_one_the_name_speaks_of() -> None:
    assert Judge(model="openai/gpt-x").kin == "gpt"
    assert Judge(model="azure/our-deployment", family="gpt").kin == "gpt"
    assert Judge(model="openai/gpt-x", family="ours").kin == "ours"


def test_only_seats_that_vote_are_voters() -> None:
    assert [seat.name for seat in PANEL.voters] == ["a", "b"]


def test_a_seat_is_found_by_its_name() -> None:
    assert PANEL.seat("v") is PANEL.seats[2]
    with pytest.raises(KeyError, match="nobody"):
        PANEL.seat("nobody")


@pytest.mark.parametrize("change", [{"name": "board"}, {"rules": Rules(rule="median", quorum="all", independence=2)}])
def test_name_and_rules_leave_the_panels_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(PANEL, **change).digest == PANEL.digest


@pytest.mark.parametrize(
    "change",
    [
        {"seats": PANEL.seats[:2]},
        {"seats": (msgspec.structs.replace(PANEL.seats[0], weight=2.0), *PANEL.seats[1:])},
        {"seats": (msgspec.structs.replace(PANEL.seats[0], judge=Judge(model="m")), *PANEL.seats[1:])},
        {"rubric": None},
        {"criteria": "be brief"},
        {"form": "score"},
        {"protocol": Spec(type="independent", params={"a": 1})},
        {"spend": "enough"},
        {"seed": 1},
    ],
)
def test_everything_else_changes_the_panels_digest(change: dict[str, object]) -> None:
    assert msgspec.structs.replace(PANEL, **change).digest != PANEL.digest


def test_three_seats_of_one_judge_are_numbered_in_seat_order() -> None:
    panel = laid_out(Panel(seats=tuple(Seat(name=name, judge=ONE) for name in "xyz")), None)
    assert [(seat.name, seat.sample) for seat in panel.seats] == [("x", 0), ("y", 1), ("z", 2)]


def test_different_judges_are_not_numbered() -> None:
    other = msgspec.structs.replace(ONE, persona="strict")
    panel = laid_out(Panel(seats=(Seat(name="x", judge=ONE), Seat(name="y", judge=other))), None)
    assert [seat.sample for seat in panel.seats] == [0, 0]


def test_a_seat_a_dimension_is_laid_out_over_the_rubric() -> None:
    each = Seat(name="each", judge=ONE, weight=2.0, each="dimension", stage=1)
    panel = laid_out(Panel(seats=(each, Seat(name="whole", judge=ONE)), name="board"), RUBRIC)
    assert panel.name == "board"
    assert [(s.name, s.weight, s.dimensions, s.sample, s.stage, s.each) for s in panel.seats] == [
        ("safety", 1.5, ("safety",), 0, 1, ""),
        ("style", 0.5, ("style",), 0, 1, ""),
        ("whole", 1.0, (), 0, 0, ""),
    ]


@pytest.mark.parametrize("rubric", [None, Rubric(name="r", body="b")])
def test_without_dimensions_such_a_seat_stays_one_seat(rubric: Rubric | None) -> None:
    panel = laid_out(Panel(seats=(Seat(name="each", judge=ONE, each="dimension"),)), rubric)
    assert panel.seats == (Seat(name="each", judge=ONE),)


def test_two_judges_a_dimension_keep_their_names_apart() -> None:
    two = tuple(Seat(name=name, judge=judge, each="dimension") for name, judge in (("one", ONE), ("two", TWO)))
    names = [seat.name for seat in laid_out(Panel(seats=two), RUBRIC).seats]
    assert len(names) == 4
    assert len(set(names)) == 4, "two seats of one name would be asked as one and counted twice"


SEATS = st.lists(
    st.builds(
        Seat,
        name=st.just("s"),
        judge=st.sampled_from([ONE, TWO, Judge(model="local/m", temperature=None), Judge(model="maria", human=True)]),
        sample=st.integers(0, 3),
        duty=st.sampled_from(["vote", "verify", "chair"]),
        dimensions=st.sampled_from([(), ("safety",), ("style",)]),
        each=st.sampled_from(["", "dimension"]),
        weight=st.sampled_from([0.5, 1.0, 2.0]),
    ),
    min_size=1,
    max_size=6,
).map(lambda seats: tuple(msgspec.structs.replace(seat, name=f"s{at}") for at, seat in enumerate(seats)))


@given(SEATS.map(lambda seats: tuple(msgspec.structs.replace(seat, sample=0) for seat in seats)))
def test_no_two_seats_of_one_judge_ever_share_a_sample(seats: tuple[Seat, ...]) -> None:
    shares = [(seat.judge, seat.dimensions, seat.sample) for seat in laid_out(Panel(seats=seats), RUBRIC).seats]
    assert len(set(shares)) == len(shares)


@given(SEATS)
def test_no_two_seats_share_a_sample_even_where_some_were_numbered_by_hand(seats: tuple[Seat, ...]) -> None:
    shares = [(seat.judge, seat.dimensions, seat.sample) for seat in laid_out(Panel(seats=seats), RUBRIC).seats]
    assert len(set(shares)) == len(shares)


@given(SEATS)
def test_a_panel_laid_out_stays_as_it_is(seats: tuple[Seat, ...]) -> None:
    once = laid_out(Panel(seats=seats), RUBRIC)
    assert laid_out(once, RUBRIC) == once
    assert not any(seat.each for seat in once.seats)


# --- Panel.of --------------------------------------------------------------------------------------


def test_a_panel_of_models_has_a_seat_each_named_after_its_model() -> None:
    panel = Panel.of("openai/gpt-4.1", "openrouter/anthropic/claude-x", "local/gpt-4.1", Judge(model="x/???"))
    assert [(seat.name, seat.judge.model) for seat in panel.seats] == [
        ("gpt-4-1", "openai/gpt-4.1"),
        ("claude-x", "openrouter/anthropic/claude-x"),
        ("gpt-4-1-2", "local/gpt-4.1"),
        ("judge", "x/???"),
    ]


def test_whole_seats_and_judges_are_taken_as_they_are() -> None:
    strict, seat = Judge(model="openai/gpt-x", persona="strict"), Seat(name="boss", judge=TWO, duty="chair")
    assert Panel.of(strict, seat).seats == (Seat(name="gpt-x", judge=strict), seat)


def test_a_panel_of_nobody_is_an_error() -> None:
    with pytest.raises(ConfigError, match="a panel needs at least one model") as caught:
        Panel.of()
    assert caught.value.where == "models"


def test_two_seats_of_one_name_are_an_error() -> None:
    with pytest.raises(ConfigError, match="two seats are called 'boss'") as caught:
        Panel.of(Seat(name="boss", judge=ONE), "openai/gpt-x", Seat(name="boss", judge=TWO))
    assert caught.value.where == "models"


def test_a_panel_of_models_has_the_defaults_of_any_panel() -> None:
    assert Panel.of("openai/gpt-x") == Panel(seats=(Seat(name="gpt-x", judge=ONE),))


def test_criteria_take_the_place_of_a_rubric() -> None:
    panel = Panel.of("openai/gpt-x", rubric="code-review", criteria="be brief")
    assert (panel.rubric, panel.criteria) == (None, "be brief")
    assert Panel.of("openai/gpt-x", rubric="code-review").rubric == "code-review"


def test_more_than_one_round_deliberates() -> None:
    panel = Panel.of("openai/gpt-x", rounds=3)
    assert panel.protocol == Spec(type="rounds", params={"rounds": 3})


def test_rules_spending_and_seed_are_handed_on() -> None:
    rules = Rules(rule="median")
    panel = Panel.of("openai/gpt-x", rules=rules, spend="enough", seed=7)
    assert (panel.rules, panel.spend, panel.seed) == (rules, "enough", 7)


NAMED = st.sampled_from(["m/gpt", "n/gpt", "m/gpt-2", "m/gpt.2", "m/gpt-2-2"])


@given(st.lists(NAMED | st.just(Seat(name="gpt", judge=ONE)), min_size=1, max_size=5))
def test_no_two_seats_of_a_panel_share_a_name(models: list[str | Seat]) -> None:
    given_names = [model.name for model in models if isinstance(model, Seat)]
    assume(len(set(given_names)) == len(given_names))
    names = [seat.name for seat in Panel.of(*models).seats]
    assert len(set(names)) == len(names)
