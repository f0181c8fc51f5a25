"""Errors say what is wrong, where, what would have been right and what to do; the tree is what its docstring draws."""

from __future__ import annotations

import re

import pytest

from deliberate import errors
from deliberate.errors import (
    ConfigError,
    DeliberateError,
    GateFailed,
    LedgerError,
    MissingExtra,
    NotMet,
    NoVerdict,
    ProviderError,
    RefusedError,
    TransientProviderError,
    UnknownName,
)


def drawn() -> dict[str, str]:
    """Child -> parent, as the tree in the docstring draws them."""
    above: list[str] = []
    found: dict[str, str] = {}
    for line in (errors.__doc__ or "").splitlines():
        hit = re.match(r"    ((?:[│ ]   )*)(?:[├└]── )?([A-Z]\w+)(?: {2,}|$)", line)
        if hit is None:
            continue
        depth = len(hit[1]) // 4 + ("──" in line)
        del above[depth:]
        if above:
            found[hit[2]] = above[-1]
        above.append(hit[2])
    return found


def test_the_tree_in_the_docstring_is_the_tree() -> None:
    real = {
        name: next(base.__name__ for base in getattr(errors, name).__bases__ if issubclass(base, DeliberateError))
        for name in errors.__all__
        if name != "DeliberateError"
    }
    assert drawn() == real


def test_whoever_wants_all_of_ours_catches_one() -> None:
    assert all(issubclass(getattr(errors, name), DeliberateError) for name in errors.__all__)
    assert errors.__all__ == sorted(errors.__all__)


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ConfigError("no model is named"), "no model is named"),
        (ConfigError("no model", where="a.yaml:7:3"), "a.yaml:7:3: no model"),
        (ConfigError("no model", expected="a name"), "no model; expected a name"),
        (ConfigError("no model", hint="see --help"), "no model; see --help"),
        (
            ConfigError("no model", where="--model", expected="a name", hint="see --help"),
            "--model: no model; expected a name; see --help",
        ),
    ],
)
def test_a_config_error_says_where_what_was_expected_and_what_to_do(error: ConfigError, text: str) -> None:
    assert str(error) == text


def test_a_config_error_keeps_its_pieces() -> None:
    error = ConfigError("what", where="where", expected="expected", hint="hint")
    assert (error.what, error.where, error.expected, error.hint) == ("what", "where", "expected", "hint")
    bare = ConfigError("what")
    assert (bare.where, bare.expected, bare.hint) == ("", "", "")


def test_an_unknown_name_names_the_nearest_and_lists_all_in_order() -> None:
    error = UnknownName("rule", "plurallity", ["unanimous", "plurality", "mean"], where="rule")
    assert str(error) == (
        "rule: unknown rule 'plurallity' (did you mean 'plurality'?); expected one of: mean, plurality, unanimous"
    )
    assert (error.kind, error.name, error.known) == ("rule", "plurallity", ("mean", "plurality", "unanimous"))


def test_an_unknown_name_that_is_near_to_none_guesses_nothing() -> None:
    error = UnknownName("rule", "xyzzy", ["mean"], hint="deliberate doctor")
    assert str(error) == "unknown rule 'xyzzy'; expected one of: mean; deliberate doctor"
    assert str(UnknownName("rubric", "x", [])) == "unknown rubric 'x'; expected one of: none"


def test_a_missing_extra_says_what_to_install() -> None:
    error = MissingExtra("stats", need="Krippendorff's alpha")
    assert str(error) == "Krippendorff's alpha needs the extra 'stats'; pip install \"deliberate-eval[stats]\""
    assert error.extra == "stats"


def test_provider_errors_keep_status_and_what_the_endpoint_asked_for() -> None:
    error = TransientProviderError("overloaded", status=529, retry_after=2.5)
    assert (str(error), error.status, error.retry_after) == ("overloaded", 529, 2.5)
    assert (TransientProviderError("reset").status, TransientProviderError("reset").retry_after) == (None, None)
    assert (str(RefusedError("wrong key", status=401)), RefusedError("wrong key", status=401).status) == (
        "wrong key",
        401,
    )
    assert ProviderError("gone").status is None


def test_trying_again_can_help_only_below_transient() -> None:
    assert not issubclass(RefusedError, TransientProviderError)
    assert not issubclass(TransientProviderError, RefusedError)


def test_a_ledger_error_says_what_to_do_next() -> None:
    assert str(LedgerError("disk full", hint="free some space")) == "disk full; free some space"
    assert str(LedgerError("disk full")) == "disk full"
    assert LedgerError("disk full", hint="free some space").hint == "free some space"


@pytest.mark.parametrize("kind", [NotMet, NoVerdict, GateFailed])
def test_what_is_not_met_shows_as_a_failed_assertion(kind: type[NotMet]) -> None:
    assert issubclass(kind, AssertionError)
