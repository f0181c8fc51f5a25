"""Files people wrote, and what they may not be."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deliberate.errors import ConfigError, RubricError
from deliberate.library._files import MOST_BYTES, listed, names_a_path, path_of, read_text


def test_a_byte_order_mark_and_foreign_line_ends_are_taken_off(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"\xef\xbb\xbfone\r\ntwo\rthree\n")
    assert read_text(path) == "one\ntwo\nthree\n"


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"x\.md: there is no such file"):
        read_text(tmp_path / "x.md")


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="is not a regular file"):
        read_text(tmp_path)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no named pipes here")
def test_a_pipe_is_refused_without_waiting_for_its_other_end(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.md")
    with pytest.raises(ConfigError, match="is not a regular file"):
        read_text(tmp_path / "pipe.md")


def test_a_symbolic_link_is_refused_unless_links_are_let(tmp_path: Path) -> None:
    (tmp_path / "real.md").write_text("text", encoding="utf-8")
    link = tmp_path / "link.md"
    link.symlink_to(tmp_path / "real.md")
    with pytest.raises(RubricError, match="is a symbolic link") as caught:
        read_text(link, error=RubricError)
    assert caught.value.where == str(link)
    assert read_text(link, links=True) == "text"


def test_one_mebibyte_is_read_and_a_byte_more_is_not(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"x" * MOST_BYTES)
    assert len(read_text(path)) == MOST_BYTES
    path.write_bytes(b"x" * (MOST_BYTES + 1))
    with pytest.raises(ConfigError, match="is larger than 1 MiB"):
        read_text(path)


def test_what_is_not_utf_8_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"one\ntwo \xff\n")
    with pytest.raises(ConfigError, match=r"x\.md:2: is not UTF-8"):
        read_text(path)


def test_a_binary_file_is_refused_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "x.md"
    path.write_bytes(b"one\ntwo\n\x00")
    with pytest.raises(ConfigError, match=r"x\.md:3: is a binary file"):
        read_text(path)


def test_a_name_no_system_takes_is_an_error_of_ours() -> None:
    with pytest.raises(ConfigError, match="null byte"):
        read_text(Path("x\0.md"))


@pytest.mark.parametrize("name", ["a/b", "./a", "a.md", "a.yaml", "a.yml", "..", ".", "~", "a\\b", "~/a"])
def test_a_place_is_told_from_a_name(name: str) -> None:
    assert names_a_path(name)


@pytest.mark.parametrize("name", ["general", "code-review", "code.review", "a@b", ""])
def test_a_name_is_told_from_a_place(name: str) -> None:
    assert not names_a_path(name)


def test_a_path_is_as_it_was_written_and_absolute_beside_a_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    assert path_of("a/b.md") == Path("a/b.md")
    assert path_of("~/b.md") == tmp_path / "b.md"
    assert path_of("b.md", beside=Path("a")) == Path.cwd() / "a" / "b.md"
    assert path_of(str(tmp_path), beside=Path("a")) == tmp_path


@pytest.mark.parametrize("name", ["x/" + "y" * 5_000, "~nobody-of-this-name/x"])
def test_what_can_be_no_path_is_an_error_of_ours(name: str) -> None:
    with pytest.raises(ConfigError, match="is no path"):
        path_of(name)


def test_a_folder_is_listed_in_order_and_a_missing_one_is_empty(tmp_path: Path) -> None:
    for name in ("b", "a", "c"):
        (tmp_path / name).touch()
    assert [path.name for path in listed(tmp_path)] == ["a", "b", "c"]
    assert listed(tmp_path / "none") == ()
    assert listed(tmp_path / "a") == ()


def test_a_folder_that_cannot_be_listed_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="cannot be listed"):
        listed(tmp_path / ("x" * 5_000))
