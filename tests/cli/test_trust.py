"""From labels to trust: sections of ``compare``, calibrations that are required, labels in the ledger, and drift."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from tests.cli.conftest import Here

SECTIONS = (
    "Panels worth their cost",
    "Alternative Annotator Test: may a judge stand in for a person?",
    "A rate, put right by people's labels",
    "From which share of votes on may the panel decide alone?",
    "Weights from anchors, before and after",
    "What votes say when nobody knows what is right (Dawid-Skene)",
)


@pytest.fixture
def votes(tmp_path: Path) -> Path:
    """Four judges and three people on 90 items, of which people labeled 60."""
    rows: list[dict[str, object]] = []
    for at in range(90):
        for judge, wrong in (("m/a", 7), ("m/b", 5), ("m/c", 3), ("m/<d>", 2)):
            vote = ("poor", "good")[(at + (at % wrong == 0)) % 2]
            rows.append({"item": f"q{at}", "rater": judge, "vote": vote, "length": 10 * at})
        for who in range(3 if at < 60 else 0):
            vote = ("poor", "good", "fair")[2 if (at + who) % 11 == 0 else at % 2]
            rows.append({"item": f"q{at}", "rater": f"p{who}", "kind": "human", "vote": vote})
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    return path


def test_what_is_asked_for_besides_agreement_is_in_every_form(here: Here, votes: Path, tmp_path: Path) -> None:
    flags = ["--panels", "--stand-in", "crowd", "--rate", "good", "--abstain", "0.2", "--draws", "100"]
    flags += ["--anchors", "--dawid-skene"]
    files = [tmp_path / f"study{ending}" for ending in (".html", ".md", ".json")]
    found = here("compare", str(votes), *flags, *(part for file in files for part in ("-o", str(file))))
    assert found.code == 0, found.err
    assert max(map(len, found.out.splitlines())) <= 79
    page, markdown, whole = (file.read_text() for file in files)
    for title in SECTIONS:
        assert title in found.out
        assert title.replace("'", "&#39;") in page
        assert title.replace("(", "&#40;").replace(")", "&#41;") in markdown
    assert "WARNING: fitted from agreement alone" in found.out
    assert "<d>" not in page
    assert "m/&lt;d&gt;" in page
    further = msgspec.json.decode(whole)["further"]
    assert further["rates"]["of"] == "good"
    assert further["rates"]["rows"][0]["rater"] == "panel of 4, plurality"
    assert further["rates"]["rows"][0]["found"]["n"] == 60
    assert further["anchors"]["learnt"]
    assert [one["form"] for one in further["consensus"]] == ["full", "one_coin"]
    assert further["abstention"]["target"] == 0.2
    assert {one["judge"] for one in further["stand_in"]} == {"m/a", "m/b", "m/c", "m/<d>"}


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--rate", "splendid"), "--rate: 'splendid'; expected mean, or a label: poor, fair, good, excellent"),
        (("--abstain", "0"), "--abstain: 0.0; expected a share above 0 and below 1"),
        (("--calibrate",), "do not say by which rubric and version"),
    ],
)
def test_what_cannot_be_said_is_named_by_its_flag(
    here: Here, votes: Path, flags: tuple[str, ...], message: str
) -> None:
    found = here("compare", str(votes), "--draws", "100", *flags)
    assert found.code == 2
    assert message in found.err


def test_a_mean_and_a_rate_need_items_with_a_label_and_items_without(here: Here, votes: Path, tmp_path: Path) -> None:
    found = here("compare", str(votes), "--rate", "mean", "--draws", "100")
    assert "Mean label, its position from 0" in found.out
    path = tmp_path / "labeled.jsonl"
    path.write_bytes(b"\n".join(line for line in votes.read_bytes().splitlines() if b'q1"' in line or b'q2"' in line))
    assert "--rate: 2 of 2 items have a label" in here("compare", str(path), "--rate", "good", "--draws", "100").err
    two = "\n".join(line for line in votes.read_text().splitlines() if '"m/a"' in line or '"p0"' in line)
    path.write_text(two)
    assert "--abstain: 1 judges; expected at least 3" in here("compare", str(path), "--abstain", "0.1").err


def labeled(folder: Path) -> Path:
    path = folder / "labels.csv"
    rows = [f"q{at},ann,human,{'good' if at % 2 else 'fair'},output {at}" for at in range(10)]
    path.write_text("item,rater,kind,vote,output\n" + "\n".join(rows))
    return path


def test_a_judge_counts_only_once_it_was_measured_and_as_it_was_measured(here: Here, tmp_path: Path) -> None:
    (tmp_path / "output.txt").write_text("an output")
    ledger = ("--ledger", str(tmp_path / "asked.db"))
    ask = ("ask", str(tmp_path / "output.txt"), "--rubric", "general", "--require-calibration", *ledger)
    found = here(*ask, "--judge", "scripted/good:70")
    assert found.code == 2
    assert "scripted/good:70 was never calibrated by rubric 'general'" in found.err
    assert "--calibrate measures them" in found.err
    measure = ("compare", str(labeled(tmp_path)), "--judge", "scripted/good:70", "--calibrate", "--draws", "100")
    made = here(*measure, "--ledger", str(tmp_path / "runs.db"))
    assert made.code == 0, made.err
    assert "calibrated: scripted/good:70 as scripted/good:70, rubric general: kappa 0.00 on 10 items" in made.err
    assert here(*ask, "--judge", "scripted/good:70").code == 0
    both = here(*ask, "--judge", "scripted/good:70", "--judge", "scripted/fair:40")
    assert both.code == 2, "one that was not measured is enough"
    assert "scripted/fair:40 was never calibrated" in both.err
    free = here("ask", str(tmp_path / "output.txt"), "--judge", "scripted/good:70", "--require-calibration")
    assert "expected a rubric by name" in free.err
    kept = next(tmp_path.rglob("calibrations.json"))
    known = msgspec.json.decode(kept.read_bytes())
    assert [(one["n"], one["exact"], one["base_rates"]["fair"]) for one in known] == [(10, 0.5, 0.5)]
    known[0]["version"] = "scripted/older"
    kept.write_bytes(msgspec.json.encode(known))
    stale = here(*ask, "--judge", "scripted/good:70", "--json")
    assert stale.code == 4, stale.err
    assert "abstained" in stale.out
    assert "stale, calibrated as scripted/older, answered as scripted/good:70" in stale.out
    known[0]["rubric_digest"] = "another"
    kept.write_bytes(msgspec.json.encode(known))
    assert "stale, rubric 'general' changed since 20" in here(*ask, "--judge", "scripted/good:70").err
    known[0]["judge_digest"] = "another"
    kept.write_bytes(msgspec.json.encode(known))
    assert "stale, persona or settings changed since" in here(*ask, "--judge", "scripted/good:70").err
    kept.write_text("[{}]")
    assert "delete it, and measure anew" in here(*ask, "--judge", "scripted/good:70").err


def test_labels_of_people_are_kept_in_the_ledger_and_compared_with(here: Here, tmp_path: Path) -> None:
    ledger = ("--ledger", str(tmp_path / "runs.db"))
    labels = tmp_path / "labels.jsonl"
    rows: list[str] = []
    for at in range(4):
        (tmp_path / "output.txt").write_text(f"output {at}")
        judges = ("--judge", f"scripted/{'good' if at % 2 else 'poor'}:{70 if at % 2 else 10}")
        made = here("ask", str(tmp_path / "output.txt"), *judges, "--judge", "scripted/fair:40", *ledger, "--json")
        score = '"score": 71' if at % 2 else '"vote": "poor", "reason": "wrong"'
        rows.append(f'{{"item": "{made.json["digests"]["case"][:12]}", "rater": "ann", {score}}}')
    labels.write_text("\n".join(rows))
    assert "2 labels" not in here("labels", "import", str(labels), *ledger).err
    again = here("labels", "import", str(labels), *ledger)
    assert "4 labels of 4 judged cases" in again.err
    found = here("compare", *ledger, "--json")
    assert found.code == 0, found.err
    assert found.json["n"] == 4
    fair = next(row for row in found.json["rows"] if row["name"] == "scripted/fair:40")
    assert (fair["n"], fair["exact"]) == (4, 0)
    drift = here("judge", "drift", "--judge", "scripted/fair:40", "--promised", "0.9", *ledger, "--json")
    (one,) = drift.json["judges"]
    assert (one["judge"], one["drift"]["segments"][0]["n"]) == ("scripted/fair:40", 4)


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ('{"item": "abc", "rater": "ann", "vote": "good"}', "0 judged cases have a digest that begins with 'abc'"),
        ('{"item": "%s", "vote": "good"}', "no 'rater'"),
        ('{"item": "%s", "rater": "ann"}', "neither a vote nor a score"),
        ('{"item": "%s", "rater": "ann", "score": 400}', "is no label"),
    ],
)
def test_a_label_that_fits_nothing_is_named_and_none_is_kept(
    here: Here, tmp_path: Path, row: str, message: str
) -> None:
    ledger = ("--ledger", str(tmp_path / "runs.db"))
    (tmp_path / "output.txt").write_text("an output")
    made = here("ask", str(tmp_path / "output.txt"), "--judge", "scripted/good:70", *ledger, "--json")
    labels = tmp_path / "labels.jsonl"
    labels.write_text(row.replace("%s", made.json["digests"]["case"]))
    found = here("labels", "import", str(labels), *ledger)
    assert found.code == 2
    assert message in found.err
    assert f"{labels}:1" in found.err


def test_a_version_that_came_in_and_is_worse_is_named(here: Here, tmp_path: Path) -> None:
    ledger = ("--ledger", str(tmp_path / "runs.db"))
    labels: list[str] = []
    for at in range(3):
        (tmp_path / f"{at}.txt").write_text(f"output {at}")
    for _ in range(2):
        for at in range(3):
            judge = ("--judge", "scripted/good:70", "--rubric", "general", "--fresh")
            made = here("ask", str(tmp_path / f"{at}.txt"), *judge, *ledger, "--json")
            labels.append(f'{{"item": "{made.json["digests"]["case"]}", "vote": "poor"}}')
    path = tmp_path / "labels.jsonl"
    path.write_text("\n".join(labels))
    page = tmp_path / "drift.html"
    found = here("judge", "drift", str(path), "--promised", "0.95", "--false-alarms", "0.5", *ledger, "-o", str(page))
    assert found.code == 0, found.err
    assert "scripted/good:70, rubric general" in found.out
    assert "right 0% of 6 anchors" in found.out, "what was asked anew counts again"
    assert "wealth at most 23.51 of 3: ALARM" in found.out
    assert "seen on 20" in found.out
    assert "an alarm is false with probability 0.5 at most" in found.out
    assert max(map(len, found.out.splitlines())) <= 80
    assert "Has scripted/good:70 changed?" in page.read_text()
    assert "<script" not in page.read_text()
    assert here("judge", "drift", str(path), "--promised", "0.95", *ledger, "-o", "x.md").code == 2
    none = here("judge", "drift", str(path), *ledger)
    assert "nothing was promised" in none.err
    assert "no judge has a promise" in none.err
    assert "no anchors" in here("judge", "drift", *ledger).err
    assert "there is no ledger" in here("judge", "drift", "--ledger", str(tmp_path / "none.db")).err
    path.write_text('{"item": "q", "vote": "splendid"}')
    assert "is no label" in here("judge", "drift", str(path), *ledger).err


@pytest.mark.parametrize("columns", [60, 80, 160])
def test_nothing_is_cut_off_at_any_width(here: Here, votes: Path, tmp_path: Path, columns: int) -> None:
    ledger, items = tmp_path / "runs.db", tmp_path / "items.csv"
    items.write_text("item,output,task\nq1,It is Paris.,Where is the Louvre?\n")
    long = f"scripted/good:70#{'very-long-name-' * 6}"
    probed = here("probe", str(items), "--judge", long, "--ledger", str(ledger), COLUMNS=str(columns))
    assert probed.code == 0, probed.err
    text = here("compare", str(votes), "--draws", "100", "--dawid-skene", COLUMNS=str(columns)).out
    assert max(map(len, text.splitlines())) <= 79, "tables are made for 80 columns, and are the same on any screen"
    assert max(map(len, probed.out.splitlines())) <= max(columns, len(long) + 1)
    for out in (text, probed.out):
        assert "…" not in out
    assert long in probed.out.replace("\n", "")
