"""What an LLM can do, by its size and by measuring it."""

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.context import current_usage
from jarvis_desktop.core.errors import ExpertError, Fault, UnavailableError
from jarvis_desktop.core.llm import LLM, Ability, Prompt, Usage
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaLLM, OllamaServer
from jarvis_desktop.llm.openai_compatible import OpenAICompatibleLLM
from jarvis_desktop.llm.profile import (
    LLMProfile,
    LLMProfiles,
    PlanCheck,
    assumed_ability,
    measure,
    parameters_in,
    profile_key,
)
from tests.fakes import FakeLLM


@pytest.mark.parametrize(
    ("name", "parameters"),
    [
        ("qwen2.5-coder:1.5b", 1_500_000_000),
        ("Qwen3-0.6B-Q4_K_M.gguf", 600_000_000),
        ("smollm2-135m", 135_000_000),
        ("llama3.2:3b-instruct-q4_K_M", 3_000_000_000),
        ("qwen3-30b-a3b", 30_000_000_000),
        ("mixtral:8x7b", 7_000_000_000),
        ("gemma3n:e2b", 2_000_000_000),
        ("Qwen/Qwen2.5-7B_q4", 7_000_000_000),
        ("494.03M", 494_030_000),
        ("phi3:mini", 0),
        ("gpt-4.1", 0),
        ("", 0),
    ],
)
def test_a_name_states_the_parameters(name, parameters):
    assert parameters_in(name) == parameters


@pytest.mark.parametrize(
    ("parameters", "here", "elsewhere"),
    [
        (0, Ability.SHORT_PLANS, Ability.FULL_PLANS),
        (600_000_000, Ability.ANSWERS, Ability.ANSWERS),
        (1_500_000_000, Ability.SHORT_PLANS, Ability.SHORT_PLANS),
        (3_100_000_000, Ability.SHORT_PLANS, Ability.SHORT_PLANS),
        (4_000_000_000, Ability.FULL_PLANS, Ability.FULL_PLANS),
    ],
)
def test_an_ability_is_assumed_from_the_size(parameters, here, elsewhere):
    assert assumed_ability(parameters, remote=False) is here
    assert assumed_ability(parameters, remote=True) is elsewhere


@pytest.mark.parametrize(
    ("name", "parameters", "ability"),
    [
        ("mine", "494.03M", Ability.ANSWERS),
        ("mine:7b", "494.03M", Ability.ANSWERS),
        ("mine:7b", "", Ability.FULL_PLANS),
        ("mine", "", Ability.SHORT_PLANS),
    ],
)
def test_ollama_knows_it_better_than_the_name(name, parameters, ability):
    llm = OllamaLLM(InstalledLLM(name, parameters=parameters), OllamaServer().server)
    assert llm.ability is ability


@pytest.mark.parametrize(
    ("name", "address", "parameters", "ability"),
    [
        ("mine:7b", "http://127.0.0.1:8080", 494_000_000, Ability.ANSWERS),
        ("mine:7b", "http://127.0.0.1:8080", 0, Ability.FULL_PLANS),
        ("mine", "http://127.0.0.1:8080", 0, Ability.SHORT_PLANS),
        ("gpt", "https://api.example.com/v1", 0, Ability.FULL_PLANS),
    ],
)
def test_so_does_a_server(name, address, parameters, ability):
    assert OpenAICompatibleLLM(name, address, parameters=parameters).ability is ability


GOOD = LLMProfile(8192, 80.0, 39.0, True, True, 10, 10)


@pytest.mark.parametrize(
    ("changes", "ability"),
    [
        ({}, Ability.FULL_PLANS),
        ({"plans_right": 9}, Ability.FULL_PLANS),
        ({"plans_right": 8}, Ability.SHORT_PLANS),
        ({"plans_right": 3}, Ability.SHORT_PLANS),
        ({"plans_right": 2}, Ability.ANSWERS),
        ({"plans_right": 0, "plans_tried": 4}, Ability.ANSWERS),
        ({"keeps_schema": False, "plans_tried": 0}, Ability.ANSWERS),
        ({"plans_right": 3, "plans_tried": 3}, Ability.SHORT_PLANS),
        ({"window": 2048}, Ability.SHORT_PLANS),
        ({"read_speed": 14.0}, Ability.SHORT_PLANS),
    ],
)
def test_a_measured_llm_is_used_for_what_it_can_do(changes, ability):
    assert replace(GOOD, **changes).ability(Ability.SHORT_PLANS) is ability


def test_a_very_small_llm_must_plan_nearly_all_right():
    assert replace(GOOD, plans_right=6).ability(Ability.ANSWERS) is Ability.ANSWERS
    assert replace(GOOD, plans_right=9, window=2048).ability(Ability.ANSWERS) is Ability.SHORT_PLANS


def test_a_profile_is_read_by_users_in_a_few_words():
    assert replace(GOOD, plans_right=7).summary == "plans 7 of 10, 39 tokens a second"
    assert LLMProfile(write_speed=39.4).summary == "39 tokens a second"
    assert not LLMProfile(enforces_schema=True).is_measured


KEY = profile_key("ollama", "127.0.0.1:11434", "qwen3:4b", "a1")


def test_profiles_are_saved_by_llm(tmp_path: Path):
    file = tmp_path / "new" / "profiles.json"
    profiles = LLMProfiles(file)
    assert profiles.find(KEY) is None
    profiles.note_schema(KEY, True)
    profiles.keep(profile_key("ollama", "127.0.0.1:11434", "qwen3:4b", "b2"), GOOD)
    again = LLMProfiles(file)
    assert again.find(KEY) == LLMProfile(enforces_schema=True)
    again.keep(KEY, GOOD)
    again.note_schema(KEY, False)
    assert LLMProfiles(file).find(KEY) == replace(GOOD, enforces_schema=False)


@pytest.mark.parametrize("broken", ["{", "[]", '{"a": {"speed": 3}}', '{"a": 3}'])
def test_a_broken_file_is_started_again(tmp_path: Path, caplog, broken):
    caplog.set_level(logging.INFO)
    file = tmp_path / "profiles.json"
    file.write_text(broken)
    profiles = LLMProfiles(file)
    assert profiles.find(KEY) is None
    assert "cannot be read" in caplog.text
    profiles.keep(KEY, GOOD)
    assert LLMProfiles(file).find(KEY) == GOOD


def test_profiles_that_cannot_be_saved_last_as_long_as_the_process(tmp_path: Path, caplog):
    caplog.set_level(logging.INFO)
    (tmp_path / "in the way").touch()
    profiles = LLMProfiles(tmp_path / "in the way" / "profiles.json")
    profiles.keep(KEY, GOOD)
    assert "could not be saved" in caplog.text
    assert profiles.find(KEY) == GOOD


class Timed(FakeLLM):
    """One that reports its usage."""

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        async for piece in super().stream(prompt):
            yield piece
        current_usage.get()(Usage(300, 20, 40, 2.0, 4.0))


def check(*outcomes: bool) -> PlanCheck:
    async def plan(llm: LLM) -> AsyncGenerator[bool, None]:
        for right in outcomes:
            yield right

    return plan


async def test_an_llm_is_measured(usages: Sequence[Usage]):
    llm = Timed(["one, two", '{"sum": 5}'], enforces_schema=True)
    seen: list[LLMProfile] = []
    profile = await measure(llm, check(True, False, True), seen.append)
    assert profile == LLMProfile(8192, 150.0, 10.0, True, True, 2, 3)
    assert [(each.plans_right, each.plans_tried) for each in seen] == [
        (0, 0),
        (1, 1),
        (1, 2),
        (2, 3),
    ]
    # The first prompt is another one each time, so that no cache has it.
    await measure(llm, check())
    assert llm.prompts[0] != llm.prompts[2]
    assert len(usages) == 2


async def test_one_that_plans_nothing_is_measured_no_further():
    llm = FakeLLM(['{"sum": 5}'])
    assert (await measure(llm, check(*[False] * 10))).plans_tried == 4
    assert (await measure(llm, check(False, True, *[False] * 8))).plans_tried == 10
    assert (await measure(FakeLLM(["five"]), check(True))).plans_tried == 0


async def test_a_slow_one_is_measured_by_fewer_plans():
    closed = asyncio.Event()

    async def slow(llm: LLM) -> AsyncGenerator[bool, None]:
        try:
            yield True
            await asyncio.Event().wait()
        finally:
            closed.set()

    profile = await measure(FakeLLM(['{"sum": 5}']), slow, limit=0.05)
    assert (profile.plans_right, profile.plans_tried) == (1, 1)
    assert profile.read_speed == profile.write_speed == 0
    assert closed.is_set()


@pytest.mark.parametrize(
    ("answers", "keeps"),
    [
        (["one", "five"], False),
        (["one", '{"sum": "5"}'], False),
        (["one", "[]"], False),
        (["one", ExpertError("Too long.", fault=Fault.ANSWER)], False),
        ([ExpertError("Too long.", fault=Fault.ANSWER), '{"sum": 5}'], True),
    ],
)
async def test_an_answer_that_is_not_as_asked_is_no_failure(answers, keeps):
    assert (await measure(FakeLLM(answers), check())).keeps_schema is keeps


@pytest.mark.parametrize("at", [0, 1])
async def test_one_that_fails_is_not_measured(at):
    gone = ExpertError("It is gone.", fault=Fault.NETWORK)
    with pytest.raises(ExpertError, match="It is gone"):
        await measure(FakeLLM([*["one", "5"][:at], gone]), check())


async def test_one_that_ends_meanwhile_is_not_measured():
    async def gone(llm: LLM) -> AsyncGenerator[bool, None]:
        yield True
        raise UnavailableError("It does not run.")

    with pytest.raises(UnavailableError):
        await measure(FakeLLM(['{"sum": 5}']), gone)
