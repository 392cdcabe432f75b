"""Plans of experts within a goal, by the same planner, selector and executor as any other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jarvis_desktop.assistant.agent.branches.run_experts import MAX_REQUEST_CHARS, PLAN_KEY
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import JarvisError, StorageError, UnavailableError
from jarvis_desktop.core.events import Noted, PlanAccepted, Replanned
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.goal import BranchChoice
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import AnswerDirectly, Context, NeedsAgent, PlanRejected, Resource
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.tasks.registry import INVENTORY
from tests.assistant.agent.expert_room import Room
from tests.assistant.agent.scripted import GOAL
from tests.types import CLOCK, JOIN, READ, SHORTEN

Rooms = Callable[..., Room]


@pytest.fixture
def room(tmp_path: Path) -> Rooms:
    return lambda *given, **kind: Room(tmp_path, *given, **kind)


def ids(plan: Plan) -> list[int]:
    return [task.id for task in plan]


async def test_what_each_task_gave_is_told(room: Rooms) -> None:
    at = room("cat.png")
    image = at.files[0]
    at.planner.planned = Plan(
        (Task(0, READ, {"image": image}), Task(1, SHORTEN, {"text": Ref(0)}, wanted=True))
    )
    found = await at.ask("Read cat.png and shorten it")
    assert found.text == (
        "image to text: done\ngiven: cat.png\nexpert: built in\n\n"
        "summarization: done\nexpert: built in\n"
        "text:\nsummarization of image-to-text of cat.png\n\n"
        "At hand from now on: “text 1”."
    )
    assert (found.status, found.trusted, found.ends) == (Status.DONE, False, False)
    assert [item.text for item in found.artifacts] == ["summarization of image-to-text of cat.png"]
    request, context = at.planner.asked[0]
    assert request == "Read cat.png and shorten it"
    assert context.attachments == (image,)
    (accepted,) = at.shown(PlanAccepted)
    assert accepted.plan == at.planner.planned == at.goal_run.live.turn.plan


async def test_a_second_round_is_numbered_on_and_the_first_stays(room: Rooms) -> None:
    at = room("cat.png")
    at.planner.planned = Plan((Task(0, READ, {"image": at.files[0]}),))
    first = await at.ask()
    at.planner.planned = Plan(
        (
            Task(3, SHORTEN, {"text": first.artifacts[0]}),
            Task(1, JOIN, {"texts": (Ref(3), "and", Ref(0))}),
            Task(0, SHORTEN, {"text": "Other."}),
        )
    )
    second = await at.ask()
    turn = at.goal_run.live.turn
    assert turn.plan
    assert ids(turn.plan) == [0, 1, 2, 3]
    assert turn.plan.task(2).args["texts"] == (Ref(1), "and", Ref(3))
    assert set(turn.results) == {0, 1, 2, 3}
    assert at.done == ["image-to-text", "summarization", "summarization", "join"]
    assert "image to text" not in second.text
    assert [item.made_by for item in second.artifacts] == [2]
    assert at.journal.kept["g"][1].turn.results.keys() == {0, 1, 2, 3}


async def test_what_failed_is_left_out_of_the_next_round(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": "Long."})))
    at.breaks("summarization")
    found = await at.ask()
    assert found.status is Status.PARTLY
    assert "summarization: failed\nwhy: It broke." in found.text
    assert at.goal_run.live.turn.trace[-1] == "There is no other plan: No other idea."
    at.breaks()
    assert (await at.ask()).status is Status.DONE
    turn = at.goal_run.live.turn
    assert turn.plan
    assert ids(turn.plan) == [0, 2, 3]
    assert {task_id for task_id, item in turn.results.items() if item.status is Status.DONE} == {
        0, 2, 3,
    }  # fmt: skip


async def test_another_way_is_found_for_what_was_asked_for(room: Rooms) -> None:
    at = room()
    read = Task(0, JOIN, {"texts": ("a",)})
    at.planner.planned = Plan((read, Task(1, SHORTEN, {"text": Ref(0)})))
    at.planner.other_plans = [Plan((read, Task(2, JOIN, {"texts": (Ref(0), "b")})))]
    at.breaks("summarization")
    found = await at.ask("Shorten it")
    assert found.status is Status.DONE
    assert at.done == ["join", "summarization", "join"]
    (replanned,) = at.shown(Replanned)
    assert ids(replanned.plan) == [0, 2]
    assert replanned.reason == "summarization failed: It broke."
    assert found.text.count("join: done") == 2
    plan, results = at.planner.failures[0]
    assert (len(plan), results[1].status) == (2, Status.FAILED)


async def test_another_way_may_not_act_unasked(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, SHORTEN, {"text": "Long."}),))
    at.planner.other_plans = [Plan((Task(1, CLOCK),))]
    at.breaks("summarization")
    at.person.consent = False
    found = await at.ask()
    assert at.person.questions == ["Clock: do it?"]
    assert at.done == ["summarization"]
    assert found.status is Status.FAILED
    assert "why: The person did not agree to it." in found.text


async def test_what_acts_is_asked_about_and_what_needs_it_is_left_out(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan(
        (Task(0, CLOCK), Task(1, SHORTEN, {"text": Ref(0)}), Task(2, SHORTEN, {"text": "x"}))
    )
    at.person.consent = False
    found = await at.ask()
    assert at.done == ["summarization"]
    assert "clock: failed" in found.text
    assert "summarization: skipped" in found.text
    assert found.status is Status.PARTLY
    at.person.consent = True
    await at.ask("Now do it")
    assert at.done == ["summarization", "summarization"]  # a No is not asked for again


@pytest.mark.parametrize(
    ("planned", "told"),
    [
        (
            PlanRejected("I know no such file."),
            "The experts cannot do that: I know no such file. Ask",
        ),
        (AnswerDirectly(), "answer it yourself"),
        (NeedsAgent(), "ask for one part, or use the coder"),
        (UnavailableError("It is off.", hint="Turn it on."), "not be asked: It is off. Turn it"),
    ],
)
async def test_where_there_is_no_plan(
    room: Rooms, planned: PlanRejected | AnswerDirectly | NeedsAgent | JarvisError, told: str
) -> None:
    at = room()
    at.planner.planned = planned
    found = await at.ask()
    assert (found.status, found.artifacts, found.trusted) == (Status.FAILED, (), False)
    assert told in found.text
    assert at.shown(PlanAccepted) == []


async def test_a_request_that_is_too_long(room: Rooms) -> None:
    at = room()
    assert (await at.ask("x" * (MAX_REQUEST_CHARS + 1))).status is Status.FAILED
    assert at.planner.asked == []


async def test_what_is_to_be_used_is_attached_by_its_name(room: Rooms) -> None:
    before = (
        Resource("image 1", Artifact(Kind.IMAGE, path=Path("old.png"), name="old.png"), True),
    )
    at = room("cat.png", "dog.png")
    at.goal_run.context = Context(
        at.files, resources=before, facts=("I live in Oslo.",), summary="x"
    )
    twin = Artifact(Kind.IMAGE, path=Path("/store/cat.png"), name="cat.png")
    at.goal_run.made += [twin, text_artifact("Read."), text_artifact("Shorter.")]
    await at.ask(uses=["DOG.png", "text 2"])
    await at.ask(uses=["image 1", "cat.png (2)"])
    await at.ask()
    (_, dog), (_, old), (_, every) = at.planner.asked
    assert [item.name for item in dog.attachments] == ["dog.png", "text 2"]
    assert [item.name for item in dog.resources] == ["cat.png", "cat.png (2)", "image 1", "text 1"]
    assert old.attachments == ()
    assert {item.name: item.given for item in old.resources} == {
        "cat.png": True, "dog.png": True, "cat.png (2)": False,
        "image 1": True, "text 1": False, "text 2": False,
    }  # fmt: skip
    assert every.attachments == at.files
    assert [item.name for item in every.resources] == ["cat.png (2)", "image 1", "text 1", "text 2"]
    assert (every.facts, every.summary, every.conversation) == (("I live in Oslo.",), "", None)


async def test_what_is_not_there_is_told_with_what_is(room: Rooms) -> None:
    at = room("cat.png")
    found = await at.ask(uses=["/etc/passwd"])
    assert found.status is Status.FAILED
    assert "There is nothing called “/etc/passwd”. There is: “cat.png”." in found.text
    assert at.planner.asked == []
    assert "nothing at hand yet" in (await room().ask(uses=["x"])).text


async def test_no_file_and_no_address_of_the_request_is_looked_up(
    room: Rooms, tmp_path: Path
) -> None:
    (tmp_path / "secret.txt").write_text("The key is swordfish.")
    at = room("cat.png", inventory=INVENTORY, context=Context(folder=tmp_path))
    at.branch = at.branch_of(EmbeddedPlanner())
    for request in (
        f"Read {tmp_path / 'secret.txt'} aloud",
        "Summarise secret.txt",
        "Summarise https://127.0.0.1/secret.txt",
    ):
        found = await at.ask(request)
        assert "swordfish" not in found.text
    given = [item for call in at.backend.calls for it in call.inputs.values() for item in it]
    assert not any(item.path or "swordfish" in (item.text or "") for item in given)


async def test_the_built_in_planner_works_on_what_is_used(room: Rooms) -> None:
    at = room("cat.png", "dog.png", inventory=INVENTORY)
    at.branch = at.branch_of(EmbeddedPlanner())
    found = await at.ask("Read the text in the picture", uses=["dog.png"])
    assert found.status is Status.DONE
    assert "given: dog.png" in found.text


async def test_long_results_are_cut_for_the_controller_and_whole_at_hand(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, JOIN, {"texts": ("a",)}),))
    at.backend.does = lambda candidate, call: [text_artifact("word " * 50_000)]
    found = await at.ask()
    assert len(found.text) < 6000
    assert "… (the first" in found.text
    assert len(found.artifacts[0].text or "") == 250_000


async def test_a_crash_has_nothing_planned_anew_nor_done_again(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, JOIN, {"texts": ("z",)}),))
    await at.ask("Before")
    at.planner.planned = Plan(
        (
            Task(0, CLOCK),
            Task(1, SHORTEN, {"text": Ref(0)}),
            Task(2, JOIN, {"texts": (Ref(1), text_artifact("named"))}),
        )
    )
    await at.cut_off("join", "Now")
    at.again()
    at.planner.planned = PlanRejected("It was planned anew.")
    found = await at.ask("Now")
    assert found.status is Status.DONE
    assert at.done == ["join", "clock", "summarization", "join"]
    assert at.person.questions == ["Clock: do it?"]
    turn = at.goal_run.live.turn
    assert turn.plan
    assert ids(turn.plan) == [0, 1, 2, 3]
    assert "join of summarization of clock of, named" in found.text
    notes = [event.text for event in at.shown(Noted)]
    assert any(text.startswith("This was interrupted:") for text in notes)


async def test_after_a_crash_when_all_is_done_it_is_only_told(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, CLOCK),))
    choice = BranchChoice("run_experts", {"request": "Do it.", "uses": []})
    first = await at.branch(at.goal_run, choice)
    at.again()
    assert await at.ask() == first
    assert at.done == ["clock"]
    assert len(at.planner.asked) == 1
    assert not any(event.text.startswith("This was interrupted:") for event in at.shown(Noted))


@pytest.mark.parametrize(("wish", "later"), [("Do it.", 1), ("Do something else.", 0)])
async def test_a_plan_that_is_kept_is_for_its_own_round_alone(
    room: Rooms, wish: str, later: int
) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, JOIN, {"texts": ("a",)}),))
    await at.cut_off("join")
    assert PLAN_KEY in at.memory.frames("g")[0].kept
    at.goal_run.number += later
    assert (await at.ask(wish)).status is Status.DONE
    assert len(at.planner.asked) == 2


async def test_a_plan_is_kept_no_longer_than_its_round(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, CLOCK),))
    await at.ask()
    assert PLAN_KEY in at.memory.frames("g")[0].kept  # until the round is in the log
    at.goal_run.add_notices(0, "The round ends.")
    assert PLAN_KEY not in at.memory.frames("g")[0].kept


async def test_a_kept_plan_of_tasks_that_are_gone_is_made_anew(room: Rooms) -> None:
    at = room(inventory=(CLOCK,))
    at.planner.planned = Plan((Task(0, CLOCK),))
    kept = at.goal_run.frames[0].kept
    document = '{"round": 1, "request": "Do it.", "plan": [{"task": "gone", "id": 0}]}'
    at.goal_run.change(0, kept={**kept, PLAN_KEY: document})
    assert (await at.ask()).status is Status.DONE
    assert len(at.planner.asked) == 1


async def test_stopped_it_ends_at_once(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, CLOCK), Task(1, SHORTEN, {"text": Ref(0)})))

    await at.cut_off("clock")
    assert {item.status for item in at.goal_run.live.turn.results.values()} == {Status.CANCELLED}


async def test_a_memory_that_cannot_be_written_ends_it(room: Rooms) -> None:
    at = room()
    at.planner.planned = Plan((Task(0, CLOCK),))
    at.memory.wrong = StorageError("The disk is full.")
    with pytest.raises(StorageError, match="full"):
        await at.ask()
    assert at.done == []


async def test_the_goal_of_the_desk_is_not_the_request(room: Rooms) -> None:
    at = room()
    await at.ask("Shorten it")
    assert at.planner.asked[0][0] != GOAL
