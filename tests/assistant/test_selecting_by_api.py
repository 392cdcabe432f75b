"""Experts behind an API: where they stand among the others, and why they are left out."""

from __future__ import annotations

from dataclasses import replace

import pytest

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selection.ranking import ExpertChooser
from jarvis_desktop.assistant.selection.selector import (
    OTHER_MODES,
    Eligibility,
    ExpertCapacity,
    LicenceRules,
    Selector,
)
from jarvis_desktop.core.expert import Candidate, Experience, Expert
from jarvis_desktop.core.placement import Hardware
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Task
from jarvis_desktop.paths import shipped
from tests.fakes import FakeCatalogue, FakeLLM, FakeLLMs, FakeTrackRecord
from tests.types import SHORTEN

NAME = "summarization"
TASKS = (Task(4, SHORTEN, {"text": "Much."}),)
NO_KEY = "There is no key. Set one."


def behind(name: str, *providers: str, **facts: object) -> tuple[Candidate, ...]:
    expert = Expert(name, NAME, providers=providers, **facts)  # type: ignore[arg-type]
    return tuple(Candidate(expert, "api", remote=True, provider=each) for each in providers)


HERE = Candidate(Expert("here", NAME, download_mb=300), "local", heavy=True)
FAR = behind("far", "fal-ai", "together", download_mb=9000, memory_mb=90_000, languages=("en",))
OTHER = behind("other", "hf-inference", download_mb=20)
METHOD = Candidate(Expert(f"builtin/{NAME}", NAME), "builtin")
SKILL = Candidate(Expert(f"skill/{NAME}", NAME), "skill")


async def barred() -> str:
    return NO_KEY


async def barred_not() -> str:
    return ""


async def chosen(
    *candidates: Candidate,
    mode: Mode = Mode.HYBRID,
    key: bool = True,
    fitting: Eligibility | None = None,
    known: dict[str, Experience] | None = None,
    to_fetch: tuple[Expert, ...] = (),
) -> tuple[list[str], str]:
    catalogue = FakeCatalogue(listed={NAME: candidates}, to_fetch={NAME: to_fetch})
    selector = Selector(
        catalogue,
        Policy(mode),
        fitting=fitting,
        record=FakeTrackRecord(known or {}),
        barred=barred_not if key else barred,
    )
    (selection,) = await selector.select(TASKS)
    return [item.kept_as for item in selection.candidates], selection.reason


async def test_hybrid_works_here_first_then_over_the_network_then_by_the_built_in_way() -> None:
    order, why = await chosen(*FAR, METHOD, HERE)
    assert order == ["here", "far@fal-ai", "far@together", METHOD.expert.id]
    assert why == "here runs on this computer now."


async def test_a_tool_is_named_as_one_wherever_its_server_is() -> None:
    tool = Candidate(Expert("notes/shorten", NAME), "mcp")
    assert await chosen(tool) == (["notes/shorten"], "notes/shorten is a tool of an MCP server.")


async def test_lite_works_over_the_network_first() -> None:
    order, why = await chosen(*OTHER, METHOD, *FAR, HERE, mode=Mode.LITE)
    assert order == ["far@fal-ai", "far@together", "other@hf-inference", METHOD.expert.id]
    assert why == "far answers over the network; ranked before 1 other."


@pytest.mark.parametrize("mode", [Mode.LOCAL, Mode.OFFLINE])
async def test_other_modes_stay_here(mode: Mode) -> None:
    assert await chosen(*FAR, METHOD, mode=mode) == (
        [METHOD.expert.id], f"{METHOD.expert.id} runs on this computer now.",
    )  # fmt: skip
    order, why = await chosen(*FAR, mode=mode)
    assert (order, why) == ([], f"There is no expert for “{SHORTEN.called}” yet. {OTHER_MODES}")
    order, why = await chosen(*FAR, mode=mode, to_fetch=(Expert("bart", NAME, download_mb=9),))
    assert order == []
    assert "bart" in why
    assert why.endswith(OTHER_MODES)


@pytest.mark.parametrize(
    ("mode", "others", "told"),
    [
        (Mode.LITE, (METHOD,), True),
        (Mode.LITE, (), True),
        (Mode.HYBRID, (METHOD,), False),
        (Mode.HYBRID, (), True),
    ],
)
async def test_a_provider_that_serves_none_of_them_is_told_where_that_matters(
    mode: Mode, others: tuple[Candidate, ...], told: bool
) -> None:
    unserved = replace(OTHER[0], provider="nosuch")
    order, why = await chosen(unserved, *others, mode=mode)
    assert order == [item.expert.id for item in others]
    assert told is ("The provider nosuch of your settings serves none of its experts." in why)
    assert "nosuch" not in (await chosen(unserved, *OTHER, mode=mode))[1]


async def test_a_skill_of_the_application_goes_before_an_api_unless_the_network_is_wanted() -> None:
    assert (await chosen(SKILL, *OTHER))[0] == [SKILL.expert.id, "other@hf-inference"]
    assert (await chosen(SKILL, *OTHER, mode=Mode.LITE))[0][0] == "other@hf-inference"


async def test_what_failed_at_one_provider_is_tried_last_there_alone() -> None:
    failing = {"far@fal-ai": Experience(4, 0, failed=True)}
    order, _ = await chosen(*FAR, METHOD, known=failing)
    assert order == ["far@together", METHOD.expert.id, "far@fal-ai"]
    here = {"here": Experience(4, 0, failed=True)}
    assert (await chosen(*FAR, HERE, known=here))[0] == ["far@fal-ai", "far@together", "here"]


async def test_the_room_here_does_not_count_for_them_but_licence_and_language_do() -> None:
    small = Eligibility(room=lambda: ExpertCapacity(Hardware(memory=10**9)))
    assert len((await chosen(*FAR, fitting=small))[0]) == 2
    german = Eligibility(ruled_out=lambda text, code: code == "en")
    order, why = await chosen(*FAR, fitting=german)
    assert (order, why) == ([], "None of its experts suits this: far understands English only.")
    strict = Eligibility(licences=LicenceRules(denied=("CC*",)))
    assert "CC-BY-NC" in (await chosen(*behind("nc", "x", licence="CC-BY-NC"), fitting=strict))[1]


async def test_without_a_key_they_are_left_out_and_it_is_said_where_that_matters() -> None:
    assert await chosen(*FAR, HERE, key=False) == (["here"], "here runs on this computer now.")
    order, why = await chosen(*FAR, METHOD, key=False, mode=Mode.LITE)
    assert order == [METHOD.expert.id]
    assert why == f"{METHOD.expert.id} runs on this computer now. {NO_KEY}"
    order, why = await chosen(*FAR, key=False)
    assert (order, why) == ([], f"There is no expert for “{SHORTEN.called}” yet. {NO_KEY}")
    # Who needs none is not told of it.
    assert NO_KEY not in (await chosen(METHOD, key=False, mode=Mode.LITE))[1]


async def test_the_llm_chooses_among_experts_not_among_providers() -> None:
    answer = '{"id": "other (api, hf-inference)", "reason": "small"}'
    llm = FakeLLM([answer])
    selector = Selector(
        FakeCatalogue(listed={NAME: (*FAR, *OTHER)}),
        Policy(Mode.LITE),
        llms=FakeLLMs(llm),
        chooser=ExpertChooser(Prompts(shipped("resources", "prompts"))),
    )
    (selection,) = await selector.select(TASKS)
    assert selection.candidates[0].kept_as == "other@hf-inference"
    (prompt,) = llm.prompts
    assert prompt.messages[-1].text.count("(api, ") == 2
    assert selection.reason.endswith("chose other: small")


async def test_other_providers_of_the_chosen_one_come_next() -> None:
    llm = FakeLLM(['{"id": "far (api, fal-ai)", "reason": ""}'])
    selector = Selector(
        FakeCatalogue(listed={NAME: (*FAR[:1], *OTHER, *FAR[1:])}),
        Policy(Mode.LITE),
        record=FakeTrackRecord({"other@hf-inference": Experience(9, 9, 0.1)}),
        llms=FakeLLMs(llm),
        chooser=ExpertChooser(Prompts(shipped("resources", "prompts"))),
    )
    (selection,) = await selector.select(TASKS)
    order = [item.kept_as for item in selection.candidates]
    assert order == ["far@fal-ai", "far@together", "other@hf-inference"]


def test_a_task_that_only_the_network_does_can_be_planned() -> None:
    def able(*candidates: Candidate, mode: Mode, fitting: Eligibility | None = None) -> bool:
        catalogue = FakeCatalogue(listed={NAME: candidates})
        return Selector(catalogue, Policy(mode), fitting=fitting).can_do(SHORTEN, FakeLLM())

    assert able(*FAR, mode=Mode.HYBRID)
    assert not able(*FAR, mode=Mode.LOCAL)
    denied = Eligibility(licences=LicenceRules(denied=("MIT",)))
    assert not able(*behind("x", "y", licence="MIT"), mode=Mode.LITE, fitting=denied)
