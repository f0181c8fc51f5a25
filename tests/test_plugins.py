"""A part is a file of an open room, or an entry point of another package; nothing is registered."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

import deliberate.plugins
from deliberate.errors import ConfigError, UnknownName
from deliberate.plugins import KINDS, ROOMS, names, part, provider_of
from tests.conftest import Install

PACKAGE = Path(deliberate.plugins.__file__).parent


def test_every_room_has_a_word_for_its_parts() -> None:
    assert set(KINDS) == set(ROOMS)


@pytest.mark.parametrize("room", ROOMS)
def test_the_names_of_a_room_are_its_files_sorted(room: str) -> None:
    files = {
        path.stem for path in (PACKAGE / room).iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()
    }
    ours = {name for name in files if not name.startswith("_")}
    found = names(room)
    assert ours <= set(found)
    assert list(found) == sorted(set(found))


@pytest.mark.parametrize(("room", "name"), [(room, name) for room in ROOMS for name in names(room)])
def test_a_part_is_the_one_name_its_file_offers(room: str, name: str) -> None:
    module = importlib.import_module(f"deliberate.{room}.{name}")
    assert len(module.__all__) == 1
    assert part(room, name) is getattr(module, module.__all__[0])


@pytest.mark.parametrize("room", ROOMS)
def test_a_name_no_room_has_is_unknown_and_all_names_are_listed(room: str) -> None:
    with pytest.raises(UnknownName) as caught:
        part(room, "no such part", where="here")
    assert (caught.value.kind, caught.value.known, caught.value.where) == (KINDS[room], names(room), "here")


def test_a_private_file_is_no_part() -> None:
    with pytest.raises(UnknownName):
        part("tallies", "_base")


def test_another_package_brings_a_part_by_an_entry_point(install: Install) -> None:
    install("theirs", modules={"their_rules": "def first(): ..."}, parts={"tallies": {"first": "their_rules:first"}})
    assert "first" in names("tallies")
    assert "first" not in names("aggregation")
    assert part("tallies", "first").__module__ == "their_rules"


def test_a_part_of_another_package_is_imported_when_it_is_asked_for(install: Install) -> None:
    install("theirs", modules={"broken_rules": "1 / 0"}, parts={"tallies": {"broken": "broken_rules:broken"}})
    assert "broken" in names("tallies")
    with pytest.raises(ConfigError) as caught:
        part("tallies", "broken", where="rule")
    assert caught.value.what == "rule 'broken' of package 'theirs' cannot be imported: division by zero"
    assert (caught.value.where, caught.value.hint) == ("rule", "upgrade or remove theirs")


def test_ours_win_over_theirs_of_the_same_name(install: Install) -> None:
    install("theirs", modules={"their_rules": "def mean(): ..."}, parts={"tallies": {"mean": "their_rules:mean"}})
    assert names("tallies").count("mean") == 1
    assert part("tallies", "mean").__module__ == "deliberate.tallies.mean"


@pytest.mark.parametrize("order", [("one", "two"), ("two", "one")])
def test_of_two_packages_with_one_name_the_same_wins_however_they_were_installed(
    install: Install, order: tuple[str, str]
) -> None:
    for package in order:
        module = f"rules_of_{package}"
        install(package, modules={module: "def same(): ..."}, parts={"tallies": {"same": f"{module}:same"}})
    assert part("tallies", "same").__module__ == "rules_of_one"


@pytest.mark.parametrize("name", names("providers"))
def test_a_provider_serves_the_prefixes_it_names(name: str) -> None:
    for prefix in part("providers", name).prefixes or (name,):
        assert provider_of(f"{prefix}/some/model") == name


@pytest.mark.parametrize("model", ["gpt-x", "", "nobody/gpt-x", "/gpt-x"])
def test_whatever_no_provider_serves_goes_to_litellm(model: str) -> None:
    assert provider_of(model) == "litellm"


def test_a_provider_of_another_package_serves_the_prefix_of_its_name(install: Install) -> None:
    install("theirs", modules={"their_provider": "x = 1"}, parts={"providers": {"theirs": "their_provider:x"}})
    assert provider_of("theirs/model") == "theirs"
    assert provider_of("other/model") == "litellm"
