"""``schema``: JSON Schemas of what is written and read."""

from __future__ import annotations

import sys

import msgspec

from deliberate.errors import UnknownName
from deliberate.library import schemas
from deliberate.reports import verdict_schema

__all__ = ["schema"]


async def schema(*, name: str) -> int:
    """Prints the schema of that name."""
    known = {"verdict": verdict_schema, **schemas()}
    if name not in known:
        kind = "schema"
        raise UnknownName(kind, name, known)
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(known[name]()), indent=2).decode() + "\n")
    return 0
