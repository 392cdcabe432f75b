"""The local road as it is: fetched from a Hub on loopback, loaded, run, the result an artifact."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock
from PIL import Image

from jarvis_desktop.backends.local import LocalBackend, usual_lane
from jarvis_desktop.catalogue.weights import MARKER, Weights
from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.call import Call
from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.tasks.definition import Definition
from tests.backends.tiny import WORDS, files_of
from tests.fakes import write_wav
from tests.hub import running_hub

# Each of them starts a process that imports torch, twice or thrice: slow on a busy computer.
pytestmark = pytest.mark.timeout(400)

GIVES = {
    "text-generation": Kind.TEXT,
    "translation": Kind.TEXT,
    "summarization": Kind.TEXT,
    "zero-shot-classification": Kind.TEXT,
    "fill-mask": Kind.TEXT,
    "depth-estimation": Kind.IMAGE,
    "visual-question-answering": Kind.TEXT,
    "text-to-image": Kind.IMAGE,
    "audio-classification": Kind.TEXT,
}
DEFINITIONS = {name: Definition(TaskType(name, "", (), (kind,))) for name, kind in GIVES.items()}
FILES = ("*.json", "*.jinja", "*.spm", "*.safetensors", "pytorch_model.bin")


def nothing(fraction: float | None, words: str) -> None:
    pass


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tiny experts, built once a run, by another process."""
    base = tmp_path_factory.getbasetemp()
    # Every pytest-xdist worker has a folder of its own inside that of the run.
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "built"
    with FileLock(root.with_suffix(".lock")):
        if not (root / "done").exists():
            subprocess.run(
                [sys.executable, "-W", "ignore", "-m", "tests.backends.tiny", str(root)],
                check=True,
                cwd=Path(__file__).parents[2],
                env={**os.environ, "HF_HUB_OFFLINE": "1", "HF_HOME": str(root / "none")},
                capture_output=True,
            )
            (root / "done").touch()
    return root


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


@pytest.fixture
def picture(tmp_path: Path) -> Artifact:
    path = tmp_path / "photo.jpg"
    Image.fromarray(np.arange(60 * 80 * 3).reshape(60, 80, 3).astype(np.uint8)).save(path)
    return Artifact(Kind.IMAGE, path=path)


async def test_an_llm_answers_and_stays_in_memory_until_another_expert_comes(road):
    writer = await road.fetch("writer", "text-generation")
    prompt = text_artifact("what do you see ?")
    first = await road.text(writer, prompt=prompt)
    assert set(first.split()) <= set(WORDS)
    assert len(first.split()) > 20
    assert (None, "loading writer") in road.reports
    assert any(words.endswith(" tokens") for _, words in road.reports)
    loads = road.reports.count((None, "loading writer"))
    assert await road.text(writer, prompt=prompt) == first
    assert road.reports.count((None, "loading writer")) == loads
    assert road.backend.holding == "writer"

    with pytest.raises(ExpertError, match="too long for writer"):
        await road.run(writer, prompt=text_artifact("the cat " * 60))

    filler = await road.fetch("gap_filler", "fill-mask")
    filled = await road.text(filler, text=text_artifact("the cat sat on the ___ ."))
    assert filled.splitlines()[0] == "the cat sat on the mat ."
    assert "Also possible: " in filled
    assert road.backend.holding == "gap_filler"
    with pytest.raises(InputError, match="has no gap"):
        await road.run(filler, text=text_artifact("the cat sat"))


async def test_opus_translates_its_own_direction_only(road):
    """Its weights come as a pickle, as most of OPUS-MT's do, and are installed as safetensors."""
    expert = await road.fetch("translator", "translation", languages=("en", "fr"))
    folder = road.weights.folder(expert)
    assert "model.safetensors" in json.loads((folder / MARKER).read_text())["files"]
    assert not any(path.suffix == ".bin" for path in folder.rglob("*"))
    text = text_artifact("The cat sat on the mat.\n\nA dog ran home.")
    answer = await road.text(expert, text=text, language="French")
    assert len(answer.split("\n\n")) == 2
    assert set(answer.split()) == {"chat"}
    with pytest.raises(ExpertError, match="translates into French, not into German"):
        await road.run(expert, text=text, language="german")
    russian = text_artifact("Это довольно длинный русский текст о погоде и о собаках.")
    with pytest.raises(ExpertError, match="translates from English"):
        await road.run(expert, text=russian, language="fr")
    with pytest.raises(InputError, match="Klingon is not a language"):
        await road.run(expert, text=text, language="Klingon")


async def test_nllb_translates_between_many(road):
    expert = await road.fetch("polyglot", "translation", languages=("*",))
    answer = await road.text(expert, text=text_artifact("The cat sat."), language="German")
    assert set(answer.split()) == {"chat"}


async def test_a_text_longer_than_the_expert_takes_is_summarised_in_parts(road):
    expert = await road.fetch("summariser", "summarization")
    text = text_artifact("the cat sat on the mat and a dog ran home . " * 30)
    answer = await road.text(expert, text=text, sentences=3)
    assert set(answer.split()) == {"home"}
    assert len([words for _, words in road.reports if words.startswith("part ")]) > 3


async def test_a_text_is_sorted_under_the_labels_that_were_named(road):
    expert = await road.fetch("sorter", "zero-shot-classification")
    text = text_artifact("the dog ran")
    lines = (await road.text(expert, text=text, labels="sport, politics, cat")).splitlines()
    shares = [int(line.split(": ")[1].rstrip("%")) for line in lines]
    assert {line.split(":")[0] for line in lines} == {"sport", "politics", "cat"}
    assert shares == sorted(shares, reverse=True)
    assert 98 <= sum(shares) <= 102
    with pytest.raises(InputError, match="at least two labels"):
        await road.run(expert, text=text, labels="sport")


async def test_depth_becomes_a_grey_picture_of_the_same_size(road, picture):
    expert = await road.fetch("depth", "depth-estimation")
    (result,) = await road.run(expert, image=picture)
    with Image.open(result.path) as image:
        assert (image.mode, image.size) == ("L", (80, 60))
        assert image.getextrema() == (0, 255)
    assert result.name == "photo-depth.png"
    note = road.tmp_path / "note.png"
    note.write_text("http://127.0.0.1/x.png")
    with pytest.raises(InputError, match=r"note\.png is not a picture"):
        await road.run(expert, image=Artifact(Kind.IMAGE, path=note))


async def test_a_question_about_a_picture_is_answered(road, picture):
    expert = await road.fetch("viewer", "visual-question-answering")
    answer = await road.text(expert, image=picture, question=text_artifact("what do you see ?"))
    assert answer
    assert set(answer.split()) <= set(WORDS)


async def test_a_sound_is_named(road):
    expert = await road.fetch("listener", "audio-classification")
    recording = write_wav(road.tmp_path / "bark.wav", seconds=0.5, rate=44100)
    answer = await road.text(expert, audio=Artifact(Kind.AUDIO, path=recording))
    assert answer.splitlines()[0] == "Dog: 100%"
    assert len(answer.splitlines()) == 3


async def test_words_become_a_picture(road):
    expert = await road.fetch("painter", "text-to-image", repo="painter-turbo")
    (result,) = await road.run(expert, prompt=text_artifact("a castle"))
    with Image.open(result.path) as image:
        assert image.format == "PNG"
        assert image.size == (16, 16)
    assert (1.0, "step 1 of 1") in road.reports


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
    path: Path

    def folder(self, expert: Expert) -> Path | None:
        return self.path


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
    with pytest.raises(UnavailableError, match="cannot be run by this version"):
        await backend.run(Candidate(Expert("film", "text-to-video"), "local"), call, nothing)
    assert backend.question(call) == ""
    assert backend.holding == ""


async def test_an_idle_expert_leaves_the_memory(tmp_path):
    folder = Folder(marked(tmp_path / "hostile", {"attn_implementation": "someone/kernel"}))
    backend = LocalBackend(DEFINITIONS, folder, idle=0.05)
    expert = Expert("hostile", "fill-mask")
    with pytest.raises(ExpertError):
        await backend.run(Candidate(expert, "local"), Call("fill-mask", {}, {}, tmp_path), nothing)
    assert backend.holding == "hostile"  # a refusal does not end the process
    async with asyncio.timeout(20):
        while backend.holding:
            await asyncio.sleep(0.01)


async def test_closing_leaves_no_process(tmp_path):
    folder = Folder(marked(tmp_path / "hostile", {"attn_implementation": "someone/kernel"}))
    backend = LocalBackend(DEFINITIONS, folder)
    candidate = Candidate(Expert("hostile", "fill-mask"), "local")
    with pytest.raises(ExpertError):
        await backend.run(candidate, Call("fill-mask", {}, {}, tmp_path), nothing)
    assert backend._child
    pid = backend._child.pid
    assert pid
    await backend.close()
    assert backend.holding == ""
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
    assert road.backend.holding == "writer"
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert road.backend.holding == ""


@pytest.mark.parametrize(
    ("task", "runs"),
    [("translation", True), ("text-to-video", False), ("automatic-speech-recognition", False)],
)
def test_it_says_honestly_what_it_can_run(task, runs):
    assert LocalBackend.can_run(Expert("x", task)) is runs


def test_drawing_needs_a_library_that_may_be_missing(monkeypatch):
    expert = Expert("x", "text-to-image")
    assert LocalBackend.can_run(expert)
    found: Callable[[str], object] = lambda name: None  # noqa: E731
    monkeypatch.setattr("importlib.util.find_spec", found)
    assert not LocalBackend.can_run(expert)


def test_the_lane_is_one_of_two():
    assert usual_lane() in {"cpu", "gpu"}
