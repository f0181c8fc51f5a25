"""Case -> evaluation, one kind a file.

``_base`` says what an evaluator is, ``composite`` is the plan, ``_deliberate`` runs a panel, ``_function`` makes
evaluators of functions. To add one: a file in this room. Names are imported when they are first used, so that a plan
pays only for the parts it has.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from deliberate import plugins
from deliberate.evaluators._base import Evaluator, assess, fingerprint_of
from deliberate.evaluators._build import (
    Place,
    combine,
    default_of,
    evaluator_of,
    fitting,
    kind_of,
    own_evaluators,
    params_schema,
    plan_of,
)
from deliberate.evaluators._function import FunctionEvaluator, evaluator

if TYPE_CHECKING:
    from deliberate.evaluators.agent_judge import AgentJudge
    from deliberate.evaluators.composite import Composite
    from deliberate.evaluators.contains import Contains
    from deliberate.evaluators.deliberation import Deliberation
    from deliberate.evaluators.exact import Exact
    from deliberate.evaluators.file_json import FileJson
    from deliberate.evaluators.json_schema import JsonSchema
    from deliberate.evaluators.llm_comparison import LLMComparison
    from deliberate.evaluators.llm_judge import LLMJudge
    from deliberate.evaluators.llm_rubric import LLMRubric
    from deliberate.evaluators.multi_metric import MultiMetric
    from deliberate.evaluators.no_score import NoScore
    from deliberate.evaluators.not_contains import NotContains
    from deliberate.evaluators.pytest import Pytest
    from deliberate.evaluators.regex import Regex
    from deliberate.evaluators.regex_pattern import RegexPattern
    from deliberate.evaluators.rubric_judge import RubricJudge
    from deliberate.evaluators.script import Script
    from deliberate.evaluators.semantic import Semantic
    from deliberate.evaluators.similarity import Similarity
    from deliberate.evaluators.static_analysis import StaticAnalysis
    from deliberate.evaluators.test_runner import TestRunner

__all__ = [
    "AgentJudge",
    "Composite",
    "Contains",
    "Deliberation",
    "Evaluator",
    "Exact",
    "FileJson",
    "FunctionEvaluator",
    "JsonSchema",
    "LLMComparison",
    "LLMJudge",
    "LLMRubric",
    "MultiMetric",
    "NoScore",
    "NotContains",
    "Place",
    "Pytest",
    "Regex",
    "RegexPattern",
    "RubricJudge",
    "Script",
    "Semantic",
    "Similarity",
    "StaticAnalysis",
    "TestRunner",
    "assess",
    "combine",
    "default_of",
    "evaluator",
    "evaluator_of",
    "fingerprint_of",
    "fitting",
    "kind_of",
    "own_evaluators",
    "params_schema",
    "plan_of",
]


def __getattr__(name: str) -> Any:  # noqa: ANN401  the protocol of module attributes
    for part in plugins.names("evaluators"):
        kind = kind_of(part)
        if kind.__name__ == name:
            return kind
    msg = f"module {__name__!r} has no attribute {name!r}"
    raise AttributeError(msg)
