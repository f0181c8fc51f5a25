"""Markdown with front matter: YAML between two ``---`` lines, then the body."""

from __future__ import annotations

from deliberate.errors import ConfigError
from deliberate.library._yaml import Document, load
from deliberate.types import Record

__all__ = ["FrontMatter", "parse_front_matter", "split_front_matter"]

_FENCE = "---"


class FrontMatter(Record, frozen=True, kw_only=True):
    """The two halves of a text and where they lie in it.

    ``yaml`` is ``text[yaml_start:yaml_end]``, ``body`` is ``text[body_start:]``; the YAML begins in
    line 2, the body in ``body_line``.
    """

    yaml: str
    body: str
    yaml_start: int
    yaml_end: int
    body_start: int
    body_line: int


def split_front_matter(text: str, *, file: str, error: type[ConfigError] = ConfigError) -> FrontMatter:
    """The halves of a text whose line ends are line feeds. A ``---`` in the body is the body's own.

    Raises:
        ConfigError: It does not begin with a ``---`` line, or has no second one; as ``error``.
    """
    first, _, _ = text.partition("\n")
    if first.rstrip() != _FENCE:
        raise error("has no front matter", where=f"{file}:1:1", expected="a first line '---'")
    start = at = len(first) + 1
    number = 2
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        if text[at:end].rstrip() == _FENCE:
            after = min(end + 1, len(text))
            return FrontMatter(
                yaml=text[start:at],
                body=text[after:],
                yaml_start=start,
                yaml_end=at,
                body_start=after,
                body_line=number + 1,
            )
        at, number = end + 1, number + 1
    raise error("front matter does not end", where=f"{file}:1:1", expected="a second line '---'")


def parse_front_matter(text: str, *, file: str, error: type[ConfigError] = ConfigError) -> tuple[Document, FrontMatter]:
    """The front matter as a document, and the halves.

    Raises:
        ConfigError: It has none, or not one we read; as ``error``.
    """
    halves = split_front_matter(text, file=file, error=error)
    return load(halves.yaml, file=file, error=error, first_line=2), halves
