"""How much memory ten million votes take to be read, from each kind of file, each in a process of its own.

``python benchmarks/reading.py`` writes the files into a temporary folder (about 1 GB), reads each once and writes
``results/reading.md``; ``--rows N`` takes fewer. Memory is the most the process ever held, interpreter, numpy and
reader included; seconds are of CPU.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from deliberate.studies.votes import Columns, Gathered, table_of_rows

RESULTS = Path(__file__).resolve().parent / "results"
JUDGES = 50
FORMS = {".parquet": "FORMAT parquet", ".csv": "FORMAT csv, HEADER", ".jsonl": "FORMAT json"}
_MIB = 1024


def write(folder: Path, rows: int) -> None:
    """One file a kind: votes of 50 judges on a scale of four, with gold."""
    duckdb = import_module("duckdb")  # here: whoever reads must not have it in memory before

    made = [folder / f"votes{ending}" for ending in FORMS]
    with duckdb.connect() as base:
        base.execute("SET memory_limit = '600MB'; SET threads = 1; SET preserve_insertion_order = false")
        for path in made:
            base.execute(
                f"COPY (SELECT 'q' || (i // {JUDGES}) AS item, 'm/judge-' || (i % {JUDGES}) AS rater, 'model' AS kind, "  # noqa: S608  numbers of ours
                f"(hash(i) % 4)::INT AS vote, (hash(i // {JUDGES}) % 4)::INT AS gold FROM range({rows}) t(i)) "
                f"TO '{path}' ({FORMS[path.suffix]})"
            )


def most() -> float:
    """The most this process ever held, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / _MIB


def read(path: Path) -> str:
    """Reads a file into a table; a row of the results."""
    before, begun = most(), time.process_time()
    found = Gathered(Columns(gold="gold"), where=str(path))
    found.read(path)
    gathered, seconds = most(), time.process_time() - begun
    table = table_of_rows(found)
    rows = sum(asked for asked, _ in table.asked.values())
    each = (gathered - before) * _MIB * _MIB / rows
    size = f"{table.votes.shape[0]:,} items × {table.votes.shape[1]} judges"
    return (
        f"| `{path.suffix}` | {rows:,} | {size} | {before:.0f} | {gathered:.0f} | {most():.0f} | {each:.0f} | "
        f"{seconds:.0f} |"
    )


def main() -> int:
    """Writes, reads, and says what it took."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    parser.add_argument("--read", type=Path)
    parser.add_argument("--write", type=Path)
    asked = parser.parse_args()
    if asked.read is not None:
        print(read(asked.read))
        return 0
    if asked.write is not None:
        write(asked.write, asked.rows)
        return 0
    own = [sys.executable, "-m", "benchmarks.reading"]  # a process starts with the most its parent held
    lines = [
        "# Reading votes",
        "",
        "| file | votes | table | MiB before | once read | with the table | bytes a vote read | CPU seconds |",
        "|---|---:|---|---:|---:|---:|---:|---:|",
    ]
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([*own, "--write", folder, "--rows", str(asked.rows)], check=True)
        for ending in FORMS:
            path = Path(folder, f"votes{ending}")
            told = subprocess.run([*own, "--read", str(path)], check=True, capture_output=True, text=True)
            lines.append(told.stdout.strip())
            path.unlink()
    text = "\n".join(lines) + "\n"
    print(text)
    if asked.rows == parser.get_default("rows"):
        (RESULTS / "reading.md").write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
