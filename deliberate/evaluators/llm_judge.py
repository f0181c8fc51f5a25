"""One model gives a number by free criteria."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import ClassVar

import anyio.to_thread
import msgspec

from deliberate.errors import EvaluatorError
from deliberate.evaluators._panel import alone, by_number
from deliberate.runtime import Runtime
from deliberate.types import Ballot, Case, Evaluation, Evidence, Form, Judge, Panel, Record, parse_scale

__all__ = ["LLMJudge"]

_MOST_CODE_BYTES = 128 * 1024

_TEMPLATE = """\
You are an expert code evaluator. Evaluate the output based on: {criteria}

Give a score from 0 to {scale} and brief feedback.

## Task
{task}

{reference}{evidence}## Output
{output}

{shown}Format:
SCORE: <number>
FEEDBACK: <explanation>"""


class LLMJudge(Record, frozen=True, kw_only=True):
    """A panel of one, asked in text for a number from 0 to ``scale``.

    It takes time and money: use it for criteria that are a matter of judgment. Where output is predictable, ``regex``
    is fastest.

    Args:
        criteria: What to judge by.
        model: The model; None means the session's judge.
        scale: The highest number it may give; the lowest is 0.
        include_code: Whether it is shown source code too: the case's files, else ``main.py`` of its workspace.
    """

    name: ClassVar[str] = "llm_judge"
    spends_tokens: ClassVar[bool] = True

    criteria: str = "correctness and quality"
    model: str | None = None
    scale: float = 10
    include_code: bool = False

    def __post_init__(self) -> None:
        """Checks the scale.

        Raises:
            ValueError: Its end is not a finite number above 0.
        """
        parse_scale((0, self.scale))
        if self.scale < 0:
            msg = f"scale {self.scale:g}: expected a number above 0"
            raise ValueError(msg)

    def seated(self, runtime: Runtime) -> Panel:
        """One seat for the model."""
        judge = Judge(model=runtime.model_for(self.model, where=f"{self.name}.model"))
        return alone(judge, form=self._form, criteria=self.criteria)

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  what was asked before is read back
    ) -> Evaluation:
        """The model's number as a score.

        Raises:
            ConfigError: Neither this evaluator nor the session names a model.
            EvaluatorError: There is no code to show, or it cannot be shown.
        """
        if self.include_code:
            case = await anyio.to_thread.run_sync(_with_code, case)
        return await by_number(self, self.seated(runtime), self._form, case=case, runtime=runtime)

    @property
    def _form(self) -> Form:
        return Form(name=self.name, template=_TEMPLATE, reply=Ballot, wire="score", scale=f"0..{self.scale:.15g}")


def _with_code(case: Case) -> Case:
    """The case with its source code as evidence, so that code is part of what was asked."""
    files = {file.path: file.sha256 for file in case.files} or {"main.py": ""}
    shown = [
        Evidence(source="workspace", title=name, text=_code(case.workspace, name, sha256=sha256))
        for name, sha256 in files.items()
    ]
    if sum(len(one.text) for one in shown) > _MOST_CODE_BYTES:
        raise _unshown(f"the files hold more than {_MOST_CODE_BYTES} characters together")
    return msgspec.structs.replace(case, evidence=(*case.evidence, *shown))


def _code(workspace: str, name: str, *, sha256: str) -> str:
    """The text of one file inside the workspace, as it was when the case came in."""
    if not workspace:
        raise _unshown(f"the case has no workspace to read {name!r} from")
    root = Path(workspace).resolve()
    path = (root / name).resolve()
    if not path.is_relative_to(root) or not path.is_file():
        raise _unshown(f"{name!r} is no file in the workspace")
    try:
        with path.open("rb") as file:
            data = file.read(_MOST_CODE_BYTES + 1)
        text = data.decode()
    except (OSError, UnicodeDecodeError) as error:
        raise _unshown(f"{name!r} cannot be read as text: {error}") from None
    if len(data) > _MOST_CODE_BYTES or "\0" in text:
        raise _unshown(f"{name!r} is no text of at most {_MOST_CODE_BYTES} bytes")
    if sha256 and hashlib.sha256(data).hexdigest() != sha256:
        raise _unshown(f"{name!r} was changed after the case came in")
    return text


def _unshown(why: str) -> EvaluatorError:
    return EvaluatorError(f"include_code: {why}")
