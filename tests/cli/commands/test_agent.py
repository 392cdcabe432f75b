"""`jarvis-desktop agent`: what it takes, what it hands on, and how Ctrl-C ends it."""

from __future__ import annotations

import json
from argparse import ArgumentTypeError
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.goal_run import Interrupts, StoppedError
from jarvis_desktop.cli.commands.agent import host
from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import CodeTerms, Terms, outline_from_markdown
from jarvis_desktop.core.ports import Frontend
from jarvis_desktop.core.turn import Round, Turn
from tests.cli.house import CTRL_C, House, Person, house, person, turn

__all__ = ["house", "person"]

GOAL = "Plot the prices"


def test_what_was_agreed_to_goes_along(house: House, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a")
    words = ["--yes-plan", "--allow-code", "sandboxed", "--allow-host", "Example.org:8080"]
    words += ["--allow-host", "example.org:8080", "--file", str(tmp_path / "a.csv"), "--speak"]
    assert house("agent", GOAL, *words) == 0
    (request,) = house.assistant.requests
    assert request.text == GOAL
    assert request.terms == Terms(True, CodeTerms.SANDBOXED, ("example.org:8080",))
    assert (request.files, request.speak) == ((tmp_path / "a.csv",), True)
    assert house.assistant.conversations == ["c1"]


def test_nothing_is_agreed_to_unsaid(house: House) -> None:
    assert house("agent", GOAL, "--new") == 0
    assert house.assistant.requests[0].terms == Terms()
    assert house.assistant.conversations == [None]


def test_the_goal_may_come_from_stdin(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("jarvis_desktop.cli.commands.agent.whole_input", lambda: "from stdin")
    assert house("agent", "-") == 0
    assert house.assistant.requests[0].text == "from stdin"


@pytest.mark.parametrize(
    "words",
    [
        ["agent"],
        ["agent", " "],
        ["agent", GOAL, "--allow-code", "always"],
        ["agent", GOAL, "--allow-host", "https://example.org"],
        ["agent", GOAL, "--yes"],
    ],
)
def test_wrong_usage(house: House, words: list[str]) -> None:
    try:
        code = house(*words)
    except SystemExit as ended:
        code = int(str(ended.code))
    assert code == 2
    assert not house.assistant.requests


@pytest.mark.parametrize(
    ("text", "is_host"),
    [
        ("example.org", "example.org"),
        (" EXAMPLE.org ", "example.org"),
        ("localhost:1", "localhost:1"),
        ("127.0.0.1:65535", "127.0.0.1:65535"),
        ("[::1]:8080", "[::1]:8080"),
        ("https://example.org", "is an address; write its host alone"),
        ("example.org/a.csv", "is an address"),
        ("me@example.org", "is an address"),
        ("*.example.org", "names no one host"),
        ("*", "names no one host"),
        ("", "is not a host"),
        ("a b", "is not a host"),
        ("example.org:0", "is not a host"),
        ("example.org:65536", "is not a host"),
        ("example.org:port", "is not a host"),
        ("example..org", "is not a host"),
        ("::1", "::1"),
        ("bücher.example", "bücher.example"),
        (":80", "is not a host"),
        ("example.org\nevil.org", "is not a host"),
        ("ex\x1bample.org", "“ex�ample.org” is not a host"),
    ],
)
def test_a_host_is_named_as_a_host(text: str, is_host: str) -> None:
    if " " not in is_host:
        assert host(text) == is_host
        return
    with pytest.raises(ArgumentTypeError, match=is_host):
        host(text)


@pytest.mark.parametrize(
    ("status", "code"), [(Status.DONE, 0), (Status.PARTLY, 3), (Status.FAILED, 1)]
)
def test_exit_codes(house: House, status: Status, code: int) -> None:
    async def play(frontend: Frontend) -> Turn:
        return turn(status=status)

    house.assistant.play = play
    assert house("agent", GOAL) == code


def test_the_turn_as_json(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    async def play(frontend: Frontend) -> Turn:
        frontend.show(events.GoalTaken())
        outline = outline_from_markdown("1. Fetch\n2. Plot")
        rounds = {1: Round(1, "assistant", "coder", "fetch", status=Status.DONE)}
        return turn(outline=outline, rounds=rounds, reply="It was May.")

    house.assistant.play = play
    assert house("agent", GOAL, "--json") == 0
    shown = json.loads(capsys.readouterr().out)
    assert [step["text"] for step in shown["outline"]["steps"]] == ["Fetch", "Plot"]
    assert shown["rounds"]["1"]["branch"] == "coder"
    assert (shown["reply"], shown["status"]) == ("It was May.", "done")


def test_events_one_to_a_line(house: House, capsys: pytest.CaptureFixture[str]) -> None:
    async def play(frontend: Frontend) -> Turn:
        frontend.show(events.GoalTaken())
        frontend.show(events.RoundStarted(1, "assistant/coder", "run_code", "plot", "1 + 1"))
        return turn()

    house.assistant.play = play
    assert house("agent", GOAL, "--events") == 0
    taken, started = map(json.loads, capsys.readouterr().out.splitlines())
    assert taken == {"event": "goal_taken"}
    assert (started["event"], started["code"]) == ("round_started", "1 + 1")


def test_files_are_copied_out(house: House, tmp_path: Path) -> None:
    made = tmp_path / "x.png"
    made.write_bytes(b"png")
    picture = Artifact(Kind.IMAGE, path=made, name="plot.png")

    async def play(frontend: Frontend) -> Turn:
        ended = Round(1, "assistant", "final_answer", "", artifacts=(picture,))
        return turn(rounds={1: ended})

    house.assistant.play = play
    assert house("agent", GOAL, "--out", str(tmp_path / "out")) == 0
    assert (tmp_path / "out" / "plot.png").read_bytes() == b"png"


def working(house: House) -> None:
    """One branch asks something; where it is stopped, the person is asked what should be
    different."""
    interrupts = Interrupts()

    async def play(frontend: Frontend) -> Turn:
        try:
            said = await interrupts.branch(frontend.ask("Which month?"))
        except StoppedError:
            said = "instead " + await frontend.ask("What should be different?")
            interrupts.heard()
        return turn(reply=said)

    house.assistant.play, house.assistant.stop = play, interrupts.stop


def test_ctrl_c_stops_the_branch_and_the_person_is_asked(
    house: House, person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    working(house)
    person.says(CTRL_C, "only May")
    assert house("agent", GOAL, "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["reply"] == "instead only May"
    assert "Ctrl-C once more ends the whole request" in shown.err
    assert person.asked == ["Which month? ", "What should be different? "]


def test_a_second_ctrl_c_ends_the_turn(
    house: House, person: Person, capsys: pytest.CaptureFixture[str]
) -> None:
    working(house)
    person.says(CTRL_C, CTRL_C)
    assert house("agent", GOAL) == 130
    assert capsys.readouterr().err.endswith("stopped\n")


def test_ctrl_c_where_nothing_is_to_be_stopped_ends_the_turn(house: House, person: Person) -> None:
    async def play(frontend: Frontend) -> Turn:
        return turn(reply=await frontend.ask("Which month?"))

    house.assistant.play = play
    person.says(CTRL_C)
    assert house("agent", GOAL) == 130


def test_after_it_ctrl_c_is_again_what_it_was(house: House, person: Person) -> None:
    working(house)
    person.says("May")
    assert house("agent", GOAL) == 0
    person.says(CTRL_C)
    with pytest.raises(KeyboardInterrupt):
        person.hear("")


def test_nobody_to_ask_is_told_without_a_word_of_yes(
    house: House, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    async def play(frontend: Frontend) -> Turn:
        agreed = await frontend.confirm("Fetch it?")
        return turn(reply=f"{agreed} {await frontend.ask('Which?')!r}")

    monkeypatch.setattr("jarvis_desktop.cli.terminal.somebody_is_there", lambda: False)
    house.assistant.play = play
    assert house("agent", GOAL, "--json") == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["reply"] == "False ''"
    assert "Fetch it? [y/N] (nobody is there to answer)" in shown.err
    assert "--yes" not in shown.err


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--yes-plan"], "none will run; --allow-code sandboxed"),
        (["--yes-plan", "--allow-code", "ask"], "none will run; --allow-code sandboxed"),
        (["--yes-plan", "--allow-code", "sandboxed"], ""),
        ([], ""),  # the plan is asked about first
        (["--mode", "offline", "--allow-host", "example.org"], "whatever --allow-host says"),
        (["--mode", "offline"], ""),
    ],
)
def test_what_will_keep_code_from_its_work_is_told_first(
    house: House,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    words: list[str],
    says: str,
) -> None:
    monkeypatch.setattr("jarvis_desktop.cli.commands.agent.somebody_is_there", lambda: False)
    assert house("agent", GOAL, *words) == 0
    shown = capsys.readouterr().err
    assert says in shown
    assert shown.count("\n") == bool(says)


def test_somebody_who_is_there_is_told_when_it_is_time(
    house: House, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jarvis_desktop.cli.commands.agent.somebody_is_there", lambda: True)
    assert house("agent", GOAL, "--yes-plan") == 0
    assert capsys.readouterr().err == ""
