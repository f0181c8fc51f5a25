"""A judge that changes is seen, with the version that came in; one that does not is left alone."""

from __future__ import annotations

from random import Random

import pytest

from deliberate.errors import ConfigError
from deliberate.studies.drift import Scored, drift


def stream(*rights: float, each: int = 200, seed: int = 0) -> list[Scored]:
    """Versions v1, v2, … that are right so often."""
    chance = Random(seed)
    return [
        Scored(f"day {number * each + at}", f"v{number + 1}", float(chance.random() < right))
        for number, right in enumerate(rights)
        for at in range(each)
    ]


def test_the_version_that_came_in_is_named_with_when_it_was_seen() -> None:
    found = drift(stream(0.85, 0.6), promised=0.85)
    assert found.changed == ("v2 (day 200)",)
    assert found.segments[1].alarm_after is not None
    assert found.segments[1].alarm_after < 150
    assert "v2 came in on day 200: right" in found.lines[0]
    assert "false with probability 0.05 at most" in found.lines[-1]


def test_false_alarms_are_no_more_than_stated_however_long_one_looks() -> None:
    runs = 300
    alarms = sum(bool(drift(stream(0.8, 0.8, each=250, seed=at), promised=0.85).changed) for at in range(runs))
    assert alarms / runs <= 0.05


def test_a_judge_that_gets_better_is_no_alarm() -> None:
    found = drift(stream(0.85, 0.99), promised=0.85)
    assert found.changed == ()
    assert found.lines[0].startswith("no change: right 85% as promised")


def test_wealth_is_never_lost_altogether() -> None:
    found = drift([Scored("d", "v", 0.0)] * 3 + [Scored("d", "v", 1.0)] * 500, promised=0.9)
    assert found.segments[0].wealth > 1


@pytest.mark.parametrize(
    ("scored", "promised", "message"),
    [
        ([], 0.9, "no anchors were scored"),
        ([Scored("monday", "v", 1.5)], 0.9, "anchor of monday: right 1.5"),
        ([Scored("monday", "v", 1.0)], 0.03, "between 0 and 1"),
    ],
    ids=["nothing", "right", "promised"],
)
def test_what_it_cannot_take_is_named(scored: list[Scored], promised: float, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        drift(scored, promised=promised)
