"""The contracts in pyproject.toml catch what they are there to catch; what they cannot see is read from the source.

Imports are planted in an empty house with every room of the contract, so that these tests say something about the
contracts even while the real house has a fault of its own (`lint-imports` tells of those).
"""

from __future__ import annotations

import ast
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "deliberate"
THINKING = ("errors.py", "types", "plugins.py", "aggregation", "tallies", "agreement", "gates.py", "protocols")
OUTER = ("__init__.py", "__main__.py", "cli", "integrations", "testing")


def contract(kind: str) -> Mapping[str, list[str]]:
    """The first contract of a kind, as pyproject.toml has it."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"]
    found: Mapping[str, list[str]] = next(entry for entry in settings["contracts"] if entry["type"] == kind)
    return found


# Room -> its line, counted from below; what the contracts cannot see is held against this.
LINES = {
    room.strip(" ()"): line
    for line, rooms in enumerate(reversed(contract("layers")["layers"]))
    for room in rooms.split("|")
}
DOORS = {"litellm": "deliberate.providers.litellm", "ray": "deliberate.engine.backends.ray"}


def lint(folder: Path, planted: dict[str, str]) -> tuple[int, str]:
    """Exit code and words of lint-imports over a house whose only imports are the planted ones."""
    rooms = [room.strip(" ()") for layer in contract("layers")["layers"] for room in layer.split("|")]
    files = {f"{room}/__init__.py": "" for room in rooms if room != "__main__"} | planted
    for name, text in ({"__init__.py": "", "__main__.py": ""} | files).items():
        path = folder / "deliberate" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    command = [f"{Path(sys.executable).parent}/lint-imports", "--config", f"{ROOT}/pyproject.toml", "--no-cache"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout + done.stderr


def test_an_empty_house_keeps_every_contract(tmp_path: Path) -> None:
    code, words = lint(tmp_path, {})
    assert code == 0, words


PLANTED = (
    ("aggregation/planted.py", "from deliberate.engine import Session", "deliberate.engine"),
    ("types/planted.py", "def late():\n    import deliberate.plugins", "deliberate.plugins"),
    ("ledger/planted.py", "import deliberate.library", "deliberate.library"),
    ("protocols/planted.py", "import asyncio", "asyncio"),
    ("protocols/sown.py", "import random", "random"),
    ("tallies/planted.py", "from time import monotonic", "time"),
    ("types/sown.py", "from pathlib import Path", "pathlib"),
    ("gates/planted.py", "from structlog import get_logger", "structlog"),
    ("evaluators/planted.py", "import deliberate.evaluators.other", "deliberate.evaluators.other"),
    ("engine/planted.py", "def late():\n    import litellm", "litellm"),
    ("providers/planted.py", "import ray", "ray"),
)


@pytest.fixture(scope="module")
def all_planted(tmp_path_factory: pytest.TempPathFactory) -> tuple[int, str]:
    """What is said of a house with all of them."""
    files = {where: what for where, what, _ in PLANTED}
    return lint(tmp_path_factory.mktemp("house"), {"evaluators/other.py": "", **files})


@pytest.mark.parametrize(("where", "caught"), [(where, caught) for where, _, caught in PLANTED])
def test_a_planted_import_is_caught(all_planted: tuple[int, str], where: str, caught: str) -> None:
    code, words = all_planted
    assert code == 1, words
    module = where.removesuffix(".py").replace("/", ".")
    assert f"deliberate.{module} -> {caught} (l." in " ".join(words.split()), words


def test_a_room_without_a_line_in_the_contract_is_caught(tmp_path: Path) -> None:
    code, words = lint(tmp_path, {"cellar/__init__.py": ""})
    assert code == 1, words
    assert "cellar" in words


def test_allowed_imports_are_let_through(tmp_path: Path) -> None:
    allowed = {
        "agreement/planted.py": "import random",
        "protocols/_price.py": "import random",
        "plugins/__init__.py": "import importlib.metadata",
        "evaluators/planted.py": "from deliberate.evaluators._base import Evaluator",
        "providers/litellm.py": "def late():\n    import litellm",
        "engine/backends/ray.py": "def late():\n    import ray",
    }
    code, words = lint(tmp_path, {"evaluators/_base.py": "", "engine/backends/__init__.py": "", **allowed})
    assert code == 0, words


def sources(names: tuple[str, ...]) -> Iterator[Path]:
    """The Python files of some rooms."""
    for name in names:
        place = PACKAGE / name
        yield from sorted(place.rglob("*.py")) if place.is_dir() else [place] if place.exists() else []


def acts(tree: ast.AST) -> Iterator[str]:
    """What in a syntax tree waits, reads, writes, runs text or asks the clock."""
    for node in ast.walk(tree):
        match node:
            case ast.AsyncFunctionDef() | ast.AsyncFor() | ast.AsyncWith() | ast.Await():
                yield f"line {node.lineno}: waits"
            case ast.Call(func=ast.Name(id="open" | "print" | "input" | "eval" | "exec" | "__import__" | "breakpoint")):
                yield f"line {node.lineno}: {ast.unparse(node.func)}()"
            case ast.Call(func=ast.Attribute(attr="now" | "utcnow" | "today" | "read_text" | "read_bytes")):
                yield f"line {node.lineno}: {ast.unparse(node.func)}()"
            case _:
                pass


def names_the_package(tree: ast.AST) -> Iterator[str]:
    """Imports of the package itself rather than of one of its rooms."""
    rooms = {path.stem for path in PACKAGE.iterdir()}
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names) if any(name.name == "deliberate" for name in names):
                yield f"line {node.lineno}: import deliberate"
            case ast.ImportFrom(module="deliberate", names=names):
                yield from (f"line {node.lineno}: {name.name}" for name in names if name.name not in rooms)
            case _:
                pass


@pytest.mark.parametrize("path", [*sources(THINKING)], ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_room_that_thinks_does_not_act(path: Path) -> None:
    assert not list(acts(ast.parse(path.read_text(encoding="utf-8"))))


def test_no_room_imports_the_package_it_is_in() -> None:
    inner = tuple(sorted(path.name for path in PACKAGE.iterdir() if path.name not in OUTER))
    found = {
        str(path.relative_to(PACKAGE)): lines
        for path in sources(inner)
        if (lines := list(names_the_package(ast.parse(path.read_text(encoding="utf-8")))))
    }
    assert not found


def imported_by_name(tree: ast.AST) -> Iterator[str]:
    """The modules a syntax tree hands to ``import_module`` in so many words."""
    for node in ast.walk(tree):
        match node:
            case ast.Call(
                func=ast.Name(id="import_module") | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield name
            case _:
                pass


def allowed(importer: str, name: str) -> bool:
    """Whether a module may import another by its name, as the contracts would have it."""
    top, _, below = name.partition(".")
    if top in DOORS:
        return importer == DOORS[top]
    if top != "deliberate" or importer == "deliberate":
        return True
    own, other = importer.split(".")[1], below.partition(".")[0]
    return own == other or LINES[own] > LINES[other]


def test_what_is_imported_by_its_name_keeps_the_contracts_too() -> None:
    found = [
        f"{importer} -> {name}"
        for path in sorted(PACKAGE.rglob("*.py"))
        for importer in [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")]
        for name in imported_by_name(ast.parse(path.read_text(encoding="utf-8")))
        if not allowed(importer, name)
    ]
    assert not found


@pytest.mark.parametrize(
    ("importer", "name", "verdict"),
    [
        ("deliberate.providers.litellm", "litellm.utils", True),
        ("deliberate.engine.session", "litellm", False),
        ("deliberate.engine.session", "deliberate.ledger", True),
        ("deliberate.ledger._writer", "deliberate.engine", False),
        ("deliberate.ledger._writer", "deliberate.library", False),
        ("deliberate.providers._connection", "deliberate.providers._http", True),
    ],
)
def test_importing_by_name_is_judged_like_any_import(importer: str, name: str, *, verdict: bool) -> None:
    text = f"importlib.import_module('{name}')"
    assert [*imported_by_name(ast.parse(text))] == [name]
    assert allowed(importer, name) is verdict


@pytest.mark.parametrize(
    "text",
    [
        "async def wait(): ...",
        "open('votes.jsonl')",
        "print('voted')",
        "datetime.now()",
        "Path('x').read_text()",
    ],
)
def test_acting_is_recognised(text: str) -> None:
    assert list(acts(ast.parse(text)))
