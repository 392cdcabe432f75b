from collections.abc import Iterator
from pathlib import Path
from typing import Any, cast

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop import localization
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.settings import Settings, WindowSettings
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.theme import Appearance

BACK = "Back to the conversation"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    return tmp_path / "window.ini"


@pytest.fixture(autouse=True)
def as_before(qapp: QApplication, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("LC_ALL", "C")
    monkeypatch.delenv("LANGUAGE", raising=False)
    font, locale = qapp.font(), QLocale()
    yield
    for left in qapp.findChildren(Appearance):
        qapp.removeTranslator(left._translator)
        left.theme.adopt(theme.ThemeChoice())
        left.theme.deleteLater()
        left.deleteLater()
    localization.set_language("en")
    qapp.setStyleSheet("")
    qapp.setFont(font)
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    QLocale.setDefault(locale)


def wanting(**window: object) -> Settings:
    return Settings(window=WindowSettings.model_validate(window))


def test_it_begins_as_the_system_is(qapp: QApplication, kept: Path) -> None:
    look = Appearance(qapp, kept)
    assert look.language == "en"
    assert not theme.is_dark()


def test_settings_change_it_and_it_begins_so_the_next_time(
    qapp: QApplication, kept: Path, qtbot: QtBot
) -> None:
    look = Appearance(qapp, kept)
    with qtbot.assertNotEmitted(look.relabelled):
        look.adopt(wanting(theme="dark", text_size=1.5, motion=False))
    assert theme.is_dark()
    assert theme.duration() == 0
    size = qapp.font().pointSizeF()
    look.theme.adopt(theme.ThemeChoice())
    Appearance(qapp, kept)
    assert theme.is_dark()
    assert theme.duration() == 0
    assert qapp.font().pointSizeF() >= size


def test_a_language_is_spoken_at_once_by_us_and_by_qt(
    qapp: QApplication, kept: Path, qtbot: QtBot
) -> None:
    look = Appearance(qapp, kept)
    with qtbot.waitSignal(look.relabelled):
        look.adopt(wanting(language="de"))
    assert tr(BACK) == "Zurück zur Unterhaltung"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Abbrechen"
    assert QLocale().language() == QLocale.Language.German
    with qtbot.waitSignal(look.relabelled):
        look.adopt(wanting(language="zh"))
    assert tr(BACK) == "返回对话"
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "取消"
    with qtbot.waitSignal(look.relabelled):
        look.adopt(wanting(language="en"))
    assert tr(BACK) == BACK
    assert QCoreApplication.translate("QPlatformTheme", "Cancel") == "Cancel"
    with qtbot.assertNotEmitted(look.relabelled):
        look.adopt(wanting(language="en", theme="dark"))


def test_the_window_goes_the_way_of_the_language(
    qapp: QApplication, kept: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look = Appearance(qapp, kept)
    assert qapp.layoutDirection() == Qt.LayoutDirection.LeftToRight
    monkeypatch.setitem(localization.LANGUAGES, "ar", "العربية")
    look.adopt(Settings(window=WindowSettings.model_construct(language=cast("Any", "ar"))))
    assert qapp.layoutDirection() == Qt.LayoutDirection.RightToLeft


def test_a_file_that_somebody_wrote_into_is_no_obstacle(qapp: QApplication, kept: Path) -> None:
    kept.write_text("[look]\ntheme=plaid\ntext_size=huge\nmotion=@Invalid()\nlanguage=xx\n")
    look = Appearance(qapp, kept)
    assert look.language == "en"
    assert qapp.font().pointSizeF() > 0
