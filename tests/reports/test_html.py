from __future__ import annotations

import functools
import os
import re
import shutil
import subprocess
import threading
import unicodedata
from collections.abc import Iterator
from html.parser import HTMLParser
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.gates import Required, result_of
from deliberate.judging._fence import visible
from deliberate.reports import Imprint, ReadBack, review_page
from deliberate.types import Case, Evaluation, Gate, Scored, UndecidedWhy
from tests.reports.hostile import ALL, HTML, PAYLOADS, hostile
from tests.reports.scripted import (
    CASE,
    absent,
    ballot,
    broken,
    checked,
    evaluated,
    planned,
    split_panel,
    undecided_panel,
    verdict,
    with_others,
)

HIDDEN = {"Cc", "Cf", "Co", "Cs", "Zl", "Zp"}
UNDECIDED: tuple[UndecidedWhy, ...] = (
    "tied",
    "no_quorum",
    "not_independent",
    "waiting",
    "budget",
    "deadline",
    "cancelled",
)
TAGS = """
a article b blockquote body br code dd details div dl dt figcaption figure footer g h1 h2 h3 h4 h5 head header html i li
main meta nav ol p path pre rect section span style summary svg table tbody td text th thead title tr ul
"""
NAMES = """
aria-hidden aria-label charset class colspan content d data-label height href http-equiv id lang name pathlength
preserveaspectratio role scope stroke-dasharray stroke-dashoffset style transform viewbox width x y
"""
OURS = frozenset(TAGS.split())
ATTRIBUTES = frozenset(NAMES.split())
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)


class Reader(HTMLParser):
    """The tags, attributes and text of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str]] = []
        self.text: list[str] = []
        self.comments: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(name, value or "") for name, value in attrs]

    def handle_data(self, data: str) -> None:
        self.text.append(data)

    def handle_comment(self, data: str) -> None:
        self.comments.append(data)

    @property
    def words(self) -> str:
        """All text, with one space for any white space."""
        return " ".join("".join(self.text).split())


def page_of(evaluation: Evaluation, imprint: Imprint | None = None, case: Case = CASE) -> Reader:
    return Reader(review_page([("Refund", case, evaluation)], imprints=[imprint or Imprint()]))


def a_plan() -> Evaluation:
    return planned(
        ("tests", 3, checked(100, "all 12 checks hold")),
        ("jury", 2, split_panel()),
        ("lint", 1, broken("no such file")),
        gates=[Gate(part="tests", min_score=100, effect="cap", cap=50)],
        on_missing="exclude",
    )


def one_model() -> Evaluation:
    return evaluated(
        verdict(
            ("a", "local/qwen", ballot(70, "Fine.")),
            ("b", "local/qwen", ballot(20)),
            ("c", "local/qwen", absent("deadline", "no reply within 120 s")),
            more=[("b", "local/qwen", ballot(60, "Convinced."))],
            because="all seats agree",
            effective={"calibration": "none"},
        )
    )


# --- what it says ----------------------------------------------------------------------------------


def test_a_page_says_all_that_is_known() -> None:
    evaluation = split_panel()
    imprint = Imprint(
        run="7F3K",
        result=result_of(evaluation, Required(min_score=70, max_blockers=0, min_bracket=None)),
        read_back=ReadBack(votes=3, of=3, oldest="2026-11-02T09:30:00.000Z"),
    )
    words = page_of(evaluation, imprint).words
    for said in (
        "2 of 3 votes for Good",
        "of 100 · 0.64",
        "Dissent gemini-3-5",
        "Negative totals round away from zero; the task asked for half to even.",
        "BLOCKER · correctness · refund.py:88",
        "Raised by opus-5, gpt-5-5",
        "It hinges on opus-5 (without it Fair), gpt-5-5 (without it Fair).",
        "rule unanimous",
        "RESULT gate failed: min-score 70 (got 64), max-blockers 0 (got 1) (exit 3)",
        "3 of 3 votes read back, oldest 2026-11-02 · run 7F3K",
        "every seat was asked once",
        "gpt-5.5-2026-04-01",
        CASE.task,
        CASE.reference or "",
        *(() if evaluation.verdict is None else (evaluation.verdict.digest,)),
    ):
        assert said in words


@pytest.mark.parametrize("why", UNDECIDED)
def test_an_undecided_panel_has_no_number(why: UndecidedWhy) -> None:
    page = page_of(undecided_panel(why))
    assert "No verdict" in page.words
    assert "Next" in page.words
    assert "of 100" not in page.words.split("Seats")[0]
    assert ("aria-label", "no score") in page.attributes


def test_a_plan_shows_parts_gates_and_what_is_missing() -> None:
    words = page_of(a_plan()).words
    for said in (
        "weighted_mean of 2 parts",
        "Missing: lint (coverage 0.83)",
        "script: all 12 checks hold",
        "gate on tests: score at least 100: held",
        "Panel jury",
    ):
        assert said in words
    lost = planned(("lint", 1, broken("no such file")), ("open", 1, undecided_panel("tied")))
    assert "No score" in page_of(lost).words
    assert "No verdict · tied between Fair, Good · 1 for Good, 1 for Fair" in page_of(lost).words


def test_notes_rounds_and_absences() -> None:
    words = page_of(one_model()).words
    for said in (
        "its seats share one model: opinions are not independent",
        "uncalibrated: use for ranking",
        "Round 1 sealed",
        "b: Poor → Good",
        "failed no reply within 120 s (deadline)",
        "all seats agree",
    ):
        assert said in words


def test_a_chair_verifiers_and_arguments_are_heard() -> None:
    words = page_of(evaluated(with_others())).words
    for said in ("for a round 1 The drift is gone.", "chair head: Good, 70 round 3", "Refuted by a verifier"):
        assert said in words


def test_what_is_special_about_a_decision_is_told() -> None:
    tied = evaluated(verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(20)), ("c", "m/z", ballot(90))))
    words = page_of(tied).words
    assert "contested · tied between Poor, Good and Excellent, settled by policy" in words
    assert "It gave no reason." in words
    short = evaluated(
        verdict(("a", "m/x", ballot(70)), ("b", "m/y", ballot(70)), ("c", "m/z", absent("not_needed", "x")))
    )
    assert "shortened: the rest could not change the bracket" in page_of(short).words
    carried = Evaluation(evaluator="script", outcome=Scored(score=60.0, raw=60.0, origin="carried"), reason="as before")
    assert "as before · carried" in page_of(carried).words
    bare = Case(output="x")
    assert "The task" not in page_of(carried, case=bare).words


def test_two_verdicts_and_their_judges_on_one_page() -> None:
    page = Reader(
        review_page([("One", CASE, split_panel()), ("Two", CASE, split_panel())], title="Two reviews of a refund")
    )
    assert page.words.count("2 of 3 votes for Good") == 2
    assert "Judge × judge" in page.words
    assert "over 2 cases. Share of pairs of votes in the same bracket: 0.33." in page.words
    assert [value for name, value in page.attributes if name == "href"] == ["#review-1", "#review-2", "#judges"]
    alone = Reader(review_page([("One", CASE, checked(80, "fine"))]))
    assert "Judge × judge" not in alone.words


def test_there_is_an_imprint_for_each_or_none() -> None:
    with pytest.raises(ValueError, match="2 imprints for 1 evaluations"):
        review_page([("One", CASE, split_panel())], imprints=[Imprint(), Imprint()])


def test_same_input_same_page() -> None:
    assert review_page([("One", CASE, split_panel())]) == review_page([("One", CASE, split_panel())])


def test_a_very_long_output_says_that_its_beginning_is_shown() -> None:
    page = page_of(checked(80, "fine"), case=Case(output="y" * 300_000))
    assert "The first 200,000 of 300,000 characters are shown." in page.words
    assert "y" * 200_000 in page.words
    assert "y" * 200_001 not in page.words


# --- what it cannot do -----------------------------------------------------------------------------


def test_a_page_asks_nobody_for_anything() -> None:
    for evaluation in (split_panel(), a_plan(), hostile()[1]):
        page = page_of(evaluation)
        assert set(page.tags) <= OURS
        assert {name for name, _ in page.attributes} <= ATTRIBUTES
        assert {value for name, value in page.attributes if name == "href"} <= {"#judges", "#review-1"}
        assert (
            next(value for name, value in page.attributes if name == "content")
            == "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
        )
        assert "url(" not in review_page([("Refund", CASE, evaluation)])
        assert "@import" not in review_page([("Refund", CASE, evaluation)])


def test_hostile_text_is_text() -> None:
    case, evaluation, imprint = hostile()
    text = review_page([(ALL, case, evaluation)], title=ALL, imprints=[imprint])
    page = Reader(text)
    assert set(page.tags) <= OURS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert page.comments == []
    assert {sign for sign in text if unicodedata.category(sign) in HIDDEN} <= {"\n", "\t"}
    for payload in PAYLOADS:
        assert page.words.count(" ".join(visible(payload).split())) >= 20, payload
    assert "{{ 7*7 }}" in page.words


@given(st.lists(st.one_of(st.text(), st.sampled_from((*PAYLOADS, HTML))), max_size=3).map(" ".join))
def test_any_text_is_a_text_node(text: str) -> None:
    evaluation = evaluated(verdict(("a", "m/x", ballot(70, text))))
    shown = review_page([("One", Case(output=text, task=text), evaluation)])
    page = Reader(shown)
    assert set(page.tags) <= OURS
    assert {name for name, _ in page.attributes} <= ATTRIBUTES
    assert " ".join(visible(text).split()) in page.words
    assert {sign for sign in shown if unicodedata.category(sign) in HIDDEN} <= {"\n", "\t"}


# --- in a browser ----------------------------------------------------------------------------------


@pytest.fixture
def asked() -> Iterator[tuple[str, list[str]]]:
    """An address, and whatever is asked of it."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(self.path)
            self.send_response(204)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  as the base class names it
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=functools.partial(server.serve_forever, poll_interval=0.02))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}", heard
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def browsed(page: str, folder: Path, *, width: int = 1000) -> str:
    """What a real browser makes of a page."""
    assert BROWSER is not None
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            BROWSER,
            "--headless=new",
            "--no-sandbox",
            "--disable-gpu",
            f"--user-data-dir={folder / 'profile'}",
            f"--window-size={width},1200",
            "--virtual-time-budget=2000",
            "--dump-dom",
            file.as_uri(),
        ],
        env={**os.environ, "HOME": str(folder), "XDG_CONFIG_HOME": str(folder), "XDG_CACHE_HOME": str(folder)},
        capture_output=True,
        text=True,
        timeout=50,
        check=True,
    )
    return done.stdout


needs_browser = pytest.mark.skipif(
    BROWSER is None, reason="no chromium on this machine: pages are not opened in a browser"
)


@needs_browser
def test_a_browser_runs_and_fetches_nothing(tmp_path: Path, asked: tuple[str, list[str]]) -> None:
    address, heard = asked
    bait = (
        f"<script src='{address}/a'></script><script>document.title='owned'</script><img src='{address}/b' "
        f"onerror=\"document.title='owned'\"><iframe src='{address}/c'></iframe>"
        f"<style>@import url({address}/d);</style>"
        f"<link rel=stylesheet href='{address}/e'><base href='{address}'><form action='{address}/f'><svg onload='x()'>"
    )
    case = Case(output=bait, task=bait, id=bait)
    seen = browsed(
        review_page([(bait, case, evaluated(verdict(("a", bait.replace(".", ""), ballot(70, bait)))))]), tmp_path
    )
    page = Reader(seen)
    assert set(page.tags) <= OURS
    assert "<title>Review</title>" in seen
    assert heard == []


@needs_browser
@pytest.mark.parametrize("width", [390, 1000])
def test_no_page_is_wider_than_its_window(tmp_path: Path, width: int) -> None:
    case, evaluation, imprint = hostile()
    page = review_page(
        [("Hostile", case, evaluation), ("Plan", CASE, a_plan()), ("Split", CASE, split_panel())],
        imprints=[imprint, Imprint(), Imprint()],
    )
    ruler = "<script>document.title = document.documentElement.scrollWidth + '/' + innerWidth</script>"
    page = re.sub(r"<meta http-equiv[^>]*>", "", page).replace("<details>", "<details open>").replace("</body>", ruler)
    found = re.search(r"<title>(\d+)/(\d+)</title>", browsed(page, tmp_path, width=width))
    assert found is not None
    assert int(found[1]) <= int(found[2])
