"""Configuration of two other systems -> explicit parts. Their words and their defaults stop here.

Kapso's evaluators ignore letter case, put a documented number where none is found, and count from 0 to 1 in a
composite. Codebolt's compare literally, from 0 to 100. What they leave unsaid is written out, so that no room below
needs to know whose document it was. (Task suites are read by ``suites``.)
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from deliberate.errors import ConfigError, UnknownName
from deliberate.types import Param, PlanPart, Spec

__all__ = ["KAPSO", "codebolt_part", "kapso_spec"]

_MODEL = "gpt-4.1-mini"

KAPSO: Mapping[str, Mapping[str, Any]] = {
    "no_score": {},
    "regex_pattern": {"pattern": r"SCORE:\s*([-+]?\d*\.?\d+)", "default_score": 0.0},
    "file_json": {"filename": "results.json", "score_key": "score", "default_score": 0.0},
    "multi_metric": {"patterns": {}, "invert": ()},
    "llm_judge": {"criteria": "correctness and quality", "model": _MODEL, "scale": 10, "include_code": False},
    "llm_comparison": {"expected": "", "model": _MODEL, "strict": False},
    "composite": {"evaluators": (), "aggregation": "weighted_avg"},
}
"""Kapso's evaluators, with the parameters and defaults it documents."""

_UNLIKE_OURS = ("default_score", "model")
"""Defaults of Kapso that are not ours, and are stated therefore."""

_RULES = {"weighted_avg": "weighted_mean", "min": "min", "max": "max", "product": "product"}


def kapso_spec(
    name: str, params: Mapping[str, Param] | None = None, *, within: bool = False, where: str = "evaluator"
) -> Spec:
    """The part that ``{type: name, params: …}`` means in Kapso.

    Args:
        name: One of ``KAPSO``, in any letter case.
        params: Its parameters.
        within: Whether it stands in an aggregate: a number without a scale is on 0..1 then.
        where: File and key, for messages.

    Raises:
        UnknownName: There is no such evaluator, parameter or aggregation.
        ConfigError: A composite's part is not (type, params, weight).
    """
    kind = name.lower()
    if kind not in KAPSO:
        raise UnknownName("evaluator", name, KAPSO, where=where)
    given = dict(params or {})
    for key in given:
        if key not in KAPSO[kind]:
            raise UnknownName("parameter", key, KAPSO[kind], where=f"{where}.params")
    if kind == "composite":
        return _kapso_composite({**KAPSO[kind], **given}, where=where)
    stated = {key: value for key, value in KAPSO[kind].items() if key in _UNLIKE_OURS} | given
    if kind in ("regex_pattern", "multi_metric"):
        stated["ignore_case"] = True
    if kind == "multi_metric":
        stated |= {"on_missing": "exclude", "min_coverage": 0.0}
    if within and kind in ("regex_pattern", "file_json"):
        stated["scale"] = "0..1"
    if isinstance(model := stated.get("model"), str) and "/" not in model:
        stated["model"] = f"openai/{model}"
    return Spec(type=kind, params=stated)


def _kapso_composite(given: Mapping[str, Any], *, where: str) -> Spec:
    rule = given["aggregation"]
    if rule not in _RULES:
        raise UnknownName("aggregation", str(rule), _RULES, where=f"{where}.params.aggregation")
    parts: dict[str, Param] = {}
    for at, one in enumerate(cast("Sequence[object]", given["evaluators"])):
        name, params, weight = _triple(one, where=f"{where}.params.evaluators.{at}")
        spec = kapso_spec(name, params, within=True, where=f"{where}.params.evaluators.{at}")
        parts[f"{spec.type}-{at + 1}"] = {"type": spec.type, "params": spec.params, "weight": weight}
    combine = {"by": _RULES[rule], "on_missing": "exclude"}
    return Spec(type="composite", params={"parts": parts, "combine": combine})


def _triple(one: object, *, where: str) -> tuple[str, Mapping[str, Param], Param]:
    if isinstance(one, Mapping):
        written = cast("Mapping[str, Any]", one)
        one = (written.get("type"), written.get("params", {}), written.get("weight", 1.0))
    if isinstance(one, (tuple, list)):
        items = tuple(cast("Sequence[Any]", one))
        if len(items) == 3 and isinstance(items[0], str) and isinstance(items[1], Mapping):  # noqa: PLR2004
            return items[0], cast("Mapping[str, Param]", items[1]), items[2]
    raise ConfigError(f"{one!r} is no part", where=where, expected="[type, params, weight]")


# --- Codebolt --------------------------------------------------------------------------------------

_MODES: Mapping[str, Callable[[str], Spec]] = {
    "exact": lambda expected: Spec(type="exact", params={"expected": expected}),
    "contains": lambda expected: Spec(type="contains", params={"expected": expected}),
    "regex": lambda expected: Spec(type="regex", params={"pattern": expected}),
    "semantic": lambda expected: Spec(type="semantic", params={"expected": expected}),
}
_CODEBOLT: Mapping[str, Mapping[str, str]] = {
    "expected_output": {"mode": "", "expected": ""},
    "script": {"script": "command"},
    "agent_judge": {"agent": "agent", "criteria": "criteria"},
    "deliberation": {"panel": "panel"},
}
"""Codebolt's evaluators: what it calls a parameter, and what we do."""


def codebolt_part(written: Mapping[str, Param], *, at: int = 0, where: str = "evaluators") -> PlanPart:
    """The part that one of Codebolt's evaluators means: ``{type, name?, weight?, …}``.

    ``type`` is expected_output (with ``mode`` and ``expected``), script, agent_judge or deliberation; letter case,
    spaces and hyphens do not matter.

    Raises:
        UnknownName: There is no such type, mode or parameter.
        ConfigError: A key is missing.
    """
    params = dict(written)
    kind = str(params.pop("type", "")).lower().replace(" ", "_").replace("-", "_")
    if kind not in _CODEBOLT:
        raise UnknownName("evaluator", kind, _CODEBOLT, where=f"{where}.type")
    name, weight = str(params.pop("name", f"{kind}-{at + 1}")), params.pop("weight", 1.0)
    for key in params:
        if key not in _CODEBOLT[kind]:
            raise UnknownName("parameter", key, _CODEBOLT[kind], where=f"{where}.{key}")
    if kind == "expected_output":
        mode, expected = str(params.get("mode", "exact")).lower(), params.get("expected")
        if mode not in _MODES:
            raise UnknownName("mode", mode, _MODES, where=f"{where}.mode")
        if not isinstance(expected, str):
            raise ConfigError("nothing to compare with", where=f"{where}.expected", expected="a text")
        spec = _MODES[mode](expected)
    else:
        spec = Spec(type=kind, params={_CODEBOLT[kind][key]: value for key, value in params.items()})
    return PlanPart(name=name, spec=spec, weight=cast("float", weight))
