"""Many cases from one place: what is read, and what is refused before anything is paid."""

from __future__ import annotations

import csv
import sys
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import ConfigError, MissingExtra
from deliberate.library.cases import Columns, read_cases, survey
from deliberate.types import Case

ROWS = [
    {"id": "a", "output": "4", "task": "2 + 2?", "reference": "4", "category": "sums", "note": "more"},
    {"id": "b", "output": 'five,\n"5"', "task": "2 + 3?", "reference": "5", "category": "sums", "note": ""},
]


def jsonl(folder: Path, *rows: Mapping[str, object] | str, name: str = "c.jsonl") -> Path:
    lines = [row if isinstance(row, str) else msgspec.json.encode(row).decode() for row in rows]
    path = folder / name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def as_csv(folder: Path) -> Path:
    path = folder / "c.csv"
    with path.open("w", encoding="utf-8-sig", newline="") as file:
        writer = csv.DictWriter(file, ROWS[0])
        writer.writeheader()
        writer.writerows(ROWS)
    return path


def as_parquet(folder: Path) -> Path:
    duckdb = import_module("duckdb")
    path = folder / "odd[1]*.parquet"
    source = jsonl(folder, *ROWS, name="p.jsonl")
    duckdb.sql(f"COPY (SELECT * FROM read_json('{source}')) TO '{path}'")  # noqa: S608  of our own making
    return path


@pytest.mark.parametrize("form", [lambda folder: jsonl(folder, *ROWS), as_csv, as_parquet])
def test_each_form_of_a_file_gives_the_same_cases(tmp_path: Path, form) -> None:  # type: ignore[no-untyped-def]  # noqa: ANN001
    wanted = [Case(**{name: value for name, value in row.items() if name != "note"}, workspace="w") for row in ROWS]  # type: ignore[arg-type]
    assert list(read_cases(form(tmp_path), workspace="w")) == wanted


def test_a_folder_holds_outputs_or_folders_with_their_task(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("4\n", encoding="utf-8")
    (tmp_path / ".hidden").write_text("no", encoding="utf-8")
    (tmp_path / "b").mkdir()
    for name, text in (("output.md", "5"), ("task.txt", "2 + 3?"), ("reference.txt", "5"), ("notes.txt", "no")):
        (tmp_path / "b" / name).write_text(text, encoding="utf-8")
    assert list(read_cases(tmp_path, task="sums")) == [
        Case(id="a.txt", output="4\n", task="sums"),
        Case(id="b", output="5", task="2 + 3?", reference="5"),
    ]


def test_columns_have_the_names_they_are_given(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"n": 7, "answer": "4", "prompt": "2 + 2?", "gold": None, "output": "no"})
    columns = Columns(id="n", output="answer", task="prompt", reference="gold")
    assert list(read_cases(path, columns=columns)) == [Case(id="7", output="4", task="2 + 2?")]


def test_without_ids_rows_are_numbered_and_empty_lines_are_none(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"output": "1"}, "", {"output": "2"})
    assert [case.id for case in read_cases(path)] == ["1", "3"]


def test_a_survey_says_what_all_cases_are_like(tmp_path: Path) -> None:
    path = jsonl(tmp_path, {"output": "1"}, {"output": "333", "reference": "12"}, {"output": "55555", "task": "t"})
    found = survey(path)
    assert (found.cases, found.first, found.output, found.task, found.reference) == (
        3,
        Case(id="1", output="1"),
        9,
        1,
        2,
    )
    assert found.typical == Case(id="1", output="xxx")


BAD = [
    ('{"output": "4"', "c.jsonl:2", "this line is no JSON object"),
    ('["4"]', "c.jsonl:2", "this line is no JSON object"),
    ("[" * 100_000, "c.jsonl:2", "this line is no JSON object"),
    ('{"output": "\\ud800"}', "c.jsonl:2", "this line is no JSON object"),
    ('{"output": "a\\u0000b"}', "c.jsonl:2", "no text (NUL"),
    ('{"answer": "4"}', "c.jsonl:2", "there is no 'output' in this row"),
    ('{"output": null}', "c.jsonl:2", "'output' is null"),
    ('{"output": 4}', "c.jsonl:2", "'output' is no text (int)"),
    ('{"output": "4", "reference": ["4"]}', "c.jsonl:2", "'reference' is no text (list)"),
    ('{"output": "4", "id": "a"}', "c.jsonl:2", "id 'a' is used twice; the first is at "),
    ('{"output": "4", "id": " a "}', "c.jsonl:2", "id 'a' is used twice"),
    ('{"output": "4", "id": true}', "c.jsonl:2", "True is no id"),
    ('{"output": "4", "id": ""}', "c.jsonl:2", "'' is no id"),
    ('{"output": "4", "id": "a\\nb"}', "c.jsonl:2", "is no id"),
    ('{"output": "4", "id": "' + "x" * 201 + '"}', "c.jsonl:2", "is no id"),
    ('{"output": "' + "x" * (1024 * 1024 + 1) + '"}', "c.jsonl:2", "'output' is larger than 1 MiB"),
    ('{"output": "' + "x" * (8 * 1024 * 1024) + '"}', "c.jsonl:2", "this line is larger than 8 MiB"),
]


@pytest.mark.parametrize(("line", "where", "what"), BAD, ids=range(len(BAD)))
def test_a_bad_row_is_one_error_with_its_file_and_line(tmp_path: Path, line: str, where: str, what: str) -> None:
    path = jsonl(tmp_path, {"id": "a", "output": "1"}, line)
    with pytest.raises(ConfigError) as error:
        survey(path)
    assert str(error.value).startswith(f"{tmp_path / where}: ")
    assert what in str(error.value)


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("id,output\na,1\nb\n", "c.csv:3", "this row has 1 cells; expected 2"),
        ('id,output\na,"1\n2"\nb,2,3\n', "c.csv:4", "this row has 3 cells; expected 2"),
        ('id,output\na,"1\n', "c.csv:2", "cannot be read as CSV"),
        ("id,id\na,1\n", "c.csv:1", "column 'id' stands there twice"),
        ("id,output\n", "c.csv", "there is no case in it"),
    ],
)
def test_a_bad_table_is_one_error_with_its_line(tmp_path: Path, text: str, where: str, what: str) -> None:
    path = tmp_path / "c.csv"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(ConfigError) as error:
        survey(path)
    assert str(error.value).startswith(f"{tmp_path / where}: ")
    assert what in str(error.value)


def test_a_long_cell_is_read_and_the_modules_own_limit_is_left_alone(tmp_path: Path) -> None:
    before = csv.field_size_limit()
    path = tmp_path / "c.csv"
    path.write_text(f"output\n{'x' * 200_000}\n\n", encoding="utf-8")
    assert survey(path).output == 200_000
    assert csv.field_size_limit() == before


def test_what_is_no_place_of_cases_is_said(tmp_path: Path) -> None:
    (tmp_path / "c.txt").write_text("4", encoding="utf-8")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 not")
    (tmp_path / "latin.csv").write_bytes(b"output\n\xe9\n")
    for name, what in (
        ("none.jsonl", "there is no such file or folder"),
        ("c.txt", "cases cannot be read from .txt"),
        ("latin.csv", "cannot be read as CSV"),
    ):
        with pytest.raises(ConfigError, match=what):
            survey(tmp_path / name)
    with pytest.raises(ConfigError, match="a folder has no columns"):
        survey(tmp_path, columns=Columns(task="prompt"))
    with pytest.raises(ConfigError, match="there is no 'prompt' in this row; expected one of what it has: output"):
        survey(jsonl(tmp_path, {"output": "1"}), columns=Columns(task="prompt"))
    with pytest.raises(ConfigError, match="there is no 'n' in this row"):
        survey(jsonl(tmp_path, {"output": "1"}), columns=Columns(id="n"))
    with pytest.raises(ConfigError, match="cannot be read as Parquet"):
        survey(tmp_path / "broken.parquet")


def test_a_folder_of_a_case_needs_one_output_and_is_no_link(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    (folder / "a").mkdir(parents=True)
    with pytest.raises(ConfigError, match=r"there is no file output\.\* in it"):
        survey(folder)
    for name in ("output.md", "output.txt"):
        (folder / "a" / name).write_text("1", encoding="utf-8")
    with pytest.raises(ConfigError, match="there are two files called output"):
        survey(folder)
    (folder / "a" / "output.md").unlink()
    assert survey(folder).cases == 1
    (folder / "b").symlink_to(folder / "a")
    with pytest.raises(ConfigError, match="is a symbolic link"):
        survey(folder)


def test_without_the_extra_parquet_is_one_line_that_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c.parquet").write_bytes(b"PAR1")
    monkeypatch.setitem(sys.modules, "duckdb", None)
    with pytest.raises(MissingExtra, match=r"needs the extra 'parquet'; pip install"):
        survey(tmp_path / "c.parquet")


@given(st.lists(st.tuples(st.text(max_size=20), st.text(max_size=20) | st.none()), min_size=1, max_size=8))
def test_what_json_says_is_what_the_case_says(
    tmp_path_factory: pytest.TempPathFactory, texts: list[tuple[str, str | None]]
) -> None:
    rows = [
        {"output": output.replace("\0", ""), "reference": None if ref is None else ref.replace("\0", "")}
        for output, ref in texts
    ]
    path = jsonl(tmp_path_factory.mktemp("c"), *rows)
    assert [(case.output, case.reference) for case in read_cases(path)] == [
        (row["output"], row["reference"]) for row in rows
    ]
