"""How a verb is called, and what verbs of one noun are gathered in."""

from __future__ import annotations

import sys
from importlib import import_module

import typer

from deliberate.cli import TOO_EARLY

__all__ = ["call", "group"]

_MANY = ("_compare", "_probe", "_run", "_suite")
"""The verbs that may ask thousands of times."""


def call(ctx: typer.Context, module: str, function: str) -> None:
    """Runs a verb with its flags, as they were declared."""
    try:
        from deliberate.cli._exits import wait_for  # noqa: PLC0415  only a verb that runs needs it

        profile = ctx.params.pop("profile", None)
        wait_for(
            lambda: getattr(import_module(f"deliberate.cli.{module}"), function)(**ctx.params),
            out=ctx.params.get("out") or (),
            profile=profile,
            many=module in _MANY,
        )
    except KeyboardInterrupt:  # while it was imported
        sys.stderr.write(TOO_EARLY)
        sys.exit(130)


def group(name: str, text: str) -> typer.Typer:
    """The verbs of one noun; alone, it prints its help."""
    return typer.Typer(name=name, help=text, no_args_is_help=True, rich_markup_mode=None)
