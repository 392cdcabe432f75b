"""The checks of the doctor, each of which can run beside the others."""

from __future__ import annotations

import asyncio
import platform
import sqlite3
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jarvis_desktop import __version__
from jarvis_desktop.computer import free_disk_bytes
from jarvis_desktop.core.code import Protection
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.hardware import MB, Hardware
from jarvis_desktop.core.placing import limits
from jarvis_desktop.core.shown import readable_size
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.doctor import voice
from jarvis_desktop.doctor.finding import Finding

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App

OLDEST_SAFE_SQLITE = (3, 51, 3)
"""Older ones can lose a page when a write-ahead log is begun anew at the wrong moment."""

SMALL = 2_000 * MB
"""Bytes; in less memory few experts run."""

TIGHT = 5_000 * MB
"""Bytes; less of the disk soon hinders."""


@dataclass(frozen=True, slots=True)
class Check:
    """One look at something."""

    about: str
    """In English, for `tr`."""
    look: Callable[[App], Awaitable[Sequence[Finding]]]


async def examine(app: App) -> list[Finding]:
    """All findings, in the order a person would ask."""
    found = await asyncio.gather(*(check.look(app) for check in CHECKS))
    return [finding for each in found for finding in each]


async def _itself(app: App) -> list[Finding]:
    version = tr(
        "{version} on Python {python}", version=__version__, python=platform.python_version()
    )
    mode = tr("{mode} (settings: {path})", mode=app.mode.called, path=app.paths.settings)
    data = tr("{folder}; log: {log}", folder=app.paths.data, log=app.paths.logs)
    return [
        Finding("JARVIS Desktop", "ok", version),
        Finding(mark("mode"), "ok", mode),
        Finding(mark("data"), "ok", data),
        _sqlite(),
    ]


async def _computer(app: App) -> list[Finding]:
    hardware = await app.local.probe.hardware()
    return [graphics(hardware), memory(hardware, app.local.budget)]


async def _disk(app: App) -> list[Finding]:
    return [await asyncio.to_thread(disk, app)]


async def _screen(app: App) -> list[Finding]:
    from jarvis_desktop.desktop import has_no_display

    if has_no_display():
        return [Finding("screen", "limited", tr("none; the terminal is used instead"))]
    return [Finding("screen", "ok", tr("a window can be opened"))]


async def _planner(app: App) -> list[Finding]:
    return [await asyncio.to_thread(planner, app)]


async def _agent(app: App) -> list[Finding]:
    protection, llm = await asyncio.gather(app.sandbox.protection(), app.llms.current())
    return [sandbox(protection), agent_mode(protection, has_llm=llm is not None)]


def graphics(hardware: Hardware) -> Finding:
    """Whether experts can use a graphics card, or why not."""
    what, card = mark("graphics card"), hardware.graphics
    if card is None:
        detail = hardware.trouble or tr("None was found.")
        detail = tr("{why} Experts run on the processor.", why=detail)
        return Finding(what, "limited", detail, hardware.fix)
    free = tr(", {size} free", size=_size(hardware.graphics_free)) if hardware.graphics_free else ""
    numbers = "bfloat16" if card.bfloat16 else "float16"
    way = "CUDA" if card.device == "cuda" else "Metal"
    detail = tr(
        "{name} with {size}{free}; it computes, by {way} in {numbers}",
        name=card.name,
        size=_size(card.memory),
        free=free,
        way=way,
        numbers=numbers,
    )
    return Finding(what, "ok", detail)


def memory(hardware: Hardware, budget: int) -> Finding:
    """The main memory, and how much of it experts get."""
    what = mark("memory")
    if not hardware.memory:
        return Finding(what, "limited", tr("the system does not say how much there is"))
    free = tr(", {size} free", size=_size(hardware.available)) if hardware.available else ""
    swap = tr(", {size} of swap", size=_size(hardware.swap)) if hardware.swap else ""
    most = limits(hardware, budget)
    card = (
        tr(" and {size} of the graphics card", size=_size(most.graphics)) if most.graphics else ""
    )
    detail = tr(
        "{size}{free}{swap}, {cores} processor cores; experts get up to {most}{card} {why}",
        size=_size(hardware.memory),
        free=free,
        swap=swap,
        cores=hardware.cores,
        most=_size(most.main),
        card=card,
        why=tr("by your settings") if budget else tr("together"),
    )
    if most.main < SMALL:
        fix = tr("Only small experts fit; hybrid mode uses others.")
        return Finding(what, "limited", detail, fix)
    return Finding(what, "ok", detail)


def sandbox(protection: Protection) -> Finding:
    """What keeps the code of agent mode from the rest of the computer."""
    if not protection.sandboxed:
        detail = tr("none holds here: code runs only when you allow it, each time, unprotected")
        return Finding(mark("sandbox"), "limited", detail, protection.why)
    detail = tr("{name}, which was tried just now", name=protection.name)
    return Finding(mark("sandbox"), "limited" if protection.why else "ok", detail, protection.why)


def agent_mode(protection: Protection, *, has_llm: bool) -> Finding:
    """Whether goals that take several steps can be worked on."""
    what = "agent mode"
    if not has_llm:
        return Finding(what, "limited", tr("off: it needs a language model, see above"))
    if not protection.sandboxed:
        return Finding(what, "limited", tr("on, with code that no sandbox holds, see above"))
    return Finding(what, "ok", tr("on, with code in the sandbox"))


def disk(app: App) -> Finding:
    """How much is free for experts."""
    free = free_disk_bytes(app.paths.weights)
    detail = tr(
        "{size} free where experts are kept ({folder})", size=_size(free), folder=app.paths.weights
    )
    if free < TIGHT:
        fix = tr("Remove experts that are not used: jarvis-desktop experts remove NAME")
        return Finding("disk", "limited", detail, fix)
    return Finding("disk", "ok", detail)


def _size(size: int) -> str:
    return readable_size(size / MB)


def _sqlite() -> Finding:
    version = sqlite3.sqlite_version
    if sqlite3.sqlite_version_info >= OLDEST_SAFE_SQLITE:
        return Finding("SQLite", "ok", version)
    detail = tr(
        "{version}; the history is written by one connection only, which keeps it safe",
        version=version,
    )
    return Finding("SQLite", "limited", detail)


def planner(app: App) -> Finding:
    """Whether the encoder of the built-in planner is there."""
    try:
        app.scorer.warm(())
    except JarvisError as error:
        detail = tr("{why} Requests are planned by their wording alone.", why=error.message)
        return Finding("planner", "limited", detail, error.hint)
    return Finding("planner", "ok", tr("the built-in one, with its weights"))


async def api(app: App) -> Finding:
    """Whether experts can be asked over the network, or why not."""
    what, count = mark("experts by API"), sum(item.only_served for item in app.catalogue.known())
    if not app.policy.allows_api:
        detail = tr("off: the mode {mode} keeps everything on this computer", mode=app.mode.called)
        return Finding(what, "ok", detail)
    if why := await app.api.objection():
        return Finding(what, "limited", why, "jarvis-desktop experts key set")
    detail = tr(
        "there is a key; {count} experts are asked over the network alone. Try the key with: "
        "jarvis-desktop experts key test",
        count=count,
    )
    return Finding(what, "ok", detail)


async def language_model(app: App) -> Finding:
    """Which LLM is used, or what to do for one."""
    from jarvis_desktop.llm.offering import Offering

    what = "language model"
    if await app.llms.current():
        return Finding(what, "ok", app.llms.reason)
    detail = tr("{why} The built-in planner is used.", why=app.llms.reason)
    return Finding(what, "limited", detail, await Offering(app).advice())


async def _llm(app: App) -> list[Finding]:
    return [await language_model(app)]


async def _api(app: App) -> list[Finding]:
    return [await api(app)]


CHECKS = (
    Check(mark("JARVIS Desktop"), _itself),
    Check(mark("computer"), _computer),
    Check(mark("disk"), _disk),
    Check(mark("screen"), _screen),
    Check(mark("sound"), voice.sound),
    Check(mark("voice"), voice.speaks),
    Check(mark("recogniser"), voice.hears),
    Check(mark("talk key"), voice.key),
    Check(mark("planner"), _planner),
    Check(mark("language model"), _llm),
    Check(mark("agent mode"), _agent),
    Check(mark("experts by API"), _api),
)
