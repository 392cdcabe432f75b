"""HuggingGPT's own protocol, for clients written for its server.

`/tasks` plans, `/results` plans and runs, `/hugginggpt` answers as well. Requests and answers have
the shape of `awesome_chat.py` in microsoft/JARVIS.
"""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.turn import Turn
from jarvis_desktop.server.openai_api import answered, json_of, while_connected
from jarvis_desktop.server.turns import (
    ApiFrontend,
    file_document,
    plan_document,
    plan_of,
    read_messages,
    running_turn,
)

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


def routes(app: Application) -> list[Route]:
    """Return the routes over a built application."""

    async def tasks(request: Request) -> Response:
        said = read_messages(await json_of(request))
        if any(each.files for each in said):
            raise InputError("/tasks takes words only; /results and /hugginggpt take files.")
        planned = await plan_of(app, said[-1].text)
        return JSONResponse(plan_document(planned) if isinstance(planned, Plan) else [])

    async def turn_of(request: Request) -> tuple[Turn, dict[str, Any]]:
        said = read_messages(await json_of(request))
        async with running_turn(app, said, ApiFrontend()) as (task, _):
            turn = await while_connected(request, task)
            return turn, await asyncio.to_thread(_results, turn)

    async def results(request: Request) -> Response:
        return JSONResponse((await turn_of(request))[1])

    async def answer(request: Request) -> Response:
        return JSONResponse({"message": (await turn_of(request))[0].reply})

    return [
        Route("/tasks", answered(tasks), methods=["POST"]),
        Route("/results", answered(results), methods=["POST"]),
        Route("/hugginggpt", answered(answer), methods=["POST"]),
    ]


def _results(turn: Turn) -> dict[str, Any]:
    """Per task: what it was, its result, and which expert was chosen for what reason."""
    found: dict[str, Any] = {}
    wires = plan_document(turn.plan) if turn.plan else []
    reasons = {item.task_id: item.reason for item in turn.selections}
    for wire in wires:
        result = turn.results.get(wire["id"])
        done = [_shown(item) for item in result.artifacts] if result else []
        inference: dict[str, Any] = {key: value for each in done for key, value in each.items()}
        if result and not done:
            inference = {"error": result.reason}
        used = result.attempts[-1].candidate if result and result.attempts else None
        found[str(wire["id"])] = {
            "task": wire,
            "inference result": inference,
            "choose model result": {
                "id": used.expert.id if used else "",
                "reason": reasons.get(wire["id"], ""),
            },
        }
    return found


def _shown(item: Artifact) -> dict[str, str]:
    if item.path is None:
        return {"response": item.text or ""}
    return {f"generated {item.kind}": file_document(item.path, item.title)["url"]}
