"""Shortcuts granted by freedesktop.org's GlobalShortcuts portal, as on Wayland.

A program can bind the shortcuts of a session only once, so all keys are requested together, in one
question to the user; a change needs a new session.
"""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.dbus import BUS, BusSignal, CallError, MessageBus, Options
from jarvis_desktop.platform.shortcut import Combination, GlobalShortcut, PressState, StatusListener

PORTAL = "org.freedesktop.portal.Desktop"
DESKTOP = "/org/freedesktop/portal/desktop"
SHORTCUTS = "org.freedesktop.portal.GlobalShortcuts"
REGISTRY = "org.freedesktop.host.portal.Registry"
REQUEST = "org.freedesktop.portal.Request"
SESSION = "org.freedesktop.portal.Session"
RETRY_DELAYS_S: Sequence[float] = (0.5, 2, 8, 30)
"""Seconds before each new attempt to get the keys back."""
MIN_SESSION_S = 60.0
"""Seconds; a session that the desktop closes sooner counts as a failed attempt."""

NO_PORTAL = mark("This desktop has no portal (xdg-desktop-portal) that grants keys to programs.")
NO_SHORTCUTS = mark(
    "The portal of this desktop grants no keys to programs (GNOME's does from version 48)."
)
UNKNOWN = mark(
    "The desktop grants keys only to installed programs, and {app_id}.desktop is not in its list."
)
REFUSED_WORDS = mark("The key was not granted in the question that the desktop asked.")
AGAIN = mark(
    "To be asked again, restart JARVIS; to stop the question, remove the key from the settings."
)
GONE = mark("The portal of the desktop has ended; JARVIS waits for it.")
CLOSED = mark("The desktop took the key back; JARVIS asks for it again.")
TAKEN = mark("The desktop took the key back.")
BUS_GONE = mark("The message bus of the session has ended, and the key with it.")

ENDED = -1
"""Besides the portal's own codes of a response: 0 done, 1 refused, 2 otherwise."""
SIGNATURES = {
    (BUS, "NameOwnerChanged"): "sss",
    (REQUEST, "Response"): "ua{sv}",
    (SESSION, "Closed"): "a{sv}",
    (SHORTCUTS, "Activated"): "osta{sv}",
    (SHORTCUTS, "Deactivated"): "osta{sv}",
    (SHORTCUTS, "ShortcutsChanged"): "oa(sa{sv})",
}
"""Of the signals that are handled here."""

log = logging.getLogger(__name__)


class _RefusedError(UnavailableError):
    """The user refused; the question is not repeated."""


def refused() -> UnavailableError:
    """Return the error for a key that the user refused."""
    return _RefusedError(tr(REFUSED_WORDS), hint=tr(AGAIN))


class PortalSession:
    """Keeps some keys bound, with a new session whenever the desktop ends one."""

    def __init__(self, keys: Sequence[PortalKey], *, app_id: str) -> None:
        self.keys = tuple(keys)
        """The keys to inform; one may leave."""
        self._app_id = app_id
        self._bus: MessageBus | None = None
        self._owner = ""
        """The bus's name for the portal now."""
        self._registered_with = ""
        self._opening = ""
        """The session that is being set up."""
        self._session = ""
        """The session that has the keys."""
        self._since = 0.0
        """When it got them."""
        self._brief = 0
        """Sessions in a row that were closed at once."""
        self._was_bound = self._was_refused = False
        self._responses: dict[str, asyncio.Future[tuple[int, dict[str, Any]]]] = {}
        self._again: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Request the keys; the desktop may ask the user. Raises UnavailableError."""
        self._bus = await MessageBus.open(self._signalled, self._lost)
        try:
            for rule in (
                f"type='signal',sender='{PORTAL}',path_namespace='{DESKTOP}'",
                f"type='signal',sender='{BUS}',member='NameOwnerChanged',arg0='{PORTAL}'",
            ):
                await self._bus.call_bus("AddMatch", "s", rule)
        except CallError as error:
            raise UnavailableError(tr(NO_PORTAL)) from error
        await self._begin()
        self._was_bound = True

    async def close(self) -> None:
        """Release the keys: a portal's grants end when the program leaves the bus."""
        bus, self._bus = self._bus, None
        self.keys = ()
        if self._again:
            self._again.cancel()
        if bus:
            await bus.close()
        if self._again:
            await asyncio.gather(self._again, return_exceptions=True)

    async def _begin(self) -> None:
        """Set up the first session or a later one."""
        try:
            await self._find()
        except CallError as error:
            raise UnavailableError(tr(NO_PORTAL)) from error
        await self._register()
        try:
            session = self._opening = await self._create_session()
            shortcuts = await self._bind_shortcuts(session)
        except CallError as error:
            raise self._reason(error) from error
        if self._opening != session:
            raise UnavailableError(tr(TAKEN))
        self._session, self._opening, self._since = session, "", _time()
        for key in self.keys:
            key.granted(shortcuts, self._app_id)

    async def _find(self) -> None:
        """Start the portal if it does not run."""
        assert self._bus is not None
        try:
            (self._owner,) = await self._bus.call_bus("GetNameOwner", "s", PORTAL)
        except CallError:
            await self._bus.call_bus("StartServiceByName", "su", PORTAL, 0)
            (self._owner,) = await self._bus.call_bus("GetNameOwner", "s", PORTAL)

    async def _register(self) -> None:
        """Identify this program to the portal before anything else."""
        assert self._bus is not None
        if self._registered_with == self._owner:
            return
        self._registered_with = self._owner
        try:
            await self._call(REGISTRY, "Register", "sa{sv}", self._app_id, {})
        except CallError as error:
            # Older portals lack this interface, and those of a sandbox identify the program
            # themselves.
            log.debug("The portal did not register this program: %s", error.name)

    async def _create_session(self) -> str:
        options: Options = {"session_handle_token": ("s", new_token())}
        results = await self._request("CreateSession", "a{sv}", options=options)
        kind, session = results.get("session_handle", ("", ""))
        if kind not in ("s", "o") or not session:
            raise UnavailableError(tr("The portal of the desktop opened no session."))
        return str(session)

    async def _bind_shortcuts(self, session: str) -> list[Any]:
        wanted = [
            (
                key.id,
                {
                    "description": ("s", tr(key.shortcut.description)),
                    "preferred_trigger": ("s", key.combination.xdg),
                },
            )
            for key in self.keys
        ]
        results = await self._request("BindShortcuts", "oa(sa{sv})sa{sv}", session, wanted, "")
        bound = _shortcuts(results)
        if bound is not None and not dict(bound).keys() & {key.id for key in self.keys}:
            raise refused()
        if bound and all(trigger(bound, name) for name, _ in bound):
            return bound
        try:  # some desktops do not return what they bound
            listed = await self._request("ListShortcuts", "oa{sv}", session)
        except (CallError, UnavailableError):
            return bound or []
        return _shortcuts(listed) or bound or []

    async def _call(self, interface: str, method: str, signature: str, *arguments: object) -> Any:
        assert self._bus is not None
        return await self._bus.call(
            interface, method, signature, *arguments, path=DESKTOP, to=PORTAL
        )

    async def _request(
        self, method: str, signature: str, *arguments: object, options: Options | None = None
    ) -> dict[str, Any]:
        """Call a method that is answered by a signal, perhaps before the call returns.

        Raises CallError, and UnavailableError if the user or the portal ended it.
        """
        assert self._bus is not None
        token = new_token()
        sender = self._bus.name.removeprefix(":").replace(".", "_")
        handle = f"{DESKTOP}/request/{sender}/{token}"
        response = self._responses[handle] = asyncio.get_running_loop().create_future()
        given = {"handle_token": ("s", token), **(options or {})}
        try:
            (other,) = await self._call(SHORTCUTS, method, signature, *arguments, given)
            self._responses[other] = response
            code, results = await response
        finally:
            for path in [path for path, kept in self._responses.items() if kept is response]:
                del self._responses[path]
        if code == 1:
            raise refused()
        if code == ENDED:
            raise UnavailableError(results["why"])
        if code != 0:
            raise UnavailableError(tr("The portal of the desktop could not give the key."))
        return dict(results)

    def _reason(self, error: CallError) -> UnavailableError:
        if error.name.endswith(("UnknownMethod", "UnknownInterface", "UnknownObject")):
            return UnavailableError(tr(NO_SHORTCUTS))
        if error.name.endswith("NotAllowed"):
            return UnavailableError(tr(UNKNOWN, app_id=self._app_id))
        words = one_line(error.text or error.name)
        return UnavailableError(
            tr("The portal of the desktop refused the key: {words}", words=words)
        )

    # Signals of the bus and the portal

    def _signalled(self, signal: BusSignal) -> None:
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
            self._of_shortcut(signal.member, signal.body[1], signal.body[-1])

    def _of_shortcut(self, member: str, about: Any, options: Any) -> None:
        for key in self.keys:
            if member == "ShortcutsChanged":
                if key.id in dict(about):
                    key.granted(about, self._app_id)
            elif about != key.id:
                continue
            elif member == "Activated":
                key.activated(str(options.get("activation_token", ("s", ""))[1]))
            else:
                key.deactivated()

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
            self._brief = self._brief + 1 if _time() - self._since < MIN_SESSION_S else 0
            enough = self._brief > len(RETRY_DELAYS_S)
            self._taken(TAKEN if enough else CLOSED)
            if not enough:
                self._try_again()

    def _lost(self) -> None:
        self._fail_requests(BUS_GONE)
        self._taken(BUS_GONE)

    def _taken(self, why: str) -> None:
        self._session = ""
        for key in self.keys:
            key.lost(None if self._was_refused else HotkeyStatus(why=tr(why)))

    def _fail_requests(self, why: str) -> None:
        for response in self._responses.values():
            if not response.done():
                response.set_result((ENDED, {"why": tr(why)}))

    def _try_again(self, *, at_once: bool = False) -> None:
        if self._was_refused:
            return
        if self._again:
            self._again.cancel()
        self._again = asyncio.create_task(self._bind_again(0 if at_once else RETRY_DELAYS_S[0]))

    async def _bind_again(self, pause: float) -> None:
        for pause_before in (pause, *RETRY_DELAYS_S):
            await asyncio.sleep(pause_before)
            try:
                return await self._begin()
            except UnavailableError as error:
                self._was_refused = isinstance(error, _RefusedError)
                for key in self.keys:
                    key.become(HotkeyStatus(why=str(error)))
                if self._was_refused:
                    return None
        return None


def _shortcuts(results: dict[str, Any]) -> list[Any] | None:
    """The list of (id, properties) in an answer, or None."""
    kind, found = results.get("shortcuts", ("", None))
    return list(found) if kind == "a(sa{sv})" else None


def trigger(shortcuts: Sequence[Any], name: str) -> str:
    """Return the desktop's name for the key with that id."""
    properties = dict(shortcuts).get(name, {})
    return str(properties.get("trigger_description", ("s", ""))[1])


def new_token() -> str:
    """Return a name for a request to a portal, or for a session with it."""
    return f"jarvis_{secrets.token_hex(8)}"


def _time() -> float:
    return asyncio.get_running_loop().time()


COLLECT_S = 0.05
"""Seconds in which keys of the same moment are collected."""
REPEAT_S = 1.0
"""Seconds; another press within them is a key that repeats."""
WHY = mark("The desktop granted the key to JARVIS; change it in the desktop's settings.")
UNSAID = mark(
    "The desktop granted a key to JARVIS but does not say which. If none is set, set one for "
    '"{name}" in its keyboard settings; Hyprland takes a line such as {line}'
)


class PortalKeys:
    """The keys of this program, in one session with the portal."""

    def __init__(self, app_id: str) -> None:
        """`app_id` is the name of the program's .desktop file, by which desktops remember keys."""
        self._app_id = app_id
        self._wanted: dict[str, PortalKey] = {}
        self._asked: tuple[PortalKey, ...] = ()
        """The keys that were requested last, granted or not."""
        self._current: PortalSession | None = None
        self._renewing = asyncio.Lock()
        self._later: asyncio.Task[None] | None = None

    async def request(self, key: PortalKey) -> None:
        """Request a key together with all others that are wanted. Raises UnavailableError."""
        self._wanted[key.id] = key
        async with self._renewing:
            if key not in self._asked:
                await asyncio.sleep(COLLECT_S)
                await self._renew()
            if key.problem:
                raise key.problem

    async def release(self, key: PortalKey) -> None:
        """Release a key; the others are requested again a moment later."""
        if self._wanted.get(key.id) is key:
            del self._wanted[key.id]
        if self._later:
            self._later.cancel()
        if self._current and self._wanted:
            self._current.keys = tuple(each for each in self._current.keys if each is not key)
            self._later = asyncio.create_task(self._without())
        elif self._current:
            await self._end()

    async def _without(self) -> None:
        await asyncio.sleep(COLLECT_S)
        async with self._renewing:
            if self._asked != tuple(self._wanted.values()):
                await self._renew()

    async def _end(self) -> None:
        session, self._current, self._asked = self._current, None, ()
        if session:
            await asyncio.shield(session.close())  # a cancelled caller does not wait for it

    async def _renew(self) -> None:
        """Request exactly the keys that are wanted."""
        await self._end()
        keys = self._asked = tuple(self._wanted.values())
        for key in keys:
            key.problem = None
        session = self._current = PortalSession(keys, app_id=self._app_id)
        try:
            await session.open()
        except UnavailableError as error:
            await self._end()
            self._asked = keys  # the request has its answer
            for key in keys:
                key.problem = error
        except BaseException:
            self._asked = ()  # a waiting caller requests again
            raise


class PortalKey:
    """A hotkey that the portal grants."""

    def __init__(
        self,
        shortcut: GlobalShortcut,
        combination: Combination,
        changed: StatusListener,
        keys: PortalKeys,
    ) -> None:
        self.shortcut = shortcut
        self.combination = combination
        self.problem: UnavailableError | None = None
        """Why it was not granted."""
        self._changed = changed
        self._portal = keys
        self._keys = PressState(lambda: None, lambda: None)
        self._status = HotkeyStatus()
        self._is_bound = False
        self._pressed_at = 0.0
        self._tells_release: bool | None = None
        """Whether releases are reported; None if not known yet."""

    @property
    def id(self) -> str:
        """The portal's name for the key."""
        return self.shortcut.id

    async def bind(self, keys: PressState) -> HotkeyStatus:
        """Request the key; the desktop may ask the user. Raises UnavailableError."""
        self._keys = keys
        await self._portal.request(self)
        self._is_bound = True
        return self._status

    async def close(self) -> None:
        """Release the key."""
        self._is_bound = False
        await self._portal.release(self)

    def granted(self, shortcuts: Sequence[Any], app_id: str) -> None:
        """Take the bound shortcuts as the portal describes them; an empty list says nothing."""
        if shortcuts and self.id not in dict(shortcuts):
            self.problem = refused()
            self.become(HotkeyStatus(why=tr(REFUSED_WORDS)))
            return
        name = one_line(trigger(shortcuts, self.id), limit=60)
        line = f"bind = CTRL ALT, space, global, {app_id}:{self.id}"
        unsaid = tr(UNSAID, name=tr(self.shortcut.description), line=line)
        holds = self._tells_release is not False
        why = tr(WHY) if name else unsaid
        self.become(HotkeyStatus("portal", name, holds=holds, why=why))

    def lost(self, status: HotkeyStatus | None) -> None:
        """Note that the key is lost; `status`, if any, says why."""
        self._keys.up()
        if status:
            self.become(status)

    def become(self, status: HotkeyStatus) -> None:
        """Set and report the status."""
        if status != self._status:
            self._status = status
            if self._is_bound:
                self._changed(status)

    def activated(self, token: str) -> None:
        """Handle a press. If the key is still down, its release was lost or is never reported."""
        now = asyncio.get_running_loop().time()
        before, self._pressed_at = self._pressed_at, now
        if self._keys.is_down and now - before > REPEAT_S:
            if self._tells_release is None:
                self._releases(False)
            self._keys.up()
        self._keys.down(token)
        if self._tells_release is False:
            self._keys.up()

    def deactivated(self) -> None:
        """Handle a release."""
        self._releases(True)
        self._keys.up()

    def _releases(self, told: bool) -> None:
        changed, self._tells_release = told is (self._tells_release is False), told
        if changed:
            self.become(replace(self._status, holds=told))
