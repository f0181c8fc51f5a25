"""What a program in a sandbox may see of the machine besides what it is given: its toolchain, read-only."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

__all__ = ["package_caches", "toolchain", "toolchain_variables"]

_SYSTEM = (
    *("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store", "/gnu/store"),
    *("/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/alternatives", "/etc/localtime"),
    *(
        "/etc/passwd",
        "/etc/group",
        "/etc/nsswitch.conf",
        "/etc/mime.types",
        "/etc/gitconfig",
        "/etc/ssl/certs",
        "/etc/ssl/openssl.cnf",
    ),
    *("/etc/ca-certificates", "/etc/pki/tls", "/etc/pki/ca-trust", "/etc/python3", "/sys/devices/system/cpu"),
)
_NETWORK = ("/etc/resolv.conf", "/etc/hosts", "/etc/host.conf", "/etc/gai.conf", "/etc/services", "/etc/protocols")
_BESIDE_PROGRAMS = ("lib", "lib64", "libexec", "include", "pkg", "src")
_OWN_ROOTS = {"RUSTUP_HOME": ".rustup", "PYENV_ROOT": ".pyenv", "NVM_DIR": ".nvm", "VOLTA_HOME": ".volta"}


def toolchain(env: Mapping[str, str], *, network: bool) -> tuple[str, ...]:
    """Folders and files, sorted: the system's programs, those on the path with their libraries, this Python.

    Nothing that holds the home folder is among them.

    Args:
        env: The environment whose ``PATH`` and ``HOME`` count.
        network: Whether what finding a host needs is among them.
    """
    home = Path(env.get("HOME") or "/nowhere")
    found = {Path(path) for path in (*_SYSTEM, *(_NETWORK if network else ()))}
    found |= {Path(sys.prefix), Path(sys.base_prefix), *_programs(env, home)}
    found |= {Path(path) for path in (*toolchain_variables(env).values(), *package_caches(env).values())}
    found |= {path.resolve() for path in found}
    return tuple(
        sorted(str(path) for path in found if os.access(path, os.R_OK) and not home.resolve().is_relative_to(path))
    )


def toolchain_variables(env: Mapping[str, str]) -> dict[str, str]:
    """Where tools that keep themselves in the home folder are, by the variable that tells them."""
    home = Path(env.get("HOME") or "/nowhere")
    found = {name: Path(env.get(name) or home / folder) for name, folder in _OWN_ROOTS.items()}
    return {name: str(path) for name, path in found.items() if os.access(path, os.R_OK)}


def package_caches(env: Mapping[str, str]) -> dict[str, str]:
    """What package managers fetched earlier, by its place in a home folder: without a network they need it there."""
    home = Path(env.get("HOME") or "/nowhere")
    cargo = Path(env.get("CARGO_HOME") or home / ".cargo")
    found = {
        ".cargo/registry": cargo / "registry",
        ".cargo/git": cargo / "git",
        "go/pkg/mod": Path(env.get("GOMODCACHE") or home / "go/pkg/mod"),
    }
    return {name: str(path) for name, path in found.items() if os.access(path, os.R_OK)}


def _programs(env: Mapping[str, str], home: Path) -> Iterator[Path]:
    for entry in env.get("PATH", "").split(os.pathsep):
        folder = Path(entry)
        if not folder.is_absolute() or not os.access(folder, os.R_OK):
            continue
        yield folder
        if folder.name == "bin" and folder.parent != home:
            yield from (folder.parent / name for name in _BESIDE_PROGRAMS)
