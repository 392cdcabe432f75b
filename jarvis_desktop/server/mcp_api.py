"""JARVIS as an MCP server, over the pipes of a client that starts it, or at `/mcp` over HTTP.

The results of the newest turns remain as resources until the server ends: an answer over MCP has
room for words and small pictures only, and the next call may work on the file that one made.
"""

from __future__ import annotations

import asyncio
import base64
import json
import logging
import mimetypes
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from jsonschema import Draft202012Validator
from jsonschema.exceptions import best_match
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.stdio import stdio_server
from mcp.server.streamable_http_manager import StreamableHTTPASGIApp, StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INVALID_PARAMS,
    BlobResourceContents,
    CallToolRequestParams,
    CallToolResult,
    ImageContent,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    PaginatedRequestParams,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    ResourceLink,
    TextContent,
    TextResourceContents,
    Tool,
    ToolAnnotations,
)

from jarvis_desktop import __version__
from jarvis_desktop.assistant.execution.task_runner import INTERNAL_ERROR
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.context import local_now
from jarvis_desktop.core.display import frames, one_line
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import NeedsAgent
from jarvis_desktop.core.serialization import plan_from_wire
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.server.access import MAX_BODY
from jarvis_desktop.server.turns import (
    MAX_FILES,
    ApiFrontend,
    Said,
    described,
    given_file,
    plan_document,
    plan_of,
    running_turn,
)

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from jarvis_desktop.app.application import Application

log = logging.getLogger(__name__)

MAX_TURNS = 50
"""Turns whose results are kept; the oldest goes first."""
MAX_SESSIONS = 256
"""Clients of the older protocol at once, until half an hour after their last request."""
MAX_INLINE = 1_000_000
"""Bytes of a picture that is in the answer itself."""
MAX_RESOURCE = 24_000_000
"""Bytes of a file that can be read; it grows by a third on its way."""
SCHEME = "jarvis://results/"

INSTRUCTIONS = """\
JARVIS turns a request into a plan of tasks, runs an expert for each on this computer, and answers.
Call ask for a request in words. To decide on the steps yourself: list_tasks, then plan or write a
plan, then run_plan. Files that were made are resources under jarvis://results/; such an address can
be given as a file of the next call. Nobody can be asked, so what needs the user's agreement is
not done; not_agreed in the answer lists it."""

Given = Mapping[str, Any]
Context = ServerRequestContext[Any, Any]


def _schema(*required: str, **properties: dict[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


_words = {"type": "string", "description": "The request in words.", "minLength": 1}


def _files(more: str = "") -> dict[str, Any]:
    return {
        "type": "array",
        "items": {"type": "string", "minLength": 1},
        "maxItems": MAX_FILES,
        "description": "Files it is about: whole paths on the computer of JARVIS, or addresses of "
        f"earlier results (jarvis://results/...){more}.",
    }


TOOLS = (
    Tool(
        name="ask",
        description="Ask JARVIS for something in words, about files too: it plans, runs experts "
        "for pictures, sound, documents, tables and everyday tasks, and answers.",
        input_schema=_schema("text", text=_words, files=_files(", or data URLs in base64")),
        annotations=ToolAnnotations(title="Ask JARVIS", destructive_hint=False),
    ),
    Tool(
        name="plan",
        description="Show the plan that JARVIS would carry out for a request, and run nothing.",
        input_schema=_schema("text", text=_words, files=_files()),
        annotations=ToolAnnotations(title="Plan", read_only_hint=True),
    ),
    Tool(
        name="run_plan",
        description="Carry out a plan in the form that plan returns. list_tasks has the tasks and "
        "what each takes. The text <GENERATED>-ID as an argument is the result of task ID.",
        input_schema=_schema(
            "plan",
            plan={
                "type": "array",
                "minItems": 1,
                "maxItems": 100,
                "items": {
                    "type": "object",
                    "properties": {
                        "task": {"type": "string"},
                        "id": {"type": "integer"},
                        "dep": {"type": "array", "items": {"type": "integer"}},
                        "args": {"type": "object"},
                    },
                    "required": ["task", "id", "args"],
                },
            },
        ),
        annotations=ToolAnnotations(title="Run a plan", destructive_hint=False),
    ),
    Tool(
        name="list_tasks",
        description="List the tasks that plans are made of, with the arguments of each.",
        input_schema=_schema(
            search={
                "type": "string",
                "description": "Only tasks whose name or summary has one of these words.",
            }
        ),
        annotations=ToolAnnotations(title="List tasks", read_only_hint=True),
    ),
)


@dataclass(frozen=True, slots=True)
class KeptResult:
    """An answer or a file of a turn, under its address."""

    uri: str
    name: str
    media_type: str
    text: str = ""
    path: Path | None = None

    @property
    def about(self) -> dict[str, Any]:
        """The fields of a resource and of a link to one."""
        size = self.path.stat().st_size if self.path else len(self.text.encode())
        return {"uri": self.uri, "name": self.name, "mime_type": self.media_type, "size": size}


class KeptTurns:
    """The results of the newest turns, whose private conversations stay open for that long."""

    def __init__(self, forget: Callable[[str], None]) -> None:
        """`forget` closes a conversation."""
        self._forget = forget
        self._turns: dict[str, list[KeptResult]] = {}
        self._count = 0

    def add(self, conversation: str, turn: Turn) -> list[KeptResult]:
        """Keep the results of a turn and return them, the answer first."""
        self._count += 1
        base = f"{SCHEME}{self._count}/"
        kept = [KeptResult(f"{base}answer.md", "answer.md", "text/markdown", text=turn.reply)]
        for number, item in enumerate(turn.artifacts, 1):
            name = Path(item.title).name if item.path else f"text-{number}.txt"
            kind = mimetypes.guess_type(name)[0] or "application/octet-stream"
            place = f"{base}{number}/{quote(name)}"
            kept.append(KeptResult(place, name, kind, item.text or "", item.path))
        self._turns[conversation] = kept
        while len(self._turns) > MAX_TURNS:
            oldest = next(iter(self._turns))
            del self._turns[oldest]
            self._forget(oldest)
        return kept

    def all(self) -> list[KeptResult]:
        """Return all results, oldest first."""
        return [item for kept in self._turns.values() for item in kept]

    def find(self, uri: str) -> KeptResult:
        """Return the result at this address. Raises InputError."""
        if found := next((item for item in self.all() if item.uri == uri), None):
            return found
        raise InputError(f"There is no result {one_line(uri, limit=200)} any more.")

    def close(self) -> None:
        """Forget them all."""
        for conversation in self._turns:
            self._forget(conversation)
        self._turns.clear()


class McpApi:
    """The tools and resources over a built application."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self._kept = KeptTurns(app.history.forget_private)
        self._tools: dict[str, Callable[[Context, Given], Awaitable[CallToolResult]]] = {
            "ask": self._ask,
            "plan": self._plan,
            "run_plan": self._run_plan,
            "list_tasks": self._list_tasks,
        }
        self._schemas = {tool.name: Draft202012Validator(tool.input_schema) for tool in TOOLS}
        self.server: Server[Any] = Server(
            "jarvis-desktop",
            version=__version__,
            title="JARVIS",
            instructions=INSTRUCTIONS,
            on_list_tools=self._listed,
            on_call_tool=self._called,
            on_list_resources=self._resources,
            on_list_resource_templates=self._templates,
            on_read_resource=self._read,
        )

    def close(self) -> None:
        """Forget the results."""
        self._kept.close()

    async def _listed(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListToolsResult:
        return ListToolsResult(tools=list(TOOLS))

    async def _called(self, context: Context, params: CallToolRequestParams) -> CallToolResult:
        if not (tool := self._tools.get(params.name)):
            raise MCPError(INVALID_PARAMS, f"There is no tool {one_line(params.name, limit=100)}.")
        given = params.arguments or {}
        try:
            if error := best_match(self._schemas[params.name].iter_errors(given)):
                raise InputError(f"{one_line(error.message, limit=300)}.")
            return await tool(context, given)
        except JarvisError as error:
            return _refusal(str(error))
        except Exception as error:  # noqa: BLE001 - no traceback leaves this computer
            log.error("A call over MCP failed: %s", frames(error))
            return _refusal(tr(INTERNAL_ERROR))

    async def _ask(self, context: Context, given: Given) -> CallToolResult:
        files = given.get("files", [])
        data = tuple(given_file(each, "file") for each in files if each.startswith("data:"))
        places = self._places([each for each in files if not each.startswith("data:")])
        return await self._turn(context, Said("user", given["text"], data), places)

    async def _run_plan(self, context: Context, given: Given) -> CallToolResult:
        places: dict[Path, str] = {}

        def known(value: Any) -> Any:
            if isinstance(value, list):
                return [known(each) for each in value]
            if isinstance(value, str) and value.startswith(SCHEME):
                places.update(found := self._places([value]))
                return str(*found)
            return value

        tasks = [
            each | {"args": {key: known(value) for key, value in each["args"].items()}}
            for each in given["plan"]
        ]
        plan = plan_from_wire(tasks, self._app.inventory)
        return await self._turn(context, Said("user", ""), places, plan=plan)

    async def _turn(
        self, context: Context, said: Said, places: Mapping[Path, str], *, plan: Plan | None = None
    ) -> CallToolResult:
        """Run a turn, report how far it is, and return its answer. Cancelling stops it."""
        frontend = ApiFrontend()
        progress = _Progress(context)
        files = () if plan else tuple(places)
        async with running_turn(self._app, [said], frontend, plan=plan, files=files, kept=True) as (
            task,
            conversation,
        ):
            async for event in frontend.all_shown():
                await progress.follow(event)
            turn = await task
        results = self._kept.add(conversation, turn)
        about = described(turn, frontend.refused, _names(places))
        about["results"] = [item.uri for item in results]
        words = [
            turn.reply,
            *(f"Not done, since nobody was asked: {it}" for it in frontend.refused),
        ]
        content: list[Any] = [TextContent(text="\n\n".join(filter(None, words)))]
        content += await asyncio.to_thread(_small_pictures, results)
        content += [ResourceLink(**item.about) for item in results if item.path]
        return CallToolResult(
            content=content,
            structured_content=about,
            is_error=turn.status not in (Status.DONE, Status.PARTLY),
        )

    async def _plan(self, context: Context, given: Given) -> CallToolResult:
        places = self._places(given.get("files", []))
        planned = await plan_of(self._app, given["text"], tuple(places))
        if isinstance(planned, Plan):
            return _document({"plan": plan_document(planned, _names(places))})
        if isinstance(planned, NeedsAgent):
            return _document({"plan": [], "note": "It is a goal in several steps: ask for parts."})
        return _document({"plan": [], "note": "It needs no expert: the LLM answers it itself."})

    async def _list_tasks(self, context: Context, given: Given) -> CallToolResult:
        wanted = given.get("search", "").lower().split()
        found = [
            _task_document(each)
            for each in self._app.inventory.values()
            if not wanted or any(word in f"{each.name} {each.summary}".lower() for word in wanted)
        ]
        return _document({"tasks": found})

    def _places(self, files: Sequence[str]) -> dict[Path, str]:
        """The files on this computer, each with what the client calls it. Raises InputError."""
        found: dict[Path, str] = {}
        for name in files:
            if name.startswith(SCHEME):
                path = self._kept.find(name).path
                if path is None:
                    raise InputError(f"{name} is a text, not a file: give its words.")
            elif not (path := Path(name)).is_absolute():
                raise InputError(
                    f"“{one_line(name, limit=200)}” is not the whole path of a file, and not the "
                    "address of an earlier result."
                )
            found[path] = name
        return found

    async def _resources(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourcesResult:
        return ListResourcesResult(resources=[Resource(**item.about) for item in self._kept.all()])

    async def _templates(
        self, context: Context, params: PaginatedRequestParams | None
    ) -> ListResourceTemplatesResult:
        # Clients ask for these as soon as there are resources, and show a refusal as an error.
        return ListResourceTemplatesResult(resource_templates=[])

    async def _read(
        self, context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        uri = str(params.uri)
        try:
            found = self._kept.find(uri)
        except InputError as error:
            raise MCPError(INVALID_PARAMS, str(error)) from error
        about = {"uri": uri, "mime_type": found.media_type}
        if found.path is None:
            return ReadResourceResult(contents=[TextResourceContents(text=found.text, **about)])
        if found.path.stat().st_size > MAX_RESOURCE:
            size = f"more than {MAX_RESOURCE // 1_000_000} MB"
            raise MCPError(INVALID_PARAMS, f"{found.name} has {size}, which is too much for MCP.")
        content = await asyncio.to_thread(_content, found.path)
        return ReadResourceResult(contents=[BlobResourceContents(blob=content, **about)])


class _Progress:
    """Reports how much of a turn is done, in tasks of its plan."""

    def __init__(self, context: Context) -> None:
        self._report = context.session.report_progress
        self._turn = Turn("", local_now())
        self._done = 0.0
        self._said = ""

    async def follow(self, event: events.Event) -> None:
        """Report what an event changes."""
        self._turn = turn = self._turn.apply(event)
        if not (words := self._words(event)) or words == self._said:
            return
        self._said = words
        parts = [
            each.fraction or 0 for each in turn.progress.values() if each.task_id in turn.running
        ]
        total = len(turn.plan) if turn.plan else None
        # The protocol wants a larger number each time.
        self._done = max(self._done + 1e-6, len(turn.results) + sum(parts))
        await self._report(self._done, total, words)

    def _words(self, event: events.Event) -> str:
        match event:
            case events.PlanAccepted(plan=plan) | events.Replanned(plan=plan):
                return ", ".join(task.type.called for task in plan)
            case events.TaskStarted(task_id=number, candidate=candidate):
                return f"{self._called(number)}: {candidate.expert.id}"
            case events.TaskProgress(task_id=number, fraction=fraction, message=words):
                percent = "" if fraction is None else f"{fraction:.0%}"
                return f"{self._called(number)}: {' '.join(filter(None, [percent, words]))}"
            case events.TaskFinished(result=result):
                return f"{self._called(result.task_id)}: {result.status}"
            case events.Retrying():
                return event.words
            case events.Noted(text=text):
                return text
        return ""

    def _called(self, number: int) -> str:
        tasks = self._turn.plan or ()
        return next((task.type.called for task in tasks if task.id == number), "")


def _names(places: Mapping[Path, str]) -> Callable[[Artifact], str]:
    """What the client calls a file of a plan."""

    def name(file: Artifact) -> str:
        if known := places.get(file.source or file.path or Path()):
            return known
        # What was sent with the request is no longer at its place.
        return str(file.source) if file.source and file.source.exists() else file.title

    return name


def _small_pictures(results: Sequence[KeptResult]) -> list[ImageContent]:
    """The pictures that are part of an answer."""
    return [
        ImageContent(data=_content(item.path), mime_type=item.media_type)
        for item in results
        if item.path
        and item.media_type.startswith("image/")
        and item.path.stat().st_size <= MAX_INLINE
    ]


def _content(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


def _task_document(kind: TaskType) -> dict[str, Any]:
    """Describe a task for those who write plans."""
    args = {}
    for port in kind.ports:
        words = " or ".join(port.kinds) + ("s" if port.many else "")
        args[port.name] = words if port.required else f"{words}, optional"
    for option in kind.options:
        choices = f": {', '.join(option.choices)}" if option.choices else ""
        usual = f"; otherwise {option.default}" if option.default != "" else ""
        args[option.name] = f"{option.summary}{choices}{usual}"
    about = {"task": kind.name, "about": kind.summary, "args": args, "gives": list(kind.gives)}
    return about | ({"needs_agreement": True} if kind.guarded else {})


def _document(document: dict[str, Any]) -> CallToolResult:
    words = json.dumps(document, ensure_ascii=False)
    return CallToolResult(content=[TextContent(text=words)], structured_content=document)


def _refusal(reason: str) -> CallToolResult:
    return CallToolResult(content=[TextContent(text=reason)], is_error=True)


async def _claimed_stdin() -> AsyncIterator[str]:
    """Yield the lines of stdin, which other code then finds empty.

    The library waits for its own reader before it stops, so that Ctrl-C would do nothing.
    """
    loop, lines = asyncio.get_running_loop(), asyncio.Queue[str | None](maxsize=16)
    own, empty = os.dup(0), os.open(os.devnull, os.O_RDONLY)
    os.dup2(empty, 0)
    os.close(empty)

    def read() -> None:
        # RuntimeError: the loop is closed.
        with suppress(RuntimeError), os.fdopen(own, encoding="utf-8", errors="replace") as stdin:
            for line in stdin:
                asyncio.run_coroutine_threadsafe(lines.put(line), loop).result()
            asyncio.run_coroutine_threadsafe(lines.put(None), loop).result()

    Thread(target=read, daemon=True).start()
    while (line := await lines.get()) is not None:
        yield line


async def serve_over_pipes(app: Application) -> None:
    """Serve the program that started this one, until it closes stdin."""
    api = McpApi(app)
    try:
        async with stdio_server(_claimed_stdin()) as (incoming, outgoing):  # type: ignore[arg-type]
            options = api.server.create_initialization_options()
            await api.server.run(incoming, outgoing, options)
    finally:
        api.close()


@asynccontextmanager
async def over_http(app: Application) -> AsyncIterator[ASGIApp]:
    """Provide the ASGI application for `/mcp`. Who may use it is checked before."""
    api = McpApi(app)
    sessions = StreamableHTTPSessionManager(
        api.server, max_sessions=MAX_SESSIONS, max_request_body_size=MAX_BODY
    )
    try:
        async with sessions.run():
            yield StreamableHTTPASGIApp(sessions)
    finally:
        api.close()
