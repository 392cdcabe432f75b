"""The part of OpenAI's protocol that other programs use: models, chat, speech both ways, vectors.

The model "jarvis" is the assistant: it plans, runs experts and answers. The name of the LLM in use
is the LLM alone. What a program asks for beyond that is refused with a sentence, never ignored:
only the system messages of other programs are, since the assistant has its own instructions.
"""

from __future__ import annotations

import asyncio
import base64
import csv
import json
import logging
import secrets
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import aclosing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from jarvis_desktop.assistant.execution.task_runner import INTERNAL_ERROR
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.display import encodable, frames, one_line
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.events import ReplyChunk
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt, answer
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Arg, Ref, Task
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.server.access import error_document
from jarvis_desktop.server.turns import (
    ApiFrontend,
    Said,
    described,
    file_document,
    file_name,
    instructions,
    read_messages,
    running_turn,
)

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application

log = logging.getLogger(__name__)

T = TypeVar("T")

JARVIS = "jarvis"
EMBEDDING = "feature-extraction"
MAX_INPUTS = 100
UNCOUNTED = {"prompt_tokens": 0, "completion_tokens": 0, "total_tokens": 0}
"""Tokens are those of an LLM, and most requests need none; but some clients expect the figures."""
MAX_PICTURES = 4
REFUSED = ("tools", "functions", "audio", "modalities")
"""Parts of a request for a chat that would change the answer, and that nothing here does."""


class NotFoundError(InputError):
    """There is no such model."""


def routes(app: Application) -> list[Route]:
    """Return the routes over a built application."""
    api = OpenAIApi(app)
    return [
        Route("/v1/models", answered(api.models), methods=["GET"]),
        Route("/v1/chat/completions", answered(api.chat), methods=["POST"]),
        Route("/v1/audio/transcriptions", answered(api.transcribe), methods=["POST"]),
        Route("/v1/audio/speech", answered(api.speak), methods=["POST"]),
        Route("/v1/embeddings", answered(api.embed), methods=["POST"]),
        Route("/v1/images/generations", answered(api.paint), methods=["POST"]),
    ]


def answered(
    work: Callable[[Request], Awaitable[Response]],
) -> Callable[[Request], Awaitable[Response]]:
    """Answer errors as OpenAI does. Work ends when the client goes away."""

    async def respond(request: Request) -> Response:
        try:
            return await work(request)
        except NotFoundError as error:
            return refusal(error, 404, code="model_not_found")
        except InputError as error:
            return refusal(error, 400)
        except UnavailableError as error:
            return refusal(error, 503)
        except JarvisError as error:
            return refusal(error, 500)
        except HTTPException:
            raise
        except Exception as error:  # noqa: BLE001 - no traceback leaves this computer
            log.error("A request over HTTP failed: %s", frames(error))
            return refusal(JarvisError(tr(INTERNAL_ERROR)), 500)

    return respond


def refusal(error: JarvisError, status: int, *, code: str = "") -> JSONResponse:
    """Return an error as a response."""
    return JSONResponse(error_document(str(error), status, code=code), status)


async def json_of(request: Request) -> dict[str, Any]:
    """Return the body, an object. Raises InputError."""
    try:
        body = _encodable(json.loads(await request.body()))
    except (ValueError, RecursionError) as error:
        raise InputError("The request is not valid JSON.") from error
    if not isinstance(body, dict):
        raise InputError("The request is not an object.")
    return body


def _encodable(value: Any) -> Any:
    """The same without halves of surrogate pairs, which JSON can name and UTF-8 cannot."""
    if isinstance(value, str):
        return encodable(value)
    if isinstance(value, list):
        return [_encodable(each) for each in value]
    if isinstance(value, dict):
        return {encodable(key): _encodable(each) for key, each in value.items()}
    return value


async def while_connected(request: Request, work: asyncio.Task[T]) -> T:
    """Return the outcome of `work`. Cancels it when the client goes away."""

    async def gone() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    leaving = asyncio.create_task(gone())
    try:
        await asyncio.wait({work, leaving}, return_when=asyncio.FIRST_COMPLETED)
        if not work.done():
            work.cancel()
            raise UnavailableError("The client went away.")
        if work.cancelled():
            raise UnavailableError("It was stopped.")
        return work.result()
    finally:
        leaving.cancel()


async def chosen_llm(app: Application, body: dict[str, Any]) -> LLM | None:
    """Return the LLM that a request names; None for the assistant. Raises NotFoundError."""
    name, llm = str(body.get("model") or JARVIS), await app.llms.current()
    if llm and name == llm.name:
        return llm
    if name != JARVIS:
        known = f" or “{llm.name}”" if llm else ""
        raise NotFoundError(
            f"There is no model “{one_line(name, limit=100)}”: it is “{JARVIS}”{known}."
        )
    return None


class OpenAIApi:
    """The handlers."""

    def __init__(self, app: Application) -> None:
        self._app = app
        self._started = int(time.time())

    async def models(self, request: Request) -> Response:
        """List the assistant and the LLM in use."""
        llm = await self._app.llms.current()
        names = [JARVIS, *([llm.name] if llm else [])]
        kinds = [
            {"id": name, "object": "model", "created": self._started, "owned_by": "jarvis-desktop"}
            for name in names
        ]
        return JSONResponse({"object": "list", "data": kinds})

    async def chat(self, request: Request) -> Response:
        """Answer the last message of a conversation."""
        body = await json_of(request)
        said = read_messages(body)
        if asked := [name for name in REFUSED if body.get(name)]:
            raise InputError(f"“{asked[0]}” is not supported: JARVIS has tools of its own.")
        if body.get("n") not in (None, 1):
            raise InputError("“n” is 1: there is one answer.")
        llm = await chosen_llm(self._app, body)
        reply = _Reply(body)
        if llm:
            prompt = prompt_of(said, body)
            if not reply.stream:
                return reply.whole(await answer(llm, prompt))
            return reply.streamed(_pieces(llm, prompt))
        if (body.get("response_format") or {"type": "text"}) != {"type": "text"}:
            raise InputError("“response_format” is for the LLM; JARVIS answers in words.")
        if reply.stream:
            return reply.streamed(self._told(said))
        frontend = ApiFrontend()
        async with running_turn(self._app, said, frontend) as (task, _):
            turn = await while_connected(request, task)
            about = await asyncio.to_thread(about_turn, turn, frontend, said)
            return reply.whole(_words(turn, about), about)

    async def _told(self, said: Sequence[Said]) -> AsyncIterator[str | dict[str, Any]]:
        """Yield the pieces of an answer, then what else there is."""
        frontend, written = ApiFrontend(), ""
        async with running_turn(self._app, said, frontend) as (task, _):
            async for event in frontend.all_shown():
                if isinstance(event, ReplyChunk):
                    written += event.text
                    yield event.text
            turn = await task
            about = await asyncio.to_thread(about_turn, turn, frontend, said)
            rest = _words(turn, about).removeprefix(written)
            if rest:
                yield rest
            yield about

    async def transcribe(self, request: Request) -> Response:
        """Return what is said in a recording, by the recogniser of the settings."""
        async with request.form(max_files=1, max_fields=20) as form:
            recording, wanted = form.get("file"), str(form.get("response_format") or "json")
            if not isinstance(recording, UploadFile):
                raise InputError("“file” is missing: the recording.")
            if wanted not in ("json", "text", "verbose_json"):
                raise InputError("“response_format” is json, text or verbose_json.")
            with TemporaryDirectory(prefix="jarvis-api-") as folder:
                path = Path(folder) / file_name(recording.filename or "recording")
                await asyncio.to_thread(path.write_bytes, await recording.read())
                heard = await self._app.recogniser.transcribe(path, lambda fraction, words: None)
        if wanted == "text":
            return PlainTextResponse(heard.text)
        if wanted == "json":
            return JSONResponse({"text": heard.text})
        segments = [
            {"id": number, "start": part.start, "end": part.end, "text": part.text}
            for number, part in enumerate(heard.segments)
        ]
        ends = [part.end for part in heard.segments]
        about = {"task": "transcribe", "language": heard.language, "duration": max(ends, default=0)}
        return JSONResponse({**about, "text": heard.text, "segments": segments})

    async def speak(self, request: Request) -> Response:
        """Return a text as speech, by the voice of the settings."""
        body = await json_of(request)
        text, wanted = body.get("input"), str(body.get("response_format") or "mp3")
        pace = body.get("speed", 1.0)
        if not isinstance(text, str) or not text.strip():
            raise InputError("“input” is missing: the text to speak.")
        if wanted not in ("mp3", "wav", "flac", "opus"):
            raise InputError("“response_format” is mp3, wav, flac or opus.")
        if not isinstance(pace, int | float) or not 0.25 <= pace <= 4:
            raise InputError("“speed” is a number from 0.25 to 4.")
        with TemporaryDirectory(prefix="jarvis-api-") as folder:
            path = await self._app.voice.synthesise(text, Path(folder) / "speech.wav", pace=pace)
            if wanted == "wav":
                sound = await asyncio.to_thread(path.read_bytes)
            else:
                spoken = Artifact(Kind.AUDIO, path=path, name="speech.wav")
                wish: dict[str, Arg] = {"file": spoken, "format": wanted}
                sound = await self._made(request, self._task(0, "convert-file", wish))
        return Response(sound, media_type={"mp3": "audio/mpeg"}.get(wanted, f"audio/{wanted}"))

    async def embed(self, request: Request) -> Response:
        """Return the vectors of texts, if there is an expert for that."""
        body = await json_of(request)
        given = body.get("input")
        texts = [given] if isinstance(given, str) else given
        if not isinstance(texts, list) or not all(isinstance(it, str) and it for it in texts):
            raise InputError("“input” is a text, or a list of texts.")
        if not 0 < len(texts) <= MAX_INPUTS:
            raise InputError(f"“input” has from 1 to {MAX_INPUTS} texts.")
        vectors = []
        for text in texts:
            task = self._task(0, EMBEDDING, {"text": text_artifact(text)})
            vectors.append(_vector((await self._made(request, task)).decode()))
        data = [
            {"object": "embedding", "index": number, "embedding": _encoded(vector, body)}
            for number, vector in enumerate(vectors)
        ]
        name = str(body.get("model") or EMBEDDING)
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return JSONResponse({"object": "list", "data": data, "model": name, "usage": usage})

    async def paint(self, request: Request) -> Response:
        """Return pictures painted from a description, if there is an expert for that."""
        body = await json_of(request)
        wish, count, form = body.get("prompt"), body.get("n", 1), body.get("output_format", "png")
        size = str(body.get("size") or "auto")
        if not isinstance(wish, str) or not wish.strip():
            raise InputError("“prompt” is missing: what to paint.")
        if not isinstance(count, int) or not 1 <= count <= MAX_PICTURES:
            raise InputError(f"“n” is a number from 1 to {MAX_PICTURES}.")
        if form not in ("png", "jpeg", "webp"):
            raise InputError("“output_format” is png, jpeg or webp.")
        if body.get("response_format", "b64_json") != "b64_json":
            raise InputError("“response_format” is b64_json: pictures are not kept for a link.")
        if body.get("stream"):
            raise InputError("“stream” is not supported for pictures.")
        args: dict[str, Arg] = {"prompt": text_artifact(wish)}
        tasks = [self._task(0, "text-to-image", args if size == "auto" else {**args, "size": size})]
        if form != "png":
            tasks.append(self._task(1, "convert-file", {"file": Ref(0), "format": form}))
        pictures = [await self._made(request, *tasks) for _ in range(count)]
        data = [{"b64_json": base64.b64encode(picture).decode()} for picture in pictures]
        return JSONResponse({"created": int(time.time()), "data": data, "output_format": form})

    def _task(self, number: int, kind: str, args: Mapping[str, Arg]) -> Task:
        return Task(number, self._app.inventory[kind], args)

    async def _made(self, request: Request, *tasks: Task) -> bytes:
        """Return the file that a plan makes. Raises UnavailableError with its reason."""
        said, frontend = [Said("user", "")], ApiFrontend()
        async with running_turn(self._app, said, frontend, plan=Plan(tasks)) as (task, _):
            turn = await while_connected(request, task)
            path = next((item.path for item in turn.artifacts if item.path), None)
            if path is None:
                failed = [result for result in turn.results.values() if result.reason]
                raise UnavailableError(failed[0].reason if failed else turn.reply)
            return await asyncio.to_thread(path.read_bytes)


class _Reply:
    """One answer of a chat, as a whole or in pieces."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        options = body.get("stream_options")
        self.stream = body.get("stream") is True
        self._counts = isinstance(options, dict) and options.get("include_usage") is True
        self._about = {
            "id": f"chatcmpl-{secrets.token_hex(12)}",
            "created": int(time.time()),
            "model": str(body.get("model") or JARVIS),
        }

    def whole(self, text: str, about: dict[str, Any] | None = None) -> Response:
        """Return the answer at once."""
        message = {"role": "assistant", "content": text, "refusal": None}
        choice = {"index": 0, "message": message, "finish_reason": "stop", "logprobs": None}
        kind = {"object": "chat.completion", "choices": [choice], "usage": UNCOUNTED}
        return JSONResponse(self._about | kind | ({"jarvis": about} if about else {}))

    def streamed(self, pieces: AsyncIterator[str | dict[str, Any]]) -> Response:
        """Return the answer as server-sent events."""

        async def lines() -> AsyncIterator[str]:
            yield self._chunk({"role": "assistant", "content": ""})
            more: dict[str, Any] = {}
            try:
                async with aclosing(pieces) as source:  # type: ignore[type-var]
                    async for piece in source:
                        if isinstance(piece, str):
                            yield self._chunk({"content": piece})
                        else:
                            more = {"jarvis": piece}
            except JarvisError as error:
                yield f"data: {json.dumps(error_document(str(error), 500))}\n\n"
                return
            yield self._chunk({}, finish="stop", **more)
            if self._counts:
                yield self._chunk({}, choices=[], usage=UNCOUNTED)
            yield "data: [DONE]\n\n"

        return StreamingResponse(lines(), media_type="text/event-stream")

    def _chunk(self, delta: dict[str, Any], *, finish: str | None = None, **more: Any) -> str:
        choice = {"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}
        document = {**self._about, "object": "chat.completion.chunk", "choices": [choice], **more}
        return f"data: {json.dumps(document)}\n\n"


def about_turn(turn: Turn, frontend: ApiFrontend, said: Sequence[Said]) -> dict[str, Any]:
    """Return what an answer has besides its words; clients that do not know it ignore it."""
    files = [file_document(item.path, item.title) for item in turn.artifacts if item.path]
    about = {**described(turn, frontend.refused), "files": files}
    if instructions(said):
        about["notes"] = [*turn.notes, "System messages are for the LLM; JARVIS has its own."]
    return about


def _words(turn: Turn, about: dict[str, Any]) -> str:
    """The answer with its pictures, in Markdown."""
    pictures = [
        f"![{file['name']}]({file['url']})"
        for file in about["files"]
        if file["media_type"].startswith("image/")
    ]
    others = [
        f"[{file['name']}]({file['url']})"
        for file in about["files"]
        if not file["media_type"].startswith("image/")
    ]
    return "\n\n".join(filter(None, [turn.reply, *pictures, *others]))


def prompt_of(said: Sequence[Said], body: dict[str, Any]) -> Prompt:
    """Return the prompt of a chat with the LLM alone. Raises InputError."""
    if any(each.files for each in said):
        raise InputError("Files are for the model “jarvis”, which reads them.")
    roles = {"developer": "system"} | {role.value: role.value for role in MessageRole}
    if unknown := [each.role for each in said if each.role not in roles]:
        raise InputError(f"There is no role “{unknown[0]}”.")
    form, schema = body.get("response_format") or {}, None
    if isinstance(form, dict) and isinstance(form.get("json_schema"), dict):
        schema = form["json_schema"].get("schema")
    longest = body.get("max_completion_tokens") or body.get("max_tokens") or 2048
    warmth = body.get("temperature") or 0.0
    if not isinstance(longest, int) or not isinstance(warmth, int | float):
        raise InputError("“max_tokens” and “temperature” are numbers.")
    messages = tuple(Message(MessageRole(roles[each.role]), each.text) for each in said)
    return Prompt(messages, schema=schema, longest=max(1, longest), temperature=float(warmth))


async def _pieces(llm: LLM, prompt: Prompt) -> AsyncIterator[str | dict[str, Any]]:
    async for piece in llm.stream(prompt):
        yield piece


def _vector(table: str) -> list[float]:
    """The vector of a table with one row: its numbers, without the text beside them."""
    row = list(csv.reader(table.splitlines()))[-1]
    return [float(cell) for cell in row[1:]]


def _encoded(vector: list[float], body: dict[str, Any]) -> object:
    if body.get("encoding_format") != "base64":
        return vector
    import struct

    return base64.b64encode(struct.pack(f"<{len(vector)}f", *vector)).decode()
