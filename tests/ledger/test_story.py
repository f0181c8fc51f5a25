"""Any story of two ledgers on one file, opened, closed and reopened, against a plain dict."""

from __future__ import annotations

import tempfile
from contextlib import AbstractContextManager, ExitStack
from pathlib import Path

from anyio.from_thread import start_blocking_portal
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from deliberate.ledger import Ledger, open_ledger, verify
from deliberate.types import Key

keys = st.sampled_from([Key(letter) for letter in "abcdef"])
bodies = st.binary(min_size=1, max_size=4)
who = st.sampled_from([0, 1])


class Story(RuleBasedStateMachine):
    """What is in the ledger is the first body that was committed under each key."""

    def __init__(self) -> None:
        super().__init__()
        self.stack = ExitStack()
        self.path = Path(self.stack.enter_context(tempfile.TemporaryDirectory())) / "ledger.db"
        self.portal = self.stack.enter_context(start_blocking_portal())
        self.there: dict[Key, bytes] = {}
        self.doors = [self.door(), self.door()]
        self.ledgers = [door.__enter__() for door in self.doors]

    def door(self) -> AbstractContextManager[Ledger]:
        return self.portal.wrap_async_context_manager(open_ledger(self.path))

    @rule(one=who, key=keys, body=bodies)
    def put(self, one: int, key: Key, body: bytes) -> None:
        ledger = self.ledgers[one]
        self.portal.call(ledger.put, key, "Answer", body)
        self.portal.call(ledger.committed)
        self.there.setdefault(key, body)
        assert self.portal.call(ledger.read, key) == self.there[key]

    @rule(one=who, key=keys)
    def read(self, one: int, key: Key) -> None:
        assert self.portal.call(self.ledgers[one].read, key) in {None, self.there.get(key)}

    @rule(one=who)
    def reopen(self, one: int) -> None:
        self.doors[one].__exit__(None, None, None)
        self.doors[one] = self.door()
        self.ledgers[one] = self.doors[one].__enter__()
        for key, body in self.there.items():
            assert self.portal.call(self.ledgers[one].read, key) == body

    @invariant()
    def it_is_sound(self) -> None:
        audit = self.portal.call(verify, self.path)
        assert audit.sound
        assert audit.records == len(self.there)

    def teardown(self) -> None:
        for door in self.doors:
            door.__exit__(None, None, None)
        self.stack.close()


TestStory = Story.TestCase
TestStory.settings = settings(max_examples=15, stateful_step_count=20, deadline=None)
