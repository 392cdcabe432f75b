import os
import socket
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.everyday import this_computer
from jarvis_desktop.tasks.everyday.this_computer import THIS_COMPUTER, fact_asked, tell_fact
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


@pytest.mark.parametrize(
    ("words", "what"),
    [
        ("how much disk space do i have", "disk"),
        ("how much free space is left on my disk", "disk"),
        ("is there enough storage left", "disk"),
        ("how much room is left", "disk"),
        ("how much ram does this computer have", "memory"),
        ("is my laptop plugged in", "battery"),
        ("what's my battery level", "battery"),
        ("hey jarvis, what's my ip address", "address"),
        ("what processor does this computer have", "processor"),
        ("how many cores do i have", "processor"),
        ("which operating system am i running", "system"),
        ("what is the name of this computer", "name"),
        ("how long has this computer been on", "uptime"),
    ],
)
def test_questions_about_this_computer_are_read(words: str, what: str):
    assert fact_asked(words) == what


@pytest.mark.parametrize(
    "words",
    ["what's in your memory", "what is the battery life of the new iphone", "format my disk",
     "how much memory does a whale have", "my battery is empty", "how much is the ssd in euros",
     "what is the ip address of google", "who invented the cpu"],
)  # fmt: skip
def test_other_questions_are_not(words: str):
    assert not fact_asked(words)


async def tell(asked: str, folder: Path) -> str:
    call = call_of(THIS_COMPUTER.type, folder, asked=asked)
    return text_of(await tell_fact(call, quiet, FakeServices().services()))


async def test_facts_are_told_in_sentences(tmp_path: Path):
    assert "are free on the disk" in await tell("how much disk space do I have", tmp_path)
    assert "of memory are free" in await tell("How much memory is free?", tmp_path)
    assert f"with {os.cpu_count()} cores" in await tell("which processor is it", tmp_path)
    assert socket.gethostname() in await tell("what's the name of this computer", tmp_path)
    assert (await tell("what's my IP address", tmp_path)).startswith(
        ("In your own", "This computer is in no")
    )
    assert await tell("which operating system is this", tmp_path)


async def test_other_questions_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="not clear"):
        await tell("how old are you", tmp_path)


async def test_the_battery_is_told_where_there_is_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(this_computer, "SUPPLIES", tmp_path)
    assert (
        await tell("how full is my battery", tmp_path / "call")
        == "I find no battery in this computer."
    )
    (tmp_path / "BAT0").mkdir()
    (tmp_path / "BAT0" / "capacity").write_text("81\n")
    (tmp_path / "BAT0" / "status").write_text("Charging\n")
    told = await tell("how full is my battery", tmp_path / "call")
    assert told == "The battery is at 81 percent, charging."


async def test_how_long_it_has_been_running(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    uptime = tmp_path / "uptime"
    uptime.write_text("3725.11 7000.02\n")
    monkeypatch.setattr(this_computer, "UPTIME", uptime)
    told = await tell("what is the uptime", tmp_path / "call")
    assert told == "It has been running for 1 hour and 2 minutes."
    uptime.unlink()
    assert "does not tell" in await tell("what is the uptime", tmp_path / "call")
