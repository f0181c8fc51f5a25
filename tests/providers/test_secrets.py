from __future__ import annotations

import base64
from urllib.parse import quote

from hypothesis import given
from hypothesis import strategies as st

from deliberate.providers._secrets import Secrets, secrets_of

KEYS = st.text(st.characters(min_codepoint=33, max_codepoint=126), min_size=12, max_size=60)
BYTES = st.binary(max_size=9)


@given(KEYS, BYTES, BYTES)
def test_a_secret_is_found_in_every_spelling(key: str, before: bytes, after: bytes) -> None:
    secrets = Secrets([key])
    assert secrets.strike(f"a {key} b") == "a *** b"
    assert "***" in secrets.strike(f"a={quote(key, safe='')}")
    assert "***" in secrets.strike(base64.b64encode(before + key.encode() + after).decode())
    assert "***" in secrets.strike(base64.urlsafe_b64encode(before + key.encode() + after).decode())


@given(st.text())
def test_a_text_without_secrets_is_left_alone(text: str) -> None:
    assert Secrets([]).strike(text) == text


def test_of_two_secrets_the_longer_goes_first() -> None:
    assert Secrets(["abcdef", "abcdefgh"]).strike("abcdefgh") == "***"


def test_what_is_too_short_to_be_a_secret_is_left_alone() -> None:
    assert Secrets(["", "EMPTY"]).strike("an EMPTY reply") == "an EMPTY reply"


def test_the_secrets_of_an_environment_are_told_by_their_names() -> None:
    env = {"OPENAI_API_KEY": "one-secret ", "aws_session_token": "two-secret", "HOME": "/home/three"}
    assert secrets_of(env).strike("one-secret two-secret /home/three") == "*** *** /home/three"


def test_secrets_are_not_shown() -> None:
    assert repr(Secrets(["one-secret"])) == "Secrets(***)"
