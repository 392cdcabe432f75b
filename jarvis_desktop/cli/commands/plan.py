"""`plan` shows what would be done, without doing it."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.assistant.planning import request_parser
from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.session import Subparsers, add_shared
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, Planner, PlanRejected
from jarvis_desktop.core.serialization import plan_to_wire
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.core.turn import Request
from jarvis_desktop.tasks.definition import load_tools
from jarvis_desktop.tasks.registry import INVENTORY

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    plan = subparsers.add_parser(
        "plan", help="show the plan for a request, run nothing", description=__doc__
    )
    plan.add_argument("text", nargs="?", default="", help="the request")
    plan.add_argument(
        "--file", "-f", dest="files", action="append", default=[], type=Path, metavar="F"
    )
    plan.add_argument(
        "--tools", type=Path, metavar="TOOLS.json", help="plan over this inventory of tasks instead"
    )
    plan.add_argument(
        "--batch",
        type=Path,
        metavar="IN.jsonl",
        help='plan each line {"id": ..., "text": ...}; prints {"id": ..., "plan": [...]}',
    )
    plan.add_argument(
        "--planner",
        choices=("auto", "embedded", "llm"),
        help="who plans; default: as the settings say, and embedded for a batch",
    )
    add_shared(plan)
    plan.set_defaults(command=_plan)


def _plan(args: argparse.Namespace) -> int:
    inventory: Sequence[TaskType] = load_tools(args.tools) if args.tools else INVENTORY
    if args.batch:
        return _plan_batch(args, inventory)
    if not args.text.strip():
        output.note("jarvis-desktop plan: say what you would like planned.")
        return output.USAGE
    return _plan_one(args, inventory)


def _plan_one(args: argparse.Namespace, inventory: Sequence[TaskType]) -> int:
    async def work(app: Application) -> int:
        request = Request(text=args.text, files=tuple(args.files), folder=Path.cwd())
        given = await app.intake.given(request)
        named = await app.intake.named(args.text, request, given)
        context = Context((*given, *named), folder=Path.cwd(), trace=_trace(args))
        planner = app.planner.planners[args.planner] if args.planner else app.planner
        tasks = inventory if args.tools else tuple(app.inventory.values())
        planned = await planner.plan(args.text, tasks, context)
        if isinstance(planned, PlanRejected):
            raise InputError(planned.reason)
        if isinstance(planned, NeedsAgent):
            _tell_of_agent(args)
            return output.DONE
        if not isinstance(planned, Plan):
            output.note(f"note    {_without(planned)}")
            planned = Plan(())
        return output.result(args, plan_to_wire(planned), "\n".join(describe(planned)))

    return session.run(args, work)


def _without(planned: AnswerDirectly | NeedsAgent) -> str:
    """Why there is no plan of experts, although the request can be answered."""
    if isinstance(planned, NeedsAgent):
        return "This is a goal for agent mode."
    return "No expert is needed: the LLM answers this itself."


def _tell_of_agent(args: argparse.Namespace) -> None:
    if args.json:
        output.write_json({"agent": True})
    else:
        goal = shlex.quote(one_line(args.text, limit=200))
        output.say(f"This is a goal for agent mode: jarvis-desktop agent {goal}")


def _trace(args: argparse.Namespace) -> Callable[[str], None]:
    """Show why a requested LLM did not plan."""
    if args.planner == "llm":
        return lambda text: output.note(f"note    {text}")
    return lambda text: None


def describe(plan: Plan) -> list[str]:
    """A plan as readable lines."""
    lines = []
    for wire in plan_to_wire(plan):
        given = ", ".join(f"{name}={_short(value)}" for name, value in wire["args"].items())
        lines.append(f"{wire['id']}  {wire['task']}({given})")
    return lines


def _short(value: object) -> str:
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:59] + "…"


def _plan_batch(args: argparse.Namespace, inventory: Sequence[TaskType]) -> int:
    lines = _lines(args.batch)
    if args.planner in (None, "embedded"):
        from jarvis_desktop.app.application import embedded_planner

        return asyncio.run(_batch(args.batch, lines, embedded_planner(), inventory))

    async def work(app: Application) -> int:
        return await _batch(args.batch, lines, app.planner.planners[args.planner], inventory)

    return session.run(args, work)


async def _batch(
    path: Path, lines: Sequence[str], planner: Planner, inventory: Sequence[TaskType]
) -> int:
    planned = 0
    for number, line in enumerate(lines, 1):
        if sys.stderr.isatty() and number % 200 == 0:
            output.note(f"        {number} of {len(lines)}")
        try:
            record = json.loads(line)
            key, text = record["id"], str(record["text"])
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise InputError(
                f'Line {number} of {path} is not of the form {{"id": ..., "text": ...}}.'
            ) from error
        plan = await planner.plan(text, inventory, Context(as_if_given(text)))
        if isinstance(plan, Plan):
            planned += 1
            output.write_line_of_json({"id": key, "plan": plan_to_wire(plan)})
        else:
            reason = plan.reason if isinstance(plan, PlanRejected) else _without(plan)
            output.write_line_of_json({"id": key, "plan": [], "reason": reason})
    return output.DONE if planned == len(lines) else output.PARTLY if planned else output.FAILED


def as_if_given(text: str) -> tuple[Artifact, ...]:
    """Pretend that the named files exist: a batch plans without touching files."""
    return tuple(
        Artifact(kind_of_name(item.name) or Kind.DOCUMENT, path=Path(item.text), name=item.name)
        for item in request_parser.find_files(text)
        if not item.output
    )


def _lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise InputError(f"There is no file {path}.") from error
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read as text.") from error
    return [line for line in text.splitlines() if line.strip()]
