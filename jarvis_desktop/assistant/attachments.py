"""Brings the files of a request into the artifact store: those given, and those it names."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import replace
from itertools import count
from pathlib import Path, PurePath

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import ArtifactStore, Web
from jarvis_desktop.core.task import Arg, Item
from jarvis_desktop.core.turn import Request

MOST_LINKS = 10
"""Addresses in one request."""


class Intake:
    """Checks and copies files, so that nothing outside the store is touched later on."""

    def __init__(
        self,
        store: ArtifactStore,
        *,
        folders: Sequence[Path] = (),
        web: Web | None = None,
        online: Callable[[], bool] = lambda: True,
    ) -> None:
        """`folders` are searched, after the request's own, for files named in the words.

        `web` fetches what they name by its address; None where nothing may be fetched,
        as it may not while `online` says no.
        """
        self._store = store
        self._folders = tuple(folders)
        self._web = web
        self._online = online

    async def given(self, request: Request) -> tuple[Artifact, ...]:
        """The files handed over with the request.

        Raises InputError that names every file that cannot be used.
        """
        return await self._take_in([_absolute(path, request.folder) for path in request.files])

    async def named(
        self, text: str, request: Request, given: Sequence[Artifact]
    ) -> tuple[Artifact, ...]:
        """The files that the words name and that are found in one of the folders.

        A name that is not found is left to the planner, which knows what it was wanted for.
        """
        known = {item.name.lower() for item in given}
        found: dict[Path, None] = {}
        for mention in request_parser.find_files(text):
            if not mention.output and mention.name.lower() not in known:
                for path in self._places(mention.text, request.folder):
                    if _exists(path):
                        found[path] = None
                        break
        return await self._take_in(list(found))

    async def linked(self, text: str, given: Sequence[Artifact] = ()) -> dict[str, Artifact]:
        """The files that lie at the addresses in the words, by the address as it is written.

        All are fetched at once. Each has a title that no other one has, nor any of those `given`.
        Raises InputError, UnavailableError and StorageError where one of them cannot be had.
        """
        urls = {text[item.start : item.end]: item.text for item in request_parser.find_urls(text)}
        if len(urls) > MOST_LINKS:
            raise InputError(
                tr("Those are more than {most_links} addresses at once.", most_links=MOST_LINKS)
            )
        try:
            async with asyncio.TaskGroup() as group:
                fetches = {
                    written: group.create_task(self._fetched(url)) for written, url in urls.items()
                }
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None  # the first to fail, which ended the others
        titles = {item.title.casefold() for item in given}
        found = {}
        for written, fetch in fetches.items():
            taken = fetch.result()
            found[written] = replace(taken, name=_apart(taken.title, titles))
            titles.add(found[written].title.casefold())
        return found

    async def _fetched(self, url: str) -> Artifact:
        if self._web is None or not self._online():
            raise InputError(
                tr(
                    "{url} lies on the network, and the mode is offline.",
                    url=one_line(url, limit=100),
                ),
                hint=tr("Choose another mode, or give the file itself."),
            )
        current_note.get()(tr("Fetching {url} …", url=one_line(url, limit=100)))
        folder = self._store.workdir()
        try:
            path = await self._web.fetch(url, folder)
            (taken,) = await self._take_in([path])
            return taken
        finally:
            self._store.discard(folder)

    async def settled(self, plan: Plan, folder: Path | None) -> Plan:
        """A plan written by hand or by a program, its files taken into the store."""
        tasks = []
        for task in plan:
            args: dict[str, Arg] = {}
            for name, arg in task.args.items():
                items = [
                    await self._settle(item, folder)
                    for item in (arg if isinstance(arg, tuple) else (arg,))
                ]
                args[name] = tuple(items) if isinstance(arg, tuple) else items[0]
            tasks.append(replace(task, args=args))
        return Plan(tuple(tasks))

    async def holds(self, artifacts: Iterable[Artifact]) -> bool:
        """Whether all their files are in the store, still."""
        paths = [item.path for item in artifacts if item.path is not None]
        return await asyncio.to_thread(lambda: all(map(self._store.holds, paths)))

    async def _settle(self, item: Item, folder: Path | None) -> Item:
        if isinstance(item, Artifact) and item.path is not None:
            path = _absolute(item.path, folder)
            if self._store.holds(path):
                return item
            (taken,) = await self._take_in([path])
            return replace(taken, name=item.name or taken.name)
        return item

    def _places(self, name: str, folder: Path | None) -> list[Path]:
        try:
            path = Path(name).expanduser()
        except RuntimeError:  # the home folder of someone who is not here
            return []
        if path.is_absolute():
            return [path]
        return [place / path for place in (folder, *self._folders) if place]

    async def _take_in(self, paths: Sequence[Path]) -> tuple[Artifact, ...]:
        taken: list[Artifact] = []
        errors: list[InputError] = []
        for path in paths:
            try:
                taken.append(await asyncio.to_thread(self._store.take_in, path))
            except InputError as error:
                errors.append(error)
        if len(errors) == 1:
            raise errors[0]
        if errors:
            raise InputError(" ".join(str(error) for error in errors))
        return tuple(taken)


def _apart(name: str, taken: Collection[str]) -> str:
    """The name, or else "x-2.png" and so on: one that is not taken, whatever its case."""
    path, number = PurePath(name), count(2)
    while name.casefold() in taken:
        name = f"{path.stem}-{next(number)}{path.suffix}"
    return name


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, a folder that may not be looked into, a null byte
        return False


def _absolute(path: Path, folder: Path | None) -> Path:
    try:
        path = path.expanduser()
    except RuntimeError as error:
        shown = one_line(str(path))
        raise InputError(
            tr("There is no file {shown}.", shown=shown), hint=tr("Check its name.")
        ) from error
    return path if path.is_absolute() or folder is None else folder / path
