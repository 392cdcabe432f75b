"""The talk key by the GlobalShortcuts portal of freedesktop.org: the way of Wayland desktops."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.hotkeys.keys import Combination
from jarvis_desktop.hotkeys.portal_bus import (
    BUS,
    DESKTOP,
    PORTAL,
    CallError,
    Options,
    PortalBus,
    Signal,
)
from jarvis_desktop.hotkeys.pressing import Changed, Pressing

SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REGISTRY = "org.freedesktop.host.portal.Registry"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
TALK = "talk"
"""The id of the shortcut; desktops remember its key by it."""
DESCRIPTION = "Talk to JARVIS"
PAUSES: Sequence[float] = (0.5, 2, 8, 30)
"""Seconds before each new attempt to have the key again."""
BRIEF = 60.0
"""Seconds; a session that the desktop closes sooner counts as an attempt that failed."""
REPEATING = 1.0
"""Seconds within which a key that is told as pressed again repeats itself."""

WHY = "The desktop lends the key to JARVIS; it is changed in the desktop's settings."
UNSAID = (
    "The desktop lends a key to JARVIS but does not say which. Where none is set, set one for "
    f'"{DESCRIPTION}" in its keyboard settings; Hyprland takes a line such as '
    "bind = CTRL ALT, space, global, {app_id}:" + TALK
)
NO_PORTAL = "This desktop has no portal (xdg-desktop-portal) that lends keys to programs."
NO_SHORTCUTS = "The portal of this desktop lends no keys to programs (GNOME does from version 48)."
UNKNOWN = (
    "The desktop lends keys only to programs that are installed, and {app_id}.desktop is not in "
    "its list."
)
REFUSED = "The key was not granted in the question that the desktop asked."
AGAIN = "To be asked again, start JARVIS again; to be asked no more, set no talk key."
GONE = "The portal of the desktop has ended; JARVIS waits for it."
CLOSED = "The desktop took the key back; JARVIS asks for it again."
TAKEN = "The desktop took the key back."
BUS_GONE = "The message bus of the session has ended, and the talk key with it."

ENDED = -1
"""Beside the portal's own codes for how a request went: 0 done, 1 refused, 2 otherwise."""
SIGNATURES = {
    (BUS, "NameOwnerChanged"): "sss",
    (REQUEST, "Response"): "ua{sv}",
    (SESSION, "Closed"): "a{sv}",
    (SHORTCUTS, "Activated"): "osta{sv}",
    (SHORTCUTS, "Deactivated"): "osta{sv}",
    (SHORTCUTS, "ShortcutsChanged"): "oa(sa{sv})",
}
"""Of the signals that mean something here."""

log = logging.getLogger(__name__)


class _RefusedError(UnavailableError):
    """The person does not want it: nobody asks them again."""


class PortalKey:
    """Implements pressing.Way."""

    def __init__(self, combination: Combination, changed: Changed, *, app_id: str) -> None:
        self._combination = combination
        self._changed = changed
        self._app_id = app_id
        self._keys = Pressing(lambda: None, lambda: None)
        self._bus: PortalBus | None = None
        self._status = HotkeyStatus()
        self._owner = ""
        """Who is the portal at this moment, as the bus names it."""
        self._registered_with = ""
        self._opening = ""
        """The session that is about to get the key."""
        self._session = ""
        """The session that has it."""
        self._since = 0.0
        """When it got it."""
        self._brief = 0
        """Sessions in a row that were closed at once."""
        self._was_bound = self._was_refused = False
        self._responses: dict[str, asyncio.Future[tuple[int, dict[str, Any]]]] = {}
        self._again: asyncio.Task[None] | None = None
        self._pressed_at = 0.0
        self._tells_release: bool | None = None
        """Whether letting it go is told; None before anything is known of that."""

    async def bind(self, keys: Pressing) -> HotkeyStatus:
        """Ask the desktop for the key, which may ask the person. Raises UnavailableError."""
        self._keys = keys
        self._bus = await PortalBus.open(self._signalled, self._lost)
        try:
            for rule in (
                f"type='signal',sender='{PORTAL}',path_namespace='{DESKTOP}'",
                f"type='signal',sender='{BUS}',member='NameOwnerChanged',arg0='{PORTAL}'",
            ):
                await self._bus.call_bus("AddMatch", "s", rule)
        except CallError as error:
            raise UnavailableError(NO_PORTAL) from error
        self._status = await self._begin()
        self._was_bound = True
        return self._status

    async def close(self) -> None:
        """Give it back: what a program has of a portal ends when it leaves the bus."""
        bus, self._bus = self._bus, None
        if self._again:
            self._again.cancel()
        if bus:
            await bus.close()
        if self._again:
            await asyncio.gather(self._again, return_exceptions=True)

    async def _begin(self) -> HotkeyStatus:
        """A session with the portal that has the key; the same for the first and any later one."""
        try:
            await self._find()
        except CallError as error:
            raise UnavailableError(NO_PORTAL) from error
        await self._register()
        try:
            session = self._opening = await self._create_session()
            shortcuts = await self._bind_shortcut(session)
        except CallError as error:
            raise self._reason(error) from error
        if self._opening != session:
            raise UnavailableError(TAKEN)
        self._session, self._opening, self._since = session, "", _time()
        return self._described(shortcuts)

    async def _find(self) -> None:
        """Have the portal started where it does not run."""
        assert self._bus is not None
        try:
            (self._owner,) = await self._bus.call_bus("GetNameOwner", "s", PORTAL)
        except CallError:
            await self._bus.call_bus("StartServiceByName", "su", PORTAL, 0)
            (self._owner,) = await self._bus.call_bus("GetNameOwner", "s", PORTAL)

    async def _register(self) -> None:
        """Say which program this is, once and before all else."""
        assert self._bus is not None
        if self._registered_with == self._owner:
            return
        self._registered_with = self._owner
        try:
            await self._bus.call(REGISTRY, "Register", "sa{sv}", self._app_id, {})
        except CallError as error:
            # Older portals have no such interface, and those of a sandbox know who is in it.
            log.debug("The portal did not register this program: %s", error.name)

    async def _create_session(self) -> str:
        options: Options = {"session_handle_token": ("s", _token())}
        results = await self._request("CreateSession", "a{sv}", options=options)
        kind, session = results.get("session_handle", ("", ""))
        if kind not in ("s", "o") or not session:
            raise UnavailableError("The portal of the desktop opened no session.")
        return str(session)

    async def _bind_shortcut(self, session: str) -> list[Any]:
        wanted = {
            "description": ("s", DESCRIPTION),
            "preferred_trigger": ("s", self._combination.xdg),
        }
        results = await self._request(
            "BindShortcuts", "oa(sa{sv})sa{sv}", session, [(TALK, wanted)], ""
        )
        bound = _shortcuts(results)
        if bound is not None and TALK not in dict(bound):
            raise _RefusedError(REFUSED, hint=AGAIN)
        if bound and _trigger(bound):
            return bound
        try:  # not all desktops answer with what they bound
            listed = await self._request("ListShortcuts", "oa{sv}", session)
        except (CallError, UnavailableError):
            return bound or []
        return _shortcuts(listed) or bound or []

    async def _request(
        self, method: str, signature: str, *arguments: object, options: Options | None = None
    ) -> dict[str, Any]:
        """Call a method that answers by a signal, which may come before the call returns.

        Raises CallError, and UnavailableError where the person or the portal ended it.
        """
        assert self._bus is not None
        token = _token()
        sender = self._bus.name.removeprefix(":").replace(".", "_")
        handle = f"{DESKTOP}/request/{sender}/{token}"
        response = self._responses[handle] = asyncio.get_running_loop().create_future()
        given = {"handle_token": ("s", token), **(options or {})}
        try:
            (other,) = await self._bus.call(SHORTCUTS, method, signature, *arguments, given)
            self._responses[other] = response
            code, results = await response
        finally:
            for path in [path for path, kept in self._responses.items() if kept is response]:
                del self._responses[path]
        if code == 1:
            raise _RefusedError(REFUSED, hint=AGAIN)
        if code == ENDED:
            raise UnavailableError(results["why"])
        if code != 0:
            raise UnavailableError("The portal of the desktop could not give the key.")
        return dict(results)

    def _reason(self, error: CallError) -> UnavailableError:
        if error.name.endswith(("UnknownMethod", "UnknownInterface", "UnknownObject")):
            return UnavailableError(NO_SHORTCUTS)
        if error.name.endswith("NotAllowed"):
            return UnavailableError(UNKNOWN.format(app_id=self._app_id))
        words = one_line(error.text or error.name)
        return UnavailableError(f"The portal of the desktop refused the key: {words}")

    def _described(self, shortcuts: Sequence[Any]) -> HotkeyStatus:
        key = one_line(_trigger(shortcuts), limit=60)
        why = WHY if key else UNSAID.format(app_id=self._app_id)
        return HotkeyStatus("portal", key, holds=self._tells_release is not False, why=why)

    # What the bus and the portal signal

    def _signalled(self, signal: Signal) -> None:
        kind = signal.interface, signal.member
        if SIGNATURES.get(kind) != signal.signature:
            return
        if signal.sender == BUS:
            self._owner_changed(str(signal.body[2]))
        elif signal.sender != self._owner:
            return  # anybody on the bus could send it
        elif signal.interface == REQUEST:
            if (response := self._responses.get(signal.path)) and not response.done():
                response.set_result((signal.body[0], signal.body[1]))
        elif signal.interface == SESSION:
            self._closed(signal.path)
        elif signal.body[0] == self._session:
            self._of_shortcut(signal.member, signal.body[1])

    def _of_shortcut(self, member: str, about: Any) -> None:
        if member == "ShortcutsChanged":
            self._become(self._described(about))
        elif about == TALK and member == "Activated":
            self._activated()
        elif about == TALK:
            self._releases(True)
            self._keys.up()

    def _activated(self) -> None:
        """It was pressed; where it is down still, its release was lost, or never comes."""
        before, self._pressed_at = self._pressed_at, _time()
        if self._keys.is_down and self._pressed_at - before > REPEATING:
            if self._tells_release is None:
                self._releases(False)
            self._keys.up()
        self._keys.down()
        if self._tells_release is False:
            self._keys.up()

    def _releases(self, told: bool) -> None:
        changed, self._tells_release = told is (self._tells_release is False), told
        if changed:
            self._become(replace(self._status, holds=told))

    def _owner_changed(self, owner: str) -> None:
        if owner == self._owner:
            return
        self._owner = owner
        self._opening = ""
        self._fail_requests(GONE)
        if self._was_bound:
            self._taken(GONE)
            self._try_again(at_once=bool(owner))

    def _closed(self, session: str) -> None:
        if session == self._opening:
            self._opening = ""
            self._fail_requests(TAKEN)
        elif session == self._session:
            self._brief = self._brief + 1 if _time() - self._since < BRIEF else 0
            enough = self._brief > len(PAUSES)
            self._taken(TAKEN if enough else CLOSED)
            if not enough:
                self._try_again()

    def _lost(self) -> None:
        self._fail_requests(BUS_GONE)
        self._taken(BUS_GONE)

    def _taken(self, why: str) -> None:
        self._session = ""
        self._keys.up()
        if not self._was_refused:
            self._become(HotkeyStatus(why=why))

    def _fail_requests(self, why: str) -> None:
        for response in self._responses.values():
            if not response.done():
                response.set_result((ENDED, {"why": why}))

    def _become(self, status: HotkeyStatus) -> None:
        if self._bus is not None and status != self._status:
            self._status = status
            self._changed(status)

    def _try_again(self, *, at_once: bool = False) -> None:
        if self._was_refused:
            return
        if self._again:
            self._again.cancel()
        self._again = asyncio.create_task(self._bind_again(0 if at_once else PAUSES[0]))

    async def _bind_again(self, pause: float) -> None:
        for pause_before in (pause, *PAUSES):
            await asyncio.sleep(pause_before)
            try:
                return self._become(await self._begin())
            except _RefusedError as error:
                self._was_refused = True
                return self._become(HotkeyStatus(why=str(error)))
            except UnavailableError as error:
                self._become(HotkeyStatus(why=str(error)))
        return None


def _shortcuts(results: dict[str, Any]) -> list[Any] | None:
    """The list of (id, properties) in an answer, None where it has none."""
    kind, found = results.get("shortcuts", ("", None))
    return list(found) if kind == "a(sa{sv})" else None


def _trigger(shortcuts: Sequence[Any]) -> str:
    """How the desktop names the key."""
    properties = dict(shortcuts).get(TALK, {})
    return str(properties.get("trigger_description", ("s", ""))[1])


def _token() -> str:
    return f"jarvis_{secrets.token_hex(8)}"


def _time() -> float:
    return asyncio.get_running_loop().time()
