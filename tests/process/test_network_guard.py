"""Offline is offline: refused in Python code, out of reach for native code.

The addresses in here belong to nobody (RFC 5737, RFC 3849).
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jarvis_desktop.process.network_guard import is_this_computer, web_address

TRIES = """
import json, socket, _socket
outcome = {}
def attempt(name, what):
    try:
        what()
        outcome[name] = "done"
    except OSError as error:
        outcome[name] = str(error)
ELSEWHERE = ("198.51.100.1", 80)
def sender(family=socket.AF_INET):
    return socket.socket(family, socket.SOCK_DGRAM)
attempt("connect", lambda: socket.create_connection(ELSEWHERE, 0.1))
attempt("connect6", lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80)))
attempt("connect bytes", lambda: socket.socket().connect((b"198.51.100.1", 80)))
attempt("connect in C", lambda: _socket.socket().connect(ELSEWHERE))
attempt("send", lambda: sender().sendto(b"x", ELSEWHERE))
attempt("message", lambda: sender().sendmsg([b"x"], [], 0, ELSEWHERE))
attempt("name", lambda: socket.getaddrinfo("files.example", 443))
attempt("old name", lambda: socket.gethostbyname("files.example"))
attempt("bytes", lambda: socket.getaddrinfo(b"files.example", 443))
attempt("address", lambda: socket.gethostbyaddr("198.51.100.1"))
attempt("here", lambda: socket.getaddrinfo("127.0.0.1", 80))
attempt("any", lambda: socket.getaddrinfo(None, 80))
server = socket.create_server(("127.0.0.1", 0)) if LOOPBACK else None
attempt("loopback", lambda: socket.create_connection(server.getsockname(), 5))
pair = socket.socketpair()
attempt("local socket", lambda: pair[0].send(b"x"))
print(json.dumps(outcome))
"""


def outcome(first: str, *, loopback: bool = True) -> dict[str, str]:
    code = f"LOOPBACK = {loopback}\n{first}\n{TRIES}"
    if not loopback:
        code = code.replace('attempt("loopback"', '0 and attempt("loopback"')
    done = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        cwd=Path(__file__).parents[2],
    )
    found: dict[str, str] = json.loads(done.stdout)
    return found


OUTWARD = (
    *("connect", "connect6", "connect bytes", "connect in C", "send", "message"),
    *("name", "old name", "bytes", "address"),
)


def test_what_an_offline_process_opens_stays_on_this_computer():
    found = outcome(
        "from jarvis_desktop.process import network_guard\nnetwork_guard.apply_policy(offline=True)"
    )
    assert all("offline" in found[name] for name in OUTWARD), found
    assert {found[name] for name in ("here", "any", "loopback", "local socket")} == {"done"}


def test_its_libraries_are_told():
    code = """
from jarvis_desktop.process import network_guard
network_guard.apply_policy(offline=True)
import huggingface_hub.constants as constants, transformers.utils
print(constants.HF_HUB_OFFLINE, constants.HF_HUB_DISABLE_TELEMETRY)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]


def test_its_children_are_offline_too():
    code = """
import subprocess, sys
from jarvis_desktop.process import network_guard
network_guard.apply_policy(offline=True)
inner = '''
from jarvis_desktop.process import network_guard
network_guard.apply_child_policy(network=True)
import socket
try:
    socket.create_connection(("198.51.100.1", 80), 0.1)
except OSError as error:
    print(error)
'''
subprocess.run([sys.executable, "-c", inner], check=True)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "offline" in done.stdout


def test_a_child_without_network_reaches_nothing_even_from_native_code():
    native = """
from jarvis_desktop.process import network_guard
network_guard.apply_child_policy(network=False)
import ctypes, os, socket, struct
libc = ctypes.CDLL(None, use_errno=True)
number = libc.socket(2, 1, 0)
to = struct.pack("=H", socket.AF_INET) + struct.pack("!H", 80)
to += bytes([198, 51, 100, 1]) + bytes(8)
print(libc.connect(number, to, 16), os.strerror(ctypes.get_errno()), os.getuid())
"""
    done = subprocess.run(
        [sys.executable, "-c", native], capture_output=True, text=True, check=True
    )
    code, words = done.stdout.strip().split(" ", 1)
    assert code == "-1"
    assert words.startswith("Network is unreachable")
    first = (
        "from jarvis_desktop.process import network_guard\n"
        "network_guard.apply_child_policy(network=False)"
    )
    found = outcome(first, loopback=False)
    assert all("offline" in found[name] for name in OUTWARD), found


def test_no_library_takes_notes_of_its_use(tmp_path):
    load = "from jarvis_desktop.speech.vad import Silero; Silero()"
    home = {**os.environ, "HOME": str(tmp_path)}
    home.pop("ORT_DISABLE_TELEMETRY")
    subprocess.run((sys.executable, "-c", load), env=home, check=True, timeout=200)
    assert not [path for path in tmp_path.rglob("*") if path.is_file()]


@pytest.mark.parametrize("host", "localhost LOCALHOST. 127.0.0.1 127.8.8.8 [::1] ::1%lo".split())
def test_this_computer_is_known_by_its_names(host):
    assert is_this_computer(host)


@pytest.mark.parametrize(
    "host",
    [
        "",
        "example.com",
        "localhost.example.com",
        "0.0.0.0",
        "10.0.0.1",
        "::",
        "127.1",
        "a.localhost",
    ],
)
def test_everything_else_is_elsewhere(host):
    assert not is_this_computer(host)


@pytest.mark.parametrize(
    ("typed", "address"),
    [
        ("127.0.0.1:1234/v1", "http://127.0.0.1:1234/v1"),
        (" localhost:1234 ", "http://localhost:1234"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("192.168.1.20:8080", "http://192.168.1.20:8080"),
        ("workshop.local/v1", "http://workshop.local/v1"),
        ("api.example.com:8443/v1", "https://api.example.com:8443/v1"),
        ("http://api.example.com", "http://api.example.com"),
        ("[::1", "[::1"),
        ("", ""),
    ],
)
def test_a_scheme_that_was_left_out_is_added(typed, address):
    assert web_address(typed) == address
