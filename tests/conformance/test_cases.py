"""Every case of the four systems that what we have can run; what waits for a later step is skipped by its name."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from random import Random

import anyio
import pytest

from deliberate.errors import DeliberateError
from tests.conformance import _adapters, _improvement, _kapso, _model, _openkoi, _process
from tests.conformance._adapters import LATER, Adapter
from tests.conformance._cases import CASES, Case, Missing, Observed, changed, mismatches

ADAPTERS: Mapping[str, Adapter] = {
    name: adapter
    for module in (_adapters, _improvement, _kapso, _model, _openkoi, _process)
    for name, adapter in module.ADAPTERS.items()
}

KNOWN: Mapping[str, str] = {}
"""Cases that fail because what they need belongs to a later step; one that passes must leave this list."""


@cache
def observed(name: str) -> Observed:
    """What an adapter saw of a case.

    Raises:
        Missing: It needs what we have not got.
    """
    case = CASES[name]
    if case.kind not in ADAPTERS:
        raise Missing(LATER.get(case.kind, f"an adapter for {case.kind}"))
    adapter = ADAPTERS[case.kind]
    with tempfile.TemporaryDirectory() as folder:
        try:
            return anyio.run(adapter, case.input, Path(folder))
        except DeliberateError as error:
            return {"error": f"{type(error).__name__}: {error}"}


def wrong(case: Case) -> list[str]:
    """What of a case does not hold."""
    return mismatches(case, observed(case.id), other=observed)


@pytest.mark.parametrize("name", CASES)
def test_case(name: str) -> None:
    case = CASES[name]
    try:
        found = wrong(case)
    except Missing as missing:
        pytest.skip(f"waits for {missing}")
    if name in KNOWN:
        assert found, "it holds: take it out of KNOWN"
        pytest.skip(f"waits for {KNOWN[name]}")
    assert not found, f"{case.title} ({case.level})"


def tried() -> dict[str, list[str] | None]:
    """By the id of each case, what does not hold; None where we have not got what it needs."""
    found: dict[str, list[str] | None] = {}
    for case in CASES.values():
        try:
            found[case.id] = wrong(case)
        except Missing:
            found[case.id] = None
    return found


def test_how_many_cases_hold(record_property: Callable[[str, object], None]) -> None:
    found = tried()
    told: list[str] = []
    for level in ("must", "should"):
        names = [case.id for case in CASES.values() if case.level == level]
        held = sum(found[name] == [] for name in names)
        run = sum(found[name] is not None for name in names)
        told.append(f"{level}: {held} of {run} that can be run hold, of {len(names)} in all")
    waiting: Counter[str] = Counter()
    for name, one in found.items():
        if one is None:
            with pytest.raises(Missing) as missing:
                wrong(CASES[name])
            waiting[str(missing.value)] += 1
    told.append("the rest wait for " + ", ".join(f"{name} ({count})" for name, count in waiting.most_common()))
    record_property("sampled", "; ".join(told))
    assert sum(one is not None for one in found.values()) >= 50


@pytest.mark.parametrize("seed", range(20))
def test_when_one_expectation_in_ten_is_changed_exactly_those_cases_fail(seed: int) -> None:
    chance = Random(seed)
    found = tried()
    cases = {name: CASES[name] for name, one in found.items() if one == []}
    altered: dict[str, Case] = {}
    for name in chance.sample(sorted(cases), max(1, len(cases) // 10)):
        if (other := changed(cases[name], observed(name), chance)) is not None:
            altered[name] = other
    assert altered
    failing = {name for name, case in {**cases, **altered}.items() if wrong(case)}
    assert failing == set(altered)
