"""Which candidates a task gets, in which order, and the reason where it gets none."""

from __future__ import annotations

import pytest

from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.assistant.selection.ranking import ExpertChooser
from jarvis_desktop.assistant.selection.selector import (
    Eligibility,
    ExpertCapacity,
    LicenceRules,
    Selector,
)
from jarvis_desktop.core.expert import Candidate, Experience, Expert, Selection
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.placement import Hardware
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.core.task import Task
from jarvis_desktop.paths import shipped
from tests.fakes import FakeCatalogue, FakeLLM, FakeLLMs, FakeTrackRecord
from tests.types import CLOCK, SHORTEN

PLAN = Plan((Task(0, CLOCK),))
LOCAL = Candidate(Expert("mine", "clock"), "local")
REMOTE = Candidate(Expert("theirs", "clock"), "hf_api", remote=True)
SKILL = Candidate(Expert("skill/clock", "clock"), "skill")

NAME = "summarization"
SHORT = Plan((Task(4, SHORTEN, {"text": "Much."}),))
BUILT_IN = Candidate(Expert(f"builtin/{NAME}", NAME), "builtin")
T5 = Candidate(Expert("t5", NAME, "Short summaries.", download_mb=250, licence="MIT"), "local")
BART = Candidate(Expert("bart", NAME, "Summaries of news.", download_mb=900), "local")
PROMPTS = Prompts(shipped("resources", "prompts"))


async def reason(
    catalogue: FakeCatalogue, mode: Mode = Mode.LOCAL, fitting: Eligibility | None = None
) -> str:
    (selection,) = await Selector(catalogue, Policy(mode), fitting=fitting).select(PLAN)
    assert selection.candidates == ()
    return selection.reason


async def of(selector: Selector, text: str = "") -> tuple[list[str], str]:
    (selection,) = await selector.select(SHORT, text)
    assert selection.task_id == 4
    return [item.expert.id for item in selection.candidates], selection.reason


def listing(*candidates: Candidate, prompted: bool = False) -> FakeCatalogue:
    return FakeCatalogue(listed={NAME: candidates}, prompted=frozenset({NAME} if prompted else ()))


def selector(
    catalogue: FakeCatalogue,
    llm: LLM | None = None,
    known: dict[str, Experience] | None = None,
    mode: Mode = Mode.LOCAL,
) -> Selector:
    return Selector(
        catalogue,
        Policy(mode),
        record=FakeTrackRecord(known or {}),
        llms=FakeLLMs(llm),
        chooser=ExpertChooser(PROMPTS),
    )


async def test_the_policy_filters() -> None:
    catalogue = FakeCatalogue(listed={"clock": (REMOTE, LOCAL)})
    (selection,) = await Selector(catalogue, Policy(Mode.HYBRID)).select(PLAN)
    assert selection.candidates == (REMOTE, LOCAL)
    assert selection.reason == "theirs answers over the network; ranked before 1 other."
    (selection,) = await Selector(catalogue, Policy(Mode.LOCAL)).select(PLAN)
    assert selection.candidates == (LOCAL,)
    assert selection.reason == "mine runs on this computer now."


async def test_own_machines_are_among_the_first_where_they_are_allowed() -> None:
    own = Candidate(Expert("theirs", "clock"), "machine", remote=True, provider="box")
    served = Candidate(
        Expert("api", "clock", providers=("fal-ai",)), "api", remote=True, provider="fal-ai"
    )
    catalogue = FakeCatalogue(listed={"clock": (served, own, BUILT_IN)})
    for mode, allowed in ((Mode.OFFLINE, True), (Mode.LOCAL, False), (Mode.LOCAL, True)):
        (selection,) = await Selector(catalogue, Policy(mode, allowed)).select(PLAN)
        wanted = (own, BUILT_IN) if (mode, allowed) == (Mode.LOCAL, True) else (BUILT_IN,)
        assert selection.candidates == wanted
    assert selection.reason == "theirs runs on box."
    (selection,) = await Selector(catalogue, Policy(Mode.HYBRID)).select(PLAN)
    assert selection.candidates == (own, served, BUILT_IN)


async def test_a_mode_that_allows_none() -> None:
    catalogue = FakeCatalogue(listed={"clock": (REMOTE,)})
    assert "“offline” allows none" in await reason(catalogue, Mode.OFFLINE)


async def test_an_expert_that_would_have_to_be_fetched_is_named_with_its_size() -> None:
    expert = Expert("sun-dial", "clock", download_mb=2500, licence="MIT")
    catalogue = FakeCatalogue(listed={"clock": ()}, to_fetch={"clock": (expert,)})
    assert await reason(catalogue) == (
        "It needs an expert that is not on this computer: sun-dial (about 2.5 GB to download, "
        "licence MIT). To get it: jarvis-desktop experts pull sun-dial."
    )
    assert "choose another mode" in await reason(catalogue, Mode.OFFLINE)


async def test_a_size_that_was_checked_is_not_about_and_holds_what_it_is_built_upon() -> None:
    stone = Expert("stone", "clock", download_mb=300)
    expert = Expert("sun-dial", "clock", download_mb=40, verified=True, base=stone)
    catalogue = FakeCatalogue(listed={"clock": ()}, to_fetch={"clock": (expert,)})
    assert "sun-dial (340 MB to download)." in await reason(catalogue)


async def test_an_expert_that_cannot_run_here_is_named_but_not_offered() -> None:
    expert = Expert("sun-dial", "clock", download_mb=340)
    catalogue = FakeCatalogue(listed={"clock": ()}, beyond={"clock": (expert,)})
    assert await reason(catalogue) == (
        "It needs an expert such as sun-dial (about 340 MB to download), "
        "which this version of JARVIS cannot run yet."
    )


async def test_no_expert_at_all() -> None:
    catalogue = FakeCatalogue(listed={"clock": ()})
    assert await reason(catalogue) == "There is no expert for “Clock” yet."


async def test_what_does_not_fit_is_left_out_and_something_that_fits_is_offered() -> None:
    large = Expert("large", "clock", memory_mb=9000, download_mb=9000)
    small = Expert("small", "clock", memory_mb=100, download_mb=100)
    small_room = Eligibility(room=lambda: ExpertCapacity(Hardware(memory=4 * 10**9)))
    here = Candidate(large, "local")
    catalogue = FakeCatalogue(listed={"clock": (here, LOCAL)})
    (selection,) = await Selector(catalogue, Policy(), fitting=small_room).select(PLAN)
    assert selection.candidates == (LOCAL,)

    catalogue = FakeCatalogue(listed={"clock": (here,)}, to_fetch={"clock": (large, small)})
    (selection,) = await Selector(catalogue, Policy(), fitting=small_room).select(PLAN)
    assert selection.candidates == ()
    assert selection.offer == small

    catalogue = FakeCatalogue(listed={"clock": (here,)})
    assert await reason(catalogue, fitting=small_room) == (
        "None of its experts suits this: "
        "large needs about 4.7 GB of memory, and experts can have 2.5 GB here."
    )


async def test_a_licence_that_is_not_wanted_is_neither_used_nor_offered() -> None:
    theirs = Expert("nc", "clock", licence="CC-BY-NC-4.0", download_mb=5)
    fitting = Eligibility(licences=LicenceRules(denied=("CC-BY-NC-*",)))
    catalogue = FakeCatalogue(listed={"clock": ()}, to_fetch={"clock": (theirs,)})
    assert "nc has the licence CC-BY-NC-4.0" in await reason(catalogue, fitting=fitting)


async def test_the_offer_is_the_one_that_the_request_speaks_of() -> None:
    music = Expert("m", "clock", "Makes music.", download_mb=2000)
    noise = Expert("n", "clock", "Makes noises.", download_mb=100)
    catalogue = FakeCatalogue(listed={"clock": ()}, to_fetch={"clock": (noise, music)})
    (selection,) = await Selector(catalogue, Policy()).select(PLAN, "music, please")
    assert selection.offer == music


async def test_the_ranking_decides_and_says_so_with_what_is_known() -> None:
    known = {"t5": Experience(5, 5, 1.2), "bart": Experience(4, 1, 30.0)}
    names, why = await of(selector(listing(BART, T5, BUILT_IN), known=known))
    assert names == ["t5", "bart", f"builtin/{NAME}"]
    assert why == (
        "t5 runs on this computer now; worked 5 of 5 times here, in about 1.2 seconds; "
        "ranked before 1 other."
    )


async def test_the_llm_is_a_candidate_where_it_has_a_prompt_and_the_mode_allows_it() -> None:
    names, why = await of(selector(listing(BUILT_IN, prompted=True), FakeLLM()))
    assert names == ["fake:1b", f"builtin/{NAME}"]
    assert why == "fake:1b runs on this computer now."
    remote = FakeLLM(remote=True)
    names, _ = await of(selector(listing(BUILT_IN, prompted=True), remote))
    assert names == [f"builtin/{NAME}"]
    names, why = await of(selector(listing(prompted=True), remote, mode=Mode.HYBRID))
    assert (names, why) == (["fake:1b"], "fake:1b answers over the network.")
    names, _ = await of(selector(listing(BUILT_IN), FakeLLM()))
    assert names == [f"builtin/{NAME}"]


async def test_the_llm_chooses_where_there_is_a_choice_and_its_reason_is_kept() -> None:
    llm = FakeLLM(('{"4": {"id": "t5 (local)", "reason": "It is quick."}}',))
    names, why = await of(selector(listing(BART, T5, BUILT_IN), llm), "Shorten this")
    assert names == ["t5", "bart", f"builtin/{NAME}"]
    assert why == "fake:1b chose t5: It is quick."
    assert "Shorten this" in llm.prompts[0].messages[0].text
    assert "builtin" not in llm.prompts[0].messages[0].text


async def test_a_choice_without_a_reason_is_a_choice() -> None:
    names, why = await of(selector(listing(BART, T5), FakeLLM(('{"id": "t5"}',))))
    assert (names, why) == (["t5", "bart"], "fake:1b chose t5.")


async def test_the_llm_sees_no_more_than_five() -> None:
    many = [Candidate(Expert(f"expert-{n}", NAME, download_mb=1000 + n), "local") for n in range(8)]
    llm = FakeLLM(('{"id": "expert-0"}',))
    names, why = await of(selector(listing(*many), llm))
    assert names[0] == "expert-7"
    assert why == "expert-7 runs on this computer now; ranked before 7 others."
    text = llm.prompts[0].messages[0].text
    assert [n for n in range(8) if f"expert-{n} " in text] == [3, 4, 5, 6, 7]


async def test_one_call_is_made_for_the_whole_plan() -> None:
    plan = Plan(tuple(Task(number, SHORTEN, {"text": "x"}) for number in range(3)))
    llm = FakeLLM(('{"0": {"id": "t5"}, "2": {"id": "t5"}}',))
    lines: list[str] = []
    found = await selector(listing(BART, T5), llm).select(plan, "x", trace=lines.append)
    assert [item.candidates[0] for item in found] == [T5, BART, T5]
    assert len(llm.prompts) == 1
    assert lines[-1] == "fake:1b gave no usable choice for task 1."


@pytest.mark.parametrize(
    ("candidates", "known"),
    [
        ((T5, BUILT_IN), {}),
        ((BUILT_IN,), {}),
        ((T5, BART), {"bart": Experience(1, 0, failed=True)}),
    ],
)
async def test_where_there_is_no_real_choice_the_llm_is_not_asked(
    candidates: tuple[Candidate, ...], known: dict[str, Experience]
) -> None:
    llm = FakeLLM()
    await of(selector(listing(*candidates), llm, known))
    assert not llm.prompts


async def test_for_skills_alone_no_llm_is_looked_for() -> None:
    llms = FakeLLMs(FakeLLM())
    catalogue = FakeCatalogue(
        listed={"clock": (SKILL,), NAME: (T5,)}, prompted=frozenset({"clock", NAME})
    )
    chosen = Selector(catalogue, Policy(), llms=llms)
    assert (await chosen.select(PLAN))[0].candidates == (SKILL,)
    assert llms.asked == 0
    both = Plan((*PLAN.tasks, *SHORT.tasks))
    clock, short = await chosen.select(both)
    assert clock == Selection(0, (SKILL,), "skill/clock runs on this computer now.")
    assert [item.backend for item in short.candidates] == ["llm", "local"]
    assert llms.asked == 1


@pytest.mark.parametrize("mode", [Mode.LOCAL, Mode.OFFLINE])
def test_a_task_can_be_done_by_what_fits_here_or_could_be_fetched(mode: Mode) -> None:
    large = Expert("large", NAME, memory_mb=9000, download_mb=9000)
    gated = Expert("gated", NAME, gated=True)
    greek = Expert("greek", NAME, download_mb=50, languages=("el", "de"))
    there = Eligibility(
        room=lambda: ExpertCapacity(Hardware(memory=4 * 10**9)),
        licences=LicenceRules(denied=("MIT",)),
        ruled_out=lambda text, code: True,
    )

    def can_do(catalogue: FakeCatalogue) -> bool:
        return Selector(catalogue, Policy(mode), fitting=there).can_do(SHORTEN, FakeLLM())

    def fetchable(*experts: Expert) -> FakeCatalogue:
        return FakeCatalogue(listed={NAME: ()}, to_fetch={NAME: experts})

    assert not can_do(listing())
    assert not can_do(listing(Candidate(large, "local"), T5))
    assert not can_do(listing(Candidate(greek, "api", remote=True)))
    assert not can_do(fetchable(large, gated, T5.expert))
    assert can_do(fetchable(large, greek)) is (mode is Mode.LOCAL)
    assert can_do(listing(Candidate(greek, "local")))
    assert can_do(listing(prompted=True))


async def test_the_llm_does_not_choose_where_the_user_named_a_server() -> None:
    server = Candidate(Expert("mine", NAME), "server", provider="box")
    llm = FakeLLM(('{"id": "bart (local)", "reason": "News."}',))
    names, why = await of(selector(listing(T5, BART, server), llm))
    assert names[0] == "mine"
    assert "chose" not in why
    assert llm.prompts == []
