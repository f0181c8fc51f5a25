"""Every exception, in one tree; the first fork is "can trying again help?".

::

    DeliberateError
    ├── ConfigError                 before the first paid call: what a person wrote is wrong (exit 2)
    │   ├── UnknownName             no part, rubric, agent, panel or model of that name
    │   ├── RubricError             a rubric's files
    │   ├── AgentCardError          an agent card
    │   ├── SuiteError              a task suite
    │   └── MissingExtra            an optional dependency that is not installed
    ├── ProviderError               a model did not answer
    │   ├── TransientProviderError  trying again can help: retried
    │   └── RefusedError            trying again cannot help: not retried
    │       └── QuotaError          nothing will be answered under this key: nobody asks there again
    ├── ReplyError                  it answered, but not in the form asked for: one repair ask
    ├── EvaluatorError              an instrument broke
    ├── LedgerError                 the record cannot be read or written
    ├── ReportError                 a result that stands cannot be written where it was asked for (exit 5)
    └── NotMet                      raised only by ``gates.require()``
        ├── NoVerdict
        └── GateFailed

Errors become values in three places only: a judge actor (``Absent``), an evaluator (``Unscored``) and a case
(``CaseFailed`` in a run). Elsewhere they fly. Undecided panels, spent budgets and passed deadlines are values.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from typing import Self

__all__ = [
    "AgentCardError",
    "ConfigError",
    "DeliberateError",
    "EvaluatorError",
    "GateFailed",
    "LedgerError",
    "MissingExtra",
    "NoVerdict",
    "NotMet",
    "ProviderError",
    "QuotaError",
    "RefusedError",
    "ReplyError",
    "ReportError",
    "RubricError",
    "SuiteError",
    "TransientProviderError",
    "UnknownName",
]


class DeliberateError(Exception):
    """The root: whoever wants all of ours catches this one."""


class ConfigError(DeliberateError):
    """Something a person wrote is wrong; nothing was spent.

    Args:
        what: What is wrong, in one sentence.
        where: File with line and column, flag, or key (``"board.panel.yaml:7:3"``, ``"--rule"``).
        expected: What would have been right.
        hint: What to do next, preferably a command.
    """

    def __init__(self, what: str, *, where: str = "", expected: str = "", hint: str = "") -> None:
        self.what = what
        self.where = where
        self.expected = expected
        self.hint = hint
        lead = f"{where}: {what}" if where else what
        super().__init__("; ".join(part for part in (lead, expected and f"expected {expected}", hint) if part))

    def at(self, where: str) -> ConfigError:
        """The same error, told of another place: that of the file where what is wrong was written."""
        found = type(self).__new__(type(self))  # a kind of its own may ask for more than the four
        found.__dict__.update(self.__dict__)
        ConfigError.__init__(found, self.what, where=where, expected=self.expected, hint=self.hint)
        return found


class UnknownName(ConfigError):
    """No such name; the message lists the nearest and all that are known.

    Args:
        kind: What was looked for: ``"evaluator"``, ``"rubric"``, ``"rule"`` …
        name: The name that was not found.
        known: Every name there is.
        where: File and key, where there is one.
        hint: What to do next.
    """

    def __init__(self, kind: str, name: str, known: Iterable[str], *, where: str = "", hint: str = "") -> None:
        self.kind = kind
        self.name = name
        self.known = tuple(sorted(known))
        near = difflib.get_close_matches(name, self.known, n=1)
        guess = f" (did you mean {near[0]!r}?)" if near else ""
        listed = ", ".join(self.known) or "none"
        super().__init__(f"unknown {kind} {name!r}{guess}", where=where, expected=f"one of: {listed}", hint=hint)


class RubricError(ConfigError):
    """A rubric's files cannot be read."""


class AgentCardError(ConfigError):
    """An agent card cannot be read."""


class SuiteError(ConfigError):
    """A task suite cannot be read.

    Attributes:
        faults: All that is wrong with it, in the order of the file; the message lists them, one a line.
    """

    faults: tuple[ConfigError, ...] = ()

    @classmethod
    def of(cls, faults: Sequence[ConfigError]) -> Self:
        """One error that says all of them at once."""
        error = cls("\n".join(map(str, faults)))
        error.faults = tuple(faults)
        return error


class MissingExtra(ConfigError):
    """An optional dependency is not installed.

    Args:
        extra: The extra that brings it.
        need: What needs it.
    """

    def __init__(self, extra: str, *, need: str) -> None:
        self.extra = extra
        super().__init__(f"{need} needs the extra {extra!r}", hint=f'pip install "deliberate-eval[{extra}]"')


class ProviderError(DeliberateError):
    """A model did not answer.

    Args:
        message: What happened, with every known secret already struck out.
        status: The HTTP status, where there was one.
    """

    def __init__(self, message: str, *, status: int | None = None) -> None:
        self.status = status
        super().__init__(message)


class TransientProviderError(ProviderError):
    """Trying again can help: rate limit, overload, reset, empty reply.

    Args:
        message: What happened.
        status: The HTTP status, where there was one.
        retry_after: Seconds the endpoint asked us to wait, where it did.
    """

    def __init__(self, message: str, *, status: int | None = None, retry_after: float | None = None) -> None:
        self.retry_after = retry_after
        super().__init__(message, status=status)


class RefusedError(ProviderError):
    """Trying again cannot help: wrong key, unknown model, request not accepted."""


class QuotaError(RefusedError):
    """The quota of this key is used up: no other ask under it will be answered either."""


class ReplyError(DeliberateError):
    """The judge answered, but not in the form asked for."""


class EvaluatorError(DeliberateError):
    """An instrument broke: its part becomes ``Unscored(failed)``, never a number."""


class LedgerError(DeliberateError):
    """The record cannot be read or written.

    Args:
        message: What happened.
        hint: What to do next.

    Attributes:
        spent: Whether something may have been paid by then.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.hint = hint
        self.spent = False
        super().__init__(f"{message}; {hint}" if hint else message)


class ReportError(DeliberateError):
    """A result cannot be written where it was asked for; the result itself stands.

    Args:
        what: What happened.
        where: The file.
        again: The command that writes it again; "" where only the same command would.
    """

    def __init__(self, what: str, *, where: str, again: str = "") -> None:
        self.where = where
        told = f"nothing is lost: {again} -o FILE" if again else "the same command, with another -o,"
        super().__init__(f"{where}: {what}; {told} writes it again")


class NotMet(DeliberateError, AssertionError):
    """``require()`` was not met; an ``AssertionError`` too, so that test runners show it as one."""


class NoVerdict(NotMet):
    """There is no score to hold against a gate."""


class GateFailed(NotMet):
    """A gate did not hold."""
