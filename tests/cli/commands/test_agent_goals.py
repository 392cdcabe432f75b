"""`jarvis-desktop goals`: plans and logs, read and changed."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import (
    ControllerFrame,
    Goal,
    LogEntry,
    StepState,
    Terms,
    outline_from_markdown,
)
from jarvis_desktop.core.ports import Unfinished
from tests.cli.house import HERE, NOON, SHOWN, House, Person, house, person, turn

__all__ = ["house", "person"]

Shown = pytest.CaptureFixture[str]

WAITS, OVER = "aa" * 8, "bb" * 8
OUTLINE = outline_from_markdown("1. Fetch\n2. Plot").with_state(1, StepState.DONE, "500 rows")


def entry(number: int, **fields: object) -> LogEntry:
    known = LogEntry(
        number, "assistant/coder", "run_code", f"do {number}", Status.DONE, "Seen.\nSo it is.", NOON
    )
    return replace(known, **fields)  # type: ignore[arg-type]


@pytest.fixture
def kept(house: House) -> House:
    """A goal that was cut off, in two controllers, and a newer one that is over."""
    goal = Goal(WAITS, "c", "Plot the prices", Terms(), NOON)
    frames = (ControllerFrame("assistant", goal.text, OUTLINE), ControllerFrame("coder", "fetch"))
    house.goals.begin(goal, frames)
    house.goals.keep(WAITS, frames, [entry(1), entry(2, status=Status.FAILED)])
    later = replace(goal, id=OVER, text="Rename\nthem", started=NOON + timedelta(hours=1))
    house.goals.begin(later, ())
    house.goals.end(OVER, Status.DONE, "All renamed.")
    house.assistant.left = [Unfinished("c", turn(id=WAITS, status=None), goal=True)]
    return house


def first_frame(house: House) -> ControllerFrame:
    return house.goals.frames(WAITS)[0]


def test_the_list(kept: House, capsys: Shown) -> None:
    assert kept("goals", "list") == 0
    assert capsys.readouterr().out == (
        f"bbbbbbbb  {HERE + timedelta(hours=1):%Y-%m-%d %H:%M}  done       “Rename them”\n"
        f"aaaaaaaa  {SHOWN}  open       “Plot the prices”\n"
    )
    assert kept("goals", "list", "--limit", "1", "--json") == 0
    (shown,) = json.loads(capsys.readouterr().out)
    assert (shown["goal"], shown["status"], shown["answer"]) == (OVER, "done", "All renamed.")


def test_there_is_none(house: House, capsys: Shown) -> None:
    assert house("goals", "list") == 0
    assert capsys.readouterr().out == "There is no goal yet.\n"
    for prefix in ("aa", ""):
        assert house("goals", "show", prefix) == 1
        assert "No goal has the id" in capsys.readouterr().err


def test_one_is_shown(kept: House, capsys: Shown, tmp_path: Path) -> None:
    picture = Artifact(Kind.IMAGE, path=tmp_path / "x.png", name="plot.png")
    long = entry(3, observation="y" * 3000, artifacts=(picture, Artifact(Kind.TEXT, "w")))
    kept.goals.keep(WAITS, kept.goals.frames(WAITS), [long])
    assert kept("goals", "show", "aaaa") == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"{SHOWN}  open\nPlot the prices\n")
    assert "\nplan\n- [x] 1. Fetch — 500 rows\n- [ ] 2. Plot\n" in shown
    assert f"   1  {HERE:%H:%M:%S}  assistant/coder: run_code  do 1  (done)\n      Seen.\n" in shown
    assert "(failed)" in shown
    assert f"      {'y' * 2000}…\n      plot.png: {tmp_path / 'x.png'}\n" in shown
    assert "answer" not in shown
    assert kept("goals", "show", "bb") == 0
    shown = capsys.readouterr().out
    assert "\nplan\nThere is none yet.\n" in shown
    assert shown.endswith("\nanswer\nAll renamed.\n")


def test_one_as_json(kept: House, capsys: Shown) -> None:
    assert kept("goals", "show", WAITS, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [step["state"] for step in shown["plan"]["steps"]] == ["done", "open"]
    assert [item["number"] for item in shown["log"]] == [1, 2]


def test_several_begin_so(kept: House, capsys: Shown) -> None:
    kept.goals.begin(Goal("aab", "c", "x", Terms(), NOON), ())
    assert kept("goals", "show", "aa") == 1
    assert "Several goals begin so: aab, aaaaaaaa." in capsys.readouterr().err


def test_the_plan_is_shown(kept: House, capsys: Shown) -> None:
    assert kept("goals", "plan", "aa") == 0
    assert capsys.readouterr().out == "- [x] 1. Fetch — 500 rows\n- [ ] 2. Plot\n"
    assert kept("goals", "plan", "aa", "--json") == 0
    assert len(json.loads(capsys.readouterr().out)["steps"]) == 2
    assert kept("goals", "plan", "bb") == 0
    assert capsys.readouterr().out == "There is no plan yet.\n"


def test_the_plan_is_taken_from_a_file(kept: House, capsys: Shown, tmp_path: Path) -> None:
    kept.goals.keep(
        WAITS, (replace(first_frame(kept), notices=("Old.",)), *kept.goals.frames(WAITS)[1:])
    )
    (tmp_path / "p.md").write_text("- [x] 1. Fetch — 500 rows\n- [ ] 2. Draw\n- [ ] Mail it\n")
    assert kept("goals", "plan", "aa", "--set", str(tmp_path / "p.md")) == 0
    told = ["Step 2 now says: Draw", "Step 3 is new: Mail it"]
    assert capsys.readouterr().out.splitlines() == told
    frame = first_frame(kept)
    assert frame.outline is not None
    assert [step.text for step in frame.outline] == ["Fetch", "Draw", "Mail it"]
    # The controller hears of it when it goes on.
    assert frame.notices == ("Old.", "The person changed the plan: " + " ".join(told))
    assert kept.goals.frames(WAITS)[1] == ControllerFrame("coder", "fetch")
    assert len(kept.goals.log(WAITS)) == 2


def test_the_plan_comes_from_stdin(
    kept: House, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.cli.commands.agent.whole_input", lambda: "2. Plot")
    assert kept("goals", "plan", "aa", "--set", "-", "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert shown == {"goal": WAITS, "changes": ["Step 1 was taken out: Fetch"]}


def test_the_plan_is_edited(
    kept: House, capsys: Shown, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    script = tmp_path / "editor.py"
    script.write_text("import sys\nopen(sys.argv[1], 'a').write('3. Tell\\n')\n")
    monkeypatch.delenv("VISUAL", raising=False)
    monkeypatch.setenv("EDITOR", f"{sys.executable} {script}")
    assert kept("goals", "plan", "aa", "--edit") == 0
    assert capsys.readouterr().out == "Step 3 is new: Tell\n"
    monkeypatch.delenv("EDITOR")
    assert kept("goals", "plan", "aa", "--edit") == 1
    assert "Name one in the variable EDITOR" in capsys.readouterr().err


def test_a_first_plan_is_given(kept: House, tmp_path: Path, capsys: Shown) -> None:
    kept.goals.begin(Goal("cc", "c", "x", Terms(), NOON), (ControllerFrame("assistant", "x"),))
    (tmp_path / "p.md").write_text("1. Go")
    assert kept("goals", "plan", "cc", "--set", str(tmp_path / "p.md")) == 0
    frame = kept.goals.frames("cc")[0]
    assert frame.outline == outline_from_markdown("1. Go")
    assert frame.notices == ("The person changed the plan: It is wholly new.",)


def test_a_plan_that_is_the_same_or_none_changes_nothing(
    kept: House, tmp_path: Path, capsys: Shown
) -> None:
    before = kept.goals.frames(WAITS)
    (tmp_path / "same.md").write_text(OUTLINE.markdown)
    assert kept("goals", "plan", "aa", "--set", str(tmp_path / "same.md")) == 0
    assert capsys.readouterr().out == "The plan is as it was.\n"
    (tmp_path / "none.md").write_text("\n")
    (tmp_path / "bytes.md").write_bytes(b"1. caf\xe9")
    for name, says in (
        ("none.md", "no step"),
        ("bytes.md", "cannot be read as text"),
        ("no.md", "cannot be read as text"),
        ("a\0b", "cannot be read as text"),
    ):
        assert kept("goals", "plan", "aa", "--set", str(tmp_path / name)) == 1
        assert says in capsys.readouterr().err
    assert kept.goals.frames(WAITS) == before


def test_a_plan_that_nobody_would_go_by_stays(kept: House, capsys: Shown, tmp_path: Path) -> None:
    (tmp_path / "p.md").write_text("1. Go")
    words = ("--set", str(tmp_path / "p.md"))
    assert kept("goals", "plan", "bb", *words) == 1
    assert "This goal is over (done)" in capsys.readouterr().err
    kept.assistant.others = {WAITS}
    assert kept("goals", "plan", "aa", *words) == 1
    assert "being worked on elsewhere" in capsys.readouterr().err
    assert first_frame(kept).outline == OUTLINE


def test_a_plan_that_went_on_while_it_was_edited_stays(
    kept: House, capsys: Shown, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = OUTLINE.with_state(2, StepState.DONE)

    async def edited(text: str, name: str) -> str:
        kept.goals.keep(WAITS, (replace(first_frame(kept), outline=newer),))
        return text + "3. Tell"

    monkeypatch.setattr("jarvis_desktop.cli.commands.agent.edited", edited)
    assert kept("goals", "plan", "aa", "--edit") == 1
    assert "was changed meanwhile" in capsys.readouterr().err
    assert first_frame(kept).outline == newer


def test_one_is_removed(kept: House, person: Person, capsys: Shown) -> None:
    for goal in (WAITS, OVER):
        (kept.paths.goals / goal / "files").mkdir(parents=True)
    assert kept("goals", "remove", "aa", "--yes") == 1
    assert f"jarvis-desktop resume {WAITS[:8]} --drop" in capsys.readouterr().err
    person.says("n", "y")
    assert kept("goals", "remove", "bb") == 1
    assert kept("goals", "remove", "bb", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"removed": OVER}
    assert [folder.name for folder in kept.paths.goals.iterdir()] == [WAITS]
    kept.assistant.left = []
    kept.assistant.others = {WAITS}
    assert kept("goals", "remove", "aa", "--yes") == 1
    assert "elsewhere" in capsys.readouterr().err
    kept.assistant.others = set()
    assert kept("goals", "remove", "aa", "--yes") == 0
    assert capsys.readouterr().out == "“Plot the prices” is forgotten.\n"
    assert not kept.goals.list()
