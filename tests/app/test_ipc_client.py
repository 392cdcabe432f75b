"""How a second process asks the running instance, and what it makes of odd answers."""

import os
import socket
import struct
import sys
import threading

import pytest

from jarvis_desktop.app import ipc_client
from jarvis_desktop.app.ipc_client import NotRunningError, address, ask, is_mine, over_pipe
from jarvis_desktop.core.errors import JarvisError, UnavailableError

PATIENCE = 60.0
sockets = pytest.mark.skipif(sys.platform == "win32", reason="there it is a named pipe")


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "run"


@sockets
def test_only_processes_of_the_same_person_are_answered(monkeypatch):
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert is_mine(ours)
        monkeypatch.setattr(os, "getuid", lambda: 4242)
        assert not is_mine(ours)


@sockets
@pytest.mark.parametrize("user", [0, 4242])
def test_macos_tells_the_person_in_another_way(monkeypatch, user):
    class Peer:
        def getsockopt(self, level, option, size):
            assert (level, option, size) == (0, 1, 76)
            return struct.pack("II", 0, user).ljust(size, b"\0")

    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr(os, "getuid", lambda: 4242)
    assert is_mine(Peer()) == (user == 4242)


def answering_with(folder, answer) -> threading.Thread:
    """Something else that listens where JARVIS would."""
    folder.mkdir(exist_ok=True)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(address(folder))
    listener.listen()

    def work() -> None:
        with listener, listener.accept()[0] as theirs:
            theirs.recv(100)
            theirs.sendall(answer)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


@sockets
@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (b"", NotRunningError, "not running"),
        (b'{"ok": true', NotRunningError, "not running"),
        (b"nonsense\n", UnavailableError, "cannot be read"),
        (b"\xff\n", UnavailableError, "cannot be read"),
        (b"[1]\n", JarvisError, "refused"),
        (b'{"ok": 1}\n', JarvisError, "refused"),
    ],
)
def test_an_answer_that_is_none_is_told(folder, answer, error, words):
    thread = answering_with(folder, answer)
    with pytest.raises(error, match=words):
        ask(folder, {"a": 1})
    thread.join()


class Pipe:
    """A named pipe of Windows, played."""

    def __init__(self, *answers, hangs=False) -> None:
        self.answers = list(answers)
        self.written = b""
        self.goes_on = threading.Event()
        self.hangs = hangs

    def __enter__(self):
        return self

    def __exit__(self, *error):
        pass

    def write(self, data):
        self.written += data

    def read(self, size):
        if self.hangs:
            self.goes_on.wait(PATIENCE)
        return self.answers.pop(0) if self.answers else b""


def test_a_pipe_is_written_and_read_to_the_end_of_the_line(monkeypatch):
    pipe = Pipe(b'{"ok":', b" true}\n")
    monkeypatch.setattr(ipc_client, "_open_pipe", lambda name, end: pipe)
    assert over_pipe("a name", b"line\n", 5) == b'{"ok": true}\n'
    assert pipe.written == b"line\n"


def test_a_pipe_that_hangs_is_not_waited_for(monkeypatch):
    pipe = Pipe(hangs=True)
    monkeypatch.setattr(ipc_client, "_open_pipe", lambda name, end: pipe)
    with pytest.raises(TimeoutError):
        over_pipe("a name", b"line\n", 0.05)
    pipe.goes_on.set()


class BusyError(OSError):
    winerror = 231


def test_a_pipe_that_is_busy_is_tried_again(monkeypatch):
    tried = []

    def opened(name, mode, buffering):
        tried.append(name)
        if len(tried) < 3:
            raise BusyError
        return Pipe(b"x\n")

    monkeypatch.setattr("builtins.open", opened)
    assert over_pipe("a name", b"line\n", 5) == b"x\n"
    assert tried == 3 * ["a name"]


def test_a_pipe_that_is_not_there_is_told(tmp_path):
    with pytest.raises(FileNotFoundError):
        over_pipe(str(tmp_path / "none"), b"line\n", 5)
