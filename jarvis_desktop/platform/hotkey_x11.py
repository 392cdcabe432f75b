"""A global hotkey on X11, grabbed from the X server through xcffib.

Unlike Xlib, xcffib's libxcb does not end the program when the server disappears.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import selectors
import threading
from collections.abc import Iterator
from typing import Any, Literal

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.shortcut import (
    ESCAPE,
    Combination,
    KeyEvents,
    PressState,
    StatusListener,
    ThreadedKey,
)

SHIFT, LOCK, CONTROL = 1, 2, 4
"""The modifier bits that are the same on every keyboard."""
ALT_KEYS, SUPER_KEYS = (0xFFE9, 0xFFEA), (0xFFEB, 0xFFEC)
NUM_LOCK, SCROLL_LOCK = 0xFF7F, 0xFF14
"""Keysyms whose modifier bits differ between keyboards."""
DETECTABLE_AUTO_REPEAT = 1
ALL_OF_A_MAP = 0xFF
XWAYLAND = "XWAYLAND"

ONLY_X_WINDOWS = mark(
    "This is a Wayland desktop: a key of its X server would work only while the window of an X "
    "program has the keyboard."
)

Happening = Literal["down", "up", "escape", "mapping", "other"]
Grab = tuple[int, int]
"""A key code and the modifiers held with it."""


class X11Keyboard:
    """Grabs a combination on all screens. Belongs to the thread that made it."""

    def __init__(self, combination: Combination) -> None:
        """Connect to the display in the environment. Raises UnavailableError."""
        try:
            import xcffib.xkb
            import xcffib.xproto
        except (ImportError, OSError) as error:
            raise UnavailableError(
                tr("The library of the X server, libxcb, is missing."),
                hint=tr("Install {package}.", package="libxcb1"),
            ) from error
        self._xcffib: Any = xcffib
        self._combination = combination
        self._grabs: set[Grab] = set()
        self._escapes: set[int] = set()
        """The codes of Esc, which comes here and nowhere else while the key is held."""
        try:
            self._connection: Any = self._xcffib.connect()
            setup = self._connection.get_setup()
            self._first, self._last = setup.min_keycode, setup.max_keycode
            self._roots = [screen.root for screen in setup.roots]
            is_wayland = self._extension(XWAYLAND)
            self._detects_repeats = self._tell_repeats()
        except xcffib.XcffibException as error:
            raise UnavailableError(tr("The X server of this screen cannot be reached.")) from error
        if is_wayland:
            self.close()
            raise UnavailableError(tr(ONLY_X_WINDOWS))

    @property
    def number(self) -> int:
        """The file descriptor that becomes readable on an event."""
        return int(self._connection.get_file_descriptor())

    def happened(self) -> Iterator[Happening]:
        """Return the events so far. Raises ConnectionError if the server is gone."""
        with self._reaching():
            while (event := self._connection.poll_for_event()) is not None:
                yield self._meaning(event)

    def grab(self) -> None:
        """Grab the key by the current keyboard layout.

        Raises UnavailableError if there is no such key or another program has it, and
        ConnectionError if the server is gone.
        """
        with self._reaching():
            try:
                wanted = self._wanted()
            except UnavailableError:
                self._ungrab()  # another key may have its place now
                raise
            if wanted == self._grabs:
                return
            self._ungrab()
            try:
                for root, (code, modifiers) in itertools.product(self._roots, sorted(wanted)):
                    self._grab_one(root, code, modifiers)
            except self._xcffib.xproto.AccessError as error:
                self._ungrab()
                raise UnavailableError(
                    tr("Another program has the key {key} already.", key=self._combination),
                    hint=tr(
                        "Choose another key, or free this one in that program or in the keyboard "
                        "settings of the desktop."
                    ),
                ) from error

    def is_down(self) -> bool:
        """Whether the key is really held, whatever the events said.

        Raises ConnectionError if the server is gone.
        """
        with self._reaching():
            return self._is_held()

    def close(self) -> None:
        """Disconnect, which releases the key."""
        with contextlib.suppress(self._xcffib.XcffibException):
            self._connection.disconnect()

    @contextlib.contextmanager
    def _reaching(self) -> Iterator[None]:
        try:
            yield
        except self._xcffib.XcffibException as error:
            raise ConnectionError from error

    @property
    def _core(self) -> Any:
        return self._connection.core

    def _extension(self, name: str) -> bool:
        return bool(self._core.QueryExtension(len(name), name).reply().present)

    def _tell_repeats(self) -> bool:
        """Let repeats of a held key come without releases; return whether the server can."""
        if not self._extension("XKEYBOARD"):
            return False
        kinds = self._xcffib.xkb
        extension = self._connection(kinds.key)
        if not extension.UseExtension(1, 0).reply().supported:
            return False
        # From now on these events replace MappingNotify.
        layouts = kinds.EventType.NewKeyboardNotify | kinds.EventType.MapNotify
        keyboard, parts = kinds.ID.UseCoreKbd, ALL_OF_A_MAP
        extension.SelectEvents(keyboard, layouts, 0, layouts, parts, parts, [], True).check()
        wanted = DETECTABLE_AUTO_REPEAT
        reply = extension.PerClientFlags(keyboard, wanted, wanted, 0, 0, 0).reply()
        return bool(reply.value & wanted)

    def _meaning(self, event: Any) -> Happening:
        kinds = self._xcffib.xproto
        if isinstance(event, self._xcffib.xkb.NewKeyboardNotifyEvent):
            return "mapping"  # or MapNotify: the extension's events have one number
        if isinstance(event, kinds.MappingNotifyEvent):
            return "other" if event.request == kinds.Mapping.Pointer else "mapping"
        if not isinstance(event, (kinds.KeyPressEvent, kinds.KeyReleaseEvent)):
            return "other"
        if all(event.detail != code for code, _ in self._grabs):  # while it is held
            is_press = isinstance(event, kinds.KeyPressEvent)
            return "escape" if is_press and event.detail in self._escapes else "other"
        if isinstance(event, kinds.KeyPressEvent):
            return "down"
        return "other" if not self._detects_repeats and self._is_held() else "up"

    def _wanted(self) -> set[Grab]:
        """The key with its modifiers and every combination of locks."""
        columns = self._keysyms()
        self._escapes = {code for code, keysyms in columns.items() if ESCAPE.code in keysyms}
        modifiers = self._modifiers(columns)
        held = 0
        for name in self._combination.modifiers:
            if not (bit := modifiers[name]):
                raise UnavailableError(
                    tr("This keyboard has no {name} that a key can be held with.", name=name)
                )
            held |= bit
        locks = [bit for bit in (LOCK, modifiers["Num"], modifiers["Scroll"]) if bit & ~held]
        sums = {sum({*some}) for count in range(4) for some in itertools.combinations(locks, count)}
        wanted = self._combination.key
        plain = {code for code, keysyms in columns.items() if keysyms[:1] == [wanted.code]}
        codes = plain or {code for code, keysyms in columns.items() if wanted.code in keysyms}
        if not codes:
            raise UnavailableError(
                tr("This keyboard has no key {key}.", key=wanted.name),
                hint=tr("Choose another key."),
            )
        return {(code, held | lock) for code in codes for lock in sums}

    def _keysyms(self) -> dict[int, list[int]]:
        """The keysyms of each key on all levels."""
        reply = self._core.GetKeyboardMapping(self._first, self._last - self._first + 1).reply()
        width, keysyms = reply.keysyms_per_keycode, list(reply.keysyms)
        return {
            self._first + number: keysyms[number * width : (number + 1) * width]
            for number in range(len(keysyms) // width)
        }

    def _modifiers(self, columns: dict[int, list[int]]) -> dict[str, int]:
        """The bit of each modifier; 0 if there is none."""
        reply = self._core.GetModifierMapping().reply()
        width, codes = reply.keycodes_per_modifier, list(reply.keycodes)

        def bit(*keysyms: int) -> int:
            for number in range(3, 8):  # after Shift, Lock and Control
                for code in codes[number * width : (number + 1) * width]:
                    if set(keysyms) & set(columns.get(code, ())):
                        return 1 << number
            return 0

        return {"Shift": SHIFT, "Ctrl": CONTROL, "Alt": bit(*ALT_KEYS), "Super": bit(*SUPER_KEYS),
                "Num": bit(NUM_LOCK), "Scroll": bit(SCROLL_LOCK)}  # fmt: skip

    def _is_held(self) -> bool:
        held = self._core.QueryKeymap().reply().keys
        return any(held[code // 8] >> (code % 8) & 1 for code, _ in self._grabs)

    def _ungrab(self) -> None:
        for root, (code, modifiers) in itertools.product(self._roots, self._grabs):
            self._core.UngrabKey(code, root, modifiers, is_checked=True).check()
        self._grabs = set()

    def _grab_one(self, root: int, code: int, modifiers: int) -> None:
        asynchronous = self._xcffib.xproto.GrabMode.Async
        self._core.GrabKey(
            False, root, modifiers, code, asynchronous, asynchronous, is_checked=True
        ).check()
        self._grabs.add((code, modifiers))


POLL_S = 0.25
"""Seconds between checks whether a held key is still down. Its release may be lost when a keyboard
is unplugged or another program grabs the keyboard."""
WHY = mark("The X server reports the key to JARVIS in every window.")
LOST = mark("The connection to the screen was lost, and the key with it.")


class X11Key(ThreadedKey):
    """A hotkey with a thread that waits for the server and for the pipe that ends it."""

    def __init__(self, combination: Combination, changed: StatusListener) -> None:
        super().__init__(HotkeyStatus("x11", str(combination), holds=True, why=tr(WHY)), changed)
        self._combination = combination
        self._wakened = self._waker = -1

    async def bind(self, keys: PressState) -> HotkeyStatus:
        """Grab the key. Raises UnavailableError."""
        self._wakened, self._waker = os.pipe()
        return await super().bind(keys)

    def _wake(self, thread: threading.Thread) -> None:
        os.close(self._waker)

    def _work(self, told: KeyEvents) -> None:
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

    def _listen(self, keyboard: X11Keyboard, told: KeyEvents) -> None:
        held = False
        problem = ""
        with selectors.DefaultSelector() as waiting:
            for number in (keyboard.number, self._wakened):
                waiting.register(number, selectors.EVENT_READ)
            while True:
                # Events that arrived during a request are in the library, not in the file.
                if happened := list(keyboard.happened()):
                    for each in happened:
                        if each in ("down", "up"):
                            held = each == "down"
                            told.down() if held else told.up()
                        elif each == "escape":
                            told.escape()
                    if "mapping" in happened:
                        problem = _grab_again(keyboard, told, problem)
                    continue
                if held and not keyboard.is_down():
                    held = False
                    told.up()
                    continue
                ready = waiting.select(POLL_S if held else None)
                if any(key.fd == self._wakened for key, _ in ready):
                    return


def _grab_again(keyboard: X11Keyboard, told: KeyEvents, before: str) -> str:
    """Grab the key again after a layout change; return the problem, if any."""
    try:
        keyboard.grab()
        problem = ""
    except UnavailableError as error:
        problem = str(error)
    if problem != before:
        told.problem(problem)
    return problem
