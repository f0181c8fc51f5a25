"""Rubrics in both forms, and everything that can be wrong with one."""

from __future__ import annotations

import re
import textwrap
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from deliberate.errors import RubricError
from deliberate.library import NotAnEvaluator, bundled, pinned_name, read_rubric
from deliberate.library._filed import is_approved, rubric_files
from deliberate.types import Dimension, Rubric

FINANCE = """\
---
name: my-domain
kind: evaluator
description: Evaluates financial report generation
metadata:
  categories: ["finance", "reporting"]
  dimensions:
    - name: accuracy
      weight: 0.5
      description: about accuracy
    - name: compliance
      weight: 0.3
      description: about compliance
    - name: formatting
      weight: 0.2
      description: about formatting
---
# Rubric

- Are totals right?
"""

STRICT = """\
---
name: my-domain
description: Evaluates financial report generation
license: Apache-2.0
metadata:
  deliberate-kind: evaluator
  deliberate-rubric: rubric.yaml
  deliberate-version: "1"
  author: somebody
---

# Rubric

- Are totals right?
"""

SHEET = """\
categories: [finance, reporting]
dimensions:
  - {name: accuracy, weight: 0.5, description: about accuracy}
  - {name: compliance, weight: 0.3, description: about compliance}
  - {name: formatting, weight: 0.2, description: about formatting}
"""


def one_file(folder: Path, text: str = FINANCE, *, name: str = "my-domain") -> Path:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def strict(folder: Path, text: str = STRICT, sheet: str | None = SHEET, *, name: str = "my-domain") -> Path:
    path = one_file(folder, text, name=name)
    if sheet is not None:
        (path.parent / "rubric.yaml").write_text(sheet, encoding="utf-8")
    return path


def refused(path: Path, where: str, what: str) -> RubricError:
    with pytest.raises(RubricError, match=re.escape(what)) as caught:
        read_rubric(path)
    assert caught.value.where == f"{path.parent}/{where}"
    return caught.value


def test_s0_29_and_s0_45_the_custom_rubric_of_the_seed_loads_as_it_stands(tmp_path: Path) -> None:
    assert read_rubric(one_file(tmp_path)) == Rubric(
        name="my-domain",
        description="Evaluates financial report generation",
        body="# Rubric\n\n- Are totals right?",
        dimensions=(
            Dimension(name="accuracy", weight=0.5, description="about accuracy"),
            Dimension(name="compliance", weight=0.3, description="about compliance"),
            Dimension(name="formatting", weight=0.2, description="about formatting"),
        ),
        categories=("finance", "reporting"),
        source="path",
    )


def test_both_forms_give_the_same_record_and_digest(tmp_path: Path) -> None:
    old, new = read_rubric(one_file(tmp_path / "old")), read_rubric(strict(tmp_path / "new"))
    assert old == new
    assert old.digest == new.digest


def test_both_forms_say_severity_questions_affects_and_eligibility_alike(tmp_path: Path) -> None:
    more = """\
      question: "Is it accurate?"
      affects: ["src/*.py"]
"""
    nested = "  severity: cap_only\n  os: [linux]\n  requires_env: [TOKEN]\n  requires_bins: [psql]\n"
    text = FINANCE.replace("about accuracy\n", f"about accuracy\n{more}").replace(
        "  dimensions:", f"{nested}  dimensions:"
    )
    sheet = SHEET.replace("about accuracy}", 'about accuracy, question: "Is it accurate? ", affects: ["src/*.py"]}')
    sheet += "severity: cap_only\neligibility: {os: [linux], env: [TOKEN], bins: [psql]}\n"
    old, new = read_rubric(one_file(tmp_path / "old", text)), read_rubric(strict(tmp_path / "new", sheet=sheet))
    assert old == new
    assert new.severity == "cap_only"
    assert new.eligibility == {"os": ("linux",), "env": ("TOKEN",), "bins": ("psql",)}
    assert new.dimensions[0].question == "Is it accurate?"
    assert new.dimensions[0].affects == ("src/*.py",)


def test_what_the_one_file_form_says_twice_counts_once(tmp_path: Path) -> None:
    nested = "  os: [linux, macos]\n  eligibility: {os: [linux], env: [TOKEN]}\n"
    read = read_rubric(one_file(tmp_path, FINANCE.replace("  dimensions:", f"{nested}  dimensions:")))
    assert read.eligibility == {"os": ("linux", "macos"), "env": ("TOKEN",)}


def test_extras_of_that_form_are_read_and_mean_nothing(tmp_path: Path) -> None:
    nested = "  schema_version: 1\n  trigger: {on: save}\n  openkoi: {x: [1]}\n  openclaw: x\n"
    assert read_rubric(one_file(tmp_path, FINANCE.replace("  dimensions:", f"{nested}  dimensions:"))) == read_rubric(
        one_file(tmp_path / "plain")
    )


def test_a_folder_is_as_good_as_the_file_in_it(tmp_path: Path) -> None:
    path = strict(tmp_path)
    assert read_rubric(path.parent, source="user") == read_rubric(path, source="user")
    assert read_rubric(path, source="user").source == "user"


def test_line_ends_and_a_byte_order_mark_do_not_change_the_digest(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    digest = read_rubric(path).digest
    path.write_bytes(b"\xef\xbb\xbf" + FINANCE.replace("\n", "\r\n").encode())
    assert read_rubric(path).digest == digest


def test_a_rule_in_the_body_ends_nothing(tmp_path: Path) -> None:
    assert read_rubric(one_file(tmp_path, FINANCE + "\n---\n\nafter the rule\n")).body.endswith("---\n\nafter the rule")


def test_no_category_is_legal(tmp_path: Path) -> None:
    text = FINANCE.replace('["finance", "reporting"]', "[]")
    assert read_rubric(one_file(tmp_path, text)).categories == ()


def test_a_file_named_after_the_rubric_is_read_in_both_forms(tmp_path: Path) -> None:
    (tmp_path / "my-domain.SKILL.md").write_text(FINANCE, encoding="utf-8")
    old = read_rubric(tmp_path / "my-domain.SKILL.md")
    (tmp_path / "my-domain.SKILL.md").write_text(
        STRICT.replace("rubric.yaml", "my-domain.rubric.yaml"), encoding="utf-8"
    )
    (tmp_path / "my-domain.rubric.yaml").write_text(SHEET, encoding="utf-8")
    assert read_rubric(tmp_path / "my-domain.SKILL.md") == old


def test_a_file_of_any_other_name_is_read_too(tmp_path: Path) -> None:
    (tmp_path / "draft.md").write_text(STRICT, encoding="utf-8")
    (tmp_path / "rubric.yaml").write_text(SHEET, encoding="utf-8")
    assert read_rubric(tmp_path / "draft.md").name == "my-domain"


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("name: my-domain\n", "", "SKILL.md:2:1", "key 'name' is missing"),
        ("kind: evaluator\n", "", "SKILL.md:2:1", "key 'kind' is missing"),
        ("description: Evaluates financial report generation\n", "", "SKILL.md:2:1", "key 'description' is missing"),
        ("name: my-domain", "name:", "SKILL.md:2:1", "name is empty; expected text"),
        ("name: my-domain", "name: 7", "SKILL.md:2:7", "name is 7; expected text; put it in quotes"),
        ("name: my-domain", "name: ../../evil", "SKILL.md:2:7", "name is '../../evil'; expected 1 to 64 letters"),
        ("name: my-domain", "name: ..", "SKILL.md:2:7", "name is '..'; expected 1 to 64 letters"),
        ("kind: evaluator", "kind: true", "SKILL.md:3:7", "kind is True; expected text"),
        (
            "kind: evaluator",
            "kind: evaluator\nfoo: 1",
            "SKILL.md:4:1",
            "unknown key 'foo'; expected one of: name, kind",
        ),
        (
            "kind: evaluator",
            "kind: evaluator\nlicence: x",
            "SKILL.md:4:1",
            "unknown key 'licence' (did you mean 'license'?)",
        ),
        ('  categories: ["finance", "reporting"]\n', "", "SKILL.md:6:3", "key 'metadata.categories' is missing"),
        ('["finance", "reporting"]', "finance", "SKILL.md:6:15", "metadata.categories is 'finance'; expected a list"),
        ('["finance", "reporting"]', "[1]", "SKILL.md:6:16", "metadata.categories[0] is 1; expected text"),
        (
            "  categories:",
            "  categries:",
            "SKILL.md:6:3",
            "key 'metadata.categories' is missing",
        ),
        (
            "weight: 0.5",
            "weigt: 0.5",
            "SKILL.md:9:7",
            "unknown key 'metadata.dimensions[0].weigt' (did you mean 'weight'?)",
        ),
        (
            "    - name: accuracy\n      weight: 0.5",
            "    - weight: 0.5",
            "SKILL.md:8:7",
            "key 'metadata.dimensions[0].name' is missing; expected keys: name, weight, description, question, affects",
        ),
        ("      weight: 0.5\n", "", "SKILL.md:8:7", "key 'metadata.dimensions[0].weight' is missing"),
        (
            "      description: about accuracy\n",
            "",
            "SKILL.md:8:7",
            "key 'metadata.dimensions[0].description' is missing",
        ),
        ("weight: 0.5", "weight: high", "SKILL.md:9:15", "metadata.dimensions[0].weight is 'high'; expected a number"),
        ("weight: 0.5", "weight: true", "SKILL.md:9:15", "metadata.dimensions[0].weight is True; expected a number"),
        ("weight: 0.5", "weight: 0", "SKILL.md:9:15", "metadata.dimensions[0].weight is 0; expected greater than 0"),
        (
            "weight: 0.5",
            "weight: -0.5",
            "SKILL.md:9:15",
            "metadata.dimensions[0].weight is -0.5; expected greater than 0",
        ),
        ("weight: 0.5", "weight: .nan", "SKILL.md:9:15", "not a finite number"),
        (
            "weight: 0.5",
            "weight: 0.6",
            "SKILL.md:15:15",
            "weights sum to 1.1, must be 1.0 (accuracy 0.6 + compliance 0.3 + formatting 0.2)",
        ),
        ("weight: 0.5", "weight: 0.500002", "SKILL.md:15:15", "weights sum to 1, must be 1.0"),
        ("weight: 0.5", "weight: 0.4", "SKILL.md:15:15", "weights sum to 0.9, must be 1.0"),
        ("name: compliance", "name: accuracy", "SKILL.md:11:13", "dimension 'accuracy' is 'accuracy' again"),
        ("name: compliance", "name: Accu_ra-cy", "SKILL.md:11:13", "dimension 'Accu_ra-cy' is 'accuracy' again"),
        ("name: compliance", "name: '-'", "SKILL.md:11:13", "dimension name is '-'; expected a letter or digit in it"),
        (
            "name: compliance",
            'name: "a\\nb"',
            "SKILL.md:11:13",
            "metadata.dimensions[1].name is 'a\\nb'; expected one line",
        ),
        (
            "\n# Rubric\n\n- Are totals right?\n",
            "\n \n",
            "SKILL.md:18",
            "the body is empty; expected what the judge reads",
        ),
        ("name: my-domain", "name: [my-domain", "SKILL.md:3:5", "not readable as YAML"),
        ("kind: evaluator", "name: again", "SKILL.md:3:1", "key 'name' stands twice, first in line 2"),
        (
            "  categories:",
            "  severity: harsh\n  categories:",
            "SKILL.md:6:13",
            "metadata.severity is 'harsh'; expected 'adjust', 'cap_only' or 'advisory'",
        ),
        (
            "  categories:",
            "  eligibility: {envs: [X]}\n  categories:",
            "SKILL.md:6:17",
            "unknown key 'metadata.eligibility.envs' (did you mean 'env'?)",
        ),
    ],
)
def test_s0_30_each_broken_field_is_a_named_error(tmp_path: Path, old: str, new: str, where: str, what: str) -> None:
    assert old in FINANCE
    refused(one_file(tmp_path, FINANCE.replace(old, new, 1)), where, what)


def test_missing_metadata_is_a_named_error(tmp_path: Path) -> None:
    text = "---\nname: my-domain\nkind: evaluator\ndescription: x\n---\nbody\n"
    refused(one_file(tmp_path, text), "SKILL.md:2:1", "key 'metadata' is missing")


@pytest.mark.parametrize(("metadata", "column"), [("", "2:1"), ("metadata: {author: somebody}\n", "4:11")])
def test_a_skill_beside_a_sheet_is_told_the_keys_of_the_strict_form(tmp_path: Path, metadata: str, column: str) -> None:
    text = f"---\nname: my-domain\ndescription: x\n{metadata}---\nbody\n"
    what = (
        "key 'metadata.deliberate-rubric' is missing; expected metadata: "
        '{deliberate-kind: evaluator, deliberate-rubric: rubric.yaml, deliberate-version: "1"}'
    )
    refused(strict(tmp_path, text), f"SKILL.md:{column}", what)


def test_the_keys_that_are_asked_for_make_it_a_rubric(tmp_path: Path) -> None:
    text = "---\nname: my-domain\ndescription: x\n---\nbody\n"
    with pytest.raises(RubricError) as error:
        read_rubric(strict(tmp_path, text))
    assert read_rubric(strict(tmp_path, text.replace("---\nbody", f"{error.value.expected}\n---\nbody"))).body == "body"


def test_no_dimension_is_a_named_error(tmp_path: Path) -> None:
    head, _, rest = FINANCE.partition("  dimensions:\n")
    text = f"{head}  dimensions: []\n---{rest.partition('---')[2]}"
    refused(one_file(tmp_path, text), "SKILL.md:7:15", "metadata.dimensions is an empty list; expected at least one")


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("", "has no front matter"),
        ("# Rubric\n", "has no front matter"),
        ("---\nname: x\n", "front matter does not end"),
    ],
)
def test_a_file_without_front_matter_is_refused(tmp_path: Path, text: str, what: str) -> None:
    refused(one_file(tmp_path, text), "SKILL.md:1:1", what)


@pytest.mark.parametrize("front", ["", "- a\n", "text\n"])
def test_front_matter_that_is_no_mapping_is_refused(tmp_path: Path, front: str) -> None:
    refused(one_file(tmp_path, f"---\n{front}---\nbody\n"), "SKILL.md:2:1", "expected a mapping")


def test_weights_need_to_sum_to_one_only_nearly(tmp_path: Path) -> None:
    read = read_rubric(one_file(tmp_path, FINANCE.replace("weight: 0.5", "weight: 0.5000009")))
    assert read.dimensions[0].weight == 0.5000009


@given(st.lists(st.integers(1, 10**6), min_size=1, max_size=12))
def test_weights_that_are_shares_of_a_whole_are_taken(
    tmp_path_factory: pytest.TempPathFactory, parts: list[int]
) -> None:
    total = sum(parts)
    lines = "".join(f"  - {{name: d{at}, weight: {part / total!r}, description: d}}\n" for at, part in enumerate(parts))
    path = strict(tmp_path_factory.mktemp("r"), sheet=f"categories: []\ndimensions:\n{lines}")
    assert len(read_rubric(path).dimensions) == len(parts)


@pytest.mark.parametrize(
    ("old", "new", "where", "what"),
    [
        ("name: my-domain\n", "", "SKILL.md:2:1", "key 'name' is missing"),
        (
            "name: my-domain",
            "name: My_Domain",
            "SKILL.md:2:7",
            "name is 'My_Domain'; expected 1 to 64 lower-case letters",
        ),
        (
            "name: my-domain",
            "name: my--domain",
            "SKILL.md:2:7",
            "name is 'my--domain'; expected 1 to 64 lower-case letters",
        ),
        ("name: my-domain", "name: -domain", "SKILL.md:2:7", "name is '-domain'; expected 1 to 64 lower-case letters"),
        ("name: my-domain", f"name: {'x' * 65}", "SKILL.md:2:7", "expected at most 64 characters"),
        ("name: my-domain", "name: other", "SKILL.md:2:7", "name is 'other', but it lies in 'my-domain'"),
        ("description: Evaluates", f"description: {'x' * 1024}", "SKILL.md:3:14", "expected at most 1024 characters"),
        ("license: Apache-2.0", "kind: evaluator", "SKILL.md:4:1", "unknown key 'kind'"),
        (
            "license: Apache-2.0",
            "allowed_tools: x",
            "SKILL.md:4:1",
            "unknown key 'allowed_tools' (did you mean 'allowed-tools'?)",
        ),
        (
            "  deliberate-kind: evaluator\n",
            "",
            "SKILL.md:6:3",
            "key 'metadata.deliberate-kind' is missing; expected evaluator",
        ),
        ("  deliberate-rubric: rubric.yaml\n", "", "SKILL.md:6:3", "key 'metadata.deliberate-rubric' is missing"),
        (
            "deliberate-rubric:",
            "deliberate-rubrics:",
            "SKILL.md:7:3",
            "unknown key 'metadata.deliberate-rubrics' (did you mean 'deliberate-rubric'?)",
        ),
        ('"1"', "1", "SKILL.md:8:23", "metadata.deliberate-version is 1; expected text; put it in quotes"),
        ('"1"', "1.0", "SKILL.md:8:23", "metadata.deliberate-version is 1.0; expected text; put it in quotes"),
        ("author: somebody", "tags: [a]", "SKILL.md:9:9", "metadata.tags is a list; expected text"),
        (
            ": rubric.yaml",
            ": ../rubric.yaml",
            "SKILL.md:7:22",
            "metadata.deliberate-rubric is '../rubric.yaml'; expected a YAML file beside it",
        ),
        (": rubric.yaml", ": 'a\\b.yaml'", "SKILL.md:7:22", "expected a YAML file beside it"),
        (": rubric.yaml", ": rubric.json", "SKILL.md:7:22", "expected a YAML file beside it"),
        (": rubric.yaml", ": sheet.yaml", "sheet.yaml", "there is no such file"),
        ("# Rubric\n\n- Are totals right?\n", "", "SKILL.md:11", "the body is empty"),
    ],
)
def test_each_broken_field_of_the_strict_form_is_a_named_error(
    tmp_path: Path, old: str, new: str, where: str, what: str
) -> None:
    assert old in STRICT
    refused(strict(tmp_path, STRICT.replace(old, new, 1)), where, what)


@pytest.mark.parametrize(
    ("sheet", "where", "what"),
    [
        ("", "rubric.yaml:1:1", "the document is empty; expected a mapping"),
        ("- a\n", "rubric.yaml:1:1", "the document is a list; expected a mapping"),
        (SHEET.replace("categories: [finance, reporting]\n", ""), "rubric.yaml:1:1", "key 'categories' is missing"),
        ("categories: []\n", "rubric.yaml:1:1", "key 'dimensions' is missing"),
        (SHEET + "scale: 10\n", "rubric.yaml:6:1", "unknown key 'scale'; expected one of: categories, dimensions"),
        (SHEET.replace("0.3", "0.4"), "rubric.yaml:5:32", "weights sum to 1.1, must be 1.0"),
        (
            SHEET.replace("0.3", "0.3, requires_env: [X]"),
            "rubric.yaml:4:37",
            "unknown key 'dimensions[1].requires_env'",
        ),
        (SHEET + "requires_env: [X]\n", "rubric.yaml:6:1", "unknown key 'requires_env'"),
        (SHEET + "eligibility:\n", "rubric.yaml:6:1", "eligibility is empty; expected a mapping"),
        (SHEET + "x: *y\n", "rubric.yaml:6:4", "alias *y is not read"),
    ],
)
def test_each_broken_field_of_the_sheet_is_placed_in_the_sheet(
    tmp_path: Path, sheet: str, where: str, what: str
) -> None:
    refused(strict(tmp_path, sheet=sheet), where, what)


def test_a_missing_sheet_is_named(tmp_path: Path) -> None:
    refused(strict(tmp_path, sheet=None), "rubric.yaml", "there is no such file")


def test_a_skill_for_a_task_is_no_evaluator(tmp_path: Path) -> None:
    with pytest.raises(NotAnEvaluator, match=r"SKILL\.md:3:7: kind is 'task'; expected evaluator"):
        read_rubric(one_file(tmp_path, FINANCE.replace("kind: evaluator", "kind: task")))
    with pytest.raises(NotAnEvaluator, match=r"SKILL\.md:6:20: deliberate-kind is 'agent'; expected evaluator"):
        read_rubric(strict(tmp_path / "new", STRICT.replace("kind: evaluator", "kind: agent")))


def test_a_missing_folder_or_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(RubricError, match="there is no such file"):
        read_rubric(tmp_path / "none")
    with pytest.raises(RubricError, match=r"SKILL\.md: there is no such file"):
        read_rubric(tmp_path)


def test_a_linked_folder_file_or_sheet_is_refused_unless_links_are_let(tmp_path: Path) -> None:
    real = strict(tmp_path / "real").parent
    folder = tmp_path / "linked" / "my-domain"
    folder.parent.mkdir()
    folder.symlink_to(real)
    file = one_file(tmp_path / "file", "")
    file.unlink()
    file.symlink_to(real / "SKILL.md")
    (file.parent / "rubric.yaml").write_text(SHEET, encoding="utf-8")
    sheet = strict(tmp_path / "sheet", sheet=None)
    (sheet.parent / "rubric.yaml").symlink_to(real / "rubric.yaml")
    for path in (folder, folder / "SKILL.md", file, sheet):
        with pytest.raises(RubricError, match="is a symbolic link"):
            read_rubric(path)
        assert read_rubric(path, links=True) == read_rubric(real)


def test_ten_megabytes_are_refused(tmp_path: Path) -> None:
    path = one_file(tmp_path, FINANCE + "x" * 10_000_000)
    with pytest.raises(RubricError, match="is larger than 1 MiB"):
        read_rubric(path)


@pytest.mark.parametrize("content", [b"\x89PNG\r\n\x1a\n\x00\x00", b"---\nname: \xff\xfe\n", FINANCE.encode() + b"\0"])
def test_a_binary_file_is_refused(tmp_path: Path, content: bytes) -> None:
    path = one_file(tmp_path)
    path.write_bytes(content)
    with pytest.raises(RubricError, match=r"is not UTF-8|is a binary file"):
        read_rubric(path)


def test_rubrics_are_found_as_folders_and_as_files(tmp_path: Path) -> None:
    one_file(tmp_path, name="b")
    one_file(tmp_path, name="a.SKILL.md")
    (tmp_path / "c.SKILL.md").write_text(FINANCE, encoding="utf-8")
    (tmp_path / "no-rubric").mkdir()
    (tmp_path / ".SKILL.md").touch()
    (tmp_path / "notes.md").touch()
    assert rubric_files(tmp_path) == (
        ("a", tmp_path / "a.SKILL.md"),
        ("b", tmp_path / "b" / "SKILL.md"),
        ("c", tmp_path / "c.SKILL.md"),
    )
    assert rubric_files(tmp_path / "none") == ()


def test_an_approval_holds_for_what_was_approved_and_nothing_else(tmp_path: Path) -> None:
    path = one_file(tmp_path)
    rubric = read_rubric(path)
    approval = path.parent / "approved"
    assert not is_approved(path, rubric)
    approval.write_text("", encoding="utf-8")
    assert not is_approved(path, rubric)
    approval.write_text(f"{rubric.digest} by somebody\n", encoding="utf-8")
    assert is_approved(path, rubric)
    path.write_text(FINANCE.replace("totals", "sums"), encoding="utf-8")
    assert not is_approved(path, read_rubric(path))


def test_a_pinned_name_is_name_and_content(tmp_path: Path) -> None:
    rubric = read_rubric(one_file(tmp_path))
    assert pinned_name(rubric) == f"my-domain@{rubric.digest[:12]}"


@pytest.mark.parametrize("folder", sorted(path for path in bundled("rubrics").iterdir() if path.is_dir()))
def test_every_bundled_rubric_reads_and_is_in_the_house_style(folder: Path) -> None:
    rubric = read_rubric(folder, source="bundled")
    assert rubric.name == folder.name
    assert (folder / "rubric.yaml").is_file()
    assert "## Severity Guide" in rubric.body


def test_a_bundled_rubric_has_the_same_digest_in_the_one_file_form(tmp_path: Path) -> None:
    rubric = read_rubric(bundled("rubrics") / "general")
    dimensions = "".join(
        f"    - {{name: {one.name}, weight: {one.weight}, description: {one.description!r},\n"
        f"       question: {one.question!r}}}\n"
        for one in rubric.dimensions
    )
    text = (
        f"---\nname: general\nkind: evaluator\ndescription: {rubric.description!r}\nmetadata:\n  categories: []\n"
        f"  dimensions:\n{dimensions}---\n{textwrap.dedent(rubric.body)}\n"
    )
    assert read_rubric(one_file(tmp_path, text, name="general")).digest == rubric.digest
