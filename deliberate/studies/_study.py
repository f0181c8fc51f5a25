"""A comparison of judges at hand: its figures, the way to others from the same votes, and how a notebook shows it."""

from __future__ import annotations

from deliberate.errors import ConfigError, UnknownName
from deliberate.studies._figures import Figures

__all__ = ["Study"]


class Study(Figures, frozen=True, kw_only=True, dict=True):
    """Judges held against people, and against each other: what ``compare`` gives back."""

    def redecide(self, **changes: object) -> Study:
        """The study of the same votes under another ``rule``, ``weights``, ``cut``, ``draws`` or ``seed``.

        Nothing is asked. What was asked for besides agreement is left out.

        Raises:
            ConfigError: The study was read from a file, which does not hold its votes; or nothing of that name is to
                be changed.
        """
        again = vars(self).get("again")
        if again is None:
            raise ConfigError("the votes of this study are not at hand", where="redecide", hint="compare them again")
        known = ("weights", "rule", "cut", "draws", "seed")
        wrong = next((name for name in changes if name not in known), None)
        if wrong is not None:
            raise UnknownName("change", wrong, known)
        found: Study = again(**changes)
        return found

    def _repr_html_(self) -> str:
        from deliberate.studies._page import fragment  # noqa: PLC0415  only a notebook draws

        return fragment(self)

    def _repr_mimebundle_(self, **_kinds: object) -> dict[str, object]:
        from deliberate.studies._page import fragment  # noqa: PLC0415  only a notebook draws
        from deliberate.studies._plots import vega_lite  # noqa: PLC0415  same
        from deliberate.studies._tables import text  # noqa: PLC0415  same

        return {
            "application/vnd.vegalite.v5+json": vega_lite(self),
            "text/html": fragment(self),
            "text/plain": text(self),
        }
