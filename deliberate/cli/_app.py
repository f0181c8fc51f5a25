"""The program: its verbs, in the order in which its help lists them.

``_verbs`` declares them with their flags, ``_flags`` the flags that several have. Nothing heavy is imported here: what
a verb does lies in a module of its own, imported when it is called.
"""

from __future__ import annotations

import typer

from deliberate.cli._verbs.ask import ask, run
from deliberate.cli._verbs.judge import evaluator, judge, models, panel
from deliberate.cli._verbs.labels import labels
from deliberate.cli._verbs.record import audit, doctor, redecide, schema, show
from deliberate.cli._verbs.rubric import learn, rubric
from deliberate.cli._verbs.study import compare, probe
from deliberate.cli._verbs.suite import suite

__all__ = ["app"]

app = typer.Typer(
    name="deliberate",
    help="Several judges vote on an output; one defensible verdict comes out.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)

for _verb in (ask, run, show, redecide, compare, probe, audit, doctor, schema):
    app.command()(_verb)
for _nouns in (suite, rubric, judge, panel, evaluator, models, labels, learn):
    app.add_typer(_nouns)
