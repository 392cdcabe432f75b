"""A person's first hour: the first start, talking, files, a plan that is changed, the quick box."""

from __future__ import annotations

from pathlib import Path

import pytest

from jarvis_desktop.speech.decoding import RATE as SPOKEN
from tests.scenarios.road import BLOCK, Road, is_quiet, loud
from tests.sound import RATE, SoundServer
from tests.synthetic_speech import spoken
from tests.ui.quick.test_on_a_desktop import BOX, WINDOW, Person, person, tray

pytestmark = [pytest.mark.screen, pytest.mark.sound, pytest.mark.timeout(300)]
__all__ = ["person", "tray"]

SUM, TIMES = "What is 15 percent of 240?", "What is 12 times 12?"
ASKED = "Hey JARVIS, what time is it?"
LONG = ("One more word and another one, and then some more. " * 6).strip()
CHANGE = "Turn the pictures to grey and flip them"
MIDDLE, MANY = 640, 2000
"""Of the screen, in pixels; right of it are the turns. No cursor that blinks has so many."""


@pytest.fixture
def road(sound_server: SoundServer, person: Person, tray: None, tmp_path: Path) -> Road:
    return Road(person, sound_server, tmp_path)


def test_it_is_started_typed_to_and_talked_to(road: Road) -> None:
    person, until = road.person, road.until
    program = road.start("en")
    until(lambda: person.looks_at(WINDOW) and road.is_asked(), "the first start did not come")
    road.keys(*["Return"] * 4)
    until(lambda: not road.is_asked(), "the first start did not end")

    road.write(SUM)
    assert "36" in road.turn(SUM)["reply"]
    road.say(ASKED)
    assert road.turn(ASKED)["heard_by"] == "whisper"

    whole = len(spoken(LONG, speed=170)) / SPOKEN * RATE / BLOCK
    ear = road.hear(LONG)
    road.keys("Escape")
    until(lambda: is_quiet(ear), "Esc did not silence it")
    assert loud(ear) < whole / 2
    ear = road.hear(LONG)
    road.say(ASKED)
    assert road.turn(ASKED, number=2)["reply"].startswith("It is ")
    assert loud(ear) < whole / 2
    road.ends(program)


def test_files_are_worked_on_by_a_plan_that_is_changed_first(road: Road) -> None:
    road.pass_first_start()
    person, until = road.person, road.until
    program = road.start("en")
    until(lambda: person.looks_at(WINDOW), "the window did not come")
    names = road.open_three_files()
    road.write(CHANGE)
    until(road.is_asked, "the plan is not shown")
    road.keys("shift+Tab", "Delete", "Tab", "Tab", "space")
    changed = road.turn(CHANGE)
    assert sorted(file["name"] for file in changed["attachments"]) == names
    assert len(changed["plan"]) < 4
    assert changed["status"] == "done"
    road.ends(program)


def test_the_quick_box_the_history_and_another_language(road: Road) -> None:
    road.pass_first_start()
    person, until = road.person, road.until
    program = road.start("en")
    until(lambda: person.looks_at(WINDOW), "the window did not come")
    road.write(SUM)
    road.turn(SUM)

    road.keys("ctrl+alt+j")
    until(lambda: person.looks_at(BOX), "the quick box did not come")
    road.write(TIMES)
    assert "144" in road.turn(TIMES)["reply"]
    road.keys("ctrl+Return")
    until(lambda: person.looks_at(WINDOW) and not person.sees(BOX), "it did not move")

    road.keys("ctrl+n", "ctrl+f")
    person.drive("type", "--delay", "20", "percent")
    before = road.look()[:, MIDDLE:]
    road.keys("Return")  # opens the first that is found, once it is
    until(lambda: (road.look()[:, MIDDLE:] != before).sum() > MANY, "it was not opened")
    road.keys("ctrl+l")
    road.write("Flip a coin")
    road.turn("Flip a coin")
    found = [[turn["text"] for turn in each["turns"]] for each in road.conversations()]
    assert [SUM, "Flip a coin"] in found

    road.command("history", "export", "--format", "html", "--out", "all.html")
    assert "144" in (road.folder / "all.html").read_text("utf-8")
    road.ends(program)
    program = road.start("de", "--quick")
    until(lambda: person.looks_at("^JARVIS fragen"), "it does not speak German")
    road.ends(program)
