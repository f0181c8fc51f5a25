"""Running test tools, and what their reports make of a case.

pytest runs under a small program of ours (``_DRIVER``): it takes a nonce from standard input before anything of the
tree is imported, and prints pytest's JUnit report and exit code behind it. So nothing that the code under test prints
or writes is taken for a report, and a run that is ended early (``os._exit(0)``) has none.
"""

from __future__ import annotations

import importlib.util
import os
import re
import secrets
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence

import msgspec
from anyio import to_thread

from deliberate.errors import EvaluatorError
from deliberate.evaluators._base import Evaluator, measured, unscored
from deliberate.evaluators._report import Failed, Status, Tally, junit_xml, status_of
from deliberate.judging._read import finding_key
from deliberate.runtime import Runtime
from deliberate.types import Evaluation, Finding, Finished, Record

__all__ = ["MOST_BYTES", "Ran", "evaluation_of", "pytest_isolated", "read", "relative", "run_pytest"]

MOST_BYTES = 4 * 2**20
"""How much of a tool's report is kept: no more than is read in a blink."""

_MOST_FINDINGS = 200
_SCRATCH = re.compile(re.escape(os.path.realpath(tempfile.gettempdir())) + r"/deliberate-\w{8}/(?:work|home)/")


class Ran(Record, frozen=True, kw_only=True):
    """One tool's run: its report, how it ended, and the end of what it said."""

    tool: str
    tally: Tally
    exit_code: int | None
    said: str = ""

    @property
    def status(self) -> Status:
        """How it ended."""
        return status_of(self.tally, exit_code=self.exit_code)


def read(tool: str, done: Finished, reader: Callable[[str], Tally], text: Callable[[str], Tally]) -> Ran:
    """What a finished tool reports; where it has no report that can be read, what it printed for people."""
    out, err = relative(done.stdout), relative(done.stderr)
    try:
        tally = reader(out)
        if not tally.total and not tally.broken and done.exit_code:
            tally = text(f"{out}\n{err}")
    except EvaluatorError:
        tally = text(f"{out}\n{err}")
    return Ran(tool=tool, tally=tally, exit_code=done.exit_code, said=_end(err or out))


def relative(said: bytes) -> str:
    """What a tool said, with the folder it ran in left out: that has another name each time."""
    return _SCRATCH.sub("", said.decode("utf-8", "replace"))


def evaluation_of(
    evaluator: Evaluator, runs: Sequence[Ran], *, timeout_seconds: float, required: bool = False
) -> Evaluation:
    """Passed over all tests of all runs, 0–1; one run that was broken off leaves no score.

    Without any test the part is skipped, or has failed where tests are ``required``. There is a Blocker for each
    failed test, and for each thing that kept tests from being run.
    """
    worst = next((run for run in runs if run.status in {"timeout", "error", "collection_error"}), None)
    passed, total = (sum(getattr(run.tally, name) for run in runs) for name in ("passed", "total"))
    status = worst.status if worst else "no_tests" if not total else "passed" if passed == total else "failed"
    details = {
        "status": status,
        "all_passed": status == "passed",
        "passed": passed,
        "failed": total - passed,
        "total": total,
        "skipped": sum(run.tally.skipped for run in runs),
        "tools": {
            run.tool: {"status": run.status, "exit_code": run.exit_code, "read_from": run.tally.read_from}
            for run in runs
        },
    }
    if worst is not None:
        found = unscored(evaluator, "failed", _why(worst, timeout_seconds))
    elif not total:
        found = unscored(evaluator, "failed" if required else "skipped", "there are no tests")
    else:
        found = measured(evaluator, passed / total, scale="0..1", reason=f"{passed} of {total} tests passed")
    failed = [one for run in runs for one in (*run.tally.failed, *run.tally.broken)]
    flags = ("read_from_text",) if any(run.tally.read_from == "text" for run in runs) else ()
    findings = tuple(_finding(at, one) for at, one in enumerate(failed[:_MOST_FINDINGS], start=1))
    return msgspec.structs.replace(found, details=details, findings=findings, flags=flags)


def _why(run: Ran, timeout_seconds: float) -> str:
    if run.status == "timeout":
        return f"{run.tool} took longer than {timeout_seconds:g} s"
    if run.status == "collection_error":
        first = run.tally.broken[0]
        more = f" and {len(run.tally.broken) - 1} more" if len(run.tally.broken) > 1 else ""
        return f"{run.tool} could not load or build the tests: {first.name}{more}: {_end(first.message)}"
    says = f"{run.tally.passed} of {run.tally.total} passed" if run.tally.total else "nothing that can be read"
    return f"{run.tool} ended with exit code {run.exit_code} and reports {says}: {run.said}"


def _finding(at: int, failed: Failed) -> Finding:
    return Finding(
        id=f"F{at}",
        key=finding_key("tests", failed.name, failed.location),
        severity="blocker",
        dimension="tests",
        title=failed.name,
        description=failed.message,
        location=failed.location,
    )


def _end(text: str) -> str:
    return text.strip()[-500:]


# --- pytest ----------------------------------------------------------------------------------------


async def run_pytest(
    runtime: Runtime,
    targets: Sequence[str],
    *,
    workspace: str,
    env: Mapping[str, str],
    options: Sequence[str],
    readable: Sequence[str] = (),
    network: bool = False,
    timeout_seconds: float,
) -> Ran:
    """Runs pytest on files or folders of a workspace.

    Args:
        runtime: The doors.
        targets: Files and folders, relative to the workspace; none: all of it.
        workspace: The folder that is copied and run in.
        env: Variables the tests see.
        options: Further arguments of pytest's.
        readable: What the tests may read besides.
        network: Whether they may use the network.
        timeout_seconds: The total they may take.

    Raises:
        EvaluatorError: pytest is not installed, or was broken off and left no report.
    """
    python = sys.executable if importlib.util.find_spec("pytest") else "python3"
    nonce = secrets.token_hex(16)
    done = await runtime.sandbox.run(
        [python, "-I", "-c", _DRIVER, *_ARGUMENTS, *options, *targets],
        workspace=workspace,
        env={"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTHONDONTWRITEBYTECODE": "1", **env},
        readable=readable,
        network=network,
        stdin=nonce.encode(),
        timeout_seconds=timeout_seconds,
        most_bytes=MOST_BYTES,
    )
    return await to_thread.run_sync(_pytest_report, done, nonce, python)


def _pytest_report(done: Finished, nonce: str, python: str) -> Ran:
    """What pytest reports behind the nonce."""
    said = _end(relative(done.stderr))
    if done.timed_out:
        return Ran(tool="pytest", tally=Tally(read_from="junit"), exit_code=None)
    printed, mark, report = relative(done.stdout).rpartition(nonce)
    if not mark:
        if "No module named 'pytest'" in said:
            raise EvaluatorError(f"pytest is not installed for {python}; pip install pytest")
        raise EvaluatorError(f"pytest was broken off (exit code {done.exit_code}) and left no report: {said}")
    code, _, xml = report.partition("\n")
    if code != str(done.exit_code):
        raise EvaluatorError(f"pytest says that it ended with {code}, and its process with {done.exit_code}: {said}")
    tally = junit_xml(xml) if xml.strip() else Tally(read_from="junit")
    return Ran(tool="pytest", tally=tally, exit_code=done.exit_code, said=_end(printed))


def pytest_isolated() -> tuple[str, ...]:
    """Arguments that keep pytest from the tree's own configuration."""
    return ("-c", "/dev/null")


_ARGUMENTS = (
    "-p",
    "no:cacheprovider",
    "--rootdir=.",
    "--confcutdir=.",
    "-o",
    "junit_family=xunit1",
    "-q",
    "--tb=short",
    "-ra",
)

_DRIVER = """
import os, sys, tempfile
nonce = os.read(0, 64)
os.close(0)
os.open(os.devnull, os.O_RDONLY)
out, exit_now = os.dup(1), os._exit
handle, path = tempfile.mkstemp()
import pytest
sys.path[:0] = [os.getcwd(), os.path.join(os.getcwd(), "src")]
code = int(pytest.main([*sys.argv[1:], "--junitxml=" + path]))
for stream in (sys.stdout, sys.stderr):
    stream.flush()
with open(path, "rb") as file:
    report = file.read()
report = nonce + b"%d\\n" % code + report
while report:
    report = report[os.write(out, report):]
exit_now(code)
"""
