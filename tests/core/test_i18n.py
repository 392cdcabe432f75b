from collections.abc import Iterator
from gettext import NullTranslations

import pytest

from jarvis_desktop.core import i18n
from jarvis_desktop.core.i18n import language, mark, tr, trn


class Shouted(NullTranslations):
    """A language in which everything is said loudly."""

    def gettext(self, message: str) -> str:
        return message.replace("Open", "OPEN")

    def ngettext(self, msgid1: str, msgid2: str, n: int) -> str:
        return (msgid1 if n == 1 else msgid2).replace("file", "FILE")


class German(NullTranslations):
    """A catalogue whose header names its language."""

    def info(self) -> dict[str, str]:
        return {"language": "de"}


@pytest.fixture
def shouted() -> Iterator[None]:
    i18n.set_catalogue(Shouted())
    yield
    i18n.set_catalogue(NullTranslations())


def test_english_stands_in_the_code() -> None:
    assert tr("Open {name}", name="a.txt") == "Open a.txt"
    assert trn("{count} file", "{count} files", 1) == "1 file"
    assert trn("{count} file", "{count} files", 1200) == "1,200 files"
    assert mark("Open") == "Open"
    assert tr("") == "", "a catalogue's header is no translation of it"


def test_the_language_is_that_of_the_catalogue(shouted: None) -> None:
    assert language() == "en", "a catalogue that names none"
    i18n.set_catalogue(German())
    assert language() == "de"


def test_another_language_is_spoken_from_then_on(shouted: None) -> None:
    assert tr("Open {name}", name="a.txt") == "OPEN a.txt"
    assert trn("{count} file in {name}", "{count} files in {name}", 2, name="b") == "2 FILEs in b"


def test_what_comes_in_as_a_value_is_never_looked_at() -> None:
    assert tr("Open {name}", name="{0} {name.__class__} %s") == "Open {0} {name.__class__} %s"


def test_braces_without_values_stay() -> None:
    assert tr("a {b}") == "a {b}"


def test_every_text_is_rephrased_before_its_values_are_put_in() -> None:
    i18n.rephrase(lambda text: text.replace("command", "page"))
    try:
        assert tr("the command {name}", name="command") == "the page command"
    finally:
        i18n.rephrase(str)
