"""A global hotkey by the best means that the desktop has, and advice to bind a key by hand."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import Callable
from dataclasses import replace

from jarvis_desktop.core.errors import JarvisError, UnavailableError
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.speech import HotkeyStatus
from jarvis_desktop.platform.hotkey_portal import PortalKey, PortalKeys
from jarvis_desktop.platform.shortcut import (
    TALK,
    Combination,
    GlobalShortcut,
    HotkeyWay,
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


NO_KEY = mark("No key is set.")
NO_DESKTOP = mark("There is no desktop here that could report keys.")
ASKING = mark("JARVIS is requesting the key; the desktop may ask you.")
ENDED = mark("No key is requested.")

_Build = Callable[[Combination, StatusListener], HotkeyWay]


class DesktopHotkey:
    """Implements core.speech.Hotkey.

    `key` is like "Ctrl+Alt+Space", or "" for none. `portal` requests the shortcuts of this program
    from desktops with a portal.
    """

    def __init__(self, key: str, shortcut: GlobalShortcut, *, portal: PortalKeys) -> None:
        self._key = key
        self._shortcut = shortcut
        self._portal = portal
        self._combination: Combination | None = None
        self._status = HotkeyStatus(why=tr(ENDED))
        self._watchers: list[StatusListener] = []
        self._way: HotkeyWay | None = None
        self._keys: PressState | None = None
        self._binding: asyncio.Task[HotkeyStatus] | None = None
        self._choosing = asyncio.Lock()

    @property
    def status(self) -> HotkeyStatus:
        """Whether and how the key is bound now."""
        return self._status

    @property
    def token(self) -> str:
        """The token with which the desktop shows a window after the last press, or ""."""
        return self._keys.token if self._keys else ""

    def watch(self, changed: StatusListener) -> None:
        """Call `changed` on the loop whenever `status` changes."""
        self._watchers.append(changed)

    async def bind(self, press: Callable[[], None], release: Callable[[], None]) -> HotkeyStatus:
        """Bind the key by the best means; if there is none, the status says why."""
        self._keys = PressState(press, release)
        self._become(HotkeyStatus(why=tr(ASKING)))
        self._binding = asyncio.create_task(self._choose(self._keys))
        try:
            await asyncio.wait([self._binding])
        except asyncio.CancelledError:
            self._binding.cancel()
            raise
        if not self._binding.cancelled():
            self._become(self._binding.result())
        return self._status

    async def choose(self, key: str) -> None:
        """Change the key if one was bound."""
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
        if sys.platform == "win32":
            from jarvis_desktop.platform.hotkey_native import WindowsKey

            return [WindowsKey]
        if sys.platform == "darwin":
            from jarvis_desktop.platform.hotkey_native import MacKey

            return [MacKey]
        from jarvis_desktop.platform.hotkey_x11 import X11Key

        def portal(combination: Combination, changed: StatusListener) -> HotkeyWay:
            return PortalKey(self._shortcut, combination, changed, self._portal)

        kind = os.environ.get("XDG_SESSION_TYPE", "")
        if kind == "wayland" or os.environ.get("WAYLAND_DISPLAY"):
            return [portal]  # its X server reports keys to X windows only
        if os.environ.get("DISPLAY"):
            return [X11Key, portal]
        raise UnavailableError(tr(NO_DESKTOP))

    def _advice(self) -> str:
        return advice(self._combination, self._shortcut)

    def _changed(self, status: HotkeyStatus) -> None:
        if status.way == "none":
            status = replace(status, why=f"{status.why} {self._advice()}")
        self._become(status)

    def _become(self, status: HotkeyStatus) -> None:
        if status != self._status:
            self._status = status
            for watcher in self._watchers:
                watcher(status)
