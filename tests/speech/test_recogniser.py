import asyncio
import hashlib
import logging
import re
from pathlib import Path

import numpy as np
import pytest
import pytest_asyncio

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.speech import streaming
from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.recogniser import (
    BROKEN_NOTE,
    CRASHED_NOTE,
    SHIPPED,
    LocalRecogniser,
)
from tests.synthetic_speech import speak, spoken, write

DEAF = "tests.speech.engines:deaf"


def quiet(fraction, message):
    pass


@pytest.fixture
async def recogniser():
    recogniser = LocalRecogniser()
    yield recogniser
    await recogniser.close()


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def listener():
    """One that has loaded its weights, for the tests that do not change it."""
    recogniser = LocalRecogniser()
    await recogniser.warm()
    yield recogniser
    await recogniser.close()


@pytest.fixture
async def stand_in():
    recogniser = LocalRecogniser(whisper=DEAF)
    yield recogniser
    await recogniser.close()


def plain(text):
    return re.findall(r"\w+", text.casefold())


def test_the_shipped_weights_are_those_that_their_card_names():
    card = (SHIPPED / "README.md").read_text()
    named = dict(re.findall(r"^\| `([\w.]+)` \| `(\w{64})` \|", card, re.MULTILINE))
    files = {path.name for path in SHIPPED.iterdir()} - {"README.md", "LICENSE"}
    assert set(named) == files
    for name, digest in named.items():
        with (SHIPPED / name).open("rb") as file:
            assert hashlib.file_digest(file, "sha256").hexdigest() == digest
    assert sum(path.stat().st_size for path in SHIPPED.iterdir()) < 45_000_000


@pytest.mark.asyncio(loop_scope="module")
async def test_requests_are_understood_with_nothing_downloaded(listener, tmp_path):
    ready = listener._whisper.pid
    weights, seconds = listener.measured
    assert weights == SHIPPED
    assert seconds > 0
    told = []
    requests = (
        "set a timer for six seconds",
        "summarize the report and read it to me",
        "read the text in this picture",
    )
    for said in requests:
        audio = speak(said, tmp_path / "request.wav")
        heard = await listener.transcribe(audio, lambda *progress: told.append(progress))
        assert plain(heard.text) == plain(said)
        assert (heard.engine, heard.language, heard.note) == ("whisper", "en", "")
    assert told[-1][0] == 1.0
    assert listener._whisper.pid == ready


async def test_another_language_needs_another_recogniser_and_one_is_named(recogniser, tmp_path):
    recogniser.choose(language="de")
    audio = speak("Wie spät ist es?", tmp_path / "german.wav", voice="de")
    hearing = recogniser.hear()
    for hears in (
        recogniser.transcribe(audio, quiet),
        recogniser.files.transcribe(audio, quiet),
        hearing.finish(),
    ):
        with pytest.raises(UnavailableError, match="understands English only") as caught:
            await hears
        assert "experts pull whisper-base" in caught.value.hint


@pytest.mark.asyncio(loop_scope="module")
async def test_pauses_end_the_segments_of_long_speech(listener, tmp_path):
    said = "the old man sat on the bench in the park and watched the children play in the sand"
    one = spoken(said, before=0, after=1.6)
    heard = await listener.transcribe(write(np.tile(one, 3), tmp_path / "long.wav"), quiet)
    starts = [segment.start for segment in heard.segments]
    assert np.diff(starts) == pytest.approx([len(one) / RATE] * 2, abs=0.4)
    assert heard.text.count("children") == 3


@pytest.mark.asyncio(loop_scope="module")
async def test_music_and_noise_are_refused_with_a_reason(listener, tmp_path):
    noise = np.random.default_rng(0).standard_normal(2 * RATE) * 0.1
    with pytest.raises(InputError, match=r"Nobody seems to speak in noise\.wav"):
        await listener.transcribe(write(noise, tmp_path / "noise.wav"), quiet)


async def test_better_weights_are_used_as_soon_as_they_are_there(tmp_path):
    weights: list[Path] = []
    recogniser = LocalRecogniser(find_weights=lambda: weights[0] if weights else None, whisper=DEAF)
    try:
        before = recogniser._live_routes()
        weights.append(tmp_path)
        after = recogniser._live_routes()
    finally:
        await recogniser.close()
    assert [route.setting[0] for route in before] == [SHIPPED]
    assert [route.setting[0] for route in after] == [tmp_path, SHIPPED]


async def test_broken_weights_are_replaced_by_the_shipped_ones_and_said(tmp_path):
    broken = tmp_path / "whisper-base"
    broken.mkdir()
    recogniser = LocalRecogniser(find_weights=lambda: broken)
    audio = speak("what time is it", tmp_path / "question.wav")
    try:
        missing = await recogniser.transcribe(audio, quiet)
        for name in ("model.bin", "config.json", "tokenizer.json"):
            (broken / name).write_text("{}")
        garbage = await recogniser.transcribe(audio, quiet)
        file = await recogniser.files.transcribe(audio, quiet)
    finally:
        await recogniser.close()
    for heard in (missing, garbage, file):
        assert heard.text == "What time is it?"
        assert heard.note == BROKEN_NOTE.format(name="whisper-base")


@pytest.mark.parametrize("damage", ["missing", "cut off"])
async def test_without_the_shipped_weights_the_reason_is_told(tmp_path, damage):
    if damage == "cut off":
        for path in SHIPPED.iterdir():
            (tmp_path / path.name).write_bytes(path.read_bytes()[:1000])
    recogniser = LocalRecogniser(shipped=tmp_path)
    audio = speak("what time is it", tmp_path / "question.wav")
    try:
        with pytest.raises(UnavailableError, match="The Whisper weights") as caught:
            await recogniser.transcribe(audio, quiet)
        hearing = recogniser.hear()
        hearing.add(bytes(2 * RATE))
        with pytest.raises(UnavailableError, match="cannot be used"):
            await hearing.finish()
    finally:
        await recogniser.close()
    assert caught.value.hint


async def test_a_crashing_whisper_is_said(tmp_path, caplog):
    recogniser = LocalRecogniser(find_weights=lambda: tmp_path, whisper=DEAF)
    (tmp_path / "a.wav").write_text("crash own!")
    try:
        with caplog.at_level(logging.INFO):
            heard = await recogniser.transcribe(tmp_path / "a.wav", quiet)
    finally:
        await recogniser.close()
    assert heard.engine == "stand-in"
    assert heard.note == CRASHED_NOTE.format(name=tmp_path.name)
    assert "another recogniser takes over: ExpertError" in caplog.text


async def test_cancelling_ends_the_work_and_the_next_call_works(stand_in, tmp_path):
    (tmp_path / "a.wav").write_text("hang")
    (tmp_path / "b.wav").write_text("speak")
    listening = asyncio.Event()
    hearing = asyncio.create_task(
        stand_in.transcribe(tmp_path / "a.wav", lambda *progress: listening.set())
    )
    await listening.wait()
    hearing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await hearing
    assert (await stand_in.transcribe(tmp_path / "b.wav", quiet)).text == "heard"


async def test_a_hung_engine_is_ended(stand_in, tmp_path, monkeypatch):
    monkeypatch.setattr(streaming, "START_SECONDS", 1.0)
    monkeypatch.setattr(streaming, "MIN_LIMIT", 1.0)
    (tmp_path / "a.wav").write_text("hang")
    with pytest.raises(ExpertError, match="no answer within 1 second"):
        await stand_in.transcribe(tmp_path / "a.wav", quiet)


async def test_a_crashed_engine_is_started_anew(stand_in, tmp_path):
    (tmp_path / "a.wav").write_text("crash!")
    (tmp_path / "b.wav").write_text("speak")
    with pytest.raises(ExpertError, match="stopped unexpectedly"):
        await stand_in.transcribe(tmp_path / "a.wav", quiet)
    assert (await stand_in.transcribe(tmp_path / "b.wav", quiet)).text == "heard"


@pytest.mark.asyncio(loop_scope="module")
async def test_two_recordings_at_once_are_not_mixed_up(listener, tmp_path):
    one = speak("what time is it", tmp_path / "one.wav")
    two = speak("set a timer for six minutes", tmp_path / "two.wav")
    heard = await asyncio.gather(listener.transcribe(one, quiet), listener.transcribe(two, quiet))
    assert heard[0].text.startswith("What")
    assert heard[1].text.startswith("Set a timer")
