"""Keys that are asked of the portal together, as desktops put one question for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.hearing import HotkeyStatus
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.hotkeys.keys import Combination
from jarvis_desktop.hotkeys.portal import REFUSED_WORDS, PortalLoan, refused, trigger
from jarvis_desktop.hotkeys.pressing import Changed, Pressing
from jarvis_desktop.hotkeys.shortcut import Shortcut

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
        self._loan: PortalLoan | None = None
        self._renewing = asyncio.Lock()
        self._later: asyncio.Task[None] | None = None

    async def lend(self, key: PortalKey) -> None:
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

    async def take_back(self, key: PortalKey) -> None:
        """Give this key back; the others are asked for anew a moment later."""
        if self._wanted.get(key.id) is key:
            del self._wanted[key.id]
        if self._later:
            self._later.cancel()
        if self._loan and self._wanted:
            self._loan.keys = tuple(each for each in self._loan.keys if each is not key)
            self._later = asyncio.create_task(self._without())
        elif self._loan:
            await self._end()

    async def _without(self) -> None:
        await asyncio.sleep(TOGETHER)
        async with self._renewing:
            if self._asked != tuple(self._wanted.values()):
                await self._renew()

    async def _end(self) -> None:
        loan, self._loan, self._asked = self._loan, None, ()
        if loan:
            await asyncio.shield(loan.close())  # whoever gives up does not wait for it

    async def _renew(self) -> None:
        """Let the desktop lend exactly the keys that are wanted."""
        await self._end()
        keys = self._asked = tuple(self._wanted.values())
        for key in keys:
            key.problem = None
        loan = self._loan = PortalLoan(keys, app_id=self._app_id)
        try:
            await loan.open()
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
        self, shortcut: Shortcut, combination: Combination, changed: Changed, keys: PortalKeys
    ) -> None:
        self.shortcut = shortcut
        self.combination = combination
        self.problem: UnavailableError | None = None
        """Why it was not lent."""
        self._changed = changed
        self._portal = keys
        self._keys = Pressing(lambda: None, lambda: None)
        self._status = HotkeyStatus()
        self._is_bound = False
        self._pressed_at = 0.0
        self._tells_release: bool | None = None
        """Whether letting it go is told; None before anything is known of that."""

    @property
    def id(self) -> str:
        """By which the portal tells of it."""
        return self.shortcut.id

    async def bind(self, keys: Pressing) -> HotkeyStatus:
        """Ask the desktop for the key, which may ask the person. Raises UnavailableError."""
        self._keys = keys
        await self._portal.lend(self)
        self._is_bound = True
        return self._status

    async def close(self) -> None:
        """Give it back."""
        self._is_bound = False
        await self._portal.take_back(self)

    def lent(self, shortcuts: Sequence[Any], app_id: str) -> None:
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
