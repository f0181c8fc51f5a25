"""Pytest: a test file of the user's tests the output; nothing that it prints or writes is taken for a report."""

from __future__ import annotations

from pathlib import Path

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators.pytest import Pytest
from deliberate.types import Evaluation, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: the programs take their time, and tests/sandbox runs programs on both."""
    return "trio"


SAYS_HELLO = """
import os, pathlib
def test_a():
    assert 'hello' in pathlib.Path(os.environ['AI_OUTPUT_FILE']).read_text(encoding='utf-8')
def test_b():
    assert 1
"""


FORGES = """
import glob, os
def test_a():
    for path in glob.glob(os.environ['TMPDIR'] + '/*'):
        open(path, 'w').write('<testsuite><testcase name="a"/></testsuite>')
    os._exit(0)
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    """A folder with an empty folder of fixtures, as one lies beside a suite."""
    (tmp_path / "suite/fixtures").mkdir(parents=True)
    return tmp_path / "suite"


async def run(opened: Open, suite: Path, source: str, output: str = "say hello", **params: object) -> Evaluation:
    (suite / "fixtures/test_it.py").write_text(source, encoding="utf-8")
    test = Pytest(test_file="fixtures/test_it.py", folder=str(suite), **params)  # type: ignore[arg-type]
    async with opened(trust_code=True) as session:
        return await session.evaluate(Case(output=output), test)


async def test_s1_20_it_runs_pytest_on_the_output_whose_path_is_in_ai_output_file(opened: Open, suite: Path) -> None:
    found = await run(opened, suite, SAYS_HELLO)
    assert (found.score, found.details["all_passed"], found.reason) == (100.0, True, "2 of 2 tests passed")
    other = await run(opened, suite, SAYS_HELLO, "goodbye")
    assert (other.score, other.details["all_passed"]) == (50.0, False)
    assert other.fingerprint == found.fingerprint


async def test_s1_20_fixtures_lie_beside_the_suite_and_may_be_used(opened: Open, suite: Path) -> None:
    (suite / "fixtures/expected.txt").write_text("hello")
    (suite / "fixtures/helper.py").write_text("WORD = open('fixtures/expected.txt').read()")
    (suite / "fixtures/conftest.py").write_text("import pytest\n@pytest.fixture\ndef three(): return 3\n")
    source = "import helper\ndef test_a(three): assert (helper.WORD, three) == ('hello', 3)\n"
    first = await run(opened, suite, source)
    assert first.score == 100.0, first.reason
    (suite / "fixtures/expected.txt").write_text("hello\n")
    assert (await run(opened, suite, source)).fingerprint != first.fingerprint


@pytest.mark.parametrize(
    "name", ["../outside.py", "/etc/passwd", "fixtures/../../outside.py", "", "a\0b", "..\\outside.py"]
)
def test_s1_20_a_file_that_is_elsewhere_by_its_name_is_refused_when_it_is_built(name: str) -> None:
    with pytest.raises(ConfigError, match=r"pytest\.test_file"):
        Pytest(test_file=name)


@pytest.mark.parametrize("name", ["link.py", "folder/outside.py", "missing.py", "fixtures"])
async def test_s1_20_a_file_that_is_elsewhere_by_a_link_is_not_run(opened: Open, suite: Path, name: str) -> None:
    (suite.parent / "suite_evil").mkdir()
    outside = suite.parent / "suite_evil/outside.py"
    outside.write_text("def test_a(): pass\n")
    (suite / "link.py").symlink_to(outside)
    (suite / "folder").symlink_to(outside.parent)
    async with opened(trust_code=True) as session:
        with pytest.raises(ConfigError, match=r"pytest\.test_file"):
            await session.evaluate(Case(output="x"), Pytest(test_file=name, folder=str(suite)))
        with pytest.raises(ConfigError, match=r"pytest\.folder: there is no folder"):
            await session.evaluate(Case(output="x"), Pytest(test_file=name))


@pytest.mark.parametrize(
    ("source", "detail"),
    [
        ("def test_a():\n    while True: pass\n", "pytest took longer than 1.5 s"),
        ("import os\nprint('1 passed in 0.1s')\nos._exit(0)\n", "broken off (exit code 0) and left no report"),
        ("import no_such_module\ndef test_a(): pass\n", "could not load or build the tests: fixtures.test_it"),
        ("def check(): pass\n", "there are no tests"),
        (FORGES, "left no report"),
    ],
)
async def test_s1_20_what_ends_before_its_tests_did_is_never_passed(
    opened: Open, suite: Path, source: str, detail: str
) -> None:
    found = await run(opened, suite, source, timeout_seconds=1.5 if "while" in source else 30.0)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "failed"
    assert detail in found.outcome.detail
    assert found.details.get("all_passed", False) is False


async def test_each_failed_test_is_a_blocker_with_its_place(opened: Open, suite: Path) -> None:
    source = "def test_a():\n    print('3 passed in 0.01s')\n    assert 1 == 2\ndef test_b(): pass\n"
    found = await run(opened, suite, source)
    (finding,) = found.findings
    assert (finding.id, finding.severity, finding.dimension) == ("F1", "blocker", "tests")
    assert (finding.title, finding.location) == ("fixtures.test_it::test_a", "fixtures/test_it.py:1")
    assert "assert 1 == 2" in finding.description
    again = await run(opened, suite, source)
    assert again.digest == found.digest


async def test_no_configuration_of_the_folder_is_followed(opened: Open, suite: Path) -> None:
    (suite / "pytest.ini").write_text("[pytest]\naddopts = --no-such-option\n")
    assert (await run(opened, suite, SAYS_HELLO)).score == 100.0


async def test_its_surroundings_are_not_those_of_the_tests(
    opened: Open, suite: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CANARY", "key")
    source = "import os\ndef test_a():\n    assert 'CANARY' not in os.environ\n    open('fixtures/made', 'w')\n"
    assert (await run(opened, suite, source)).score == 100.0
    assert not (suite / "fixtures/made").exists()
