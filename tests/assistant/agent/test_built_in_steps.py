"""What built-in methods do of a goal, and how the loop for small LLMs takes it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath

import pytest

from jarvis_desktop.assistant.agent.built_in_steps import BuiltInPlan
from jarvis_desktop.assistant.agent.goal_work import BUILT_IN, LOOK
from jarvis_desktop.assistant.agent.queries import QUERY
from jarvis_desktop.core.artifact import Artifact, Kind, kind_of_name, text_artifact
from jarvis_desktop.core.errors import ExpertError
from jarvis_desktop.core.events import PlanAccepted
from jarvis_desktop.core.expert import Candidate, Status
from jarvis_desktop.core.goal import StepState
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Call, Task
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.agent.expert_room import Room
from tests.assistant.agent.scripted import told
from tests.assistant.agent.test_code_loop import WEST, Bench, bench, chart, script

__all__ = ["bench"]  # a fixture
MADE = {"image-editing": "photo-edit.jpg", "convert-file": "photo.png", "chart": "chart.png",
        "edit-table": "sales-sorted.csv", "join-files": "joined.pdf",
        "file-details": "details.txt", "table-question-answering": "answer.csv"}  # fmt: skip
"""What each task makes here."""


async def built(
    folder: Path, goal: str, *names: str, says: str = "It is done.", fails: str = ""
) -> tuple[list[str], list[str]] | None:
    """What comes of a goal, files and sentences, and the tasks; None if nothing is planned."""

    def does(candidate: Candidate, call: Call) -> Sequence[Artifact]:
        if call.task == fails:
            raise ExpertError("It broke.")
        if call.task not in MADE:
            return [text_artifact(says)]
        made = PurePath(MADE[call.task])
        path = call.workdir / made.with_suffix(f".{call.options.get('format', made.suffix[1:])}")
        path.write_text("x")
        kind = kind_of_name(path.name)
        assert kind
        return [Artifact(kind, path=path, name=path.name), text_artifact(says)]

    room = Room(folder, *names, inventory=INVENTORY)
    room.backend.does = does
    room.goal_run.goal = replace(room.goal_run.goal, text=goal)
    steps = room.built_in()
    plan = await steps.plan(room.goal_run, room.files)
    if plan is None:
        return None
    made = await steps.carry_out(room.goal_run, plan)
    return [item.title if item.path else item.text or "" for item in made], room.done


@pytest.mark.parametrize(
    ("goal", "names", "made", "tasks"),
    [
        ("Cut the largest square out of the middle of the picture and save it as square.jpg",
         ["photo.jpg"], ["square.jpg", "It is done."], ["image-editing"]),
        ("Shrink the photo to 400 pixels and save it as PNG", ["photo.jpg"],
         ["photo.png", "It is done."], ["image-editing", "convert-file"]),
        ("Draw a histogram of the ages as ages.png and tell me how many people are over 60",
         ["people.csv"], ["ages.png", "It is done."], ["chart"]),
        ("Sort it by price and draw a chart of the prices by product, and save the table as x.csv",
         ["a.csv"], ["x.csv", "It is done.", "chart.png", "It is done."],
         ["edit-table", "chart"]),
        ("How many questions are asked in this story?", ["story.txt"],
         ["details.txt", "It is done."], ["file-details"]),
        ("How often does the word sea occur?", ["story.txt"],
         ["It is done."], ["count-words"]),
        ("Find the five most frequent words and write them to words.txt", ["story.txt"],
         ["words.txt", "It is done."], ["count-words", "convert-file"]),
        ("Write the titles of these documents to titles.md", ["a.txt", "b.txt"],
         ["titles.md", "It is done."], ["arrange-files", "convert-file"]),
        ("Which of these are the largest files?", ["a.txt", "b.txt"],
         ["It is done."], ["arrange-files"]),
        ("Collect the phone numbers of the letter in phones.csv", ["letter.txt"],
         ["phones.csv", "It is done."], ["collect-values", "convert-file"]),
        ("Sort the table by price and save it as sorted.xlsx", ["a.csv"],
         ["sorted.xlsx", "It is done."], ["edit-table", "convert-file"]),
        ("Save the average price for each product as means.csv", ["a.csv"],
         ["means.csv", "It is done."], ["table-question-answering"]),
        ("Join a.csv and b.csv, sort it by price and save it as c.json", ["a.csv", "b.csv"],
         ["c.json", "It is done."], ["edit-table", "convert-file"]),
    ],
)  # fmt: skip
async def test_files_are_made_as_the_words_say(
    tmp_path: Path, goal: str, names: list[str], made: list[str], tasks: list[str]
) -> None:
    assert await built(tmp_path, goal, *names) == (made, tasks)


@pytest.mark.parametrize(
    ("goal", "name"),
    [
        ("Which product is the cheapest?", "a.csv"),  # nothing is made
        ("Turn the photo into a portrait of my aunt", "photo.jpg"),  # free words
        ("Collect all names in the letter and save them as names.txt", "letter.txt"),
        ("Make the picture smaller, and in warm brown tones", "photo.jpg"),  # something is left
        ("What is the total? Convert it to PDF", "a.csv"),  # an answer
        ("How are you?", "a.csv"),
        ("What is the average price for each product? Save the three dearest as top.csv", "a.csv"),
    ],
)
async def test_what_is_not_clear_is_left_to_a_script(tmp_path: Path, goal: str, name: str) -> None:
    assert await built(tmp_path, goal, name) is None


SHRINK = "Shrink the photo to 400 pixels and save it as PNG"


async def test_what_is_asked_of_several_files_is_left_to_a_script(tmp_path: Path) -> None:
    goal = "how many sentences does a.txt have, and b.txt?"
    assert await built(tmp_path, goal, "a.txt", "b.txt") is None


async def test_nothing_counts_if_a_step_fails_or_is_in_doubt(tmp_path: Path) -> None:
    assert await built(tmp_path, SHRINK, "photo.jpg", fails="convert-file") == (
        [], ["image-editing", "convert-file"]
    )  # fmt: skip
    other = tmp_path / "other"
    other.mkdir()
    assert await built(other, SHRINK, "photo.jpg", says="Perhaps?") == (
        [], ["image-editing", "convert-file"]
    )  # fmt: skip


async def test_a_name_of_another_format_is_not_given(tmp_path: Path) -> None:
    goal = "Cut the largest square out of the middle of the picture and save it as square.png"
    assert await built(tmp_path, goal, "photo.jpg") == ([], ["image-editing"])


async def test_a_step_that_makes_no_file_gives_none_a_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(MADE, "edit-table")
    goal = "Sort the table by price and save it as sorted.csv"
    assert await built(tmp_path, goal, "a.csv") == ([], ["edit-table"])


async def test_an_answer_is_no_file_if_it_is_to_be_a_table(tmp_path: Path) -> None:
    goal = "Save the average price for each product as means.csv"
    assert await built(tmp_path, goal, "a.csv", says="Who knows?") == (
        [], ["table-question-answering"]
    )  # fmt: skip


TOLD = text_artifact("The chart shows the sales.")


def made_file(bench: Bench) -> Artifact:
    path = bench.root / "chart.png"
    path.write_bytes(b"x")
    return Artifact(Kind.IMAGE, path=path, name=path.name)


async def test_a_goal_that_asks_for_files_alone_needs_no_llm(bench: Callable[..., Bench]) -> None:
    at = bench([], goal="Draw a chart of the sales by region")
    at.built.made = [made_file(at), TOLD]
    found = await at.work()
    assert (found.status, found.text) == (
        Status.DONE,
        "The chart shows the sales.\n\nMade: “chart.png”.",
    )
    assert at.branches == [LOOK, BUILT_IN, "final_answer"]
    assert [item.title for item in found.artifacts] == ["chart.png"]
    assert at.llm.prompts == []


async def test_what_is_counted_is_the_answer(bench: Callable[..., Bench]) -> None:
    at = bench([], goal="How often does the word sea occur?")
    (count,) = (each for each in INVENTORY if each.name == "count-words")
    at.built.planned = BuiltInPlan(
        Plan((Task(0, count, {"text": (text_artifact("sea"),)}),)), {0: ""}
    )
    at.built.made = [text_artifact("“sea” occurs 3 times.")]
    found = await at.work()
    assert (found.status, found.text) == (Status.DONE, "“sea” occurs 3 times.")
    assert at.branches == [LOOK, BUILT_IN, "final_answer"]
    assert at.llm.prompts == []


async def test_what_a_table_answers_is_told_beside_its_file(bench: Callable[..., Bench]) -> None:
    at = bench([], goal="Which regions sold most? Save them as most.csv")
    (asked,) = (each for each in INVENTORY if each.name == "table-question-answering")
    task = Task(
        0, asked, {"table": tuple(at.run.context.attachments), "question": text_artifact("Which?")}
    )
    at.run.live.show(PlanAccepted(Plan((task,))))
    path = at.root / "most.csv"
    path.write_text("region\nWest\nEast\n")
    answer = text_artifact("West and East sold most.", made_by=0)
    at.built.made = [Artifact(Kind.TABLE, path=path, name=path.name, made_by=0), answer]
    found = await at.work()
    assert (found.status, found.text) == (
        Status.DONE,
        "West and East sold most.\n\nMade: “most.csv”.",
    )
    assert at.llm.prompts == []


async def test_files_of_the_same_content_are_all_given(bench: Callable[..., Bench]) -> None:
    at = bench([], goal="Draw a chart of the sales by region", files=("sales.csv", "copy.csv"))
    at.built.made = [made_file(at), TOLD]
    assert (await at.work()).status is Status.DONE
    assert at.built.given == ["sales.csv", "copy.csv"]


async def test_what_else_is_asked_is_worked_on(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()"), WEST], {"one()": chart("West sold most: 5.")})
    at.built.made = [made_file(at), TOLD]
    found = await at.work()
    assert found.status is Status.DONE
    assert found.text == (
        "The chart shows the sales.\n\nWest sold most: 5.\n\nMade: “chart.png”, “a.png”."
    )
    assert at.branches == [LOOK, BUILT_IN, "run_code", QUERY, "final_answer"]
    assert "Goal: tell me which region is ahead.\n" in told(at.llm.prompts[0])


async def test_it_is_shown_if_the_rest_is_not_reached(bench: Callable[..., Bench]) -> None:
    at = bench([ExpertError("It does not answer.")])
    at.built.made = [made_file(at), TOLD]
    found = await at.work()
    assert found.status is Status.PARTLY
    assert at.states == [StepState.DONE, StepState.DONE, StepState.FAILED, StepState.FAILED]
    assert found.text.endswith(
        "This is what there is:\n\nThe chart shows the sales.\n\nMade: “chart.png”."
    )
    assert [item.title for item in found.artifacts] == ["chart.png"]


async def test_what_was_not_asked_for_is_not_taken(bench: Callable[..., Bench]) -> None:
    at = bench([script("one()"), WEST], {"one()": chart("Done.", name="sales.png")},
               goal="Draw a chart of the sales by region as sales.png")  # fmt: skip
    at.built.made = [made_file(at), TOLD]
    found = await at.work()
    assert (found.status, found.text) == (Status.DONE, "Done.\n\nMade: “sales.png”.")
    assert at.run.log[1].status is Status.FAILED
    assert "not what the goal asks for" in at.run.log[1].observation
    assert not any("in another way" in told(prompt) for prompt in at.llm.prompts)


async def test_files_from_before_a_crash_are_not_made_again(bench: Callable[..., Bench]) -> None:
    at = bench([], goal="Draw a chart of the sales by region")
    at.built.made = [made_file(at), TOLD]
    at.log([(LOOK, "sales.csv", (), ""), (BUILT_IN, "It is done.", (made_file(at),), "")])
    found = await at.work()
    assert (found.status, found.text) == (Status.DONE, "Made: “chart.png”.")
    assert at.branches == [LOOK, BUILT_IN, "final_answer"]


async def test_the_reader_of_tables_reads_what_was_given_also_after_a_crash(
    bench: Callable[..., Bench],
) -> None:
    asked = "tell me which region is ahead."
    at = bench([WEST], read={asked: "West has the highest amount: 5."})
    at.built.made = [made_file(at), TOLD]
    at.run.made += (made_file(at),)
    at.log([(LOOK, "sales.csv", (), ""), (BUILT_IN, "It is done.", (made_file(at),), "")])
    found = await at.work()
    assert found.status is Status.DONE
    assert found.text == "West has the highest amount: 5.\n\nMade: “chart.png”."
    assert at.branches == [LOOK, BUILT_IN, QUERY, "final_answer"]
