"""Opens the providers of a session, each once."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import sniffio

from deliberate import plugins
from deliberate.engine._settings import settings_of
from deliberate.errors import ConfigError
from deliberate.providers._base import Provider, Settings

__all__ = ["Providers", "open_provider"]


class Providers:
    """The provider of each model name, opened when it is first needed.

    Args:
        settings: What the operator says: environment, addresses, local weights.
        given: Providers by prefix that take the place of ours.
        wrap: What to put around each provider (a recorder), or None.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        given: Mapping[str, Provider],
        wrap: Callable[[Provider], Provider] | None = None,
    ) -> None:
        self._settings = settings
        self._given = given
        self._wrap = wrap
        self._open: dict[str, Provider] = {}

    def of(self, model: str) -> Provider:
        """The provider that serves a model.

        Raises:
            ConfigError: No provider can: a key or an address is missing, or it cannot run on this event loop.
        """
        # A name without a provider's before it is litellm's to know, so it stands for itself.
        prefix = model.split("/", 1)[0]
        found = self._open.get(prefix)
        if found is None:
            found = self._given.get(prefix) or self._given.get("*") or self._opened(model, prefix)
            loop = sniffio.current_async_library()
            if loop not in found.loops:
                what = f"{model} cannot be asked on {loop}"
                raise ConfigError(what, where="judge", expected=f"an event loop of {' or '.join(found.loops)}")
            found = self._open[prefix] = found if self._wrap is None else self._wrap(found)
        return found

    async def aclose(self) -> None:
        """Closes all that were opened."""
        for provider in self._open.values():
            await provider.aclose()

    def _opened(self, model: str, prefix: str) -> Provider:
        kind = plugins.part("providers", plugins.provider_of(model), where=f"judge {model}")
        return cast("Provider", kind.open(prefix, self._settings))


@asynccontextmanager
async def open_provider(model: str, *, env: Mapping[str, str], home: Path) -> AsyncGenerator[Provider, None]:
    """The provider of one model, for a study of that model alone.

    Args:
        model: Its full name.
        env: The environment.
        home: Where local weights lie.
    """
    providers = Providers(settings_of(env, api_base={}, home=home), given={})
    try:
        yield providers.of(model)
    finally:
        await providers.aclose()
