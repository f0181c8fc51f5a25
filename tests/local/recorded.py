"""What a real model said, kept as a file and played back; the script that makes the file.

``python -m tests.local.recorded`` asks the real model all that the tests here ask (minutes), and writes
``data/qwen.json``. Of each distribution only what is read is kept: the likeliest tokens, every spelling of Yes and No,
and the last of those listed.
"""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import anyio
import msgspec

from deliberate.library import weights
from deliberate.providers._base import Question, Request, Settings
from deliberate.providers._llama import loaded
from deliberate.providers._logits import Head, Logits, Next, Written
from deliberate.providers.local import Local
from deliberate.studies import models
from deliberate.types import Case, Record, digest_of
from tests.local.items import ANCHORS, MODEL, NAME, RUBRIC, request_about

FILE = Path(__file__).parent / "data" / "qwen.json"


class Recording(Record, frozen=True, kw_only=True):
    """Replies by the digest of what was asked."""

    weights: str
    runtime: str
    heads: dict[str, int]
    nexts: dict[str, Next]
    writtens: dict[str, Written]


def key(head: Head, said: tuple[str, ...] = (), begun: str = "") -> str:
    """What a reply is filed under."""
    return digest_of([head.system, head.text, said, begun])[:24]


class Played:
    """A recorded model (a ``Logits``); ``reads`` counts the heads it had to read anew."""

    def __init__(self, recording: Recording) -> None:
        self.lane = threading.Lock()
        self.weights = recording.weights
        self.runtime = recording.runtime
        self.threads = 1
        self.reads = 0
        self._recording = recording
        self._head: Head | None = None

    def read(self, head: Head) -> int | None:
        if head != self._head:
            self._head = head
            self.reads += 1
            return None
        return self._recording.heads[key(head)]

    def next(self, head: Head, said: tuple[str, ...], *, begun: str) -> Next:
        assert head == self._head
        return self._recording.nexts[key(head, said, begun)]

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        assert head == self._head
        assert most_tokens > 0
        assert temperature == seed == 0, "what is drawn is never recorded"
        found = self._recording.writtens.get(key(head, said))
        if found is None:
            assert len(said) > 1, "a draft that was not recorded"
            # Which reason is asked for depends on the calibration, and the recording has but one.
            return Written(text="Not recorded.", whole=True, tokens_in=30, tokens_out=5)
        return found


class Recorder:
    """A model whose replies are noted as they pass (a ``Logits``)."""

    def __init__(self, inner: Logits) -> None:
        self.lane = threading.Lock()
        self.weights = inner.weights
        self.runtime = inner.runtime
        self.threads = inner.threads
        self.heads: dict[str, int] = {}
        self.nexts: dict[str, Next] = {}
        self.writtens: dict[str, Written] = {}
        self._inner = inner

    def read(self, head: Head) -> int | None:
        tokens = self._inner.read(head)
        if tokens is not None:
            self.heads[key(head)] = tokens
        return tokens

    def next(self, head: Head, said: tuple[str, ...], *, begun: str) -> Next:
        found = self._inner.next(head, said, begun=begun)
        self.nexts[key(head, said, begun)] = _what_is_read(found)
        return found

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        found = self._inner.write(head, said, most_tokens=most_tokens, temperature=temperature, seed=seed)
        self.writtens[key(head, said)] = found
        return found


def recording() -> Recording:
    """The file."""
    return msgspec.json.decode(FILE.read_bytes(), type=Recording)


def playing() -> Callable[..., Logits]:
    """What loads the recorded model in place of a real one."""
    played = Played(recording())
    return lambda _path, **_: played


def _what_is_read(found: Next) -> Next:
    last = len(found.top) - 1
    kept = tuple(
        one for at, one in enumerate(found.top) if at < 3 or at == last or one[0].strip().casefold() in {"yes", "no"}
    )
    return msgspec.structs.replace(found, top=kept)


async def _record(home: Path) -> None:
    inner = loaded(weights.paths(home)[NAME], weights="", threads=1)
    recorder = Recorder(inner)
    settings = Settings(weights=weights.paths(home), calibration=weights.calibrations(home))
    provider = Local(settings, load=lambda _path, **_: recorder)
    report = await models.check(provider, MODEL)
    print(report.fit, report.reason, report.auc, report.order_auc)  # noqa: T201
    for probe in report.probes:
        print(probe.kind, probe.expects, probe.score, probe.output)  # noqa: T201
    for case, _ in ANCHORS:
        await provider.complete(request_about(case))
    for request in extra():
        response = await provider.complete(request)
        print(response.text, dict(response.effective))  # noqa: T201
    made = Recording(
        weights=recorder.weights,
        runtime=recorder.runtime,
        heads=recorder.heads,
        nexts=recorder.nexts,
        writtens=recorder.writtens,
    )
    FILE.write_bytes(msgspec.json.format(msgspec.json.encode(made, order="sorted"), indent=1) + b"\n")


def extra() -> tuple[Request, ...]:
    """Asks of which the tests want one each: with a reference, without a task, and without names."""
    question = "What is the capital of Australia?"
    case = Case(task=question, output="It is Canberra.", reference="Canberra")
    return (
        request_about(case),
        request_about(Case(output="Water boils at 100 degrees Celsius at sea level.")),
        Request(
            model=MODEL,
            messages=(),
            schema={"properties": {"bracket": {}, "score": {}}},
            artifact="Water boils at 100 degrees Celsius at sea level.",
            questions=(Question(name="", text=RUBRIC.dimensions[1].question),),
        ),
    )


if __name__ == "__main__":
    anyio.run(_record, weights.default_home(os.environ) if len(sys.argv) < 2 else Path(sys.argv[1]))
