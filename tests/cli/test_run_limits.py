"""Budget and quota as whoever gives the command meets them: a hard stop, a result of what there is, a way on."""

from __future__ import annotations

from pathlib import Path

import anyio
import msgspec
import pytest

from deliberate.testing.endpoint import Endpoint, Script
from tests.cli.conftest import Result, command, environment

pytestmark = pytest.mark.anyio

CASES = 12


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def ran(folder: Path, script: Script | None, *flags: str) -> Result:
    """A run of priced judges at an endpoint of its own."""
    rows = [{"id": f"q{at}", "output": str(2 * at), "task": f"{at} + {at}?"} for at in range(CASES)]
    (folder / "cases.jsonl").write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))
    judges = [part for name in ("gpt-4o", "gpt-4o-mini") for part in ("--judge", f"openai/{name}")]
    async with Endpoint(script) as endpoint:
        where = ("--api-base", f"openai={endpoint.address}")
        done = await anyio.run_process(
            command("run", "--cases", "cases.jsonl", "--criteria", "Is it right?", *where, *judges, *flags),
            cwd=folder,
            env=environment(folder, OPENAI_API_KEY="sk-none"),
            check=False,
        )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


async def test_a_budget_is_used_up_and_never_passed_and_a_larger_one_goes_on(folder: Path) -> None:
    told = await ran(folder, None, "--max-cost", "0.023", "--json")
    launch, done = map(msgspec.json.decode, told.out.splitlines())
    assert launch["estimate"]["worst_usd"] > 0.023 > done["usage"]["cost_usd"] > 0.0
    assert (told.code, done["status"], done["exit_code"]) == (5, "incomplete", 5)
    assert done["votes"]["unasked"] > 0
    again = await ran(folder, None, "--max-cost", "1", "--json")
    more = msgspec.json.decode(again.out.splitlines()[-1])
    assert (again.code, more["scored"], more["run"]) == (0, CASES, done["run"])
    assert more["read_back"] == done["votes"]["voted"]
    assert more["usage"]["calls"] == 2 * CASES  # none of them twice


@pytest.mark.thorough
async def test_a_quota_that_is_used_up_parks_the_key_and_the_cause_is_on_the_votes(folder: Path) -> None:
    told = await ran(folder, lambda _: "quota", "--json", "-o", "r.jsonl")
    done = msgspec.json.decode(told.out.splitlines()[-1])
    assert (told.code, done["votes"]["failed"]) == (4, 2 * CASES)
    assert done["usage"]["calls"] <= 8  # those that were in flight when the first heard it
    line = msgspec.json.decode((folder / "r.jsonl").read_bytes().splitlines()[-1])
    assert "quota" in line["votes"][0]["absent"]["detail"]
