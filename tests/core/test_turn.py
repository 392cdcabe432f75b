"""A turn is the fold of its events."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import reduce
from pathlib import Path

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.expert import Attempt, Candidate, Expert, Selection, Status, TaskResult
from jarvis_desktop.core.goal import Outline, OutlineStep, StepState
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.core.turn import MAX_PRINTED_CHARS, Conversation, Round, Turn
from tests.types import CLOCK, READ, SHORTEN

NOON = datetime(2026, 1, 2, 12, tzinfo=UTC)
PICTURE = Artifact(Kind.IMAGE, path=Path("a.png"))
WHO = Candidate(Expert("ocr", "image-to-text"), "builtin")
PLAN = Plan((Task(0, READ, {"image": PICTURE}), Task(1, SHORTEN, {"text": Ref(0)})))


def fold(*happened: events.Event) -> Turn:
    return reduce(Turn.apply, happened, Turn("t", NOON))


def test_a_whole_turn() -> None:
    attempt = Attempt(WHO, 0.5, "It failed.")
    first = TaskResult(0, Status.DONE, (text_artifact("long"),), (Attempt(WHO, 1.0),))
    second = TaskResult(1, Status.DONE, (text_artifact("short"),))
    turn = fold(
        events.TurnStarted("t", NOON, ""),
        events.Attached((PICTURE,)),
        events.Transcribed("read it", "whisper"),
        events.Noted("A note."),
        events.PlanProposed(Plan(())),
        events.PlanAccepted(PLAN),
        events.ExpertsSelected((Selection(0, (WHO,), "only one"),)),
        events.TaskStarted(0, WHO),
        events.TaskProgress(0, 0.5, "half"),
        events.AttemptFailed(0, attempt),
        events.AttemptFailed(0, attempt),
        events.TaskFinished(first),
        events.TaskStarted(1, WHO),
        events.TaskFinished(second),
        events.ReplyChunk("sh"),
        events.ReplyChunk("ort"),
        events.Speaking("short"),
        events.Kept(),
        events.TurnFinished(Status.DONE, NOON),
    )
    assert turn == Turn(
        "t",
        NOON,
        text="read it",
        heard_by="whisper",
        attachments=(PICTURE,),
        plan=PLAN,
        selections=(Selection(0, (WHO,), "only one"),),
        progress={0: events.TaskProgress(0, 0.5, "half")},
        failed_attempts={0: (attempt, attempt)},
        results={0: first, 1: second},
        notes=("A note.",),
        reply="short",
        status=Status.DONE,
        finished=NOON,
    )
    assert turn.artifacts == (text_artifact("short"),)


def test_what_runs_and_what_is_spoken() -> None:
    turn = fold(events.TaskStarted(0, WHO), events.TaskStarted(1, WHO), events.Speaking("a"))
    assert turn.running == {0, 1}
    assert turn.speaking == "a"
    ended = turn.apply(events.TurnFinished(Status.CANCELLED, NOON))
    assert (ended.running, ended.speaking) == (frozenset(), "")


def test_what_a_turn_waits_for_is_known_until_it_goes_on_or_ends() -> None:
    turn = fold(events.Traced("planned"), events.Waiting(events.WaitReason.LLM))
    assert (turn.trace, turn.waits) == (("planned",), events.WaitReason.LLM)
    for event in (
        events.Waiting(events.WaitReason.NOTHING),
        events.TurnFinished(Status.CANCELLED, NOON),
    ):
        assert turn.apply(event).waits is events.WaitReason.NOTHING


def test_a_further_try_is_known_until_it_began() -> None:
    started, again = events.TaskStarted(0, WHO), events.Retrying(0, WHO, 2.0, "It is busy.")
    turn = fold(started, events.TaskProgress(0, 0.5, "half"), again)
    assert turn.running == {0}
    assert turn.trying == {0: again}
    assert not turn.progress
    assert again.words == "Trying again in 2 s: It is busy."
    assert events.Retrying(0, WHO, 0.0, "It crashed.").words == "Trying again: It crashed."
    assert turn.apply(started).trying == {0: started}
    assert turn.apply(events.TaskFinished(TaskResult(0, Status.FAILED))).trying == {}
    assert turn.apply(events.TurnFinished(Status.CANCELLED, NOON)).trying == {}


def test_what_a_task_writes_is_a_draft_until_it_is_done() -> None:
    started = events.TaskStarted(0, WHO)
    turn = fold(started, events.TaskChunk(0, "One "), events.TaskChunk(0, "word"))
    assert turn.drafts == {0: "One word"}
    assert turn.apply(events.AttemptFailed(0, Attempt(WHO, 1.0, "It broke."))).drafts == {}
    assert turn.apply(started).drafts == {}
    assert turn.apply(events.TaskFinished(TaskResult(0, Status.DONE))).drafts == {}
    assert turn.apply(events.TurnFinished(Status.CANCELLED, NOON)).drafts == {}
    assert turn.apply(events.Replanned(PLAN, "it failed")).drafts == {}
    assert turn.apply(events.PlanChanged(PLAN)).drafts == {}


def test_a_new_plan_takes_the_place_of_the_old() -> None:
    clock = Plan((Task(0, CLOCK),))
    first = TaskResult(0, Status.DONE, (text_artifact("noon"),))
    turn = fold(
        events.PlanAccepted(PLAN),
        events.TaskFinished(first),
        events.TaskFinished(TaskResult(1, Status.FAILED, reason="it failed")),
        events.Replanned(clock, "it failed"),
    )
    assert turn.plan == clock
    assert turn.results == {0: first}


def test_what_a_changed_plan_changes_is_forgotten_and_the_rest_stays() -> None:
    plan = Plan(
        (
            Task(0, CLOCK),
            Task(1, SHORTEN, {"text": Ref(0)}),
            Task(2, SHORTEN, {"text": "a"}),
            Task(3, SHORTEN, {"text": Ref(2)}),
        )
    )
    kept, lost = (TaskResult(number, Status.DONE, (text_artifact("x"),)) for number in (0, 2))
    attempt = Attempt(WHO, 1.0, "It broke.")
    told = [
        event
        for number in (1, 3)
        for event in (
            events.TaskStarted(number, WHO),
            events.AttemptFailed(number, attempt),
            events.TaskProgress(number, 0.5),
            events.TaskChunk(number, "So far"),
        )
    ]
    turn = fold(
        events.PlanAccepted(plan),
        events.ExpertsSelected(tuple(Selection(task.id, (WHO,), "") for task in plan)),
        events.TaskFinished(kept),
        events.TaskFinished(lost),
        *told,
        events.PlanChanged(plan.with_arg(2, "text", "b")),
    )
    assert turn.plan
    assert turn.plan.task(2).args == {"text": "b"}
    assert turn.results == {0: kept}
    assert turn.running == {1}
    assert list(turn.progress) == list(turn.trying) == list(turn.failed_attempts) == [1]
    assert turn.drafts == {1: "So far"}
    assert [item.task_id for item in turn.selections] == [0, 1]
    assert fold(events.PlanChanged(plan)).plan == plan


def test_what_is_run_again_gives_up_what_it_gave_and_all_that_was_made_of_it() -> None:
    plan = Plan(
        (
            Task(0, SHORTEN, {"text": "a"}),
            Task(1, SHORTEN, {"text": "b"}),
            Task(2, SHORTEN, {"text": Ref(1)}),
        )
    )
    ended = [TaskResult(number, Status.DONE, (text_artifact("x"),)) for number in range(3)]
    turn = fold(
        events.PlanAccepted(plan),
        *map(events.TaskFinished, ended),
        events.PlanChanged(plan, frozenset({1, 7})),
    )
    assert turn.plan == plan
    assert turn.results == {0: ended[0]}


def test_without_a_plan_all_results_are_what_was_asked_for() -> None:
    assert fold().artifacts == ()
    made = TaskResult(0, Status.DONE, (text_artifact("noon"),))
    assert fold(events.TaskFinished(made)).artifacts == (text_artifact("noon"),)
    assert Conversation("c", (fold(),)).last == fold()


def test_if_nothing_asked_for_was_done_the_last_result_counts() -> None:
    reached = TaskResult(0, Status.DONE, (text_artifact("noon"),))
    failed = TaskResult(1, Status.FAILED, reason="It is late.")
    begun, over = events.PlanAccepted(PLAN), events.TurnFinished(Status.PARTLY, at=NOON)
    both = (events.TaskFinished(reached), events.TaskFinished(failed))
    assert fold(begun, *both).artifacts == ()
    assert fold(begun, *both, over).artifacts == (text_artifact("noon"),)
    assert fold(begun, both[1], over).artifacts == ()


OUTLINE = Outline((OutlineStep(1, "Download"), OutlineStep(2, "Plot")))
BELOW = Outline((OutlineStep(1, "Write download_prices"),))


def test_a_turn_of_agent_mode() -> None:
    done = OUTLINE.with_state(1, StepState.DONE)
    turn = fold(
        events.GoalTaken(),
        events.OutlineChanged(OUTLINE, accepted=False),
        events.OutlineChanged(BELOW, "assistant/coder", why="The coder wrote it."),
        events.RoundStarted(1, "assistant", "coder", "Download the prices"),
        events.RoundStarted(2, "assistant/coder", "run_code", "Try it", "print(1)"),
        events.RoundProgress(2, "1"),
        events.RoundProgress(2, "\n2"),
        events.RoundEnded(2, Status.FAILED, "It broke.", code="print(1, 2)", seconds=1.5),
        events.RoundEnded(1, Status.DONE, "There it is.", (PICTURE,)),
        events.OutlineChanged(done),
    )
    assert turn.agentic
    assert turn.outline == done
    assert turn.inner_outlines == {"assistant/coder": BELOW}
    assert turn.rounds == {
        1: Round(
            1, "assistant", "coder", "Download the prices",
            status=Status.DONE, observation="There it is.", artifacts=(PICTURE,),
        ),
        2: Round(
            2, "assistant/coder", "run_code", "Try it", "print(1, 2)", "1\n2",
            Status.FAILED, "It broke.", seconds=1.5,
        ),
    }  # fmt: skip


def test_a_round_keeps_the_end_of_what_is_printed_and_its_code() -> None:
    started = events.RoundStarted(1, "assistant/coder", "run_code", "Try it", "print(1)")
    long = events.RoundProgress(1, "x" * MAX_PRINTED_CHARS + "end")
    turn = fold(started, long, events.RoundEnded(1, Status.DONE, "It ran."))
    assert len(turn.rounds[1].printed) == MAX_PRINTED_CHARS
    assert turn.rounds[1].printed.endswith("xend")
    assert turn.rounds[1].code == "print(1)"


def test_in_agent_mode_the_last_round_of_the_outermost_answers() -> None:
    assert fold(events.GoalTaken()).artifacts == ()
    turn = fold(
        events.GoalTaken(),
        events.PlanAccepted(PLAN),
        events.TaskFinished(TaskResult(1, Status.DONE, (text_artifact("short"),))),
        events.RoundStarted(1, "assistant", "coder", "Draw"),
        events.RoundEnded(1, Status.DONE, "Drawn.", (text_artifact("first"),)),
        events.RoundStarted(2, "assistant", "final_answer", "Say"),
        events.RoundEnded(2, Status.DONE, "Said.", (PICTURE,)),
        events.RoundStarted(3, "assistant/coder", "finish", "End"),
    )
    assert turn.artifacts == (PICTURE,)


def test_the_time_that_a_turn_waited_is_not_its_own() -> None:
    assert Turn("t", NOON).seconds == 0.0
    later = NOON + timedelta(seconds=60)
    assert Turn("t", NOON).apply(events.TurnFinished(Status.DONE, later, 45.0)).seconds == 15.0
    assert Turn("t", NOON, finished=NOON, waited=1.0).seconds == 0.0
