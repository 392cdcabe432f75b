"""A key of a whole X11 desktop: grabbed at the X server."""

from __future__ import annotations

import os
import selectors
import threading

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.hotkeys.keys import Combination
from jarvis_desktop.hotkeys.pressing import Changed, Pressing
from jarvis_desktop.hotkeys.threaded import ThreadedKey, Told
from jarvis_desktop.hotkeys.x11_keyboard import X11Keyboard

CHECKING = 0.25
"""Seconds between looks at whether a held key is still down: its release may be lost, when a
keyboard is unplugged or another program takes the keyboard."""
WHY = mark("The X server tells JARVIS of the key wherever it is pressed.")
LOST = mark("The connection to the screen was lost, and the key with it.")


class X11Key(ThreadedKey):
    """A thread of its own waits for the server, and for the pipe by which it is ended."""

    def __init__(self, combination: Combination, changed: Changed) -> None:
        super().__init__(HotkeyStatus("x11", str(combination), holds=True, why=tr(WHY)), changed)
        self._combination = combination
        self._wakened = self._waker = -1

    async def bind(self, keys: Pressing) -> HotkeyStatus:
        """Grab it. Raises UnavailableError."""
        self._wakened, self._waker = os.pipe()
        return await super().bind(keys)

    def _wake(self, thread: threading.Thread) -> None:
        os.close(self._waker)

    def _work(self, told: Told) -> None:
        try:
            keyboard = X11Keyboard(self._combination)
            try:
                keyboard.grab()
                told.is_bound()
                self._listen(keyboard, told)
            finally:
                keyboard.close()
        except ConnectionError:
            told.fails(UnavailableError(tr(LOST)))
            told.problem(tr(LOST))
        finally:
            os.close(self._wakened)

    def _listen(self, keyboard: X11Keyboard, told: Told) -> None:
        held = False
        problem = ""
        with selectors.DefaultSelector() as waiting:
            for number in (keyboard.number, self._wakened):
                waiting.register(number, selectors.EVENT_READ)
            while True:
                # What came in while an answer was waited for lies in the library, not in the file.
                if happened := list(keyboard.happened()):
                    for each in happened:
                        if each in ("down", "up"):
                            held = each == "down"
                            told.down() if held else told.up()
                    if "mapping" in happened:
                        problem = _grab_again(keyboard, told, problem)
                    continue
                if held and not keyboard.is_down():
                    held = False
                    told.up()
                    continue
                ready = waiting.select(CHECKING if held else None)
                if any(key.fd == self._wakened for key, _ in ready):
                    return


def _grab_again(keyboard: X11Keyboard, told: Told, before: str) -> str:
    """The keyboard is laid out anew; what is wrong now, after what was wrong before."""
    try:
        keyboard.grab()
        problem = ""
    except UnavailableError as error:
        problem = str(error)
    if problem != before:
        told.problem(problem)
    return problem
