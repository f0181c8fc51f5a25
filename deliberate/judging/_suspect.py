"""Whether an output speaks to its judges: a detector, not a defense.

What an output says can lower a judge's guard whatever fence it stands behind; so it is told, as the flag
``injection_suspected`` on the verdict. Each pattern is one way in which outputs have addressed judges: orders, forged
verdicts, forged structure, and text that nobody is meant to see.
"""

from __future__ import annotations

import re
import unicodedata

__all__ = ["addresses_judges"]

_WAYS = tuple(
    (words, re.compile(pattern, re.IGNORECASE | re.MULTILINE))
    for words, pattern in (
        # orders
        (
            ("ignore", "disregard", "forget", "override"),
            (
                r"\b(?:ignore|disregard|forget|override)\b.{0,40}"
                r"\b(?:instruction|rubric|criteria|prompt|above|previous|prior)"
            ),
        ),
        (
            ("judge", "evaluator", "grader", "reviewer", "assessor", "scorer"),
            r"\b(?:judge|evaluator|grader|reviewer|assessor|scorer)s?\b[^.\n]{0,30}\b(?:must|should|shall|please|you)\b",
        ),
        (
            ("dear", "attention", "note to", "message", "instruction"),
            (
                r"\b(?:dear|attention|note to|message (?:to|for)|instructions? (?:to|for)) (?:the )?"
                r"(?:judge|evaluator|grader|reviewer|assessor|model|ai|assistant)"
            ),
        ),
        (
            ("excellent", "full", "top", "highest", "maximum", "perfect", "10/10", "5/5"),
            (
                r"\b(?:give|award|assign|answer with|vote|grade|rate|score|mark)\b[^.\n]{0,40}"
                r"\b(?:excellent|full marks|(?:top|highest|maximum|perfect|full) (?:score|mark|grade|rating|bracket)"
                r"|10/10|5/5)"
            ),
        ),
        (("100", "10/10", "1.0"), r"\b(?:score|grade|rating|mark)\s*(?:of|to)\s*(?:100\b|10/10|1\.0\b)"),
        (
            ("you are",),
            r"\byou are (?:now )?(?:a|an|the)\b[^.\n]{0,40}\b(?:judge|evaluator|grader|assistant|model)",
        ),
        (("system", "developer"), r"\b(?:system|developer) (?:message|prompt|override|note)\b"),
        # forged verdicts
        (
            ("bracket", "verdict", "score", "dimensions"),
            (
                r"[\"'](?:bracket|verdict)[\"']\s*:|[\"']score[\"']\s*:\s*(?:100|10|1(?:\.0)?)\b"
                r"|[\"']dimensions[\"']\s*:\s*\{"
            ),
        ),
        (
            ("score", "verdict", "rating", "grade", "bracket"),
            r"^\W*(?:final )?(?:score|verdict|rating|grade|bracket)\W{0,3}\s*[:=]\s*\W*(?:\d+|excellent|good|pass)",
        ),
        # forged structure
        (
            ("<",),
            (
                r"</?(?:output|task|reference|evidence|findings|vote|peer|system|instructions?)\b[^>\n]{0,60}>"
                r"|<\|[a-z_]+\|>|<</?SYS>>"
            ),
        ),
        (("inst]", "#"), r"\[/?INST\]|^#+ (?:Rubric|Task|Output to evaluate|System)\b"),
    )
)
"""Ways in which outputs have addressed judges, each with words one of which it cannot do without: most outputs have
none of them, and looking for a word is a hundred times cheaper than looking for a pattern."""

_WORDS = frozenset(word for words, _ in _WAYS for word in words)
_MOST_CHARACTERS = 200_000
_HARMLESS = frozenset("\n\t\r\u200d\ufeff")  # an emoji is joined by U+200D; a file may begin with U+FEFF


def addresses_judges(text: str) -> bool:
    """Whether the text gives judges orders, forges verdicts or structure, or hides text.

    Only the first 200 000 characters are looked at; every pattern takes time in proportion to their number.
    """
    head = text[:_MOST_CHARACTERS]
    hidden = not head.isascii() and any(unicodedata.category(s) in ("Cf", "Co") and s not in _HARMLESS for s in head)
    if hidden:
        return True
    folded = head.casefold()
    there = {word for word in _WORDS if word in folded}
    return any(not there.isdisjoint(words) and pattern.search(head) for words, pattern in _WAYS)
