from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import anyio
import msgspec
import pytest

from deliberate.errors import ConfigError, LedgerError, RefusedError, TransientProviderError
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers.recorded import Recorded
from deliberate.providers.scripted import Scripted

INPUTS = {"plan": "ab12", "cases": "cd34"}


@pytest.fixture
def tape(tmp_path: Path) -> Path:
    return tmp_path / "tapes" / "run.jsonl"


def content(tape: Path) -> list[str]:
    return tape.read_text(encoding="utf-8").splitlines()


def begun(tape: Path, body: bytes) -> None:
    tape.parent.mkdir()
    tape.write_bytes(body)


class Listed:
    """A script that notes what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Request] = []

    def __call__(self, request: Request) -> str:
        self.asked.append(request)
        return "said"


def keyed(ask: Request, key: str) -> Request:
    return msgspec.structs.replace(ask, key=key, model="scripted/seeded", artifact=key)


async def recorded(tape: Path, *asks: Request) -> list[Response]:
    provider = Recorded.recording(Scripted(), Recorded.sink(tape, INPUTS))
    found = [await provider.complete(ask) for ask in asks]
    await provider.aclose()
    return found


async def test_what_was_recorded_is_replayed_without_asking(ask: Request, tape: Path) -> None:
    asks = [keyed(ask, f"k{number}") for number in range(5)]
    said = await recorded(tape, *asks)
    replay = Recorded(tape)
    assert [await replay.complete(one) for one in reversed(asks)] == said[::-1]
    assert await replay.inputs() == INPUTS


async def test_recording_changes_no_reply(ask: Request, tape: Path) -> None:
    (said,) = await recorded(tape, keyed(ask, "k"))
    assert said == await Scripted().complete(keyed(ask, "k"))


async def test_a_recording_is_lines_of_json_under_a_header(ask: Request, tape: Path) -> None:
    (said,) = await recorded(tape, keyed(ask, "k1#repair"))
    header, line = (json.loads(text) for text in content(tape))
    assert header == {"deliberate_recording": 1, **INPUTS}
    assert line["key"] == "k1#repair"
    assert line["response"]["text"] == said.text


def test_a_recording_is_for_its_owner_alone(ask: Request, tape: Path) -> None:
    anyio.run(recorded, tape, ask)
    assert tape.stat().st_mode & 0o777 == 0o600


async def test_replies_under_one_key_come_in_their_order(ask: Request, tape: Path) -> None:
    texts = iter(["cut", "whole"])
    provider = Recorded.recording(Scripted(lambda _: next(texts)), Recorded.sink(tape))
    for _ in range(2):
        await provider.complete(ask)
    replay = Recorded(tape)
    assert [(await replay.complete(ask)).text for _ in range(3)] == ["cut", "whole", "whole"]


async def test_an_ask_that_was_not_recorded_is_refused(ask: Request, tape: Path) -> None:
    await recorded(tape, keyed(ask, "k"))
    with pytest.raises(RefusedError, match=r"run\.jsonl has no such ask of openai/good: since it was recorded"):
        await Recorded(tape).complete(ask)


async def test_an_ask_without_a_key_is_filed_under_its_content(ask: Request, tape: Path) -> None:
    bare = keyed(ask, "")
    (said,) = await recorded(tape, bare)
    replay = Recorded(tape)
    assert await replay.complete(bare) == said
    with pytest.raises(RefusedError):
        await replay.complete(msgspec.structs.replace(bare, temperature=0.9))


async def test_errors_are_not_recorded(ask: Request, tape: Path) -> None:
    provider = Recorded.recording(Scripted(lambda _: TransientProviderError("later")), Recorded.sink(tape))
    with pytest.raises(TransientProviderError):
        await provider.complete(ask)
    assert len(content(tape)) == 1


async def test_a_recording_goes_on_where_it_ended(ask: Request, tape: Path) -> None:
    first = await recorded(tape, keyed(ask, "k1"))
    second = await recorded(tape, keyed(ask, "k2"))
    replay = Recorded(tape)
    assert [await replay.complete(keyed(ask, key)) for key in ("k1", "k2")] == first + second


async def test_a_line_that_was_cut_off_is_forgotten(ask: Request, tape: Path) -> None:
    (first,) = await recorded(tape, keyed(ask, "k1"))
    with tape.open("ab") as file:
        file.write(b'{"key": "k2", "resp')
    assert await Recorded(tape).complete(keyed(ask, "k1")) == first
    (second,) = await recorded(tape, keyed(ask, "k2"))
    assert await Recorded(tape).complete(keyed(ask, "k2")) == second


async def test_a_header_that_was_cut_off_is_written_again(ask: Request, tape: Path) -> None:
    begun(tape, b'{"deliberate_rec')
    (said,) = await recorded(tape, keyed(ask, "k"))
    assert await Recorded(tape).complete(keyed(ask, "k")) == said


async def test_a_recording_of_other_inputs_is_not_mixed_up(ask: Request, tape: Path) -> None:
    await recorded(tape, keyed(ask, "k"))
    before = content(tape)
    script = Listed()
    provider = Recorded.recording(Scripted(script), Recorded.sink(tape, {"plan": "other"}))
    with pytest.raises(ConfigError, match="other inputs"):
        await provider.complete(ask)
    assert content(tape) == before
    assert not script.asked


async def test_providers_of_a_run_share_one_recording(ask: Request, tape: Path) -> None:
    sink = Recorded.sink(tape)
    providers = [Recorded.recording(Scripted(), sink) for _ in range(3)]
    async with anyio.create_task_group() as tasks:
        for number in range(30):
            tasks.start_soon(providers[number % 3].complete, keyed(ask, f"k{number}"))
    replay = Recorded(tape)
    for number in range(30):
        one = keyed(ask, f"k{number}")
        assert await replay.complete(one) == await Scripted().complete(one)


async def test_a_paid_reply_is_written_down_although_its_ask_is_cancelled(ask: Request, tape: Path) -> None:
    with anyio.CancelScope() as scope:

        def cancel(_: Request) -> str:
            scope.cancel()
            return "paid"

        await Recorded.recording(Scripted(cancel), Recorded.sink(tape)).complete(ask)
    assert (await Recorded(tape).complete(ask)).text == "paid"


async def test_text_that_cannot_be_written_is_given_out_as_it_came(ask: Request, tape: Path) -> None:
    provider = Recorded.recording(Scripted(lambda _: Response(text="\ud83d é")), Recorded.sink(tape))
    assert (await provider.complete(ask)).text == "\ud83d é"
    assert (await Recorded(tape).complete(ask)).text == "\ufffd é"


async def test_a_recorder_speaks_for_the_provider_it_wraps(ask: Request, tape: Path) -> None:
    inner = Scripted()
    provider = Recorded.recording(inner, Recorded.sink(tape))
    assert (provider.prefixes, provider.loops) == (inner.prefixes, inner.loops)
    assert provider.most_in_flight == inner.most_in_flight
    assert provider.limit_key("m") == inner.limit_key("m")
    assert await provider.worst_cost_usd(ask) == 0.0
    with pytest.raises(ConfigError, match="wraps a provider"):
        type(provider).open("scripted", Settings())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "no recording of this version"),
        (b"[]\n", "no recording of this version"),
        (b'{"deliberate_recording": 2}\n', "no recording of this version"),
        (b'{"deliberate_recording": 1}\n{"key": "k"}\n', r":2: no recorded reply \(Object missing required field"),
        (b'{"deliberate_recording": 1}\n\n', ":2: no recorded reply"),
    ],
)
async def test_what_is_no_recording_is_named(ask: Request, tape: Path, body: bytes, said: str) -> None:
    begun(tape, body)
    with pytest.raises(ConfigError, match=said):
        await Recorded(tape).complete(ask)


async def test_a_missing_recording_is_named(ask: Request, tape: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        await Recorded(tape).complete(ask)


async def test_a_place_that_cannot_be_written_is_named_before_anything_is_asked(ask: Request, tmp_path: Path) -> None:
    script = Listed()
    with pytest.raises(LedgerError, match="cannot be written"):
        await Recorded.recording(Scripted(script), Recorded.sink(tmp_path)).complete(ask)
    assert not script.asked


async def test_a_recording_that_disappears_is_a_ledger_error(ask: Request, tape: Path) -> None:
    def reply(_: Request) -> str:
        tape.unlink()
        tape.mkdir()
        return "said"

    with pytest.raises(LedgerError, match="cannot be written"):
        await Recorded.recording(Scripted(reply), Recorded.sink(tape)).complete(ask)


async def test_first_asks_at_once_read_the_file_once(ask: Request, tape: Path) -> None:
    (said,) = await recorded(tape, keyed(ask, "k"))
    replay = Recorded(tape)
    found: list[Response] = []

    async def one() -> None:
        found.append(await replay.complete(keyed(ask, "k")))

    async with anyio.create_task_group() as tasks:
        for _ in range(8):
            tasks.start_soon(one)
    assert found == [said] * 8


def test_it_is_opened_by_the_name_of_its_file(tape: Path) -> None:
    provider = Recorded.open("recorded", Settings(api_base={"recorded": str(tape)}))
    assert provider.limit_key("any") == "recorded"
    with pytest.raises(ConfigError, match="no recording is named") as caught:
        Recorded.open("recorded", Settings())
    assert caught.value.hint == "--replay FILE"


async def test_replay_costs_nothing_more(ask: Request, tape: Path) -> None:
    replay: Any = Recorded(tape)
    assert await replay.worst_cost_usd(ask) == 0.0
    await replay.aclose()
