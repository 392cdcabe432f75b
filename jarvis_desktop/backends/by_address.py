"""The backend of servers that the user set, each of which does one kind of work: with OpenAI's
protocol, or for a single task with that of the Inference API.

The skill of a task runs as it does for this computer, with a server behind its port. Pictures,
which no skill paints, are painted here.
"""

from __future__ import annotations

import asyncio
import base64
import io
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from jarvis_desktop.backends.result_checks import checked
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import Fault, InputError, UnavailableError
from jarvis_desktop.core.expert import BY_ADDRESS, Candidate
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.task import Call, Report
from jarvis_desktop.platform.http import RequestRejectedError, unusable
from jarvis_desktop.platform.work_server import WorkServer
from jarvis_desktop.tasks.definition import Definition, Services, Skill
from jarvis_desktop.tasks.images.generation import file_stem, picture_size, prompts

if TYPE_CHECKING:
    from jarvis_desktop.backends.inference_api.endpoints import EndpointServer

PATH, EDITS = "/images/generations", "/images/edits"
MAX_SIDE = 1536
"""Pixels of the longer side of a picture that is sent."""
MAX_ANSWER_BYTES = 64_000_000
PAINTING_S = 600.0
"""Seconds for a picture, which may wait for others."""
SIDE, MULTIPLE = 1024, 64
"""Pixels of the squares that most generators paint, and what sides are multiples of."""
_STARTS = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"RIFF": ".webp"}
"""How the files of pictures begin."""


@dataclass(frozen=True, slots=True)
class ServedTask:
    """How a server does a task."""

    server: WorkServer
    skill: Skill
    services: Services
    """Those of the application, with the server in the place of a local one."""


RunAt = Callable[["EndpointServer", Call, Report], Awaitable[Sequence[Artifact]]]


class AddressBackend:
    """The "server" backend."""

    name = BY_ADDRESS
    lane = "network"

    def __init__(
        self,
        definitions: Mapping[str, Definition],
        tasks: Mapping[str, ServedTask],
        endpoint: Callable[[str], EndpointServer | None] = lambda task: None,
        run_at: RunAt | None = None,
    ) -> None:
        """`endpoint` returns what does a single task at an address of its own, which `run_at`
        asks."""
        self._definitions = definitions
        self._tasks = tasks
        self._endpoint = endpoint
        self._run_at = run_at

    def candidates(self, task: str) -> tuple[Candidate, ...]:
        """Return the server for a task, if one is set and allowed now."""
        served = self._tasks.get(task)
        both = (served.server if served else None, self._endpoint(task))
        return tuple(
            each.candidate(task)
            for each in both
            if each and each.chosen.address and not each.objection()
        )

    def question(self, call: Call) -> str:
        """The address and the mode are the consent, so there is nothing to ask."""
        return ""

    async def run(self, candidate: Candidate, call: Call, report: Report) -> Sequence[Artifact]:
        """Return the server's results. Raises JarvisError; cancelling closes the connection."""
        served, definition = self._tasks.get(call.task), self._definitions.get(call.task)
        endpoint = self._endpoint(call.task)
        if self._run_at and endpoint and endpoint.candidate(call.task) == candidate:
            return await self._run_at(endpoint, call, report)
        if served is None or definition is None:
            raise UnavailableError(
                tr("No server can be asked for {task}.", task=call.task), fault=Fault.GONE
            )
        return checked(await served.skill(call, report, served.services), definition.type)


async def paint(
    server: WorkServer, call: Call, report: Report, services: Services
) -> Iterable[Artifact]:
    """Paint a picture of a description. Raises JarvisError."""
    text, avoid = prompts(call)
    if not text:
        raise InputError(tr("There is no description of what is to be made."))
    wish: dict[str, Any] = {
        "model": server.model,
        "prompt": f"{text}, without {avoid}" if avoid else text,
        "n": 1,
    }
    if call.options.get("size"):
        width, height = picture_size(call, side=SIDE, multiple=MULTIPLE).drawn
        wish["size"] = f"{width}x{height}"
    return [await _picture(server, call, report, PATH, file_stem(text, "picture"), wish)]


async def edit(
    server: WorkServer, call: Call, report: Report, services: Services
) -> Iterable[Artifact]:
    """Change a picture as a description says; the named edits are done here. Raises JarvisError."""
    text, avoid = prompts(call)
    if not text or call.words("edit"):
        raise InputError(tr("There is no description of what is to be changed."))
    wish = {
        "model": server.model,
        "prompt": f"{text}, without {avoid}" if avoid else text,
        "n": "1",
    }
    name = f"{Path(call.title('image')).stem}-edited"
    picture = await asyncio.to_thread(_to_send, call)
    files = {"image": ("picture.png", picture, "image/png")}
    return [await _picture(server, call, report, EDITS, name, wish, files)]


async def _picture(
    server: WorkServer,
    call: Call,
    report: Report,
    path: str,
    stem: str,
    wish: Mapping[str, Any],
    files: Mapping[str, Any] | None = None,
) -> Artifact:
    """Ask for a picture, with other pictures or without."""
    report(None, tr("Waiting for {provider}", provider=server.server.host))

    async def asked(**more: str) -> bytes:
        fields = {**wish, **more}
        content = {"data": fields, "files": files} if files else {"json": fields}
        return await server.ask(path, most=MAX_ANSWER_BYTES, seconds=PAINTING_S, **content)

    try:
        answer = await asked(response_format="b64_json")
    except RequestRejectedError as error:
        if "response_format" not in error.body:
            raise
        answer = await asked()  # OpenAI's newer ones know no other form
    try:
        picture = base64.b64decode(json.loads(answer)["data"][0]["b64_json"], validate=True)
    except (ValueError, TypeError, LookupError) as error:
        raise unusable(server.server) from error
    suffix = next((end for start, end in _STARTS.items() if picture.startswith(start)), "")
    if not suffix:
        raise unusable(server.server)
    place = call.workdir / f"{stem}{suffix}"
    await asyncio.to_thread(place.write_bytes, picture)
    return Artifact(Kind.IMAGE, path=place, name=place.name)


def _to_send(call: Call) -> bytes:
    """The picture that is to be changed, as a PNG."""
    from jarvis_desktop.tasks.images.io import read_image

    picture, file = read_image(call.file("image"), name=call.title("image")), io.BytesIO()
    picture.thumbnail((MAX_SIDE, MAX_SIDE))
    picture.save(file, "PNG")
    return file.getvalue()
