"""What the pages of the window are built with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from jarvis_desktop.ui.actions import Actions
    from jarvis_desktop.ui.session import WindowSession
    from jarvis_desktop.ui.settings.controller import SettingsDesk
    from jarvis_desktop.ui.voice.talk import Talker


@dataclass(frozen=True, slots=True)
class PageContext:
    """The parts of the window that a page works with."""

    session: WindowSession
    talker: Talker
    actions: Actions
    settings: SettingsDesk
