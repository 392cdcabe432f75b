"""A real recogniser, and real voices that it understands."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import build_recogniser
import jiwer
import pytest

from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.placement import MB
from jarvis_desktop.paths import shipped
from jarvis_desktop.settings import LLMSettings, Settings, SpeechSettings
from jarvis_desktop.speech.recogniser import SHIPPED
from jarvis_desktop.speech.voices.engine import import_voice
from tests.real.conftest import Build, RealWeightsFolder, imported
from tests.real.facts import check_download, child_that_maps, peak_bytes
from tests.scenarios.conftest import Person

pytestmark = pytest.mark.asyncio(loop_scope="session")

SAID = "Read the text in this picture, summarise it, and say the summary out loud."
MOST_WRONG = 0.15
"""The share of words that may be wrong, in a recording of a synthetic voice."""
PLAIN = jiwer.Compose(
    [
        jiwer.ToLowerCase(),
        jiwer.RemovePunctuation(),
        jiwer.SubstituteWords({"summarise": "summarize"}),
        jiwer.ReduceToListOfListOfWords(),
    ]
)


def wrong_words(said: str, heard: str) -> float:
    return float(jiwer.wer(said, heard, reference_transform=PLAIN, hypothesis_transform=PLAIN))


async def transcript(person: Person, recording: Path) -> str:
    """What the application writes down, without our own words around it."""
    shutil.copy(recording, person.folder / "note.wav")
    turn = await person.ask("Transcribe this recording", "note.wav")
    assert turn.status is Status.DONE
    (result,) = turn.results.values()
    assert result.artifacts[0].text
    return result.artifacts[0].text


@pytest.mark.real
async def test_the_shipped_weights_are_built_out_of_the_real_ones(
    weights_of: RealWeightsFolder, tmp_path: Path
) -> None:
    build_recogniser.build(weights_of(build_recogniser.SOURCE), tmp_path / "built")
    for path in (tmp_path / "built").iterdir():
        assert path.read_bytes() == (SHIPPED / path.name).read_bytes(), path.name


@pytest.mark.real_large
async def test_a_recording_is_written_down(
    build_app: Build, weights_of: RealWeightsFolder, tmp_path: Path
) -> None:
    app = build_app(settings(language="en"))
    expert = await imported(app, weights_of("whisper-base"))
    assert expert.id == "whisper-base"
    heard = await transcript(Person(app, tmp_path), shipped("resources", "sample", "request.wav"))
    assert wrong_words(SAID, heard) <= MOST_WRONG, heard
    check_download(app, expert, "whisper-base")
    if sys.platform == "linux":
        taken = peak_bytes(child_that_maps("ctranslate2"))
        assert 0.25 * expert.memory_mb * MB < taken < expert.memory_mb * MB, taken


@pytest.mark.real_large
@pytest.mark.parametrize("engine", ["kokoro", "piper"])
async def test_speech_is_understood(
    build_app: Build, weights_of: RealWeightsFolder, tmp_path: Path, engine: str
) -> None:
    if engine == "piper" and shutil.which("piper") is None:
        pytest.skip("the program piper is not installed")
    app = build_app(settings(language="en", engine=engine))
    await imported(app, weights_of("whisper-base"))
    assert import_voice(weights_of(engine), app.paths.weights) == engine
    said = "The meeting begins at half past nine and the train leaves from platform four."
    spoken = await app.voice.synthesise(said, tmp_path / "spoken.wav")
    heard = await transcript(Person(app, tmp_path), spoken)
    assert wrong_words(said, heard) <= 0.3, heard


def settings(**speech: object) -> Settings:
    return Settings(
        processes=2, llm=LLMSettings(provider="none"), speech=SpeechSettings.model_validate(speech)
    )
