"""Rows of votes in a file, one at a time: JSONL, CSV or Parquet."""

from __future__ import annotations

import csv
import gzip
import io
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, cast

import msgspec

from deliberate.errors import ConfigError, MissingExtra

__all__ = ["rows_in"]

_BATCH = 2_000


def rows_in(path: Path) -> Generator[tuple[int, Mapping[str, object]]]:
    """Line numbers and rows."""
    ending = path.name.removesuffix(".gz").rsplit(".", 1)[-1].lower()
    readers = {"jsonl": _json_lines, "ndjson": _json_lines, "csv": _csv}
    if ending == "parquet":
        yield from _parquet(path)
    elif ending in readers:
        with _opened(path) as file:
            yield from readers[ending](file, str(path))
    else:
        raise ConfigError("unknown ending", where=str(path), expected=".jsonl, .csv (also with .gz) or .parquet")


@contextmanager
def _opened(path: Path) -> Generator[IO[bytes]]:
    try:
        with gzip.open(path) if path.name.endswith(".gz") else path.open("rb") as file:
            yield cast("IO[bytes]", file)
    except (OSError, EOFError) as error:
        raise ConfigError(f"cannot be read: {error}", where=str(path)) from None


def _json_lines(file: IO[bytes], where: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    decoder = msgspec.json.Decoder(dict[str, object])
    for number, line in enumerate(file, start=1):
        if line.strip():
            try:
                yield number, decoder.decode(line)
            except (msgspec.DecodeError, UnicodeDecodeError) as error:
                expected = '{"item": ..., "rater": ..., "vote": ...}'
                raise ConfigError(str(error), where=f"{where}:{number}", expected=expected) from None


def _csv(file: IO[bytes], where: str) -> Iterator[tuple[int, Mapping[str, object]]]:
    with io.TextIOWrapper(file, encoding="utf-8-sig", newline="") as decoded:
        reader = csv.reader(decoded)
        try:
            none: list[str] = []
            names = next(reader, none)
            for row in reader:
                if row:
                    yield reader.line_num, dict(zip(names, row, strict=False))  # a short row lacks its last columns
        except (csv.Error, UnicodeDecodeError) as error:
            raise ConfigError(str(error), where=f"{where}:{reader.line_num}") from None


def _parquet(path: Path) -> Iterator[tuple[int, Mapping[str, object]]]:
    try:
        import duckdb
    except ImportError:
        raise MissingExtra("parquet", need="reading Parquet") from None
    with duckdb.connect() as base:
        try:
            cursor = base.execute("SELECT * FROM read_parquet(?)", [str(path)])
        except duckdb.Error as error:
            raise ConfigError(f"cannot be read: {error}".split("\n", 1)[0], where=str(path)) from None
        names = [column[0] for column in cursor.description or ()]
        number = 0
        while rows := cursor.fetchmany(_BATCH):
            for row in rows:
                number += 1
                yield number, dict(zip(names, row, strict=True))
