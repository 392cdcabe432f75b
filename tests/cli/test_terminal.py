"""The command line in a terminal: the conversation, its questions, and Ctrl-C at each of them."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.conftest import Jarvis
from tests.cli.terminal import Terminal, terminal
from tests.hub import running_hub

CASTLE = "Draw me a castle"
FETCH = "Download it now? [y/N] "


def test_the_conversation(tmp_path: Path) -> None:
    with terminal(tmp_path, environment={}) as running:
        assert "JARVIS Desktop" in running.until("you> ")
        running.type("What is 6 times 7?\n")
        assert "42" in running.until("you> ")
        running.type("repeat that\n")
        assert "42" in running.until("you> ")
        running.type("\x04")
        assert running.ends() == 0


def test_a_question_in_the_conversation(tmp_path: Path) -> None:
    with terminal(tmp_path, environment={}) as running:
        running.until("you> ")
        running.type(f"{CASTLE}\n")
        running.until(FETCH)
        running.type("n\n")
        running.until("you> ")
        running.type(f"{CASTLE}\n")
        running.until(FETCH)
        running.type("\x04")  # no answer is a No, and ends nothing but the question
        running.until("you> ")
        running.type("\x04")
        assert running.ends() == 1


def test_ctrl_c_at_the_prompt_ends_at_once(tmp_path: Path) -> None:
    with terminal(tmp_path, environment={}) as running:
        running.until("you> ")
        running.type("half a li\x03")
        assert running.ends() == 130
        assert running.shows_what_is_typed()


@pytest.mark.parametrize("command", [(), ("ask", CASTLE)])
def test_ctrl_c_at_a_question_ends_at_once(
    tmp_path: Path, jarvis: Jarvis, command: tuple[str, ...]
) -> None:
    with terminal(tmp_path, *command, environment={}) as running:
        if not command:
            running.until("you> ")
            running.type(f"{CASTLE}\n")
        running.until(FETCH)
        running.type("\x03")
        assert running.ends() == 130
    kept = jarvis("history", "show", "last", "--json").json["turns"][0]
    assert kept["status"] == "cancelled"


def test_ctrl_c_at_the_question_of_a_deletion(tmp_path: Path, jarvis: Jarvis) -> None:
    jarvis("ask", "What is 6 times 7?")
    for keys, code in (("\x03", 130), ("\n", 1), ("y\n", 0)):
        assert len(jarvis("history", "list", "--json").json) == 1
        with terminal(tmp_path, "history", "delete", "--all", environment={}) as running:
            running.until("for good? [y/N] ")
            running.type(keys)
            assert running.ends() == code
    assert jarvis("history", "list", "--json").json == []


def test_ctrl_c_while_listening_gives_the_terminal_back(tmp_path: Path) -> None:
    with terminal(tmp_path, "listen", environment={}) as running:
        running.until("Ctrl-D ends.")
        assert not running.shows_what_is_typed()
        running.type("\x03")
        assert running.ends() == 130
        assert running.shows_what_is_typed()


def test_ctrl_d_while_listening(tmp_path: Path) -> None:
    with terminal(tmp_path, "listen", environment={}) as running:
        running.until("Ctrl-D ends.")
        running.type("\x04")
        running.until("The input has ended.")
        assert running.ends() == 0


def test_ctrl_c_keeps_what_was_fetched_and_leaves_no_child(tmp_path: Path, home: Path) -> None:
    files = {"model.bin": bytes(700_000), "config.json": b"{}"}
    files |= {"tokenizer.json": b"{}", "vocabulary.txt": b"a\n"}
    repo = "Systran/faster-whisper-base"
    with running_hub(repos={repo: files}, hold={"model.bin": 400_000}) as hub:
        environment = {"HF_ENDPOINT": hub.address}
        command = ("experts", "pull", "whisper-base")
        with terminal(tmp_path, *command, environment=environment, warm=False) as running:
            assert hub.held.wait(60)
            running.until("%")
            children = children_of(running)
            assert children
            running.type("\x03")
            assert running.ends() == 130
        assert not [child for child in children if Path(f"/proc/{child}").exists()]
    parts = list((home / "jarvis" / "cache" / "experts").glob("whisper-base.part/*"))
    assert parts


def children_of(running: Terminal) -> list[int]:
    """Those that work; multiprocessing's own tracker ends by itself, a moment later."""
    listed = subprocess.run(
        ["ps", "-ww", "-o", "pid=,args=", "--ppid", str(running.process.pid)],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    return [int(line.split()[0]) for line in listed.splitlines() if "spawn_main" in line]
