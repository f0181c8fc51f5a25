"""Where a provider lives: base addresses come from the operator alone, and plain http stays on this machine."""

from __future__ import annotations

import hashlib
import ipaddress
from urllib.parse import SplitResult, urlsplit

from deliberate.errors import ConfigError
from deliberate.providers._base import Settings

__all__ = ["api_base", "checked", "fingerprint", "is_loopback", "limit_key", "place_of"]


def api_base(prefix: str, settings: Settings, default: str = "") -> str:
    """The base address of a prefix, without a slash at its end.

    ``settings.api_base`` comes first, then ``<PREFIX>_API_BASE``, then the default; "" where there is none.

    Raises:
        ConfigError: It is no address, holds a user name, or is plain http to another machine.
    """
    variable = f"{prefix.upper()}_API_BASE"
    given = settings.api_base.get(prefix)
    where = variable if given is None else f"--api-base {prefix}"
    base = (given or settings.env.get(variable) or default).strip().rstrip("/")
    if base:
        checked(base, where=where)
    return base


def checked(address: str, *, where: str = "") -> SplitResult:
    """The parts of an address that a key may be sent to.

    Raises:
        ConfigError: It may not; the message does not repeat what could be a password.
    """
    expected = "https://HOST/PATH, or http:// on this machine"
    try:
        parts = urlsplit(address)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise ConfigError("that is no address", where=where, expected=expected) from None
    if parts.scheme not in {"http", "https"} or not host:
        raise ConfigError("that is no address", where=where, expected=expected)
    if "@" in parts.netloc:
        raise ConfigError("an address holds no user name or password", where=where, expected=expected)
    if parts.scheme == "http" and not is_loopback(host):
        raise ConfigError(f"plain http to {host} would show the key to others", where=where, expected=expected)
    return parts


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine.

    >>> is_loopback("127.0.0.1"), is_loopback("::1"), is_loopback("localhost"), is_loopback("127.0.0.1.example.com")
    (True, True, True, False)
    """
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def place_of(address: str) -> str:
    """Host and port of an address; "" where it has none."""
    try:
        return urlsplit(address).netloc
    except ValueError:
        return ""


def fingerprint(key: str) -> str:
    """Tells keys apart without showing them: 12 hex digits of a digest; "no-key" without one."""
    return hashlib.sha256(key.encode()).hexdigest()[:12] if key else "no-key"


def limit_key(provider: str, base: str, key: str) -> str:
    """What shares one limit: provider, host and key."""
    return f"{provider} {place_of(base) or '-'} {fingerprint(key)}"
