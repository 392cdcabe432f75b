"""How the application looks and in which language it speaks, as the settings want it.

The settings are read after the window is on the screen, which must not change its face then: what
was wanted last is kept beside the window's place.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, cast

from PySide6.QtCore import QLibraryInfo, QLocale, QObject, QSettings, QTranslator, Signal
from PySide6.QtWidgets import QApplication

from jarvis_desktop import translations
from jarvis_desktop.ui.look.theme import Choice, Theme, Wish

if TYPE_CHECKING:
    from jarvis_desktop.settings import Settings, WindowSettings

_qts_own = {"zh": "zh_CN"}
"""What Qt calls a language, where that is not our code."""


class Appearance(QObject):
    """Dresses the application at once, and anew when the settings change."""

    relabelled = Signal()
    """Another language is spoken: every text must be made anew."""

    def __init__(self, application: QApplication, kept: Path) -> None:
        """`kept` is the file with the window's place."""
        super().__init__(application)
        self._application = application
        self._kept = QSettings(str(kept), QSettings.Format.IniFormat)
        self._translator = QTranslator(self)
        self.theme = Theme(application, self._remembered())
        self.language = ""
        """The code of the one that is spoken."""
        self._speak(str(self._kept.value("look/language", "")))

    def adopt(self, settings: Settings) -> None:
        """Look as these settings want it."""
        wanted = settings.window
        wish = Wish(wanted.theme, wanted.text_size, wanted.motion)
        if wish != self._remembered():
            self.theme.adopt(wish)
        self._remember(wanted)
        if translations.chosen(wanted.language) != self.language:
            self._speak(wanted.language)
            self.relabelled.emit()

    def _speak(self, wanted: str) -> None:
        self.language = translations.speak(wanted)
        locale = QLocale(_qts_own.get(self.language, self.language))
        if locale.language() == QLocale.system().language():
            locale = QLocale.system()  # with the country's own dates and numbers
        QLocale.setDefault(locale)
        self._application.removeTranslator(self._translator)
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        if self._translator.load(locale, "qtbase", "_", folder):
            self._application.installTranslator(self._translator)
        self._application.setLayoutDirection(locale.textDirection())

    def _remembered(self) -> Wish:
        kept = self._kept
        return Wish(
            cast("Choice", str(kept.value("look/theme", "system"))),
            cast("float", kept.value("look/text_size", 1.0, type=float)) or 1.0,
            bool(kept.value("look/motion", True, type=bool)),
        )

    def _remember(self, wanted: WindowSettings) -> None:
        for name in ("theme", "text_size", "motion", "language"):
            self._kept.setValue(f"look/{name}", getattr(wanted, name))
