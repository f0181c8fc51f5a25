"""Linters and type checkers on the case's own project."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

import msgspec
from anyio import to_thread

from deliberate.errors import ConfigError, EvaluatorError
from deliberate.evaluators._base import measured, unscored
from deliberate.evaluators._lint import READERS, Remark, score_of
from deliberate.evaluators._tests import MOST_BYTES, relative
from deliberate.judging._read import finding_key
from deliberate.runtime import Runtime
from deliberate.types import Case, Evaluation, Finding, Record

__all__ = ["StaticAnalysis"]

_MOST_FINDINGS = 200
_MOST_LISTED = 5_000


class Tool(Record, frozen=True, kw_only=True):
    """How a tool is started: ``own`` keeps it from the project's configuration; exit codes that say it has run."""

    name: str
    program: str
    arguments: tuple[str, ...]
    own: tuple[str, ...] = ()
    on: tuple[str, ...] = (".",)
    codes: tuple[int, ...] = (0, 1)
    env: Mapping[str, str] = {}


class StaticAnalysis(Record, frozen=True, kw_only=True):
    """Lints and type-checks the project that the case's workspace is, in a copy of it.

    Python: ruff or else flake8, and mypy or else pyright. Rust: clippy, which does both. JavaScript: eslint, and for
    TypeScript tsc. Score 0–1: a tenth less for each error, 0.03 for each warning, at least 0.2. Each remark is a
    finding with its ``file:line``, errors important, warnings suggestions. A project in no such language is skipped,
    and so is one none of whose tools is installed; a kind of check that had no tool is named in ``flags``
    (``no_lint``, ``no_types``). A tool that breaks leaves no score.

    Args:
        use_project_config: Whether the tools follow the project's own configuration, which can run any code in their
            name; it needs ``--trust-code``.
        network: Whether the tools may use the network.
        timeout_seconds: The total for each tool.
    """

    name: ClassVar[str] = "static_analysis"
    spends_tokens: ClassVar[bool] = False

    use_project_config: bool = False
    network: bool = False
    timeout_seconds: float = 120.0

    def __post_init__(self) -> None:
        """Checks the parameters.

        Raises:
            ConfigError: There is no time.
        """
        if not 0 < self.timeout_seconds < float("inf"):
            raise ConfigError("tools need time", where="static_analysis.timeout_seconds", expected="seconds above 0")

    async def evaluate(
        self,
        case: Case,
        *,
        runtime: Runtime,
        previous: Evaluation | None = None,  # noqa: ARG002  as the contract has it
    ) -> Evaluation:
        """Runs the tools.

        Raises:
            ConfigError: No sandbox works here, or the project's configuration is wanted, and code is not trusted.
            EvaluatorError: A tool broke, took too long, or printed no report.
        """
        if self.use_project_config and not runtime.sandbox.trusts_code:
            raise ConfigError(
                "the project's own configuration can run any code",
                where="static_analysis.use_project_config",
                hint="give --trust-code if you trust the project",
            )
        wanted = await to_thread.run_sync(checks_of, Path(case.workspace)) if case.workspace else {}
        if not wanted:
            return unscored(self, "skipped", "the workspace holds no language that is known here")
        ran: dict[str, tuple[Remark, ...]] = {}
        kinds: dict[str, str] = {}
        for check, tools in wanted.items():
            tool = next((one for one in tools if program_of(one, case.workspace)), None)
            kinds[check] = "" if tool is None else tool.name
            if tool is not None and tool.name not in ran:
                ran[tool.name] = await self._remarks(tool, case.workspace, runtime)
        if not ran:
            names = ", ".join(sorted({one.name for tools in wanted.values() for one in tools}))
            return unscored(self, "skipped", f"none of the tools it needs is installed: {names}")
        return self._found(ran, kinds)

    async def _remarks(self, tool: Tool, workspace: str, runtime: Runtime) -> tuple[Remark, ...]:
        command = [
            program_of(tool, workspace),
            *tool.arguments,
            *(() if self.use_project_config else tool.own),
            *tool.on,
        ]
        done = await runtime.sandbox.run(
            command,
            workspace=workspace,
            env=tool.env,
            network=self.network,
            timeout_seconds=self.timeout_seconds,
            most_bytes=MOST_BYTES,
        )
        if done.timed_out:
            raise EvaluatorError(f"{tool.name} took longer than {self.timeout_seconds:g} s")
        said, told = relative(done.stdout), relative(done.stderr).strip()[-500:]
        if done.truncated:
            raise EvaluatorError(f"{tool.name} printed more than can be kept")
        try:
            found = await to_thread.run_sync(READERS[tool.name], said)
        except EvaluatorError as error:
            raise EvaluatorError(f"{tool.name} (exit code {done.exit_code}): {error}: {told}") from None
        if done.exit_code not in tool.codes or (done.exit_code and not found):
            raise EvaluatorError(f"{tool.name} ended with exit code {done.exit_code}: {told or said[-500:]}")
        return found

    def _found(self, ran: Mapping[str, tuple[Remark, ...]], kinds: Mapping[str, str]) -> Evaluation:
        remarks = [(tool, one) for tool, each in sorted(ran.items()) for one in sorted(set(each), key=_place)]
        errors = sum(one.level == "error" for _, one in remarks)
        reason = f"{errors} errors and {len(remarks) - errors} warnings from {', '.join(sorted(ran))}"
        found = measured(
            self,
            score_of([one for _, one in remarks]),
            scale="0..1",
            reason=reason,
            clean=not remarks,
            errors=errors,
            warnings=len(remarks) - errors,
            tools=dict(kinds),
        )
        lacking = {check.rpartition(" ")[2] for check, tool in kinds.items() if not tool}
        return msgspec.structs.replace(
            found,
            flags=tuple(f"no_{check}" for check in sorted(lacking)),
            findings=tuple(_finding(at, tool, one) for at, (tool, one) in enumerate(remarks[:_MOST_FINDINGS], start=1)),
        )


def _place(remark: Remark) -> tuple[bool, str, int, str, str]:
    return remark.level != "error", remark.path, remark.line, remark.code, remark.text


def _finding(at: int, tool: str, remark: Remark) -> Finding:
    title = f"{tool} {remark.code}: {remark.text}" if remark.code else f"{tool}: {remark.text}"
    return Finding(
        id=f"F{at}",
        key=finding_key("static_analysis", title, remark.location),
        severity="important" if remark.level == "error" else "suggestion",
        dimension="static_analysis",
        title=title,
        location=remark.location,
    )


# --- which tools, and how --------------------------------------------------------------------------


def checks_of(folder: Path) -> dict[str, tuple[Tool, ...]]:
    """For each check that a project's languages call for, ``"<language> lint"`` or ``types``: its tools, best first."""
    files = _files(folder)
    there = {path.suffix for path in files}

    def named(tool: Tool, *endings: str) -> Tool:  # a tool that is told its files looks for no configuration
        names = sorted(str(path.relative_to(folder)) for path in files if path.suffix in endings)
        return msgspec.structs.replace(tool, on=tuple(names))

    found: dict[str, tuple[Tool, ...]] = {}
    if (folder / "Cargo.toml").is_file():
        found |= {"rust lint": (_CLIPPY,), "rust types": (_CLIPPY,)}
    if there & {".py"}:
        found |= {"python lint": (_RUFF, _FLAKE8), "python types": (_MYPY, named(_PYRIGHT, ".py"))}
    scripts = there & {".js", ".mjs", ".cjs", ".jsx", ".ts", ".tsx"}
    if scripts:
        found["javascript lint"] = (_ESLINT,)
    if scripts & {".ts", ".tsx"}:
        found["typescript types"] = (named(_TSC, ".ts", ".tsx"),)
    return found


def program_of(tool: Tool, workspace: str) -> str:
    """Where a tool is: beside our Python, on the path, or among a JavaScript project's own; empty if nowhere."""
    places = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
    if tool.name in {"eslint", "tsc"}:
        places.append(str(Path(workspace, "node_modules", ".bin")))
    return shutil.which(tool.program, path=os.pathsep.join(places)) or ""


def _files(folder: Path) -> list[Path]:
    """A project's own files, not those of its dependencies; of a large one, the first."""
    found: list[Path] = []
    for root, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OURS)
        found += [Path(root, name) for name in sorted(names)]
        if len(found) > _MOST_LISTED:
            break
    return found[:_MOST_LISTED]


_NOT_OURS = {"node_modules", "target", "__pycache__", "venv", "build", "dist"}

_RUFF = Tool(
    name="ruff",
    program="ruff",
    arguments=("check", "--output-format=json", "--no-cache", "--quiet"),
    own=("--isolated", "--select=E4,E7,E9,F,B,W6"),
)
_FLAKE8 = Tool(name="flake8", program="flake8", arguments=(), own=("--isolated",))
_MYPY = Tool(
    name="mypy",
    program="mypy",
    arguments=("--output=json", "--cache-dir=/dev/null", "--no-error-summary"),
    own=("--config-file=", "--ignore-missing-imports", "--explicit-package-bases"),
    codes=(0, 1, 2),
)
_PYRIGHT = Tool(name="pyright", program="pyright", arguments=("--outputjson",))
_CLIPPY = Tool(
    name="clippy",
    program="cargo-clippy",
    arguments=("clippy", "--quiet", "--message-format=json", "--all-targets", "--offline"),
    on=(),
    codes=(0, 1, 101),
)
_ESLINT = Tool(
    name="eslint",
    program="eslint",
    arguments=("--format=json",),
    own=(
        "--no-config-lookup",
        *(
            word
            for rule in ("no-const-assign", "no-dupe-args", "no-dupe-keys", "no-func-assign", "no-unreachable")
            for word in ("--rule", f"{rule}: error")
        ),
        *("--rule", "no-unused-vars: warn", "--rule", "no-empty: warn"),
    ),
)
_TSC = Tool(
    name="tsc",
    program="tsc",
    arguments=("--noEmit", "--pretty", "false", "--skipLibCheck", "--strict"),
    codes=(0, 1, 2),
)
