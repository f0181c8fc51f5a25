"""A number in a file of the workspace: paths in and out of it, and what a file may not be."""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from deliberate import Case
from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators import FileJson
from deliberate.evaluators.file_json import _bytes
from deliberate.types import Evaluation, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

NESTED = '{"runs": [{"f1": 0.5}, {"f1": 0.75}], "a.b": {"c\\\\": 0.25}, "0": 1, "text": "87%", "list": []}'


async def read(opened: Open, evaluator: FileJson, folder: Path) -> Evaluation:
    async with opened() as session:
        return await session.evaluate(Case(output="", workspace=str(folder)), evaluator)


@pytest.mark.parametrize(
    ("key", "raw"),
    [("runs.0.f1", 0.5), ("runs.-1.f1", 0.75), (r"a\.b.c\\", 0.25), ("0", 1.0), ("text", 0.87)],
)
async def test_a_path_leads_through_keys_lists_and_dots(opened: Open, tmp_path: Path, key: str, raw: float) -> None:
    (tmp_path / "results.json").write_text(NESTED)
    assert (await read(opened, FileJson(score_key=key), tmp_path)).raw == raw


@pytest.mark.parametrize(
    ("key", "said"),
    [
        ("run", "there is no key 'run'"),
        ("runs.2.f1", "there is no item '2' in a list of 2"),
        ("runs.first", "there is no item 'first'"),
        ("list.-1", "there is no item '-1' in a list of 0"),
        ("0.x", "'x' leads into something that is neither mapping nor list"),
        ("text.0", "neither mapping nor list"),
        ("runs", "is not a number"),
    ],
)
async def test_a_path_to_nowhere_is_a_failed_reading(opened: Open, tmp_path: Path, key: str, said: str) -> None:
    (tmp_path / "results.json").write_text(NESTED)
    found = await read(opened, FileJson(score_key=key), tmp_path)
    assert isinstance(found.outcome, Unscored)
    assert said in found.outcome.detail


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # read alike on any loop
@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b'{"score": NaN}', "NaN is no number"),
        (b'{"score": -Infinity}', "-Infinity is no number"),
        (b'{"score": 1e999}', "not a finite number"),
        (b"\xff\xfe\x00binary", "is not text"),
        (b"{oops", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"", "is not JSON"),
    ],
)
async def test_what_is_no_finite_number_is_a_failed_reading(
    opened: Open, tmp_path: Path, data: bytes, said: str
) -> None:
    (tmp_path / "results.json").write_bytes(data)
    found = await read(opened, FileJson(), tmp_path)
    assert isinstance(found.outcome, Unscored)
    assert said in found.outcome.detail
    stood_in = await read(opened, FileJson(default_score=0.5, scale="0..1"), tmp_path)
    assert (stood_in.score, stood_in.flags) == (50.0, ("defaulted",))


@pytest.mark.parametrize("name", ["../x.json", "/etc/passwd", "a/../../x.json", "", ".", "a\0b"])
def test_a_name_that_leads_out_of_the_workspace_is_refused_when_it_is_built(name: str) -> None:
    with pytest.raises(ConfigError, match="leads out of the workspace"):
        FileJson(filename=name)


@pytest.mark.parametrize("key", ["", "a..b", ".a", "a."])
def test_a_path_with_an_empty_key_is_refused_when_it_is_built(key: str) -> None:
    with pytest.raises(ConfigError, match="no key"):
        FileJson(score_key=key)


async def test_links_pipes_and_huge_files_are_refused_whatever_the_default(opened: Open, tmp_path: Path) -> None:
    outside, inside = tmp_path / "outside", tmp_path / "inside"
    outside.mkdir()
    inside.mkdir()
    (outside / "results.json").write_text('{"score": 1}')
    (inside / "linked.json").symlink_to(outside / "results.json")
    (inside / "folder").symlink_to(outside)
    (inside / "own.json").write_text('{"score": 1}')
    (inside / "loop.json").symlink_to(inside / "own.json")
    (inside / "huge.json").write_bytes(b" " * (4 * 1024 * 1024 + 1))
    (inside / "directory.json").mkdir()
    os.mkfifo(inside / "pipe.json")
    for name, said in (
        ("linked.json", "is a link"),
        ("loop.json", "is a link"),
        ("folder/results.json", "lies behind one"),
        ("huge.json", "larger than 4 MiB"),
        ("directory.json", "is no plain file"),
        ("pipe.json", "is no plain file"),
    ):
        found = await read(opened, FileJson(filename=name, default_score=0.0), inside)
        assert isinstance(found.outcome, Unscored)
        assert said in found.outcome.detail, name


async def test_a_workspace_that_is_itself_reached_by_a_link_is_no_escape(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "results.json").write_text('{"score": 0.5}')
    (tmp_path / "linked").symlink_to(tmp_path / "real")
    assert (await read(opened, FileJson(), tmp_path / "linked")).raw == 0.5


async def test_a_case_without_a_workspace_is_an_error_before_anything_is_read(opened: Open) -> None:
    async with opened() as session:
        with pytest.raises(ConfigError, match="there is no folder to read from"):
            await session.evaluate(Case(output=""), FileJson())


async def test_no_file_is_a_failed_reading(opened: Open, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    for name in ("none.json", "file/none.json"):
        found = await read(opened, FileJson(filename=name), tmp_path)
        assert isinstance(found.outcome, Unscored)
        assert "there is no such file" in found.outcome.detail


SWAPS = """
import os, sys
away, link, folder = sys.argv[1:]
print("begun", flush=True)
while True:
    os.rename(folder, away)
    os.rename(link, folder)
    os.rename(folder, link)
    os.rename(away, folder)
"""


@pytest.mark.parametrize("reads", [500, pytest.param(10_000, marks=pytest.mark.thorough)])
def test_a_folder_swapped_for_a_link_while_it_is_read_leads_nowhere(tmp_path: Path, reads: int) -> None:
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for place, text in ((inside / "folder", b"ours"), (outside, b"theirs")):
        place.mkdir(parents=True)
        (place / "results.json").write_bytes(text)
    (tmp_path / "link").symlink_to(outside)
    places = [str(tmp_path / "away"), str(tmp_path / "link"), str(inside / "folder")]
    seen: Counter[bytes] = Counter()
    with subprocess.Popen([sys.executable, "-c", SWAPS, *places], stdout=subprocess.PIPE) as swapping:
        try:
            assert swapping.stdout is not None
            assert swapping.stdout.readline() == b"begun\n"
            for _ in range(reads):
                try:
                    seen[_bytes(inside, "folder/results.json")] += 1
                except (ValueError, EvaluatorError):
                    seen[b""] += 1
        finally:
            swapping.kill()
    assert set(seen) == {b"ours", b""}  # read, or away, or a link that was not followed
