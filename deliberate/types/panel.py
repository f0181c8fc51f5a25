"""Who judges and by which rules: judges, seats, panels."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import count
from typing import Literal

import msgspec

from deliberate.errors import ConfigError
from deliberate.types._record import Record, digest_of
from deliberate.types.case import Spec
from deliberate.types.rubric import Rubric

__all__ = ["Duty", "Judge", "Panel", "Rules", "Seat", "Spend", "family_of", "laid_out"]

Duty = Literal["vote", "verify", "chair"]
Spend = Literal["all", "enough"]

_FAMILIES = (
    ("claude", "claude"),
    ("anthropic", "claude"),
    ("gpt-oss", "gpt-oss"),
    ("gpt", "gpt"),
    ("chatgpt", "gpt"),
    ("gemini", "gemini"),
    ("gemma", "gemma"),
    ("llama", "llama"),
    ("qwen", "qwen"),
    ("qwq", "qwen"),
    ("mixtral", "mistral"),
    ("mistral", "mistral"),
    ("codestral", "mistral"),
    ("deepseek", "deepseek"),
    ("command", "command"),
    ("grok", "grok"),
    ("phi", "phi"),
    ("kimi", "kimi"),
    ("glm", "glm"),
    ("nova", "nova"),
)


_STARTS = tuple((re.compile(rf"(?:\A|[-_.]){re.escape(token)}"), family) for token, family in _FAMILIES)


@lru_cache(maxsize=1024)
def family_of(model: str) -> str:
    """The model family a name speaks of (``"claude"``, ``"gpt"`` …), else the name itself.

    Where a model is served from (``openrouter/``, ``local/``) says nothing about its family.
    """
    base = model.rsplit("/", 1)[-1].casefold()
    for start, family in _STARTS:
        if start.search(base):
            return family
    if base[:1] == "o" and base[1:2].isdigit():
        return "gpt"
    return base


class Judge(Record, frozen=True, kw_only=True):
    """A model or a person asked for an opinion.

    ``temperature`` None leaves the model's own; ``family`` "" derives it from the model's name.
    """

    model: str
    persona: str = ""
    temperature: float | None = 0.1
    max_tokens: int = 2000
    family: str = ""
    human: bool = False

    @property
    def kin(self) -> str:
        """The family that counts for independence: the stated one, else the one its name speaks of."""
        return self.family or family_of(self.model)


class Seat(Record, frozen=True, kw_only=True):
    """One place at the table.

    ``sample`` numbers equal judges; ``dimensions`` () = all of the rubric's. A seat with ``each="dimension"`` stands
    for one seat a dimension, laid out when panel and rubric meet (``laid_out``).
    """

    name: str
    judge: Judge
    sample: int = 0
    duty: Duty = "vote"
    stage: int = 0
    weight: float = 1.0
    dimensions: tuple[str, ...] = ()
    each: Literal["", "dimension"] = ""


class Rules(Record, frozen=True, kw_only=True, dict=True):
    """How votes become a bracket and a number: all that ``redecide`` may change."""

    rule: str = "plurality"
    tie: tuple[str, ...] = ("round", "chair", "lower")
    bracket_score: str = "nearest"
    quorum: int | Literal["majority", "all"] = "majority"
    independence: int = 1

    @cached_property
    def digest(self) -> str:
        """Sha-256 of them all."""
        return digest_of(self)


class Panel(Record, frozen=True, kw_only=True, dict=True):
    """All places of one deliberation, its protocol and its rules.

    ``criteria`` given means free text instead of a rubric: ``rubric`` is then None and there are no dimensions.
    ``form`` is the form of the votes.
    """

    seats: tuple[Seat, ...]
    name: str = ""
    rubric: str | None = "general"
    criteria: str = ""
    form: str = "ballot"
    protocol: Spec = Spec(type="independent")
    rules: Rules = Rules()
    spend: Spend = "all"
    seed: int = 0

    @classmethod
    def of(
        cls,
        *models: str | Judge | Seat,
        rubric: str | None = "general",
        criteria: str = "",
        rounds: int = 1,
        rules: Rules | None = None,
        spend: Spend = "all",
        seed: int = 0,
    ) -> Panel:
        """A panel of these models, one seat each.

        Args:
            *models: Models by name, judges, or whole seats.
            rubric: How to judge; ignored where ``criteria`` are given.
            criteria: Free text instead of a rubric.
            rounds: How many rounds at the most; more than one deliberates, on disagreement only.
            rules: How votes become a bracket; None means the defaults.
            spend: ``"enough"`` leaves out votes that can no longer change the bracket.
            seed: Seed of the order in which peers are shown.

        Raises:
            ConfigError: No model is named, or two seats have one name.
        """
        if not models:
            raise ConfigError("a panel needs at least one model", where="models")
        named = [model.name for model in models if isinstance(model, Seat)]
        twice = sorted({name for name in named if named.count(name) > 1})
        if twice:
            raise ConfigError(f"two seats are called {twice[0]!r}", where="models")
        taken = set(named)
        return cls(
            seats=tuple(_seated(model, taken) for model in models),
            rubric=None if criteria else rubric,
            criteria=criteria,
            protocol=Spec(type="independent") if rounds == 1 else Spec(type="rounds", params={"rounds": rounds}),
            rules=rules or Rules(),
            spend=spend,
            seed=seed,
        )

    @cached_property
    def voters(self) -> tuple[Seat, ...]:
        """The seats that vote, in seat order: a verifier or a chair is none."""
        return tuple(seat for seat in self.seats if seat.duty == "vote")

    @cached_property
    def chairs(self) -> tuple[Seat, ...]:
        """The seats that are asked where votes tie, by name: nothing depends on where they sit."""
        return tuple(sorted((seat for seat in self.seats if seat.duty == "chair"), key=lambda seat: seat.name))

    @cached_property
    def digest(self) -> str:
        """Sha-256 of everything in the panel but its name and its rules."""
        return digest_of(
            {
                "seats": self.seats,
                "rubric": self.rubric,
                "criteria": self.criteria,
                "form": self.form,
                "protocol": self.protocol,
                "spend": self.spend,
                "seed": self.seed,
            }
        )

    def seat(self, name: str) -> Seat:
        """The seat of that name.

        Raises:
            KeyError: No seat has it.
        """
        return self.named[name]

    @cached_property
    def named(self) -> Mapping[str, Seat]:
        """The seats by name."""
        return {seat.name: seat for seat in reversed(self.seats)}  # of two of one name the first is meant


def _seated(model: str | Judge | Seat, taken: set[str]) -> Seat:
    """A seat named after the model's last part, numbered from the second of that name on."""
    if isinstance(model, Seat):
        return model
    judge = Judge(model=model) if isinstance(model, str) else model
    base = re.sub(r"[^A-Za-z0-9_-]+", "-", judge.model.rsplit("/", 1)[-1]).strip("-") or "judge"
    name = next(one for number in count(1) if (one := base if number == 1 else f"{base}-{number}") not in taken)
    taken.add(name)
    return Seat(name=name, judge=judge)


def laid_out(panel: Panel, rubric: Rubric | None) -> Panel:
    """The panel with every ``each="dimension"`` seat replaced by one seat a dimension, and equal judges numbered.

    A seat a dimension carries the dimension's name (behind its own, where several seats stand for one a dimension) and
    weight, and judges it alone. Without a rubric such a seat
    stays one seat. Equal judges get ``sample`` 0, 1, 2 … in seat order, so that no two seats share a key.
    """
    seats: list[Seat] = []
    several = sum(seat.each == "dimension" for seat in panel.seats) > 1
    for seat in panel.seats:
        if seat.each != "dimension":
            seats.append(seat)
        elif rubric is None or not rubric.dimensions:
            seats.append(msgspec.structs.replace(seat, each=""))
        else:
            seats.extend(
                msgspec.structs.replace(
                    seat,
                    name=f"{seat.name}-{one.name}" if several else one.name,
                    weight=seat.weight * one.weight,
                    dimensions=(one.name,),
                    each="",
                )
                for one in rubric.dimensions
            )
    used: dict[tuple[Judge, tuple[str, ...]], set[int]] = {}
    numbered: list[Seat] = []
    for seat in seats:
        taken = used.setdefault((seat.judge, seat.dimensions), set())
        sample = seat.sample if seat.sample not in taken else min(set(range(len(taken) + 1)) - taken)
        taken.add(sample)
        numbered.append(seat if seat.sample == sample else msgspec.structs.replace(seat, sample=sample))
    laid = tuple(numbered)
    return panel if laid == panel.seats else msgspec.structs.replace(panel, seats=laid)
