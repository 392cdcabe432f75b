"""Text typed into an editor on a real X server."""

import os
import subprocess
import sys
import threading
import time

import pytest

from jarvis_desktop.core.errors import InsertionError
from jarvis_desktop.platform import insertion, insertion_x11
from jarvis_desktop.platform.text_insertion import text_inserter
from tests.platform.editor import Editor
from tests.platform.pressed import PATIENCE
from tests.screen import PRESS, RELEASE, start_screen

pytestmark = pytest.mark.screen

CAPS_LOCK, CONTROL = 0xFFE5, 0xFFE3
LATIN = "Grüße aus Köln, naïve Œuvre: „5 €“ – (3 × 4) = {12} @ [x] ^~`|\\ <#>!"
OTHERS = "Привет, мир! 漢字かな交じり文です。 שלום مرحبا e\u0301 😀👩\u200d🚀"


@pytest.fixture(scope="module")
def desktop():
    screen = start_screen()
    editor = Editor(screen.name)
    yield screen, editor
    editor.stop()
    screen.stop()


@pytest.fixture
def editor(desktop, monkeypatch):
    """An empty editor with the focus."""
    screen, editor = desktop
    monkeypatch.setenv("DISPLAY", screen.name)
    monkeypatch.setenv("XDG_SESSION_TYPE", "x11")
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    focus(screen, editor.window)
    screen.press(CONTROL, ord("a"))
    screen.release(CONTROL, ord("a"))
    screen.press(0xFFFF)  # Delete
    screen.release(0xFFFF)
    editor.wait_for("")
    return editor


@pytest.fixture
def inserter(tmp_path):
    inserter = text_inserter("org.example.Talk", tmp_path)
    yield inserter
    inserter.close()


def focus(screen, window) -> None:
    screen.connection.core.SetInputFocus(0, window, 0, is_checked=True).check()


@pytest.mark.parametrize("layout", ["us", "de", "fr", "us,ru"])
def test_every_character_arrives_once_and_in_order(editor, inserter, layout):
    subprocess.run(["setxkbmap", "-display", os.environ["DISPLAY"], layout], check=True)
    text = f"{LATIN}\n\t{OTHERS}\n{LATIN}"
    assert inserter.check() is None
    inserter.insert(text.replace("\t", "\x1b\t\x08").replace("\n", "\r\n"))  # no control arrives
    assert editor.wait_for(text) == text


def test_caps_lock_changes_nothing_and_stays(editor, inserter, desktop):
    screen, _ = desktop
    for key in (PRESS, RELEASE):
        screen.fake(key, CAPS_LOCK)
    inserter.insert("Hello, grüße Ж!")
    assert editor.wait_for("Hello, grüße Ж!") == "Hello, grüße Ж!"
    pointer = screen.connection.core.QueryPointer(root(screen)).reply()
    assert pointer.mask & 2
    for key in (PRESS, RELEASE):
        screen.fake(key, CAPS_LOCK)


def test_the_keyboard_is_as_before_after_closing(editor, inserter, desktop):
    screen, _ = desktop
    before = keyboard(screen)
    inserter.insert("漢字かな")
    assert editor.wait_for("漢字かな") == "漢字かな"
    assert keyboard(screen) != before
    inserter.close()
    assert keyboard(screen) == before


def test_it_waits_for_keys_that_are_held(editor, inserter, desktop, monkeypatch):
    screen, _ = desktop
    screen.fake(PRESS, CONTROL)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(insertion, "FOCUS_WAIT_S", 0)
            with pytest.raises(InsertionError, match="held down") as raised:
                inserter.insert("abc")
        assert raised.value.rest == "abc"
        later = threading.Thread(target=inserter.insert, args=("abc",))
        later.start()
    finally:
        screen.fake(RELEASE, CONTROL)
    later.join(PATIENCE)
    assert editor.wait_for("abc") == "abc"


def test_it_waits_for_the_window_it_is_aimed_at(editor, inserter, desktop, other, monkeypatch):
    screen, _ = desktop
    inserter.aim()
    focus(screen, other)
    later = threading.Thread(target=inserter.insert, args=("abc" * 50,))
    later.start()
    focus(screen, editor.window)
    later.join(PATIENCE)
    assert editor.wait_for("abc" * 50) == "abc" * 50


def test_another_window_receives_nothing(editor, inserter, desktop, other, monkeypatch):
    monkeypatch.setattr(insertion, "FOCUS_WAIT_S", 0)
    screen, _ = desktop
    inserter.aim()
    focus(screen, other)
    with pytest.raises(InsertionError, match="Another window") as raised:
        inserter.insert("abc")
    assert raised.value.rest == "abc"
    assert keys_of(screen) == 0
    inserter.insert("abc")  # without an aim it takes the one that has the focus
    assert keys_of(screen) == 3


def test_a_menu_that_has_the_keyboard_receives_nothing(
    editor, inserter, desktop, other, monkeypatch
):
    monkeypatch.setattr(insertion, "FOCUS_WAIT_S", 0)
    core = desktop[0].connection.core
    assert core.GrabKeyboard(False, other, 0, 1, 1).reply().status == 0
    with pytest.raises(InsertionError, match="menu"):
        inserter.insert("abc")
    core.UngrabKeyboard(0, is_checked=True).check()
    assert keys_of(desktop[0]) == 0


def test_a_lost_screen_loses_no_text(editor, inserter, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":98765")
    assert "cannot be reached" in (inserter.check() or "")
    inserter.aim()
    with pytest.raises(InsertionError, match="cannot be reached") as raised:
        inserter.insert("abc")
    assert raised.value.rest == "abc"


BUSY = """
import sys, threading
is_busy = True
def work():
    while is_busy:
        pass
threading.Thread(target=work).start()
print(flush=True)
sys.stdin.readline()
is_busy = False
print(flush=True)
sys.stdin.readline()
"""


def test_a_program_is_busy_as_long_as_one_of_its_threads_is(editor):
    """As those in Java, which take keys in another thread than their first."""
    command = [sys.executable, "-c", BUSY]
    with (
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as program,
        insertion_x11._server() as server,
    ):
        assert program.stdin
        assert program.stdout
        program.stdout.readline()
        assert not server._becomes_idle(program.pid, time.monotonic() + 0.1)
        program.stdin.write(b"\n")
        program.stdin.flush()
        program.stdout.readline()
        assert server._becomes_idle(program.pid, time.monotonic() + PATIENCE)


@pytest.fixture
def other(desktop):
    """A window of another program, without its own text."""
    import xcffib.xproto as kinds

    screen, _ = desktop
    core, window = screen.connection.core, screen.connection.generate_id()
    core.CreateWindow(0, window, root(screen), 0, 0, 9, 9, 0, 1, 0,
                      kinds.CW.EventMask, [kinds.EventMask.KeyPress])  # fmt: skip
    core.MapWindow(window, is_checked=True).check()
    yield window
    core.DestroyWindow(window, is_checked=True).check()


def root(screen) -> int:
    return int(screen.connection.get_setup().roots[0].root)


def keyboard(screen) -> list[int]:
    return list(screen.connection.core.GetKeyboardMapping(8, 248).reply().keysyms)


def keys_of(screen) -> int:
    """How many keys the other window received since this was asked."""
    import xcffib.xproto as kinds

    screen.connection.core.GetInputFocus().reply()  # a round trip: all have arrived
    count = 0
    while (event := screen.connection.poll_for_event()) is not None:
        count += isinstance(event, kinds.KeyPressEvent)
    return count
