"""Offline mode as the system sees it: strace writes down every network call of every process."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image, ImageDraw, ImageFont

from tests.fake_voice import write_wav
from tests.families import some

CALLS = "connect,sendto,sendmsg,sendmmsg"
ADDRESS = re.compile(r'sin6?_addr=inet_(?:addr\("|pton\(AF_INET6, ")([^"]+)"')


def traced(log: Path, *command: str | Path) -> tuple[subprocess.CompletedProcess[str], set[str]]:
    """Run a command; the addresses that it or a child of it tried to reach, but for loopback."""
    done = subprocess.run(
        ["strace", "-f", "--seccomp-bpf", "-qq", "-e", f"trace={CALLS}", "-o", log, *command],
        cwd=log.parent,
        env={name: value for name, value in os.environ.items() if name != "DISPLAY"},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    reached = set(ADDRESS.findall(log.read_text("utf-8", errors="replace")))
    return done, {each for each in reached if not each.startswith("127.") and each != "::1"}


def test_the_trace_sees_what_leaves(tmp_path: Path) -> None:
    leaks = {
        "connect": "socket.socket().connect_ex(('198.51.100.1', 80))",
        "datagram": "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('198.51.100.2', 53))",
        "child": "subprocess.run([sys.executable, '-c', 'import socket;"
        'socket.socket().connect_ex(("198.51.100.3", 80))\'])',
    }
    code = "import socket, subprocess, sys\nsocket.setdefaulttimeout(0.1)\n"
    for leak in leaks.values():
        code += f"try: {leak}\nexcept OSError: pass\n"
    _, reached = traced(tmp_path / "trace", sys.executable, "-c", code)
    assert reached == {"198.51.100.1", "198.51.100.2", "198.51.100.3"}


@pytest.fixture
def offline(home: Path) -> None:
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text(
        'mode = "offline"\n[llm]\nprovider = "openai"\naddress = "https://198.51.100.4/v1"\n'
    )


def page(tmp_path: Path) -> Path:
    picture = Image.new("RGB", (600, 200), "white")
    font = ImageFont.load_default(48)
    ImageDraw.Draw(picture).text((40, 60), "MEET ME AT NOON", "black", font)
    picture.save(tmp_path / "note.png")
    return tmp_path / "note.png"


REQUESTS = {
    "a picture read aloud": (0, "ask", "Read the text in note.png and say it out loud"),
    "a file on the network": (1, "ask", "Summarise https://example.com/report.pdf"),
    "a question for a remote LLM": (1, "ask", "Why is the sky blue?"),
    "an expert to be fetched": (1, "ask", "Translate 'good morning' into French"),
    "a fetch": (1, "experts", "pull", "whisper-tiny"),
    "the list of the Hub": (1, "experts", "refresh"),
    "a look at the computer": (3, "doctor"),
    "a recording": (1, "transcribe", "tone.wav"),
}


@pytest.mark.usefixtures("offline")
@pytest.mark.parametrize("request_name", some(list(REQUESTS)))
def test_nothing_leaves_this_computer(tmp_path: Path, request_name: str) -> None:
    page(tmp_path)
    write_wav(tmp_path / "tone.wav", seconds=1)
    code, *command = REQUESTS[request_name]
    log = tmp_path / "trace"
    done, reached = traced(log, sys.executable, "-m", "jarvis_desktop", *map(str, command))
    assert reached == set()
    assert "Traceback" not in done.stdout + done.stderr
    assert done.returncode == code, done.stdout + done.stderr
