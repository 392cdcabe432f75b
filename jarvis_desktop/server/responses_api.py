"""The newer protocol of OpenAI, `/v1/responses`, in which the steps of an answer are items too.

A plan is a `reasoning` item, each of its tasks an `mcp_call` of the server "jarvis", the answer a
message, and each picture that was made an `image_generation_call`. Nothing is stored, so a client
sends the whole conversation each time.
"""

from __future__ import annotations

import asyncio
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import aclosing
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from jarvis_desktop.assistant.execution.task_runner import INTERNAL_ERROR
from jarvis_desktop.core import events
from jarvis_desktop.core.display import frames
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Status, TaskResult
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.server.openai_api import (
    about_turn,
    answered,
    chosen_llm,
    json_of,
    prompt_of,
    while_connected,
)
from jarvis_desktop.server.turns import (
    MAX_FILES,
    ApiFrontend,
    GivenFile,
    Said,
    given_file,
    plan_document,
    running_turn,
)

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

log = logging.getLogger(__name__)

REFUSED = {
    "tools": "JARVIS has tools of its own.",
    "previous_response_id": "Answers are not stored: send the whole conversation.",
    "conversation": "Answers are not stored: send the whole conversation.",
    "background": "Wait for the answer, or stream it.",
    "prompt": "There are no stored prompts.",
}
"""Parts of a request that nothing here does, and why."""
STEPS = ("reasoning", "mcp_call", "mcp_list_tools", "image_generation_call")
"""Items of an earlier answer that clients send back; its words are in its message."""

Document = dict[str, Any]


def routes(app: Application) -> list[Route]:
    """Return the route over a built application."""

    async def respond(request: Request) -> Response:
        body = await json_of(request)
        said = read_input(body)
        for name, reason in REFUSED.items():
            if body.get(name):
                raise InputError(f"“{name}” is not supported. {reason}")
        llm = await chosen_llm(app, body)
        form = (
            (body.get("text") or {}).get("format") if isinstance(body.get("text"), dict) else None
        )
        if llm is None and (form or {"type": "text"}) != {"type": "text"}:
            raise InputError("“text.format” is for the LLM; JARVIS answers in words.")
        writer = ResponseWriter(body)
        happening = _by_llm(writer, llm, said, body) if llm else _by_jarvis(writer, app, said)
        if body.get("stream") is True:
            return StreamingResponse(_lines(writer, happening), media_type="text/event-stream")

        async def whole() -> Document:
            async with aclosing(happening) as source:  # type: ignore[type-var]
                async for _ in source:
                    pass
            return writer.document

        return JSONResponse(await while_connected(request, asyncio.create_task(whole())))

    return [Route("/v1/responses", answered(respond), methods=["POST"])]


def read_input(body: Document) -> list[Said]:
    """Read the messages of a request. Raises InputError."""
    given = body.get("input")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else given
    if not isinstance(items, list) or not items:
        raise InputError("“input” is a text, or a list with at least one message.")
    said = [_message(item) for item in items if not _is_step(item)]
    if instructions := body.get("instructions"):
        if not isinstance(instructions, str):
            raise InputError("“instructions” is a text.")
        said.insert(0, Said("system", instructions))
    if not said or said[-1].role != "user":
        raise InputError("The last message is not the user's, so there is nothing to answer.")
    if sum(len(each.files) for each in said) > MAX_FILES:
        raise InputError(f"A request carries at most {MAX_FILES} files.")
    return said


def _is_step(item: object) -> bool:
    return isinstance(item, dict) and item.get("type") in STEPS


def _message(item: object) -> Said:
    match item:
        case {"type": str(kind)} if kind != "message":
            raise InputError(f"“{kind}” cannot be part of the input: it holds messages.")
        case {"role": str(role), "content": str(text)}:
            return Said(role, text)
        case {"role": str(role), "content": list(parts)}:
            read = [_part(part) for part in parts]
            texts = [each for each in read if isinstance(each, str)]
            files = [each for each in read if isinstance(each, GivenFile)]
            return Said(role, "\n".join(texts), tuple(files))
    raise InputError("Each message is an object with a “role” and a “content”.")


def _part(part: object) -> str | GivenFile:
    match part:
        case {"type": "input_text" | "output_text" | "text", "text": str(text)}:
            return text
        case {"type": "input_image", "image_url": str(url)}:
            return given_file(url, "picture")
        case {"type": "input_audio", "input_audio": {"data": str(data), "format": str(kind)}}:
            return given_file(f"data:audio/{kind};base64,{data}", "recording")
        case {"type": "input_file", "file_data": str(data), **about}:
            return given_file(data, "file", str(about.get("filename") or ""))
    raise InputError("A message holds texts, pictures, recordings and files, as data.")


class ResponseWriter:
    """One answer: its items, and the events of a stream that build it up."""

    def __init__(self, body: Document) -> None:
        """`body`: the request."""
        self._count = 0
        self._open: dict[int, Document] = {}
        """The items of running tasks."""
        self._message: Document | None = None
        self.document: Document = {
            "id": f"resp_{secrets.token_hex(16)}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "in_progress",
            "error": None,
            "incomplete_details": None,
            "instructions": body.get("instructions"),
            "metadata": body.get("metadata") or {},
            "model": str(body.get("model") or "jarvis"),
            "output": [],
            "parallel_tool_calls": False,
            "previous_response_id": None,
            "store": False,
            "temperature": body.get("temperature"),
            "text": body.get("text") or {"format": {"type": "text"}},
            "tool_choice": "none",
            "tools": [],
            "top_p": body.get("top_p"),
            "truncation": "disabled",
        }

    def begin(self) -> Iterator[Document]:
        """Announce the answer."""
        yield self._event("response.created", response={**self.document, "output": []})
        yield self._event("response.in_progress", response={**self.document, "output": []})

    def follow(self, event: events.Event) -> Iterator[Document]:
        """Announce what an event of a turn changes."""
        match event:
            case events.PlanAccepted(plan=plan) | events.Replanned(plan=plan):
                yield from self._plan(plan)
            case events.TaskStarted(task_id=number) if number not in self._open:
                yield from self._start(number)
            case events.TaskFinished(result=result):
                if result.task_id not in self._open:
                    yield from self._start(result.task_id)
                yield from self._finish(result)
            case events.ReplyChunk(text=text):
                yield from self.write(text)

    def write(self, text: str) -> Iterator[Document]:
        """Add words to the answer."""
        if self._message is None:
            self._message = {"type": "message", "role": "assistant", "content": []}
            yield self._add(self._message, "msg")
            yield self._of_part("response.content_part.added", part=_words(""))
            self._message["content"].append(_words(""))
        self._message["content"][0]["text"] += text
        yield self._of_part("response.output_text.delta", delta=text, logprobs=[])

    def end(self, pictures: Sequence[str], **more: Any) -> Iterator[Document]:
        """Close the answer. `pictures` are in base64; `more` is what else clients may know."""
        if self._message is None:
            yield from self.write("")
        assert self._message
        (part,) = self._message["content"]
        yield self._of_part("response.output_text.done", text=part["text"], logprobs=[])
        yield self._of_part("response.content_part.done", part=part)
        yield self._done(self._message)
        for picture in pictures:
            item = {"type": "image_generation_call", "result": None}
            yield self._add(item, "ig")
            item["result"] = picture
            yield self._done(item)
        self.document |= {"status": "completed", "completed_at": int(time.time()), **more}
        yield self._event("response.completed", response=self.document)

    def fail(self, reason: str) -> Document:
        """Close the answer with an error."""
        error = {"code": "server_error", "message": reason}
        self.document |= {"status": "failed", "error": error}
        return self._event("response.failed", response=self.document)

    def _plan(self, plan: Plan) -> Iterator[Document]:
        self._open.clear()
        self._tasks = {wire["id"]: wire for wire in plan_document(plan)}
        lines = [f"{wire['id']}. {wire['task']}" for wire in self._tasks.values()]
        summary = {"type": "summary_text", "text": "\n".join(lines)}
        item: Document = {"type": "reasoning", "summary": []}
        yield self._add(item, "rs")
        place = {"item_id": item["id"], "output_index": self._place(item), "summary_index": 0}
        empty = {**summary, "text": ""}
        yield self._event("response.reasoning_summary_part.added", **place, part=empty)
        item["summary"].append(summary)
        words = summary["text"]
        yield self._event("response.reasoning_summary_text.delta", **place, delta=words)
        yield self._event("response.reasoning_summary_text.done", **place, text=words)
        yield self._event("response.reasoning_summary_part.done", **place, part=summary)
        yield self._done(item)

    def _start(self, number: int) -> Iterator[Document]:
        wire = self._tasks[number]
        item = self._open[number] = {
            "type": "mcp_call",
            "name": wire["task"],
            "server_label": "jarvis",
            "arguments": json.dumps(wire["args"], ensure_ascii=False),
            "output": None,
            "error": None,
        }
        yield self._add(item, "mcp")
        yield self._of(item, "response.mcp_call.in_progress")

    def _finish(self, result: TaskResult) -> Iterator[Document]:
        item = self._open.pop(result.task_id)
        if result.status is Status.DONE:
            made = [each.text if each.path is None else each.title for each in result.artifacts]
            item["output"] = "\n".join(map(str, made))
            yield self._of(item, "response.mcp_call.completed")
            yield self._done(item)
        else:
            words = [{"type": "text", "text": result.reason}]
            item["error"] = {"type": "mcp_tool_execution_error", "content": words}
            yield self._of(item, "response.mcp_call.failed")
            yield self._done(item, status="failed")

    def _add(self, item: Document, prefix: str) -> Document:
        item |= {"id": f"{prefix}_{secrets.token_hex(16)}", "status": "in_progress"}
        self.document["output"].append(item)
        place = self._place(item)
        return self._event("response.output_item.added", output_index=place, item={**item})

    def _done(self, item: Document, *, status: str = "completed") -> Document:
        item["status"] = status
        place = self._place(item)
        return self._event("response.output_item.done", output_index=place, item=item)

    def _of(self, item: Document, kind: str, **fields: Any) -> Document:
        return self._event(kind, item_id=item["id"], output_index=self._place(item), **fields)

    def _of_part(self, kind: str, **fields: Any) -> Document:
        assert self._message
        return self._of(self._message, kind, content_index=0, **fields)

    def _place(self, item: Document) -> int:
        return next(at for at, each in enumerate(self.document["output"]) if each is item)

    def _event(self, kind: str, **fields: Any) -> Document:
        self._count += 1
        return {"type": kind, "sequence_number": self._count - 1, **fields}


def _words(text: str) -> Document:
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": []}


async def _by_jarvis(
    writer: ResponseWriter, app: Application, said: Sequence[Said]
) -> AsyncIterator[Document]:
    """Let the assistant answer."""
    frontend = ApiFrontend()
    async with running_turn(app, said, frontend) as (task, _):
        for document in writer.begin():
            yield document
        written = ""
        async for event in frontend.all_shown():
            if isinstance(event, events.ReplyChunk):
                written += event.text
            for document in writer.follow(event):
                yield document
        turn = await task
        about = await asyncio.to_thread(about_turn, turn, frontend, said)
    for document in writer.write(turn.reply.removeprefix(written)):
        yield document
    pictures = [
        file["url"].partition(",")[2]
        for file in about["files"]
        if file["media_type"].startswith("image/")
    ]
    for document in writer.end(pictures, jarvis=about):
        yield document


async def _by_llm(
    writer: ResponseWriter, llm: LLM, said: Sequence[Said], body: Document
) -> AsyncIterator[Document]:
    """Let the LLM alone answer."""
    text = body.get("text")
    form = text.get("format") if isinstance(text, dict) else None
    wanted = {"json_schema": form} if isinstance(form, dict) else None
    prompt = prompt_of(
        said, {**body, "response_format": wanted, "max_tokens": body.get("max_output_tokens")}
    )
    for document in writer.begin():
        yield document
    async for piece in llm.stream(prompt):
        for document in writer.write(piece):
            yield document
    for document in writer.end([]):
        yield document


async def _lines(writer: ResponseWriter, happening: AsyncIterator[Document]) -> AsyncIterator[str]:
    """Yield server-sent events; the last one says how it ended, whatever happens."""

    def line(document: Document) -> str:
        return f"event: {document['type']}\ndata: {json.dumps(document)}\n\n"

    try:
        async with aclosing(happening) as source:  # type: ignore[type-var]
            async for document in source:
                yield line(document)
    except JarvisError as error:
        yield line(writer.fail(str(error)))
    except Exception as error:  # noqa: BLE001 - no traceback leaves this computer
        log.error("A request over HTTP failed: %s", frames(error))
        yield line(writer.fail(tr(INTERNAL_ERROR)))
