"""The plugin, in a pytest of its own; with and without workers."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from deliberate.integrations.pytest_plugin import _GATES, _PANEL

pytest_plugins = ["pytester"]

NAMED = ("-p", "no:cacheprovider", "-p", "anyio", "-p", "deliberate.integrations.pytest_plugin")
"""The plugins that are needed and no others, by name: a pytest that looks for them all takes a second to start."""

PLUGIN_WORDS = (*_GATES, *_PANEL)

TESTS = """
from pathlib import Path
import pytest
from deliberate import require

pytestmark = pytest.mark.anyio

@pytest.fixture
def anyio_backend():
    return "asyncio"

@pytest.mark.deliberate(judges=["scripted/good:70", "scripted/good:64", "scripted/fair:40"])
async def test_good(panel):
    review = await panel("4", task="2 + 2?")
    require(review, min_bracket="good", max_blockers=0)

@pytest.mark.deliberate(judges=["scripted/fair:46"], samples=3, min_bracket="good", criteria="C")
async def test_fair(panel):
    await panel("5")

@pytest.mark.deliberate(judges=["scripted/refuse"])
async def test_nobody(panel):
    require(await panel("6"), min_score=1)

async def test_without_a_panel():
    pass
"""

Run = Callable[..., pytest.RunResult]


@pytest.fixture
def run(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Pytest on a test file, with options."""
    monkeypatch.setenv("DELIBERATE_HOME", str(pytester.path / "home"))
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")

    def go(text: str, *options: str) -> pytest.RunResult:
        pytester.makepyfile(test_it=text)
        return pytester.runpytest_subprocess(*NAMED, *options)

    return go


@pytest.mark.parametrize("workers", [(), ("-p", "xdist", "-n", "1")], ids=["alone", "workers"])
def test_a_gate_is_a_failure_and_no_verdict_an_error(
    run: Run, pytester: pytest.Pytester, workers: tuple[str, ...]
) -> None:
    done = run(TESTS, *workers, "--junitxml=out.xml")
    done.assert_outcomes(passed=2, failed=1, errors=1)
    text = done.stdout.str()
    assert "Fair 46/100, wanted min-bracket Good (got Fair) (P0 F3 G0 E0, 0 unread)" in text
    assert text.count("deliberate: 3 verdicts, 1 below gate, 1 without verdict, cost $0.00") == 1
    xml = (pytester.path / "out.xml").read_text(encoding="utf-8")
    assert 'errors="1" failures="1"' in xml
    assert "Good" in xml, "the verdict stands in the report"


def test_the_page_about_it_says_what_it_prints_and_the_message_is_the_table_of_votes(
    run: Run, pytester: pytest.Pytester
) -> None:
    page = (Path(__file__).parents[2] / "docs" / "pytest.md").read_text(encoding="utf-8")
    (tests,) = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    (pytester.path / "answers").mkdir()
    (pytester.path / "answers" / "refund.md").write_text("Sorry. We refunded 12.40 to your card.")
    done = run(tests)
    done.assert_outcomes(passed=1, failed=1)
    printed = [line for block in re.findall(r"```\n([E=].*?)```", page, re.DOTALL) for line in block.splitlines()]
    assert len(printed) == 5
    done.stdout.fnmatch_lines([line.replace("=====", "*").replace("======", "*") for line in printed])
    for word in PLUGIN_WORDS:
        assert f"`{word}`" in page, word


def test_a_model_is_asked_only_if_that_was_said(run: Run) -> None:
    paid = """
import pytest

@pytest.mark.anyio
@pytest.mark.deliberate(judges=["openai/gpt-x"])
async def test_paid(panel):
    await panel("4")
"""
    done = run(paid, "-k", "asyncio")
    assert "openai/gpt-x would be asked" in done.stdout.str()
    assert done.ret == 1


def test_recordings_are_made_and_replayed_without_a_model(run: Run, pytester: pytest.Pytester) -> None:
    one = ("-k", "test_good", "--deliberate-replay=tapes")
    missing = run(TESTS, *one)
    missing.assert_outcomes(errors=1, deselected=3)
    assert "this test has no recording" in missing.stdout.str()
    run(TESTS, *one, "--deliberate-live").assert_outcomes(passed=1, deselected=3)
    (tape,) = (pytester.path / "tapes").iterdir()
    run(TESTS, *one).assert_outcomes(passed=1, deselected=3)
    tape.write_text(tape.read_text().splitlines()[0] + "\n")
    done = run(TESTS, *one)
    assert "no verdict" in done.stdout.str()


def test_a_test_that_names_no_judge_is_told_so(run: Run) -> None:
    text = TESTS.replace('judges=["scripted/refuse"]', "")
    done = run(text, "-k", "nobody")
    assert "expected one of panel= and judges=" in done.stdout.str()


def test_a_gate_that_could_not_fail_is_refused_before_anybody_is_asked(run: Run) -> None:
    words = {
        "min_braket='good'": "unknown word 'min_braket' (did you mean 'min_bracket'?)",
        "min_bracket='god'": "unknown bracket 'god' (did you mean 'good'?)",
        "max_drop=3": "there is nothing to drop below; expected baseline= beside it",
        "min_score=400": "min_score is 400; expected points from 0 to 100",
        "min_agreement=-0.5": "min_agreement is -0.5; expected a share from 0 to 1",
        "baseline=101": "baseline is 101; expected points from 0 to 100",
    }
    head, _, _ = TESTS.partition("@pytest.mark.deliberate")
    tests = [
        f'@pytest.mark.deliberate(judges=["scripted/good"])\nasync def test_{at}(panel):\n    await panel("", {one})\n'
        for at, one in enumerate(words)
    ]
    done = run(head + "\n".join(tests))
    done.assert_outcomes(errors=len(words))
    assert all(said in done.stdout.str() for said in words.values())
    assert "verdicts," not in done.stdout.str()


def test_gates_of_the_marker_and_of_the_call_both_count_and_no_line_of_ours_is_shown(run: Run) -> None:
    text = TESTS.replace('await panel("5")', 'await panel("5", min_bracket="fair", baseline=50, max_drop=3)')
    done = run(text.replace("max_blockers=0", "max_blockers=0, min_agreement=0.9"), "-k", "fair or good")
    done.assert_outcomes(failed=2, deselected=2)
    assert "Good 58/100, wanted min-agreement 0.9 (got 0.33) (P0 F1 G2 E0, 0 unread)" in done.stdout.str()
    assert "Fair 46/100, wanted max-drop 3 (got 4) (P0 F3 G0 E0, 0 unread)" in done.stdout.str()
    assert "pytest_plugin.py" not in done.stdout.str()
    assert "gates.py" not in done.stdout.str()


UNRELATED = """
import sys

def test_plain(request):
    assert request.config.pluginmanager.hasplugin("deliberate")
    ours = {"deliberate", "deliberate._lazy", "deliberate.integrations", "deliberate.integrations.pytest_plugin"}
    assert {name for name in sys.modules if name.startswith("deliberate")} == ours
    names = {name.partition(".")[0] for name in sys.modules}
    assert not names & {"aiohttp", "litellm", "numpy", "pydantic", "rich", "ruamel", "structlog", "jinja2", "msgspec"}
"""


def test_an_unrelated_suite_sees_no_output_and_imports_nothing_heavy(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(UNRELATED)
    words = ["-m", "pytest", "-p", "no:cacheprovider", "-p", "no:inline_snapshot", str(tmp_path)]
    done = subprocess.run([sys.executable, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
    assert "deliberate:" not in done.stdout
