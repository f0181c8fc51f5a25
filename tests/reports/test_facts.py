from __future__ import annotations

from deliberate.reports._facts import (
    by_dimension,
    casts,
    last_words,
    panel_parts,
    quorum,
    raised,
    rounds,
    severity_counts,
    voices,
    whole_parts,
)
from deliberate.types import (
    Bracket,
    Evaluation,
    Unscored,
    Verdict,
)
from tests.reports.scripted import (
    HALF_UP,
    UNTESTED,
    absent,
    ballot,
    checked,
    dimensioned,
    finding,
    planned,
    split_panel,
    undecided_panel,
    verdict,
)


def verdict_of(evaluation: Evaluation) -> Verdict:
    assert evaluation.verdict is not None
    return evaluation.verdict


def two_rounds() -> Verdict:
    return verdict(
        ("a", "openai/gpt-x", ballot(70)),
        ("b", "openai/gpt-y", ballot(20)),
        more=[("b", "openai/gpt-y", ballot(60))],
        because="all agree",
    )


def test_every_round_has_its_ballots_and_a_seat_its_last_word() -> None:
    found = two_rounds()
    assert [(cast.round, cast.seat.name) for cast in casts(found)] == [(0, "a"), (0, "b"), (1, "b")]
    assert [(cast.seat.name, cast.round) for cast in last_words(found)] == [("a", 0), ("b", 1)]


def test_a_round_that_was_not_answered_leaves_the_last_word_as_it_was() -> None:
    found = verdict(
        ("a", "openai/gpt-x", ballot(70)),
        ("b", "openai/gpt-y", ballot(20)),
        more=[("b", "openai/gpt-y", None)],
        because="",
        stopped="cancelled",
    )
    assert [(cast.seat.name, cast.round, cast.state) for cast in last_words(found)] == [
        ("a", 0, "voted"),
        ("b", 0, "voted"),
    ]


def test_a_seat_that_was_never_asked_is_there() -> None:
    found = verdict(("a", "openai/gpt-x", ballot(70)), ("b", "openai/gpt-y", ballot(20)))
    unasked = found.__class__(
        **{name: getattr(found, name) for name in found.__struct_fields__} | {"asks": found.asks[:1]}
    )
    assert [(cast.seat.name, cast.round, cast.state, cast.why) for cast in casts(unasked)] == [
        ("a", 0, "voted", ""),
        ("b", None, "unasked", "never asked"),
    ]


def test_rounds_say_how_far_the_votes_agree_and_who_moved() -> None:
    first, second = rounds(two_rounds())
    assert (first.agreement, first.moves, second.agreement) == (0.0, (), None)
    assert [(move.seat, move.before, move.after) for move in second.moves] == [("b", Bracket.POOR, Bracket.GOOD)]


def test_quorum_counts_absent_seats_in() -> None:
    assert quorum(verdict_of(undecided_panel("no_quorum"))) == (2, 1, 3)
    assert quorum(verdict_of(undecided_panel("cancelled"))) == (2, 1, 3)


def test_findings_come_most_severe_first_with_all_who_raised_them() -> None:
    found = raised(split_panel())
    assert [(one.finding.id, one.finding.severity, one.by) for one in found] == [
        ("F2", "blocker", ("gemini-3-5",)),
        ("F1", "important", ("opus-5", "gpt-5-5")),
    ]
    assert severity_counts([HALF_UP, UNTESTED, UNTESTED]) == (("blocker", 1), ("important", 2))


def test_findings_of_a_part_that_is_no_panel_are_raised_by_the_part() -> None:
    lint = finding("suggestion", "style", "Long line")
    plan = planned(("lint", 1, checked(90, "fine", lint)), ("jury", 1, split_panel()))
    assert [one.by for one in raised(plan)] == [("gemini-3-5",), ("opus-5", "gpt-5-5"), ("lint",)]
    assert [one.by for one in raised(checked(90, "fine", lint))] == [()]


def test_parts_of_parts_are_named_by_their_path() -> None:
    inner = planned(("jury", 1, split_panel()), ("off", 0, checked(1, "")))
    skipped = Evaluation(evaluator="script", outcome=Unscored(why="skipped", detail="no such file"))
    plan = planned(("inner", 3, inner), ("tests", 1, checked(100, "")), ("lint", 2, skipped))
    assert [(part.path, part.share) for part in whole_parts(plan)] == [
        ("inner", 0.75),
        ("inner.jury", 1.0),
        ("inner.off", None),
        ("tests", 0.25),
        ("lint", None),
    ]
    assert [panel.path for panel in panel_parts(plan)] == ["inner.jury"]
    assert [panel.path for panel in panel_parts(split_panel())] == [""]


def test_the_winner_speaks_through_its_nearest_vote_and_the_undecided_all_speak() -> None:
    assert [cast.seat.name for cast in voices(verdict_of(split_panel()))] == ["gpt-5-5"]
    assert [cast.seat.name for cast in voices(verdict_of(undecided_panel("tied")))] == ["sceptic", "generalist"]
    assert voices(verdict(("a", "m/x", ballot(70)))) == ()


def test_dimensions_are_a_table_only_where_a_seat_judged_several() -> None:
    assert by_dimension(last_words(verdict_of(split_panel())))["correctness"] == (75.0, 70.0, 30.0)
    assert by_dimension(last_words(verdict_of(undecided_panel("tied")))) == {}
    lost = verdict(("a", "m/x", dimensioned((1, 2, 3, 4), "")), ("b", "m/y", absent("deadline")))
    assert by_dimension(last_words(lost))["safety"] == (2.0, None)
