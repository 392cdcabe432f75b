"""Push-to-talk in a terminal: hold the space bar, or press Enter to start and to stop."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from jarvis_desktop.cli import output
from jarvis_desktop.cli.interrupting import stoppable
from jarvis_desktop.cli.keyboard import END, KEYBOARD
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.compose import App
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.turn import Request

HELD_GAP = 0.35
"""Seconds. A held key repeats faster than this; a longer silence means it was let go."""
FIRST_GAP = 0.9
"""Seconds until a held key begins to repeat, at most, on common desktops."""


async def converse(app: App, conversation: str | None, *, once: bool, as_json: bool) -> int:
    """Listen, answer, and again until the input ends; gives the last exit code."""
    code = output.DONE
    known = app.history.open_conversation(conversation).id
    with KEYBOARD.single_keys():
        while True:
            output.note("Hold the space bar and speak, or press Enter to start. Ctrl-D ends.")
            key = await KEYBOARD.key()
            if key == END:
                output.note("The input has ended.")
                return code
            code = await _take_turn(app, known, held=key == " ", as_json=as_json)
            if once:
                return code


async def answer_until_enter(app: App, conversation: str) -> int:
    """Listen until a key is pressed, then answer; gives the exit code."""
    with KEYBOARD.single_keys():
        return await _take_turn(app, conversation, held=False, as_json=False)


async def _take_turn(app: App, conversation: str, *, held: bool, as_json: bool) -> int:
    folder = app.store.workdir()
    frontend = TerminalFrontend(quiet=as_json)
    try:
        audio = await _record(app, folder / "your recording", held=held)
        request = Request(audio=audio, speak=True, folder=Path.cwd())
        with stoppable(app.assistant.interrupt):
            turn = await app.assistant.handle(request, frontend, conversation=conversation)
    except JarvisError as error:
        return output.complain(error, as_json=as_json)
    finally:
        # The voice of a person is kept nowhere.
        app.store.discard(folder)
    frontend.end(turn)
    return output.exit_code(turn.status)


async def _record(app: App, target: Path, *, held: bool) -> Path:
    stop = asyncio.Event()
    how = "let go to stop" if held else "press Enter to stop"
    recording = asyncio.create_task(app.microphone.record(target, stop, _Meter(how)))
    watching = asyncio.create_task(_until_released(KEYBOARD.key, held=held))
    try:
        await asyncio.wait({recording, watching}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        return await recording
    finally:
        await _ended(recording, watching)
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")


async def _ended(*tasks: asyncio.Task[Any]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)


async def _until_released(next_key: Callable[[], Awaitable[str]], *, held: bool) -> None:
    """Return when the held key is let go, or at the next key where it was only tapped."""
    gap = FIRST_GAP
    while held:
        try:
            key = await asyncio.wait_for(next_key(), gap)
        except TimeoutError:
            if gap == HELD_GAP:
                return
            held = False  # it never repeated: a tap, which the next key ends
        else:
            if key != " ":
                return
            gap = HELD_GAP
    await next_key()


class _Meter:
    """Says when the microphone is open, which takes a moment, and then how loud it is."""

    def __init__(self, how_to_stop: str) -> None:
        self._how_to_stop = how_to_stop
        self._open = False

    def __call__(self, level: float) -> None:
        if not self._open:
            self._open = True
            output.note(f"Listening; {self._how_to_stop}.")
        elif sys.stderr.isatty():
            sys.stderr.write("\r" + "▮" * int(level * 40) + "\x1b[K")
            sys.stderr.flush()
