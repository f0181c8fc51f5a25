"""A study in two or three sentences: who is inside the human range, what cannot be told apart, whom not to use."""

from __future__ import annotations

from collections.abc import Sequence

from deliberate.studies._figures import Difference, Figures, RaterRow

__all__ = ["answer"]

_MOST_NAMED = 4
_MOST_BAD = 3
_LEAST_KAPPA = 0.4
_MOST_UNREAD = 0.02
_MOST_FLIPS = 0.15


def answer(study: Figures) -> str:
    """What to do, and why."""
    return " ".join(part for part in (_who(study), *map(_asked, study.panels), _apart(study), _not(study)) if part)


def _who(study: Figures) -> str:
    judges, ceiling = study.judges, study.ceiling
    best = judges[0]
    if best.kappa.value is None:
        return "No judge can be told from chance: kappa is undefined for all of them."
    if ceiling is None:
        exact = "" if best.exact is None else f", the same label on {best.exact:.0%} of them"
        return (
            f"{best.name} agrees best with {study.gold}, kappa {_number(best)} on {best.n} items (0 is chance, 1 "
            f"always alike){exact}{_panel(study)}; how well people agree with each other is unknown, as no item has "
            "labels of two."
        )
    humans = "undefined" if ceiling.kappa.value is None else f"{ceiling.kappa.value:.2f}"
    inside = [row for row in judges if row.inside]
    if inside:
        return _beside(inside, humans)
    if best.people is None:
        return (
            f"{best.name} agrees best with {study.gold}, kappa {_number(best)} on {best.n} items (people with each "
            f"other {humans}){_panel(study)}; whether any judge is as good as people cannot be told from these votes."
        )
    return (
        f"No judge agrees with people as well as people agree with each other (kappa {humans}, ahead by more than "
        f"chance); {best.name} comes nearest, kappa {_number(best)} on {best.n} items{_panel(study)}."
    )


def _beside(inside: Sequence[RaterRow], humans: str) -> str:
    """Those who are as good as people as far as these items can tell, and those who are better."""
    ahead = [row for row in inside if row.people is not None and _below_zero(row.people)]
    alike = [row for row in inside if row not in ahead]
    said: list[str] = []
    if ahead:
        verb = "agrees" if len(ahead) == 1 else "agree"
        said.append(
            f"{_names([row.name for row in ahead])} {verb} with people better than people agree with each other, by "
            f"more than chance: {_kappas(ahead, humans)}"
        )
    if alike:
        needed = None if alike[0].people is None else alike[0].people.needed
        numbers = "" if ahead else f": {_kappas(alike, humans)}"
        whom = "it" if len(alike) == 1 else alike[0].name
        more = "" if needed is None else f"; telling {whom} apart from them would take about {_round(needed)}"
        names = _names([row.name for row in alike])
        said.append(f"{names} cannot be told apart from people on {alike[0].n} items{numbers}{more}")
    return f"{'. '.join(said)}."


def _kappas(rows: Sequence[RaterRow], humans: str) -> str:
    """The best of them beside people."""
    who = "" if len(rows) == 1 else f"{rows[0].name} has "
    return f"{who}kappa {_number(rows[0])}, people with each other {humans}"


def _below_zero(apart: Difference) -> bool:
    return apart.apart.high is not None and apart.apart.high < 0


def _panel(study: Figures) -> str:
    """What all judges together are worth beside the best of them."""
    found = study.together
    best = study.judges[0].kappa.value
    if found is None or found.kappa.value is None or best is None:
        return ""
    return f"; all {len(study.judges)} together, by {study.rule}, {found.kappa.value:.2f}"


def _asked(panel: RaterRow) -> str:
    """What a panel's verdict is worth."""
    if panel.kappa.value is None:
        return f"By its verdict, {panel.name} cannot be told from chance: kappa is undefined."
    told = {
        True: " and cannot be told to agree less than people do",
        False: " and agrees less than people do",
        None: "",
    }
    return f"By its verdict, {panel.name} has kappa {_number(panel)}{told[panel.inside]}."


def _apart(study: Figures) -> str:
    alike = [one for one in study.differences if not one.told]
    if not study.differences:
        return ""
    best = study.differences[0].better
    if not alike:
        return f"{best} is ahead of every other judge by more than chance."
    needed = [one for one in alike if one.needed is not None]
    nearest = max(needed, key=lambda one: one.apart.value or 0.0) if needed else None
    text = f"These {study.n} items are too few to tell: {best} cannot be told apart from {_names(_others(alike))}"
    if nearest is None or nearest.needed is None:
        return f"{text}."
    which = "that" if len(alike) == 1 else f"from {nearest.other} alone it"
    return f"{text}; {which} would take about {_round(nearest.needed)}."


def _others(alike: Sequence[Difference]) -> list[str]:
    return [one.other for one in alike]


def _not(study: Figures) -> str:
    """Whom not to use, the worst first, each for its first fault."""
    bad = [f"{row.name} ({why[0]})" for row in reversed(study.judges) if (why := _faults(row))]
    if not bad:
        return ""
    more = f" and {len(bad) - _MOST_BAD} more" if len(bad) > _MOST_BAD else ""
    return f"Should not be used: {', '.join(bad[:_MOST_BAD])}{more}."


def _faults(row: RaterRow) -> list[str]:
    found: list[str] = []
    kappa = row.kappa
    if kappa.value is not None and (kappa.value if kappa.low is None else kappa.low) <= 0:
        found.append(f"kappa {kappa.value:.2f} is not above chance")
    elif kappa.value is not None and kappa.high is not None and kappa.high < _LEAST_KAPPA:
        found.append(f"kappa {kappa.value:.2f}, all of its interval below {_LEAST_KAPPA:g}")
    conduct = row.conduct
    if conduct is not None:
        if conduct.unread > _MOST_UNREAD:
            found.append(f"unread {conduct.unread:.1%}")
        if conduct.order_flip is not None and conduct.order_flip > _MOST_FLIPS:
            found.append(f"order flips {conduct.order_flip:.0%}")
        if conduct.self_flip is not None and conduct.self_flip > _MOST_FLIPS:
            found.append(f"flips when asked again {conduct.self_flip:.0%}")
    return found


def _number(row: RaterRow) -> str:
    kappa = row.kappa
    if kappa.low is None or kappa.high is None:
        return f"{kappa.value:.2f} (these votes allow no interval)"
    return f"{kappa.value:.2f} ({kappa.low:.2f} to {kappa.high:.2f})"


def _names(names: Sequence[str]) -> str:
    if len(names) > _MOST_NAMED:
        return f"{', '.join(names[: _MOST_NAMED - 1])} and {len(names) - _MOST_NAMED + 1} more"
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def _round(count: int) -> str:
    """Two digits are enough of an estimate."""
    size = 10 ** max(0, len(str(count)) - 2)
    return f"{-(-count // size) * size:,}"
