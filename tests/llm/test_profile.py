"""What is assumed of an LLM that was not measured."""

import pytest

from jarvis_desktop.core.llm import Ability
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaLLM, OllamaServer
from jarvis_desktop.llm.openai_compatible import OpenAICompatibleLLM
from jarvis_desktop.llm.profile import assumed_ability, parameters_in


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
