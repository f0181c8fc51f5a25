"""The door: the best tier that holds here, found out once by trying; without one, only code that is trusted."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

import anyio

from deliberate.errors import ConfigError
from deliberate.sandbox._confined import run_confined
from deliberate.sandbox._probe import probe
from deliberate.sandbox._tiers import TIERS, TierName
from deliberate.types import Finished

__all__ = ["SandboxRunner"]

_HOLDS: dict[tuple[TierName, str, int], bool] = {}
"""What was found out about this machine, for as long as the process lives: trying takes a fifth of a second."""


class SandboxRunner:
    """Runs programs in a sandbox (``runtime.Sandbox``).

    Args:
        trust_code: The operator said that code may run here unprotected, where no tier holds.
        tiers: The tiers that may be used, best first.
    """

    def __init__(self, *, trust_code: bool, tiers: Sequence[TierName] = TIERS) -> None:
        self._trust_code = trust_code
        self._tiers = tuple(tiers)
        self._found: tuple[TierName | None] | None = None
        self._finding = anyio.Lock()

    @property
    def trusts_code(self) -> bool:
        """Whether the operator vouched for the code that is run."""
        return self._trust_code

    async def tier(self) -> TierName | None:
        """The tier that programs run in here; None if none holds. The first call tries them."""
        async with self._finding:
            if self._found is None:
                self._found = (await self._best(),)
            return self._found[0]

    async def _best(self) -> TierName | None:
        for tier in self._tiers:
            machine = (tier, os.environ.get("PATH", ""), os.getuid())
            if machine not in _HOLDS:
                _HOLDS[machine] = (await probe(tier)).holds
            if _HOLDS[machine]:
                return tier
        return None

    async def run(
        self,
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
    ) -> Finished:
        """Runs a program to its end or its deadline (``runtime.Sandbox.run``)."""
        if os.name != "posix":  # pragma: no cover
            raise ConfigError("running code needs a POSIX system", hint="run it in a container, or on Linux or macOS")
        tier = await self.tier()
        if tier is None and not self._trust_code:
            raise ConfigError(
                "there is no sandbox on this machine, and running code without one needs --trust-code",
                hint="give it (Session(trust_code=True)) if you trust the program and what it is run on; "
                "deliberate doctor says what is in the way of a sandbox",
            )
        return await run_confined(
            tier,
            command,
            workspace=workspace,
            env=env,
            readable=readable,
            writable=writable,
            network=network,
            stdin=stdin,
            timeout_seconds=timeout_seconds,
            most_bytes=most_bytes,
        )
