"""``compare``: from a file of votes to tables, files and an answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Here

ROWS = "".join(
    f"q{at},{who},{(at + (who == 'm/wild') * at) % 3},{at % 3}\n" for at in range(60) for who in ("m/tame", "m/wild")
)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    path = tmp_path / "votes.csv"
    path.write_text("item,rater,vote,right\n" + ROWS)
    return path


def test_tables_answer_and_files(here: Here, votes: Path, tmp_path: Path) -> None:
    files = [tmp_path / f"study{ending}" for ending in (".html", ".md", ".json", ".csv")]
    found = here("compare", str(votes), "--gold", "right", *(part for file in files for part in ("-o", str(file))))
    assert found.code == 0, found.err
    assert "ANSWER  m/tame agrees best with the column of gold labels" in found.out
    assert max(map(len, found.out.splitlines())) <= 79
    assert all(file.stat().st_size > 300 for file in files)
    assert found.err.count("wrote") == 4


def test_json_is_one_object_on_standard_output(here: Here, votes: Path) -> None:
    found = here("compare", str(votes), "--gold", "right", "--weights", "linear", "--json")
    assert found.json["weights"] == "linear"
    assert found.json["rows"][1]["name"] == "m/tame"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("-o", "study.docx"), "unknown ending '.docx'; expected .csv, .html, .json, .md"),
        (("--weights", "cubic"), "--weights: 'cubic'; expected one of: none, linear, quadratic"),
        (("--rule", "loudest"), "--rule: 'loudest'"),
        (("--item", "id"), "no 'id'; expected one of: item, rater, vote, right; name it with --item"),
        (("-o", "none/study.md"), "cannot be written"),
        (("--repeat", "2"), "--repeat: nobody is asked"),
        (("--swap",), "--swap: nobody is asked; name judges with --judge"),
        (("--max-cost", "2"), "--max-cost: nobody is asked; name judges with --judge"),
        (("--run", "X"), "--run: no ledger named"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(here: Here, votes: Path, more: tuple[str, ...], message: str) -> None:
    found = here("compare", str(votes), "--gold", "right", *more)
    assert found.code == 2
    assert message in found.err
    assert len(found.err.splitlines()) == 1


def test_panels_worth_their_cost_stand_beside_the_best_single_judge(here: Here, votes: Path) -> None:
    found = here("compare", str(votes), "--gold", "right", "--panels")
    assert found.code == 0, found.err
    assert "best single judge on the same labels: m/tame" in found.out
    assert "so its kappa there may differ" in " ".join(found.out.split())


def test_whether_a_judge_may_stand_in_for_a_person(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = [f'q{at},{who},{at % 2},"[{at % 2}, {at % 2}, {int(at % 9 > 4)}]"' for at in range(90) for who in ("m/x",)]
    path.write_text("item,rater,vote,people\n" + "\n".join(rows))
    found = here("compare", str(path), "--humans", "people", "--stand-in", "skilled")
    assert found.code == 0, found.err
    assert "Alternative Annotator Test" in found.out
    assert "Epsilon 0.15 (skilled)" in found.out
    row = next(line for line in found.out.splitlines() if line.startswith("m/x") and line.endswith("yes"))
    assert row.split()[1] == "1.00"


def test_votes_of_a_ledger_are_held_against_labels_from_a_file(here: Here, tmp_path: Path) -> None:
    ledger = tmp_path / "runs.db"
    labels: list[str] = []
    for at in range(4):
        (tmp_path / "output.txt").write_text(f"output {at}")
        panel = (
            "--judge",
            f"scripted/{'good' if at % 2 else 'poor'}:{70 if at % 2 else 10}",
            "--judge",
            "scripted/fair:40",
        )
        made = here("ask", str(tmp_path / "output.txt"), *panel, "--ledger", str(ledger), "--json")
        labels.append(f"{made.json['digests']['case']},ann,human,{'good' if at % 2 else 'poor'}")
    path = tmp_path / "labels.csv"
    path.write_text("item,rater,kind,vote\n" + "\n".join(labels))
    found = here("compare", str(path), "--ledger", str(ledger), "--json")
    assert found.code == 0, found.err
    assert found.json["n"] == 4
    fair = next(row for row in found.json["rows"] if row["name"] == "scripted/fair:40")
    assert (fair["n"], fair["exact"]) == (4, 0)


def test_neither_votes_nor_ledger_or_none_that_exists_is_named(here: Here, tmp_path: Path) -> None:
    assert "a file of votes, or --ledger FILE" in here("compare").err
    assert "there is no ledger" in here("compare", "--ledger", str(tmp_path / "none.db")).err


def labeled(folder: Path) -> Path:
    """Ten outputs that a person has labeled."""
    path = folder / "labels.csv"
    rows = [f"q{at},ann,human,{'good' if at % 2 else 'fair'},output {at}" for at in range(10)]
    path.write_text("item,rater,kind,vote,output\n" + "\n".join(rows))
    return path


def test_judges_are_asked_live_about_what_people_labeled(here: Here, tmp_path: Path) -> None:
    flags = ("--judge", "scripted/good:70", "--judge", "scripted/fair:40", "--repeat", "2")
    found = here("compare", str(labeled(tmp_path)), *flags, "--ledger", str(tmp_path / "runs.db"), "--json")
    assert found.code == 0, found.err
    assert "10 items × 2 judges × 2: 40 calls" in found.err
    good = next(row for row in found.json["rows"] if row["name"] == "scripted/good:70")
    assert (good["n"], good["exact"]) == (10, 0.5)
    assert (good["conduct"]["asked"], good["conduct"]["self_flip"]) == (20, 0)


def test_two_outputs_are_asked_about_in_both_orders(here: Here, tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    rows = [f"q{at},ann,human,{1 + at % 2},one {at},two {at}" for at in range(10)]
    path.write_text("item,rater,kind,vote,output,other\n" + "\n".join(rows))
    flags = ("--judge", "scripted/good:70", "--repeat", "2", "--swap")
    dry = here("compare", str(path), *flags, "--dry-run")
    assert "10 items × 1 judges × 2 × 2 orders: 40 calls" in dry.err
    found = here("compare", str(path), *flags, "--ledger", str(tmp_path / "runs.db"), "--json")
    assert found.code == 0, found.err
    (good,) = [row for row in found.json["rows"] if row["kind"] == "judge"]
    conduct = good["conduct"]
    assert (good["n"], good["exact"], conduct["asked"]) == (10, 0.5, 40)
    assert (conduct["order_flip"], conduct["self_flip"], conduct["length_bias"]) == (1, 0, None)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (("--rubric", "code-review"), "--rubric: two outputs are compared by the task alone"),
        (("--scale", "brackets"), "--scale: 'brackets'; expected pairwise"),
        ((), "labels.csv:3: vote 'fair'"),
    ],
)
def test_what_cannot_be_swapped_is_told_before_anybody_is_asked(
    here: Here, tmp_path: Path, more: tuple[str, ...], said: str
) -> None:
    found = here("compare", str(labeled(tmp_path)), "--judge", "scripted/good:70", "--swap", *more)
    assert (found.code, len(found.err.splitlines())) == (2, 1)
    assert said.replace("labels.csv:3", "labels.csv:2") in found.err


def test_a_dry_run_asks_nobody_and_items_need_an_output(here: Here, votes: Path, tmp_path: Path) -> None:
    found = here("compare", str(labeled(tmp_path)), "--judge", "scripted/good:70", "--dry-run")
    assert (found.code, found.out) == (0, "")
    assert "10 calls" in found.err
    assert "no output of item 'q0'" in here("compare", str(votes), "--judge", "scripted/good:70").err
    assert "no items to ask about" in here("compare", "--ledger", "x.db", "--judge", "scripted/good:70").err
