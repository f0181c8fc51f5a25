"""Evaluations as people and programs read them: screen, HTML, and for programs.

``_facts`` and ``_words`` work out what a report says, once; ``terminal``, ``html`` and ``export`` only give it a form,
``result`` is the JSON of ``ask --json``, and ``runs`` gives a run of many cases its forms. This room reads nothing but
what it is given. Rules for whoever edits it: text from outside passes through the one escaping function of its sink
(``Screen.shown``, ``html._harmless``, ``export.escaped``); nothing is said by color alone; nothing is cut off.

Names are imported when they are first used, so that a program pays only for the form it asks for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate._lazy import on_first_use

if TYPE_CHECKING:
    from deliberate.reports._encoded import encode, encode_line
    from deliberate.reports._facts import Imprint, ReadBack
    from deliberate.reports._screen import Screen
    from deliberate.reports._totals import Line, Totals, case_line, why_without
    from deliberate.reports._words import score_text
    from deliberate.reports.export import ENDINGS, checked, summary, write
    from deliberate.reports.github import cut, fence, result_command, workflow_commands
    from deliberate.reports.html import review_page
    from deliberate.reports.junit import junit_xml
    from deliberate.reports.result import VerdictObject, schema, verdict_object
    from deliberate.reports.sarif import sarif_log
    from deliberate.reports.terminal import agreement_matrix, show

__all__ = [
    "ENDINGS",
    "Imprint",
    "Line",
    "ReadBack",
    "Screen",
    "Totals",
    "VerdictObject",
    "agreement_matrix",
    "case_line",
    "checked",
    "cut",
    "encode",
    "encode_line",
    "fence",
    "junit_xml",
    "result_command",
    "review_page",
    "sarif_log",
    "schema",
    "score_text",
    "show",
    "summary",
    "verdict_object",
    "why_without",
    "workflow_commands",
    "write",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "deliberate.reports._encoded": ("encode", "encode_line"),
        "deliberate.reports._facts": ("Imprint", "ReadBack"),
        "deliberate.reports._screen": ("Screen",),
        "deliberate.reports._totals": ("Line", "Totals", "case_line", "why_without"),
        "deliberate.reports._words": ("score_text",),
        "deliberate.reports.export": ("ENDINGS", "checked", "summary", "write"),
        "deliberate.reports.github": ("workflow_commands", "cut", "fence", "result_command"),
        "deliberate.reports.html": ("review_page",),
        "deliberate.reports.result": ("VerdictObject", "schema", "verdict_object"),
        "deliberate.reports.junit": ("junit_xml",),
        "deliberate.reports.sarif": ("sarif_log",),
        "deliberate.reports.terminal": ("agreement_matrix", "show"),
    },
)
