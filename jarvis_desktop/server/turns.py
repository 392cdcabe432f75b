"""A request over HTTP as a turn of the assistant: messages and files in, words and files out.

Other programs send the whole conversation each time and keep it themselves, so a turn runs in a
private conversation, which leaves nothing in the history. Nobody can be asked: what needs a yes is
not done, and the answer says so.
"""

from __future__ import annotations

import asyncio
import base64
import binascii
import mimetypes
import re
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, nullcontext
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, NamedTuple

from anyio import CancelScope

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.code import Allow, CodeRequest, Verdict
from jarvis_desktop.core.context import current_conversation, local_now
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import Outline
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, PlanRejected, Review
from jarvis_desktop.core.serialization import plan_to_wire
from jarvis_desktop.core.task import Item
from jarvis_desktop.core.turn import Request, Turn
from jarvis_desktop.storage.artifacts import safe_name

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

MAX_FILES = 32
"""Files in one request."""
MAX_SUFFIX = 12
_data = re.compile(r"data:([\w.+-]+/[\w.+-]+)?(?:;[\w=.-]+)*;base64,", re.ASCII)
_suffixes = {"image/webp": ".webp", "audio/mp3": ".mp3", "audio/wav": ".wav"}


@dataclass(frozen=True, slots=True)
class GivenFile:
    """A file that a message carries."""

    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class Said:
    """One message of a conversation."""

    role: str
    text: str
    files: tuple[GivenFile, ...] = ()


def read_messages(body: object) -> list[Said]:
    """Read the messages of a request in OpenAI's form. Raises InputError."""
    listed = body.get("messages") if isinstance(body, dict) else None
    if not isinstance(listed, list) or not listed:
        raise InputError("“messages” is a list with at least one message.")
    said = [_message(each) for each in listed]
    if said[-1].role != "user":
        raise InputError("The last message is not the user's, so there is nothing to answer.")
    if sum(len(each.files) for each in said) > MAX_FILES:
        raise InputError(f"A request carries at most {MAX_FILES} files.")
    return said


def _message(message: object) -> Said:
    if not isinstance(message, dict) or not isinstance(message.get("role"), str):
        raise InputError("Each message is an object with a “role” and a “content”.")
    content = message.get("content")
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else content
    texts, files = [], []
    for part in parts if isinstance(parts, list) else []:
        match part:
            case {"type": "text", "text": str(text)}:
                texts.append(text)
            case {"type": "image_url", "image_url": {"url": str(url)}}:
                files.append(given_file(url, "picture"))
            case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
                files.append(given_file(f"data:audio/{kind};base64,{data}", "recording"))
            case {"type": "file", "file": {"file_data": str(data), **about}}:
                files.append(given_file(data, "file", str(about.get("filename") or "")))
            case _:
                raise InputError("A message holds texts, pictures, recordings and files.")
    return Said(message["role"], "\n".join(texts), tuple(files))


def given_file(url: str, kind: str, name: str = "") -> GivenFile:
    """Read a data URL. Raises InputError."""
    match = _data.match(url)
    if not match:
        raise InputError(f"A {kind} is given in the request itself, as a data URL in base64.")
    mime = match[1] or ""
    try:
        content = base64.b64decode(url[match.end() :], validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"The {kind} is not valid base64.") from error
    suffix = _suffixes.get(mime) or mimetypes.guess_extension(mime) or ""
    return GivenFile(file_name(name or f"{kind}{suffix}"), content)


def file_name(given: str) -> str:
    """Return the name that a client gave a file, as one that every system accepts."""
    name = PurePosixPath(given.replace("\\", "/")).name
    suffix = PurePosixPath(name).suffix
    if len(suffix) > MAX_SUFFIX:
        name, suffix = name.replace(".", " "), ""
    return safe_name(Artifact(Kind.DOCUMENT, path=Path(f"file{suffix}"), name=name))


class RunningTurn(NamedTuple):
    """A turn that is being worked on, and the private conversation that it is in."""

    task: asyncio.Task[Turn]
    conversation: str


@dataclass
class ApiFrontend:
    """Passes on what happens, and agrees to nothing."""

    shown: asyncio.Queue[events.Event | None] = field(default_factory=asyncio.Queue)
    """What happened; None at the end, if `running_turn` runs it."""
    refused: list[str] = field(default_factory=list)
    """The questions that nobody could answer."""

    def show(self, event: events.Event) -> None:
        """Pass on the event."""
        self.shown.put_nowait(event)

    async def all_shown(self) -> AsyncIterator[events.Event]:
        """Yield what happens until the turn has ended."""
        while (event := await self.shown.get()) is not None:
            yield event

    async def review(self, plan: Plan) -> Plan | None:
        """Accept a plan that has no effects outside of JARVIS."""
        guarded = [task.type.called for task in plan if task.type.guarded]
        self.refused += guarded
        return None if guarded else plan

    async def confirm(self, question: str, *, yes: str = "") -> bool:
        """Return False, and note the question."""
        self.refused.append(question)
        return False

    async def ask(self, question: str) -> str:
        """Return "", and note the question."""
        self.refused.append(question)
        return ""

    async def review_outline(self, outline: Outline, why: str) -> Review | None:
        """Refuse the plan of a goal."""
        self.refused.append("A goal in several steps needs somebody who reads its plan.")
        return None

    async def review_code(self, code: CodeRequest) -> Verdict:
        """Refuse code."""
        return Verdict(Allow.NO, code.source)


@asynccontextmanager
async def running_turn(
    app: Application,
    said: Sequence[Said],
    frontend: ApiFrontend,
    *,
    plan: Plan | None = None,
    files: Sequence[Path] = (),
    kept: bool = False,
) -> AsyncIterator[RunningTurn]:
    """Run a turn for the last message. At the end it is stopped, and all of it forgotten.

    `files` on this computer are attached as well. With `kept`, a turn that ended on its own remains
    until its conversation is forgotten.
    """
    conversation, ended = app.history.open_private().id, False
    sent = [given for each in said for given in each.files]
    try:
        with TemporaryDirectory(prefix="jarvis-api-") if sent else nullcontext("") as folder:
            given = await asyncio.to_thread(_write, sent, Path(folder)) if sent else []
            before = _remember(app, conversation, said[:-1])
            text = "\n".join([*before, said[-1].text])
            request = Request(text=text, files=(*files, *given))
            task = asyncio.create_task(
                app.assistant.handle(request, frontend, conversation=conversation, plan=plan)
            )
            task.add_done_callback(lambda _: frontend.shown.put_nowait(None))
            try:
                yield RunningTurn(task, conversation)
                ended = task.done()
            finally:
                task.cancel()
                # Also when a scope of anyio is cancelled, which would interrupt each further wait.
                with CancelScope(shield=True):
                    await asyncio.wait([task])
    finally:
        if not (kept and ended):
            app.history.forget_private(conversation)


def _write(sent: Sequence[GivenFile], folder: Path) -> list[Path]:
    paths = []
    for number, given in enumerate(sent):
        path = folder / str(number) / given.name
        path.parent.mkdir()
        path.write_bytes(given.content)
        paths.append(path)
    return paths


def _remember(app: Application, conversation: str, said: Sequence[Said]) -> list[str]:
    """Save earlier messages as turns, so that "it" and "the first one" are understood.

    Return what the user said last without an answer.
    """
    asked: list[str] = []
    for each in said:
        if each.role == "user":
            asked.append(each.text)
        elif each.role == "assistant":
            now, words = local_now(), "\n".join(asked)
            turn = Turn(secrets.token_hex(8), now, words, reply=each.text, status=Status.DONE)
            app.history.save(conversation, replace(turn, finished=now))
            asked.clear()
    return asked


def instructions(said: Sequence[Said]) -> str:
    """Return the system messages, which the assistant does not follow: it has its own."""
    return "\n".join(each.text for each in said if each.role in ("system", "developer"))


async def plan_of(
    app: Application, text: str, files: Sequence[Path] = ()
) -> Plan | AnswerDirectly | NeedsAgent:
    """Plan a request without running it; files are read, but not kept. Raises InputError."""
    conversation = app.history.open_private().id
    within = current_conversation.set(conversation)
    try:
        request = Request(text=text, files=tuple(files))
        given = await app.intake.given(request)
        named = await app.intake.named(text, request, given)
        inventory = tuple(app.inventory.values())
        planned = await app.planner.plan(text, inventory, Context((*given, *named)))
    finally:
        current_conversation.reset(within)
        app.history.forget_private(conversation)
    if isinstance(planned, PlanRejected):
        raise InputError(planned.reason)
    return planned


def title_of(file: Artifact) -> str:
    """What a file is called."""
    return file.title


def described(
    turn: Turn, refused: Sequence[str], place: Callable[[Artifact], str] = title_of
) -> dict[str, Any]:
    """Describe a turn that ended, besides its answer and its files."""
    return {
        "status": turn.status or Status.FAILED,
        "plan": plan_document(turn.plan, place) if turn.plan else [],
        "notes": list(turn.notes),
        "not_agreed": list(refused),
    }


def plan_document(plan: Plan, place: Callable[[Artifact], str] = title_of) -> list[dict[str, Any]]:
    """Return a plan for JSON. `place` is what the client calls a file, whose path is not shown."""

    def shown(name: str, item: Item) -> Item:
        if isinstance(item, Artifact) and item.path:
            return replace(item, path=None, text=place(item))  # a path would lose slashes
        return item

    return plan_to_wire(Plan(tuple(task.map_items(shown) for task in plan)))


def file_document(path: Path, name: str) -> dict[str, Any]:
    """Describe a file of an answer, with its content as a data URL."""
    mime = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
    content = base64.b64encode(path.read_bytes()).decode()
    return {"name": name, "media_type": mime, "url": f"data:{mime};base64,{content}"}
