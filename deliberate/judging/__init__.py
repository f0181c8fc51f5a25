"""Judge actors: prompt, ask, read.

A post comes in, an answer goes out: ``key`` names the question, ``_prompt`` writes it, ``_ask`` takes it through
retries and one repair, ``_read`` reads the reply, ``_actors`` runs it all.
"""

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
