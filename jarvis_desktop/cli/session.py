"""Builds the application for one command and takes it down again."""

from __future__ import annotations

import argparse
import asyncio
from collections.abc import Awaitable, Callable
from datetime import timedelta

from jarvis_desktop import settings as settings_file
from jarvis_desktop.cli import output
from jarvis_desktop.compose import build
from jarvis_desktop.compose_app import App
from jarvis_desktop.compose_settings import settle_process
from jarvis_desktop.core.current import current_note
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.policy import Mode
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.turn import Conversation
from jarvis_desktop.log_file import log_to_file
from jarvis_desktop.paths import Paths, user_paths
from jarvis_desktop.settings import Settings

Work = Callable[[App], Awaitable[int]]


def load(args: argparse.Namespace) -> tuple[Settings, Paths]:
    """The settings, with what the command line says about them, and the folders."""
    paths = user_paths()
    settings, notice = settings_file.load(paths.settings)
    if notice:
        output.note(f"note    {notice}")
    if mode := getattr(args, "mode", None):
        settings = settings.model_copy(update={"mode": Mode(mode)})
    return settings, paths


def run(
    args: argparse.Namespace, work: Work, *, loaded: tuple[Settings, Paths] | None = None
) -> int:
    """Run `work` over a built application and take that down; `main` tells of errors."""
    settings, paths = loaded or load(args)
    settle_process(settings)
    log_to_file(paths)
    return asyncio.run(_run(settings, paths, work))


def conversation(app: App, settings_minutes: int, args: argparse.Namespace) -> str | None:
    """Which conversation a command carries on with: None begins a new one."""
    if getattr(args, "unkept", False):
        return app.history.open_unkept().id
    if getattr(args, "new", False):
        return None
    if named := getattr(args, "conversation", None):
        found = app.history.show(str(named))
        if not isinstance(found, Conversation):
            raise InputError(f"{named} is a turn, not a conversation.")
        return found.id
    return app.history.latest(timedelta(minutes=settings_minutes))


async def _run(settings: Settings, paths: Paths, work: Work) -> int:
    app = build(settings, paths, on_ring=_ring)
    if app.history.notice:
        output.note(f"note    {app.history.notice}")
    current_note.set(lambda text: output.note(f"note    {text}"))
    try:
        app.store.tidy(app.history.files)
        await app.history.tidy()
        code = await work(app)
        await app.sweep_goals()
        if waiting := app.timers.pending():
            output.note(f"Waiting for the timer at {waiting[-1].due:%H:%M:%S}; Ctrl-C leaves.")
            await app.timers.all_rung()
            await app.bell.finished()
        return code
    finally:
        await app.close()


def _ring(timer: Timer) -> None:
    output.note(f"⏰ {timer.label or 'The timer'} is over.")
