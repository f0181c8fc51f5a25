"""Judge actors: prompt, ask, read.

A post comes in, an answer goes out: ``key`` names the question, ``_prompt`` writes it, ``_ask`` takes it through
retries and one repair, ``_read`` reads the reply, ``_actors`` runs it all. Names are imported when they are first used.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from deliberate._lazy import on_first_use

if TYPE_CHECKING:
    from deliberate.judging._actors import JudgeActors, UnderWay
    from deliberate.judging._ask import MOST_ATTEMPTS
    from deliberate.judging._fence import SLOT, visible
    from deliberate.judging._limit import Limit
    from deliberate.judging._pace import Pace
    from deliberate.judging._post import post_of
    from deliberate.judging._prompt import digest_of_prompt, request_of
    from deliberate.judging._purse import Purse
    from deliberate.judging._read import finding_key, read
    from deliberate.judging._revised import affecting_form, revision_form, said_in_text
    from deliberate.judging._schema import asked_dimensions, schema_of
    from deliberate.judging._suspect import addresses_judges
    from deliberate.judging.key import key_of, key_of_case

__all__ = [
    "MOST_ATTEMPTS",
    "SLOT",
    "JudgeActors",
    "Limit",
    "Pace",
    "Purse",
    "UnderWay",
    "addresses_judges",
    "affecting_form",
    "asked_dimensions",
    "digest_of_prompt",
    "finding_key",
    "key_of",
    "key_of_case",
    "post_of",
    "read",
    "request_of",
    "revision_form",
    "said_in_text",
    "schema_of",
    "visible",
]

__getattr__, __dir__ = on_first_use(
    __name__,
    {
        "deliberate.judging._actors": ("JudgeActors", "UnderWay"),
        "deliberate.judging._ask": ("MOST_ATTEMPTS",),
        "deliberate.judging._fence": ("SLOT", "visible"),
        "deliberate.judging._limit": ("Limit",),
        "deliberate.judging._pace": ("Pace",),
        "deliberate.judging._post": ("post_of",),
        "deliberate.judging._prompt": ("digest_of_prompt", "request_of"),
        "deliberate.judging._purse": ("Purse",),
        "deliberate.judging._read": ("finding_key", "read"),
        "deliberate.judging._revised": ("affecting_form", "revision_form", "said_in_text"),
        "deliberate.judging._schema": ("asked_dimensions", "schema_of"),
        "deliberate.judging._suspect": ("addresses_judges",),
        "deliberate.judging.key": ("key_of", "key_of_case"),
    },
)
