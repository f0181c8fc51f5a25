"""What a protocol is: the rule for what comes next.

``move`` is a pure function of the case, the panel and what was heard in finished waves: it answers with the next wave
of asks, or closes. It makes no verdict: ``conclude`` does, from what the ``Close`` counts. Because it is pure,
``advance`` can replay it from the start over whatever answers there are; resuming, replaying, pricing,
``spend="enough"``, waiting for a person and ``redecide`` all follow from that.

To add one: a file in this room whose name is the protocol's name and whose ``__all__`` holds just its class, a frozen
``Record`` whose fields are its parameters. Use what ``_votes.py`` has: ``ask_of`` makes a seat's ask for a vote (in the
panel's form: only such asks are votes), ``standing`` gives each seat's last word, and ``closed`` puts the chair's ask
before the close where a tie or the panel wants one; ``most_asks`` then counts ``chair_asks`` too. Pass ``panel.spend``
on in waves whose votes may be left out. Every id is asked once; an absence is heard like a vote. ``tests/laws`` plays
every protocol of the room: that it ends within ``most_asks``, whatever is answered, and asks nothing twice.
"""

from __future__ import annotations

from typing import ClassVar
from typing import Protocol as Contract

from deliberate.types import Ballot, Case, Close, Form, Heard, Panel, Wave

__all__ = ["BALLOT", "BALLOT_TEMPLATE", "Protocol"]

BALLOT_TEMPLATE = """\
You are an evaluator. Use the following {rubric_word} to evaluate the output.

## {rubric_title}
{rubric}

## Task
{task}

{reference}{evidence}## Output to evaluate
{output}

{shown}{instructions}"""

BALLOT = Form(name="ballot", template=BALLOT_TEMPLATE, reply=Ballot)
"""The form of a vote: rubric, task, output, instructions, in this order."""


class Protocol(Contract):
    """A protocol; ``version`` is in every key, and grows when its asks change their meaning."""

    name: ClassVar[str]
    version: ClassVar[int]
    forms: ClassVar[tuple[Form, ...]]

    def move(self, case: Case, panel: Panel, heard: Heard) -> Wave | Close:
        """What comes next, given all that was heard in finished waves."""
        ...

    def most_asks(self, panel: Panel) -> int:
        """The most asks a deliberation of this panel can take."""
        ...
