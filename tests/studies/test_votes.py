"""Votes from files: columns, scales, repeats, and what is wrong named by file and line."""

from __future__ import annotations

import gzip
from importlib import import_module
from pathlib import Path

import pytest

from deliberate.errors import ConfigError, MissingExtra
from deliberate.studies.votes import Columns, read_votes

np = import_module("numpy")

ROWS = """\
{"item": "a", "rater": "m/x", "vote": "good", "latency_seconds": 2, "cost_usd": 0.01, "length": "four"}
{"item": "a", "rater": "m/y", "score": 80}
{"item": "a", "rater": "ann", "kind": "human", "vote": "Excellent"}

{"item": "b", "rater": "m/x", "vote": null, "status": "unread"}
{"item": "b", "rater": "ann", "kind": "human", "vote": "poor"}
{"item": "a", "rater": "m/x", "vote": "fair", "rep": 1}
{"item": "a", "rater": "m/x", "vote": "good", "order": "21"}
{"item": "a", "rater": "m/y", "vote": "poor"}
"""


def written(folder: Path, text: str, name: str = "votes.jsonl") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_judges_and_people_become_tables_and_the_first_vote_counts(tmp_path: Path) -> None:
    table = read_votes(written(tmp_path, ROWS))
    assert (table.items, table.judges, table.humans) == (("a", "b"), ("m/x", "m/y"), ("ann",))
    assert table.scale.labels == ("poor", "fair", "good", "excellent")
    assert table.votes[0].tolist() == [2, 3]
    assert np.isnan(table.votes[1]).all(), "unread is missing, and never a label"
    assert table.people[:, 0].tolist() == [3, 0]
    assert table.asked == {"m/x": (4, 1), "m/y": (2, 0)}
    assert table.repeats["m/x"].tolist() == [True]
    assert table.swaps["m/x"].tolist() == [False]
    assert (table.latency["m/x"].tolist(), table.cost["m/x"].tolist()) == ([2], [0.01])
    assert table.length[0] == 4, "a text is as long as its characters"
    assert "1 votes came twice" in table.notes[1]


@pytest.mark.parametrize("name", ["votes.csv", "votes.csv.gz"])
def test_csv_with_columns_of_other_names(tmp_path: Path, name: str) -> None:
    text = "id;who\n".replace(";", ",").replace("id,who", "id,who,label,right,people")
    text += 'q1,x,2,3,"[3, 3, 2]"\nq1,y,,3,\nq2,x,3.0,2,"[2, 2, null]"\n'
    path = tmp_path / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith("gz") else text.encode())
    columns = Columns(item="id", rater="who", vote="label", gold="right", human="people")
    table = read_votes(path, columns=columns)
    assert table.scale.labels == ("2", "3")
    assert "taken from the votes" in table.scale.said
    assert table.gold is not None
    assert table.gold.tolist() == [1, 0]
    assert table.humans == ("human 1", "human 2", "human 3")
    assert table.people[0].tolist() == [1, 1, 0]
    assert np.isnan(table.people[1, 2])


def test_parquet_is_read_too(tmp_path: Path) -> None:
    duckdb = import_module("duckdb")
    path = tmp_path / "votes.parquet"
    with duckdb.connect() as base:
        base.execute(f"COPY (SELECT 'a' AS item, 'x' AS rater, true AS vote, 1.5 AS latency_seconds) TO '{path}'")
    table = read_votes(path)
    assert table.scale.labels == ("no", "yes")
    assert table.votes.tolist() == [[1]]


def test_without_duckdb_one_line_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(MissingExtra, match="parquet"):
        read_votes(tmp_path / "votes.parquet")


@pytest.mark.parametrize(
    ("scale", "votes", "expected"),
    [
        ("ordinal:0..3", ("0", "3"), [0, 3]),
        ("pairwise", ("1", "0"), [0, 1]),
        ("pairwise", ("tie", "2"), [1, 2]),
        ("binary", ("pass", "no"), [1, 0]),
        ("brackets", ("poor", "EXCELLENT"), [0, 3]),
        (None, ("yes", "no"), [1, 0]),
        (None, ("poor", "fair"), [0, 1]),
        (None, ("-1", "2"), [0, 3]),
    ],
)
def test_scales_as_named_or_as_the_votes_look(
    tmp_path: Path, scale: str | None, votes: tuple[str, str], expected: list[int]
) -> None:
    rows = "".join(f'{{"item": "{at}", "rater": "x", "vote": "{vote}"}}\n' for at, vote in enumerate(votes))
    assert read_votes(written(tmp_path, rows), scale=scale).votes[:, 0].tolist() == expected


def test_raters_can_be_named_as_people(tmp_path: Path) -> None:
    table = read_votes(written(tmp_path, ROWS), humans=("m/y",))
    assert (table.judges, table.humans) == (("m/x",), ("ann", "m/y"))


@pytest.mark.parametrize(
    ("text", "scale", "message"),
    [
        ("", None, "no votes"),
        ("{", None, r"votes.jsonl:1: "),
        ('{"rater": "x"}', None, r"votes.jsonl:1: no 'item'; expected one of: rater; name it with --item"),
        ('{"item": "a"}', None, "name it with --rater"),
        (
            '{"item": "a", "ann": "good", "gpt": "poor"}',
            None,
            r":1: no 'rater', only item, ann, gpt; expected one vote a row, in columns item, rater, vote; make a row",
        ),
        (
            '{"item": "a", "rater": "x", "vote": "good"}\n{"item": "a", "rater": "y", "vote": "goood"}',
            None,
            "cannot tell",
        ),
        ('{"item": "a", "rater": "x", "vote": "goood"}', "brackets", r":1: vote 'goood'; expected one of: poor, fair"),
        ('{"item": "a", "rater": "x", "vote": "5"}', "ordinal:0..3", "vote '5'"),
        ('{"item": "a", "rater": "x", "vote": "5"}', "ordinal:3..0", "as in ordinal:0..3"),
        ('{"item": "a", "rater": "x", "vote": "5"}', "stars", "as in ordinal:0..3"),
        ('{"item": "a", "rater": "x", "score": 101}', None, "a number from 0 to 100"),
        ('{"item": "a", "rater": "x", "vote": null}', None, "votes like none"),
    ],
    ids=[
        "empty",
        "json",
        "item",
        "rater",
        "wide",
        "inferred",
        "bracket",
        "ordinal",
        "reversed",
        "scale",
        "score",
        "none",
    ],
)
def test_what_is_wrong_is_named_by_file_and_line(tmp_path: Path, text: str, scale: str | None, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        read_votes(written(tmp_path, text), scale=scale)


def test_files_that_cannot_be_read_are_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="unknown ending"):
        read_votes(tmp_path / "votes.xlsx")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_votes(tmp_path / "none.jsonl")
    with pytest.raises(ConfigError, match="cannot be read"):
        read_votes(written(tmp_path, "no gzip", "votes.jsonl.gz"))
    with pytest.raises(ConfigError, match="cannot be read"):
        read_votes(written(tmp_path, "no parquet", "votes.parquet"))


def test_a_list_that_is_none_and_a_thousand_labels_are_refused(tmp_path: Path) -> None:
    path = written(tmp_path, '{"item": "a", "rater": "x", "vote": 1, "people": "2, 3"}')
    with pytest.raises(ConfigError, match=r"a list of votes, as in \[2, 3, 2\]"):
        read_votes(path, columns=Columns(human="people"))
    many = "".join(f'{{"item": "a", "rater": "x", "vote": "v{at}"}}\n' for at in range(1001))
    with pytest.raises(ConfigError, match=r"votes\.jsonl:1001: too many different votes"):
        read_votes(written(tmp_path, many))


def test_bytes_that_are_no_text_are_named(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_bytes(b"item,rater,vote\na,x,\xff\n")
    with pytest.raises(ConfigError, match=r"votes\.csv"):
        read_votes(path)
