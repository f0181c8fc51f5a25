"""Static analysis: lint and types, by real tools where they are installed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators._lint import READERS
from deliberate.evaluators.static_analysis import StaticAnalysis, checks_of
from deliberate.types import Evaluation, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: the programs take their time, and tests/sandbox runs programs on both."""
    return "trio"


def laid(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
        (folder / name).chmod(0o755)
    return str(folder)


async def run(opened: Open, folder: Path, files: dict[str, str], **params: object) -> Evaluation:
    async with opened(trust_code=True) as session:
        case = Case(output="x", workspace=laid(folder, files))
        return await session.evaluate(case, StaticAnalysis(**params))  # type: ignore[arg-type]


async def test_s0_6_it_lints_and_checks_types_and_says_where(opened: Open, tmp_path: Path) -> None:
    found = await run(opened, tmp_path, {"pkg/a.py": "import os\n\n\ndef f(x: int) -> str:\n    return x\n"})
    assert found.details["tools"] == {"python lint": "ruff", "python types": "mypy"}
    told = {(one.title.partition(":")[0], one.location, one.severity) for one in found.findings}
    assert {("ruff F401", "pkg/a.py:1", "important"), ("mypy return-value", "pkg/a.py:5", "important")} <= told
    assert (found.details["errors"], found.details["clean"], found.flags) == (2, False, ())
    assert found.score == 80.0
    assert {one.dimension for one in found.findings} == {"static_analysis"}


def eslint(prints: str, *, ends: int = 0) -> dict[str, str]:
    """A project in JavaScript with a linter of its own that says what it is told to."""
    return {"a.js": "x", "node_modules/.bin/eslint": f"#!/bin/sh\ncat <<'END'\n{prints}\nEND\nexit {ends}\n"}


async def test_s0_6_s0_8_s0_9_a_clean_project_has_all_of_the_score_at_no_cost(opened: Open, tmp_path: Path) -> None:
    assert not StaticAnalysis.spends_tokens
    found = await run(opened, tmp_path, eslint("[]"))
    assert (found.score, found.details["clean"], found.findings) == (100.0, True, ())
    assert (found.usage.calls, found.usage.tokens_in, found.usage.cost_usd) == (0, 0, 0.0)
    assert found.digest == (await run(opened, tmp_path, {})).digest


async def test_s0_6_each_remark_is_a_finding_with_its_place_errors_first(opened: Open, tmp_path: Path) -> None:
    messages = [
        {"ruleId": "no-empty", "severity": 1, "message": "Empty.", "line": 2},
        {"ruleId": "no-undef", "severity": 2, "message": "No b.", "line": 9},
        {"ruleId": "no-undef", "severity": 2, "message": "No b.", "line": 9},
    ]
    found = await run(opened, tmp_path, eslint(json.dumps([{"filePath": "a.js", "messages": messages}]), ends=1))
    assert [(one.id, one.severity, one.title, one.location) for one in found.findings] == [
        ("F1", "important", "eslint no-undef: No b.", "a.js:9"),
        ("F2", "suggestion", "eslint no-empty: Empty.", "a.js:2"),
    ]
    assert found.score == 87.0


@pytest.mark.parametrize(("prints", "ends"), [("[]", 2), ("[]", 1), ("Oops! no configuration", 0), ("{}", 0), ("", 0)])
async def test_a_tool_that_breaks_leaves_no_score(opened: Open, tmp_path: Path, prints: str, ends: int) -> None:
    found = await run(opened, tmp_path, eslint(prints, ends=ends))
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "failed"
    assert "eslint" in found.outcome.detail


@pytest.mark.parametrize("files", [{}, {"readme.md": "x"}, {"node_modules/a.js": "x", ".hidden/a.py": "x"}])
async def test_s0_12_where_it_does_not_apply_there_is_no_score(
    opened: Open, tmp_path: Path, files: dict[str, str]
) -> None:
    found = await run(opened, tmp_path, files)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "skipped"
    async with opened() as session:
        none = await session.evaluate(Case(output="x"), StaticAnalysis())
    assert isinstance(none.outcome, Unscored)
    assert none.outcome.why == "skipped"


async def test_s0_12_a_check_whose_tool_is_not_installed_is_named(opened: Open, tmp_path: Path) -> None:
    if shutil.which("eslint") or shutil.which("tsc"):
        pytest.skip("they are installed")
    found = await run(opened, tmp_path, {"a.js": "x", "a.ts": "let x = 1"})
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "skipped"
    assert found.outcome.detail == "none of the tools it needs is installed: eslint, tsc"
    lint = await run(opened, tmp_path, eslint("[]"))
    assert (lint.score, lint.flags) == (100.0, ("no_types",))


@pytest.mark.thorough
async def test_a_project_that_brings_its_own_configuration_is_not_asked(opened: Open, tmp_path: Path) -> None:
    files = {
        "a.py": "import os\n",
        "ruff.toml": "[lint]\nignore = ['ALL']\n",
        "mypy.ini": "[mypy]\nplugins = ./evil.py\n",
        "evil.py": "raise SystemExit('the plugin ran')\n",
    }
    found = await run(opened, tmp_path / "a", files)
    assert "F401" in found.findings[0].title
    async with opened() as session:
        with pytest.raises(ConfigError, match=r"static_analysis\.use_project_config"):
            await session.evaluate(Case(output="x", workspace=str(tmp_path)), StaticAnalysis(use_project_config=True))
    own = await run(opened, tmp_path / "a", {}, use_project_config=True)
    assert isinstance(own.outcome, Unscored)
    assert "the plugin ran" in own.outcome.detail


async def test_a_tool_that_takes_too_long_leaves_no_score(opened: Open, tmp_path: Path) -> None:
    files = {"a.js": "x", "node_modules/.bin/eslint": "#!/bin/sh\nsleep 100\n"}
    slow = await run(opened, tmp_path, files, timeout_seconds=0.1)
    assert isinstance(slow.outcome, Unscored)
    assert "took longer than 0.1 s" in slow.outcome.detail
    with pytest.raises(ConfigError, match=r"static_analysis\.timeout_seconds"):
        StaticAnalysis(timeout_seconds=-1)


@pytest.mark.thorough
async def test_clippy_is_read_by_its_json(opened: Open, tmp_path: Path) -> None:
    if shutil.which("cargo-clippy") is None:
        pytest.skip("clippy is not installed")
    cargo = '[package]\nname = "adder"\nversion = "0.1.0"\nedition = "2021"\n'
    warned = await run(
        opened, tmp_path / "a", {"Cargo.toml": cargo, "src/lib.rs": "pub fn a() -> i32 {\n    return 1;\n}\n"}
    )
    assert (warned.score, [one.location for one in warned.findings]) == (97.0, ["src/lib.rs:2"])
    wrong = await run(opened, tmp_path / "b", {"Cargo.toml": cargo, "src/lib.rs": 'pub fn a() -> i32 { "x" }\n'})
    assert (wrong.details["errors"], wrong.findings[0].title) == (1, "clippy E0308: mismatched types")


def test_every_tool_has_a_reader(tmp_path: Path) -> None:
    laid(tmp_path, {"Cargo.toml": "", "a.py": "", "a.ts": "", "b.js": "", "sub/c.tsx": ""})
    wanted = checks_of(tmp_path)
    assert {one.name for tools in wanted.values() for one in tools} == set(READERS)
    assert set(wanted) == {
        "javascript lint",
        "python lint",
        "python types",
        "rust lint",
        "rust types",
        "typescript types",
    }
    assert wanted["typescript types"][0].on == ("a.ts", "sub/c.tsx")
