"""The library: documents by name, from all sources in their rank, each read once."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec

from deliberate.errors import ConfigError, RubricError, UnknownName
from deliberate.library._effects import read_effects
from deliberate.library._filed import (
    APPROVED,
    PANEL_SUFFIX,
    NotAnEvaluator,
    card_files,
    is_approved,
    panel_files,
    pinned_name,
    rubric_files,
)
from deliberate.library._files import names_a_path, path_of
from deliberate.library._places import Shelf, card_shelves, home_folder, panel_shelves, rubric_shelves
from deliberate.library._select import select, surroundings
from deliberate.types import Case, Choice, Judge, Panel, Rubric

if TYPE_CHECKING:
    from deliberate.library.agents import Card
    from deliberate.library.plans import LoadedPlan

__all__ = ["Library"]

# Readers are imported where something is read: they need pydantic, and many a program has no document.


class Library:
    """Rubrics, agent cards, panels and plans, by name or path.

    Sources, highest rank first: ``extra`` folders, the user's (``<home>/evaluators/user``, ``<home>/agents``), the
    workspace's (``.agents/evaluators``, ``.agents/agents``), proposed and approved rubrics, managed ones, the bundled.
    A rubric or card is read when it is first asked for, and then stays as it was. One that cannot be read is left out
    of the lists (``problems`` says why), and is an error where it is asked for by its name. It is told once: as an
    error, by ``problems``, or else in the log.

    Args:
        home: Our own folder; None means ``DELIBERATE_HOME`` or the user's data folder.
        workspace: The folder that is worked in; None means the current one.
        extra: More folders: with rubrics and panels in them, or with ``rubrics/`` and ``agents/`` in them.
    """

    def __init__(
        self, home: str | Path | None = None, workspace: str | Path | None = None, extra: Iterable[str | Path] = ()
    ) -> None:
        self.home = home_folder() if home is None else Path(home).expanduser()
        self.workspace = Path.cwd() if workspace is None else Path(workspace).expanduser()
        self.extra = tuple(Path(folder).expanduser() for folder in extra)
        self._rubrics: dict[Path, Rubric | RubricError] = {}
        self._cards: dict[Path, Card | ConfigError] = {}
        self._told: set[Path] = set()
        self._named: dict[str, Rubric] = {}
        self._judges: dict[tuple[str, str], Judge] = {}

    def rubric(self, name: str, *, where: str = "") -> Rubric:
        """The rubric of that name in the highest source that has one, or in that folder or file.

        Args:
            name: A name, a name with the start of its digest (``code-review@1a2b3c4d5e6f``), or a path.
            where: File and key it was named in, for the message.

        Raises:
            UnknownName: There is none; the message lists the nearest and all that are known.
            RubricError: Its files cannot be read.
        """
        if names_a_path(name):
            from deliberate.library.rubrics import read_rubric  # noqa: PLC0415  needs pydantic

            found = read_rubric(path_of(name))
            self._named[pinned_name(found)] = found
            return found
        if name in self._named:  # every case asks for its panel's rubric: no look at the disk then
            return self._named[name]
        called, _, digest = name.partition("@")
        for shelf in self._rubric_shelves():
            for _, one in self._on(shelf, called):
                if one.name == called and one.digest.startswith(digest):
                    self._named[name] = one
                    self._tell()
                    return one
        raise UnknownName("rubric", name, {*(one.name for one in self.rubrics()), *self._named}, where=where)

    def rubrics(self, *, told: bool = True) -> tuple[Rubric, ...]:
        """All rubrics that can be selected, highest source first, by name within a source.

        A name may occur once in every source: who is eligible is for the selection to say. ``told`` False leaves it to
        a later call to log what is left out.
        """
        found: list[Rubric] = []
        for shelf in self._rubric_shelves():
            named: dict[str, Rubric] = {}
            for filed, one in self._on(shelf):
                if one.name not in named or filed == one.name:
                    named[one.name] = one
            found += [named[name] for name in sorted(named)]
        if told:
            self._tell()
        return tuple(found)

    def rubric_path(self, name: str) -> Path:
        """The file of the rubric that ``rubric`` gives for this name.

        Raises:
            UnknownName: There is none.
            RubricError: Its files cannot be read.
        """
        if names_a_path(name):
            path = path_of(name)
            return path / "SKILL.md" if path.is_dir() else path
        wanted = self.rubric(name)
        for shelf in self._rubric_shelves():
            for _, path in rubric_files(shelf.folder):
                if shelf.source == wanted.source and self._rubric_in(shelf, path) == wanted:
                    return path
        raise UnknownName("rubric", name, {one.name for one in self.rubrics()})

    def choose(self, case: Case, *, files: Sequence[str] = ()) -> Choice:
        """The rubric that judges a case on this machine (``select``); ``files`` name what it lies in besides.

        Rubrics that cannot be read are among the ``refused``.

        Raises:
            RubricError: No rubric is for the category the case states, and the one that is may be one that cannot be
                read: the first of these; or there is no ``general``.
        """
        found = self.rubrics(told=False)
        names = (*(one.path for one in case.files), *files)
        choice = select(
            found,
            category=case.category,
            task=case.task,
            files=names,
            around=surroundings(found),
            effects=read_effects(self.home),
        )
        broken = self._broken_rubrics()
        if broken and choice.by == "general" and (case.category or "").strip():
            error = next(iter(broken.values()))
            self._tell(but=error)
            raise _may_be_for(case.category, error)
        self._tell()
        self._named[pinned_name(choice.rubric)] = choice.rubric
        unread = (f"{name}: cannot be read: {error.what}" for name, error in broken.items())
        return msgspec.structs.replace(choice, refused=(*choice.refused, *unread))

    def card(self, name: str, *, where: str = "") -> Card:
        """The agent card of that name in the highest source that has one, or in that file.

        Args:
            name: A name or a path.
            where: File and key it was named in, for the message.

        Raises:
            UnknownName: There is none; the message lists the nearest and all that are known.
            AgentCardError: It cannot be read.
        """
        if names_a_path(name):
            from deliberate.library.agents import read_card  # noqa: PLC0415  needs pydantic

            return read_card(path_of(name))
        files = self._card_files()
        if name not in files:
            raise UnknownName("agent card", name, files, where=where)
        found = self._card_in(*files[name])
        if isinstance(found, ConfigError):
            raise found
        return found

    def judge(self, name: str, *, model: str, where: str = "") -> Judge:
        """The judge that an agent card makes.

        Args:
            name: The card's name or path.
            model: For a card that names none.
            where: File and key it was named in, for the message.

        Raises:
            UnknownName: There is no such card.
            ConfigError: It cannot be read, or neither it nor ``model`` names a model.
        """
        from deliberate.library.agents import judge_of  # noqa: PLC0415  needs pydantic

        if (name, model) not in self._judges:  # every case asks for its agent: no look at the disk then
            card = self.card(name, where=where)
            asked = card.model or model
            if not asked:
                raise ConfigError(
                    f"no model for the agent {name!r}", where=where, expected="a model in its card or here"
                )
            self._judges[name, model] = judge_of(card, model=asked)
        return self._judges[name, model]

    def cards(self) -> tuple[Card, ...]:
        """The agent cards, by name; of several of one name, the one in the highest source."""
        found = [self._card_in(*place) for _, place in sorted(self._card_files().items())]
        self._tell()
        return tuple(one for one in found if not isinstance(one, ConfigError))

    def panel(self, name: str, *, model: str | None = None) -> Panel:
        """The panel of that name in the highest source that has one, or in that file.

        Args:
            name: A name or a path.
            model: For seats and cards that name none, before the panel's own default.

        Raises:
            UnknownName: There is none, or it names something that does not exist.
            ConfigError: It cannot be read, or could never decide.
        """
        from deliberate.library.panels import read_panel  # noqa: PLC0415  needs pydantic

        if names_a_path(name):
            return read_panel(path_of(name), documents=self, model=model)
        files = self._panel_files()
        if name not in files:
            raise UnknownName("panel", name, files, hint=f"or give the path of a {PANEL_SUFFIX} file")
        shelf, path = files[name]
        return read_panel(path, documents=self, model=model, links=shelf.links)

    def panels(self) -> tuple[str, ...]:
        """The names of the panels, sorted. Not the panels: one may lack a model that is named when it is asked for."""
        return tuple(sorted(self._panel_files()))

    def plan(self, path: str | Path, *, own: Sequence[str] = ()) -> LoadedPlan:
        """The plan in a file; ``own`` are names of evaluators that come besides those there are.

        Raises:
            UnknownName: It names an evaluator, rule or part that does not exist.
            ConfigError: It cannot be read.
        """
        from deliberate.library.plans import read_plan  # noqa: PLC0415  needs pydantic

        return read_plan(path_of(path), own=own)

    def problems(self) -> tuple[ConfigError, ...]:
        """Why rubrics and cards are left out of the lists, in the order of their files."""
        self.rubrics(told=False)
        for place in self._card_files().values():
            self._card_in(*place)
        found = self._unread()
        self._told |= found.keys()
        return tuple(found.values())

    def _unread(self) -> dict[Path, ConfigError]:
        """What could not be read so far, in the order of the files."""
        seen = (*self._rubrics.items(), *self._cards.items())
        found = {path: one for path, one in seen if isinstance(one, ConfigError)}
        return {path: found[path] for path in sorted(found) if not isinstance(found[path], NotAnEvaluator)}

    def _tell(self, *, but: ConfigError | None = None) -> None:
        """Logs what could not be read, each once; ``but`` is told as an error."""
        for path, error in self._unread().items():
            if path not in self._told:
                self._told.add(path)
                if error is not but:
                    _warn(error)

    def _on(self, shelf: Shelf, called: str = "") -> Iterator[tuple[str, Rubric]]:
        """The rubrics on a shelf that can be used, with the name they are filed under; ``called`` first.

        Raises:
            RubricError: The one filed under ``called`` cannot be read.
        """
        files = rubric_files(shelf.folder)
        for filed, path in sorted(files, key=lambda file: file[0] != called):
            one = self._rubric_in(shelf, path)
            if isinstance(one, Rubric):
                if shelf.source != "proposed" or is_approved(path, one):
                    yield filed, one
            elif filed == called and not isinstance(one, NotAnEvaluator):
                raise one

    def _rubric_in(self, shelf: Shelf, path: Path) -> Rubric | RubricError:
        if path not in self._rubrics:
            from deliberate.library.rubrics import read_rubric  # noqa: PLC0415  needs pydantic

            try:
                self._rubrics[path] = read_rubric(path, source=shelf.source, links=shelf.links)
            except RubricError as error:
                self._rubrics[path] = error
        return self._rubrics[path]

    def _broken_rubrics(self) -> dict[str, RubricError]:
        """By name and source, highest first, what was left out as broken; not proposals that nobody approved."""
        if not any(isinstance(one, RubricError) for one in self._rubrics.values()):
            return {}
        found: dict[str, RubricError] = {}
        for shelf in self._rubric_shelves():
            for filed, path in rubric_files(shelf.folder):
                one = self._rubric_in(shelf, path)
                if not isinstance(one, RubricError) or isinstance(one, NotAnEvaluator):
                    continue
                if shelf.source != "proposed" or (path.parent / APPROVED).is_file():
                    found.setdefault(f"{filed} ({shelf.source})", one)
        return found

    def _card_in(self, shelf: Shelf, path: Path) -> Card | ConfigError:
        if path not in self._cards:
            from deliberate.library.agents import read_card  # noqa: PLC0415  needs pydantic

            try:
                self._cards[path] = read_card(path, source=shelf.source, links=shelf.links)
            except ConfigError as error:
                self._cards[path] = error
        return self._cards[path]

    def _rubric_shelves(self) -> tuple[Shelf, ...]:
        return rubric_shelves(home=self.home, workspace=self.workspace, extra=self.extra)

    def _card_files(self) -> dict[str, tuple[Shelf, Path]]:
        found: dict[str, tuple[Shelf, Path]] = {}
        for shelf in card_shelves(home=self.home, workspace=self.workspace, extra=self.extra):
            for path in card_files(shelf.folder):
                found.setdefault(path.stem, (shelf, path))
        return found

    def _panel_files(self) -> dict[str, tuple[Shelf, Path]]:
        found: dict[str, tuple[Shelf, Path]] = {}
        for shelf in panel_shelves(home=self.home, workspace=self.workspace, extra=self.extra):
            for path in panel_files(shelf.folder):
                found.setdefault(path.name.removesuffix(PANEL_SUFFIX), (shelf, path))
        return found


def _may_be_for(category: str | None, error: RubricError) -> RubricError:
    hint = f"no other rubric is for the category {category!r}: mend this one, or name a rubric"
    hints = "; ".join(part for part in (error.hint, hint) if part)
    return RubricError(error.what, where=error.where, expected=error.expected, hint=hints)


def _warn(error: ConfigError) -> None:
    import structlog  # noqa: PLC0415  takes 150 ms to import, and is needed only if something is wrong

    log = structlog.wrap_logger(
        logging.getLogger("deliberate"),
        wrapper_class=structlog.stdlib.BoundLogger,
        processors=[structlog.stdlib.filter_by_level, structlog.stdlib.render_to_log_kwargs],
    )
    log.warning("document_left_out", where=error.where, what=error.what)
