"""An expert that the person chose for a task, and who else could do it."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selection.ranking import ExpertChooser
from jarvis_desktop.assistant.selection.selector import Eligibility, LicenceRules, Selector
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Task, TaskOption, TaskType
from jarvis_desktop.paths import shipped
from tests.assistant.conftest import House
from tests.fakes import FakeCatalogue, FakeLLM, FakeLLMs
from tests.types import SHORTEN, TEXT

NAME = SHORTEN.name
METHOD = Candidate(Expert(f"builtin/{NAME}", NAME), "builtin")
BART = Candidate(Expert("bart", NAME, downloads=9, licence="MIT"), "local")
PEGASUS = Candidate(Expert("pegasus", NAME, licence="CC-BY-NC-4.0"), "local")
FAR = Candidate(Expert("far", NAME, providers=("fal-ai",)), "api", remote=True, provider="fal-ai")
TASK = Task(0, SHORTEN, {"text": "Much."})


def selector(*candidates: Candidate, mode: Mode = Mode.HYBRID, **more: object) -> Selector:
    return Selector(FakeCatalogue(listed={NAME: candidates}), Policy(mode), **more)  # type: ignore[arg-type]


async def chosen(expert: str, chooses: Selector, task: Task = TASK) -> tuple[list[str], str]:
    (selection,) = await chooses.select([replace(task, expert=expert)])
    return [item.kept_as for item in selection.candidates], selection.reason


async def test_it_comes_first_and_the_others_after_it() -> None:
    order, why = await chosen("pegasus", selector(METHOD, BART, PEGASUS))
    assert order == ["pegasus", "bart", METHOD.expert.id]
    assert why == "You chose pegasus."
    order, _ = await chosen(METHOD.expert.id, selector(METHOD, BART, PEGASUS))
    assert order[0] == METHOD.expert.id


async def test_one_behind_an_api_is_meant_wherever_it_runs_or_at_its_provider() -> None:
    far = Expert("far", NAME, providers=("fal-ai", "together"))
    ways = [replace(FAR, expert=far, provider=name) for name in far.providers]
    order, _ = await chosen("far", selector(METHOD, *ways))
    assert order == ["far@fal-ai", "far@together", METHOD.expert.id]
    order, _ = await chosen("far@together", selector(METHOD, *ways))
    assert order == ["far@together", "far@fal-ai", METHOD.expert.id]


@pytest.mark.parametrize(
    ("expert", "mode", "why"),
    [
        ("nosuch", Mode.LOCAL, "You chose nosuch, but it is not on this computer. bart runs "),
        ("far", Mode.LOCAL, "You chose far, but it may not run in the mode “local”. bart runs "),
        ("pegasus", Mode.LOCAL, "You chose pegasus, but it has the licence CC-BY-NC-4.0, which "),
    ],
)
async def test_one_that_may_not_run_is_told_in_a_sentence(
    expert: str, mode: Mode, why: str
) -> None:
    fitting = Eligibility(licences=LicenceRules(denied=("CC-BY-NC-*",)))
    order, reason = await chosen(
        expert, selector(METHOD, BART, PEGASUS, FAR, mode=mode, fitting=fitting)
    )
    assert order == ["bart", METHOD.expert.id]
    assert reason.startswith(why)


async def test_one_that_cannot_be_asked_now() -> None:
    async def barred() -> str:
        return "There is no key."

    order, why = await chosen("far", selector(METHOD, FAR, barred=barred))
    assert order == [METHOD.expert.id]
    assert why.startswith("You chose far, but it cannot be asked now.")


async def test_one_that_is_not_for_the_wish() -> None:
    kind = TaskType(
        NAME, "", (*SHORTEN.ports, replace(SHORTEN.ports[0], name="prompt")), (TEXT,),
        (TaskOption("edit", "", ""),), exact="edit",
    )  # fmt: skip
    free = Task(0, kind, {"text": "Much.", "prompt": "make it odd"})
    order, why = await chosen(METHOD.expert.id, selector(METHOD, BART), free)
    assert order == ["bart"]
    assert why.startswith(f"You chose {METHOD.expert.id}, but it does not suit this.")


async def test_where_nobody_is_left_the_reason_tells_of_both() -> None:
    order, why = await chosen("far", selector(FAR, mode=Mode.OFFLINE))
    assert order == []
    assert why.startswith("You chose far, but it may not run in the mode “offline”. There is no ")
    order, why = await chosen("", selector(FAR, mode=Mode.OFFLINE))
    assert why.startswith("There is no expert")


async def test_no_llm_is_asked_about_it() -> None:
    llm = FakeLLM(('{"0": {"id": "bart (local)", "reason": "small"}}',))
    chooser = ExpertChooser(Prompts(shipped("resources", "prompts")))
    asks = selector(METHOD, BART, PEGASUS, llms=FakeLLMs(llm), chooser=chooser)
    order, why = await chosen("pegasus", asks)
    assert (order[0], why) == ("pegasus", "You chose pegasus.")
    assert not llm.prompts


async def test_who_could_do_it_whoever_is_pinned() -> None:
    able = await selector(METHOD, BART, PEGASUS).able(replace(TASK, expert="pegasus"))
    assert [item.expert.id for item in able] == ["bart", "pegasus", METHOD.expert.id]
    assert await selector(FAR, mode=Mode.OFFLINE).able(TASK) == ()


async def test_the_assistant_says_who_could_do_it(house: House) -> None:
    house.catalogue.listed[NAME] = (METHOD, BART)
    assert await house.assistant.experts_for(TASK) == (BART, METHOD)
