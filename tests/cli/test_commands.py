"""Every command: what it prints, its JSON, and its exit code."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import wave
from pathlib import Path

import pytest

from tests.cli.conftest import Jarvis
from tests.fake_voice import write_wav
from tests.scenarios import files


def test_help_names_every_command(jarvis: Jarvis) -> None:
    shown = jarvis("--help")
    assert shown.code == 0
    for command in (
        "ask", "agent", "run", "plan", "transcribe", "say", "listen", "history", "goals", "code",
        "experts", "doctor", "completion",
    ):  # fmt: skip
        assert re.search(rf"^    {command}\b", shown.out, re.MULTILINE), command
        assert jarvis(command, "--help").code == 0


def test_the_version(jarvis: Jarvis) -> None:
    assert re.fullmatch(r"jarvis-desktop \d+\.\d+\.\d+\n", jarvis("--version").out)


def test_wrong_usage_is_2(jarvis: Jarvis) -> None:
    for words in (
        ["frobnicate"],
        ["ask", "--mode", "nowhere", "x"],
        ["ask"],
        ["agent"],
        ["agent", "x", "--allow-host", "https://example.org"],
        ["plan"],
        ["say", ""],
        ["history", "list", "--limit", "0"],
        ["history", "list", "--limit", "-1"],
        ["history", "search", "x", "--limit", "-1"],
        ["completion", "fish"],
    ):
        assert jarvis(*words).code == 2, words


def test_a_question_and_its_answer(jarvis: Jarvis) -> None:
    shown = jarvis("ask", "What is 15 percent of 240?")
    assert (shown.code, shown.out) == (0, "15 percent of 240 is 36.\n")
    assert "calculator" in shown.err


def test_a_request_in_several_words_may_end_with_files(jarvis: Jarvis, tmp_path: Path) -> None:
    (tmp_path / "list.txt").write_text("milk and bread")
    turn = jarvis(
        "ask", "what", "is", "6", "times", "7?", str(tmp_path / "list.txt"), "--json"
    ).json
    assert turn["text"] == "what is 6 times 7?"
    assert [item["name"] for item in turn["attachments"]] == ["list.txt"]


def test_the_request_may_come_from_stdin(jarvis: Jarvis) -> None:
    assert jarvis("ask", "-", stdin="what is two plus two").out.rstrip().endswith("4.")


def test_a_turn_as_json(jarvis: Jarvis) -> None:
    turn = jarvis("ask", "What is 6 times 7?", "--json").json
    assert turn["status"] == "done"
    assert turn["plan"][0]["task"] == "calculator"
    assert "42" in turn["reply"]


def test_events_come_one_to_a_line(jarvis: Jarvis) -> None:
    lines = jarvis("ask", "What is 6 times 7?", "--events").out.splitlines()
    names = [json.loads(line)["event"] for line in lines]
    assert names == [
        "turn_started",
        "plan_proposed",
        "plan_accepted",
        "experts_selected",
        "task_started",
        "task_finished",
        "reply_chunk",
        "kept",
        "turn_finished",
    ]


def test_part_of_it_done_is_3(jarvis: Jarvis, tmp_path: Path) -> None:
    shown = jarvis("ask", "What is 2 plus 2, and draw me a castle")
    assert shown.code == 3
    assert "4" in shown.out
    assert "sd-turbo" in shown.out


def test_results_are_copied_out(jarvis: Jarvis, tmp_path: Path) -> None:
    files.photo(tmp_path / "a.jpg")
    for _ in range(2):
        assert jarvis("ask", "blur a.jpg", "--out", "made").code == 0
    made = sorted(path.name for path in (tmp_path / "made").iterdir())
    assert len(made) == 2
    assert made[0].startswith("a-blur")


def test_a_conversation_goes_on(jarvis: Jarvis, tmp_path: Path) -> None:
    files.photo(tmp_path / "a.jpg")
    first = jarvis("ask", "blur a.jpg", "--json").json
    (tmp_path / "a.jpg").unlink()
    second = jarvis("ask", "now turn it black and white", "--json").json
    assert second["status"] == "done", second["reply"]
    made = first["results"]["0"]["artifacts"][0]["path"]
    assert second["plan"][0]["args"]["image"] == made
    fresh = jarvis("ask", "now turn it black and white", "--new", "--json").json
    assert fresh["status"] == "failed"


def test_a_conversation_by_its_id(jarvis: Jarvis) -> None:
    jarvis("ask", "What is 6 times 7?")
    listed = jarvis("history", "list", "--json").json
    known = listed[0]["id"]
    assert jarvis("ask", "repeat that", "--conversation", known[:8]).out == "6 times 7 is 42.\n"
    assert [item["id"] for item in jarvis("history", "list", "--json").json] == [known]
    shown = jarvis("ask", "repeat that", "--conversation", "nope")
    assert shown.code == 1
    assert "nope" in shown.err


def test_a_timer_rings_before_the_command_ends(jarvis: Jarvis) -> None:
    shown = jarvis("ask", "Set a timer for one second", "--json")
    assert shown.json["status"] == "done"
    assert "⏰" in shown.err


def test_a_spoken_request(jarvis: Jarvis, tmp_path: Path) -> None:
    files.speech(tmp_path / "question.wav", "What time is it?")
    turn = jarvis("ask", "--file", "question.wav", "--json").json
    assert turn["heard_by"] == "whisper"
    assert "time" in turn["text"]
    assert turn["status"] == "done", turn["reply"]


def test_a_plan_is_shown_and_runs(jarvis: Jarvis, tmp_path: Path) -> None:
    files.photo(tmp_path / "a.jpg")
    words = "blur a.jpg and rotate it 90 degrees"
    shown = jarvis("plan", words)
    assert shown.code == 0
    assert "image-editing" in shown.out
    plan = jarvis("plan", words, "--json").out
    (tmp_path / "plan.json").write_text(plan)
    turn = jarvis("run", "plan.json", "--json").json
    assert turn["status"] == "done", turn["reply"]
    assert [step["dep"] for step in turn["plan"]] == [[-1], [0]]
    assert jarvis("run", "-", stdin=plan).code == 0


def test_a_plan_by_hand(jarvis: Jarvis, tmp_path: Path) -> None:
    plan = [
        {"task": "calculator", "id": 0, "dep": [-1], "args": {"expression": "2 + 2"}},
        {"task": "text-to-speech", "id": 1, "dep": [0], "args": {"text": "<GENERATED>-0"}},
    ]
    (tmp_path / "plan.json").write_text(json.dumps({"plan": plan}))
    assert jarvis("run", "plan.json").code == 0
    plan[0]["expert"] = "nosuch"
    (tmp_path / "plan.json").write_text(json.dumps(plan))
    shown = jarvis("run", "plan.json")
    assert shown.code == 0
    assert "You chose nosuch, but it is not on this computer." in shown.err


@pytest.mark.parametrize(
    ("content", "says"),
    [
        ("nonsense", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ('[{"task": "frobnicate", "id": 0, "args": {}}]', "frobnicate"),
        ('[{"task": "clock", "id": 0}, {"task": "clock", "id": 0}]', "id 0"),
        ("42", "plan"),
    ],
)
def test_a_plan_that_is_none(jarvis: Jarvis, tmp_path: Path, content: str, says: str) -> None:
    (tmp_path / "plan.json").write_text(content)
    shown = jarvis("run", "plan.json")
    assert shown.code == 1
    assert says in shown.err


def test_a_batch_of_plans(jarvis: Jarvis, tmp_path: Path) -> None:
    requests = [
        {
            "id": "a",
            "text": "Please translate the text 'good morning' to French.",
        },
        {"id": 7, "text": "Frobnicate the widget."},
    ]
    (tmp_path / "in.jsonl").write_text("\n".join(map(json.dumps, requests)))
    tools = {
        "nodes": [
            {
                "id": "Image-to-Text",
                "desc": "Reads the text in an image.",
                "input-type": ["image"],
                "output-type": ["text"],
            },
            {
                "id": "Translation",
                "desc": "Translates a text into another language.",
                "input-type": ["text"],
                "output-type": ["text"],
            },
            {
                "id": "Audio Splicer",
                "desc": "Joins two recordings.",
                "input-type": ["audio", "audio"],
                "output-type": ["audio"],
            },
        ]
    }
    (tmp_path / "tools.json").write_text(json.dumps(tools))
    shown = jarvis("plan", "--batch", "in.jsonl", "--tools", "tools.json")
    assert shown.code == 3
    first, second = map(json.loads, shown.out.splitlines())
    assert first["id"] == "a"
    assert [step["task"] for step in first["plan"]] == ["Translation"]
    assert first["plan"][0]["args"] == {"text": "good morning"}
    assert (second["id"], second["plan"]) == (7, [])
    assert second["reason"]


@pytest.mark.parametrize("name", ["in.jsonl", "tools.json"])
def test_a_batch_that_cannot_be_read(jarvis: Jarvis, tmp_path: Path, name: str) -> None:
    (tmp_path / "in.jsonl").write_text('{"id": 1, "text": "x"}')
    (tmp_path / "tools.json").write_text("[]")
    (tmp_path / name).write_text("[1]")
    shown = jarvis("plan", "--batch", "in.jsonl", "--tools", "tools.json")
    assert shown.code == 1
    assert name in shown.err
    assert jarvis("plan", "--batch", "none.jsonl").code == 1
    assert jarvis("plan", "x", "--tools", "none.json").code == 1


def test_transcribe(jarvis: Jarvis, tmp_path: Path) -> None:
    files.speech(tmp_path / "a.wav", "What time is it?")
    shown = jarvis("transcribe", "a.wav")
    assert shown.code == 0
    assert "time" in shown.out
    write_wav(tmp_path / "silent.wav", seconds=2)
    shown = jarvis("transcribe", "a.wav", "silent.wav", "--json")
    assert shown.code == 3
    heard, silent = shown.json
    assert heard["transcript"]["engine"] == "whisper"
    assert silent["error"]


def test_transcribe_keeps_no_copy(jarvis: Jarvis, tmp_path: Path, home: Path) -> None:
    files.speech(tmp_path / "a.wav", "What time is it?")
    assert jarvis("transcribe", "a.wav").code == 0
    kept = home / "jarvis" / "data" / "artifacts"
    assert [path.name for path in kept.rglob("*") if path.is_file()] == ["swept"]


def test_transcribe_what_is_no_recording(jarvis: Jarvis, tmp_path: Path) -> None:
    (tmp_path / "empty.wav").touch()
    (tmp_path / "folder.wav").mkdir()
    (tmp_path / "link.wav").symlink_to("/etc/passwd")
    os.mkfifo(tmp_path / "pipe.wav")
    (tmp_path / "words.wav").write_text("These are only words.")
    names = ("none.wav", "empty.wav", "folder.wav", "link.wav", "pipe.wav", "words.wav")
    shown = jarvis("transcribe", *names, "--json")
    assert shown.code == 1
    for name, record in zip(names, shown.json, strict=True):
        assert name in record["error"]


def test_a_limit_beyond_all_numbers(jarvis: Jarvis) -> None:
    assert jarvis("history", "list", "--limit", "9" * 30, "--json").json == []


def test_say_into_a_file(jarvis: Jarvis, tmp_path: Path) -> None:
    assert jarvis("say", "Hello there", "--out", "hello.wav").code == 0
    with wave.open(str(tmp_path / "hello.wav")) as file:
        assert file.getnframes() > 1000
    assert jarvis("say", "-", "--out", "b.wav", stdin="Hello").code == 0
    assert jarvis("say", "Hello", "--out", "no/such/folder/a.wav").code == 1


def test_the_history(jarvis: Jarvis, tmp_path: Path) -> None:
    assert "Nothing has been asked yet" in jarvis("history", "list").out
    assert jarvis("history", "show", "--json").out == "null\n"
    jarvis("ask", "What is 6 times 7?")
    jarvis("ask", "What is 2 plus 2?", "--new")
    listed = jarvis("history", "list", "--json").json
    assert [item["turns"] for item in listed] == [1, 1]
    assert "2 plus 2" in jarvis("history", "list").out.splitlines()[0]
    assert "42" in jarvis("history", "show", listed[1]["id"][:8]).out
    shown = jarvis("history", "show", "last", "--json").json["turns"][0]
    assert "4" in shown["reply"]
    assert "runs on this computer now" in shown["selections"][0]["reason"]
    found = jarvis("history", "search", "times 7", "--json").json
    assert len(found) == 1
    assert "Nothing in the history" in jarvis("history", "search", 'no"such* AND').out
    assert "# " in jarvis("history", "export").out
    assert jarvis("history", "export", "--format", "text", "--out", "all.txt").code == 0
    assert "42" in (tmp_path / "all.txt").read_text()
    assert json.loads(jarvis("history", "export", "--json").out)
    worked_in = tmp_path / "home" / "jarvis" / "data" / "goals" / "of a goal that was deleted"
    worked_in.mkdir(parents=True)
    os.utime(worked_in, (0, 0))
    dictated = tmp_path / "home" / "jarvis" / "data" / "dictations.json"
    dictated.write_text('[{"text": "Dear all", "at": "2026-01-02T10:00:00+00:00"}]')
    assert jarvis("history", "delete").code == 2
    assert jarvis("history", "delete", "--all").code == 1
    assert jarvis("history", "delete", listed[0]["id"], "--yes").code == 0
    assert dictated.exists()
    assert jarvis("history", "delete", "--all", "--yes", "--json").json == {"deleted_turns": 1}
    assert not worked_in.exists()
    assert not dictated.exists()
    assert jarvis("history", "list", "--json").json == []
    assert jarvis("history", "show", "abcdef").code == 1


def test_experts(jarvis: Jarvis) -> None:
    listed = jarvis("experts", "list", "--json").json
    assert "whisper-base" in [item["expert"]["id"] for item in listed]
    assert "sd-turbo" in jarvis("experts", "search", "draws picture").out
    assert "No expert" in jarvis("experts", "search", "frobnicate").out
    shown = jarvis("experts", "pull", "wisper-base")
    assert shown.code == 1
    assert "whisper-base" in shown.err
    assert jarvis("experts", "pull", "wan-1.3b").code == 1
    assert "no folder" in jarvis("experts", "pull", "whisper-base", "--from", "").err
    shown = jarvis("experts", "pull", "opus-mt-en-fr", "--from", "my stick")
    assert "experts pull opus-mt-en-fr --from 'my stick' --pickle" in shown.err
    assert jarvis("experts", "remove", "whisper-base").code in (0, 1)


def test_the_doctor(jarvis: Jarvis) -> None:
    shown = jarvis("doctor", "--json")
    assert shown.code in (0, 3)
    findings = {item["what"]: item for item in shown.json}
    assert findings["voice"]["state"] == "ok"
    assert findings["recogniser"]["state"] == "ok"
    assert findings["recogniser"]["detail"] == "whisper-tiny.en, which comes with JARVIS"
    assert all(item["fix"] for item in shown.json if item["state"] == "missing")


def test_a_goal_without_an_llm_says_which_one_would_do(jarvis: Jarvis) -> None:
    shown = jarvis("agent", "Plot the prices")
    assert shown.code == 1
    assert "needs a language model" in shown.out
    assert "jarvis-desktop llm pull" in shown.out
    assert "There is no LLM." not in shown.err  # it was said


def test_nothing_was_kept_of_goals_yet(jarvis: Jarvis) -> None:
    assert jarvis("goals", "list", "--json").json == []
    assert jarvis("code", "list", "--json").json == {"functions": [], "damaged": []}
    assert jarvis("goals", "show", "abc").code == 1
    assert jarvis("code", "show", "abc").code == 1


def test_completion(jarvis: Jarvis) -> None:
    assert "jarvis" in jarvis("completion", "bash").out


def test_a_mistake_in_the_settings_is_told_and_costs_only_itself(
    jarvis: Jarvis, home: Path
) -> None:
    settings = home / "jarvis" / "config" / "settings.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('mode = "everywhere"\n')
    shown = jarvis("ask", "What is 2 plus 2?")
    assert shown.code == 0
    assert "mode" in shown.err
    assert settings.read_text() == 'mode = "everywhere"\n'


def test_alone_it_answers_the_sample_request(jarvis: Jarvis) -> None:
    shown = jarvis()
    assert "heard" in shown.err
    for task in ("Read text", "Summarise", "Read aloud"):
        assert "done    " in shown.err
        assert task in shown.err
    assert shown.code == 0
    assert "garden" in shown.out


def test_ctrl_c_ends_quietly(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "jarvis_desktop", "ask", "Set a timer for an hour"]
    running = subprocess.Popen(
        command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        env={name: value for name, value in os.environ.items() if name != "DISPLAY"},
    )  # fmt: skip
    assert running.stdout is not None
    assert "timer" in running.stdout.readline()
    running.send_signal(signal.SIGINT)
    _, err = running.communicate(timeout=200)
    assert running.returncode == 130
    assert "Traceback" not in err
