"""Fields for passwords on Linux: of real programs on a real accessibility bus, and broken ones."""

import os
import shutil
import socket
import subprocess
import tempfile
import threading
import time
from typing import Any

import pytest
from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection

from jarvis_desktop.core.errors import InsertionError, UnavailableError
from jarvis_desktop.platform import password_field
from jarvis_desktop.platform.password_field import EDITABLE, FOCUSED, SHOWING, PasswordField
from jarvis_desktop.platform.text_insertion import text_inserter
from tests.platform.accessible import AccessibleDesktop, entry, panel, password, window
from tests.platform.editor import Editor
from tests.platform.pressed import PATIENCE
from tests.screen import PRESS, RELEASE

REFUSAL = "for a password"
TAB = 0xFF09


@pytest.fixture(autouse=True)
def patient(monkeypatch):
    for name in ("WHILE_SPEAKING_S", "BEFORE_INSERTION_S"):
        monkeypatch.setattr(password_field, name, PATIENCE)


def is_refused(field: PasswordField) -> bool:
    at_first = field.check()
    if at_first is None:
        field.refuse()
        return False
    with pytest.raises(UnavailableError, match=REFUSAL) as raised:
        field.refuse()
    assert str(raised.value) == at_first
    return True


# Real programs on a real bus


@pytest.fixture
def session(screen, monkeypatch):
    """A session in which the bus for accessibility can be started, and programs then use it."""
    folder = tempfile.mkdtemp(prefix="jarvis-bus-")  # names of sockets are short
    monkeypatch.setenv("XDG_RUNTIME_DIR", folder)
    monkeypatch.setenv("GSETTINGS_BACKEND", "memory")
    monkeypatch.setenv("QT_LINUX_ACCESSIBILITY_ALWAYS_ON", "1")
    ours, theirs = os.pipe()
    command = ["dbus-daemon", "--session", "--nofork", f"--print-address={theirs}"]
    daemon = subprocess.Popen(command, pass_fds=[theirs], stderr=subprocess.DEVNULL)
    os.close(theirs)
    with open(ours) as told:
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", told.readline().strip())
    yield screen
    daemon.kill()
    daemon.wait(PATIENCE)
    shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def editor(session):
    """A window whose field for a password has the focus, and the bus for accessibility."""
    call("org.a11y.Bus", "/org/a11y/bus", "GetAddress")
    editor = Editor(session.name, "password")
    focus(session, editor)
    yield editor
    editor.stop()


@pytest.fixture
def inserter(session, tmp_path):
    inserter = text_inserter("org.example.Talk", tmp_path)
    yield inserter
    inserter.close()


def focus(screen, editor) -> None:
    screen.connection.core.SetInputFocus(0, editor.window, 0, is_checked=True).check()


def wait_until(true) -> None:
    until = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < until
        time.sleep(0.01)


@pytest.mark.screen
def test_nothing_is_typed_into_a_field_for_a_password(session, editor, inserter):
    for _ in range(2):
        wait_until(inserter.check)
        assert REFUSAL in (inserter.check() or "")
        inserter.aim()
        with pytest.raises(InsertionError, match=REFUSAL) as raised:
            inserter.insert("secret")
        assert raised.value.rest == "secret"
        press_tab(session)
        wait_until(lambda: inserter.check() is None)
        inserter.insert("abc")
        press_tab(session)
    assert editor.wait_for("abcabc") == "abcabc"


@pytest.mark.screen
def test_a_password_in_another_window_does_not_matter(session, editor, inserter):
    wait_until(inserter.check)
    other = Editor(session.name)
    try:
        focus(session, other)
        wait_until(lambda: inserter.check() is None)
        inserter.insert("abc")
        assert other.wait_for("abc") == "abc"
    finally:
        other.stop()


@pytest.mark.screen
def test_asking_starts_nothing(session, inserter):
    assert inserter.check() is None
    names = call("org.freedesktop.DBus", "/org/freedesktop/DBus", "ListNames")
    assert not [name for name in names if "a11y" in name]


def call(name: str, path: str, method: str) -> Any:
    with open_dbus_connection() as connection:
        message = new_method_call(DBusAddress(path, name, name), method)
        return connection.send_and_get_reply(message, timeout=PATIENCE).body[0]


def press_tab(screen) -> None:
    for kind in (PRESS, RELEASE):
        screen.fake(kind, TAB)


# A scripted bus


@pytest.fixture
def desktop(bus):
    """Starts a program that has these windows."""
    started = []

    def start(*windows) -> AccessibleDesktop:
        started.append(AccessibleDesktop(*windows))
        return started[-1]

    yield start
    for each in started:
        each.stop()


@pytest.mark.parametrize(
    ("windows", "refused"),
    [
        ([window(password())], True),
        ([window(entry(0), panel(panel(entry(0), password())))], True),
        ([window(panel(password(), state=SHOWING | FOCUSED))], True),
        ([window(entry())], False),
        ([window(entry(), password(EDITABLE))], False),
        ([window()], False),
        ([window(password(), state=SHOWING), window(entry())], False),
        ([window(panel(password(), state=0), entry())], False),
        ([window(*[panel() for _ in range(400)], password())], True),
        ([window(panel(*[panel() for _ in range(501)]), password())], True),
        ([], False),
    ],
)
def test_the_field_with_the_focus_counts(desktop, windows, refused):
    desktop(*windows)
    assert is_refused(PasswordField()) is refused


def test_a_known_field_is_asked_without_a_search(desktop):
    program = desktop(window(panel(entry())))
    field = PasswordField()
    assert field.check() is None
    program.asked.clear()
    field.refuse()
    assert not [what for what in program.asked if "GetChildren" in what]


def test_a_large_table_is_not_asked_for_its_cells(desktop):
    program = desktop(window(table := panel(*[panel() for _ in range(501)]), password()))
    assert PasswordField().check()
    assert f"{table.path} GetChildren" not in program.asked


def test_the_focus_may_go_to_a_password_while_the_user_speaks(desktop):
    fields = entry(), password(EDITABLE)
    desktop(window(*fields))
    field = PasswordField()
    assert field.check() is None
    for each in fields:
        each.state ^= FOCUSED
    with pytest.raises(UnavailableError, match=REFUSAL):
        field.refuse()


def test_wayland_refuses_too(desktop, tmp_path, monkeypatch):
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "wtype").write_text(f"#!/bin/sh\n/bin/cat > {tmp_path / 'typed'}\n")
    (programs / "wtype").chmod(0o755)
    monkeypatch.setenv("PATH", str(programs))
    inserter = text_inserter("org.example.Talk", tmp_path)
    here = password()
    desktop(window(here))
    assert REFUSAL in (inserter.check() or "")
    with pytest.raises(InsertionError, match=REFUSAL) as raised:
        inserter.insert("secret")
    assert raised.value.rest == "secret"
    assert not (tmp_path / "typed").exists()
    here.state ^= FOCUSED
    inserter.insert("abc")
    assert (tmp_path / "typed").read_text() == "abc"


@pytest.mark.parametrize("method", ["GetAddress", "GetChildren", "GetState", "GetRole", "Get"])
@pytest.mark.parametrize(
    "answer",
    [
        None,
        "",
        ("", ()),
        ("s", ("nonsense",)),
        ("au", ([],)),
        ("v", (("s", "5"),)),
        ("a(so)", ([],)),
    ],
    ids=["none", "error", "nothing", "text", "numbers", "variant", "places"],
)
def test_a_wrong_answer_refuses_nothing(desktop, monkeypatch, method, answer):
    monkeypatch.setattr(password_field, "WHILE_SPEAKING_S", 0.2 if answer is None else PATIENCE)
    program = desktop(window(password()))
    program.change = lambda path, name, right: answer if name == method else right
    assert PasswordField().check() is None


def test_a_program_that_hangs_hides_no_other(desktop):
    program = desktop(window(panel()), window(password()))
    program.change = lambda path, name, right: None if "panel" in path else right
    assert is_refused(PasswordField())


def dies(connection: socket.socket) -> None:
    connection.recv(100)


def talks_nonsense(connection: socket.socket) -> None:
    authenticate(connection)
    connection.sendall(b"nonsense" * 999)


def dies_later(connection: socket.socket) -> None:
    authenticate(connection)
    connection.recv(999)


def hangs(connection: socket.socket) -> None:
    while connection.recv(999):
        pass


def hangs_later(connection: socket.socket) -> None:
    authenticate(connection)
    hangs(connection)


def authenticate(connection: socket.socket) -> None:
    while b"BEGIN" not in (said := connection.recv(999)):
        if b"AUTH" in said:
            connection.sendall(b"OK 0123456789abcdef0123456789abcdef\r\n")


@pytest.mark.parametrize("serve", [dies, talks_nonsense, dies_later, hangs, hangs_later])
def test_a_broken_bus_refuses_nothing(tmp_path, monkeypatch, serve):
    if "hangs" in serve.__name__:
        monkeypatch.setattr(password_field, "WHILE_SPEAKING_S", 0.2)
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX) as server:
        server.bind(f"{folder}/bus")
        server.listen()
        monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", f"unix:path={folder}/bus")

        def work() -> None:
            with server.accept()[0] as connection:
                serve(connection)

        serving = threading.Thread(target=work)
        serving.start()
        assert PasswordField().check() is None
        serving.join()


@pytest.mark.parametrize(
    "address", ["", "unix:path=/nowhere/bus", "tcp:host=127.0.0.1", "nonsense"]
)
def test_without_a_bus_nothing_is_refused(monkeypatch, address):
    monkeypatch.setenv("DBUS_SESSION_BUS_ADDRESS", address)
    monkeypatch.setenv("XDG_RUNTIME_DIR", "/nowhere")
    assert not is_refused(PasswordField())
