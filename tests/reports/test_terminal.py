from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Callable
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import external_file
from rich.cells import cell_len
from rich.console import Console

from deliberate.gates import Required, result_of
from deliberate.judging._fence import visible
from deliberate.reports import Imprint, ReadBack, agreement_matrix, show
from deliberate.types import Bracket, Evaluation, Gate, Rules, Scored, UndecidedWhy, Unscored
from tests.reports.hostile import PAYLOADS, hostile
from tests.reports.scripted import (
    HALF_UP,
    absent,
    ballot,
    broken,
    checked,
    dimensioned,
    evaluated,
    planned,
    split_panel,
    undecided_panel,
    verdict,
    with_others,
)

HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
UNDECIDED: tuple[UndecidedWhy, ...] = (
    "tied",
    "no_quorum",
    "not_independent",
    "waiting",
    "budget",
    "deadline",
    "cancelled",
)


def console(width: int, *, encoding: str = "utf-8", **more: object) -> tuple[Console, io.BytesIO]:
    """A console of that width that is no terminal, and what it writes to."""
    data = io.BytesIO()
    file = io.TextIOWrapper(data, encoding=encoding, write_through=True)
    return Console(width=width, file=file, _environ={}, **more), data  # type: ignore[arg-type]


def printed(
    *evaluations: Evaluation, width: int = 80, imprint: Imprint | None = None, title: str = "", encoding: str = "utf-8"
) -> str:
    """What is printed of them."""
    screen, data = console(width, encoding=encoding)
    for one in evaluations:
        show(screen, one, imprint=imprint, title=title)
    return data.getvalue().decode(encoding)


def imprint_of(evaluation: Evaluation, required: Required | None = None) -> Imprint:
    """An imprint with everything in it."""
    back = ReadBack(votes=3, of=3, oldest="2026-11-02T09:30:00.000Z")
    return Imprint(run="7F3K", result=result_of(evaluation, required or Required()), read_back=back)


def a_plan() -> Evaluation:
    """A script, a single judge, a panel, and a part that broke."""
    return planned(
        ("tests", 3, checked(100, "all 12 checks hold")),
        ("judge", 1, evaluated(verdict(("judge", "openai/gpt-x", ballot(70, "Good enough."))))),
        ("jury", 2, split_panel()),
        ("lint", 1, broken("'ruff check' ended with exit code 2: no such file")),
        gates=[Gate(part="tests", min_score=100, effect="cap", cap=50)],
        on_missing="exclude",
    )


def one_model() -> Evaluation:
    """Three seats of one local model, uncalibrated, over two rounds."""
    name = "local/qwen2.5-coder-1.5b"
    return evaluated(
        verdict(
            ("correctness", name, ballot(70, "Likely yes.")),
            ("safety", name, ballot(71, "Likely yes.")),
            ("style", name, ballot(20, "Likely no.", flags=("quote_not_found",))),
            more=[("style", name, ballot(60, "Rather yes."))],
            because="all seats agree",
            effective={"calibration": "none"},
        )
    )


def squeezed(text: str) -> str:
    """Without white space: what wrapping may not change."""
    return "".join(text.split())


# --- as it looks -----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_split_panel(width: int) -> None:
    evaluation = split_panel()
    text = printed(
        evaluation, width=width, imprint=imprint_of(evaluation, Required(min_score=70, max_blockers=0)), title="refund"
    )
    assert text == external_file(f"data/split-{width}.txt", format=".txt")


@pytest.mark.parametrize("width", [80, 100, 160])
def test_a_plan(width: int) -> None:
    assert printed(a_plan(), width=width, imprint=imprint_of(a_plan())) == external_file(
        f"data/plan-{width}.txt", format=".txt"
    )


def test_seats_of_one_model_over_two_rounds() -> None:
    assert printed(one_model()) == external_file("data/one-model-80.txt", format=".txt")


@pytest.mark.parametrize("why", UNDECIDED)
def test_an_undecided_panel(why: UndecidedWhy) -> None:
    evaluation = undecided_panel(why)
    assert printed(evaluation, imprint=Imprint(run="7F3K", result=result_of(evaluation, Required()))) == external_file(
        f"data/{why}-80.txt", format=".txt"
    )


def test_plain_letters_where_the_terminal_knows_no_others() -> None:
    text = printed(split_panel(), one_model(), encoding="ascii")
    assert text == external_file("data/plain-80.txt", format=".txt")


def test_judge_by_judge() -> None:
    screen, data = console(80)
    other = evaluated(verdict(("opus-5", "anthropic/claude-opus-5", ballot(40)), ("extra", "m/x", ballot(90))))
    agreement_matrix(screen, [split_panel()])
    agreement_matrix(screen, [split_panel(), other])
    agreement_matrix(screen, [checked(80, "fine")])
    assert data.getvalue().decode() == external_file("data/judges-80.txt", format=".txt")


def test_two_judges_of_one_seat_name_show_their_models() -> None:
    screen, data = console(80)
    agreement_matrix(
        screen,
        [
            evaluated(verdict(("judge", "m/x", ballot(40)))),
            evaluated(verdict(("judge", "m/y", ballot(40)))),
        ],
    )
    assert "1 judge (m/x)" in data.getvalue().decode()
    assert "agreement" not in data.getvalue().decode()


# --- nothing is cut off ----------------------------------------------------------------------------


MADE: dict[str, Callable[[], Evaluation]] = {
    "split": split_panel,
    "plan": a_plan,
    "one-model": one_model,
    **{why: partial(undecided_panel, why) for why in UNDECIDED},
}


@pytest.mark.parametrize("width", [40, 60, 80, 100, 160])
@pytest.mark.parametrize("name", MADE)
def test_no_line_is_too_long_and_no_word_is_lost(width: int, name: str) -> None:
    evaluation = MADE[name]()
    text = printed(evaluation, width=width, imprint=imprint_of(evaluation))
    assert max(cell_len(line) for line in text.splitlines()) <= width
    assert not [line for line in text.splitlines() if line != line.rstrip()]
    assert "…" not in text
    wide = printed(evaluation, width=1000, imprint=imprint_of(evaluation))
    words = {squeezed(word) for word in re.findall(r"[\w.$/:'-]+", wide)}
    assert not [word for word in words if word not in squeezed(text)]


def test_a_name_wider_than_the_terminal_is_folded() -> None:
    name = "seat-" + "x" * 90
    text = printed(evaluated(verdict((name, "m/" + "q" * 90, ballot(70, "z" * 200)))), width=60)
    assert max(len(line) for line in text.splitlines()) <= 60
    assert text.count("x") >= 90
    assert text.count("q") >= 90
    assert text.count("z") >= 200


def test_many_dimensions_become_several_tables() -> None:
    text = printed(split_panel(), width=50)
    assert text.count("\nseat") == 3 or text.count("seat ") >= 3
    for dimension in ("correctness", "safety", "style", "completeness"):
        assert dimension in text


# --- as each terminal likes it ---------------------------------------------------------------------


def colored(environ: dict[str, str], evaluation: Evaluation) -> str:
    file = io.StringIO()
    show(Console(width=80, file=file, force_terminal=True, _environ=environ), evaluation)
    return file.getvalue()


def test_a_terminal_gets_colors_and_the_words_all_the_same() -> None:
    text = colored({"TERM": "xterm-256color"}, split_panel())
    assert "\x1b[" in text
    assert "■■■□ Good" in text
    assert "BLOCKER" in text


def test_no_color_is_respected() -> None:
    text = colored({"TERM": "xterm-256color", "NO_COLOR": "1"}, split_panel())
    assert not re.search(r"\x1b\[[\d;]*3\d", text)
    assert "■■■□ Good" in text


def test_a_dumb_terminal_gets_plain_text() -> None:
    text = colored({"TERM": "dumb"}, split_panel())
    assert "\x1b" not in text
    assert "###. Good" in text


def test_a_terminal_that_cannot_say_a_letter_shows_its_escape() -> None:
    evaluation = evaluated(verdict(("a", "m/x", ballot(70, "naïve 日本"))))
    assert '"na\\xefve \\u65e5\\u672c"' in printed(evaluation, encoding="ascii")
    assert "naïve" in printed(evaluation, encoding="latin-1")


# --- what it says ----------------------------------------------------------------------------------


def test_a_dissenter_speaks_in_its_own_words_and_names_its_findings() -> None:
    text = printed(split_panel())
    assert 'DISSENT     gemini-3-5 (Fair, 48): "Negative totals round away' in text
    assert "raises F2" in text
    silent = evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(71)), ("c", "m/z", ballot(20))))
    assert "DISSENT     c (Poor, 20)\n" in printed(silent)


def test_every_flag_is_a_note() -> None:
    text = printed(one_model())
    assert "its seats share one model: opinions are not independent" in text
    assert "(local/qwen2.5-coder-1.5b)" in squeezed(text)
    assert "uncalibrated: use for ranking" in text
    assert "a judge quotes words that are not in the output" in text
    mixed = planned(("one", 1, one_model()), ("two", 1, split_panel()))
    assert "its seats share one model: opinions are not independent\n" in printed(mixed, width=120)


def test_output_that_nobody_was_asked_about() -> None:
    evaluation = Evaluation(
        evaluator="deliberation",
        outcome=Scored(score=0.0, raw=0.0),
        reason="Poor without a call: the output holds no letter and no digit",
        flags=("degenerate",),
    )
    text = printed(evaluation)
    assert "SCORE       ■□□□ Poor  0/100 (0.00)" in text
    assert "no calls" in text
    assert "decided without asking anybody" in squeezed_lines(text)


def test_a_chair_and_verifiers_are_heard() -> None:
    text = printed(evaluated(with_others()), width=120)
    assert "HEARD       verifier checker: confirms 0 findings, refutes 1 finding\n" in text
    assert 'HEARD       chair head: Good, 70: "The test decides it."' in text
    assert "STOPPED     1 of 2 findings were refuted" in text
    assert "refuted: it does not count" in text


def test_a_tie_settled_by_policy_is_told() -> None:
    text = printed(evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(20)), ("c", "m/z", ballot(90)))))
    assert "contested" in text
    assert "tied between Poor, Good and Excellent, settled by policy" in squeezed_lines(text)


def squeezed_lines(text: str) -> str:
    return " ".join(text.split())


def test_seats_left_out_are_told() -> None:
    evaluation = evaluated(
        verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(70)), ("c", "m/z", absent("not_needed", "not needed")))
    )
    assert "shortened: the rest could not change the bracket" in squeezed_lines(printed(evaluation))


def test_a_plan_without_a_score_says_why() -> None:
    text = printed(planned(("lint", 1, broken("no such file")), ("jury", 1, split_panel())))
    assert "NO SCORE    failed: lint: no such file" in text
    assert "MISSING     lint (coverage 0.50)" in text
    bare = Evaluation(evaluator="script", outcome=Unscored(why="abstained", detail=""))
    assert "NO SCORE    abstained\n" in printed(bare)


def test_a_lost_gate_says_what_it_did() -> None:
    plan = planned(("tests", 1, checked(40, "")), gates=[Gate(part="tests", min_bracket=Bracket.GOOD)])
    assert "GATE        tests: at least Good: lost (veto: the whole is 0)" in printed(plan)


def test_a_carried_score_is_called_so() -> None:
    carried = Evaluation(evaluator="script", outcome=Scored(score=60.0, raw=60.0, origin="carried"), reason="as before")
    assert "as before · carried" in printed(carried)


def test_a_round_in_which_nobody_voted() -> None:
    lost = absent("deadline", "no reply within 120 s")
    evaluation = evaluated(
        verdict(
            ("a", "m/x", ballot(70)),
            ("b", "m/y", ballot(20)),
            more=[("a", "m/x", lost), ("b", "m/y", lost)],
            rules=Rules(quorum=1),
        )
    )
    assert "ROUND 2     no votes" in printed(evaluation)
    cut = verdict(
        ("a", "m/x", ballot(70)),
        ("b", "m/y", ballot(20)),
        more=[("a", "m/x", None)],
        because="",
        stopped="deadline",
    )
    assert "STOPPED" not in printed(evaluated(cut))


def test_a_run_without_a_result_still_says_how_to_come_back() -> None:
    text = printed(checked(80, "fine"), imprint=Imprint(run="7F3K"))
    assert text.endswith("RESULT      run 7F3K · deliberate show 7F3K\n")
    assert "RESULT" not in printed(checked(80, "fine"))


# --- hostile text ----------------------------------------------------------------------------------


@pytest.mark.parametrize("width", [60, 80, 160])
def test_hostile_text_leaves_as_text(width: int) -> None:
    case, evaluation, imprint = hostile()
    text = printed(evaluation, width=width, imprint=imprint, title=case.id)
    assert {sign for sign in text if unicodedata.category(sign) in HIDDEN} == {"\n"}
    assert "⟨U+001B⟩[31mred" in squeezed(text)
    assert "[bold]loud[/bold]" in squeezed(text)
    assert ":boom:" in text
    assert "<script>document.title='owned'</script>" in squeezed(text)
    assert max(cell_len(line) for line in text.splitlines()) <= width


@pytest.mark.parametrize("width", [44, 60, 80, 160])
def test_hostile_text_gives_no_orders_to_a_ci_log(width: int) -> None:
    case, evaluation, imprint = hostile()
    for line in printed(evaluation, width=width, imprint=imprint, title=case.id).splitlines():
        assert not re.match(r"\s*::.*::", line)
        assert "##[" not in line


def test_a_long_word_cannot_bring_an_order_to_the_head_of_a_line() -> None:
    for at in range(40, 70):
        for line in printed(
            evaluated(verdict(("a", "m/x", ballot(70, "x" * at + "::error::boom")))), width=60
        ).splitlines():
            assert not re.match(r"\s*::.*::", line)


def test_ordinary_colons_stay_as_they_are() -> None:
    words = "std::vector::push, log::error!(), a::b, ::std::move, ::error::"
    assert words in printed(evaluated(verdict(("a", "m/x", ballot(70, words)))), width=160)


def test_no_second_line_of_a_name_passes_for_ours() -> None:
    name = "two\nRESULT      ok (every gate held)"
    evaluation = evaluated(verdict((name, "m/x\nVERDICT", ballot(70, "\nRESULT      ok"))))
    text = printed(planned((name, 1, evaluation)), width=120, title=name)
    assert not re.findall(r"(?m)^(RESULT|VERDICT\n)", text)


@given(
    text=st.lists(st.one_of(st.text(), st.sampled_from(PAYLOADS)), max_size=3).map(" ".join),
    width=st.integers(min_value=44, max_value=120),
)
def test_any_text_is_harmless_and_whole(text: str, width: int) -> None:
    loud = HALF_UP.__class__(
        id="F1", key="k", severity="blocker", dimension="d", title=text, description=text, quote=text, fix=text
    )
    found = printed(evaluated(verdict(("a", "m/x", ballot(70, text, loud)))), width=width)
    assert {sign for sign in found if unicodedata.category(sign) in HIDDEN} <= {"\n"}
    assert max(cell_len(line) for line in found.splitlines()) <= width
    if "::" not in text and "##[" not in text:
        assert squeezed(visible(text)) in squeezed(found)


def test_findings_say_all_they_have() -> None:
    text = squeezed_lines(printed(split_panel()))
    for words in (
        HALF_UP.title,
        HALF_UP.description,
        f'"{HALF_UP.quote}"',
        f"fix: {HALF_UP.fix}",
        "raised by gemini-3-5",
    ):
        assert words in text


def test_a_quote_that_is_not_there_is_marked() -> None:
    lost = HALF_UP.__class__(
        id="F1", key="k", severity="important", dimension="", title="t", quote="gone", flags=("quote_not_found",)
    )
    text = printed(evaluated(verdict(("a", "m/x", dimensioned((70, 70, 70, 70), "", lost)))))
    assert '"gone" (these words are not in the output)' in text
