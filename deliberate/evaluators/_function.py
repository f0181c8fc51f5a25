"""Evaluators made of functions: ``@evaluator`` builds a value, and registers nothing.

The signature is the schema: what follows the case are the parameters, with their types and defaults. A plain function
runs in a thread, an async one where it is awaited.
"""

from __future__ import annotations

import hashlib
import inspect
import math
import typing
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from typing import Any, ClassVar, TypeAlias, cast, overload

import anyio.to_thread
import msgspec

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators._base import checked_scale, measured, passed
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Record

__all__ = ["FunctionEvaluator", "evaluator"]

Said: TypeAlias = bool | float | Evaluation | tuple[bool | float, str]
Function: TypeAlias = Callable[..., Said | Awaitable[Said]]

_DOORS = ("runtime", "previous")
"""Parameters that are handed in, and are none of the schema."""


class FunctionEvaluator(Record, frozen=True, kw_only=True):
    """An evaluator made of a function; called with parameters, it gives the same one with those."""

    name: ClassVar[str] = ""
    spends_tokens: ClassVar[bool] = False
    description: ClassVar[str] = ""
    scale: ClassVar[str | None] = None
    code: ClassVar[str] = ""
    function: ClassVar[Function]

    def __call__(self, **params: Any) -> FunctionEvaluator:  # noqa: ANN401  as the function declares them
        """The same evaluator with these parameters.

        Raises:
            ConfigError: A parameter is unknown or wrong.
        """
        stated = {**msgspec.structs.asdict(self), **params}
        unknown = sorted(params.keys() - set(self.__struct_fields__))
        if unknown:
            known = ", ".join(self.__struct_fields__) or "none"
            raise ConfigError(f"unknown parameter {unknown[0]!r}", where=self.name, expected=f"one of: {known}")
        try:
            return msgspec.convert(stated, type(self), strict=True)
        except msgspec.ValidationError as error:
            raise ConfigError(str(error), where=self.name) from None

    @property
    def unscaled(self) -> bool:
        """Whether its number is on no declared scale."""
        return self.scale is None

    def made_of(self) -> object:
        """Parameters and code: scores of two versions of a function do not compare."""
        return {"params": msgspec.structs.asdict(self), "code": self.code}

    async def evaluate(self, case: Case, *, runtime: Runtime, previous: Evaluation | None = None) -> Evaluation:
        """What the function says: true or false is 100 or 0, a number lies on the declared scale.

        Raises:
            EvaluatorError: It said something else.
        """
        function: Any = type(self).function
        doors = {"runtime": runtime, "previous": previous}
        taken = inspect.signature(function).parameters
        call = partial(
            function,
            case,
            **{name: getattr(self, name) for name in self.__struct_fields__},
            **{name: door for name, door in doors.items() if name in taken},
        )
        said: object = await (call() if inspect.iscoroutinefunction(function) else anyio.to_thread.run_sync(call))
        reason = ""
        if isinstance(said, tuple) and len(cast("tuple[object, ...]", said)) == 2:  # noqa: PLR2004  a score and why
            said, reason = cast("tuple[object, str]", said)
        if isinstance(said, Evaluation):
            return msgspec.structs.replace(said, evaluator=self.name)
        if isinstance(said, bool):
            return passed(self, said, str(reason) or f"{self.name} says {'yes' if said else 'no'}")
        if isinstance(said, (int, float)) and math.isfinite(said) and self.scale != "":
            return measured(self, float(said), scale=self.scale, reason=str(reason))
        wanted = "true or false, a finite number with @evaluator(scale=…), or an Evaluation"
        msg = f"{self.name} returned {said!r}: expected {wanted}"
        raise EvaluatorError(msg)


@overload
def evaluator(function: Function, /) -> FunctionEvaluator: ...
@overload
def evaluator(
    *, name: str = "", description: str = "", spends_tokens: bool = False, scale: str | None = None
) -> Callable[[Function], FunctionEvaluator]: ...
def evaluator(
    function: Function | None = None,
    /,
    *,
    name: str = "",
    description: str = "",
    spends_tokens: bool = False,
    scale: str | None = None,
) -> FunctionEvaluator | Callable[[Function], FunctionEvaluator]:
    """Makes an evaluator of ``function(case, *, …)``.

    Args:
        function: Takes the case, and parameters that each have a default; ``runtime`` and ``previous`` are handed in
            where it names them. It returns true or false (100 or 0), a number, either with a reason beside it, or an
            ``Evaluation``. What it raises is a failed part, never a number.
        name: Its name; the function's own if none.
        description: One sentence; the first of its docstring if none.
        spends_tokens: Whether it asks a model: free parts run first.
        scale: What its numbers mean, as in ``"0..1"``. Without it a number enters no aggregate.

    Raises:
        ConfigError: The signature is no schema, or the scale is none.
    """

    def make(found: Function) -> FunctionEvaluator:
        return _made(found, name=name, description=description, spends_tokens=spends_tokens, scale=scale)

    return make if function is None else make(function)


def _made(
    function: Function, *, name: str, description: str, spends_tokens: bool, scale: str | None
) -> FunctionEvaluator:
    name = name or getattr(function, "__name__", "function")
    checked_scale(scale, None, part=name)
    hints = typing.get_type_hints(function)
    told = description or (inspect.getdoc(function) or "").split("\n\n", 1)[0].replace("\n", " ")
    if scale is None and hints.get("return") not in (int, float):
        # Whether it will give a number is not known yet; one without a scale is refused when it comes.
        scale = "0..100" if hints.get("return") in (bool, Evaluation) else ""
    namespace: dict[str, Any] = {
        "name": name,
        "spends_tokens": spends_tokens,
        "description": told,
        "scale": scale,
        "code": _code(function),
        "function": staticmethod(function),
        "__doc__": told,
    }
    kind = msgspec.defstruct(
        name,
        _fields(function, hints, name),
        bases=(FunctionEvaluator,),
        module=function.__module__,
        namespace=namespace,
        frozen=True,
        kw_only=True,
    )
    return cast("FunctionEvaluator", kind())


def _fields(function: Function, hints: Mapping[str, Any], name: str) -> list[tuple[str, Any, Any]]:
    """What the struct of its parameters is made of.

    Raises:
        ConfigError: It takes no case, or a parameter has no default or no name of its own.
    """
    first, *rest = inspect.signature(function).parameters.values() or (None,)
    if first is None or first.kind not in (first.POSITIONAL_ONLY, first.POSITIONAL_OR_KEYWORD):
        raise ConfigError("takes no case", where=name, expected="a first parameter, for the case")
    fields: list[tuple[str, Any, Any]] = []
    for one in rest:
        if one.name in _DOORS:
            continue
        if one.kind in (one.VAR_POSITIONAL, one.VAR_KEYWORD, one.POSITIONAL_ONLY):
            raise ConfigError(f"parameter {one.name!r} has no name of its own", where=name, expected="named parameters")
        if one.default is inspect.Parameter.empty:
            raise ConfigError(
                f"parameter {one.name!r} has no default",
                where=name,
                expected="a default for each, so that the name alone is an evaluator",
            )
        fields.append((one.name, hints.get(one.name, Any), _default(one.default)))
    return fields


def _default(value: object) -> object:
    return tuple(cast("list[object]", value)) if isinstance(value, list) else value


def _code(function: Function) -> str:
    """Sha-256 of the function's source, else of its byte code."""
    try:
        source = inspect.getsource(function).encode()
    except (OSError, TypeError):
        code = getattr(function, "__code__", None)
        source = repr(function).encode() if code is None else code.co_code + repr(code.co_consts).encode()
    return hashlib.sha256(source).hexdigest()
