"""Whose work is judged: a model, a command, or a callable that gets the skill and the prompt.

Each is a model name with, where needed, a provider behind it: so retries, limits, budget, ledger and recordings are
the ones that judges have.
"""

from __future__ import annotations

import os
import uuid
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar, Self

from deliberate import plugins
from deliberate.errors import ConfigError, EvaluatorError, RefusedError
from deliberate.providers._base import Request, Response, Settings
from deliberate.providers.scripted import Scripted
from deliberate.runtime import Sandbox
from deliberate.types import Form, Judge, Note, Record, Task, Usage

if TYPE_CHECKING:
    from deliberate.providers._base import Provider

__all__ = ["FORM", "MOCK", "Subject", "calling", "lanes_of", "mocked", "modeled", "prompt_of", "running"]

MOCK = "mock/subject"

FORM = Form(name="subject", template="{criteria}", reply=Note, wire="text")

_PROMPT = """\
You have been given the following skill documentation. Follow it in the task below it.

---BEGIN SKILL.MD---
{skill}
---END SKILL.MD---

Task: {task}"""


class Subject(Record, frozen=True, kw_only=True):
    """Who does the tasks.

    Args:
        judge: The model's name and parameters, as part of every key.
        providers: What serves it, by prefix, where we do not.
        lasting: Whether its name stands for the same thing tomorrow: only then is a baseline cached.
    """

    judge: Judge
    providers: Mapping[str, Provider] = {}
    lasting: bool = True


def lanes_of(subject: Subject) -> int | None:
    """How many calls the subject can do at once; None where its provider's limit finds out."""
    model = subject.judge.model
    prefix = model.partition("/")[0]
    provider: Provider | type[Provider] = subject.providers.get(prefix) or plugins.part(
        "providers", plugins.provider_of(model), where="--subject"
    )
    return provider.most_in_flight


def prompt_of(task: str, skill: str) -> str:
    """What the subject is asked: the skill before the task; without a skill, the task alone."""
    return _PROMPT.format(skill=skill.strip(), task=task) if skill.strip() else task


def modeled(model: str, *, temperature: float | None = None, max_tokens: int = 4000) -> Subject:
    """A model, asked with its own default temperature if none is given."""
    return Subject(judge=Judge(model=model, temperature=temperature, max_tokens=max_tokens))


def running(command: str, *, sandbox: Sandbox) -> Subject:
    """A shell command that reads the prompt on standard input and writes its output on standard output.

    It runs with the operator's environment and network, in an empty folder, in whatever ``sandbox`` confines it to.
    """
    provider = _Called(lambda request: _ran(command, request, sandbox))
    return Subject(judge=Judge(model=f"command/{command}", temperature=None), providers={"command": provider})


def calling(function: Callable[[str, str], Awaitable[str]], *, name: str = "") -> Subject:
    """An async function of skill and prompt.

    Its replies are kept under ``name``; without one nothing that it said before is read back, since its code may have
    changed.
    """
    called = name or f"{getattr(function, '__qualname__', 'function')}@{uuid.uuid4().hex}"
    provider = _Called(lambda request: function(request.preface, request.artifact))
    judge = Judge(model=f"callable/{called}", temperature=None)
    return Subject(judge=judge, providers={"callable": provider}, lasting=bool(name))


def mocked(tasks: Sequence[Task]) -> Subject:
    """A subject that needs no model: it writes one fixed sentence, and the phrases a ``contains`` judge looks for."""
    said: dict[str, str] = {}
    for task in tasks:
        said[task.prompt] = f"{said.get(task.prompt, '')}{_mock_text(task)}\n"
    provider = Scripted(lambda request: said[request.artifact])
    return Subject(judge=Judge(model=MOCK, temperature=None), providers={"mock": provider})


def _mock_text(task: Task) -> str:
    expected = task.judge.params.get("expected")
    phrases = [str(one) for one in expected] if isinstance(expected, tuple) else []
    return "\n".join(["A mock reply: no model was asked.", *phrases])


async def _ran(command: str, request: Request, sandbox: Sandbox) -> str:
    try:
        done = await sandbox.run(
            ["/bin/sh", "-c", command],
            env=dict(os.environ),  # the operator's own program, as in the operator's own shell
            network=True,
            stdin=request.messages[0].content.encode("utf-8", "replace"),
            timeout_seconds=request.deadline_seconds + 1.0,  # the ask's own deadline comes first, and says so
            most_bytes=request.most_bytes,
        )
    except EvaluatorError as error:
        raise RefusedError(str(error)) from None
    if done.exit_code != 0 or done.truncated:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:]
        ended = "wrote too much" if done.truncated else f"ended with exit code {done.exit_code}"
        raise RefusedError(f"{command!r} {ended}" + (f": {last[0]}" if last else ""))
    return done.stdout.decode("utf-8", "replace")


class _Called:
    """A provider that is one function of the request."""

    prefixes: ClassVar[tuple[str, ...]] = ()
    loops: ClassVar[tuple[str, ...]] = ("asyncio", "trio")
    most_in_flight: ClassVar[int | None] = None

    def __init__(self, call: Callable[[Request], Awaitable[str]]) -> None:
        self._call = call

    @classmethod
    def open(cls, prefix: str, settings: Settings) -> Self:  # noqa: ARG003  made with its function only
        raise ConfigError(f"{prefix!r} is no model", where="--subject", expected="provider/model, or --command")

    def limit_key(self, model: str) -> str:
        return model

    async def worst_cost_usd(self, request: Request) -> float | None:  # noqa: ARG002  what it costs it does not say
        return None

    async def complete(self, request: Request) -> Response:
        try:
            text = await self._call(request)
        except (ConfigError, RefusedError):
            raise
        except Exception as error:  # all: it is the caller's own code, and its failure is one of an attempt
            raise RefusedError(f"{type(error).__name__}: {error}") from error
        return Response(text=text, model=request.model, usage=Usage(calls=1, cost_usd=None))

    async def aclose(self) -> None:
        pass


if TYPE_CHECKING:
    _: type[Provider] = _Called
