"""Builds dictation: its key, its session, and the list of the last texts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from jarvis_desktop.assistant.talk.dictation import DictationSession
from jarvis_desktop.assistant.talk.talk import Talk
from jarvis_desktop.core.i18n import mark
from jarvis_desktop.core.speech import HotkeyStatus, TextInserter
from jarvis_desktop.platform.hotkey import DesktopHotkey, EscapeKey
from jarvis_desktop.platform.hotkey_portal import PortalKeys
from jarvis_desktop.platform.shortcut import DICTATE
from jarvis_desktop.settings import DictationSettings
from jarvis_desktop.storage.records import DictationLog
from jarvis_desktop.text.dictation import DictationRules

MAX_SILENCE_S = 30.0
"""Seconds after which dictation without a held key ends: people think while they write."""
TALKS = mark("JARVIS is listening to a request. Finish it first, then dictate.")
DICTATES = mark("You are dictating. Finish that first, then ask.")


async def bind_talk_key(key: DesktopHotkey, talk: Talk, toggle: Callable[[], None]) -> HotkeyStatus:
    """Let a key control a Talk. If its releases are not reported, one press starts and the next one
    stops: then each press calls `toggle`."""

    def press() -> None:
        if key.status.holds:
            talk.press()
        else:
            talk.lose_key()
            toggle()

    def release() -> None:
        if key.status.holds:
            talk.release()

    return await key.bind(press, release)


class DictationSystem:
    """What dictates into other programs."""

    def __init__(
        self,
        settings: DictationSettings,
        talk: Talk,
        *,
        words: Sequence[str],
        log: DictationLog,
        clean_up: Callable[[str], Awaitable[str]],
        inserter: TextInserter,
        portal: PortalKeys,
    ) -> None:
        """`words` are those of the user, `talk` is for dictation alone."""
        self.log = log
        self.private = False
        """Whether nothing is kept for now."""
        self._settings = settings
        self._talk = talk
        self._takes_escape = True
        self._escape = EscapeKey(self._cancel, held=lambda: self._settings.key)
        self.session = DictationSession(
            talk,
            inserter,
            keep=self._keep,
            clean_up=clean_up,
            escape=lambda on: self._escape.take(on and self._takes_escape),
        )
        self.key = DesktopHotkey(settings.key, DICTATE, portal=portal, escape=self._cancel)
        self._follow(words)

    async def bind(self) -> HotkeyStatus:
        """Let the key start dictation."""
        return await bind_talk_key(self.key, self._talk, self.session.toggle)

    async def adopt(self, settings: DictationSettings, words: Sequence[str]) -> None:
        """Apply changed settings."""
        before, self._settings = self._settings, settings
        self._talk.choose(way=settings.key_way, pause=MAX_SILENCE_S, use="talking")
        self._follow(words)
        if not settings.keep:
            self.log.clear()
        if settings.key != before.key:
            await self.key.choose(settings.key)

    def use_in_terminal(self, pause: float) -> None:
        """Let a pause of this many seconds end what is dictated, and take no key of the desktop."""
        self._takes_escape = False
        self.session.spaces = False
        self._talk.choose(way="toggle", pause=pause, use="talking")

    async def close(self) -> None:
        """Release the keys and end what is dictated."""
        await self.key.close()
        await self.session.close()
        await self._escape.close()

    def _follow(self, words: Sequence[str]) -> None:
        settings = self._settings
        self.session.tidies, self.session.spaces = settings.clean_up, settings.space
        self.session.rules = DictationRules(words, settings.replacements, settings.commands)

    def _keep(self, text: str) -> None:
        if self._settings.keep and not self.private:
            self.log.add(text)

    def _cancel(self) -> None:
        self.session.cancel()
