"""``schema``: JSON Schemas of what is printed."""

from __future__ import annotations

import sys

import msgspec

from deliberate.reports import schema as schema_of

__all__ = ["schema"]


async def schema(*, name: str) -> int:
    """Prints the schema of that name."""
    sys.stdout.write(msgspec.json.format(msgspec.json.encode(schema_of(name)), indent=2).decode() + "\n")
    return 0
