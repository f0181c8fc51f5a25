"""Every case of the four systems is run, and holds."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from random import Random

import anyio
import pytest

from deliberate.errors import DeliberateError
from tests.conformance import _adapters, _improvement, _kapso, _model, _openkoi, _process
from tests.conformance._adapters import Adapter
from tests.conformance._cases import CASES, Case, Missing, Observed, changed, mismatches

ADAPTERS: Mapping[str, Adapter] = {
    name: adapter
    for module in (_adapters, _improvement, _kapso, _model, _openkoi, _process)
    for name, adapter in module.ADAPTERS.items()
}


@cache
def observed(name: str) -> Observed:
    """What an adapter saw of a case.

    Raises:
        Missing: No adapter can run it.
    """
    case = CASES[name]
    if case.kind not in ADAPTERS:
        raise Missing(f"an adapter for {case.kind}")
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
    found = wrong(case)
    assert not found, f"{case.title} ({case.level})"


@pytest.mark.parametrize("seed", range(20))
def test_when_one_expectation_in_ten_is_changed_exactly_those_cases_fail(seed: int) -> None:
    chance = Random(seed)
    cases = {name: case for name, case in CASES.items() if not wrong(case)}
    altered: dict[str, Case] = {}
    for name in chance.sample(sorted(cases), max(1, len(cases) // 10)):
        if (other := changed(cases[name], observed(name), chance)) is not None:
            altered[name] = other
    assert altered
    failing = {name for name, case in {**cases, **altered}.items() if wrong(case)}
    assert failing == set(altered)
