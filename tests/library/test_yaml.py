"""Guarded YAML, and the errors people meet."""

from __future__ import annotations

import math
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import AfterValidator, Field

from deliberate.errors import ConfigError, SuiteError
from deliberate.library._compose import MOST_DEEP, MOST_VALUES
from deliberate.library._files import MOST_BYTES
from deliberate.library._yaml import Document, Label, Model, Name, Words, Written, load, load_file, spelled


def doc(text: str) -> Document:
    return load(text, file="f.yaml")


def fault(text: str) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        doc(text)
    return caught.value


def test_plain_scalars_follow_yaml_1_2() -> None:
    read = doc(
        "a: no\nb: on\nc: 1:30\nd: 2026-01-01\ne: true\nf: False\ng: ~\nh:\ni: 012\nj: 0x1F\nk: 0o17\nl: -7\n"
        "m: 1.5\nn: 1e3\no: .5\np: 1_000\nq: '1'\nr: \"no\"\ns: |\n  x\n  y\nt: <<\nu: 1.\nv: +3\n"
    ).data
    words = {"a": "no", "b": "on", "c": "1:30", "d": "2026-01-01", "p": "1_000", "q": "1", "r": "no", "s": "x\ny\n"}
    numbers = {"i": 12, "j": 31, "k": 15, "l": -7, "m": 1.5, "n": 1000.0, "o": 0.5, "u": 1.0, "v": 3}
    assert read == {"e": True, "f": False, "g": None, "h": None, "t": "<<"} | words | numbers


def test_lists_are_tuples_and_mappings_keep_their_order() -> None:
    data = doc("b: [1, [2, {c: 3}]]\na: {}\n").data
    assert data == {"b": (1, (2, {"c": 3})), "a": {}}
    assert isinstance(data, dict)
    assert list(data) == ["b", "a"]


@pytest.mark.parametrize("text", ["", "# nothing\n", "\n\n", "---\n", "--- # nothing\n..."])
def test_an_empty_text_says_nothing(text: str) -> None:
    document = doc(text)
    assert document.data is None
    assert document.where("anything").startswith("f.yaml:1:") or document.where("anything").startswith("f.yaml:2:")


@pytest.mark.parametrize("text", ["%YAML 1.2\n---\na: no\n", "--- {a: no}\n...\n"])
def test_one_document_may_say_that_it_begins_and_ends(text: str) -> None:
    assert doc(text).data == {"a": "no"}


@pytest.mark.parametrize(
    ("text", "where", "what"),
    [
        ("a: &x 1\nb: *x\n", "f.yaml:2:4", "alias *x is not read"),
        ("a: &x b\n*x : 1\n", "f.yaml:2:1", "alias *x is not read"),
        ("a: &x\n  <<: *x\n", "f.yaml:2:7", "alias *x is not read"),
        ("a: !!str 1\n", "f.yaml:1:4", "tag 'tag:yaml.org,2002:str' is not read"),
        ("a: !!python/object:os.system {}\n", "f.yaml:1:4", "tag 'tag:yaml.org,2002:python/object:os.system' is not"),
        ("a: ! x\n", "f.yaml:1:4", "tag '!' is not read"),
        ("!!str a: 1\n", "f.yaml:1:1", "tag 'tag:yaml.org,2002:str' is not read"),
        ("a: 1\n---\nb: 2\n", "f.yaml:2:1", "a second document begins here"),
        ("%YAML 1.1\n---\na: no\n", "f.yaml:2:1", "directives other than %YAML 1.2 are not read"),
        ("%TAG ! tag:x,2000:\n---\na: no\n", "f.yaml:2:1", "directives other than %YAML 1.2 are not read"),
        ("%YAML 1.9\n---\na: no\n", "f.yaml:1:1", "not readable as YAML"),
        ("a: 1\nb: 2\na: 3\n", "f.yaml:3:1", "key 'a' stands twice, first in line 1"),
        ("a: {b: 1, 'b ': 2}\n", "f.yaml:1:11", "key 'b ' stands twice, first in line 1"),
        ("'\u00e9': 1\n'e\u0301': 2\n", "f.yaml:2:1", "stands twice, first in line 1"),
        ("1: a\n", "f.yaml:1:1", "key '1' is not text"),
        ("null: 1\n", "f.yaml:1:1", "key 'null' is not text"),
        ("a: {true: 1}\n", "f.yaml:1:5", "key 'true' is not text"),
        ("[a]: 1\n", "f.yaml:1:1", "a key is text, not a list or a mapping"),
        ("? {a: 1}\n: 2\n", "f.yaml:1:3", "a key is text, not a list or a mapping"),
        ("a: .inf\n", "f.yaml:1:4", "not a finite number"),
        ("a: [-.INF, 1]\n", "f.yaml:1:5", "not a finite number"),
        ("a: .nan\n", "f.yaml:1:4", "not a finite number"),
        ("a: 1e999\n", "f.yaml:1:4", "not a finite number"),
        (f"a: {2**63}\n", "f.yaml:1:4", "whole number of more than 63 bits"),
        (f"a: {'9' * 9_000}\n", "f.yaml:1:4", "whole number of more than 63 bits"),
        (f"a: 0x{'f' * 9_000}\n", "f.yaml:1:4", "whole number of more than 63 bits"),
        ('a: "\\uD800"\n', "f.yaml:1:4", "text with a NUL or half a surrogate pair in it"),
        ('a: "\\0"\n', "f.yaml:1:4", "text with a NUL or half a surrogate pair in it"),
        ('"\\uDFFF": 1\n', "f.yaml:1:1", "text with a NUL or half a surrogate pair in it"),
        ('a: "\\UFFFFFFFF"\n', "f.yaml:1:1", "not readable as YAML"),
        ("a: 1\nb: \x01\n", "f.yaml:2:4", "character U+0001 may not stand in YAML"),
        ("a: [1, 2\n", "f.yaml:2:1", "not readable as YAML: expected ',' or ']', but got '<stream end>'"),
        ("a:\n\t- b\n", "f.yaml:2:1", "not readable as YAML: found character '\\t' that cannot start any token"),
        ("a: b: c\n", "f.yaml:1:5", "not readable as YAML: mapping values are not allowed here"),
        ("a: 1\nfoo\n", "f.yaml:3:1", "not readable as YAML: could not find expected ':'"),
        ("- a\nb: 1\n", "f.yaml:2:1", "not readable as YAML"),
        ("a: 'x\n", "f.yaml:2:1", "not readable as YAML: found unexpected end of stream"),
        ("--- a\n... \nb: 1\n", "f.yaml:3:1", "a second document begins here"),
    ],
)
def test_what_is_not_read_is_refused_with_its_place(text: str, where: str, what: str) -> None:
    error = fault(text)
    assert error.where == where
    assert what in error.what


@pytest.mark.parametrize("pair", ["[]", "{}"])
def test_sixty_four_levels_are_read_and_one_more_is_not(pair: str) -> None:
    opening = pair[0] if pair == "[]" else "{a: "
    text = opening * MOST_DEEP + pair[1] * MOST_DEEP
    assert doc(text).data is not None
    deeper = fault(opening + text + pair[1])
    assert deeper.what == "nested deeper than 64 levels"
    assert deeper.where == f"f.yaml:1:{len(opening) * MOST_DEEP + 1}"


@pytest.mark.parametrize("text", ["[" * 50_000, "{a: " * 50_000, "- " * 50_000])
def test_deep_nesting_neither_crashes_nor_takes_long(text: str) -> None:
    begun = time.process_time()
    assert fault(text).what == "nested deeper than 64 levels"
    assert time.process_time() - begun < 20


def test_many_values_are_refused() -> None:
    quoted = "''," * (MOST_VALUES + 1)  # the soonest read
    assert fault(f"[{quoted}]").what == "more than 50000 values"


def test_more_than_a_mebibyte_is_refused() -> None:
    assert fault(f"a: {'é' * (MOST_BYTES // 2)}").what == "is larger than 1 MiB"


def test_lines_count_from_where_the_text_stands_in_its_file() -> None:
    document = load("a: 1\nb: {c: 2}\n", file="SKILL.md", first_line=2)
    assert document.where() == "SKILL.md:2:1"
    assert document.where("b", "c") == "SKILL.md:3:8"
    assert document.where("b", "c", key=True) == "SKILL.md:3:5"
    with pytest.raises(SuiteError, match=r"SKILL\.md:3:1: key 'a' stands twice, first in line 2"):
        load("a: 1\na: 2\n", file="SKILL.md", first_line=2, error=SuiteError)
    with pytest.raises(ConfigError, match=r"SKILL\.md:3:4"):
        load("a: 1\nb: \x01\n", file="SKILL.md", first_line=2)


def test_a_path_that_is_not_there_is_placed_by_what_is_around_it() -> None:
    document = doc("a:\n  b: [1, 2]\n")
    assert document.where("a", "b", 1) == "f.yaml:2:10"
    assert document.where("a", "b", 7) == "f.yaml:2:6"
    assert document.where("a", "c", "d", key=True) == "f.yaml:2:3"
    assert document.where("z") == "f.yaml:1:1"


def test_a_file_is_read_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("a: [", encoding="utf-8")
    with pytest.raises(ConfigError) as caught:
        load_file(path)
    assert caught.value.where == f"{path}:1:5"


def test_a_path_is_spelled_as_people_write_it() -> None:
    assert spelled(("seats", 0, "model")) == "seats[0].model"
    assert spelled(()) == ""


def _even(number: int) -> int:
    if number % 2:
        raise ValueError(f"{number} is odd")
    return number


class _Inner(Written):
    name: Name
    count: Annotated[int, Field(ge=0, le=9)] = 0
    share: float = 0.5


class _Outer(Written):
    title: Words
    model: Model | None = None
    mode: Literal["one", "two"] = "one"
    flag: bool = False
    even: Annotated[int, AfterValidator(_even)] = 0
    label: Label = "x"
    items: Annotated[tuple[_Inner, ...], Field(min_length=1)] = (_Inner(name="x"),)
    named: dict[Name, _Inner] = {}  # noqa: RUF012  pydantic copies it
    inner: _Inner | None = None
    from_: Annotated[str, Field(alias="from")] = ""
    words: dict[str, str] = {}  # noqa: RUF012  pydantic copies it


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "f.yaml:1:1: the document is empty; expected a mapping"),
        ("- a", "f.yaml:1:1: the document is a list; expected a mapping"),
        (
            "titl: x",
            "f.yaml:1:1: unknown key 'titl' (did you mean 'title'?); expected one of: title, model, mode, flag, even",
        ),
        ("title: x\nqqq: 1", "f.yaml:2:1: unknown key 'qqq'; expected one of: title, model"),
        (
            "title: x\nitems:\n  - {name: a, cuont: 3}",
            "f.yaml:3:15: unknown key 'items[0].cuont' (did you mean 'count'?); expected one of: name, count, share",
        ),
        ("title: x\nnamed: {a: {nme: b}}", "f.yaml:2:13: unknown key 'named.a.nme' (did you mean 'name'?)"),
        ("title: x\ninner: {nme: b}", "f.yaml:2:9: unknown key 'inner.nme' (did you mean 'name'?)"),
        ("title: x\nfrom_: b", "f.yaml:2:1: unknown key 'from_' (did you mean 'from'?)"),
        ("mode: one", "f.yaml:1:1: key 'title' is missing; expected keys: title, model, mode"),
        ("title: x\ninner: {}", "f.yaml:2:8: key 'inner.name' is missing; expected keys: name, count, share"),
        ("title: 1.0", "f.yaml:1:8: title is 1.0; expected text; put it in quotes"),
        ("title: true", "f.yaml:1:8: title is True; expected text; put it in quotes"),
        ("title:", "f.yaml:1:1: title is empty; expected text"),
        ("title: [a]", "f.yaml:1:8: title is a list; expected text"),
        ("title: {a: b}", "f.yaml:1:8: title is a mapping; expected text"),
        ("title: ' '", "f.yaml:1:8: title is ' '; expected text that says something"),
        ("title: x\nmodel: gpt", "f.yaml:2:8: model is 'gpt'; expected provider/model, as in openai/gpt-x"),
        ("title: x\nmode: three", "f.yaml:2:7: mode is 'three'; expected 'one' or 'two'"),
        ("title: x\nflag: 1", "f.yaml:2:7: flag is 1; expected true or false"),
        ("title: x\nflag: yes", "f.yaml:2:7: flag is 'yes'; expected true or false"),
        ("title: x\neven: 3", "f.yaml:2:7: even: 3 is odd"),
        ('title: x\nlabel: "a\\nb"', "f.yaml:2:8: label is 'a\\nb'; expected one line of 1 to 64 characters"),
        ("title: x\nitems: []", "f.yaml:2:8: items is an empty list; expected at least one"),
        ("title: x\nitems: a", "f.yaml:2:8: items is 'a'; expected a list"),
        (
            "title: x\nitems: [{name: a b}]",
            "f.yaml:2:16: items[0].name is 'a b'; expected 1 to 64 letters, digits, _ or -",
        ),
        ("title: x\nitems: [{name: a, count: 1.0}]", "f.yaml:2:26: items[0].count is 1.0; expected a whole number"),
        ("title: x\nitems: [{name: a, count: true}]", "f.yaml:2:26: items[0].count is True; expected a whole number"),
        (
            "title: x\nitems: [{name: a, count: 10}]",
            "f.yaml:2:26: items[0].count is 10; expected less than or equal to 9",
        ),
        ("title: x\nitems: [{name: a, share: half}]", "f.yaml:2:26: items[0].share is 'half'; expected a number"),
        ("title: x\nitems: [{name: a, share: true}]", "f.yaml:2:26: items[0].share is True; expected a number"),
        ("title: x\nnamed: {a b: {name: c}}", "f.yaml:2:9: 'a b' is no name; expected 1 to 64 letters, digits, _ or -"),
        ("title: x\nnamed: 1", "f.yaml:2:8: named is 1; expected a mapping"),
        ("title: x\nwords: {a: 1}", "f.yaml:2:12: words.a is 1; expected text; put it in quotes"),
        (f"title: x\nmodel: {'x' * 300}", f"f.yaml:2:8: model is '{'x' * 58}…; expected at most 200 characters"),
    ],
)
def test_every_error_names_place_key_and_what_was_expected(text: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        doc(text).read(_Outer)
    assert str(caught.value).startswith(message)


def test_an_unknown_key_is_said_first_and_then_what_stands_first() -> None:
    with pytest.raises(ConfigError, match="unknown key 'titl'"):
        doc("mode: three\ntitl: x\n").read(_Outer)
    with pytest.raises(ConfigError, match="mode is 'three'"):
        doc("mode: three\nflag: 3\ntitle: x\n").read(_Outer)


def test_what_fits_is_read() -> None:
    read = doc("title: ' x '\nitems: [{name: a, share: 1}]\nfrom: here\n").read(_Outer)
    assert (read.title, read.items[0].share, read.from_) == ("x", 1.0, "here")


YAMLISH = st.text(
    alphabet=st.sampled_from("ab01 \n\t:-?[]{},#&*!|>'\"%@`\\~<=.+_\r\0\x85\u2028\ufeff\x7fé漢"), max_size=60
)
PIECES = st.lists(
    st.sampled_from(
        (
            *("\n  ", "\n- ", "? ", ": ", "---\n", "\n...\n", "%YAML 1.1\n", "%YAML 2\n", "%TAG ! tag:\n", "!!", "!<"),
            *("\\x", "\\U", "\\uD800", '"\\UFFFFFFFF"', "|2", ">-", "|+9", "&a ", "*a ", "<<: ", "!!int ", "0x", "%zz"),
            *("!%F0%", "a", "1", "[", "]", "{", "}"),
        )
    ),
    max_size=20,
).map("".join)


@given(st.one_of(st.text(max_size=80), YAMLISH, PIECES))
def test_no_text_does_anything_but_read_or_fail_as_ours(text: str) -> None:
    with suppress(ConfigError):
        document = load(text, file="f.yaml")
        _check_plain(document.data)
        assert () in document.marks


def _check_plain(value: Any) -> None:  # noqa: ANN401  whatever came out
    if isinstance(value, dict):
        assert all(isinstance(key, str) for key in value)
        for one in value.values():
            _check_plain(one)
    elif isinstance(value, tuple):
        for one in value:
            _check_plain(one)
    else:
        assert value is None or isinstance(value, (str, bool, int, float))
        assert not isinstance(value, float) or math.isfinite(value)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False, allow_infinity=False),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("abcd"), inner, max_size=4),
        max_leaves=20,
    )
)
def test_what_json_says_is_read_as_json_reads_it(value: object) -> None:
    import json  # noqa: PLC0415  only here

    assert json.loads(json.dumps(doc(json.dumps(value)).data)) == value


def test_the_room_is_cheap_to_import() -> None:
    program = "import sys; import deliberate.library; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert "ruamel.yaml" not in loaded
    assert "structlog" not in loaded
    assert "litellm" not in loaded
