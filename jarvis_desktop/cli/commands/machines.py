"""`machines` pairs this computer with others of the user, whose experts it then uses."""

from __future__ import annotations

import argparse
import asyncio
from functools import partial
from typing import TYPE_CHECKING, Any

from jarvis_desktop import settings
from jarvis_desktop.cli import output
from jarvis_desktop.cli.input import Keyboard
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.paths import user_paths

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.backends.machines.backend import MachineState
    from jarvis_desktop.server.paired import PairedComputers


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    about = "use the experts of your other computers"
    action = partial(add_action, add_actions(subparsers, "machines", about))
    action("find", "search the local network for computers that can be paired", _find)
    pair = action("pair", "use a computer on which “jarvis-desktop serve --experts” runs", _pair)
    pair.add_argument("address", metavar="ADDRESS", help="such as 192.168.1.20 or desk.local:8766")
    pair.add_argument("--name", default="", help="what it is called here (default: its own name)")
    action("list", "the machines that are used here, and the computers that use this one", _list)
    local = action("local", "say whether the mode “local” may use them", _local)
    local.add_argument("state", choices=("on", "off"))
    action("remove", "forget a machine, or a computer that uses this one", _remove, "NAME")


@app_command
async def _find(args: argparse.Namespace, app: Application) -> int:
    if not args.json:
        output.note("Searching the network…")
    found = await app.machines.search()
    if args.json:
        fields = [(each.name, each.address, each.paired) for each in found]
        names = ("name", "address", "paired")
        output.write_json({"machines": [dict(zip(names, each, strict=True)) for each in fields]})
        return output.DONE
    for each in found:
        paired = f"  (paired as {each.paired})" if each.paired else ""
        output.say(f"{each.name}  {each.address}{paired}")
    if not found:
        output.say("No computer answered.")
        output.note(
            "Start there, in the same network: jarvis-desktop serve --experts. Or pair by the "
            "address that it shows."
        )
    elif not all(each.paired for each in found):
        output.note("To use one: jarvis-desktop machines pair ADDRESS")
    return output.DONE


@app_command
async def _pair(args: argparse.Namespace, app: Application) -> int:
    code = await Keyboard().ask(f"The code that {args.address} shows:")
    machine = await app.machines.pair(args.address, code, name=args.name)
    names = sorted({each.id for each in machine.experts})
    if not app.policy.allows_own_machines:
        output.note(
            "note    The mode “local” does not use it yet. To allow that: jarvis-desktop machines "
            "local on"
        )
    return output.result(
        args,
        {"name": machine.name, "address": machine.base, "experts": names},
        f"{machine.name} is paired; its experts: {', '.join(names) or 'none yet'}.",
    )


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    from jarvis_desktop.server.paired import PairedComputers

    computers: PairedComputers = PairedComputers(app.paths.paired)
    states = await asyncio.gather(*map(app.machines.look, app.machines.machines.all()))
    if args.json:
        users = [{"name": name, "since": day} for name, day in computers.all().items()]
        output.write_json({"machines": [_record(each) for each in states], "used_by": users})
        return output.DONE
    for state in states:
        machine = state.machine
        now = f"{state.seconds * 1000:.0f} ms, {state.busy} at work"
        output.say(f"{machine.name}  {machine.base}  {state.trouble or now}")
        for name in sorted({each.id for each in machine.experts}):
            tasks = ", ".join(each.task for each in machine.experts if each.id == name)
            output.say(f"  {name:28} {tasks}")
    for name, day in computers.all().items():
        output.say(f"{name} uses the experts of this computer, since {day}.")
    if not states and not computers.all():
        output.say("No other computer is paired with this one.")
        output.note("To pair one, start there: jarvis-desktop serve --experts")
    return output.DONE


@app_command
async def _remove(args: argparse.Namespace, app: Application) -> int:
    from jarvis_desktop.server.paired import PairedComputers

    try:
        removed = (await app.machines.remove(args.name)).name
    except InputError:
        removed = await asyncio.to_thread(PairedComputers(app.paths.paired).remove, args.name)
    return output.result(args, {"removed": removed}, f"{removed} is removed.")


def _local(args: argparse.Namespace) -> int:
    on = args.state == "on"
    settings.change(user_paths().settings, "machines", {"in_local_mode": on})
    words = "may be used" if on else "are not used"
    return output.result(
        args, {"in_local_mode": on}, f"In the mode “local” your other machines {words}."
    )


def _record(state: MachineState) -> dict[str, Any]:
    machine = state.machine
    return {
        "name": machine.name,
        "address": machine.base,
        "seconds": round(state.seconds, 4),
        "busy": state.busy,
        "trouble": state.trouble,
        "experts": [{"id": each.id, "task": each.task} for each in machine.experts],
    }
