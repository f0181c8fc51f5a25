"""Whether an output speaks to its judges: a detector, not a defense.

What an output says can lower a judge's guard whatever fence it stands behind; so it is told, as the flag
``injection_suspected`` on the verdict. Each pattern is one way in which outputs have addressed judges: orders, forged
verdicts, forged structure, and text that nobody is meant to see.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence

__all__ = ["addresses_judges"]

_MARKS = ("score", "mark", "grade", "rating", "bracket")
_WAYS = tuple(
    (needs, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for needs, pattern in (
        # orders
        (
            (
                ("ignore", "disregard", "forget", "override"),
                ("instruction", "rubric", "criteria", "prompt", "above", "previous", "prior"),
            ),
            (
                r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
                r"\b(?:instruction|rubric|criteria|prompt|above|previous|prior)"
            ),
        ),
        (
            (
                ("judge", "evaluator", "grade", "reviewer", "assessor", "score"),
                ("judge", "evaluator", "grader", "reviewer", "assessor", "scorer"),
                ("must", "should", "shall", "please", "you"),
            ),
            r"\b(?:judge|evaluator|grader|reviewer|assessor|scorer)s?\b[^.\n]{0,30}\b(?:must|should|shall|please|you)\b",
        ),
        (
            (
                ("dear", "attention", "note to", "message", "instruction"),
                ("judge", "evaluator", "grader", "reviewer", "assessor", "model", "ai", "assistant"),
            ),
            (
                r"\b(?:dear|attention|note to|message (?:to|for)|instructions? (?:to|for)) (?:the )?"
                r"(?:judge|evaluator|grader|reviewer|assessor|model|ai|assistant)"
            ),
        ),
        (
            (
                ("excellent", "/", *_MARKS),
                ("excellent", "10/10", "5/5", "full", "top", "highest", "maximum", "perfect"),
            ),
            (
                r"\b(?:give|award|assign|answer with|vote|grade|rate|score|mark)\b[^.\n]{0,40}"
                r"\b(?:excellent|full marks|(?:top|highest|maximum|perfect|full) (?:score|mark|grade|rating|bracket)"
                r"|10/10|5/5)"
            ),
        ),
        ((_MARKS, ("100", "10/10", "1.0")), r"\b(?:score|grade|rating|mark)\s*(?:of|to)\s*(?:100\b|10/10|1\.0\b)"),
        (
            (("you are",), ("judge", "evaluator", "grader", "assistant", "model")),
            r"\byou are (?:now )?(?:a|an|the)\b[^.\n]{0,40}\b(?:judge|evaluator|grader|assistant|model)",
        ),
        (
            (("system", "developer"), ("message", "prompt", "override", "note")),
            r"\b(?:system|developer) (?:message|prompt|override|note)\b",
        ),
        # forged verdicts
        (
            ((":",), ('"', "'"), ("bracket", "verdict", "score", "dimensions")),
            (
                r"[\"'](?:bracket|verdict)[\"']\s*:|[\"']score[\"']\s*:\s*(?:100|10|1(?:\.0)?)\b"
                r"|[\"']dimensions[\"']\s*:\s*\{"
            ),
        ),
        (
            ((":", "="), ("score", "verdict", "rating", "grade", "bracket")),
            r"^\W*(?:final )?(?:score|verdict|rating|grade|bracket)\W{0,3}\s*[:=]\s*\W*(?:\d+|excellent|good|pass)",
        ),
        # forged structure
        (
            (("<",),),
            (
                r"</?(?:output|task|reference|evidence|findings|vote|peer|system|instructions?)\b[^>\n]{0,60}>"
                r"|<\|[a-z_]+\|>|<</?SYS>>"
            ),
        ),
        ((("inst]", "#"),), r"\[/?INST\]|^#+ (?:Rubric|Task|Output to evaluate|System)\b"),
    )
)
"""Ways in which outputs have addressed judges, each with what it cannot do without, in lower case: of every group one
word. Most outputs lack it, and looking for a word is fifty times cheaper than looking for a pattern; what is looked
for in one way is not looked for again in another."""

_MOST_CHARACTERS = 200_000
_HARMLESS = frozenset("\n\t\r\u200d\ufeff")  # an emoji is joined by U+200D; a file may begin with U+FEFF


def addresses_judges(text: str) -> bool:
    """Whether the text gives judges orders, forges verdicts or structure, or hides text.

    Only the first 200 000 characters are looked at; every pattern takes time in proportion to their number.
    """
    head = text[:_MOST_CHARACTERS]
    if not head.isascii() and any(unicodedata.category(sign) in ("Cf", "Co") for sign in {*head} - _HARMLESS):
        return True
    holds = _looked(_folded(head))
    return any(all(map(holds, needs)) and pattern.search(head) for needs, pattern in _WAYS)


def _folded(text: str) -> str:
    """The text in lower case as the patterns take it: to them an i is one with and without its dot."""
    folded = text.casefold()
    return folded if text.isascii() else folded.replace("i\u0307", "i").replace("\u0131", "i")


def _looked(folded: str) -> Callable[[Sequence[str]], bool]:
    """Whether one of some words is in a text; each is looked for once."""
    there: dict[str, bool] = {}

    def holds(words: Sequence[str]) -> bool:
        for word in words:
            found = there.get(word)
            if found is None:
                found = there[word] = word in folded
            if found:
                return True
        return False

    return holds
