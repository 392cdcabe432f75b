"""Text on Wayland, by a stand-in for the portals on a real message bus, and for wtype."""

import os
import time

import pytest

from jarvis_desktop.core.errors import InsertionError
from jarvis_desktop.platform import insertion_portal
from jarvis_desktop.platform.text_insertion import text_inserter
from tests.platform.pressed import PATIENCE
from tests.platform.remote_portal import RemotePortal

TEXT = "Grüße, 😀!\nשלום"
APP = "org.example.Talk"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(insertion_portal, "RELEASE_WAIT_S", 0)
    monkeypatch.setattr(insertion_portal, "SETTLE_S", 0.02)
    monkeypatch.setattr(insertion_portal, "PASTE_WAIT_S", PATIENCE)


@pytest.fixture
def desktop(bus, monkeypatch, tmp_path):
    """Starts a portal; a session without wtype."""
    monkeypatch.setenv("PATH", str(tmp_path / "programs"))
    started = []

    def start(**about) -> RemotePortal:
        started.append(RemotePortal(**about))
        return started[-1]

    yield start
    for portal in started:
        portal.stop()


@pytest.fixture
def inserter(desktop, tmp_path):
    inserter = text_inserter(APP, tmp_path)
    yield inserter
    inserter.close()


def eventually(true) -> None:
    until = time.monotonic() + PATIENCE
    while not true() and time.monotonic() < until:
        time.sleep(0.01)
    assert true()


def test_text_is_pasted_once(desktop, inserter):
    portal = desktop()
    assert inserter.check() is None
    inserter.aim()
    inserter.insert(TEXT)
    assert portal.pasted == [TEXT.encode()]


def test_the_clipboard_has_its_contents_back_in_all_formats(desktop, inserter):
    before = {"text/html": b"<b>x</b>", "text/plain": b"x", "image/png": bytes(range(256)) * 99}
    portal = desktop(others=before)
    for _ in range(2):
        inserter.insert(TEXT)
        assert portal.offered == list(before)
    after: list[bytes] = []
    for kind in before:
        portal.fetch(kind, after)
    eventually(lambda: len(after) == len(before))
    assert after == list(before.values())
    assert portal.pasted == [TEXT.encode()] * 2


def test_a_history_of_the_clipboard_is_not_taken_for_the_program(desktop, inserter, monkeypatch):
    monkeypatch.setattr(insertion_portal, "SETTLE_S", 0.5)
    monkeypatch.setattr(insertion_portal, "PASTE_WAIT_S", 1)
    portal = desktop(keeps_history=True, pastes_with=insertion_portal.CHORDS[1])
    inserter.insert(TEXT)
    assert portal.pasted == [TEXT.encode()]


def test_the_user_is_asked_once(desktop, inserter, tmp_path):
    portal = desktop()
    inserter.insert("one")
    inserter.insert("two")
    portal.end_session()
    eventually(lambda: inserter._session.is_over)
    inserter.insert("three")
    inserter.close()
    again = text_inserter(APP, tmp_path)
    again.insert("four")
    again.close()
    assert portal.questions == 1
    assert portal.pasted == [b"one", b"two", b"three", b"four"]
    (token,) = tmp_path.glob("insertion-*")
    assert token.stat().st_mode & 0o777 == 0o600


def test_a_program_that_pastes_nothing_leaves_the_text_on_the_clipboard(
    desktop, inserter, monkeypatch
):
    monkeypatch.setattr(insertion_portal, "PASTE_WAIT_S", 0.02)
    portal = desktop(pastes_with=(1,))
    with pytest.raises(InsertionError, match=r"did not paste.*on the clipboard") as raised:
        inserter.insert(TEXT)
    assert raised.value.rest == TEXT
    fetched: list[bytes] = []
    portal.fetch("text/plain", fetched)
    eventually(lambda: fetched == [TEXT.encode()])


def test_a_refusal_is_said_and_can_be_taken_back(desktop, inserter):
    portal = desktop(answer=1)
    with pytest.raises(InsertionError, match="did not permit") as raised:
        inserter.insert(TEXT)
    assert raised.value.rest == TEXT
    portal.answer = 0
    inserter.insert(TEXT)
    assert portal.pasted == [TEXT.encode()]


def test_without_a_clipboard_the_keys_are_pressed(desktop, inserter):
    portal = desktop(has_clipboard=False)
    inserter.insert("aü\n\t😀\x1b")
    assert portal.typed == [0x61, 0xFC, 0xFF0D, 0xFF09, 0x0101F600]


def test_a_desktop_without_the_portal_says_what_to_install(desktop, inserter):
    desktop(has_remote=False)
    assert "wtype" in inserter.check()
    with pytest.raises(InsertionError, match="lets no program insert text"):
        inserter.insert(TEXT)


def test_wtype_types_where_the_compositor_lets_it(desktop, inserter, tmp_path):
    portal = desktop()
    programs, typed = tmp_path / "programs", tmp_path / "typed"
    programs.mkdir()
    wtype = programs / "wtype"
    wtype.write_text(f'#!/bin/sh\n[ "$1" = - ] && exec /bin/cat > {typed}\n')
    wtype.chmod(0o755)
    assert inserter.check() is None
    inserter.insert(TEXT + "\x1b")
    assert typed.read_text() == TEXT
    wtype.write_text("#!/bin/sh\nexit 1\n")  # GNOME's has no such protocol
    inserter.insert(TEXT)
    assert portal.pasted == [TEXT.encode()]
    assert os.access(wtype, os.X_OK)
