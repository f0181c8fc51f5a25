"""The way to HTTP that is made when it is first needed: aiohttp takes a fifth of a second to import."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

import anyio.to_thread

from deliberate.providers._base import Settings
from deliberate.providers._secrets import Secrets

if TYPE_CHECKING:
    from deliberate.providers._http import Http

__all__ = ["Connection"]


class Connection:
    """One provider's connections, made when first asked for.

    Args:
        settings: What the operator says.
        secrets: What must not be seen in its errors.
    """

    def __init__(self, settings: Settings, secrets: Secrets) -> None:
        self._settings = settings
        self._secrets = secrets
        self._made: list[Http] = []

    async def opened(self) -> Http:
        """The same one for all who ask."""
        if not self._made:
            module = await anyio.to_thread.run_sync(importlib.import_module, "deliberate.providers._http")
            if not self._made:
                env, most = self._settings.env, self._settings.most_connections
                self._made.append(module.Http(env, most_connections=most, secrets=self._secrets))
        return self._made[0]

    async def aclose(self) -> None:
        """Closes what this event loop holds open."""
        for http in self._made:
            await http.aclose()
