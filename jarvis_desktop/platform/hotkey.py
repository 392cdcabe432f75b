"""A global hotkey by the best means that the desktop has, and advice to bind a key by hand."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable
from dataclasses import replace

from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.hotkey_portal import PortalKey, PortalKeys
from jarvis_desktop.platform.shortcut import (
    ESCAPE,
    TALK,
    Combination,
    GlobalShortcut,
    HotkeyWay,
    Modifier,
    PressState,
    StatusListener,
    parse,
)

COMMAND = TALK.command
ANYWHERE = mark("Bind a key to the command {command} in the keyboard settings of the desktop.")
PLACES = {
    "gnome": mark(
        "Bind a key to the command {command} in Settings > Keyboard > View and Customise "
        "Shortcuts > Custom Shortcuts."
    ),
    "kde": mark(
        "Bind a key to the command {command} in System Settings > Keyboard > Shortcuts > "
        "Add New > Command or Script."
    ),
    "sway": mark("Put this line into the settings of sway: {line}"),
    "hyprland": mark("Put this line into the settings of Hyprland: {line}"),
}
"""By the desktop's name in XDG_CURRENT_DESKTOP."""


def advice(combination: Combination | None, shortcut: GlobalShortcut = TALK) -> str:
    """Return how to bind a key in this desktop, in a sentence that suggests `combination`."""
    desktops = os.environ.get("XDG_CURRENT_DESKTOP", "").lower().split(":")
    here = next((name for name in PLACES if name in desktops), "")
    modifiers = combination.modifiers if combination else ("Ctrl", "Alt")
    keysym = combination.key.keysym if combination else "space"
    lines = {
        "sway": "bindsym --no-repeat {} exec {}".format(
            "+".join((*(_sway.get(name, name) for name in modifiers), keysym)), shortcut.command
        ),
        "hyprland": "bind = {}, {}, exec, {}".format(
            " ".join(name.upper() for name in modifiers), keysym, shortcut.command
        ),
    }
    told = PLACES.get(here, ANYWHERE)
    return tr(told, command=shortcut.command, line=lines.get(here, ""))


_sway = {"Alt": "Mod1", "Super": "Mod4"}


_Build = Callable[[Combination, StatusListener], HotkeyWay]


def _is_wayland() -> bool:
    return os.environ.get("XDG_SESSION_TYPE", "") == "wayland" or bool(
        os.environ.get("WAYLAND_DISPLAY")
    )


def _direct_way() -> _Build | None:
    """The means without a portal, if there is one."""
    if sys.platform == "win32":
        from jarvis_desktop.platform.hotkey_native import WindowsKey

        return WindowsKey
    if sys.platform == "darwin":
        from jarvis_desktop.platform.hotkey_native import MacKey

        return MacKey
    if _is_wayland() or not os.environ.get("DISPLAY"):
        return None  # the X server of a Wayland desktop reports keys to X windows only
    from jarvis_desktop.platform.hotkey_x11 import X11Key

    return X11Key


NO_KEY = mark("No key is set.")
NO_DESKTOP = mark("There is no desktop here that could report keys.")
ASKING = mark("JARVIS is requesting the key; the desktop may ask you.")
ENDED = mark("No key is requested.")


class DesktopHotkey:
    """A key that works on the whole desktop. Its calls come on the loop.

    `key` is like "Ctrl+Alt+Space", or "" for none. `portal` requests the shortcuts of this program
    from desktops with a portal. `escape` is called when Esc is pressed while the key is held, if
    the system reports that.
    """

    def __init__(
        self,
        key: str,
        shortcut: GlobalShortcut,
        *,
        portal: PortalKeys,
        escape: Callable[[], None] = lambda: None,
    ) -> None:
        self._key = key
        self._shortcut = shortcut
        self._portal = portal
        self._escape = escape
        self._combination: Combination | None = None
        self.status = HotkeyStatus(why=tr(ENDED))
        """Whether and how the key is bound now."""
        self._watchers: list[StatusListener] = []
        self._way: HotkeyWay | None = None
        self._keys: PressState | None = None
        self._binding: asyncio.Task[HotkeyStatus] | None = None
        self._choosing = asyncio.Lock()

    @property
    def token(self) -> str:
        """The token with which the desktop shows a window after the last press, or ""."""
        return self._keys.token if self._keys else ""

    def watch(self, changed: StatusListener) -> None:
        """Call `changed` whenever `status` changes."""
        self._watchers.append(changed)

    async def bind(self, press: Callable[[], None], release: Callable[[], None]) -> HotkeyStatus:
        """Call these at each press and release, by the best means; if there is none, the status
        says why. Some desktops ask the user first, which may take minutes."""
        self._keys = PressState(press, release)
        self._keys.escape = self._escape
        self._become(HotkeyStatus(why=tr(ASKING)))
        self._binding = asyncio.create_task(self._choose(self._keys))
        try:
            await asyncio.wait([self._binding])
        except asyncio.CancelledError:
            self._binding.cancel()
            raise
        if not self._binding.cancelled():
            self._become(self._binding.result())
        return self.status

    async def choose(self, key: str) -> None:
        """Use another key, "" for none. Before `bind` the choice is kept for it."""
        async with self._choosing:
            keys = self._keys
            await self.close()
            self._key, self._combination = key, None
            if keys:
                await self.bind(keys.press, keys.release)

    async def close(self) -> None:
        """Release the key."""
        if self._binding:
            self._binding.cancel()
            await asyncio.wait([self._binding])
        way, self._way = self._way, None
        if way:
            await way.close()
        if self._keys:
            self._keys.up()
        self._become(HotkeyStatus(why=tr(ENDED)))

    async def _choose(self, keys: PressState) -> HotkeyStatus:
        if not self._key.strip():
            return HotkeyStatus(why=f"{tr(NO_KEY)} {self._advice()}")
        problems: list[str] = []
        try:
            combination = self._combination = parse(self._key)
            for build in self._ways():
                try:
                    return await self._try(build, combination, keys, problems)
                except UnavailableError as error:
                    problems.append(str(error))
        except JarvisError as error:
            problems.append(str(error))
        return HotkeyStatus(why=" ".join((*problems, self._advice())))

    async def _try(
        self, build: _Build, combination: Combination, keys: PressState, problems: list[str]
    ) -> HotkeyStatus:
        way = self._way = build(combination, self._changed)
        try:
            status = await way.bind(keys)
        except UnavailableError:
            await way.close()
            self._way = None
            raise
        return replace(status, why=" ".join((status.why, *problems)))

    def _ways(self) -> list[_Build]:
        """The possible means on this desktop, best first. Raises UnavailableError."""
        direct = _direct_way()
        if direct and not sys.platform.startswith("linux"):
            return [direct]

        def portal(combination: Combination, changed: StatusListener) -> HotkeyWay:
            return PortalKey(self._shortcut, combination, changed, self._portal)

        if _is_wayland():
            return [portal]
        if direct:
            return [direct, portal]
        raise UnavailableError(tr(NO_DESKTOP))

    def _advice(self) -> str:
        return advice(self._combination, self._shortcut)

    def _changed(self, status: HotkeyStatus) -> None:
        if status.way == "none":
            status = replace(status, why=f"{status.why} {self._advice()}")
        self._become(status)

    def _become(self, status: HotkeyStatus) -> None:
        if status != self.status:
            self.status = status
            for watcher in self._watchers:
                watcher(status)


class EscapeKey:
    """Esc in every program, for as long as it is taken. Portals grant no key for a moment: on a
    Wayland desktop it remains with the program in front."""

    def __init__(self, press: Callable[[], None], *, held: Callable[[], str]) -> None:
        """`held` returns the key, such as "Ctrl+Alt+Space", whose modifiers may be down as well."""
        self._press = press
        self._held = held
        self._ways: list[HotkeyWay] = []
        self._wanted = self._taken = False
        self._task: asyncio.Task[None] | None = None

    def take(self, on: bool) -> None:
        """Take the key, or give it back. Returns at once."""
        self._wanted = on
        if self._task is None and on != self._taken:
            self._task = asyncio.create_task(self._follow())

    async def close(self) -> None:
        """Give it back."""
        self.take(False)
        if self._task:
            await asyncio.wait([self._task])

    async def _follow(self) -> None:
        while self._taken != self._wanted:
            self._taken = self._wanted
            if self._taken:
                await self._bind()
            for way in () if self._taken else self._ways:
                await way.close()
        self._task = None

    async def _bind(self) -> None:
        self._ways = []
        build = _direct_way()
        if build is None:
            return
        modifiers: set[tuple[Modifier, ...]] = {()}
        with contextlib.suppress(JarvisError):  # no key, or none that can be bound
            modifiers.add(parse(self._held()).modifiers)
        for held in sorted(modifiers):
            way = build(Combination(held, ESCAPE), lambda status: None)
            with contextlib.suppress(UnavailableError):  # another program has it
                self._ways.append(way)
                await way.bind(PressState(self._press, lambda: None))
