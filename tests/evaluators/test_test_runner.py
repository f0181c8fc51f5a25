"""The test runner: which tools a project uses, and what real ones say of small projects."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators.test_runner import TestRunner, npm_script, tools_of
from deliberate.sandbox import SandboxRunner
from deliberate.types import Evaluation, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    """One event loop: the programs take their time, and tests/sandbox runs programs on both."""
    return "trio"


PYTHON = {
    "pyproject.toml": "[tool.pytest.ini_options]\naddopts = '--no-such-option'\n",
    "src/adder.py": "def add(a, b): return a + b\n",
    "tests/test_adder.py": "import adder\ndef test_add(): assert adder.add(1, 2) == 3\n"
    "def test_off(): assert adder.add(1, 2) == 4\n",
}
RUST = {
    "Cargo.toml": '[package]\nname = "adder"\nversion = "0.1.0"\nedition = "2021"\n',
    "src/lib.rs": '#[test]\nfn good() { println!("test result: ok. 9 passed; 0 failed; 0 ignored"); }\n'
    "#[test]\nfn off() { assert_eq!(1 + 2, 4); }\n#[test]\n#[ignore]\nfn slow() {}\n",
}
NODE = {
    "package.json": json.dumps({"scripts": {"test": "node --test"}}),
    "adder.test.js": 'const test = require("node:test"); const assert = require("node:assert");\n'
    'test("good", () => {}); test("off", () => { assert.equal(1 + 2, 4) }); test("slow", { skip: true }, () => {});\n',
}


def laid(folder: Path, files: dict[str, str]) -> str:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return str(folder)


async def run(opened: Open, folder: Path, files: dict[str, str], **params: object) -> Evaluation:
    async with opened(trust_code=True) as session:
        case = Case(output="x", workspace=laid(folder, files))
        return await session.evaluate(case, TestRunner(**params))  # type: ignore[arg-type]


async def test_s0_5_it_runs_the_suite_and_the_share_that_passed_is_the_score(opened: Open, tmp_path: Path) -> None:
    found = await run(opened, tmp_path, PYTHON)
    assert (found.score, found.reason) == (50.0, "1 of 2 tests passed")
    assert found.details["tools"] == {"pytest": {"status": "failed", "exit_code": 1, "read_from": "junit"}}
    (finding,) = found.findings
    assert (finding.severity, finding.title) == ("blocker", "tests.test_adder::test_off")
    assert finding.location == "tests/test_adder.py:3"


async def test_s0_8_s0_9_it_is_code_asks_no_model_and_costs_nothing(opened: Open, tmp_path: Path) -> None:
    assert not TestRunner.spends_tokens
    async with opened(trust_code=True) as session:  # no judge is configured
        found = await session.evaluate(
            Case(output="x", workspace=laid(tmp_path, {"test_a.py": "def test_a(): pass"})), TestRunner()
        )
    assert (found.score, found.usage.calls, found.usage.tokens_in, found.usage.cost_usd) == (100.0, 0, 0, 0.0)


@pytest.mark.parametrize("files", [{}, {"readme.md": "none"}, {"pyproject.toml": "", "a.py": "x = 1"}])
async def test_s0_11_a_project_without_tests_has_no_score(opened: Open, tmp_path: Path, files: dict[str, str]) -> None:
    found = await run(opened, tmp_path, files)
    assert isinstance(found.outcome, Unscored)
    assert found.outcome.why == "skipped"
    required = await run(opened, tmp_path, files, required=True)
    assert isinstance(required.outcome, Unscored)
    assert required.outcome.why == "failed"


async def test_s0_11_a_case_without_a_workspace_has_no_tests(opened: Open) -> None:
    async with opened() as session:
        found = await session.evaluate(Case(output="x"), TestRunner())
    assert isinstance(found.outcome, Unscored)
    assert (found.outcome.why, found.outcome.detail) == ("skipped", "the case has no workspace")


async def test_tests_that_cannot_be_loaded_or_do_not_end_have_no_score(opened: Open, tmp_path: Path) -> None:
    broken = await run(
        opened, tmp_path / "a", {"test_a.py": "import no_such_module", "test_b.py": "def test_b(): pass"}
    )
    assert isinstance(broken.outcome, Unscored)
    assert (broken.outcome.why, broken.details["status"]) == ("failed", "collection_error")
    assert [finding.title for finding in broken.findings] == ["test_a"]
    endless = await run(opened, tmp_path / "b", {"test_a.py": "while True: pass"}, timeout_seconds=1.0)
    assert isinstance(endless.outcome, Unscored)
    assert (endless.outcome.why, endless.details["status"]) == ("failed", "timeout")
    assert endless.details["all_passed"] is False


async def test_an_exit_code_overrules_what_is_printed(opened: Open, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    files = {
        "package.json": json.dumps({"scripts": {"test": "sh run.sh"}}),
        "run.sh": "echo '# pass 2'; echo '# fail 0'; exit 1",
    }
    found = await run(opened, tmp_path, files)
    assert isinstance(found.outcome, Unscored)
    assert "npm ended with exit code 1 and reports 2 of 2 passed" in found.outcome.detail
    assert (found.details["status"], found.flags) == ("error", ("read_from_text",))


@pytest.mark.thorough
async def test_cargo_is_read_by_its_json(opened: Open, tmp_path: Path) -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is not installed")
    found = await run(opened, tmp_path / "a", RUST)
    assert (found.score, found.details["skipped"], found.flags) == (50.0, 1, ())
    assert [(one.title, one.location) for one in found.findings] == [("off", "src/lib.rs:4")]
    broken = await run(opened, tmp_path / "b", {**RUST, "src/lib.rs": "fn ( {"})
    assert isinstance(broken.outcome, Unscored)
    assert broken.details["status"] == "collection_error"


@pytest.mark.thorough
async def test_node_is_read_by_its_junit_report(opened: Open, tmp_path: Path) -> None:
    if shutil.which("npm") is None:
        pytest.skip("npm is not installed")
    found = await run(opened, tmp_path, NODE)
    assert (found.score, found.details["skipped"], found.flags) == (50.0, 1, ())
    assert found.details["tools"] == {"npm": {"status": "failed", "exit_code": 1, "read_from": "junit"}}


@pytest.mark.thorough
async def test_go_is_read_by_its_json(opened: Open, tmp_path: Path) -> None:
    if shutil.which("go") is None:
        pytest.skip("go is not installed")
    files = {
        "go.mod": "module adder\n\ngo 1.20\n",
        "a_test.go": 'package adder\nimport "testing"\nfunc TestGood(t *testing.T) {}\n'
        'func TestOff(t *testing.T) { t.Fatal("off") }\n',
    }
    found = await run(opened, tmp_path, files)
    assert (found.score, found.flags) == (50.0, ())


@pytest.mark.parametrize(
    ("files", "tools"),
    [
        ({}, ()),
        ({"Cargo.toml": ""}, ("cargo",)),
        ({"go.mod": ""}, ("go",)),
        ({"pytest.ini": ""}, ("pytest",)),
        ({"tests/test_a.py": ""}, ("pytest",)),
        ({"a_test.py": ""}, ("pytest",)),
        ({"a.py": ""}, ()),
        ({"package.json": '{"scripts": {"test": "jest"}}', "go.mod": ""}, ("go", "npm")),
        ({"package.json": '{"scripts": {"test": "echo \\"Error: no test specified\\" && exit 1"}}'}, ()),
        ({"package.json": '{"scripts": {"test": 1}}'}, ()),
        ({"package.json": "[]"}, ()),
        ({"package.json": "{"}, ()),
        ({"package.json": "[" * 100_000}, ()),
    ],
)
def test_the_tools_of_a_project_are_found_by_its_files(
    tmp_path: Path, files: dict[str, str], tools: tuple[str, ...]
) -> None:
    assert tools_of(Path(laid(tmp_path, files))) == tools


def test_the_test_script_of_npm_is_read(tmp_path: Path) -> None:
    assert npm_script(Path(laid(tmp_path, NODE))) == "node --test"
    assert npm_script(tmp_path / "nowhere") == ""


async def test_the_own_configuration_of_a_project_needs_trust(opened: Open, tmp_path: Path) -> None:
    async with opened() as session:
        with pytest.raises(ConfigError, match=r"use_project_config: the project's own configuration can run any code"):
            await session.evaluate(Case(output="x", workspace=str(tmp_path)), TestRunner(use_project_config=True))
    files = {"pytest.ini": "[pytest]\npython_functions = check_*\n", "test_a.py": "def check_a(): pass"}
    assert (await run(opened, tmp_path, files, use_project_config=True)).score == 100.0
    assert (await run(opened, tmp_path, files)).score is None


def test_bad_parameters_are_refused_when_it_is_built() -> None:
    with pytest.raises(ConfigError, match=r"test_runner\.tool: unknown tool 'make'; expected one of: auto, pytest"):
        TestRunner(tool="make")  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"test_runner\.timeout_seconds"):
        TestRunner(timeout_seconds=0)


async def test_only_the_tool_that_is_named_is_run(opened: Open, tmp_path: Path) -> None:
    found = await run(opened, tmp_path, {**RUST, "test_a.py": "def test_a(): pass"}, tool="pytest")
    assert found.details["tools"] == {"pytest": {"status": "passed", "exit_code": 0, "read_from": "junit"}}


async def test_it_needs_no_trust_where_there_is_a_sandbox(opened: Open, tmp_path: Path) -> None:
    if await SandboxRunner(trust_code=False).tier() is None:
        pytest.skip("no sandbox on this machine")
    async with opened() as session:
        case = Case(output="x", workspace=laid(tmp_path, {"test_a.py": "def test_a(): open('/etc/shadow').read()"}))
        assert (await session.evaluate(case, TestRunner())).score == 0.0
