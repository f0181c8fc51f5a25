from __future__ import annotations

import os
from pathlib import Path

import pytest

from deliberate.errors import EvaluatorError
from deliberate.sandbox._scratch import remove, scratch_of
from deliberate.sandbox._supervisor import FAILED, abi, attributes, descendants, rights, seccomp
from deliberate.sandbox._view import toolchain, toolchain_variables


def test_a_workspace_that_is_too_large_is_refused_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace, scratch = tmp_path / "workspace", tmp_path / "scratch"
    workspace.mkdir()
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    for name in ("a", "b", "c"):
        (workspace / name).write_text("12345")
    with pytest.raises(EvaluatorError, match="too large to copy"):
        scratch_of(str(workspace), most_bytes=14)
    with pytest.raises(EvaluatorError, match="too large to copy"):
        scratch_of(str(workspace), most_files=2)
    assert list(scratch.iterdir()) == []
    found = scratch_of(str(workspace), most_bytes=15, most_files=3)
    assert sorted(path.name for path in Path(found.work).iterdir()) == ["a", "b", "c"]
    remove(found.root)


def test_scratch_folders_within_the_workspace_are_not_copied(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    temporary = tmp_path / "link"
    (tmp_path / "work/tmp").mkdir(parents=True)
    temporary.symlink_to(tmp_path / "work/tmp")
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    (tmp_path / "work/tmp/mine.txt").write_text("mine")
    (tmp_path / "work/deliberate-notes").mkdir()
    other = scratch_of("")
    found = scratch_of(str(tmp_path / "work"))
    assert sorted(str(path.relative_to(found.work)) for path in Path(found.work).rglob("*")) == [
        "deliberate-notes",
        "tmp",
        "tmp/mine.txt",
    ]
    for one in (found, other):
        remove(one.root)


@pytest.mark.parametrize("name", ["nowhere", "file", "nul\0inside"])
def test_a_workspace_that_is_no_folder_is_named(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(EvaluatorError, match="cannot be copied"):
        scratch_of(str(tmp_path / name))


def test_the_home_folder_and_what_holds_it_are_no_part_of_the_toolchain(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for folder in (".cargo/bin", ".cargo/registry", ".rustup", "bin", "lib", "tools/bin", "tools/lib", "tools/secret"):
        (home / folder).mkdir(parents=True)
    path = [home / ".cargo/bin", home / "bin", home / "tools/bin", home, tmp_path, "/", "relative", "", home / "gone"]
    found = toolchain({"HOME": str(home), "PATH": os.pathsep.join(map(str, path))}, network=False)
    inside = {one.removeprefix(f"{home}/") for one in found if one.startswith(str(tmp_path))}
    assert inside == {".cargo/bin", ".cargo/registry", ".rustup", "bin", "tools/bin", "tools/lib"}
    assert "/" not in found
    assert "/usr" in found
    assert list(found) == sorted(found)


def test_what_finding_a_host_needs_is_there_only_with_a_network() -> None:
    assert "/etc/hosts" not in toolchain({}, network=False)
    assert ("/etc/hosts" in toolchain({}, network=True)) is os.access("/etc/hosts", os.R_OK)


def test_tools_in_the_home_folder_are_told_where_they_are(tmp_path: Path) -> None:
    (tmp_path / ".rustup").mkdir()
    (tmp_path / "elsewhere").mkdir()
    found = toolchain_variables({"HOME": str(tmp_path), "PYENV_ROOT": str(tmp_path / "elsewhere")})
    assert found == {"RUSTUP_HOME": f"{tmp_path}/.rustup", "PYENV_ROOT": f"{tmp_path}/elsewhere"}


# --- the numbers the kernel is told: pure ------------------------------------------------------------


def test_descendants_are_found_at_any_depth_and_nobody_else_is() -> None:
    assert descendants({2: 1, 3: 2, 4: 3, 5: 9, 6: 2}, of=2) == [3, 6, 4]
    assert descendants({}, of=2) == []


def test_a_ruleset_withholds_what_its_version_knows() -> None:
    assert [len(attributes(version, network=False)) for version in (3, 4, 5, 6, 7)] == [8, 16, 16, 24, 24]
    assert attributes(6, network=True)[8:16] == bytes(8)
    assert (rights(4), rights(5)) == (0x7FFF, 0xFFFF)
    assert FAILED == 121
    assert abi() >= 0 or abi() == -1


def test_the_filter_gives_what_it_says_for_every_call() -> None:
    for machine, (name, number) in {"x86_64": (0xC000003E, 41), "aarch64": (0xC00000B7, 198)}.items():
        alone, networked = seccomp(machine, network=False), seccomp(machine, network=True)
        allow, refuse, unknown, kill = 0x7FFF0000, 0x0005000D, 0x00050026, 0x80000000
        assert [verdict(code, name, 0, 0) for code in (alone, networked)] == [allow, allow]
        assert [verdict(code, name ^ 1, 0, 0) for code in (alone, networked)] == [kill, kill]
        assert [verdict(code, name, 425, 0) for code in (alone, networked)] == [unknown, unknown]
        assert [verdict(code, name, 0x40000000 + number, 2) for code in (alone, networked)] == [unknown, unknown]
        assert {family: verdict(alone, name, number, family) for family in (1, 2, 10, 16)} == dict.fromkeys(
            (1, 2, 10, 16), refuse
        )
        assert {family: verdict(networked, name, number, family) for family in (1, 2, 10, 16, 17)} == {
            1: refuse,
            2: allow,
            10: allow,
            16: allow,
            17: refuse,
        }


def verdict(code: bytes, machine: int, call: int, argument: int) -> int:
    """What the kernel's small machine makes of a filter."""
    data = {0: call, 4: machine, 16: argument}
    program = [
        (
            int.from_bytes(code[at : at + 2], "little"),
            code[at + 2],
            code[at + 3],
            int.from_bytes(code[at + 4 : at + 8], "little"),
        )
        for at in range(0, len(code), 8)
    ]
    at = value = 0
    while True:
        kind, yes, no, number = program[at]
        at += 1
        if kind == 0x06:
            return number
        if kind == 0x20:
            value = data[number]
        else:
            at += yes if (value == number if kind == 0x15 else value >= number) else no
