"""`agent` works on a goal in several steps; `goals` shows and changes the goals."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.commands import ask
from jarvis_desktop.cli.input import agreed, edited, somebody_is_there, whole_input
from jarvis_desktop.cli.session import (
    Subparsers,
    add_action,
    add_actions,
    app_command,
    count,
)
from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.goal import (
    CodeTerms,
    Goal,
    LogEntry,
    Outline,
    Terms,
    changes,
    outline_from_markdown,
)
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.turn import Request
from jarvis_desktop.process.safe_delete import remove as remove_folder

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.settings import Settings


def add_agent(subparsers: Subparsers) -> None:
    """Add the command."""
    agent = subparsers.add_parser(
        "agent",
        help="work on a goal that takes several steps",
        description="Work on a goal in several steps: a plan is written and shown, then carried "
        "out round by round, with experts and with code that runs in a sandbox. It needs an LLM. "
        "Ctrl-C stops a step and asks what should be different; once more it ends the request.",
        allow_abbrev=False,  # --yes does not include --yes-plan
    )
    agent.add_argument("goal", metavar="GOAL", help="the goal; - reads it from stdin")
    agent.add_argument(
        "--yes-plan", action="store_true", help="accept the first plan without being asked"
    )
    agent.add_argument(
        "--allow-code",
        choices=[terms.value for terms in CodeTerms],
        help="ask before each run of code, or not where the sandbox holds it and it reaches no "
        "host that is not named here (default: the setting, at first “ask”)",
    )
    agent.add_argument(
        "--allow-host",
        dest="hosts",
        action="append",
        default=[],
        type=host,
        metavar="HOST[:PORT]",
        help="a host that code may reach, without a port that of the Web; may be given more than "
        "once",
    )
    ask.add_conversation_arguments(agent)
    ask.add_turn_arguments(agent)
    agent.set_defaults(command=_agent)


def host(text: str) -> str:
    """The type of an argument HOST or HOST:PORT, in lower case."""
    from jarvis_desktop.sandbox.proxy import parse_hosts

    shown = one_line(text)
    if "/" in text or "@" in text:
        raise argparse.ArgumentTypeError(
            f"“{shown}” is an address; write its host alone, such as example.org or "
            "example.org:8080"
        )
    if "*" in text:
        raise argparse.ArgumentTypeError(f"“{shown}” names no one host; name each one of them")
    if not parse_hosts([text]):
        raise argparse.ArgumentTypeError(
            f"“{shown}” is not a host; write HOST or HOST:PORT, such as example.org or "
            "127.0.0.1:8080"
        )
    return text.strip().lower()


def _agent(args: argparse.Namespace) -> int:
    text = whole_input() if args.goal == "-" else encodable(args.goal)
    if not text.strip():
        output.note("jarvis-desktop agent: say what is to be reached.")
        return output.USAGE
    terms = Terms(
        plan_accepted=args.yes_plan,
        code=CodeTerms(args.allow_code) if args.allow_code else None,
        hosts=tuple(dict.fromkeys(args.hosts)),
    )
    files = tuple(file for path in args.files for file in _files_in(path))
    request = Request(text=text, files=files, speak=args.speak, folder=Path.cwd(), terms=terms)
    loaded = session.load(args)
    for words in _notes(terms, loaded[0]):
        output.note(f"note    {words}")
    return ask.handle(args, request, loaded=loaded)


def _files_in(path: Path) -> Sequence[Path]:
    """The files of a folder, without hidden ones, or the file itself."""
    if not path.is_dir():
        return (path,)
    found = sorted(each for each in path.rglob("*") if each.is_file())
    kept = [
        each for each in found if not any(p.startswith(".") for p in each.relative_to(path).parts)
    ]
    return kept[:MAX_FILES]


def _notes(terms: Terms, settings: Settings) -> Iterator[str]:
    """What will keep code from working, shown before the goal starts."""
    if terms.hosts and settings.mode is Mode.OFFLINE:
        yield "In the mode offline code reaches no host, whatever --allow-host says."
    code = terms.code or settings.agent.code
    if terms.plan_accepted and code is CodeTerms.ASK and not somebody_is_there():
        yield (
            "Nobody is there to allow code, so none will run; --allow-code sandboxed allows what "
            "runs in the sandbox."
        )


MAX_FILES = 200
"""Files of a folder that are given to a goal."""
ALL = 100_000
"""More goals than there are."""
OBSERVED = 2000
"""Characters shown of the observation of a round."""


def add_goals(subparsers: Subparsers) -> None:
    """Add the commands."""
    actions = add_actions(subparsers, "goals", "list, show, change and remove goals of agent mode")
    listing = add_action(actions, "list", "the goals, newest first", _list)
    listing.add_argument("--limit", type=count, default=20, metavar="N")
    show = add_action(actions, "show", "one goal: its plan and its log", _show)
    about = "the plan of a goal, which may be changed while it waits"
    plan = add_action(actions, "plan", about, _plan)
    change = plan.add_mutually_exclusive_group()
    change.add_argument("--edit", action="store_true", help="edit it")
    change.add_argument("--set", metavar="FILE", help="take it from a file; - reads stdin")
    remove = add_action(actions, "remove", "forget a goal with its plan and log", _remove)
    remove.add_argument("--yes", action="store_true", help="do not ask")
    for action in (show, plan, remove):
        action.add_argument("id", metavar="ID", help="its id, or the beginning of it")


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    found = app.goals.list(args.limit)
    if args.json:
        output.write_json([_goal_values(item) for item in found])
        return output.DONE
    for item in found:
        when = output.format_time(item.started)
        output.say(f"{item.id[:8]}  {when}  {_state(item):9}  {_title(item)}")
    if not found:
        output.say("There is no goal yet.")
    return output.DONE


@app_command
async def _show(args: argparse.Namespace, app: Application) -> int:
    goal = _find_goal(app, args.id)
    outline, log = _outline(app, goal), app.goals.log(goal.id)
    if args.json:
        output.write_json({**_goal_values(goal), "plan": outline, "log": log})
        return output.DONE
    output.say(f"{output.format_time(goal.started)}  {_state(goal)}\n{goal.text}")
    output.say("\nplan\n" + (outline.markdown if outline else "There is none yet."))
    output.say("\nlog")
    for entry in log:
        output.say("\n".join(_lines(entry)))
    if goal.answer:
        output.say(f"\nanswer\n{goal.answer}")
    return output.DONE


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
    given = _read_text(args.set) if args.set else None

    async def work(app: Application) -> int:
        goal = _find_goal(app, args.id)
        outline = _outline(app, goal)
        if given is None and not args.edit:
            return output.result(
                args, outline, outline.markdown if outline else "There is no plan yet."
            )
        _check_it_waits(app, goal)
        text = given
        if text is None:
            text = await edited(f"{outline.markdown}\n" if outline else "", "plan.md")
        told = _keep(app, goal, outline, outline_from_markdown(text, outline))
        return output.result(
            args, {"goal": goal.id, "changes": told}, "\n".join(told) or "The plan is as it was."
        )

    return session.run(args, work)


def _keep(app: Application, goal: Goal, before: Outline | None, after: Outline) -> Sequence[str]:
    """Save the user's plan, with a note to the controller. Return the differences.

    Raises InputError if the goal was resumed elsewhere.
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


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    goal = _find_goal(app, args.id)
    if goal.status is None and any(item.turn.id == goal.id for item in app.assistant.unfinished()):
        raise InputError(
            "This goal was cut off and can be gone on with.",
            hint=f"Give it up first, with: jarvis-desktop resume {goal.id[:8]} --drop",
        )
    _check_it_rests(app, goal)
    if not args.yes and not await agreed(f"Forget {_title(goal)}, its plan and its log? [y/N]"):
        output.note("Nothing was removed (--yes agrees in advance).")
        return output.FAILED
    app.goals.remove(goal.id)
    # Scripts may leave files that cannot be deleted, and nobody would ask for them.
    await asyncio.to_thread(remove_folder, app.paths.goals / goal.id)
    return output.result(args, {"removed": goal.id}, f"{_title(goal)} is forgotten.")


def _find_goal(app: Application, prefix: str) -> Goal:
    """The goal of that id. Raises InputError if there is none, or several match."""
    found = [item for item in app.goals.list(ALL) if item.id.startswith(prefix)] if prefix else []
    if len(found) == 1:
        return found[0]
    if not found:
        raise InputError(f"No goal has the id '{one_line(prefix)}'.")
    ids = ", ".join(item.id[:8] for item in found[:5])
    raise InputError(f"Several goals begin so: {ids}.", hint="Say more of the id.")


def _check_it_waits(app: Application, goal: Goal) -> None:
    """Raises InputError if a changed plan would have no effect now."""
    if goal.status is not None:
        raise InputError(
            f"This goal is over ({_state(goal)}), so its plan stays as it is.",
            hint="Ask for what is missing as a new goal.",
        )
    _check_it_rests(app, goal)


def _check_it_rests(app: Application, goal: Goal) -> None:
    if goal.id in app.assistant.elsewhere():
        raise InputError(
            "This goal is being worked on elsewhere.",
            hint="Wait for it there, or stop it there.",
        )


def _read_text(name: str) -> str:
    if name == "-":
        return whole_input()
    try:
        return Path(name).read_bytes().decode()
    except (OSError, ValueError) as error:
        raise InputError(f"The file {one_line(name)} cannot be read as text.") from error


def _outline(app: Application, goal: Goal) -> Outline | None:
    frames = app.goals.frames(goal.id)
    return frames[0].outline if frames else None


def _state(goal: Goal) -> str:
    return goal.status.value if goal.status else "open"


def _title(goal: Goal) -> str:
    return f"“{one_line(goal.text, limit=70)}”"


def _goal_values(goal: Goal) -> dict[str, object]:
    return {
        "goal": goal.id,
        "conversation": goal.conversation,
        "started": goal.started,
        "text": goal.text,
        "status": goal.status,
        "answer": goal.answer,
    }
