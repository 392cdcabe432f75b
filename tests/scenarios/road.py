"""The whole program from outside: a keyboard, a microphone, files and a loudspeaker on a real
screen.

Of all of it only the loudspeaker is a null sink.
"""

from __future__ import annotations

import json
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from PIL import Image, ImageColor, ImageGrab

from jarvis_desktop import paths
from jarvis_desktop.app.ipc_client import ask
from jarvis_desktop.ui.widgets import theme
from tests.cli.warm import warm_commands
from tests.sound import RATE, Heard, SoundServer
from tests.synthetic_speech import NEURAL, speak
from tests.ui.quick.test_on_a_desktop import ROOT, WINDOW, Person

SETTINGS = """
[planner]
kind = "embedded"
[llm]
provider = "none"
[speech]
language = "en"
[window]
theme = "light"
language = "{language}"
"""
LOUD = 0.02
BLOCK = RATE // 20
ACCENT = ImageColor.getrgb(theme.tokens().colours(dark=False)["accent"])
WIDE, TALL = 40, 5
"""Pixels; no round button is so wide, and no frame so thick."""


class Road:
    """What the person does more than once on their way."""

    def __init__(self, person: Person, server: SoundServer, folder: Path) -> None:
        self.person, self.server, self.folder = person, server, folder
        self.until = person.until

    def start(self, language: str, *words: str) -> subprocess.Popen[bytes]:
        """Start the program with a window in this language, and wait until it has its keys."""
        settings = paths.user_paths().settings
        settings.parent.mkdir(parents=True, exist_ok=True)
        settings.write_text(SETTINGS.format(language=language))
        program = subprocess.Popen(
            [sys.executable, "-m", "jarvis_desktop", *words],
            env=self.person.environment | {"PYTHONPATH": str(ROOT)},
            cwd=self.folder,
            stderr=subprocess.PIPE,
        )
        self.person.started.append(program)
        self.until(self.person.is_reached, "it does not answer")
        return program

    def pass_first_start(self) -> None:
        """Nothing of it is asked."""
        kept = paths.user_paths().config / "window.ini"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text("[first_start]\nover=true\n")

    def keys(self, *keys: str) -> None:
        """Press one after the other."""
        self.person.drive("key", "--delay", "40", *keys)

    def write(self, text: str) -> None:
        """Type and send."""
        self.person.drive("type", "--delay", "4", text)
        self.keys("Return")

    def look(self) -> np.ndarray:
        """The screen: (height, width, 3)."""
        return np.asarray(ImageGrab.grab(xdisplay=self.person.screen.name).convert("RGB"))

    def is_asked(self) -> bool:
        """Whether a large button in the colour of what comes next is to be seen."""
        here = (self.look() == ACCENT).all(axis=2)
        rows = sliding_window_view(here, WIDE, axis=1).all(axis=2)
        return bool(sliding_window_view(rows, TALL, axis=0).all(axis=2).any())

    def command(self, *words: str) -> str:
        """What the command line says meanwhile."""
        code, out, err = warm_commands().run(
            list(words), cwd=self.folder, env=self.person.environment, stdin="", timeout=200
        )
        assert code == 0, err
        return out

    def conversations(self) -> list[dict[str, Any]]:
        """What is kept by now, as it is exported."""
        return list(
            json.loads(self.command("history", "export", "--format", "json"))["conversations"]
        )

    def turn(self, text: str, *, number: int = 1) -> dict[str, Any]:
        """The finished turn with this request, once it is kept."""
        self.until(lambda: self.kept(text) == number, f"no turn {number} for {text!r}")
        turns: list[dict[str, Any]] = [
            turn for each in self.conversations() for turn in each["turns"] if turn["text"] == text
        ]
        return turns[-1]

    def kept(self, text: str) -> int:
        """How many turns with this request there are by now. The command line, asked again and
        again, would take most of the time of the computer."""
        try:
            with closing(
                sqlite3.connect(f"file:{paths.user_paths().database}?mode=ro", uri=True)
            ) as db:
                [[count]] = db.execute(
                    "SELECT count(*) FROM turns WHERE text = ? AND finished IS NOT NULL", (text,)
                )
                return int(count)
        except sqlite3.OperationalError:  # there is none yet
            return 0

    def talk(self) -> Mapping[str, Any]:
        """What the running program says of its microphone."""
        return ask(paths.run_folder(), {"do": "talk", "action": "status"})

    def listens(self) -> bool:
        """Whether it does, be it to silence yet."""
        sources = self.server.control("list", "short", "sources").splitlines()
        microphone = next(line.split()[0] for line in sources if "\tmicrophone\t" in line)
        heard = self.server.control("list", "short", "source-outputs").splitlines()
        opened = any(line.split()[1] == microphone for line in heard)
        return opened and self.talk()["state"] in ("waiting", "listening")

    def say(self, text: str) -> None:
        """Hold the talk key of the window and speak."""
        self.person.drive("keydown", "F4")
        self.until(self.listens, "it does not listen")
        audio = speak(text, self.folder / "said.wav", voice=NEURAL, after=0.4)
        assert self.server.say_into_microphone(audio).wait() == 0
        self.person.drive("keyup", "F4")

    def hear(self, text: str) -> Heard:
        """Have something read, and wait until it is heard."""
        ear = self.server.listening()
        self.write(f'say "{text}"')
        self.until(lambda: loud(ear), "nothing is read aloud")
        return ear

    def open_three_files(self) -> list[str]:
        """Start the program again for them."""
        for name, colour in (("a.png", "red"), ("b.png", "blue")):
            Image.new("RGB", (200, 120), colour).save(self.folder / name)
        (self.folder / "c.txt").write_text("The market opens on Monday.")
        names = ["a.png", "b.png", "c.txt"]
        again = self.person.start(*(str(self.folder / name) for name in names))
        assert self.person.ends(again) == 0
        self.until(lambda: self.person.looks_at(WINDOW), "the window did not come")
        return names

    def ends(self, program: subprocess.Popen[bytes]) -> None:
        """End the program as the system does, with all that it started."""
        family = descendants(program.pid)
        assert family
        program.send_signal(signal.SIGTERM)
        assert self.person.ends(program) == 0
        self.until(lambda: not any(process.exists() for process in family), "a child is left")


def descendants(pid: int) -> set[Path]:
    """The processes that one started, and those that they started."""
    found: set[Path] = set()
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        for child in listed.read_text("ascii").split():
            found |= {Path("/proc") / child} | descendants(int(child))
    return found


def loud(ear: Heard) -> int:
    """How many twentieths of a second were not silent."""
    samples = ear.samples
    blocks = samples[: len(samples) // BLOCK * BLOCK].reshape(-1, BLOCK)
    return int((np.abs(blocks).max(axis=1, initial=0) > LOUD).sum())


def is_quiet(ear: Heard) -> bool:
    """Whether nothing was heard in the last second."""
    return bool(np.abs(ear.samples[-RATE:]).max(initial=0) < LOUD)
