"""Inserts text on Wayland: by wtype, or by the portals RemoteDesktop and Clipboard.

wtype types with a keyboard of its own, for which compositors like sway and Hyprland have a
protocol. GNOME and KDE have none, but let programs press keys that the user's layout has; others
they drop. So there the text goes through the clipboard, and only the keys to paste it are pressed.
The desktop asks the user once and then remembers the permission. A program cannot learn on Wayland
which window has the focus.
"""

from __future__ import annotations

import contextlib
import os
import queue
import select
import shutil
import subprocess
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.platform.dbus import BUS, CALL_TIMEOUT_S, session_address
from jarvis_desktop.platform.hotkey_portal import DESKTOP, PORTAL, REGISTRY, REQUEST, new_token
from jarvis_desktop.platform.insertion import insert_in_parts, keysym, typeable
from jarvis_desktop.platform.password_field import PasswordField

REMOTE = "org.freedesktop.portal.RemoteDesktop"
CLIPBOARD = "org.freedesktop.portal.Clipboard"
PROPERTIES = "org.freedesktop.DBus.Properties"
KEYBOARD = 1
UNTIL_REVOKED = 2
"""How long the desktop remembers the permission."""
CONTROL, SHIFT, V = 0xFFE3, 0xFFE1, 0x76
CHORDS = (CONTROL, SHIFT, V), (CONTROL, V)
"""Terminals and browsers paste plain text with the first, which most other programs ignore; those
paste with the second, which is a command in a terminal."""
TEXT_TYPES = ("text/plain;charset=utf-8", "text/plain", "UTF8_STRING")
QUESTION_WAIT_S = 120.0
"""Seconds for the user to answer the desktop's question."""
RELEASE_WAIT_S = 0.3
"""Seconds for the user to release the modifiers of the dictation key, which nobody reports."""
SETTLE_S = 0.15
PASTE_WAIT_S = 0.5
"""Seconds in which a program fetches what it pastes."""
READ_WAIT_S = 2.0
MOST_KEPT = 64 * 2**20
"""Bytes of the earlier clipboard that are kept and put back."""

NO_WAY = mark("This Wayland desktop lets no program insert text.")
INSTALL_WTYPE = mark(
    "Install xdg-desktop-portal for your desktop, or wtype on sway, Hyprland and their like."
)
REFUSED = mark("The desktop did not permit JARVIS to insert text.")
PERMIT = mark("Dictate again and permit it in the question that the desktop asks.")
NOT_PASTED = mark("The program did not paste the text.")
ON_CLIPBOARD = mark("It is on the clipboard: paste it yourself.")
FAILED = mark("The portal of the desktop failed: {words}")


class WaylandInserter:
    """Implements core.speech.TextInserter.

    `app_id` is the name of the program's .desktop file; the permission's token is kept in `folder`.
    """

    def __init__(self, app_id: str, folder: Path) -> None:
        self._app_id = app_id
        self._token = folder / "insertion-permission"
        self._session: InsertionSession | None = None
        self._password = PasswordField()
        self._lock = threading.Lock()

    def check(self) -> str | None:
        """Return None, or why there is no way."""
        if not shutil.which("wtype"):
            try:
                _PortalConnection().close()
            except UnavailableError:
                return f"{tr(NO_WAY)} {tr(INSTALL_WTYPE)}"
        return self._password.check()

    def aim(self) -> None:
        """Do nothing: the focus is not known."""

    def insert(self, text: str) -> None:
        """Insert the text; the desktop may ask the user first. Raises InsertionError."""
        with self._lock:
            insert_in_parts(typeable(text), self._insert, self._password.refuse)

    def close(self) -> None:
        """End the session, and with it the copy of the earlier clipboard."""
        with self._lock:
            if self._session:
                self._session.close()
            self._session = None

    def _insert(self, text: str) -> int:
        if not _typed_by_wtype(text):
            if self._session and self._session.is_over:
                self._session.close()
                self._session = None
            if not self._session:
                self._session = InsertionSession(self._app_id, self._token)
            self._session.insert(text)
        return len(text)


def _typed_by_wtype(text: str) -> bool:
    """Whether there is wtype, and this desktop has the protocol that it needs."""
    wtype = shutil.which("wtype")
    if not wtype:
        return False
    done = subprocess.run([wtype, "-"], input=text.encode(), capture_output=True, check=False)
    return done.returncode == 0


class InsertionSession:
    """A permission to press keys and to fill the clipboard. Raises UnavailableError."""

    def __init__(self, app_id: str, token: Path) -> None:
        self.is_over = False
        """Whether the desktop ended it."""
        self._clipboard: dict[str, bytes] = {}
        """What other programs get from the clipboard, by its type."""
        self._offered: list[str] = []
        """The types that the clipboard has of another program."""
        self._fetched: queue.Queue[str] = queue.Queue()
        self._portal = _PortalConnection()
        try:
            with contextlib.suppress(_CallError):  # of older portals, and in a sandbox
                self._portal.call(REGISTRY, "Register", "sa{sv}", app_id, {})
            self._path = self._start(token)
        except BaseException:
            self._portal.close()
            raise

    def insert(self, text: str) -> None:
        """Paste the text, or press its keys if the portal has no clipboard."""
        time.sleep(RELEASE_WAIT_S)
        if not self._has_clipboard:
            for char in text:
                self._press(keysym(char))
            return
        kept = self._read()
        self._offer(dict.fromkeys(TEXT_TYPES, text.encode()))
        if not self._paste():
            raise UnavailableError(tr(NOT_PASTED), hint=tr(ON_CLIPBOARD))
        self._settle()
        if kept:
            self._offer(kept)

    def close(self) -> None:
        """End it."""
        self.is_over = True
        self._portal.close()

    def _start(self, token: Path) -> str:
        portal = self._portal
        options: dict[str, Any] = {"session_handle_token": ("s", new_token())}
        created = portal.request("CreateSession", "a{sv}", options=options, wait=CALL_TIMEOUT_S)
        path = str(created["session_handle"])
        portal.listen(lambda *signal: self._signalled(path, *signal))
        options = {"types": ("u", KEYBOARD), "persist_mode": ("u", UNTIL_REVOKED)}
        with contextlib.suppress(OSError):
            options["restore_token"] = ("s", token.read_text())
        portal.request("SelectDevices", "oa{sv}", path, options=options, wait=CALL_TIMEOUT_S)
        with contextlib.suppress(_CallError):  # of older portals
            portal.call(CLIPBOARD, "RequestClipboard", "oa{sv}", path, {})
        results = portal.request("Start", "osa{sv}", path, "", options={}, wait=QUESTION_WAIT_S)
        if not results.get("devices", 0) & KEYBOARD:
            raise UnavailableError(tr(REFUSED), hint=tr(PERMIT))
        self._has_clipboard = bool(results.get("clipboard_enabled"))
        if permission := results.get("restore_token"):
            token.parent.mkdir(parents=True, exist_ok=True)
            token.write_text(permission)
            token.chmod(0o600)
        return path

    def _press(self, *keysyms: int) -> None:
        for state, symbols in ((1, keysyms), (0, keysyms[::-1])):
            for symbol in symbols:
                call = "NotifyKeyboardKeysym", "oa{sv}iu"
                self._portal.call(REMOTE, *call, self._path, {}, symbol, state)

    def _paste(self) -> bool:
        """Press the keys to paste; return whether a program fetched the text then."""
        for chord in CHORDS:
            self._settle()
            self._press(*chord)
            with contextlib.suppress(queue.Empty):
                self._fetched.get(timeout=PASTE_WAIT_S)
                return True
        return False

    def _settle(self) -> None:
        """Wait until nobody fetches the clipboard, as programs do that keep its history."""
        with contextlib.suppress(queue.Empty):
            while True:
                self._fetched.get(timeout=SETTLE_S)

    # The clipboard

    def _offer(self, contents: dict[str, bytes]) -> None:
        self._clipboard = contents
        types = {"mime_types": ("as", list(contents))}
        self._portal.call(CLIPBOARD, "SetSelection", "oa{sv}", self._path, types)

    def _read(self) -> dict[str, bytes]:
        """What is on the clipboard now, in all its formats."""
        if not self._offered:
            return self._clipboard
        kept: dict[str, bytes] = {}
        for kind in self._offered:
            with contextlib.suppress(_CallError):
                signature = "os"
                (file,) = self._portal.call(CLIPBOARD, "SelectionRead", signature, self._path, kind)
                data = _read_all(file.to_raw_fd(), MOST_KEPT - sum(map(len, kept.values())))
                if data is not None:
                    kept[kind] = data
        return kept

    def _signalled(self, session: str, path: str, member: str, body: tuple[Any, ...]) -> None:
        if member == "Closed" and path == session:
            self.is_over = True
        elif body[0] != session:
            return
        elif member == "SelectionOwnerChanged":
            about = {name: value for name, (_, value) in body[1].items()}
            is_ours = about.get("session_is_owner", False)
            self._offered = [] if is_ours else list(about.get("mime_types", ()))
        elif member == "SelectionTransfer":
            _, kind, serial = body
            data = self._clipboard.get(kind, b"")
            self._fetched.put(kind)
            with contextlib.suppress(_CallError, OSError):
                (file,) = self._portal.call(CLIPBOARD, "SelectionWrite", "ou", session, serial)
                with os.fdopen(file.to_raw_fd(), "wb") as pipe:
                    pipe.write(data)
                self._portal.call(CLIPBOARD, "SelectionWriteDone", "oub", session, serial, True)


def _read_all(number: int, most: int) -> bytes | None:
    """Everything that a pipe brings soon, if it is not too much; closes it."""
    data = b""
    until = time.monotonic() + READ_WAIT_S
    with os.fdopen(number, "rb", buffering=0) as pipe:
        while (left := until - time.monotonic()) > 0 and len(data) <= most:
            if select.select([pipe], [], [], left)[0]:
                if not (some := pipe.read(1 << 16)):
                    return data
                data += some
    return None


class _CallError(UnavailableError):
    """The portal refused a call."""


class _PortalConnection:
    """A connection to the portal that also passes files, which MessageBus does not."""

    def __init__(self) -> None:
        """Connect. Raises UnavailableError."""
        from jeepney import DBusAddress
        from jeepney.io.threading import DBusRouter, open_dbus_connection

        try:
            self._connection = open_dbus_connection(session_address(), enable_fds=True)
        except (OSError, ValueError, RuntimeError) as error:
            raise UnavailableError(tr(NO_WAY), hint=tr(INSTALL_WTYPE)) from error
        self._router = DBusRouter(self._connection)
        self._signals: queue.Queue[Any] = queue.Queue()
        self._listening: threading.Thread | None = None
        self._address = DBusAddress(DESKTOP, bus_name=PORTAL)
        try:
            self.call(PROPERTIES, "Get", "ss", REMOTE, "version")
            bus = DBusAddress("/org/freedesktop/DBus", bus_name=BUS, interface=BUS)
            (self._owner,) = self._call(bus, "GetNameOwner", "s", PORTAL)
        except UnavailableError as error:
            self.close()
            raise UnavailableError(tr(NO_WAY), hint=tr(INSTALL_WTYPE)) from error

    def close(self) -> None:
        """Disconnect, which ends the session."""
        if self._listening:
            self._signals.put(None)
            self._listening.join()
        self._router.close()
        self._connection.close()

    def call(self, interface: str, method: str, signature: str, *arguments: object) -> Any:
        """Call a method and return its results. Raises _CallError."""
        address = self._address.with_interface(interface)
        return self._call(address, method, signature, *arguments)

    def request(
        self, method: str, signature: str, *arguments: object, options: Any, wait: float
    ) -> dict[str, Any]:
        """Call a method that a signal answers, and return its results. Raises UnavailableError."""
        from jeepney import MatchRule

        token = new_token()
        sender = self._connection.unique_name.removeprefix(":").replace(".", "_")
        handle = f"{DESKTOP}/request/{sender}/{token}"
        rule = MatchRule(type="signal", sender=self._owner, interface=REQUEST, path=handle)
        with self._router.filter(rule) as responses:
            given = {"handle_token": ("s", token), **options}
            self.call(REMOTE, method, signature, *arguments, given)
            with contextlib.suppress(queue.Empty):
                code, results = responses.get(timeout=wait).body
                if code == 0:
                    return {name: value for name, (_, value) in results.items()}
        raise UnavailableError(tr(REFUSED), hint=tr(PERMIT))

    def listen(self, signalled: Callable[[str, str, tuple[Any, ...]], None]) -> None:
        """Call this in a thread with the path, the name and the body of each signal."""
        from jeepney import HeaderFields, MatchRule

        rule = MatchRule(type="signal", sender=self._owner)

        def work() -> None:
            with self._router.filter(rule, queue=self._signals):
                ready.set()
                while message := self._signals.get():
                    fields = message.header.fields
                    path, member = fields[HeaderFields.path], fields[HeaderFields.member]
                    signalled(path, member, message.body)

        ready = threading.Event()
        self._listening = threading.Thread(target=work, name="clipboard", daemon=True)
        self._listening.start()
        ready.wait()

    def _call(self, address: Any, method: str, signature: str, *arguments: object) -> Any:
        from jeepney import MessageType, new_method_call
        from jeepney.io.common import RouterClosed

        message = new_method_call(address, method, signature, arguments)
        try:
            answer = self._router.send_and_get_reply(message, timeout=CALL_TIMEOUT_S)
        except (OSError, TimeoutError, RouterClosed, KeyError) as error:  # the last is a slip there
            raise _CallError(tr(FAILED, words=type(error).__name__)) from error
        if answer.header.message_type is MessageType.error:
            words = answer.body[0] if answer.body and isinstance(answer.body[0], str) else method
            raise _CallError(tr(FAILED, words=one_line(words)))
        return answer.body
