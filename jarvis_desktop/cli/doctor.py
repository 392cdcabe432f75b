"""`doctor`: what works on this computer, what does not, and what to do about it."""

from __future__ import annotations

import argparse
import asyncio
import platform
import sqlite3
from typing import TYPE_CHECKING

from jarvis_desktop import __version__
from jarvis_desktop.cli import doctor_voice, output
from jarvis_desktop.cli.arguments import Subparsers, add_shared
from jarvis_desktop.cli.finding import Finding
from jarvis_desktop.computer import free_disk_bytes
from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.hardware import MB, Hardware
from jarvis_desktop.core.placing import limits
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.shown import readable_size

if TYPE_CHECKING:
    from jarvis_desktop.compose import App

OLDEST_SAFE_SQLITE = (3, 51, 3)
"""Older ones can lose a page when a write-ahead log is begun anew at the wrong moment."""

SMALL = 2_000 * MB
"""Bytes; in less memory few experts run."""

TIGHT = 5_000 * MB
"""Bytes; less of the disk soon hinders."""


def add(subparsers: Subparsers) -> None:
    """Add the command."""
    doctor = subparsers.add_parser("doctor", help="check this computer, with fixes")
    doctor.add_argument(
        "--voice",
        action="store_true",
        help="also listen for three seconds, and try the voice and the recogniser",
    )
    add_shared(doctor)
    doctor.set_defaults(command=_doctor)


def _doctor(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        findings = await examine(app)
        if args.voice:
            if not args.json:
                output.note("Speak now; it listens for three seconds.")
            findings += await doctor_voice.try_out(app)
        if args.json:
            output.write_json(findings)
        else:
            for item in findings:
                output.say(f"{item.state:8} {item.what}: {item.detail}")
                if item.fix:
                    output.say(f"         → {item.fix}")
        return output.DONE if all(item.state != "missing" for item in findings) else output.PARTLY

    return session.run(args, work)


async def examine(app: App) -> list[Finding]:
    """All findings, in the order a person would ask."""
    from jarvis_desktop.desktop import has_no_display

    voice, llm, hardware, protection = await asyncio.gather(
        doctor_voice.examine(app),
        _llm(app),
        app.local.probe.hardware(),
        app.sandbox.protection(),
    )
    screen = Finding("screen", "ok", "a window can be opened")
    if has_no_display():
        screen = Finding("screen", "limited", "none; the terminal is used instead")
    return [
        Finding("JARVIS Desktop", "ok", f"{__version__} on Python {platform.python_version()}"),
        Finding("mode", "ok", f"{app.mode} (settings: {app.paths.settings})"),
        Finding("data", "ok", f"{app.paths.data}; log: {app.paths.logs}"),
        _sqlite(),
        graphics(hardware),
        memory(hardware, app.local.budget),
        await asyncio.to_thread(_disk, app),
        screen,
        *voice,
        _planner(app),
        llm,
        sandbox(protection),
        agent_mode(protection, has_llm=llm.state == "ok"),
        await _api(app),
    ]


def graphics(hardware: Hardware) -> Finding:
    """Whether experts can use a graphics card, or why not."""
    what, card = "graphics card", hardware.graphics
    if card is None:
        detail = hardware.trouble or "None was found."
        return Finding(what, "limited", f"{detail} Experts run on the processor.", hardware.fix)
    free = f", {_size(hardware.graphics_free)} free" if hardware.graphics_free else ""
    numbers = "bfloat16" if card.bfloat16 else "float16"
    way = "CUDA" if card.device == "cuda" else "Metal"
    detail = f"{card.name} with {_size(card.memory)}{free}; it computes, by {way} in {numbers}"
    return Finding(what, "ok", detail)


def memory(hardware: Hardware, budget: int) -> Finding:
    """The main memory, and how much of it experts get."""
    what = "memory"
    if not hardware.memory:
        return Finding(what, "limited", "the system does not say how much there is")
    free = f", {_size(hardware.available)} free" if hardware.available else ""
    swap = f", {_size(hardware.swap)} of swap" if hardware.swap else ""
    most = limits(hardware, budget)
    card = f" and {_size(most.graphics)} of the graphics card" if most.graphics else ""
    why = "by your settings" if budget else "together"
    detail = (
        f"{_size(hardware.memory)}{free}{swap}, {hardware.cores} processor cores; "
        f"experts get up to {_size(most.main)}{card} {why}"
    )
    if most.main < SMALL:
        return Finding(what, "limited", detail, "Only small experts fit; hybrid mode uses others.")
    return Finding(what, "ok", detail)


def sandbox(protection: Protection) -> Finding:
    """What keeps the code of agent mode from the rest of the computer."""
    if not protection.sandboxed:
        detail = "none holds here: code runs only when you allow it, each time, unprotected"
        return Finding("sandbox", "limited", detail, protection.why)
    detail = f"{protection.name}, which was tried just now"
    return Finding("sandbox", "limited" if protection.why else "ok", detail, protection.why)


def agent_mode(protection: Protection, *, has_llm: bool) -> Finding:
    """Whether goals that take several steps can be worked on."""
    what = "agent mode"
    if not has_llm:
        return Finding(what, "limited", "off: it needs a language model, see above")
    if not protection.sandboxed:
        return Finding(what, "limited", "on, with code that no sandbox holds, see above")
    return Finding(what, "ok", "on, with code in the sandbox")


def _disk(app: App) -> Finding:
    free = free_disk_bytes(app.paths.weights)
    detail = f"{_size(free)} free where experts are kept ({app.paths.weights})"
    if free < TIGHT:
        fix = "Remove experts that are not used: jarvis-desktop experts remove NAME"
        return Finding("disk", "limited", detail, fix)
    return Finding("disk", "ok", detail)


def _size(size: int) -> str:
    return readable_size(size / MB)


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= OLDEST_SAFE_SQLITE:
        return Finding("SQLite", "ok", version)
    detail = f"{version}; the history is written by one connection only, which keeps it safe"
    return Finding("SQLite", "limited", detail)


def _planner(app: App) -> Finding:
    try:
        app.scorer.warm(())
    except JarvisError as error:
        detail = f"{error.message} Requests are planned by their wording alone."
        return Finding("planner", "limited", detail, error.hint)
    return Finding("planner", "ok", "the built-in one, with its weights")


async def _api(app: App) -> Finding:
    """Whether experts can be asked over the network, or why not."""
    what, count = "experts by API", sum(item.only_served for item in app.catalogue.known())
    if app.mode not in (Mode.HYBRID, Mode.LITE):
        return Finding(what, "ok", f"off: the mode {app.mode} keeps everything on this computer")
    if why := await app.api.objection():
        return Finding(what, "limited", why, "jarvis-desktop experts key set")
    tried = "Try the key with: jarvis-desktop experts key test"
    detail = f"there is a key; {count} experts are asked over the network alone. {tried}"
    return Finding(what, "ok", detail)


async def _llm(app: App) -> Finding:
    from jarvis_desktop.llm.offering import Offering

    what = "language model"
    if await app.llms.current():
        return Finding(what, "ok", app.llms.reason)
    detail = f"{app.llms.reason} The built-in planner is used."
    return Finding(what, "limited", detail, await Offering(app).advice())
