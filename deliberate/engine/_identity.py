"""What a run is made of, by name: so that what changed between two runs can be told by name."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping

from deliberate.engine._judged import panels_of
from deliberate.errors import ConfigError, LedgerError
from deliberate.evaluators import Evaluator, fingerprint_of
from deliberate.ledger import Run, read_ledger
from deliberate.library import Library
from deliberate.protocols import protocol_of
from deliberate.runtime import Runtime
from deliberate.types import AUTO, digest_of, laid_out

__all__ = ["identity_of", "last_run", "refuse_changed"]

_SHOWN = 8


def identity_of(evaluator: Evaluator, *, runtime: Runtime, library: Library) -> dict[str, str]:
    """Name -> digest of everything that shapes a verdict: rubrics, judges, prompts, protocols, the plan itself.

    A judge's digest begins with its model.
    """
    found: dict[str, str] = {}
    for number, panel in enumerate(panels_of(evaluator, runtime=runtime), start=1):
        of = "" if number == 1 else f" of panel {number}"
        rubric = None if panel.rubric is None or panel.rubric == AUTO else library.rubric(panel.rubric)
        if rubric is not None:
            found[f"rubric {rubric.name}{of}"] = rubric.digest
        elif panel.rubric == AUTO:  # each case has its own
            found |= {f"rubric {one.name}{of}": one.digest for one in library.rubrics(told=False)}
        for seat in panel.seats if panel.rubric == AUTO else laid_out(panel, rubric).seats:
            found[f"judge {seat.name}{of}"] = f"{seat.judge.model} {digest_of(seat)}"
        protocol = protocol_of(panel.protocol)
        for form in protocol.forms:
            text = hashlib.sha256(form.template.encode()).hexdigest()
            found[f"prompt {form.name}{of}"] = digest_of([form.name, form.wire, form.scale, form.cites, text])
        found[f"protocol{of}"] = f"{protocol.name}@{protocol.version}"
    return {**found, "plan": fingerprint_of(evaluator)}


async def last_run(path: str, source: str) -> Run | None:
    """The last run of a source in the ledger at that path, if there is one."""
    try:
        async with read_ledger(path) as reader:
            runs = await reader.runs()
    except LedgerError:
        return None  # none yet, or one that whoever opens it to write will say more about
    return next((run for run in runs if run.config.get("source") == source), None)


def refuse_changed(last: Run | None, identity: Mapping[str, str]) -> None:
    """Refuses to go on with an unfinished run that was made of something else.

    Raises:
        ConfigError: It was; the message names what changed.
    """
    if last is None or last.status == "ok":
        return
    before = last.config.get("identity")
    if not isinstance(before, Mapping) or before == identity:
        return
    changed = [name for name in {**before, **identity} if before.get(name) != identity.get(name)]
    named = [name for name in changed if name != "plan"] or changed
    told = ", ".join(f"{name} ({_shown(before.get(name))} -> {_shown(identity.get(name))})" for name in named)
    raise ConfigError(
        f"run {last.run} is unfinished, and since then this changed: {told}",
        hint="going on would mix the two; --fresh starts anew, or put back what it was",
    )


def _shown(digest: object) -> str:
    model, _, rest = str(digest or "none").rpartition(" ")
    return f"{model} {rest[:_SHOWN]}".strip() if len(rest) > 2 * _SHOWN else f"{model} {rest}".strip()
