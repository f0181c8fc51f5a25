"""Judges between the human ceiling and the constant floor: tables, pictures, and the ANSWER."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from importlib import import_module
from pathlib import Path
from random import Random
from xml.etree import ElementTree as ET

import msgspec
import pytest

from deliberate.agreement.cohen_kappa import cohen_kappa
from deliberate.errors import ConfigError, UnknownName
from deliberate.studies._page import page
from deliberate.studies._plots import plots, vega_lite
from deliberate.studies._study import Study
from deliberate.studies._tables import as_csv, markdown, text
from deliberate.studies.compare import compare_votes
from deliberate.studies.votes import Columns, VoteTable, read_votes

np = import_module("numpy")

LABELS = ("poor", "fair", "good", "excellent")
EVIL = "<script>alert(1)</script>|=1+1\x1b[31m"


def table(
    folder: Path, judges: Mapping[str, float], *, items: int = 120, people: int = 3, lean: float = 0.0, more: str = ""
) -> VoteTable:
    """Votes of judges and people who are right this often, else one label off."""
    chance = Random(1)
    rows: list[dict[str, object]] = []
    for at in range(items):
        truth = chance.randrange(4)
        for name, right in {**judges, **{f"person {who}": 0.85 for who in range(people)}}.items():
            off = 0 if chance.random() < right else 1 if chance.random() < 0.5 + lean else -1
            human = name.startswith("person")
            row = {"item": f"item {at}{more}", "rater": name, "kind": "human" if human else "model"}
            vote = LABELS[min(3, max(0, truth + off))]
            rows.append({**row, "vote": vote, "length": 10 * at})
            if not human:
                rows[-1] |= {"latency_seconds": 1 + right, "cost_usd": right / 100}
                rows.append({**row, "vote": vote if chance.random() < right else "poor", "rep": 1})
                rows.append({**row, "vote": vote, "order": "21"})
    path = folder / "votes.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows))
    return read_votes(path)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Study:
    judges = {"m/sharp": 0.9, "m/close": 0.88, "m/blunt": 0.5, "m/blind": 0.2}
    return compare_votes(table(tmp_path_factory.mktemp("votes"), judges), draws=200)


def test_judges_stand_between_ceiling_and_floor_the_best_first(study: Study) -> None:
    assert [row.kind for row in study.rows] == ["human", "panel", *["judge"] * 4, "floor"]
    assert [row.name for row in study.judges][2:] == ["m/blunt", "m/blind"]
    ceiling = study.ceiling
    assert ceiling is not None
    assert ceiling.kappa.value is not None
    best = study["m/sharp"]
    assert best.inside
    assert not study["m/blind"].inside
    assert best.kappa.interval == (best.kappa.low, best.kappa.high)
    assert study.rows[-1].kappa.value == 0
    assert study.rows[-1].name.startswith('always "')
    assert all(row.n == 120 and row.missing == 0 for row in study.rows)


def test_a_judge_and_a_person_are_held_against_the_same_people(tmp_path: Path) -> None:
    votes = table(tmp_path, {"m/x": 0.7}, items=40)
    found = compare_votes(votes, draws=100)["m/x"]
    kappas: list[float] = []
    for left in range(3):
        others = [[int(vote) for who, vote in enumerate(row) if who != left] for row in votes.people]
        # Of two people: what both say, else the lower.
        gold = [min(pair) for pair in others]
        kappa = cohen_kappa(list(zip(votes.votes[:, 0], gold, strict=True)), weights="quadratic")
        assert kappa is not None
        kappas.append(kappa)
    assert found.kappa.value == pytest.approx(sum(kappas) / 3)


def test_conduct_is_told_from_repeats_orders_lengths_seconds_and_dollars(study: Study) -> None:
    conduct = study["m/blunt"].conduct
    assert conduct is not None
    assert (conduct.asked, conduct.unread, conduct.order_flip) == (360, 0, 0)
    assert conduct.self_flip is not None
    assert 0.2 < conduct.self_flip < 0.5
    assert conduct.length_bias is not None
    assert conduct.latency_seconds == 1.5
    assert conduct.cost_usd == pytest.approx(0.5)


def test_what_cannot_be_told_apart_says_how_many_items_it_would_take(study: Study) -> None:
    near = next(one for one in study.differences if {one.better, one.other} == {"m/sharp", "m/close"})
    far = next(one for one in study.differences if one.other == "m/blind")
    assert not near.told
    assert near.needed is None or near.needed > 120
    assert far.told
    assert far.needed is None


def test_the_answer_says_who_is_in_the_human_range_and_whom_not_to_use(study: Study) -> None:
    assert study.answer.startswith(
        "m/close and m/sharp cannot be told apart from people on 120 items: m/close has kappa"
    )
    assert "people with each other" in study.answer
    assert "Should not be used: m/blind" in study.answer
    assert study.answer.count(". ") <= 2


def test_a_judge_as_accurate_as_two_people_is_not_said_to_be_worse(tmp_path: Path) -> None:
    """Right as often as they are: a handful of items must not put it below them, whichever way chance falls."""
    for items in (30, 31, 32, 33):
        found = compare_votes(table(tmp_path, {"gpt": 0.85}, items=items, people=2), draws=200)
        judge = found["gpt"]
        assert judge.inside
        assert judge.people is not None
        assert f"gpt cannot be told apart from people on {items} items: kappa " in found.answer
        assert ("would take about" in found.answer) == (judge.people.needed is not None)


def test_a_judge_better_than_people_is_said_to_be(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = []
    for at in range(200):
        truth = at % 4
        near = min(3, truth + 1)
        people = {name: near if at % 3 == who else truth for who, name in enumerate(("ann", "bob", "eve"))}
        said = {**people, "m/x": truth}
        rows += [
            {"item": f"q{at}", "rater": name, "kind": "model" if name == "m/x" else "human", "vote": LABELS[vote]}
            for name, vote in said.items()
        ]
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows))
    answer = compare_votes(read_votes(path), draws=200).answer
    assert answer.startswith(
        "m/x agrees with people better than people agree with each other, by more than chance: kappa "
    )


def test_agreement_by_how_sure_people_are(study: Study) -> None:
    strata = study["m/sharp"].strata
    assert strata[0].certainty == "3 of 3"
    assert sum(one.n for one in strata) == 120
    first, second = strata[0].exact, strata[1].exact
    assert first is not None
    assert second is not None
    assert first > second


def test_the_matrix_holds_people_and_judges_and_is_symmetric(study: Study) -> None:
    assert study.raters[:3] == ("person 0", "person 1", "person 2")
    assert len(study.matrix) == 7
    assert all(study.matrix[a][b] == study.matrix[b][a] for a in range(7) for b in range(7))
    assert sum(map(sum, study["m/sharp"].confusion)) == 120


def test_effective_judges_are_unknown_below_thirty_labeled_items(tmp_path: Path) -> None:
    few = compare_votes(table(tmp_path, {"m/x": 0.6, "m/y": 0.6}, items=29), draws=100)
    assert few.effective.value is None
    assert few.vote_correlation is not None
    assert "effective number of judges unknown" in " ".join(text(few).split())


def test_no_line_is_wider_than_79_columns_and_nothing_is_cut_off(tmp_path: Path) -> None:
    judges = {f"a-provider-with-a-long-name/and-a-model-with-a-longer-one-{at}": 0.3 + at / 10 for at in range(5)}
    shown = text(compare_votes(table(tmp_path, judges, more=" of a rather long name" * 4), draws=100))
    assert max(map(len, shown.splitlines())) <= 79
    for name in judges:
        assert re.sub(r"\s", "", name) in re.sub(r"[\s]", "", re.sub(r"  +[-+–0-9.%$s].*", "", shown))


def test_many_raters_send_the_matrix_to_the_files(tmp_path: Path) -> None:
    shown = text(compare_votes(table(tmp_path, {f"m/{at}": 0.6 for at in range(9)}, items=30), draws=100))
    assert "Kappa of every two of 12 raters is in the files" in shown


def test_names_from_outside_do_nothing_in_any_form(tmp_path: Path) -> None:
    found = compare_votes(table(tmp_path, {EVIL: 0.7, "=cmd": 0.5, "m/z": 0.6}, more=EVIL), draws=100)
    html = page(found)
    assert "<script" not in html
    assert "default-src 'none'" in html
    assert "\x1b" not in html + text(found) + markdown(found)
    assert "<script" not in markdown(found)
    assert "'=cmd" in as_csv(found)
    for one in plots(found):
        ET.fromstring(one)  # noqa: S314  made by us; it must be well-formed


def test_pictures_are_titled_by_questions(study: Study) -> None:
    made = plots(study)
    titles = re.findall(r'font-weight="bold">([^<]*)<', "".join(made))
    assert len(made) == len(titles) == 7
    assert all("?" in title for title in titles)
    assert [ET.fromstring(one).tag for one in made] == ["{http://www.w3.org/2000/svg}svg"] * 7  # noqa: S314  as above
    assert vega_lite(study)["$schema"]


def test_a_notebook_gets_html_vega_lite_and_text(study: Study) -> None:
    bundle = study._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.vegalite.v5+json", "text/html", "text/plain"}
    assert study._repr_html_() == bundle["text/html"]


def test_csv_and_json_hold_every_row(study: Study) -> None:
    rows = list(csv.DictReader(io.StringIO(as_csv(study))))
    assert [row["rater"] for row in rows] == [row.name for row in study.rows]
    assert float(rows[2]["kappa"]) == study.judges[0].kappa.value
    assert msgspec.json.decode(msgspec.json.encode(study), type=Study) == study


def gold_rows(votes: Sequence[tuple[object, object]]) -> bytes:
    return b"\n".join(
        msgspec.json.encode({"item": f"q{at}", "rater": "m/x", "vote": vote, "gold": gold})
        for at, (vote, gold) in enumerate(votes)
    )


def test_a_panel_of_a_file_has_a_row_of_its_own_and_is_no_judge(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    gold = [at % 2 for at in range(40)]
    votes = {
        "m/x": [5 * one for one in gold],
        "m/y": [5] * 40,
        "board": [4 * one + at // 2 % 2 for at, one in enumerate(gold)],
    }
    rows = [
        {
            "item": f"q{at}",
            "rater": name,
            "kind": "panel" if name == "board" else "model",
            "vote": vote,
            "gold": gold[at],
        }
        for name, said in votes.items()
        for at, vote in enumerate(said)
    ]
    path.write_bytes(b"\n".join(map(msgspec.json.encode, rows)))
    found = compare_votes(read_votes(path, columns=Columns(gold="gold")), draws=100)
    assert found.labels == ("0", "1")  # cut in two, the panel's votes too
    assert [row.name for row in found.panels] == ["board"]
    assert (found["board"].exact, found["board"].kappa.value) == (1.0, 1.0)
    assert [row.name for row in found.judges] == ["m/x", "m/y"]
    assert found.together is not None
    assert found.together.name == "panel of 2, plurality"
    assert "By its verdict, board has kappa 1.00" in found.answer
    assert "board" in text(found)


def test_votes_are_cut_in_two_where_gold_says_only_good_or_not(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_bytes(gold_rows([(at % 11, int(at % 11 > 6)) for at in range(44)]))
    votes = read_votes(path, columns=Columns(gold="gold"))
    middle = compare_votes(votes, draws=100)
    assert middle.labels == ("0", "1")
    assert "votes above 5 count as 1" in middle.notes[-1]
    assert compare_votes(votes, cut=6, draws=100)["m/x"].exact == 1
    assert "as no item has labels of two" in middle.answer


def test_one_judge_who_never_varies_has_no_kappa_and_the_answer_says_so(tmp_path: Path) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_bytes(gold_rows([("good", "good")] * 3))
    found = compare_votes(read_votes(path, columns=Columns(gold="gold")), draws=100)
    assert found["m/x"].kappa.value is None
    assert found.answer == "No judge can be told from chance: kappa is undefined for all of them."
    assert "undefined" in text(found)
    assert page(found)
    assert plots(found)


def test_judges_outside_the_human_range_are_said_to_be(tmp_path: Path) -> None:
    found = compare_votes(table(tmp_path, {"m/x": 0.3, "m/y": 0.6}, items=300), draws=200)
    assert found.answer.startswith("No judge agrees with people as well as people agree with each other (kappa ")
    assert "more than chance); m/y comes nearest" in found.answer
    assert [row.inside for row in found.judges] == [False, False]
    behind = found.judges[0].people
    assert behind is not None
    assert behind.apart.low is not None
    assert behind.apart.low > 0
    assert "m/y is ahead of every other judge by more than chance" in found.answer


@pytest.mark.parametrize(
    ("rows", "columns", "message"),
    [
        ('{"item": "a", "rater": "ann", "kind": "human", "vote": "good"}', Columns(), "all raters are people;"),
        (
            '{"item": "a", "rater": "board", "kind": "panel", "vote": "good"}',
            Columns(),
            "all raters are people or panels;",
        ),
        ('{"item": "a", "rater": "x", "vote": "good"}', Columns(), "no labels of people"),
        ('{"item": "a", "rater": "x", "vote": "good", "gold": "fair"}', Columns(gold="gold"), "fewer than two items"),
    ],
    ids=["people", "panels", "no people", "one item"],
)
def test_what_cannot_be_compared_is_named(tmp_path: Path, rows: str, columns: Columns, message: str) -> None:
    path = tmp_path / "votes.jsonl"
    path.write_text(rows)
    with pytest.raises(ConfigError, match=message):
        compare_votes(read_votes(path, columns=columns), draws=100)


def test_a_cut_without_gold_and_a_judge_who_is_not_there_are_named(tmp_path: Path, study: Study) -> None:
    with pytest.raises(ConfigError, match="--cut"):
        compare_votes(table(tmp_path, {"m/x": 0.5}, items=5), cut=1)
    with pytest.raises(UnknownName, match="did you mean 'm/sharp'"):
        study["m/shrap"]


def test_a_judge_that_follows_the_order_or_is_often_unread_should_not_be_used(tmp_path: Path) -> None:
    rows: list[dict[str, object]] = []
    for at in range(60):
        gold = LABELS[at % 4]
        rows += [{"item": f"q{at}", "rater": "m/swings", "vote": gold, "gold": gold, "order": "12"}]
        rows += [{"item": f"q{at}", "rater": "m/swings", "vote": "poor", "gold": gold, "order": "21"}]
        rows += [{"item": f"q{at}", "rater": "m/silent", "vote": gold if at % 5 else None, "gold": gold}]
    path = tmp_path / "votes.jsonl"
    path.write_bytes(b"\n".join(msgspec.json.encode(row) for row in rows))
    found = compare_votes(read_votes(path, columns=Columns(gold="gold")), draws=100)
    assert "m/swings (order flips 75%)" in found.answer
    assert "m/silent (unread 20.0%)" in found.answer
    assert "cannot be told apart from" in found.answer
    assert (found["m/silent"].n, found["m/silent"].missing) == (48, 12)


def test_one_judge_alone_has_nobody_to_be_told_apart_from(tmp_path: Path) -> None:
    found = compare_votes(table(tmp_path, {"m/x": 0.9}), draws=100)
    assert found.differences == ()
    assert "told apart" not in found.answer
    assert [row.kind for row in found.rows] == ["human", "judge", "floor"]


def test_the_same_votes_are_decided_under_another_rule(tmp_path: Path) -> None:
    first = compare_votes(table(tmp_path, {"m/a": 0.9, "m/b": 0.4, "m/c": 0.4}, items=60), draws=100)
    other = first.redecide(rule="mean", weights="linear")
    assert (other.rule, other.weights, first.rule) == ("mean", "linear", "plurality")
    assert next(row.name for row in other.rows if row.kind == "panel") == "panel of 3, mean"
    assert other.redecide(rule="plurality", weights=None) == first
    with pytest.raises(UnknownName, match="unknown change 'rul'"):
        first.redecide(rul="mean")
    with pytest.raises(ConfigError, match="are not at hand"):
        msgspec.json.decode(msgspec.json.encode(first), type=Study).redecide(rule="mean")


def test_bias_by_length_is_told_in_groups_of_as_many_items(study: Study) -> None:
    bins = study["m/sharp"].lengths
    assert [one.n for one in bins] == [20] * 6
    assert [one.length for one in bins] == sorted(one.length for one in bins)
    assert sum(one.bias * one.n for one in bins) == pytest.approx(120 * (study["m/sharp"].bias or 0.0), abs=20)


def test_a_judge_without_an_interval_is_not_called_worse_than_chance(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    path.write_text("item,rater,kind,vote\na,x,human,poor\nb,x,human,good\na,m/j,,poor\nb,m/j,,good\n")
    answer = compare_votes(read_votes(path), draws=100).answer
    assert "kappa 1.00 (these votes allow no interval) on 2 items" in answer
    assert "Should not be used" not in answer


def test_votes_that_allow_no_interval_do_not_say_whether_a_judge_is_as_good_as_people(tmp_path: Path) -> None:
    path = tmp_path / "votes.csv"
    rows = "a,ann,human,good\na,bob,human,fair\na,m/j,,good\nb,ann,human,poor\nb,bob,human,poor\nb,m/j,,fair\n"
    path.write_text("item,rater,kind,vote\n" + rows)
    found = compare_votes(read_votes(path), draws=100)
    assert found["m/j"].inside is None
    assert "whether any judge is as good as people cannot be told from these votes" in found.answer
    assert "Should not be used" not in found.answer
