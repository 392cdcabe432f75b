"""Which LLM is used: over an Ollama and a service on loopback, and folders of the disk."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import aclosing
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.llm import LLM, Ability, Message, MessageRole, Prompt, Think, answer
from jarvis_desktop.core.policy import Mode, Policy
from jarvis_desktop.llm.choice import SEARCH_INTERVAL_S, LLMChoice, LLMPreference, this_computer
from jarvis_desktop.llm.profile import LLMProfile
from jarvis_desktop.llm.shipped import GB, Computer, load
from jarvis_desktop.llm.transformers_local import TransformersLLM
from jarvis_desktop.paths import shipped
from tests.line_server import Answer
from tests.ollama import Ollama, Shown, running_ollama
from tests.openai_server import OpenAIServer, running_openai_server

LLMS = load(shipped("models", "llms.toml"))
SMALL, MIDDLE, LARGE = (Shown(size=round(size * GB), digest=f"{size}") for size in (1.0, 6.6, 40))
CLOUD = "gpt-oss:120b-cloud"
ELSEWHERE = "https://llm.example.org/v1"


@dataclass
class World:
    """What is there, and the choice over it."""

    ollama: Ollama
    service: OpenAIServer
    monkeypatch: pytest.MonkeyPatch
    memory: float = 16
    graphics: float = 0
    disk: list[tuple[Expert, Path]] = field(default_factory=list)
    now: float = 0.0
    keys: list[str] = field(default_factory=list)
    made: list[LLMChoice] = field(default_factory=list)

    def choice(
        self, provider: str = "auto", id: str = "", *, mode: Mode = Mode.LOCAL, **wanted
    ) -> LLMChoice:
        def key(address: str) -> str:
            self.keys.append(address)
            return "sk-secret"

        self.made.append(
            LLMChoice(
                LLMPreference(provider, id, **wanted),  # type: ignore[arg-type]
                Policy(mode),
                on_disk=lambda: self.disk,
                shipped=LLMS,
                room=lambda: Computer(round(self.memory * GB), round(self.graphics * GB), 100 * GB),
                key=key,
                clock=lambda: self.now,
            )
        )
        return self.made[-1]

    def no_ollama(self) -> None:
        self.ollama.die()

    def on_disk(self, name: str, megabytes: int, folder: Path) -> None:
        self.disk.append((Expert(name, "text-generation", download_mb=megabytes), folder))


@pytest.fixture
async def world(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[World]:
    with running_ollama() as ollama, running_openai_server() as service:
        monkeypatch.setenv("OLLAMA_HOST", ollama.address)
        made = World(ollama, service, monkeypatch)
        yield made
        for each in made.made:
            await each.close()


async def chosen(choice: LLMChoice) -> tuple[str, str] | None:
    llm = await choice.current()
    assert choice.reason.endswith(".")
    return (llm.provider, llm.name) if llm else None


def ask(**settings) -> Prompt:
    return Prompt((Message(MessageRole.USER, "Are you there?"),), **settings)


async def test_ollama_comes_first(world: World, tmp_path: Path):
    world.on_disk("tiny", 100, tmp_path)
    choice = world.choice(address=world.service.address)
    assert await chosen(choice) == ("ollama", "qwen3.5:4b")
    assert choice.reason == "qwen3.5:4b is used, which Ollama runs."


@pytest.mark.parametrize(
    ("memory", "graphics", "name"),
    [
        (16, 0, "small:1b"),
        (16, 12, "middle:9b"),
        (64, 0, "small:1b"),
        (96, 80, "large:70b"),
    ],
)
async def test_the_best_one_is_the_largest_that_is_quick_enough(
    world: World, memory: float, graphics: float, name: str
):
    world.memory, world.graphics = memory, graphics
    world.ollama.llms = {
        "small:1b": SMALL,
        "middle:9b": MIDDLE,
        "large:70b": LARGE,
        "nomic-embed-text": Shown(size=GB * 2, digest="e", capabilities=("embedding",)),
        CLOUD: Shown(size=384, digest="c"),
    }
    assert await chosen(world.choice()) == ("ollama", name)


async def test_where_none_is_quick_the_smallest_that_runs_is_taken(world: World):
    world.ollama.llms = {"middle:9b": MIDDLE, "large:70b": LARGE}
    assert await chosen(world.choice()) == ("ollama", "middle:9b")
    world.memory = 8
    choice = world.choice("ollama")
    assert await chosen(choice) is None
    assert choice.reason == "Every LLM that Ollama has needs more memory than there is."


async def test_without_ollama_the_service_of_the_settings_is_next(world: World, tmp_path: Path):
    world.no_ollama()
    world.on_disk("tiny", 100, tmp_path)
    world.service.llms = ("text-embedding-3", "tiny", "other")
    choice = world.choice(address=world.service.address)
    assert await chosen(choice) in (("openai", "other"), ("openai", "tiny"))
    assert world.keys == [world.service.address]
    # And without that, what is on the disk.
    world.service.die()
    choice = world.choice(address=world.service.address)
    assert await chosen(choice) == ("transformers", "tiny")
    assert choice.reason == "tiny is used, from the disk."


async def test_where_there_is_none_all_reasons_are_said(world: World):
    world.no_ollama()
    choice = world.choice()
    assert await chosen(choice) is None
    place = world.ollama.address.removeprefix("http://")
    assert choice.reason == f"Ollama does not run at {place}. There is no LLM on the disk."


async def test_it_is_looked_at_again_after_a_while_and_after_a_failure(world: World):
    world.ollama.llms = {}
    choice = world.choice("ollama")
    assert await chosen(choice) is None
    assert choice.reason == "Ollama runs, but has no LLM that answers."
    world.ollama.llms = {"small:1b": SMALL}
    world.now = SEARCH_INTERVAL_S - 1
    assert await choice.current() is None
    world.now = SEARCH_INTERVAL_S
    llm = await choice.current()
    assert llm
    world.now += SEARCH_INTERVAL_S
    assert await choice.current() is llm  # it may hold weights in memory
    world.ollama.llms = {"other:1b": MIDDLE}
    with pytest.raises(UnavailableError):
        await answer(llm, ask())
    assert await chosen(choice) == ("ollama", "other:1b")


async def test_one_of_ollama_by_its_name(world: World):
    world.ollama.llms = {"small:latest": SMALL, "middle:9b": MIDDLE}
    assert await chosen(world.choice("ollama", "small")) == ("ollama", "small:latest")
    choice = world.choice("ollama", "none\u202e:1b")
    assert await chosen(choice) is None
    assert choice.reason == "Ollama does not have none�:1b."


async def test_a_named_one_that_ollama_lacks_is_looked_for_on_the_disk(world, tmp_path: Path):
    world.on_disk("tiny", 100, tmp_path)
    world.on_disk("other", 200, tmp_path)
    assert await chosen(world.choice("auto", "tiny")) == ("transformers", "tiny")


@pytest.mark.parametrize("mode", [Mode.OFFLINE, Mode.LOCAL])
async def test_what_leaves_the_computer_is_not_even_asked(world: World, mode: Mode):
    world.ollama.llms = {CLOUD: Shown(size=384), "small:1b": SMALL}
    for choice in (
        world.choice("openai", "gpt-5", address=ELSEWHERE, mode=mode),
        world.choice("openai", address=ELSEWHERE, mode=mode),
        world.choice("ollama", address="llm.example.org", mode=mode),
        world.choice("ollama", CLOUD, mode=mode),
    ):
        assert await chosen(choice) is None
        assert choice.reason.startswith(f"The mode “{mode}” allows no LLM of another computer (")
    assert not world.keys


@pytest.mark.parametrize("mode", [Mode.HYBRID, Mode.LITE])
async def test_where_the_mode_allows_it_a_far_service_is_taken_without_asking_it(
    world: World, mode: Mode
):
    choice = world.choice("openai", "gpt-5", address=ELSEWHERE, mode=mode)
    llm = await choice.current()
    assert llm
    assert (llm.provider, llm.name, llm.remote) == ("openai", "gpt-5", True)
    assert choice.reason == "gpt-5 is used, by the LLM service at llm.example.org."
    assert not world.keys
    world.ollama.llms = {CLOUD: Shown(size=384)}
    assert await chosen(world.choice("ollama", CLOUD, mode=mode)) == ("ollama", CLOUD)
    # By itself, nothing that travels is chosen.
    assert await chosen(world.choice("ollama", mode=mode)) is None


async def test_a_service_without_llms_or_without_an_address_is_said(world: World):
    world.service.llms = ("text-embedding-3",)
    choice = world.choice("openai", address=world.service.address)
    assert await chosen(choice) is None
    assert choice.reason.endswith("has no LLM.")
    choice = world.choice("openai")
    assert await chosen(choice) is None
    assert choice.reason == "The settings name no address of an LLM service."


async def test_a_named_llm_of_a_near_service_is_taken_if_it_runs(world: World):
    choice = world.choice("openai", "whatever", address=world.service.address)
    assert await chosen(choice) == ("openai", "whatever")
    world.service.die()
    world.now = SEARCH_INTERVAL_S
    assert await chosen(choice) is None
    assert "does not run at" in choice.reason


async def test_a_near_service_without_a_list_can_be_used_by_name(world: World):
    world.service.listing = Answer(status=500, body=b"Internal Server Error")
    choice = world.choice("openai", "tiny", address=world.service.address)
    assert await chosen(choice) == ("openai", "tiny")
    choice = world.choice("openai", address=world.service.address)
    assert await chosen(choice) is None


async def test_what_ollama_cannot_show_is_said(world: World):
    world.ollama.llms = {"small:1b": Shown(broken=True)}
    choice = world.choice("ollama")
    assert await chosen(choice) is None


async def test_the_disks_best_is_what_suits_the_memory(world: World, tmp_path: Path):
    world.on_disk("half", 1000, tmp_path)
    world.on_disk("three", 6000, tmp_path)
    assert await chosen(world.choice("transformers")) == ("transformers", "half")
    world.graphics = 8  # where weights have 16 bits
    assert await chosen(world.choice("transformers")) == ("transformers", "three")
    world.memory = world.graphics = 1
    choice = world.choice("transformers")
    assert await chosen(choice) is None
    assert choice.reason == "Every LLM on the disk needs more memory than there is."
    choice = world.choice("transformers", "two")
    assert await chosen(choice) is None
    assert choice.reason == "There is no two on the disk."


async def test_the_lite_mode_loads_nothing_here(world: World, tmp_path: Path):
    world.on_disk("tiny", 100, tmp_path)
    choice = world.choice("transformers", mode=Mode.LITE)
    assert await chosen(choice) is None
    assert choice.reason == "The mode “lite” loads no LLM on this computer."


async def test_none_is_none(world: World):
    choice = world.choice("none")
    assert choice.reason
    assert await chosen(choice) is None
    assert choice.reason == "The settings say that no LLM is used."


async def test_how_long_it_may_think_is_for_answers_in_words(world: World):
    world.ollama.llms = {"small:1b": Shown(capabilities=("completion", "thinking"))}
    llm = await world.choice(think=Think.LOW).current()
    assert llm
    prompts: Sequence[Prompt] = (
        ask(longest=64),
        ask(longest=64, schema={"type": "object"}),
        ask(longest=64, think=Think.HIGH),
    )
    for prompt in prompts:
        assert await answer(llm, prompt)
    assert [body["think"] for body in world.ollama.asked] == [True, False, True]


async def test_the_context_of_the_settings_bounds_the_window(world: World):
    llm: LLM | None = await world.choice(context=4096).current()
    assert llm
    assert (llm.window, llm.sees, llm.remote) == (4096, False, False)


async def test_the_context_that_a_service_really_has_bounds_the_window(world: World):
    def of_llama_cpp(context: int) -> dict[str, object]:
        return {"/props": {"default_generation_settings": {"n_ctx": context}}}

    world.service.others = of_llama_cpp(2048)
    choice = world.choice("openai", "tiny", address=world.service.address)
    llm = await choice.current()
    assert llm
    assert (llm.window, llm.enforces_schema, llm.ability) == (2048, True, Ability.SHORT_PLANS)
    world.now += SEARCH_INTERVAL_S
    assert await choice.current() is llm
    paths = [path for path, _ in world.service.requests]
    assert (paths.count("GET /v1/models"), paths.count("GET /props")) == (2, 1)
    # It was restarted; a failing prompt makes it known.
    world.service.others = of_llama_cpp(16384)
    choice.forget()
    llm = await choice.current()
    assert llm
    assert llm.window == 8192


async def test_a_service_that_lists_its_context_is_asked_nothing_else(world: World):
    world.service.metadata = {"tiny": {"max_model_len": 4096}}
    llm = await world.choice("openai", "tiny", address=world.service.address).current()
    assert llm
    assert (llm.window, llm.enforces_schema) == (4096, True)
    assert [path for path, _ in world.service.requests] == ["GET /v1/models"]


async def test_what_was_measured_says_what_an_llm_is_used_for(world: World, tmp_path: Path):
    choice = world.choice()
    llm = await choice.current()
    assert llm
    assert (llm.ability, choice.profile) == (Ability.FULL_PLANS, None)
    profile = LLMProfile(8192, 80.0, 39.0, True, True, 1, 10)
    choice.keep_profile(profile)
    assert (llm.ability, choice.profile) == (Ability.ANSWERS, profile)
    # It is that of these weights, wherever they are chosen.
    other = choice.alike(LLMPreference("ollama", "qwen3.5:4b"))
    again = await other.current()
    assert again
    assert again.ability is Ability.ANSWERS
    world.ollama.llms["qwen3.5:4b"] = replace(Shown(), digest="a2")
    choice.forget()
    llm = await choice.current()
    assert llm
    assert (llm.ability, choice.profile) == (Ability.FULL_PLANS, None)


async def test_a_service_is_probed_once_for_schemas(world: World):
    world.service.enforces_schema = True
    choice = world.choice("openai", "tiny", address=world.service.address)
    prompt = ask(schema={"type": "object"})
    llm = await choice.current()
    assert llm
    assert not llm.enforces_schema
    assert await answer(llm, prompt)
    assert llm.enforces_schema
    choice.forget()
    assert await choice.current() is llm
    other = await choice.alike(choice.wanted).current()
    assert other
    assert other.enforces_schema
    assert await answer(other, prompt)
    assert len(world.service.asked) == 3


async def test_only_the_settings_know_whether_the_llm_of_a_service_sees(world: World):
    for sees in (False, True):
        llm = await world.choice("openai", address=world.service.address, sees=sees).current()
        assert llm
        assert llm.sees is sees


class Local(TransformersLLM):
    """One that writes until the test lets it end, or it is closed."""

    made: ClassVar[list[Local]] = []

    def __init__(self, name: str, folder: Path, **settings) -> None:
        super().__init__(name, folder, **settings)
        self.ended = asyncio.Event()
        self.closed = asyncio.Event()
        self.made.append(self)

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        async with self._turn:
            yield "Well"
            await self.ended.wait()
            yield " then." if not self.closed.is_set() else " no"

    async def close(self) -> None:
        self.closed.set()
        self.ended.set()


async def test_one_that_answers_is_closed_after_its_answer_when_another_is_taken(
    world: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(Local, "made", [])
    monkeypatch.setattr("jarvis_desktop.llm.choice.TransformersLLM", Local)
    world.on_disk("tiny", 100, tmp_path)
    choice = world.choice("transformers")
    for name in ("larger", "largest"):
        former = await choice.current()
        assert former
        async with aclosing(former.stream(ask())) as pieces:  # type: ignore[type-var]
            heard = await anext(pieces)
            world.on_disk(name, 150 + len(name), tmp_path)
            choice.forget()
            assert await chosen(choice) == ("transformers", name)
            local = Local.made[-2]
            assert not local.closed.is_set()
            if name == "largest":
                break
            local.ended.set()
            heard += "".join([piece async for piece in pieces])
        assert heard == "Well then."
        await local.closed.wait()
    # At the end of the application nothing is waited for.
    await choice.close()
    assert all(each.closed.is_set() for each in Local.made)


async def test_unloading(world: World, tmp_path: Path):
    choice = world.choice()
    assert await choice.unload() == "qwen3.5:4b"
    assert world.ollama.unloaded == ["qwen3.5:4b"]
    world.on_disk("tiny", 100, tmp_path)
    assert await world.choice("transformers").unload() == "tiny"
    with pytest.raises(InputError, match="is not loaded by Ollama or by JARVIS"):
        await world.choice("openai", address=world.service.address).unload()
    with pytest.raises(InputError, match=r"There is no LLM to unload\. The settings say"):
        await world.choice("none").unload()


async def test_a_failure_is_passed_on(world: World):
    world.ollama.answers = [Answer(["Well"], ends="error", error="out of memory")]
    llm = await world.choice().current()
    assert llm
    with pytest.raises(ExpertError, match="out of memory"):
        await answer(llm, ask(longest=16))


def test_this_computer_is_measured(tmp_path: Path):
    measure: Callable[[], Computer] = lambda: this_computer(tmp_path / "not" / "there")  # noqa: E731
    assert measure().memory > GB
    assert measure().disk > 0
    assert this_computer().disk > 0
