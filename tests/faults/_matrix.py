"""What every row of the fault matrix does: a run of many cases against the endpoint, held against the invariants.

Which test is which row; ``*`` marks those of which the default run takes a sample and ``make test-all`` everything.

=== =========================================== =======================================================================
F1  one fault at every first attempt            test_matrix::test_each_fault_alone_ends_as_its_class_says *
F2  three of ten attempts fail, 20 seeds        test_matrix::test_a_random_mix_at_three_of_ten_attempts_changes_no_byte *
F3  one judge dead                              test_matrix::test_one_judge_dead_for_good_leaves_the_others_a_quorum_and_is_left_alone *
F4  three judges dead, then repaired            test_matrix::test_three_judges_dead_decide_nothing_and_after_repair_the_bytes_are_those_without_fault *
F4  the same, as a command                      test_run::test_three_judges_dead_exit_4_and_after_repair_the_bytes_are_those_without_fault
F5  ugly replies                                test_ugly::test_each_ugly_reply_is_unread_or_a_vote_and_the_others_decide
F6  killed at each named point                  test_kills::test_killed_at_a_named_point_it_goes_on_to_the_same_bytes *
F6  killed 335 times, 201 at random             test_kills::test_killed_again_and_again_it_ends_with_the_same_bytes *
F7  SIGINT once, twice, SIGTERM                 ../cli/test_run::test_interrupted_it_ends_cleanly_and_says_how_to_go_on
F8  no room at the n-th page                    test_nth::test_whatever_page_finds_no_room_nothing_given_out_is_lost_and_it_goes_on *
F8  the n-th statement, fsync, rename           test_nth::test_whatever_operation_fails_nothing_given_out_is_lost_and_it_goes_on *
F8  the n-th request                            test_nth::test_whatever_request_fails_it_is_asked_again_now_or_when_it_goes_on *
F9  EIO                                         test_nth::test_whatever_operation_fails_nothing_given_out_is_lost_and_it_goes_on *
F10 log damaged, tail removed, row edited       ../ledger/test_audit::test_a_damaged_log_loses_records_without_a_word_and_the_anchor_tells
F10 anchor removed, another's, damaged          ../ledger/test_audit::test_the_anchor_of_another_ledger_is_refused
F11 the clock is set back                       test_matrix::test_a_clock_that_is_set_back_moves_no_byte_and_no_deadline
F12 two processes, one run                      test_run::test_a_second_process_refuses_and_names_the_first_and_takes_over_when_that_is_gone
F13 an older ledger, a newer one                ../ledger/test_schema::test_an_older_ledger_is_migrated_and_a_copy_is_kept
F14 a folder that cannot be written, or locked  ../ledger/test_errors::test_a_folder_that_cannot_be_written_can_be_read_and_is_refused_to_writers
F15 cancelled by whoever embeds it              test_cancel::test_cancelling_at_any_moment_leaves_nothing_running_and_a_sound_ledger *
F16 programs that will not end                  ../sandbox/test_tiers::test_many_that_left_their_group_are_swept_at_the_deadline
F17 changed between kill and resume             ../cli/test_run::test_what_changed_is_named_and_never_mixed
F18 few files to open                           test_run::test_with_few_files_to_open_it_completes
F18 one worker thread                           test_run::test_with_one_worker_thread_it_completes
F19 a million records                           test_nth::test_a_ledger_of_a_million_records_opens_in_seconds_and_reads_no_bodies *
F20 stopped for 30 s                            test_run::test_stopped_for_a_while_it_goes_on_where_it_was *
=== =========================================== =======================================================================

The invariants: I1, I2 and I4 are ``check``; I3 and I5 are asserted by each row; I6 by the row of 2 000 cases, I7 by
time limits, I8 by test_run::test_a_planted_key_is_in_nothing_it_leaves_and_nothing_is_left_elsewhere and the driver's
look at all that tests wrote, I9 by test_run::test_memory_has_its_bound_however_many_cases_there_are, I10 by exit codes.
"""  # noqa: E501  names of tests are not broken

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from deliberate import Case, Panel, Session
from deliberate.ledger import verify
from deliberate.library import Library
from deliberate.testing.endpoint import FAULTS, Endpoint, Script
from deliberate.types import Absent, Ballot, Decided, Evaluation, Undecided

MODELS = ("seeded-a", "seeded-b", "seeded-c", "seeded-d", "seeded-e")

LASTING = frozenset({"content_filter", "filtered_prompt", "refusal", "length", "prose", "null_content", "tool_call"})
"""Faults that are the judge's own word if they go on: no retry turns them into a vote."""

NEVER = frozenset({"bad_request", "bad_key", "encoded", "forbidden", "no_such_model", "quota", "redirect"})
"""Faults that no retry can help."""

OTHER_WORDS = frozenset({"surrogate", "no_response_format"})
"""Faults that leave a vote, in other words."""

PASSING = tuple(name for name in FAULTS if name not in LASTING | NEVER | OTHER_WORDS | {"silent", "drip", "huge"})
"""Faults after which the same ask is answered."""


class Seen(NamedTuple):
    """What a run gave: evaluations by case, and what the endpoint saw."""

    evaluations: Mapping[str, Evaluation]
    requests: int
    faults: int
    most_in_flight: int

    @property
    def digests(self) -> dict[str, str]:
        """The decision digest of each case."""
        return {name: one.verdict.digest for name, one in self.evaluations.items() if one.verdict is not None}

    @property
    def votes(self) -> int:
        """Ballots that came."""
        return sum(isinstance(reply, Ballot) for reply in self.replies)

    @property
    def replies(self) -> Iterator[object]:
        """Every seat's reply."""
        for one in self.evaluations.values():
            assert one.verdict is not None
            yield from (answer.reply for answer in one.verdict.answers.values())


def cases(number: int) -> Iterator[Case]:
    """So many cases."""
    return (Case(id=f"q{at}", output=f"{at + at}", task=f"What is {at} + {at}?") for at in range(number))


def panel(models: Iterable[str] = MODELS) -> Panel:
    """Five judges of the endpoint."""
    return Panel.of(*(f"ollama/{model}" for model in models), rubric=None, criteria="Is it right?")


async def judged(
    number: int,
    endpoint: Endpoint,
    place: Path,
    *,
    models: Iterable[str] = MODELS,
    **options: Any,  # noqa: ANN401  those of a session
) -> Seen:
    """The cases of a run, judged to the end."""
    before = endpoint.stats
    library = Library(home=place.parent / "home", workspace=place.parent)
    evaluations: dict[str, Evaluation] = {}
    async with (
        Session(
            ledger=place, library=library, env={}, api_base={"ollama": endpoint.address}, source="matrix", **options
        ) as session,
        session.stream(cases(number), panel(models)) as stream,
    ):
        async for case, evaluation in stream:
            evaluations[case.id] = evaluation
    after = endpoint.stats
    return Seen(evaluations, after.requests - before.requests, after.faults - before.faults, after.most_in_flight)


def failing(script: Script, *, attempts: int) -> Script:
    """The script, for the first attempts at an ask only."""
    return lambda call: script(call) if call.attempt <= attempts else None


def dead(models: set[str]) -> Script:
    """Some models that are not there."""
    return lambda call: "no_such_model" if call.body.get("model") in models else None


def on_first(name: str) -> Script:
    """A fault at every first attempt."""
    return lambda call: name if call.attempt == 1 else None


async def check(seen: Seen, ledger: Path, *, cases: int, seats: int = len(MODELS)) -> None:
    """I1, I2, I4, I8 and that the record is whole, whatever happened."""
    assert (await verify(ledger)).sound
    assert len(seen.evaluations) == cases
    with closing(sqlite3.connect(ledger)) as connection:
        bodies = [
            msgspec.json.decode(body) for (body,) in connection.execute("SELECT body FROM step WHERE kind = 'Answer'")
        ]
        replies: dict[str, list[str]] = {}
        for key, reply in connection.execute("SELECT key, reply FROM attempt ORDER BY id"):
            replies.setdefault(key, []).append(reply)
        (twice,) = connection.execute("SELECT count(*) - count(DISTINCT run || path) FROM run_step").fetchone()
    # I1: one terminal record a key; I2: a vote's words are in one reply that came for its key.
    keys = Counter(body["key"] for body in bodies)
    assert twice == 0
    assert set(keys.values()) <= {1}
    for body in bodies:
        if body["reply"]["type"] == "Ballot" and body["reply"].get("reason"):
            assert any(body["reply"]["reason"][:20] in reply for reply in replies[body["key"]])
    # I4: decided only with a quorum, and what did not come is no number.
    for one in seen.evaluations.values():
        assert one.verdict is not None
        valid = sum(isinstance(answer.reply, Ballot) for answer in one.verdict.answers.values())
        if valid > seats // 2:
            assert isinstance(one.verdict.decision, Decided)
            assert one.score is not None
        else:
            assert isinstance(one.verdict.decision, Undecided)
            assert one.score is None
    assert all(isinstance(reply, (Ballot, Absent)) for reply in seen.replies)
