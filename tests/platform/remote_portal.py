"""A stand-in for the portals RemoteDesktop and Clipboard, the user, and the focused program."""

from __future__ import annotations

import os
import threading
from dataclasses import dataclass, field
from typing import Any

from jeepney import (
    DBusAddress,
    HeaderFields,
    MessageType,
    new_error,
    new_method_call,
    new_method_return,
    new_signal,
)
from jeepney.io.threading import ReceiveStopped, open_dbus_connection

NAME = "org.freedesktop.portal.Desktop"
PATH = "/org/freedesktop/portal/desktop"
CLIPBOARD = "org.freedesktop.portal.Clipboard"


@dataclass
class RemotePortal:
    """What it has, how the user answers, and with which keys the program pastes."""

    has_remote: bool = True
    has_clipboard: bool = True
    answer: int = 0
    pastes_with: tuple[int, ...] = (0xFFE3, 0xFFE1, 0x76)
    keeps_history: bool = False
    """Whether a program fetches everything that is new on the clipboard."""
    others: dict[str, bytes] = field(default_factory=dict)
    """The clipboard of another program."""
    questions: int = 0
    """How often the user was asked."""
    typed: list[int] = field(default_factory=list)
    """Keys pressed without a chord, if there is no clipboard."""
    pasted: list[bytes] = field(default_factory=list)
    fetched: list[bytes] = field(default_factory=list)
    offered: list[str] = field(default_factory=list)
    """The types that JARVIS has on the clipboard now."""
    permission: str = ""
    session: str = ""

    def __post_init__(self) -> None:
        self._connection = open_dbus_connection(enable_fds=True)
        bus = DBusAddress("/org/freedesktop/DBus", "org.freedesktop.DBus", "org.freedesktop.DBus")
        self._connection.send(new_method_call(bus, "RequestName", "su", (NAME, 0)))
        while self._connection.receive().header.message_type is not MessageType.method_return:
            pass
        self._held: list[int] = []
        self._pipes: dict[int, int] = {}
        self._purposes: dict[int, list[bytes]] = {}
        self._client = ""
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def stop(self) -> None:
        self._connection.interrupt()
        self._thread.join()
        self._connection.close()

    def end_session(self) -> None:
        self._signal(self.session, "org.freedesktop.portal.Session", "Closed", "a{sv}", ({},))

    def fetch(self, kind: str, into: list[bytes]) -> None:
        """Let a program fetch the clipboard."""
        serial = len(self._purposes) + 1
        self._purposes[serial] = into
        body = (self.session, kind, serial)
        self._signal(PATH, CLIPBOARD, "SelectionTransfer", "osu", body)

    def _serve(self) -> None:
        try:
            while True:
                message = self._connection.receive()
                if message.header.message_type is MessageType.method_call:
                    self._called(message)
        except ReceiveStopped:
            pass

    def _called(self, message: Any) -> None:
        fields = message.header.fields
        self._client = fields[HeaderFields.sender]
        interface, member = fields.get(HeaderFields.interface, ""), fields[HeaderFields.member]
        handler = getattr(self, f"_on_{member}", None)
        missing = (interface == CLIPBOARD and not self.has_clipboard) or not self.has_remote
        if handler is None or missing:
            name = "org.freedesktop.DBus.Error.UnknownMethod"
            self._connection.send(new_error(message, name, "s", ("It is missing.",)))
        else:
            handler(message, *message.body)

    def _return(self, message: Any, signature: str | None = None, *body: object) -> None:
        self._connection.send(new_method_return(message, signature, body))

    def _signal(self, path: str, interface: str, member: str, signature: str, body: Any) -> None:
        message = new_signal(DBusAddress(path, interface=interface), member, signature, body)
        message.header.fields[HeaderFields.destination] = self._client
        self._connection.send(message)

    def _respond(self, message: Any, options: Any, code: int, results: Any) -> None:
        sender = self._client.removeprefix(":").replace(".", "_")
        handle = f"{PATH}/request/{sender}/{options['handle_token'][1]}"
        interface = "org.freedesktop.portal.Request"
        self._signal(handle, interface, "Response", "ua{sv}", (code, results))
        self._return(message, "o", handle)

    def _on_Get(self, message: Any, interface: str, name: str) -> None:
        self._return(message, "v", ("u", 2))

    def _on_CreateSession(self, message: Any, options: Any) -> None:
        self.session = f"{PATH}/session/{options['session_handle_token'][1]}"
        self._respond(message, options, 0, {"session_handle": ("s", self.session)})

    def _on_SelectDevices(self, message: Any, session: str, options: Any) -> None:
        assert options["types"] == ("u", 1)
        assert options["persist_mode"] == ("u", 2)
        self._is_known = options.get("restore_token", ("", ""))[1] == self.permission != ""
        self._respond(message, options, 0, {})

    def _on_RequestClipboard(self, message: Any, session: str, options: Any) -> None:
        self._return(message)

    def _on_Start(self, message: Any, session: str, parent: str, options: Any) -> None:
        if not self._is_known:
            self.questions += 1
        self.permission = f"permission {self.questions} {session[-4:]}"  # each can be used once
        results = {
            "devices": ("u", 1),
            "clipboard_enabled": ("b", self.has_clipboard),
            "restore_token": ("s", self.permission),
        }
        self._tell_owner(False, list(self.others))
        self._respond(message, options, self.answer, results)

    def _tell_owner(self, ours: bool, kinds: list[str]) -> None:
        about = {"mime_types": ("as", kinds), "session_is_owner": ("b", ours)}
        body = (self.session, about)
        self._signal(PATH, CLIPBOARD, "SelectionOwnerChanged", "oa{sv}", body)

    def _on_NotifyKeyboardKeysym(
        self, message: Any, session: str, options: Any, keysym: int, state: int
    ) -> None:
        if state:
            self._held.append(keysym)
            if not self.has_clipboard:
                self.typed.append(keysym)
            if tuple(self._held) == self.pastes_with and self.offered:
                self.fetch(self.offered[0], self.pasted)
        else:
            self._held.remove(keysym)
        self._return(message)

    def _on_SetSelection(self, message: Any, session: str, options: Any) -> None:
        self.offered = options["mime_types"][1]
        self._return(message)
        self._tell_owner(True, self.offered)
        if self.keeps_history:
            self.fetch(self.offered[0], self.fetched)

    def _on_SelectionRead(self, message: Any, session: str, kind: str) -> None:
        ours, theirs = os.pipe()
        os.write(theirs, self.others[kind])
        os.close(theirs)
        self._return(message, "h", ours)
        os.close(ours)

    def _on_SelectionWrite(self, message: Any, session: str, serial: int) -> None:
        self._pipes[serial], theirs = os.pipe()
        self._return(message, "h", theirs)
        os.close(theirs)

    def _on_SelectionWriteDone(self, message: Any, session: str, serial: int, ok: bool) -> None:
        with open(self._pipes.pop(serial), "rb") as pipe:
            self._purposes[serial].append(pipe.read())
        self._return(message)
