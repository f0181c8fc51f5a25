"""``ask``: one output before a panel, or through a plan."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import msgspec

from deliberate.cli._asked import (
    Asked,
    adjusted,
    as_planned,
    check,
    check_spend,
    code_text,
    estimate_text,
    import_modules,
    limits_of,
    required_of,
)
from deliberate.cli._exits import say
from deliberate.cli._live import Progress, following, shows_tables
from deliberate.cli._read import addresses, case_text, text_or_file
from deliberate.cli._result import baseline_score, earlier, print_result
from deliberate.cli._table import print_json, print_lines
from deliberate.engine import Code, Estimate, Session
from deliberate.errors import LedgerError
from deliberate.evaluators import Evaluator, own_evaluators, plan_of
from deliberate.gates import result_of
from deliberate.library import Library
from deliberate.library.plans import LoadedPlan
from deliberate.reports import Imprint, ReadBack, checked
from deliberate.types import AUTO, Case, Panel

__all__ = ["ask"]


async def ask(**flags: Any) -> int:  # noqa: ANN401  as `_verbs` declares them
    """Judges one output, prints the result, and gives the exit code."""
    asked = Asked(**flags)
    check(asked)
    own = own_evaluators(import_modules(asked.modules or ()))
    library = Library(workspace=Path.cwd())
    loaded = None if asked.plan is None else library.plan(asked.plan, own=tuple(own))
    asked = asked if loaded is None else as_planned(asked, loaded.plan)
    required = required_of(asked)
    for path in asked.out or ():
        checked(path)
    case, plan = _case_and_plan(asked, library, loaded, own=own)
    tables = shows_tables() and not asked.as_json
    heard = Progress(lines=sys.stderr.isatty() and not tables and not asked.as_json)
    session = Session(
        ledger=asked.ledger,
        max_cost_usd=asked.max_cost,
        deadline_seconds=asked.deadline,
        in_flight=asked.in_flight or "auto",
        trust_code=asked.trust_code,
        replay=asked.replay,
        record=asked.record,
        fresh=asked.fresh,
        library=library,
        api_base=addresses(asked.api_base),
        exclusive=True,
        require_calibration=asked.require_calibration,
        on_event=heard,
        **limits_of({} if loaded is None else loaded.plan.limits),
    )
    try:
        async with session:
            evaluator = adjusted(session.evaluator_of(plan or session.default_panel()), asked)
            check_spend(evaluator, asked)
            if asked.dry_run:
                estimate, code = await session.estimate(case, evaluator), await session.code(evaluator)
                _print_estimate(estimate, code, as_json=asked.as_json)
                return 0
            reader = session.ledger.reader
            baseline = None if asked.baseline is None else await baseline_score(reader, asked.baseline)
            previous = None if asked.previous is None else await earlier(reader, asked.previous)
            async with following(heard, lambda: session.under_way) if tables else nullcontext():
                evaluation = await session.evaluate(case, evaluator, previous=previous)
            cast_at = await session.read_back(evaluation) if heard.read_back else ()
    except LedgerError as error:
        error.spent = bool(heard.run)  # once the run has begun somebody may have been asked
        raise
    read_back = ReadBack(votes=heard.read_back, of=heard.votes, oldest=cast_at[0]) if cast_at else None
    if asked.record is not None and heard.read_back:
        say(f"{heard.read_back} of {heard.votes} votes were read back and are not recorded; --fresh asks them anew")
    imprint = Imprint(
        run="" if session.ledger_path == ":memory:" else heard.run,  # a replay leaves nothing that could be shown
        ledger="" if asked.ledger is None else str(asked.ledger),
        result=result_of(evaluation, required, baseline=baseline),
        read_back=read_back,
    )
    return await print_result(
        case,
        evaluation,
        imprint,
        ledger=session.ledger_path,
        out=asked.out or (),
        as_json=asked.as_json,
        github=asked.github,
    )


def _case_and_plan(
    asked: Asked, library: Library, loaded: LoadedPlan | None, *, own: Mapping[str, object]
) -> tuple[Case, Evaluator | Panel | None]:
    workspace = ""
    plan: Evaluator | Panel | None = None
    if loaded is not None:
        workspace = str(loaded.folder)
        plan = plan_of(loaded.plan, panel=loaded.panel(library), where=loaded.where, folder=loaded.folder, own=own)
    elif asked.panel is not None:
        plan = library.panel(asked.panel, model=asked.judge[0] if asked.judge else None)
    elif asked.judge:
        plan = Panel.of(*asked.judge, rubric=AUTO)
    case = Case(
        output=case_text(asked.output),
        task=text_or_file(asked.task, where="--task"),
        reference=None if asked.reference is None else text_or_file(asked.reference, where="--reference"),
        category=asked.category,
        workspace=workspace,
    )
    return case, plan


def _print_estimate(estimate: Estimate, code: tuple[Code, ...], *, as_json: bool) -> None:
    if as_json:
        print_json({**msgspec.structs.asdict(estimate), "code": code})
    else:
        print_lines(f"{estimate_text(estimate)}; nothing was asked", *code_text(code))
