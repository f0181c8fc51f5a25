"""``schema``: JSON Schemas of what is printed, and of plan files."""

from __future__ import annotations

import sys
from typing import Any

import msgspec

from deliberate import plugins
from deliberate.errors import UnknownName
from deliberate.reports import schema as schema_of
from deliberate.reports.result import SCHEMAS

__all__ = ["schema"]


async def schema(*, name: str) -> int:
    """Prints the schema of that name.

    Raises:
        UnknownName: There is none.
    """
    if name not in (*SCHEMAS, "plan"):
        raise UnknownName("schema", name, (*SCHEMAS, "plan"))
    found = _plan() if name == "plan" else schema_of(name)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(found), indent=2).decode() + "\n")
    return 0


def _plan() -> dict[str, Any]:
    from deliberate.evaluators import params_schema  # noqa: PLC0415  only this schema needs every evaluator
    from deliberate.library import plan_schema  # noqa: PLC0415  only where it is needed

    return plan_schema({name: params_schema(name) for name in plugins.names("evaluators")})
