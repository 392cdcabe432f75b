"""Code in colours: which words have them, when they come, and texts made to hold up a lexer."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest
from PySide6.QtGui import QColor
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.ui.actions import Actions
from jarvis_desktop.ui.app import _kill_children
from jarvis_desktop.ui.conversation import code_view
from jarvis_desktop.ui.conversation.code_view import CodeBlock, escape_invisible
from jarvis_desktop.ui.conversation.markdown import CodeFence
from jarvis_desktop.ui.conversation.syntax_worker import MAX_WORDS, words
from jarvis_desktop.ui.media import controller
from jarvis_desktop.ui.media.controller import SyntaxReader
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.widgets import theme as look
from jarvis_desktop.ui.widgets.theme import Theme
from tests.families import some
from tests.ui.scene import HOSTILE, FakeApp

SOURCE = 'def f():\n    # one\n    return "a"\n'


@pytest.fixture
def block(
    qtbot: QtBot,
    theme: Theme,
    session: WindowSession,
    app: FakeApp,
    monkeypatch: pytest.MonkeyPatch,
) -> Iterator[CodeBlock]:
    monkeypatch.setattr(controller, "LEXER_TIMEOUT_S", 60.0)  # the computer may be busy
    with qtbot.waitSignal(session.ready):
        session.start(app.build)
    actions = Actions(session)
    actions.media.serve(session)
    holder = QWidget()
    qtbot.addWidget(holder)
    block = CodeBlock(CodeFence("", "python"), actions)
    QVBoxLayout(holder).addWidget(block)
    holder.show()
    yield block
    session.engine.submit(session.close_app()).result(60)
    holder.hide()
    _kill_children()


def colours(block: CodeBlock, line: int) -> list[str]:
    layout = block.text.document().findBlockByNumber(line).layout()
    return [item.format.foreground().color().name() for item in layout.formats()]


def named(*names: str) -> list[str]:
    return [look.colour(name).name() for name in names]


def test_words_are_told_by_line_in_qts_count() -> None:
    assert words('x = "👩"\n\n"""a\nb"""', "python") == (
        ((4, 1, "code_string"), (5, 2, "code_string"), (7, 1, "code_string")),
        (),
        ((0, 4, "code_string"),),
        ((0, 4, "code_string"),),
    )


def test_no_text_has_too_many_coloured_words() -> None:
    found = words("1 " * 9000 + "\n1", "python")
    assert [len(line) for line in found] == [MAX_WORDS, 0]


@pytest.mark.parametrize("language", ["no such", "", "python\x00", "../../etc/passwd"])
def test_an_unknown_language_has_no_colours(language: str) -> None:
    assert words(SOURCE, language) == ()


@pytest.mark.parametrize("language", ["python", "html", "diff", "bash", "json", "c++"])
@pytest.mark.parametrize("hostile", some(HOSTILE))
def test_no_word_is_out_of_its_line(hostile: str, language: str) -> None:
    text = escape_invisible(hostile)[:5000]
    lines = words(text, language)
    assert len(lines) in (0, text.count("\n") + 1)
    for line, found in zip(text.split("\n"), lines, strict=False):
        assert all(at >= 0 and at + long <= 2 * len(line) for at, long, _ in found)
        assert all(QColor(look.tokens().light[name]).isValid() for *_, name in found)


def test_code_is_coloured_soon_and_again_in_another_theme(
    block: CodeBlock, theme: Theme, qtbot: QtBot
) -> None:
    block.show_code(CodeFence(SOURCE, "python"))
    assert block.text.toPlainText() == SOURCE, "the code does not wait for its colours"
    qtbot.waitUntil(lambda: len(colours(block, 0)) == 2)
    for dark in (False, True):
        theme.wear(dark=dark)
        assert colours(block, 0) == named("code_keyword", "code_name")
        assert colours(block, 1) == named("muted")
        assert colours(block, 2)[0] == named("code_keyword")[0]
    block.show_code(CodeFence("0", "python"))
    assert colours(block, 0) == [], "those of another text"
    block.show_code(CodeFence(SOURCE, "python"))
    assert colours(block, 0) == named("code_keyword", "code_name"), "known by now"


def test_what_grows_keeps_its_colours(block: CodeBlock, qtbot: QtBot) -> None:
    block.show_code(CodeFence(SOURCE, "python"))
    qtbot.waitUntil(lambda: bool(colours(block, 0)))
    block.show_code(CodeFence(SOURCE + "class A: pass", "python"))
    assert colours(block, 0)
    qtbot.waitUntil(lambda: bool(colours(block, 3)))


def test_the_start_of_the_process_does_not_count(
    session: WindowSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = SyntaxReader()
    limits: list[float] = []

    async def starts(*args: object, timeout: float) -> object:
        limits.append(timeout)
        return ()

    monkeypatch.setattr(reader._child, "call", starts)
    session.engine.submit(reader.words("x", "python")).result(60)
    assert limits == [controller.LEXERS_START_S, controller.LEXER_TIMEOUT_S]


def test_what_takes_too_long_stays_without_colours_and_is_not_asked_again(
    session: WindowSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    reader = SyntaxReader()
    asked: list[object] = []

    async def hangs(*args: object, timeout: float) -> object:
        asked.append(args)
        raise ExpertError("It took too long.")

    monkeypatch.setattr(reader._child, "call", hangs)
    for _ in range(2):
        assert session.engine.submit(reader.words("((((", "python")).result(60) == ()
    assert len(asked) == 1


def test_long_code_is_coloured_at_its_beginning_alone(
    block: CodeBlock, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(code_view, "MAX_HIGHLIGHTED_CHARS", 30)
    block.show_code(CodeFence("x = 1\n" * 50, "python"))
    qtbot.waitUntil(lambda: bool(colours(block, 0)))
    assert colours(block, 4)
    assert not colours(block, 5)


def test_the_window_does_without_the_lexers() -> None:
    source = "import sys, jarvis_desktop.ui.main_window; print('pygments' in sys.modules)"
    told = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True)
    assert told.stdout.strip() == "False", told.stderr
