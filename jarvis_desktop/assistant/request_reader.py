"""Reads a request: its words, given files, and the files and addresses that it names."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from jarvis_desktop.assistant.live_turn import LiveTurn
from jarvis_desktop.assistant.memory import ConversationMemory
from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.display import one_line, unique_name
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.events import (
    Attached,
    Noted,
    Transcribed,
)
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    ArtifactStore,
    Context,
    Web,
)
from jarvis_desktop.core.speech import Recogniser, Transcript
from jarvis_desktop.core.task import Arg, Item, TaskType
from jarvis_desktop.core.turn import Conversation, Request

MAX_LINKS = 10
"""The most addresses in one request."""


class AttachmentIntake:
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

        `web` fetches files by address unless `online` returns False; with None nothing is fetched.
        """
        self._store = store
        self._folders = tuple(folders)
        self._web = web
        self._online = online

    async def given(self, request: Request) -> tuple[Artifact, ...]:
        """The files handed over with the request.

        Of a folder it is the files in it. Raises InputError that names every file that cannot be
        used.
        """
        paths = [_absolute(path, request.folder) for path in request.files]
        return await self._take_in(await asyncio.to_thread(_with_files_of_folders, paths))

    async def named(
        self, text: str, request: Request, given: Sequence[Artifact]
    ) -> tuple[Artifact, ...]:
        """The files that the words name and that exist in one of the folders.

        Other names are left to the planner, which knows what they were wanted for.
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
        """Fetch the files at the addresses in the words, by the address as it is written.

        All are fetched at once. Their titles are unique, also among those `given`. Raises
        InputError, UnavailableError and StorageError if one of them cannot be fetched.
        """
        urls = {text[item.start : item.end]: item.text for item in request_parser.find_urls(text)}
        if len(urls) > MAX_LINKS:
            raise InputError(
                tr("That is more than {most_links} addresses at once.", most_links=MAX_LINKS)
            )
        try:
            async with asyncio.TaskGroup() as group:
                fetches = {
                    written: group.create_task(self._fetched(url)) for written, url in urls.items()
                }
        except ExceptionGroup as failures:
            raise failures.exceptions[0] from None  # the first failure, which cancelled the others
        titles = {item.title.casefold() for item in given}
        found = {}
        for written, fetch in fetches.items():
            taken = fetch.result()
            found[written] = replace(taken, name=unique_name(taken.title, titles))
            titles.add(found[written].title.casefold())
        return found

    async def _fetched(self, url: str) -> Artifact:
        if self._web is None or not self._online():
            raise InputError(
                tr(
                    "{url} is on the network, and the mode is offline.",
                    url=one_line(url, limit=100),
                ),
                hint=tr("Choose another mode, or give the file itself."),
            )
        current_note.get()(tr("Downloading {url} …", url=one_line(url, limit=100)))
        folder = self._store.workdir()
        try:
            path = await self._web.fetch(url, folder)
            (taken,) = await self._take_in([path])
            return taken
        finally:
            self._store.discard(folder)

    async def settled(self, plan: Plan, folder: Path | None) -> Plan:
        """A plan written by hand or by a program, with its files taken into the store."""
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
        """Whether all their files are still in the store."""
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
        except RuntimeError:  # the home folder of an unknown user
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


MAX_FOLDER_FILES = 300
"""Files of a folder that is given; of a larger one it would not be clear what is meant."""


def _with_files_of_folders(paths: Iterable[Path]) -> list[Path]:
    """Return the paths, and instead of a folder the files in it and its folders, except hidden
    ones and links. Raises InputError if they are too many, or none."""
    found: list[Path] = []
    for path in paths:
        # Other than those of Path, these functions raise nothing.
        if os.path.islink(path) or not os.path.isdir(path):  # noqa: PTH112, PTH114
            found.append(path)
            continue
        inside: list[Path] = []
        for folder, folders, names in os.walk(path):
            folders[:] = sorted(it for it in folders if not it.startswith("."))
            inside += [Path(folder, it) for it in sorted(names) if not it.startswith(".")]
            if len(inside) > MAX_FOLDER_FILES:
                raise InputError(
                    tr(
                        "The folder {name} has more than {count} files.",
                        name=one_line(path.name),
                        count=MAX_FOLDER_FILES,
                    ),
                    hint=tr("Give a smaller folder, or the files."),
                )
        inside = [it for it in inside if not it.is_symlink() and it.is_file()]
        if not inside:
            raise InputError(tr("There are no files in {name}.", name=one_line(path.name)))
        found += inside
    return found


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except (OSError, ValueError):  # too long, not readable, or with a null byte
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


MAX_NAMES = 10
MAX_REQUEST_CHARS = 200_000
"""A longer text belongs in a file."""


class RequestReader:
    """Reads requests in words or speech, with their attachments."""

    def __init__(
        self, intake: AttachmentIntake, recogniser: Recogniser, memory: ConversationMemory
    ) -> None:
        self._intake = intake
        self._recogniser = recogniser
        self._memory = memory
        self.names: tuple[str, ...] = ()
        """Stems of the names of recent files, newest first: words that the user may say."""

    async def of(
        self,
        request: Request,
        known: Conversation,
        live: LiveTurn,
        *,
        inventory: Sequence[TaskType],
        links: bool = True,
    ) -> tuple[str, Context]:
        """The words, with file names in place of addresses, and the context of the request.

        Without `links` addresses stay as they are and nothing is fetched. Raises JarvisError if
        speech is not understood or a file cannot be used.
        """
        text = request.text.strip()
        if len(text) > MAX_REQUEST_CHARS:
            raise InputError(
                tr(
                    "The text is {text:,} characters long; the limit is {longest_request:,}.",
                    text=len(text),
                    longest_request=MAX_REQUEST_CHARS,
                ),
                hint=tr("Put it in a file and give the file."),
            )
        attachments = await self._intake.given(request)
        audio = Artifact(Kind.AUDIO, path=request.audio) if request.audio else None
        if request.heard:
            text = _show_transcript(request.heard, live)
        elif not text and audio is None:
            audio, attachments = _recorded_request(attachments)
        if attachments:
            live.show(Attached(attachments))
        if audio is not None:
            text = await self._listen(audio, live)
        # Names and addresses in pasted text are content: no file is fetched for them.
        instruction, _ = request_parser.split_pasted(text, inventory)
        named = await self._intake.named(instruction, request, attachments)
        linked = await self._intake.linked(instruction, (*attachments, *named)) if links else {}
        if named or linked:
            attachments = (*attachments, *named, *linked.values())
            live.show(Attached(attachments))
        for written in sorted(linked, key=len, reverse=True):  # one may be a prefix of another
            text = text.replace(written, linked[written].title)
        given = (Path(item.name).stem for item in reversed(attachments) if item.name)
        self.names = tuple(dict.fromkeys((*given, *self.names)))[:MAX_NAMES]
        context = await self._memory.context(
            known, attachments, folder=request.folder, trace=live.trace
        )
        return text, context

    async def _listen(self, audio: Artifact, live: LiveTurn) -> str:
        def report(fraction: float | None, message: str) -> None:
            """Ignore progress: speech is recognised quickly."""

        assert audio.path is not None
        try:
            heard = await self._recogniser.transcribe(audio.path, report)
        except InputError as error:
            # The user does not know the file's name in the store.
            message = error.message.replace(audio.path.name, audio.title)
            raise InputError(message, hint=error.hint) from error
        return _show_transcript(heard, live)


def _show_transcript(heard: Transcript, live: LiveTurn) -> str:
    """Show the transcript and its note. Return the words."""
    live.show(Transcribed(heard.text, heard.engine))
    if heard.note:
        live.show(Noted(heard.note))
    return heard.text


def _recorded_request(
    attachments: tuple[Artifact, ...],
) -> tuple[Artifact | None, tuple[Artifact, ...]]:
    """A request without words may be the only recording among its files."""
    recordings = [item for item in attachments if item.kind is Kind.AUDIO]
    if len(recordings) != 1:
        return None, attachments
    rest = tuple(item for item in attachments if item is not recordings[0])
    return recordings[0], rest
