"""What test tools print for people: read only where they have no other report, and marked ``read_from: text``. Pure.

A program under test can print the same words. So only a tool's own summary line counts, the last of its kind, and the
exit code overrules it (``status_of``). What is printed can be made to take time, too: no pattern here may try the
same text twice (none begins with what spans lines, or holds a repetition in a repetition).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from deliberate.evaluators._report import Failed, Tally

__all__ = ["CONSOLES", "cargo_text", "go_text", "npm_text", "pytest_text"]

_PYTEST = re.compile(r"^=* ?((?:\d+ [a-z]+(?:, )?)+) in [\d.]+ ?s.*$", re.MULTILINE)
_PYTEST_NAMED = re.compile(r"^(FAILED|ERROR) (\S.*?)(?: - (.*))?$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) ([a-z]+)")
_CARGO = re.compile(r"^test result: (?:ok|FAILED)\. (\d+) passed; (\d+) failed; (\d+) ignored", re.MULTILINE)
_CARGO_NAMED = re.compile(r"^test (.+) \.\.\. FAILED$", re.MULTILINE)
_CARGO_BROKEN = re.compile(r"^error(?:\[\w+\])?: (could not compile .*|.*)$", re.MULTILINE)
_GO = re.compile(r"^[ \t]*--- (PASS|FAIL|SKIP): (\S+)", re.MULTILINE)
_GO_BROKEN = re.compile(r"^FAIL[ \t]+(\S+) \[((?:build|setup) failed)\]$", re.MULTILINE)
_JEST = re.compile(r"^ *Tests:? +(\d.{0,200})$", re.MULTILINE)
_MOCHA = re.compile(r"^[ \t]*(\d+) (passing|failing|pending)\b", re.MULTILINE)
_TAP = re.compile("^[#\N{INFORMATION SOURCE}] (pass|fail|skipped|todo) ([0-9]+)$", re.MULTILINE)


def pytest_text(text: str) -> Tally:
    """Pytest's last summary line, ``3 passed, 1 failed in 0.12s``, and the tests it names."""
    named = {kind: tuple(_named(one) for one in _PYTEST_NAMED.findall(text) if one[0] == kind) for kind in _KINDS}
    lines = _PYTEST.findall(text)
    count = {name.removesuffix("s"): int(number) for number, name in _COUNT.findall(lines[-1])} if lines else {}
    failed = _padded(named["FAILED"], count.get("failed", 0))
    errors = _padded(named["ERROR"], count.get("error", 0))
    collecting = "ERROR collecting" in text or "Interrupted: " in text
    return Tally(
        passed=count.get("passed", 0) + count.get("xpassed", 0),
        failed=failed if collecting else (*failed, *errors),
        broken=errors if collecting else (),
        skipped=count.get("skipped", 0) + count.get("xfailed", 0),
        read_from="text",
    )


_KINDS = ("FAILED", "ERROR")


def cargo_text(text: str) -> Tally:
    """All of cargo's result lines, added up."""
    counts = [tuple(int(number) for number in line) for line in _CARGO.findall(text)]
    passed, failed, ignored = (sum(each) for each in zip(*counts, strict=True)) if counts else (0, 0, 0)
    names = tuple(Failed(name=name) for name in _CARGO_NAMED.findall(text))
    errors = [] if counts else _CARGO_BROKEN.findall(text)
    broken = tuple(Failed(name="build", message=message) for message in errors)
    return Tally(passed=passed, failed=_padded(names, failed), broken=broken, skipped=ignored, read_from="text")


def go_text(text: str) -> Tally:
    """The lines of ``go test -v``."""
    found = _GO.findall(text)
    return Tally(
        passed=sum(how == "PASS" for how, _ in found),
        failed=tuple(Failed(name=name) for how, name in found if how == "FAIL"),
        broken=tuple(Failed(name=package, message=why) for package, why in _GO_BROKEN.findall(text)),
        skipped=sum(how == "SKIP" for how, _ in found),
        read_from="text",
    )


def npm_text(text: str) -> Tally:
    """The summary of jest, vitest, mocha or node's own runner; of several, the first of these."""
    count: dict[str, int] = {}
    if lines := _JEST.findall(text):
        count = {name: int(number) for number, name in _COUNT.findall(lines[-1])}
    elif found := _MOCHA.findall(text):
        words = {"passing": "passed", "failing": "failed", "pending": "skipped"}
        count = {words[name]: int(number) for number, name in found}
    elif tap := _TAP.findall(text):
        words = {"pass": "passed", "fail": "failed", "skipped": "skipped", "todo": "todo"}
        count = {words[name]: int(number) for name, number in tap}
    skipped = sum(count.get(name, 0) for name in ("skipped", "todo", "pending"))
    failed = _padded((), count.get("failed", 0))
    return Tally(passed=count.get("passed", 0), failed=failed, skipped=skipped, read_from="text")


CONSOLES: Mapping[str, Callable[[str], Tally]] = {
    "cargo": cargo_text,
    "go": go_text,
    "npm": npm_text,
    "pytest": pytest_text,
}


def _named(found: tuple[str, str, str]) -> Failed:
    return Failed(name=found[1], message=found[2])


def _padded(named: tuple[Failed, ...], count: int) -> tuple[Failed, ...]:
    """The tests that are named, and as many without a name as the summary counts more."""
    return (
        *named[:count],
        *(Failed(name=f"test {at} of {count} that failed") for at in range(len(named) + 1, count + 1)),
    )
