"""Who is measured: the raw clients, ours on its paths, and the peers in environments of their own."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import msgspec

__all__ = ["CONTENDERS", "PEERS", "Contender", "prepared"]

_TOP = Path(__file__).resolve().parents[2]
_PEERS = _TOP / "benchmarks" / "peers"
_ENVIRONMENTS = _TOP / "build" / "peers"
PEERS = ("litellm", "openai", "autoevals", "openevals", "pydantic_evals", "inspect_ai", "verdict", "deepeval")


class Contender(msgspec.Struct, frozen=True, kw_only=True):
    """One client.

    ``module`` runs it, ``option`` is its own argument, ``peer`` the environment it runs in ("" = ours). ``framework``
    says that it runs a panel by itself, ``few`` the most cases it is given where it is too slow for all, ``pools`` how
    many sets of connections it keeps, none of them larger than what may be in flight: one a provider.
    """

    name: str
    module: str
    option: str = ""
    peer: str = ""
    framework: bool = False
    few: int = 0
    pools: int = 1

    @property
    def python(self) -> str:
        """The interpreter that runs it."""
        return str(_ENVIRONMENTS / self.peer / "bin" / "python") if self.peer else sys.executable


def _ours(name: str, option: str, *, pools: int = 1) -> Contender:
    return Contender(name=name, module="benchmarks.speed.client_deliberate", option=option, pools=pools)


def _peer(name: str, peer: str, option: str = "", *, framework: bool = False, few: int = 200) -> Contender:
    module = f"benchmarks.peers.{peer}.client"
    return Contender(name=name, module=module, option=option, peer=peer, framework=framework, few=few)


CONTENDERS = {
    one.name: one
    for one in (
        Contender(name="hand-written protocol", module="benchmarks.speed.client_protocol"),
        Contender(name="aiohttp", module="benchmarks.speed.client_aiohttp"),
        Contender(name="aiohttp, tuned", module="benchmarks.speed.client_aiohttp", option="tuned"),
        Contender(name="acompletion", module="benchmarks.peers.litellm.client", few=200),
        _ours("deliberate", "native"),
        _ours("deliberate, uvloop", "native,uvloop"),
        _ours("deliberate, no ledger, no log", "native,bare"),
        _ours("deliberate, one panel at a time", "native,single"),
        _ours("deliberate, litellm path", "litellm"),
        _ours("deliberate, mixed panel", "mixed", pools=2),
        _ours("deliberate, scripted", "scripted"),
        _ours("deliberate, scripted, ledger only", "scripted,quiet"),
        _ours("deliberate, scripted, no ledger, no log", "scripted,bare"),
        _peer("litellm acompletion", "litellm"),
        _peer("openai SDK", "openai"),
        _peer("autoevals", "autoevals"),
        _peer("openevals", "openevals"),
        _peer("pydantic-evals", "pydantic_evals", framework=True),
        _peer("inspect-ai", "inspect_ai", framework=True),
        _peer("verdict", "verdict", framework=True),
        _peer("deepeval", "deepeval", framework=True),
    )
}


def prepared(peer: str) -> str:
    """Makes a peer's environment if it is not there; "" or why it cannot be had.

    It is made by uv where there is one, else by venv and pip, from the peer's pinned ``requirements.txt``.
    """
    folder, wanted = _ENVIRONMENTS / peer, _PEERS / peer / "requirements.txt"
    stamp = folder / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted.read_text():
        return ""
    shutil.rmtree(folder, ignore_errors=True)
    uv = shutil.which("uv")
    python = str(folder / "bin" / "python")
    if uv:
        steps = [[uv, "venv", "-q", "--python", sys.executable, str(folder)]]
        steps += [[uv, "pip", "install", "-q", "--python", python, "-r", str(wanted)]]
    else:
        steps = [[sys.executable, "-m", "venv", str(folder)]]
        steps += [[python, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-r", str(wanted)]]
    for step in steps:
        done = subprocess.run(step, capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if line.startswith(("ERROR", "error", "  ×"))]
            return (lines or ["it cannot be installed"])[0][:160]
    stamp.write_text(wanted.read_text())
    return ""
