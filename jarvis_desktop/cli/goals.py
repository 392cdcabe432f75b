"""`goals`: what agent mode worked on, with the plan and the log of each, to read and to change."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import Subparsers, add_shared, count
from jarvis_desktop.cli.editing import edited
from jarvis_desktop.cli.keyboard import agreed, whole_input
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.goal import Goal, LogEntry
from jarvis_desktop.core.outline import Outline, changes, outline_from_markdown
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.removing import remove as remove_folder

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App

ALL = 100_000
"""More goals than there are."""
OBSERVED = 2000
"""Characters that are shown of what came of a round."""


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    goals = subparsers.add_parser("goals", help="list, show, change and remove goals of agent mode")
    actions = goals.add_subparsers(title="actions", metavar="ACTION", required=True)
    listing = actions.add_parser("list", help="the goals, newest first")
    listing.add_argument("--limit", type=count, default=20, metavar="N")
    listing.set_defaults(command=_list)
    show = actions.add_parser("show", help="one goal: its plan and its log")
    show.set_defaults(command=_show)
    plan = actions.add_parser(
        "plan", help="the plan of a goal, which may be changed while it waits"
    )
    change = plan.add_mutually_exclusive_group()
    change.add_argument("--edit", action="store_true", help="change it in your editor")
    change.add_argument("--set", metavar="FILE", help="take it from a file; - reads stdin")
    plan.set_defaults(command=_plan)
    remove = actions.add_parser("remove", help="forget a goal with its plan and log")
    remove.add_argument("--yes", action="store_true", help="do not ask")
    remove.set_defaults(command=_remove)
    for action in (show, plan, remove):
        action.add_argument("id", metavar="ID", help="its id, or the beginning of it")
    for action in (listing, show, plan, remove):
        add_shared(action)


def _list(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        found = app.goals.list(args.limit)
        if args.json:
            output.write_json([_listed(item) for item in found])
            return output.DONE
        for item in found:
            when = output.when(item.started)
            output.say(f"{item.id[:8]}  {when}  {_state(item):9}  {_title(item)}")
        if not found:
            output.say("There is no goal yet.")
        return output.DONE

    return session.run(args, work)


def _show(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        goal = _found(app, args.id)
        outline, log = _outline(app, goal), app.goals.log(goal.id)
        if args.json:
            output.write_json({**_listed(goal), "plan": outline, "log": log})
            return output.DONE
        output.say(f"{output.when(goal.started)}  {_state(goal)}\n{goal.text}")
        output.say("\nplan\n" + (outline.markdown if outline else "There is none yet."))
        output.say("\nlog")
        for entry in log:
            output.say("\n".join(_lines(entry)))
        if goal.answer:
            output.say(f"\nanswer\n{goal.answer}")
        return output.DONE

    return session.run(args, work)


def _lines(entry: LogEntry) -> Iterable[str]:
    yield (
        f"{entry.number:>4}  {entry.at.astimezone():%H:%M:%S}  {entry.path}: {entry.branch}  "
        f"{one_line(entry.what, limit=200)}  ({entry.status.value})"
    )
    said = entry.observation.strip()
    cut = f"{said[:OBSERVED]}…" if len(said) > OBSERVED else said
    yield from (f"      {line}" for line in cut.split("\n") if line.strip())
    yield from (f"      {item.title}: {item.path}" for item in entry.artifacts if item.path)


def _plan(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    given = _given(args.set) if args.set else None

    async def work(app: App) -> int:
        goal = _found(app, args.id)
        outline = _outline(app, goal)
        if given is None and not args.edit:
            if args.json:
                output.write_json(outline)
            else:
                output.say(outline.markdown if outline else "There is no plan yet.")
            return output.DONE
        _check_it_waits(app, goal)
        text = given
        if text is None:
            text = await edited(f"{outline.markdown}\n" if outline else "", "plan.md")
        told = _keep(app, goal, outline, outline_from_markdown(text, outline))
        if args.json:
            output.write_json({"goal": goal.id, "changes": told})
        else:
            output.say("\n".join(told) or "The plan is as it was.")
        return output.DONE

    return session.run(args, work)


def _keep(app: App, goal: Goal, before: Outline | None, after: Outline) -> Sequence[str]:
    """Write the person's plan down, and a word of it for the controller; gives what is different.

    Raises InputError where it goes on elsewhere meanwhile.
    """
    told = ("It is wholly new.",) if before is None else changes(before, after)
    if not told:
        return told
    _check_it_waits(app, goal)
    frames = app.goals.frames(goal.id)
    if not frames or frames[0].outline != before:
        raise InputError("The plan was changed meanwhile.", hint="Look at it and change it again.")
    notice = " ".join(("The person changed the plan:", *told))
    first = replace(frames[0], outline=after, notices=(*frames[0].notices, notice))
    app.goals.keep(goal.id, (first, *frames[1:]))
    return told


def _remove(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        goal = _found(app, args.id)
        if goal.status is None and any(
            item.turn.id == goal.id for item in app.assistant.unfinished()
        ):
            raise InputError(
                "This goal was cut off and can be gone on with.",
                hint=f"Give it up first, with: jarvis-desktop resume {goal.id[:8]} --drop",
            )
        _check_it_rests(app, goal)
        if not args.yes and not await agreed(f"Forget {_title(goal)}, its plan and its log? [y/N]"):
            output.note("Nothing was removed (--yes agrees in advance).")
            return output.FAILED
        app.goals.remove(goal.id)
        # A script may have left what cannot be deleted; nobody would ask for it any more.
        await asyncio.to_thread(remove_folder, app.paths.goals / goal.id)
        if args.json:
            output.write_json({"removed": goal.id})
        else:
            output.say(f"{_title(goal)} is forgotten.")
        return output.DONE

    return session.run(args, work)


def _found(app: App, prefix: str) -> Goal:
    """The goal of that id. Raises InputError where there is none, or several begin so."""
    found = [item for item in app.goals.list(ALL) if item.id.startswith(prefix)] if prefix else []
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"No goal has the id '{one_line(prefix)}'.")
    ids = ", ".join(item.id[:8] for item in found[:5])
    raise InputError(f"Several goals begin so: {ids}.", hint="Say more of the id.")


def _check_it_waits(app: App, goal: Goal) -> None:
    """Raises InputError where nobody would go by a plan that is changed now."""
    if goal.status is not None:
        raise InputError(
            f"This goal is over ({_state(goal)}), so its plan stays as it is.",
            hint="Ask for what is missing as a new goal.",
        )
    _check_it_rests(app, goal)


def _check_it_rests(app: App, goal: Goal) -> None:
    if goal.id in app.assistant.elsewhere():
        raise InputError(
            "This goal is being worked on elsewhere.",
            hint="Wait for it there, or stop it there.",
        )


def _given(name: str) -> str:
    if name == "-":
        return whole_input()
    try:
        return Path(name).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise InputError(f"The file {one_line(name)} cannot be read as text.") from error


def _outline(app: App, goal: Goal) -> Outline | None:
    frames = app.goals.frames(goal.id)
    return frames[0].outline if frames else None


def _state(goal: Goal) -> str:
    return goal.status.value if goal.status else "open"


def _title(goal: Goal) -> str:
    return f"“{one_line(goal.text, limit=70)}”"


def _listed(goal: Goal) -> dict[str, object]:
    return {
        "goal": goal.id,
        "conversation": goal.conversation,
        "started": goal.started,
        "text": goal.text,
        "status": goal.status,
        "answer": goal.answer,
    }
