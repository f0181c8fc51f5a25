"""Text that tries to be more than text, and an evaluation that says it in every place."""

from __future__ import annotations

from deliberate.gates import GateLine, Result
from deliberate.reports import Imprint, ReadBack
from deliberate.types import Case, Evaluation, Evidence, Gate
from tests.reports.scripted import absent, ballot, broken, checked, evaluated, finding, planned, verdict

ESCAPES = "\x1b[31mred\x1b[0m \x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\ a\rb \x07 \x9b2J \x08"
MARKUP = "[bold]loud[/bold] [link=http://evil.example]x[/link] :boom: [/]"
HTML = "<script>document.title='owned'</script><img src=x onerror=alert(1)> \"'><svg/onload=alert(1)> {{ 7*7 }} {% x %}"
DIRECTIONS = "invoice\u202egpj.exe\u2066 \u200bzero \ufeffbom \U000e0041tag \u2028line"
ORDERS = "::error file=a.py,line=1::boom\n::add-mask::secret\n##[group]x"
MARKDOWN = (
    "# h\n| a | b |\n![i](http://evil.example/i.png) [l](javascript:alert(1)) @team #12 www.evil.example `code` ***"
)
LETTERS = "naïve 日本語テキスト שלום 🙂 e\u0301"
PAYLOADS = (ESCAPES, MARKUP, HTML, DIRECTIONS, ORDERS, MARKDOWN, LETTERS)

ALL = "\n".join(PAYLOADS)
SHORT = " ".join(PAYLOADS)


def hostile() -> tuple[Case, Evaluation, Imprint]:
    """Every text of a case, an evaluation and an imprint says all of it."""
    loud = finding(
        "blocker", SHORT, ALL, location=SHORT, quote=ALL, description=ALL, fix=ALL, flags=("quote_not_found",)
    )
    named = "".join(sign for sign in SHORT if sign != ".")
    jury = evaluated(
        verdict(
            (named, SHORT, ballot(70, ALL, loud)),
            ("two", "openai/gpt-x", ballot(30, ALL)),
            ("three", "openai/gpt-y", absent("unreadable", ALL)),
            because=ALL,
            effective={SHORT: ALL},
            flags=(SHORT,),
        )
    )
    whole = planned(
        (SHORT, 1, jury),
        ("check", 1, checked(50, ALL, loud)),
        ("broken", 1, broken(ALL)),
        gates=[Gate(part=SHORT, min_score=90, effect="cap", cap=50)],
        on_missing="zero",
    )
    gates = (GateLine(gate=SHORT, wanted=SHORT, got=SHORT, held=False),)
    result = Result(status="gate", why=ALL, gates=gates)
    case = Case(output=ALL, task=ALL, reference=ALL, id=SHORT, evidence=(Evidence(source=ALL, title=ALL, text=ALL),))
    return case, whole, Imprint(run=SHORT, result=result, read_back=ReadBack(votes=1, of=2, oldest=SHORT))
