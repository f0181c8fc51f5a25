"""Output held against a schema: faults with their place, drafts, references, and what is refused when it is built."""

from __future__ import annotations

import pytest

from deliberate import Case
from deliberate.errors import ConfigError
from deliberate.evaluators import JsonSchema, evaluator_of
from deliberate.library import Library
from deliberate.types import Evaluation, Spec, Unscored
from tests.evaluators.conftest import Open

pytestmark = pytest.mark.anyio

PERSON = {
    "type": "object",
    "required": ["name"],
    "properties": {"name": {"type": "string", "pattern": "^[A-Z]"}, "age": {"type": "integer"}},
    "patternProperties": {"^x_": {"type": "boolean"}},
    "additionalProperties": False,
}


async def read(opened: Open, evaluator: JsonSchema, output: str) -> Evaluation:
    async with opened() as session:
        return await session.evaluate(Case(output=output), evaluator)


@pytest.mark.parametrize("anyio_backend", ["asyncio"])  # read alike on any loop
@pytest.mark.parametrize(
    ("output", "faults"),
    [
        ('{"name": "Ada", "age": 36, "x_ok": true}', ()),
        ('{"age": 36}', ("$: 'name' is a required property",)),
        ('{"name": "ada"}', ("$.name: 'ada' does not match '^[A-Z]'",)),
        ('{"name": 1}', ("$.name: 1 is not of type 'string'",)),
        ('{"name": "Ada", "x_a": 1}', ("$.x_a: 1 is not of type 'boolean'",)),
        ('{"name": "Ada", "y": 1, "z": 2}', ("$: unexpected 'y', 'z'",)),
        ("[]", ("$: [] is not of type 'object'",)),
        ('{"name": NaN}', ("is not JSON: NaN is no JSON",)),
    ],
)
async def test_each_fault_is_told_with_its_place(opened: Open, output: str, faults: tuple[str, ...]) -> None:
    found = await read(opened, JsonSchema(schema=PERSON), output)
    assert found.score == (0.0 if faults else 100.0)
    assert found.details == {"faults": faults}
    assert found.reason == (faults[0] if faults else "it fits")


async def test_what_is_no_json_is_0_and_says_where(opened: Open) -> None:
    found = await read(opened, JsonSchema(schema=PERSON), "Sure! {}")
    assert (found.score, found.reason) == (0.0, "is not JSON: Expecting value: line 1 column 1 (char 0)")


async def test_a_fence_is_trimmed_only_where_asked(opened: Open) -> None:
    output = '```json\n{"name": "Ada"}\n```\n'
    assert (await read(opened, JsonSchema(schema=PERSON), output)).score == 0.0
    assert (await read(opened, JsonSchema(schema=PERSON, trim_fence=True), output)).score == 100.0
    assert (await read(opened, JsonSchema(schema=PERSON, trim_fence=True), '{"name": "Ada"}')).score == 100.0


async def test_many_faults_are_counted_and_long_ones_cut(opened: Open) -> None:
    schema = {"items": {"type": "integer"}, "additionalProperties": {"type": "integer"}}
    many = await read(opened, JsonSchema(schema=schema), f'["{"x" * 500}"{", true" * 50}]')
    assert many.reason.endswith("… (and 19 more)")
    assert (await read(opened, JsonSchema(schema=schema), '{"a": "b"}')).score == 0.0


async def test_each_draft_is_held_to_its_own_rules(opened: Open) -> None:
    old = {"$schema": "http://json-schema.org/draft-07/schema#", "items": [{"type": "integer"}]}
    assert (await read(opened, JsonSchema(schema=old), '["x"]')).score == 0.0


async def test_references_reach_inside_the_schema(opened: Open) -> None:
    tree = {"type": "object", "properties": {"next": {"$ref": "#"}}, "additionalProperties": False}
    assert (await read(opened, JsonSchema(schema=tree), '{"next": {"next": {}}}')).score == 100.0
    assert (await read(opened, JsonSchema(schema=tree), '{"next": {"nxt": {}}}')).score == 0.0
    for endless in ({"$ref": "#"}, {"$ref": "#/nowhere"}):
        assert isinstance((await read(opened, JsonSchema(schema=endless), "{}")).outcome, Unscored)


async def test_an_output_that_is_too_large_is_a_failed_reading(opened: Open) -> None:
    found = await read(opened, JsonSchema(schema=PERSON), " " * (4 * 1024 * 1024 + 1))
    assert isinstance(found.outcome, Unscored)
    assert "more than 4194304 are not read as JSON" in found.outcome.detail


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ({}, "an empty schema fits everything"),
        ({"type": "objct"}, r"json_schema\.schema\.type: is no JSON Schema"),
        ({"properties": {"a": {"$ref": "https://example.com/x"}}}, "leads out of the schema"),
        ({"$schema": "https://example.com/mine"}, "unknown draft"),
        ({"properties": {"a": {"$schema": "https://json-schema.org/draft/2020-12/schema"}}}, "a draft inside a schema"),
        ({"unevaluatedProperties": False, "patternProperties": {"a": {}}}, "expected additionalProperties"),
        ({"pattern": "a" * 10_001}, "a pattern of 10001 characters"),
    ],
)
def test_what_is_no_schema_is_refused_when_it_is_built(schema: dict[str, object], said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        JsonSchema(schema=schema)


def test_a_schema_from_a_document_comes_with_tuples() -> None:
    spec = Spec(type="json_schema", params={"schema": {"required": ("a",), "type": ("object", "null")}})
    assert evaluator_of(spec, panel=Library().panel).name == "json_schema"
