"""A plan of six tasks outlives `kill -9`: it goes on, and no task that was done is done again."""

from __future__ import annotations

import os
import signal
from pathlib import Path

from tests.cli.conftest import Jarvis
from tests.cli.cut_off import Running, Told, six_edits
from tests.cli.terminal import terminal
from tests.line_server import Answer
from tests.openai_server import running_openai_server


def same_results(before: Told, after: Told) -> bool:
    """Whether what was done is what was kept: the same files, by the same attempts."""

    def marks(told: Told) -> dict[int, object]:
        return {
            number: (
                [item["path"] for item in result["artifacts"]],
                [item["seconds"] for item in result["attempts"]],
            )
            for number, result in told.done.items()
            if number in before.done
        }

    return marks(before) == marks(after)


KILLS = ("plan_accepted", "task_finished", "task_started", "task_finished")


def test_it_goes_on_however_often_it_is_killed(jarvis: Jarvis, tmp_path: Path) -> None:
    command = ["run", str(six_edits(tmp_path))]
    runs: list[Told] = []
    for event in KILLS:
        running = Running(tmp_path, *command)
        # What is kept is told first; it is killed at something new.
        known = len(runs[-1].done) if runs and event == "task_finished" else 0
        assert running.until(event, known + 1)
        runs.append(running.killed())
        command = ["resume"]
    runs.append(Running(tmp_path, "resume").ended())
    last = runs[-1]
    assert last.status == "done"
    assert sorted(last.done) == list(range(6))
    for number, before in enumerate(runs):
        assert same_results(before, last)
        for after in runs[number + 1 :]:
            # What was told as done had been written down, and is never started again.
            assert not after.started & set(before.done)
            # No more than the one task that was under way is.
            assert len(after.started & before.started) <= 1
    (turn_id,) = {told.events[0]["turn_id"] for told in runs}
    turn = jarvis("history", "show", turn_id, "--json").json
    assert turn["status"] == "done"
    assert len(turn["results"]) == 6
    shown = jarvis("resume")
    assert (shown.code, shown.out) == (0, "Nothing was interrupted.\n")


def cut_off(folder: Path) -> None:
    running = Running(folder, "run", str(six_edits(folder)))
    assert running.until("task_finished")
    running.killed()


def test_of_several_one_is_chosen_and_may_be_given_up(jarvis: Jarvis, tmp_path: Path) -> None:
    for _ in range(2):
        cut_off(tmp_path)
    shown = jarvis("resume", "--list", "--json")
    assert shown.code == 0
    first, second = (item["turn"] for item in shown.json)
    done = len(shown.json[0]["done"])
    assert 1 <= done <= 5
    assert [item["task"] for item in shown.json[0]["plan"]] == ["image-editing"] * 6
    refused = jarvis("resume", "--json")
    assert refused.code == 1
    assert first[:8] in refused.json["error"]
    dropped = jarvis("resume", first[:8], "--drop")
    assert dropped.code == 0
    assert dropped.out.startswith("Given up: A plan.")
    kept = jarvis("history", "show", first, "--json").json
    assert kept["status"] == "partly"
    statuses = [kept["results"][str(number)]["status"] for number in range(6)]
    assert statuses == ["done"] * done + ["cancelled"] * (6 - done)
    listed = jarvis("resume", "--list").out
    assert listed.startswith(second[:8])
    assert "of 6 steps" in listed


def test_an_answer_that_was_being_written_is_written_again(
    jarvis: Jarvis, home: Path, tmp_path: Path
) -> None:
    answers = [Answer(("It scatters",), ends="silent"), Answer(("It scatters", " the light."))]
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    with running_openai_server(answers=answers) as server:
        settings.write_text(
            f'[llm]\nprovider = "openai"\nid = "tiny"\naddress = "{server.address}/v1"\n', "utf-8"
        )
        running = Running(tmp_path, "ask", "Why is the sky blue?")
        assert running.until("reply_chunk")
        running.killed()
        (left,) = jarvis("resume", "--list", "--json").json
        assert (left["text"], left["plan"]) == ("Why is the sky blue?", None)
        assert "not answered yet" in jarvis("resume", "--list").out
        turn = jarvis("resume", "--json").json
    assert (turn["id"], turn["status"]) == (left["turn"], "done")
    assert turn["reply"] == "It scatters the light."
    assert jarvis("resume").out == "Nothing was interrupted.\n"


def test_what_goes_on_elsewhere_is_said(jarvis: Jarvis, tmp_path: Path) -> None:
    running = Running(tmp_path, "run", str(six_edits(tmp_path)))
    assert running.until("task_finished")
    os.kill(running.process.pid, signal.SIGSTOP)
    told = jarvis("resume", running.turn_id[:8])
    running.killed()
    assert told.code == 1
    assert "is being worked on elsewhere" in told.err


def test_whoever_comes_next_is_told(jarvis: Jarvis, tmp_path: Path) -> None:
    cut_off(tmp_path)
    assert "A plan was interrupted" in jarvis("ask", "What is 6 times 7?").err
    with terminal(tmp_path, environment={}) as conversation:
        assert "A plan was interrupted" in conversation.until("you> ")
        conversation.type("\x04")
        assert conversation.ends() == 0
    assert jarvis("resume", "nope").code == 1
    assert jarvis("resume", "--json").json["status"] == "done"
