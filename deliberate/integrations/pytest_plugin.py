"""The pytest plugin ``deliberate``: a panel as a fixture, gates as assertions, verdicts in the summary.

::

    @pytest.mark.deliberate(judges=["openai/gpt-x"], rubric="support-tone", max_blockers=0)
    async def test_refund_answer(panel):
        review = await panel(Path("answers/refund.md"), task="Answer the complaint")
        require(review, min_bracket="good")

Rules for whoever edits this file: every pytest on the machine imports it, so it imports nothing but pytest and the
standard library before the fixture is called, and prints nothing before a panel was asked. What the summary needs
travels with the reports, so that it is the same with and without xdist.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

    from deliberate.types import Evaluation, Panel

__all__ = ["Panels"]

_PROPERTY = "deliberate"
_GATES = ("min_score", "min_bracket", "max_blockers", "max_unread", "min_agreement", "baseline", "max_drop")
_NUMBERS = ("min_score", "max_blockers", "max_unread", "min_agreement", "max_drop")
_PANEL = ("rubric", "criteria", "judges", "panel", "samples")
_WITHOUT_A_MODEL = ("scripted", "recorded", "local")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Declares the two options."""
    group = parser.getgroup("deliberate", "panels of judges")
    group.addoption("--deliberate-replay", metavar="DIR", help="answer every panel from the recordings in DIR")
    group.addoption(
        "--deliberate-live",
        action="store_true",
        help="ask models, which may cost money; with --deliberate-replay DIR, record them there anew",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Declares the marker."""
    config.addinivalue_line(
        "markers",
        "deliberate(rubric=None, criteria='', judges=(), panel=None, samples=1, min_score=None, min_bracket=None, "
        "max_blockers=None, max_unread=None, min_agreement=None, baseline=None, max_drop=None): how the fixture "
        "'panel' judges in this test, and what it must find",
    )


@pytest.fixture
def panel(request: pytest.FixtureRequest) -> Panels:
    """Puts outputs before panels.

    ``await panel(output, task=…, rubric=…, judges=[…])`` gives an ``Evaluation``.
    """
    marker = request.node.get_closest_marker("deliberate")
    return Panels(
        request.config.getoption("--deliberate-replay"),
        live=bool(request.config.getoption("--deliberate-live")),
        item=cast("pytest.Item", request.node),
        stated={} if marker is None else dict(marker.kwargs),
    )


class Panels:
    """Puts outputs before panels for one test.

    Args:
        replay: The folder of recordings, or None.
        live: Whether models may be asked.
        item: The test.
        stated: What its marker says.
    """

    def __init__(self, replay: str | None, *, live: bool, item: pytest.Item, stated: dict[str, Any]) -> None:
        self._folder = None if replay is None else Path(replay)
        self._live = live
        self._item = item
        self._stated = stated

    async def __call__(self, output: str | os.PathLike[str], *, task: str = "", **more: Any) -> Evaluation:  # noqa: ANN401  as the marker's
        """What a panel says of an output, held against the gates of the marker and of this call.

        Args:
            output: The text, or the path of a file (a ``Path``, not a string).
            task: What was asked for.
            **more: ``reference``, and what the marker can say; it comes before the marker.

        Raises:
            NoVerdict: A gate was asked for, and there is no verdict to hold against it.
            GateFailed: A gate does not hold.
            ConfigError: It cannot be asked as it is; nothing was spent.
        """
        __tracebackhide__ = True  # what went wrong is told by the message, and where by the test
        from deliberate import Case, Session, require  # noqa: PLC0415  heavy, and only now needed

        said = {**self._stated, **more}
        self._check(said)
        seats = self._panel(said)
        text = output if isinstance(output, str) else _text_of(Path(output))
        async with Session(ledger=":memory:", **self._source(seats)) as session:
            found = await session.evaluate(Case(output=text, task=task, reference=said.get("reference")), seats)
        self._note(found)
        gates = {name: said[name] for name in _GATES if name in said}
        if gates:
            require(found, **gates)
        return found

    def _check(self, said: dict[str, Any]) -> None:
        """Whether every word means something: a gate that is misspelt would never fail."""
        __tracebackhide__ = True
        from deliberate.errors import ConfigError, UnknownName  # noqa: PLC0415  inert until used
        from deliberate.types import Evaluation, check_bounds, required_bracket  # noqa: PLC0415  inert until used

        known = (*_PANEL, *_GATES, "reference")
        for name in said:
            if name not in known:
                raise UnknownName("word", name, known, where=f"{self._item.nodeid}: deliberate")
        if said.get("max_drop") is not None and said.get("baseline") is None:
            where = f"{self._item.nodeid}: max_drop"
            raise ConfigError("there is nothing to drop below", where=where, expected="baseline= beside it")
        required_bracket(said.get("min_bracket"), where=f"{self._item.nodeid}: min_bracket")
        earlier = said.get("baseline")
        numbers = {name: said.get(name) for name in _NUMBERS}
        numbers["baseline"] = None if isinstance(earlier, Evaluation) else earlier
        check_bounds(numbers, where=lambda _: self._item.nodeid)

    def _panel(self, said: dict[str, Any]) -> Panel:
        __tracebackhide__ = True
        from deliberate import Panel  # noqa: PLC0415  same
        from deliberate.errors import ConfigError  # noqa: PLC0415  same
        from deliberate.library import Library  # noqa: PLC0415  same

        named, judges = said.get("panel"), tuple(cast("Sequence[str]", said.get("judges", ())))
        if (named is None) == (not judges):
            raise ConfigError("expected one of panel= and judges=", where=f"{self._item.nodeid}: panel")
        if named is not None:
            return Library().panel(named) if isinstance(named, str) else cast("Panel", named)
        how = {name: said[name] for name in ("rubric", "criteria") if said.get(name)}
        return Panel.of(*judges * int(said.get("samples", 1)), **how)

    def _source(self, seats: Panel) -> dict[str, Any]:
        """Where the votes come from: a recording, or models if that was asked for."""
        __tracebackhide__ = True
        from deliberate.errors import ConfigError  # noqa: PLC0415  same

        if self._folder is not None:
            file = self._folder / f"{re.sub(r'[^A-Za-z0-9._-]+', '-', self._item.nodeid).strip('-')}.jsonl"
            if self._live:
                file.parent.mkdir(parents=True, exist_ok=True)
                return {"record": file}
            if not file.is_file():
                hint = f"record it: pytest --deliberate-live --deliberate-replay {self._folder}"
                raise ConfigError("this test has no recording", where=str(file), hint=hint)
            return {"replay": file}
        models = [seat.judge.model for seat in seats.seats if not seat.judge.human]
        paid = [one for one in models if one.partition("/")[0] not in _WITHOUT_A_MODEL]
        if paid and not self._live:
            hint = "--deliberate-replay DIR reads recordings, --deliberate-live asks the model"
            raise ConfigError(f"{paid[0]} would be asked", where=self._item.nodeid, hint=hint)
        return {}

    def _note(self, found: Evaluation) -> None:
        bracket = found.bracket
        told = {
            "bracket": None if bracket is None else bracket.label,
            "score": found.score,
            "cost_usd": found.usage.cost_usd,
        }
        self._item.user_properties.append((_PROPERTY, json.dumps(told)))


def _text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,  # noqa: ARG001  the hook's own arguments
    call: pytest.CallInfo[None],
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Makes "no verdict" an error: nobody found the output bad, so it is no failure."""
    report = yield
    if call.excinfo is not None and call.when == "call":
        kinds = [kind.__name__ for kind in call.excinfo.type.__mro__ if kind.__module__ == "deliberate.errors"]
        if "GateFailed" in kinds:
            report.user_properties.append((_PROPERTY, json.dumps({"gate": "failed"})))
        elif "NoVerdict" in kinds or "ConfigError" in kinds:
            # pytest counts as an error whatever fails outside the call, here, in JUnit and in the exit code.
            report.when = "setup"
    return report


def pytest_terminal_summary(terminalreporter: TerminalReporter) -> None:
    """One line, if any panel was asked: verdicts, gates, cost."""
    told: dict[str, list[dict[str, Any]]] = {}
    for reports in terminalreporter.stats.values():
        for report in reports:
            noted = [value for name, value in getattr(report, "user_properties", ()) if name == _PROPERTY]
            known = [cast("dict[str, Any]", json.loads(str(value))) for value in noted]
            told[report.nodeid] = max(told.get(report.nodeid, []), known, key=len)
    noted = [one for each in told.values() for one in each]
    verdicts = [one for one in noted if "gate" not in one]
    if not verdicts:
        return
    costs = [one["cost_usd"] for one in verdicts]
    cost = "unknown" if None in costs else f"${sum(costs):.2f}"
    missing = sum(one["bracket"] is None for one in verdicts)
    terminalreporter.write_sep(
        "=",
        f"deliberate: {len(verdicts)} verdicts, {len(noted) - len(verdicts)} below gate, {missing} without verdict, "
        f"cost {cost}",
    )
