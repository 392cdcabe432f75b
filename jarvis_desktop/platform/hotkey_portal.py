"""Keys lent by the GlobalShortcuts portal of freedesktop.org: the way of Wayland desktops.

A program binds all its shortcuts in one session, once; others need a new one.

Keys that are asked of the portal together, as desktops put one question for all of them."""

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
PAUSES: Sequence[float] = (0.5, 2, 8, 30)
"""Seconds before each new attempt to have the key again."""
BRIEF = 60.0
"""Seconds; a session that the desktop closes sooner counts as an attempt that failed."""

NO_PORTAL = mark("This desktop has no portal (xdg-desktop-portal) that lends keys to programs.")
NO_SHORTCUTS = mark(
    "The portal of this desktop lends no keys to programs (GNOME does from version 48)."
)
UNKNOWN = mark(
    "The desktop lends keys only to programs that are installed, and {app_id}.desktop is not in "
    "its list."
)
REFUSED_WORDS = mark("The key was not granted in the question that the desktop asked.")
AGAIN = mark("To be asked again, start JARVIS again; to be asked no more, set no such key.")
GONE = mark("The portal of the desktop has ended; JARVIS waits for it.")
CLOSED = mark("The desktop took the key back; JARVIS asks for it again.")
TAKEN = mark("The desktop took the key back.")
BUS_GONE = mark("The message bus of the session has ended, and the key with it.")

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


def refused() -> UnavailableError:
    """What a person is told who did not grant a key."""
    return _RefusedError(tr(REFUSED_WORDS), hint=tr(AGAIN))


class PortalSession:
    """Some keys, from one session to the next as long as the desktop lends them."""

    def __init__(self, keys: Sequence[PortalKey], *, app_id: str) -> None:
        self.keys = tuple(keys)
        """Those that are told; one of them may be left out."""
        self._app_id = app_id
        self._bus: MessageBus | None = None
        self._owner = ""
        """Who is the portal at this moment, as the bus names it."""
        self._registered_with = ""
        self._opening = ""
        """The session that is about to get the keys."""
        self._session = ""
        """The session that has them."""
        self._since = 0.0
        """When it got them."""
        self._brief = 0
        """Sessions in a row that were closed at once."""
        self._was_bound = self._was_refused = False
        self._responses: dict[str, asyncio.Future[tuple[int, dict[str, Any]]]] = {}
        self._again: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """Ask the desktop for the keys, which may ask the person. Raises UnavailableError."""
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
        """Give them back: what a program has of a portal ends when it leaves the bus."""
        bus, self._bus = self._bus, None
        self.keys = ()
        if self._again:
            self._again.cancel()
        if bus:
            await bus.close()
        if self._again:
            await asyncio.gather(self._again, return_exceptions=True)

    async def _begin(self) -> None:
        """A session with the portal that has the keys; the same for the first and any later one."""
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
            await self._call(REGISTRY, "Register", "sa{sv}", self._app_id, {})
        except CallError as error:
            # Older portals have no such interface, and those of a sandbox know who is in it.
            log.debug("The portal did not register this program: %s", error.name)

    async def _create_session(self) -> str:
        options: Options = {"session_handle_token": ("s", _token())}
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
        try:  # not all desktops answer with what they bound
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

    # What the bus and the portal signal

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
        self._again = asyncio.create_task(self._bind_again(0 if at_once else PAUSES[0]))

    async def _bind_again(self, pause: float) -> None:
        for pause_before in (pause, *PAUSES):
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
    """The list of (id, properties) in an answer, None where it has none."""
    kind, found = results.get("shortcuts", ("", None))
    return list(found) if kind == "a(sa{sv})" else None


def trigger(shortcuts: Sequence[Any], name: str) -> str:
    """How the desktop names the key for that id."""
    properties = dict(shortcuts).get(name, {})
    return str(properties.get("trigger_description", ("s", ""))[1])


def _token() -> str:
    return f"jarvis_{secrets.token_hex(8)}"


def _time() -> float:
    return asyncio.get_running_loop().time()


TOGETHER = 0.05
"""Seconds in which keys that are wanted at the same time are all known."""
REPEATING = 1.0
"""Seconds within which a key that is told as pressed again repeats itself."""
WHY = mark("The desktop lends the key to JARVIS; it is changed in the desktop's settings.")
UNSAID = mark(
    "The desktop lends a key to JARVIS but does not say which. Where none is set, set one for "
    '"{name}" in its keyboard settings; Hyprland takes a line such as {line}'
)


class PortalKeys:
    """The keys of this program, in one session with the portal."""

    def __init__(self, app_id: str) -> None:
        """`app_id` is the name of the program's .desktop file, by which desktops remember."""
        self._app_id = app_id
        self._wanted: dict[str, PortalKey] = {}
        self._asked: tuple[PortalKey, ...] = ()
        """The keys that were asked for last, whatever came of it."""
        self._current: PortalSession | None = None
        self._renewing = asyncio.Lock()
        self._later: asyncio.Task[None] | None = None

    async def request(self, key: PortalKey) -> None:
        """Ask for this key, with those that are wanted at the same time or had already.

        Raises UnavailableError.
        """
        self._wanted[key.id] = key
        async with self._renewing:
            if key not in self._asked:
                await asyncio.sleep(TOGETHER)
                await self._renew()
            if key.problem:
                raise key.problem

    async def release(self, key: PortalKey) -> None:
        """Give this key back; the others are asked for anew a moment later."""
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
        await asyncio.sleep(TOGETHER)
        async with self._renewing:
            if self._asked != tuple(self._wanted.values()):
                await self._renew()

    async def _end(self) -> None:
        session, self._current, self._asked = self._current, None, ()
        if session:
            await asyncio.shield(session.close())  # whoever gives up does not wait for it

    async def _renew(self) -> None:
        """Let the desktop lend exactly the keys that are wanted."""
        await self._end()
        keys = self._asked = tuple(self._wanted.values())
        for key in keys:
            key.problem = None
        session = self._current = PortalSession(keys, app_id=self._app_id)
        try:
            await session.open()
        except UnavailableError as error:
            await self._end()
            self._asked = keys  # it is known what comes of it
            for key in keys:
                key.problem = error
        except BaseException:
            self._asked = ()  # whoever still waits asks anew
            raise


class PortalKey:
    """Implements pressing.Way with one of them."""

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
        """Why it was not lent."""
        self._changed = changed
        self._portal = keys
        self._keys = PressState(lambda: None, lambda: None)
        self._status = HotkeyStatus()
        self._is_bound = False
        self._pressed_at = 0.0
        self._tells_release: bool | None = None
        """Whether letting it go is told; None before anything is known of that."""

    @property
    def id(self) -> str:
        """By which the portal tells of it."""
        return self.shortcut.id

    async def bind(self, keys: PressState) -> HotkeyStatus:
        """Ask the desktop for the key, which may ask the person. Raises UnavailableError."""
        self._keys = keys
        await self._portal.request(self)
        self._is_bound = True
        return self._status

    async def close(self) -> None:
        """Give it back."""
        self._is_bound = False
        await self._portal.release(self)

    def granted(self, shortcuts: Sequence[Any], app_id: str) -> None:
        """These were bound, as the portal describes them; none where it does not say which."""
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
        """It is had no more; why, if that is to be told."""
        self._keys.up()
        if status:
            self.become(status)

    def become(self, status: HotkeyStatus) -> None:
        """Tell how it is had from now on."""
        if status != self._status:
            self._status = status
            if self._is_bound:
                self._changed(status)

    def activated(self, token: str) -> None:
        """It was pressed; where it is down still, its release was lost, or never comes."""
        now = asyncio.get_running_loop().time()
        before, self._pressed_at = self._pressed_at, now
        if self._keys.is_down and now - before > REPEATING:
            if self._tells_release is None:
                self._releases(False)
            self._keys.up()
        self._keys.down(token)
        if self._tells_release is False:
            self._keys.up()

    def deactivated(self) -> None:
        """It was let go."""
        self._releases(True)
        self._keys.up()

    def _releases(self, told: bool) -> None:
        changed, self._tells_release = told is (self._tells_release is False), told
        if changed:
            self.become(replace(self._status, holds=told))
