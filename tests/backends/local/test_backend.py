"""The local road as it is: fetched from a Hub on loopback, loaded, run, the result an artifact."""

from __future__ import annotations

import asyncio
import json
import os
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from PIL import Image

from jarvis_desktop.backends.local.backend import LocalBackend
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.context import current_draft, current_note
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import Call, TaskType
from jarvis_desktop.experts.weights import Weights
from jarvis_desktop.process.model_files import MARKER
from jarvis_desktop.tasks.definition import Definition
from tests.backends.tiny import WORDS, files_of
from tests.built import built_once
from tests.hub import running_hub

# Each of them starts a process that imports torch, twice or thrice: slow on a busy computer.
pytestmark = [pytest.mark.timeout(400), pytest.mark.usefixtures("warm_experts")]

GIVES = {
    "text-generation": Kind.TEXT,
    "translation": Kind.TEXT,
    "fill-mask": Kind.TEXT,
    "text-to-image": Kind.IMAGE,
}
DEFINITIONS = {name: Definition(TaskType(name, "", (), (kind,))) for name, kind in GIVES.items()}
FILES = ("*.json", "*.jinja", "*.spm", "*.safetensors", "pytorch_model.bin")


def nothing(fraction: float | None, words: str) -> None:
    pass


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny experts, built once a run, by another process."""
    return built_once(tmp_path_factory, "tests.backends.tiny")


@dataclass
class Road:
    """From the Hub to the result."""

    built: Path
    tmp_path: Path
    backend: LocalBackend
    weights: Weights
    reports: list[tuple[float | None, str]] = field(default_factory=list)

    async def fetch(self, name: str, task: str, **settings) -> Expert:
        """Fetch a tiny expert, with nothing of the folder it was built in."""
        expert = Expert(
            name, task, repo=f"tiny/{settings.pop('repo', name)}", files=FILES, **settings
        )
        with running_hub(repos={expert.repo: files_of(self.built / name)}) as hub:
            await Weights(self.tmp_path / "experts", endpoint=hub.address).fetch(expert, nothing)
        return expert

    def report(self, fraction: float | None, words: str) -> None:
        self.reports.append((fraction, words))

    async def run(self, expert: Expert, **given) -> Sequence[Artifact]:
        workdir = self.tmp_path / "work"
        workdir.mkdir(exist_ok=True)
        inputs, options = {}, {}
        for name, value in given.items():
            if isinstance(value, Artifact):
                inputs[name] = (value,)
            else:
                options[name] = value
        call = Call(expert.task, inputs, options, workdir)
        return await self.backend.run(Candidate(expert, "local"), call, self.report)

    async def text(self, expert: Expert, **given) -> str:
        (result,) = await self.run(expert, **given)
        assert result.kind is Kind.TEXT
        return result.text or ""


@pytest.fixture
async def road(built: Path, tmp_path: Path) -> AsyncIterator[Road]:
    weights = Weights(tmp_path / "experts")
    backend = LocalBackend(DEFINITIONS, weights)
    yield Road(built, tmp_path, backend, weights)
    await backend.close()


async def test_an_llm_answers_and_stays_in_memory_beside_another_expert(road):
    writer = await road.fetch("writer", "text-generation")
    prompt = text_artifact("what do you see ?")
    pieces: list[str] = []
    token = current_draft.set(pieces.append)
    first = await road.text(writer, prompt=prompt)
    current_draft.reset(token)
    assert len(pieces) > 20
    assert "".join(pieces) == first
    assert set(first.split()) <= set(WORDS)
    assert len(first.split()) > 20
    assert (None, "Loading writer") in road.reports
    assert any(words.endswith(" tokens") for _, words in road.reports)
    loads = road.reports.count((None, "Loading writer"))
    assert await road.text(writer, prompt=prompt) == first
    assert road.reports.count((None, "Loading writer")) == loads
    assert road.backend.holding == ("writer",)

    with pytest.raises(ExpertError, match="too long for writer"):
        await road.run(writer, prompt=text_artifact("the cat " * 60))

    filler = await road.fetch("gap_filler", "fill-mask")
    filled = await road.text(filler, text=text_artifact("the cat sat on the ___ ."))
    assert filled.splitlines()[0] == "the cat sat on the mat ."
    assert "Also possible: " in filled
    assert road.backend.holding == ("writer", "gap_filler")
    with pytest.raises(InputError, match="has no gap"):
        await road.run(filler, text=text_artifact("the cat sat"))


async def test_two_experts_that_do_not_fit_together_take_turns(road):
    """Their memory is measured where they run, and what goes out of it is said."""
    budget = 600 * MB
    backend = LocalBackend(DEFINITIONS, road.weights, budget=budget)
    crowded = replace(road, backend=backend)
    notes: list[str] = []
    current_note.set(notes.append)
    writer = await road.fetch("writer", "text-generation")
    filler = await road.fetch("gap_filler", "fill-mask")
    try:
        await crowded.text(writer, prompt=text_artifact("the cat"))
        assert 100 * MB < backend.held.main < budget
        filled = await crowded.text(filler, text=text_artifact("the cat sat on the ___ ."))
        assert filled.startswith("the cat sat on the mat .")
        assert backend.holding == ("gap_filler",)
        assert notes == ["writer was put out of memory to make room for gap_filler."]
        assert {name for name, _ in backend.measures.known()} == {"writer", "gap_filler"}
    finally:
        await backend.close()


async def test_opus_translates_its_own_direction_only(road):
    """Its weights come as a pickle, as most of OPUS-MT's do, and are installed as safetensors."""
    expert = await road.fetch("translator", "translation", languages=("en", "fr"), pickled=True)
    folder = road.weights.folder(expert)
    assert "model.safetensors" in json.loads((folder / MARKER).read_text())["files"]
    assert not any(path.suffix == ".bin" for path in folder.rglob("*"))
    text = text_artifact("The cat sat on the mat.\n\nA dog ran home.")
    pieces: list[str] = []
    token = current_draft.set(pieces.append)
    answer = await road.text(expert, text=text, language="French")
    current_draft.reset(token)
    assert (len(pieces), "".join(pieces)) == (2, answer)
    assert len(answer.split("\n\n")) == 2
    assert set(answer.split()) == {"chat"}
    with pytest.raises(ExpertError, match="translates into French, not into German"):
        await road.run(expert, text=text, language="german")
    russian = text_artifact("Это довольно длинный русский текст о погоде и о собаках.")
    with pytest.raises(ExpertError, match="translates from English"):
        await road.run(expert, text=russian, language="fr")
    with pytest.raises(InputError, match="Klingon is not a known language"):
        await road.run(expert, text=text, language="Klingon")


async def test_words_become_a_picture(road):
    expert = await road.fetch("painter", "text-to-image", repo="painter-turbo")
    (result,) = await road.run(expert, prompt=text_artifact("a castle"))
    with Image.open(result.path) as image:
        assert image.format == "PNG"
        assert image.size == (16, 16)
    assert any(fraction == 1.0 and "Step" in words for fraction, words in road.reports)


async def test_files_of_another_kind_of_expert_are_told(road):
    expert = replace(await road.fetch("gap_filler", "fill-mask"), task="translation")
    with pytest.raises(ExpertError, match=r"gap_filler could not be loaded \(\w+\): ") as caught:
        await road.run(expert, text=text_artifact("a cat"), language="fr")
    assert "experts remove gap_filler" in caught.value.hint
    assert not caught.value.retryable


async def test_one_changed_byte_is_found_before_loading(road):
    expert = await road.fetch("gap_filler", "fill-mask")
    path = road.weights.folder(expert) / "model.safetensors"
    body = bytearray(path.read_bytes())
    body[-3] ^= 1
    path.write_bytes(body)
    with pytest.raises(ExpertError, match=r"damaged: model\.safetensors is not as it was fetched"):
        await road.run(expert, text=text_artifact("the ___ ."))


@dataclass
class Folder:
    path: Path | None

    def folder(self, expert: Expert) -> Path | None:
        return self.path

    def used(self, expert: Expert) -> None:
        """Nobody cleans up here."""


def marked(folder: Path, config: object) -> Path:
    """A folder with a true marker and nothing but a configuration."""
    import hashlib

    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(config))
    digest = hashlib.sha256((folder / "config.json").read_bytes()).hexdigest()
    marker = {"files": {"config.json": {"size": 1, "sha256": digest}}}
    (folder / MARKER).write_text(json.dumps(marker))
    return folder


@pytest.mark.parametrize(
    "config",
    [
        {"model_type": "llama", "_attn_implementation": "someone/kernel"},
        {"model_type": "x", "text_config": [{"attn_implementation": "someone/kernel"}]},
    ],
)
async def test_a_configuration_that_would_fetch_code_is_refused(tmp_path, config):
    backend = LocalBackend(DEFINITIONS, Folder(marked(tmp_path / "hostile", config)))
    try:
        with pytest.raises(ExpertError, match="asks for code from the Hub"):
            await backend.run(
                Candidate(Expert("hostile", "fill-mask"), "local"),
                Call("fill-mask", {}, {}, tmp_path),
                nothing,
            )
    finally:
        await backend.close()


async def test_an_expert_that_is_not_there_or_not_possible_is_refused_with_what_to_do(tmp_path):
    backend = LocalBackend(DEFINITIONS, Weights(tmp_path))
    call = Call("fill-mask", {}, {}, tmp_path)
    with pytest.raises(UnavailableError, match="is not on this computer") as caught:
        await backend.run(Candidate(Expert("absent", "fill-mask"), "local"), call, nothing)
    assert "experts pull absent" in caught.value.hint
    backend = LocalBackend(DEFINITIONS, Folder(tmp_path))
    beyond = Call("time-travel", {}, {}, tmp_path)
    with pytest.raises(UnavailableError, match="cannot be run by this version"):
        await backend.run(Candidate(Expert("delorean", "time-travel"), "local"), beyond, nothing)
    assert backend.question(call) == ""
    assert backend.holding == ()


async def test_an_idle_expert_leaves_the_memory(tmp_path):
    folder = Folder(marked(tmp_path / "hostile", {"attn_implementation": "someone/kernel"}))
    backend = LocalBackend(DEFINITIONS, folder, idle=0.05)
    expert = Expert("hostile", "fill-mask")
    with pytest.raises(ExpertError):
        await backend.run(Candidate(expert, "local"), Call("fill-mask", {}, {}, tmp_path), nothing)
    assert backend.holding == ("hostile",)  # a refusal does not end the process
    async with asyncio.timeout(60):
        while backend.holding:
            await asyncio.sleep(0.01)


async def test_closing_leaves_no_process(tmp_path):
    folder = Folder(marked(tmp_path / "hostile", {"attn_implementation": "someone/kernel"}))
    backend = LocalBackend(DEFINITIONS, folder)
    candidate = Candidate(Expert("hostile", "fill-mask"), "local")
    with pytest.raises(ExpertError):
        await backend.run(candidate, Call("fill-mask", {}, {}, tmp_path), nothing)
    (held,) = backend._residency.held
    pid = held.process.pid
    assert pid
    await backend.close()
    assert backend.holding == ()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


async def test_cancelling_ends_the_process(road):
    expert = await road.fetch("writer", "text-generation")
    loading = asyncio.Event()

    def report(fraction: float | None, words: str) -> None:
        loading.set()

    call = Call("text-generation", {"prompt": (text_artifact("the"),)}, {}, road.tmp_path)
    running = asyncio.create_task(road.backend.run(Candidate(expert, "local"), call, report))
    await loading.wait()
    assert road.backend.holding == ("writer",)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert road.backend.holding == ()


@pytest.mark.parametrize(
    ("task", "runs"),
    [("translation", True), ("time-travel", False), ("tabular-classification", False)],
)
def test_it_says_honestly_what_it_can_run(task, runs):
    assert LocalBackend.can_run(Expert("x", task)) is runs


async def test_without_torch_it_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.setattr("jarvis_desktop.process.engine.find_spec", lambda name: None)
    monkeypatch.setattr("jarvis_desktop.process.engine._installed", lambda: None)
    expert = Expert("x", "text-to-image")
    call = Call("text-to-image", {}, {}, tmp_path)
    with pytest.raises(UnavailableError, match="x needs torch") as caught:
        await LocalBackend(DEFINITIONS, Folder(None)).run(Candidate(expert, "local"), call, nothing)
    assert caught.value.hint == "jarvis-desktop engine install"
