"""A GGUF model in this process, by ``xllamacpp``, asked so that what ran before cannot change a bit of the answer.

llama.cpp keeps what it has read and reads only what is new. Where the kept part ends shapes how the rest is cut into
batches, and that moves the log-odds by up to 0.2. So the cut is always made at the same places:

1. The system message is read alone, with an empty memory.
2. The head is read on top of it, in steps of 128 to 255 tokens. (Any such steps give the same bits as one; short ones
   let a caller who is cancelled or out of time leave soon.)
3. Before everything that is asked, one token that differs from its first is read and thereby the memory cut back to
   exactly the head. Without it a second question would share its first words with the one before.

With this the log-odds are the same to the last bit in any order of questions and outputs, with one or two threads.
``cached_tokens`` of each reply tells whether the cut held; if not, the vote says so.

Text is given as token numbers. What others wrote is tokenized without special tokens, so it cannot end its own turn,
whatever the model's template is.
"""

from __future__ import annotations

import hashlib
import http.client
import importlib
import json
import os
import re
import secrets
import threading
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from importlib.metadata import version
from typing import Any
from typing import Protocol as Contract

from deliberate.errors import RefusedError
from deliberate.providers._logits import Head, Next, Written
from deliberate.types import Record

__all__ = ["CHATML", "Llama", "Server", "Template", "free_threads", "loaded", "template_of"]

_CONTEXT = 4096
_ROOM = 320  # tokens kept free behind a head: a question, or an explanation with its question
_STEP = 128
_LIKELIEST = 100
_HTTP_SECONDS = 60.0
_UNCUT: Mapping[str, float] = {"top_k": 0, "top_p": 1.0, "min_p": 0.0}  # temperature alone says how far it strays
_SLOT = re.compile(r"§(\d)§")


class Tokenize(Contract):
    """Text -> tokens."""

    def __call__(self, text: str, *, first: bool = False, special: bool = False) -> list[int]:
        """The tokens of a text; whether it begins the prompt, and whether special tokens in it count."""
        ...


class Server(Contract):
    """As much of ``xllamacpp.Server`` as is used."""

    def handle_completions(self, body: Mapping[str, Any], /) -> dict[str, Any]:
        """The reply to a completion request; an error is a reply too."""
        ...


class Template(Record, frozen=True, kw_only=True):
    """How a model tells roles apart: what stands around and between a system, user, assistant and user message."""

    start: str
    to_user: str
    to_assistant: str
    back_to_user: str
    to_last: str
    system: bool = True


CHATML = Template(
    start="<|im_start|>system\n",
    to_user="<|im_end|>\n<|im_start|>user\n",
    to_assistant="<|im_end|>\n<|im_start|>assistant\n",
    back_to_user="<|im_end|>\n<|im_start|>user\n",
    to_last="<|im_end|>\n<|im_start|>assistant\n",
)


class Llama:
    """One model in memory (a ``Logits``).

    Args:
        server: What runs it; nobody else may use it.
        tokenize: Its tokenizer.
        template: Its way to tell roles apart.
        weights: Sha256 of its file.
        runtime: What runs it, with its version.
        threads: How many threads it uses.
        context: The most tokens it can hold.
    """

    def __init__(
        self,
        server: Server,
        *,
        tokenize: Tokenize,
        template: Template,
        weights: str = "",
        runtime: str = "",
        threads: int = 1,
        context: int = _CONTEXT,
    ) -> None:
        self.lane = threading.Lock()
        self.weights = weights
        self.runtime = runtime
        self.threads = threads
        self._server = server
        self._tokenize = tokenize
        self._template = template
        self._context = context
        self._marks = [tokenize(sign)[-1] for sign in "#*"]
        self._head: Head | None = None
        self._static: list[int] = []
        self._whole: list[int] = []
        self._here = 0  # tokens of the head that are in memory

    def read(self, head: Head) -> int | None:
        """One step of reading a head: its length in tokens once it is in memory, None while there is more to read."""
        if head != self._head:
            self._begin(head)
            return None
        if self._here == len(self._whole):
            return self._here
        left = len(self._whole) - self._here
        end = len(self._whole) if left < 2 * _STEP else self._here + _STEP
        here, self._here = self._here, 0  # until it is done, nothing is known to be there
        self._complete(self._whole[:end], kept=here)
        self._here = end
        return end if end == len(self._whole) else None

    def next(self, head: Head, said: tuple[str, ...], *, begun: str) -> Next:
        """The next token after a head that was read, the rest of the talk, and the reply's beginning."""
        rest = [*self._spoken(said), *self._plain(begun)]
        reply, exact = self._ask(head, rest, n_predict=1, logprobs=_LIKELIEST)
        top = reply["choices"][0]["logprobs"]["content"][0]["top_logprobs"]
        return Next(top=tuple((one["token"], float(one["logprob"])) for one in top), tokens=len(rest), exact=exact)

    def write(
        self, head: Head, said: tuple[str, ...], *, most_tokens: int, temperature: float = 0.0, seed: int = 0
    ) -> Written:
        """The likeliest reply, token by token; or one that is drawn, the same for the same seed."""
        rest = self._spoken(said)
        drawn = {} if temperature == 0 else {"temperature": temperature, "seed": seed, **_UNCUT}
        reply, _ = self._ask(head, rest, n_predict=most_tokens, **drawn)
        choice = reply["choices"][0]
        return Written(
            text=choice["text"],
            whole=choice["finish_reason"] == "stop",
            tokens_in=len(rest),
            tokens_out=int(reply["usage"]["completion_tokens"]),
        )

    def _begin(self, head: Head) -> None:
        """Reads the system message alone, or cuts the memory back to it."""
        static = self._opening(head.system)
        body = self._plain(head.text if self._template.system else f"{head.system}\n\n{head.text}")
        if len(static) + len(body) + _ROOM > self._context:
            raise RefusedError(
                f"task and output are {len(static) + len(body)} tokens long; this judge takes {self._context - _ROOM}"
            )
        before, self._head = self._head, None
        if before is not None and before.system == head.system and self._here >= len(static):
            self._rewind(static, following=body)
        else:
            self._complete(static, kept=0)
        self._head, self._static, self._whole, self._here = head, static, [*static, *body], len(static)

    def _ask(self, head: Head, rest: Sequence[int], *, n_predict: int, **asked: float) -> tuple[dict[str, Any], bool]:
        if head != self._head or self._here != len(self._whole):
            msg = "the head was not read"
            raise RuntimeError(msg)
        length = len(self._whole) + len(rest) + n_predict
        if length > self._context:
            raise RefusedError(f"with this question it is {length} tokens; this judge takes {self._context}")
        self._rewind(self._whole, following=rest)
        reply = self._complete([*self._whole, *rest], kept=len(self._whole), n_predict=n_predict, **asked)
        return reply, _kept_of(reply) == len(self._whole)

    def _rewind(self, tokens: Sequence[int], *, following: Sequence[int]) -> None:
        mark = self._marks[following[:1] == self._marks[:1]]
        self._complete([*tokens, mark], kept=len(tokens))

    def _complete(self, tokens: Sequence[int], *, kept: int, n_predict: int = 0, **asked: float) -> dict[str, Any]:
        body = {"prompt": tokens, "n_predict": n_predict, "cache_prompt": kept > 0, "temperature": 0.0, **asked}
        reply = self._server.handle_completions(body)
        if "error" in reply:
            self._head = None
            raise RefusedError(f"the model could not read it: {reply['error'].get('message', 'no reason given')}")
        return reply

    def _opening(self, system: str) -> list[int]:
        template = self._template
        text = f"{template.start}{system}{template.to_user}" if template.system else template.start
        return self._tokenize(text, first=True, special=True)

    def _plain(self, text: str) -> list[int]:
        return self._tokenize(text) if text else []

    def _spoken(self, said: tuple[str, ...]) -> list[int]:
        template, last = self._template, len(said) - 1
        tokens: list[int] = []
        for number, text in enumerate(said):
            turn = template.to_last if number == last else template.to_assistant
            tokens += self._plain(text)
            tokens += self._tokenize(template.back_to_user if number % 2 else turn, special=True)
        return tokens


def loaded(path: str, *, weights: str, threads: int) -> Llama:
    """The model of a file, loaded once a process: two would need twice the memory and share the same cores.

    Args:
        path: A GGUF file.
        weights: Its sha256, where it is known; "" = it is hashed.
        threads: How many threads it may use, if it is not loaded yet.

    Raises:
        RefusedError: It cannot be loaded.
    """
    # A model does not outlive a fork, hence the process in the key.
    key = (os.getpid(), path)
    with _LOADING:
        model = _LOADED.get(key)
        if model is None:
            model = _LOADED[key] = _load(path, weights=weights, threads=threads)
        return model


_LOADED: dict[tuple[int, str], Llama] = {}
_LOADING = threading.Lock()


def free_threads() -> int:
    """One thread fewer than cores are idle, at least one.

    Threads meet after every operation: one that has to wait for a core makes all wait. Two threads on two busy cores
    were four times slower than one.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else 0.0
    return max(1, int(cores - load) - 1)


def template_of(render: Callable[[list[dict[str, str]]], str]) -> Template:
    """A model's template, taken apart; ChatML where it cannot be.

    Args:
        render: What the model makes of messages; raises ``ValueError`` if it cannot.
    """
    talk = [{"role": role, "content": f"§{n}§"} for n, role in enumerate(("system", "user", "assistant", "user"))]
    for messages in (talk, talk[1:]):
        try:
            pieces = _SLOT.split(render(messages))
        except ValueError:
            continue
        if pieces[1::2] == [message["content"][1] for message in messages]:
            texts = pieces[0::2]
            start, to_user = texts[0], texts[1] if len(texts) == len(talk) + 1 else ""
            to_assistant, back_to_user, to_last = texts[-3:]
            return Template(
                start=start,
                to_user=to_user,
                to_assistant=to_assistant,
                back_to_user=back_to_user,
                to_last=to_last,
                system=messages is talk,
            )
    return CHATML


def _kept_of(reply: Mapping[str, Any]) -> int:
    return int(reply["usage"]["prompt_tokens_details"]["cached_tokens"])


def _load(path: str, *, weights: str, threads: int) -> Llama:
    xllamacpp: Any = importlib.import_module("xllamacpp")  # an optional extra without types
    key = secrets.token_hex(16)
    parameters = xllamacpp.CommonParams()
    parameters.model.path = path
    parameters.n_ctx = _CONTEXT
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = threads
    parameters.cpuparams_batch.n_threads = threads
    parameters.n_gpu_layers = 0
    parameters.warmup = False
    parameters.verbosity = -1
    parameters.cache_ram_mib = 0  # keeps up to 8 GiB of old prompts otherwise, and may bring one back
    parameters.ui = False
    parameters.endpoint_slots = False
    parameters.n_threads_http = 1
    parameters.api_keys = [key]  # a loopback port is opened whether wanted or not
    try:
        server = xllamacpp.Server(parameters)
    except RuntimeError as error:
        raise RefusedError(f"{path} cannot be loaded: {error}") from error
    post = partial(_post, server.listening_address, key)

    def tokenize(text: str, *, first: bool = False, special: bool = False) -> list[int]:
        return list(post("/tokenize", {"content": text, "add_special": first, "parse_special": special})["tokens"])

    return Llama(
        server,
        tokenize=tokenize,
        template=template_of(lambda messages: str(post("/apply-template", {"messages": messages})["prompt"])),
        weights=weights or _sha256_of(path),
        runtime=f"xllamacpp {version('xllamacpp')}",
        threads=threads,
    )


def _post(address: str, key: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
    """Asks the model's own port, which is the only way to its tokenizer and its template."""
    connection = http.client.HTTPConnection(address.partition("//")[2], timeout=_HTTP_SECONDS)
    try:
        headers = {"Authorization": f"Bearer {key}", "Content-Type": "application/json"}
        connection.request("POST", path, json.dumps(body), headers)
        reply = connection.getresponse()
        said = reply.read()
    except (OSError, http.client.HTTPException) as error:
        raise RefusedError(f"the model's own port {address} cannot be reached: {error}") from error
    else:
        if reply.status != http.client.OK:
            msg = f"{path}: status {reply.status}"
            raise ValueError(msg)
        return dict(json.loads(said))
    finally:
        connection.close()


def _sha256_of(path: str) -> str:
    with open(path, "rb") as file:  # noqa: PTH123  a path as the operator gave it
        return hashlib.file_digest(file, "sha256").hexdigest()
