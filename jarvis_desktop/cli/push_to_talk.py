"""Push-to-talk in a terminal: hold the space bar, or press Enter to start and to stop."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

from jarvis_desktop.cli import output
from jarvis_desktop.cli.terminal import TerminalFrontend
from jarvis_desktop.compose import App
from jarvis_desktop.core.errors import JarvisError
from jarvis_desktop.core.turn import Request

HELD_GAP = 0.35
"""Seconds. A held key repeats faster than this; a longer silence means it was let go."""
FIRST_GAP = 0.9
"""Seconds until a held key begins to repeat, at most, on common desktops."""

END = ""


async def converse(app: App, conversation: str | None, *, once: bool, as_json: bool) -> int:
    """Listen, answer, and again until the input ends; gives the last exit code."""
    code = output.DONE
    known = app.history.open_conversation(conversation).id
    async with _keys() as keys:
        while True:
            output.note("Hold the space bar and speak, or press Enter to start. Ctrl-D ends.")
            key = await keys.get()
            if key == END:
                return code
            audio = await _record(app, keys, held=key == " ")
            if audio is not None:
                code = await _answer(app, audio, known, as_json=as_json)
            if once:
                return code


async def record_until_enter(app: App) -> Path | None:
    """Record until a line is entered; None where that failed, after the reason was shown."""
    async with _keys() as keys:
        return await _record(app, keys, held=False)


async def _record(app: App, keys: asyncio.Queue[str], *, held: bool) -> Path | None:
    stop = asyncio.Event()
    target = app.store.workdir() / "your recording"
    how = "let go to stop" if held else "press Enter to stop"
    recording = asyncio.create_task(app.microphone.record(target, stop, _Meter(how)))
    watching = asyncio.create_task(_until_released(keys, held=held))
    try:
        await asyncio.wait({recording, watching}, return_when=asyncio.FIRST_COMPLETED)
        stop.set()
        return await recording
    except JarvisError as error:
        output.complain(error, as_json=False)
        return None
    finally:
        watching.cancel()
        recording.cancel()
        if sys.stderr.isatty():
            sys.stderr.write("\r\x1b[K")


async def _until_released(keys: asyncio.Queue[str], *, held: bool) -> None:
    """Return when the held key is let go, or at the next key where it was only tapped."""
    gap = FIRST_GAP
    while held:
        try:
            key = await asyncio.wait_for(keys.get(), gap)
        except TimeoutError:
            if gap == HELD_GAP:
                return
            held = False  # it never repeated: a tap, which the next key ends
        else:
            if key != " ":
                return
            gap = HELD_GAP
    await keys.get()


async def _answer(app: App, audio: Path, conversation: str, *, as_json: bool) -> int:
    frontend = TerminalFrontend(quiet=as_json)
    turn = await app.assistant.handle(
        Request(audio=audio, speak=True, folder=Path.cwd()), frontend, conversation=conversation
    )
    output.show_turn(turn, as_json=as_json)
    return output.exit_code(turn.status)


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


@contextlib.asynccontextmanager
async def _keys() -> AsyncIterator[asyncio.Queue[str]]:
    """Keys as they are pressed; where stdin is no terminal, each line counts as Enter."""
    keys: asyncio.Queue[str] = asyncio.Queue()
    loop = asyncio.get_running_loop()
    descriptor = sys.stdin.fileno()

    def read() -> None:
        try:
            data = os.read(descriptor, 64)
        except OSError:
            data = b""
        pressed = data.decode(errors="replace")
        if not data or "\x04" in pressed:
            loop.remove_reader(descriptor)
            keys.put_nowait(END)
            return
        for key in pressed:
            keys.put_nowait("\n" if key == "\r" else key)

    with _single_keys(descriptor):
        loop.add_reader(descriptor, read)
        try:
            yield keys
        finally:
            loop.remove_reader(descriptor)


@contextlib.contextmanager
def _single_keys(descriptor: int) -> Iterator[None]:
    """Let keys through one by one and unseen, where this is a terminal that can."""
    try:
        import termios
        import tty
    except ImportError:  # Windows: lines, as with a pipe
        yield
        return
    if not os.isatty(descriptor):
        yield
        return
    before = termios.tcgetattr(descriptor)
    try:
        tty.setcbreak(descriptor)
        yield
    finally:
        termios.tcsetattr(descriptor, termios.TCSADRAIN, before)
