"""The flags that several verbs have: said once, so that they are called and mean the same everywhere."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "ApiBaseFlag",
    "BaselineFlag",
    "CriteriaFlag",
    "DeadlineFlag",
    "DryRunFlag",
    "FreshFlag",
    "GithubFlag",
    "InFlightFlag",
    "JsonFlag",
    "JudgeFlag",
    "LedgerFlag",
    "MaxBlockersFlag",
    "MaxCostFlag",
    "MaxDropFlag",
    "MaxUnreadFlag",
    "MinAgreementFlag",
    "MinBracketFlag",
    "MinScoreFlag",
    "ModulesFlag",
    "NameArgument",
    "OutFlag",
    "PanelFlag",
    "PathArgument",
    "ProfileFlag",
    "QuorumFlag",
    "RecordFlag",
    "ReplayFlag",
    "RequireCalibrationFlag",
    "RoundsFlag",
    "RubricFlag",
    "RuleFlag",
    "SeedFlag",
    "TieFlag",
    "TrustCodeFlag",
]

JsonFlag = Annotated[bool, typer.Option("--json", help="One JSON object on standard output; text on standard error.")]
LedgerFlag = Annotated[Path | None, typer.Option("--ledger", help="The file of the record.", metavar="FILE")]
ProfileFlag = Annotated[
    Path | None, typer.Option("--profile", help="Where the time goes: .txt, or what pstats reads.", metavar="FILE")
]

RubricFlag = Annotated[str | None, typer.Option(help="How to judge: a rubric's name or folder.")]
CriteriaFlag = Annotated[str, typer.Option(help="How to judge, in free words, instead of a rubric.")]
PanelFlag = Annotated[str | None, typer.Option(help="Who judges: a panel's name or file.")]
JudgeFlag = Annotated[list[str] | None, typer.Option(help="A model; several make a panel.", metavar="MODEL")]
RuleFlag = Annotated[str | None, typer.Option(help="Which bracket wins: plurality, median, mean, unanimous.")]
TieFlag = Annotated[str | None, typer.Option(help="Tie policies in order, as in chair,lower.")]
QuorumFlag = Annotated[str | None, typer.Option(help="majority, all, or a number of seats.")]
RoundsFlag = Annotated[int | None, typer.Option(help="Rounds at the most.", min=1)]
SeedFlag = Annotated[int | None, typer.Option(help="Seed of the order in which peers are shown.")]
MinScoreFlag = Annotated[float | None, typer.Option(help="Gate: least score (of a run: mean), 0-100.", min=0, max=100)]
MinBracketFlag = Annotated[str | None, typer.Option(help="Gate: least bracket (of a run: of the mean).")]
MaxBlockersFlag = Annotated[int | None, typer.Option(help="Gate: most blockers (of a run: in all cases).", min=0)]
MaxUnreadFlag = Annotated[float | None, typer.Option(help="Gate: most unread votes, 0-1.", min=0, max=1)]
MinAgreementFlag = Annotated[
    float | None, typer.Option(help="Gate: least share of pairs of votes in the same bracket, 0-1.", min=0, max=1)
]
BaselineFlag = Annotated[str | None, typer.Option(help="Gate: an earlier run to compare with.", metavar="RUN")]
RequireCalibrationFlag = Annotated[
    bool, typer.Option("--require-calibration", help="Only judges measured against people count.")
]
MaxDropFlag = Annotated[float, typer.Option(help="Gate: most points below the baseline (of a run: mean).", min=0)]
MaxCostFlag = Annotated[float | None, typer.Option(help="Most to spend, in US dollars.", min=0)]
DeadlineFlag = Annotated[float | None, typer.Option(help="Most seconds it may take.", min=0)]
InFlightFlag = Annotated[int | None, typer.Option(help="Calls at once at one provider and key.", min=1)]
ReplayFlag = Annotated[Path | None, typer.Option(help="Answer from a recording.", metavar="FILE")]
RecordFlag = Annotated[Path | None, typer.Option(help="Record every reply.", metavar="FILE")]
FreshFlag = Annotated[bool, typer.Option("--fresh", help="Ask anew what the ledger already holds.")]
TrustCodeFlag = Annotated[bool, typer.Option("--trust-code", help="Let code run where no sandbox works.")]
ApiBaseFlag = Annotated[list[str] | None, typer.Option(help="Address of a provider.", metavar="PREFIX=URL")]
ModulesFlag = Annotated[
    list[str] | None, typer.Option("--import", help="A module with parts of your own.", metavar="MODULE")
]
DryRunFlag = Annotated[bool, typer.Option("--dry-run", help="Calls, tokens and cost; nothing is asked.")]
GithubFlag = Annotated[bool, typer.Option("--github", help="Annotations and a step summary, in a GitHub workflow.")]
OutFlag = Annotated[list[Path] | None, typer.Option("-o", help="Write the result, format by ending.", metavar="FILE")]

NameArgument = Annotated[str, typer.Argument(help="Its name, or its file.", metavar="NAME")]
PathArgument = Annotated[Path, typer.Argument(help="A file.", metavar="PATH")]
