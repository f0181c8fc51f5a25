"""``doctor``: what is in the way, and the next command for each."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from deliberate.cli._doctor import sandbox_of
from deliberate.sandbox import Probed
from tests.cli.conftest import THREE, Cli, Here


def test_a_healthy_installation_has_no_problem_and_says_what_to_do_next(here: Here, folder: Path) -> None:
    found = here("doctor", "--json")
    assert (found.code, found.err) == (0, "")
    told = {one["about"]: one for one in found.json["findings"]}
    assert told["ledger"]["told"] == f"{folder}/home/ledger.db is made by the first run"
    assert {"installation", "keys", "weights", "default judge", "ledger", "documents", "sandbox"} <= set(told)
    assert told["installation"]["told"].startswith("deliberate-eval ")
    assert told["keys"]["next"].startswith("export OPENAI_API_KEY=")
    assert told["weights"]["next"] == "deliberate models fetch"
    assert "--judge MODEL" in told["default judge"]["next"]
    sandbox = told["sandbox"]
    held = sandbox["told"].startswith(("bubblewrap: ", "landlock: "))
    assert held if sandbox["state"] == "ok" else "--trust-code" in sandbox["next"]
    assert not any(one["state"] == "problem" for one in told.values())


def test_keys_are_named_and_never_shown(here: Here) -> None:
    found = here("doctor", "--json", OPENAI_API_KEY="sk-secret", DELIBERATE_JUDGE="openai/gpt-x")
    told = {one["about"]: one["told"] for one in found.json["findings"]}
    assert told["keys"] == "OPENAI_API_KEY"
    assert told["default judge"] == "openai/gpt-x (from the environment)"
    assert "sk-secret" not in found.out + found.err


def test_another_distribution_that_owns_our_name_is_a_problem(cli: Cli, folder: Path) -> None:
    metadata = folder / "site/deliberate-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: deliberate\nVersion: 1.0\n", encoding="utf-8")
    (metadata / "top_level.txt").write_text("deliberate\n", encoding="utf-8")
    (metadata / "entry_points.txt").write_text("[console_scripts]\ndeliberate = deliberate.main:app\n", "utf-8")
    (metadata / "RECORD").write_text("deliberate/__init__.py,,\n", encoding="utf-8")
    found = cli("doctor", env={"PYTHONPATH": str(folder / "site")})
    assert found.code == 2
    text = " ".join(found.out.split())
    assert "installation problem deliberate also owns the import and the command 'deliberate'" in text
    assert "-> pip uninstall deliberate && pip install --force-reinstall deliberate-eval" in text


def test_a_sound_ledger_is_counted_and_a_broken_one_is_a_problem(here: Here, folder: Path) -> None:
    ledger = folder / "home/ledger.db"
    here("ask", "answer.txt", *THREE)
    sound = here("doctor", "--json").json["findings"]
    assert f"{ledger}: 5 records, chain sound" in [one["told"] for one in sound]
    with closing(sqlite3.connect(ledger)) as connection, connection:
        connection.execute("UPDATE step SET body = replace(body, 'good', 'fine') WHERE kind = 'Answer'")
    tampered = here("doctor", "--json")
    assert tampered.code == 2
    assert next(one for one in tampered.json["findings"] if one["about"] == "ledger")["state"] == "problem"
    (folder / "other.db").write_text("no ledger\n" * 1000, encoding="utf-8")
    other = here("doctor", "--ledger", "other.db")
    assert other.code == 2
    assert "this file is not a ledger" in " ".join(other.out.split())


def test_documents_that_cannot_be_read_are_problems_by_file_and_line(cli: Cli, folder: Path) -> None:
    bad = folder / ".agents/evaluators/bad"
    bad.mkdir(parents=True)
    (bad / "SKILL.md").write_text("---\nname: [bad\n---\nBody\n", encoding="utf-8")
    found = cli("doctor")
    assert found.code == 2
    assert "documents problem" in " ".join(found.out.split())
    assert f"{bad}/SKILL.md:3:1:notreadableasYAML" in "".join(found.out.split())
    assert found.err == ""  # once is enough


def test_it_says_what_is_in_the_way_of_a_sandbox() -> None:
    works = Probed(tier="landlock", our_environment=True, files_read=True, files_written=True, network=True)
    broken = Probed(tier="bubblewrap", works=False, why="No such file or directory: 'bwrap'")
    found = sandbox_of([broken, works])
    assert (found.state, found.next) == ("ok", "")
    assert found.told.endswith("; it does not hold back signals, daemons")
    found = sandbox_of([broken, Probed(tier="landlock", files_read=True)])
    assert found.state == "note"
    assert "bubblewrap: No such file or directory: 'bwrap'; landlock: does not hold back our environment" in found.told
    assert "--trust-code" in found.next
