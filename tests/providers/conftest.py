from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from deliberate.providers._base import Message, Request

BALLOT: Mapping[str, Any] = {
    "type": "object",
    "properties": {
        "reasoning": {"type": "string"},
        "findings": {"type": "array", "items": {"type": "object"}},
        "bracket": {"type": "string", "enum": ["poor", "fair", "good", "excellent"]},
        "score": {"type": "number", "minimum": 0, "maximum": 100},
        "suggestion": {"type": "string"},
    },
    "required": ["reasoning", "findings", "bracket", "score", "suggestion"],
    "additionalProperties": False,
}


@pytest.fixture
def ask() -> Request:
    """An ask of a model called ``good``, in the form of a ballot."""
    return Request(
        model="openai/good",
        key="k1",
        messages=(
            Message(role="system", content="You judge work that others did."),
            Message(role="user", content="Output: two plus two is four"),
        ),
        schema=BALLOT,
        temperature=0.1,
        seed=0,
        deadline_seconds=5.0,
    )
