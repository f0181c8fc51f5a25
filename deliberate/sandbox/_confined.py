"""One program in one tier: its scratch folder, its environment, what it may see, its end."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping, Sequence

import msgspec
from anyio import CancelScope, to_thread

from deliberate.errors import EvaluatorError
from deliberate.sandbox._process import BASE_ENVIRONMENT, run_process
from deliberate.sandbox._scratch import Scratch, remove, scratch_of
from deliberate.sandbox._tiers import Bounds, TierName, supervised
from deliberate.sandbox._view import package_caches, toolchain, toolchain_variables
from deliberate.types import Finished

__all__ = ["run_confined"]


async def run_confined(
    tier: TierName | None,
    command: Sequence[str],
    *,
    workspace: str = "",
    env: Mapping[str, str] = {},
    readable: Sequence[str] = (),
    writable: Sequence[str] = (),
    network: bool = False,
    stdin: bytes = b"",
    timeout_seconds: float = 60.0,
    most_bytes: int = 1024 * 1024,
    ours: Mapping[str, str] = os.environ,
    home: str | None = None,
) -> Finished:
    """Runs a program in a tier; None confines it in nothing but time and output (see ``runtime.Sandbox.run``).

    ``ours`` is our own environment: its ``PATH`` and the places of its tools, and nothing else of it, are passed on.
    ``home`` is the home folder, which no workspace may hold; None is that of the account, whatever a variable says.

    Raises:
        EvaluatorError: It cannot be started or confined, or the workspace cannot be copied, or holds the home folder.
    """
    place, scratch = await to_thread.run_sync(_places, workspace, home, package_caches(ours))
    try:
        base = {**BASE_ENVIRONMENT, **({"PATH": ours["PATH"]} if ours.get("PATH") else {}), **toolchain_variables(ours)}
        given = {**base, "HOME": scratch.home, "TMPDIR": scratch.home, **env}
        if tier is None:
            return await run_process(
                command,
                cwd=scratch.work,
                env=given,
                stdin=stdin,
                timeout_seconds=timeout_seconds,
                most_bytes=most_bytes,
            )
        bounds = Bounds(
            readable=(*toolchain(ours, network=network), *((place,) if place else ()), *readable),
            writable=(scratch.root, *writable),
            cwd=scratch.work,
            network=network,
            timeout_seconds=timeout_seconds,
        )
        token = f"<{secrets.token_hex(8)}>"
        done = await run_process(
            command,
            cwd=scratch.work,
            env=given,
            stdin=stdin,
            timeout_seconds=timeout_seconds,
            most_bytes=most_bytes,
            supervised=lambda life: supervised(tier, command, bounds, life=life, token=token),
        )
        return _told(tier, done, command, token=token.encode())
    finally:
        with CancelScope(shield=True):
            await to_thread.run_sync(remove, scratch.root)


def _places(workspace: str, home: str | None, links: Mapping[str, str]) -> tuple[str, Scratch]:
    """The workspace without links, and the scratch folder with its copy."""
    place = os.path.realpath(workspace) if workspace else ""
    home = os.path.realpath(_account_home() if home is None else home)
    if place and os.path.commonpath([place, home]) == place:
        raise EvaluatorError(f"the workspace {place!r} holds the home folder; name a smaller one")
    return place, scratch_of(place, links=links)


def _account_home() -> str:
    import pwd  # noqa: PLC0415  there is none on Windows, where this file can be imported, too

    try:
        return pwd.getpwuid(os.getuid()).pw_dir
    except KeyError:  # pragma: no cover - an account without an entry, as in containers
        return "/"


def _told(tier: TierName, done: Finished, command: Sequence[str], *, token: bytes) -> Finished:
    """The result; what the supervisor or its tier could not do is an error."""
    said, mark, why = done.stderr.partition(token)
    if mark:
        reason = why.decode("utf-8", "replace")[:300]
        raise EvaluatorError(f"the program {command[0][:200]!r} cannot be started: {reason}")
    if tier == "bubblewrap" and done.exit_code == 1 and done.stderr.startswith(b"bwrap: ") and not done.stdout:
        reason = done.stderr.decode("utf-8", "replace").strip()[:300]
        raise EvaluatorError(f"the program {command[0][:200]!r} cannot be started: {reason}")
    return msgspec.structs.replace(done, stderr=said)
