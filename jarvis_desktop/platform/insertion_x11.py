"""Types text into the window that has the focus on an X server, with its test extension.

Two things make this exact. The server is grabbed while a stretch is typed: no other program can
take the focus, the keyboard or the layout between the check and the last key. And a spare key that
had one character gets another only after the window has processed the first: programs read the
layout when they process a key, which may be long after it was pressed.
"""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.platform.insertion import (
    ANOTHER,
    HELD,
    NO_FOCUS,
    SHIFT,
    character,
    insert_in_parts,
    keysym,
    typeable,
    wait_without,
)
from jarvis_desktop.platform.password_field import PasswordField

PRESS, RELEASE = 2, 3
NUM_LOCK = 16
"""Its modifier bit, by convention."""
CORE_KEYBOARD = 0x100
NOTHING, POINTER_ROOT = 0, 1
"""The focus if no window has it, and if the one under the pointer has it."""
STRETCH = 64
"""Characters that are typed in one grab of the server, which takes a few milliseconds."""
PROCESS_WAIT_S = 30.0
"""Seconds in which a window should have processed its keys."""
SETTLE_S = 1.0
"""Seconds for windows that do not report it, of programs on another computer."""
IDLE_POLLS, IDLE_POLL_S = 2, 0.01
"""A program that did nothing but sleep in so many of them has nothing to process."""

NO_LIBRARY = mark("The library of the X server, libxcb, is missing.")
UNREACHABLE = mark("The X server of this screen cannot be reached.")
NO_TEST = mark("The X server of this screen lets no program type (it lacks XTEST).")
GRABBED = mark("A menu or a locked screen has the keyboard.")
BUSY = mark("The window does not respond.")

Stroke = tuple[int, bool]
"""A key code, and whether it is pressed with Shift."""


class X11Inserter:
    """Types with the keyboard layout as it is, and with spare keys for other characters.

    Implements core.speech.TextInserter.
    """

    def __init__(self) -> None:
        self._target = NOTHING
        self._spare: list[int] = []
        """The codes of keys that had no character before, the least recently used first."""
        self._behind = NOTHING
        """The window that may still have keys to process."""
        self._password = PasswordField()
        self._lock = threading.Lock()

    def check(self) -> str | None:
        """Return None, or why nothing can be typed here."""
        try:
            with self._lock, _server():
                pass
        except UnavailableError as error:
            return str(error)
        return self._password.check()

    def aim(self) -> None:
        """Remember the window that has the focus now."""
        with self._lock, contextlib.suppress(UnavailableError), _server() as server:
            self._target = server.focus()

    def insert(self, text: str) -> None:
        """Type the text. Raises InsertionError."""
        target = NOTHING

        def insert_some(rest: str) -> int:
            nonlocal target
            with _server() as server:
                target = target or server.focus()
                return self._insert_some(server, target, rest[:STRETCH])

        with self._lock:
            target, self._target = self._target, NOTHING
            insert_in_parts(typeable(text), insert_some, self._password.refuse)

    def close(self) -> None:
        """Take the characters from the spare keys."""
        with self._lock, contextlib.suppress(UnavailableError):
            if self._spare:
                with _server() as server:
                    self._settle(server)
                    server.put(dict.fromkeys(self._spare, (0, 0)))
                self._spare.clear()

    def _insert_some(self, server: _Server, target: int, text: str) -> int:
        """Type the beginning of a text and return its length; 0 if the layout has just changed."""
        keys = server.keys()
        if lacking := [char for char in dict.fromkeys(text) if char not in keys.strokes]:
            beyond = self._bind(server, keys, lacking, text)
            keys = server.keys()
            text = text[: next((n for n, char in enumerate(text) if char in beyond), len(text))]
            if any(char not in keys.strokes for char in text):
                return 0
        try:
            wait_without(lambda: server.type(target, keys, text))
        except _LayoutChangedError:
            return 0
        used = {keys.strokes[char][0] for char in text}
        self._spare.sort(key=lambda code: code in used)
        self._behind = target
        if used & set(self._spare) and server.has_processed(target):
            self._behind = NOTHING
        return len(text)

    def _bind(self, server: _Server, keys: _Keys, lacking: list[str], text: str) -> set[str]:
        """Put characters on spare keys, two on each; return those for which there are too few."""
        needed = {keys.strokes[char][0] for char in text if char in keys.strokes}
        earlier = [code for code in self._spare if code not in needed]
        fresh = [code for code in keys.empty if code not in self._spare]
        pairs = [lacking[n : n + 2] for n in range(0, len(lacking), 2)]
        if len(pairs) > len(fresh):
            self._settle(server)
        bound = dict(zip((*fresh, *earlier), pairs, strict=False))
        if not bound:
            raise UnavailableError(tr("The keyboard has no spare key for {char}.", char=lacking[0]))
        server.put({code: (keysym(pair[0]), keysym(pair[-1])) for code, pair in bound.items()})
        self._spare += [code for code in bound if code not in self._spare]
        return set(lacking[2 * len(bound) :])

    def _settle(self, server: _Server) -> None:
        """Wait until no window depends on what is on the spare keys. Raises UnavailableError."""
        if self._behind and not server.has_processed(self._behind):
            raise UnavailableError(tr(BUSY))
        self._behind = NOTHING


class _LayoutChangedError(Exception):
    """The keys have other characters than before."""


class _Keys:
    """Where each character is on the keyboard.

    `columns` has the keysyms of each key: two of each of the first two layouts, then others.
    `group` is the number of the layout in use, from 0; later ones are replaced by the first.
    """

    def __init__(self, columns: dict[int, list[int]], group: int) -> None:
        self.layout = columns, group
        group = group if group < 2 else 0
        self.strokes: dict[str, Stroke] = {}
        for code, symbols in columns.items():
            for symbol, shifted in zip(symbols[2 * group :][:2], (False, True), strict=False):
                if char := character(symbol):
                    self.strokes.setdefault(char, (code, shifted))
        self.shift = next(code for code, symbols in columns.items() if symbols[0] == SHIFT)
        # Code 8 would be number 0 of the kernel, which some programs take for no key.
        self.empty = [code for code, symbols in columns.items() if code > 8 and not any(symbols)]


@contextlib.contextmanager
def _server() -> Iterator[_Server]:
    """A connection for one piece of work. Raises UnavailableError."""
    try:
        import xcffib.xkb
        import xcffib.xproto
        import xcffib.xtest
    except (ImportError, OSError) as error:
        hint = tr("Install {package}.", package="libxcb1")
        raise UnavailableError(tr(NO_LIBRARY), hint=hint) from error
    library: Any = xcffib
    connection = None
    try:
        connection = library.connect()
        yield _Server(connection, library)
    except xcffib.XcffibException as error:
        raise UnavailableError(tr(UNREACHABLE)) from error
    finally:
        if connection:
            with contextlib.suppress(xcffib.XcffibException):
                connection.disconnect()


class _Server:
    """The requests to the X server."""

    def __init__(self, connection: Any, xcffib: Any) -> None:
        self._kinds = xcffib.xproto
        self._connection = connection
        setup = connection.get_setup()
        self._first, self._last = setup.min_keycode, setup.max_keycode
        self._roots = [screen.root for screen in setup.roots]
        if not all(self._has(name) for name in ("XTEST", "XKEYBOARD")):
            raise UnavailableError(tr(NO_TEST))
        self._test = connection(xcffib.xtest.key)
        self._xkb = connection(xcffib.xkb.key)
        self._xkb.UseExtension(1, 0).reply()

    @property
    def _core(self) -> Any:
        return self._connection.core

    def _has(self, name: str) -> bool:
        return bool(self._core.QueryExtension(len(name), name).reply().present)

    def focus(self) -> int:
        """Return the window that has the focus."""
        return int(self._core.GetInputFocus().reply().focus)

    def keys(self) -> _Keys:
        """Return the keyboard's layout."""
        reply = self._core.GetKeyboardMapping(self._first, self._last - self._first + 1).reply()
        width, symbols = reply.keysyms_per_keycode, list(reply.keysyms)
        columns = {
            self._first + n: symbols[n * width : (n + 1) * width]
            for n in range(len(symbols) // width)
        }
        return _Keys(columns, int(self._xkb.GetState(CORE_KEYBOARD).reply().group))

    def put(self, symbols: dict[int, tuple[int, int]]) -> None:
        """Put keysyms on keys, without Shift and with it, in both groups."""
        for code, pair in symbols.items():
            self._core.ChangeKeyboardMapping(1, code, 4, [*pair, *pair], is_checked=True).check()

    def type(self, target: int, keys: _Keys, text: str) -> str:
        """Type the text if the window has the keyboard; return why not, or "".

        Raises _LayoutChangedError if the keys are not as they were.
        """
        self._core.GrabServer()
        try:
            why = self._obstacle(target)
            if not why:
                if self.keys().layout != keys.layout:
                    raise _LayoutChangedError
                with self._plain_state():
                    self._press([keys.strokes[char] for char in text], keys.shift)
            return why
        finally:
            self._core.UngrabServer()
            self.focus()  # a round trip: all is done

    def _obstacle(self, target: int) -> str:
        focus = self.focus()
        if self._is_out_of_sight(top := self._top(focus)):
            return tr(NO_FOCUS)
        if focus != target and top != self._top(target):
            return tr(ANOTHER)
        if any(self._core.QueryKeymap().reply().keys):
            return tr(HELD)
        # A grab for the window that has the focus already changes nothing for it.
        window = self._roots[0] if focus == POINTER_ROOT else focus
        mode = self._kinds.GrabMode.Async
        status = self._core.GrabKeyboard(False, window, 0, mode, mode).reply().status
        if status == self._kinds.GrabStatus.AlreadyGrabbed:
            return tr(GRABBED)
        self._core.UngrabKeyboard(0)
        return ""

    @contextlib.contextmanager
    def _plain_state(self) -> Iterator[None]:
        """Without Caps Lock, sticky keys, and a third or fourth layout."""
        state = self._xkb.GetState(CORE_KEYBOARD).reply()
        locks = state.lockedMods & ~NUM_LOCK
        group = state.group > 1
        if locks or group or state.latchedMods:
            self._xkb.LatchLockState(CORE_KEYBOARD, locks, 0, group, 0, 0xFF, False, 0)
        yield
        if locks or group:
            self._xkb.LatchLockState(
                CORE_KEYBOARD, locks, locks, group, state.lockedGroup, 0, False, 0
            )

    def _press(self, strokes: Sequence[Stroke], shift: int) -> None:
        def fake(kind: int, code: int) -> None:
            self._test.FakeInput(kind, code, 0, 0, 0, 0, 0)

        held = False
        for code, shifted in strokes:
            if shifted != held:
                fake(PRESS if shifted else RELEASE, shift)
                held = shifted
            fake(PRESS, code)
            fake(RELEASE, code)
        if held:
            fake(RELEASE, shift)

    def _up(self, window: int) -> Iterator[int]:
        """A window, and those that it is in, up to the child of the root."""
        while window > POINTER_ROOT and window not in self._roots:
            yield window
            window = self._core.QueryTree(window).reply().parent

    def _top(self, window: int) -> int:
        """The child of the root in which a window is; 0 if it is gone."""
        try:
            return next(reversed(list(self._up(window))), window)
        except self._kinds.WindowError:
            return NOTHING

    def _is_out_of_sight(self, window: int) -> bool:
        """Whether a window is none, or the one with which window managers take the focus away."""
        if window == POINTER_ROOT:
            return False
        try:
            place = self._core.GetGeometry(window).reply()
        except self._kinds.DrawableError:
            return True
        return bool(place.x + place.width <= 0 or place.y + place.height <= 0)

    # When a window has processed its keys

    def has_processed(self, target: int) -> bool:
        """Wait until a window has processed its keys; return whether it has."""
        until = time.monotonic() + PROCESS_WAIT_S
        try:
            protocols, ping = self._atom("WM_PROTOCOLS"), self._atom("_NET_WM_PING")
            for window in self._up(target):
                if ping in self._property(window, protocols).to_atoms():
                    return self._answers(window, protocols, ping, until)
            process = self._process(target)
        except self._kinds.WindowError:
            return True
        if not process:
            time.sleep(SETTLE_S)
        return not process or self._becomes_idle(process, until)

    def _becomes_idle(self, process: int, until: float) -> bool:
        """Wait until a program waits for events. One with events to process is ready to run,
        however busy the computer is, unless it waits for the server's answer first."""
        before: tuple[str, ...] = ()
        polls = 0
        while polls < IDLE_POLLS:
            if time.monotonic() > until:
                return False
            self.focus()
            self.focus()  # the server answers everybody in turn
            try:
                threads = [_activity(each) for each in Path(f"/proc/{process}/task").iterdir()]
            except OSError:
                return True
            # The others may wake at times for something else, as Java's do.
            now = threads[0] if threads else ()
            sleeps = all(state == "S" for state, *_ in threads)
            polls = polls + 1 if now == before and sleeps else 0
            before = now
            time.sleep(IDLE_POLL_S)
        return True

    def _answers(self, window: int, protocols: int, ping: int, until: float) -> bool:
        """Ask the window whether it is alive, as window managers do: it answers in order, after the
        keys."""
        kinds = self._kinds
        # The answer goes to the window manager: with the first from GTK, with the second from Qt.
        mask = kinds.EventMask.SubstructureNotify | kinds.EventMask.StructureNotify
        for root in self._roots:
            self._core.ChangeWindowAttributes(root, kinds.CW.EventMask, [mask])
        stamp = time.monotonic_ns() // 1000 & 0x7FFFFFFF
        data = kinds.ClientMessageData.synthetic([ping, stamp, window, 0, 0], "I" * 5)
        event = kinds.ClientMessageEvent.synthetic(32, window, protocols, data)
        self._core.SendEvent(False, window, 0, event.pack())
        self._connection.flush()
        while (left := until - time.monotonic()) > 0:
            while (got := self._connection.poll_for_event()) is not None:
                is_message = isinstance(got, kinds.ClientMessageEvent)
                if is_message and list(got.data.data32[:2]) == [ping, stamp]:
                    return True
            select.select([self._connection.get_file_descriptor()], [], [], left)
        return False

    def _process(self, window: int) -> int:
        """The process of a window, if it runs on this computer; else 0."""
        pid, machine = self._atom("_NET_WM_PID"), self._atom("WM_CLIENT_MACHINE")
        for each in self._up(window):
            number = self._property(each, pid).to_atoms()
            host = bytes(self._property(each, machine).buf())
            if number and host.decode(errors="replace") == socket.gethostname():
                return int(number[0])
        return 0

    def _property(self, window: int, name: int) -> Any:
        return self._core.GetProperty(False, window, name, 0, 0, 64).reply().value

    def _atom(self, name: str) -> int:
        return int(self._core.InternAtom(False, len(name), name).reply().atom)


def _activity(thread: Path) -> tuple[str, ...]:
    """The state of a thread, and how often it was woken and was interrupted."""
    try:
        words = (thread / "status").read_text().split()
    except OSError:
        return ("ended",)
    return words[words.index("State:") + 1], words[-3], words[-1]
