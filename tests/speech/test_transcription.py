import asyncio
import logging
from pathlib import Path
from typing import Any

import pytest

from jarvis_desktop.core.errors import ExpertError, InputError, UnavailableError
from jarvis_desktop.process.child import Child
from jarvis_desktop.speech import transcription as module
from jarvis_desktop.speech.recogniser import LocalRecogniser
from jarvis_desktop.speech.streaming import EngineRoute
from jarvis_desktop.speech.transcription import FileTranscriber

CPU, CARD = ("cpu", "int8"), ("cuda", "float16")


def quiet(fraction, message):
    pass


def transcriber(*processors: tuple[str, str], **settings: Any) -> FileTranscriber:
    async def roads(whisper):
        setting = None, ("Ada", "Bob")
        found = [
            EngineRoute(whisper, (Path("weights"), *setting, *at), "broken", "crashed")
            for at in processors
        ]
        return [*found, EngineRoute(whisper, (Path("shipped"), *setting, *CPU))]

    return FileTranscriber(roads, whisper="tests.speech.file_engines:scripted", **settings)


@pytest.fixture
async def make():
    made = []

    def make(*processors, **settings):
        made.append(transcriber(*processors, **settings))
        return made[-1]

    yield make
    for each in made:
        await each.close()


def recording(folder: Path, script: str = "") -> Path:
    path = folder / "talk.mp3"
    path.write_text(script or "fine")
    return path


def heads(transcript) -> list[str]:
    """What each segment says, without how it was asked for."""
    return [segment.text.rpartition(" ")[0] for segment in transcript.segments]


ALL = [f"word {at}" for at in range(6)]


async def test_windows_are_recognised_together_and_what_was_found_is_told_as_it_comes(
    make, tmp_path
):
    told, seen = [], []
    heard = await make(CPU).transcribe(
        recording(tmp_path),
        lambda *progress: told.append(progress),
        found=lambda segments: seen.append(len(segments)),
    )
    assert heads(heard) == ALL
    assert heard.text.startswith("word 0 None/cpu/4/Ada+Bob/False word 1")
    assert heard.segments[4].text == "word 4 fr/cpu/2/Ada+Bob/False"  # the language is found once
    assert (heard.engine, heard.language, heard.note) == ("whisper", "fr", "")
    assert seen == [4, 6]
    assert told == [(0.0, "listening"), (0.625, "1:15 of 2:00"), (115 / 120, "1:55 of 2:00")]


async def test_the_language_and_times_of_words_are_asked_for(make, tmp_path):
    heard = await make(CARD).transcribe(recording(tmp_path), quiet, language="de", words=True)
    assert heard.segments[0].text == "word 0 de/cuda/6/Ada+Bob/True"
    assert heard.language == "de"


async def test_a_short_recording_is_recognised_window_by_window(make, tmp_path):
    heard = await make(CPU).transcribe(recording(tmp_path, "short"), quiet)
    assert [segment.text.split("/")[2] for segment in heard.segments] == ["1", "1"]


async def test_where_most_is_decoded_twice_the_rest_is_recognised_window_by_window(make, tmp_path):
    heard = await make(CPU).transcribe(recording(tmp_path, "doubtful"), quiet)
    assert [segment.text.split("/")[2] for segment in heard.segments] == ["4"] * 4 + ["1"] * 2


@pytest.mark.parametrize("script", ["together", "crash 4 together"])
async def test_what_fails_together_is_tried_one_by_one(make, tmp_path, script, caplog):
    with caplog.at_level(logging.INFO):
        heard = await make(CPU).transcribe(recording(tmp_path, script), quiet)
    assert heads(heard) == ALL
    assert heard.note == ("crashed" if "crash" in script else "")


async def test_a_card_that_fails_leaves_the_rest_to_the_processor(make, tmp_path, caplog):
    with caplog.at_level(logging.INFO):
        heard = await make(CARD, CPU).transcribe(recording(tmp_path, "cuda"), quiet)
    assert heads(heard) == ALL
    assert heard.note == "crashed"
    assert "another recogniser takes over" in caplog.text


async def test_what_was_found_before_a_crash_is_not_done_again(make, tmp_path, caplog):
    seen = []
    with caplog.at_level(logging.INFO):
        heard = await make(CPU).transcribe(
            recording(tmp_path, "together crash 3"),
            quiet,
            found=lambda segments: seen.append([each.text[:6] for each in segments]),
        )
    assert seen == [ALL[:count] for count in range(1, 7)]
    assert heads(heard) == ALL


async def test_a_hung_engine_is_ended(make, tmp_path, monkeypatch, caplog):
    monkeypatch.setattr(module, "START_SECONDS", 2.0)
    monkeypatch.setattr(module, "SECONDS_PER_SECOND", 0.0)
    monkeypatch.setattr(module, "BYTES_PER_SECOND", 0.2)  # the start, a minute, does not hang
    with caplog.at_level(logging.INFO):
        heard = await make(CPU).transcribe(recording(tmp_path, "short hang 0"), quiet)
    assert heard.note == "crashed"


async def test_cancelling_ends_the_work_and_the_next_recording_is_heard(make, tmp_path):
    files = make(CPU)
    begun = asyncio.Event()
    path = recording(tmp_path, "hang 4")
    work = asyncio.create_task(files.transcribe(path, quiet, found=lambda found: begun.set()))
    await begun.wait()
    work.cancel()
    with pytest.raises(asyncio.CancelledError):
        await work
    assert heads(await files.transcribe(recording(tmp_path), quiet)) == ALL


async def test_nobody_speaking_and_no_file_are_said(make, tmp_path):
    files = make(CPU)
    with pytest.raises(InputError, match=r"Nobody seems to speak in talk\.mp3"):
        await files.transcribe(recording(tmp_path, "quiet"), quiet)
    with pytest.raises(InputError, match=r"no recording gone\.mp3"):
        await files.transcribe(tmp_path / "gone.mp3", quiet)


async def test_the_processes_end_when_nothing_is_to_do(make, tmp_path):
    files = make(CPU, idle_seconds=0.0)
    await files.transcribe(recording(tmp_path), quiet)
    assert files._whisper.pid
    while files._whisper.pid:
        await asyncio.sleep(0.01)


async def test_where_all_fail_the_last_reason_is_given(tmp_path):
    async def roads(whisper):
        return [EngineRoute(whisper, (Path("shipped"), None, (), *CPU))]

    files = FileTranscriber(roads, whisper="tests.speech.engines:aborting")
    try:
        with pytest.raises(ExpertError, match="stopped unexpectedly"):
            await files.transcribe(recording(tmp_path), quiet)
    finally:
        await files.close()


async def test_longer_recordings_do_not_keep_live_speech_waiting(tmp_path):
    recogniser = LocalRecogniser(whisper="tests.speech.file_engines:wordy")
    recogniser.files._whisper = Child("tests.speech.file_engines:scripted", name="of files")
    try:
        # By what is said in it, and by its size, for which it need not be opened.
        heard = await recogniser.transcribe(recording(tmp_path), quiet)
        assert heads(heard) == ALL
        live = recogniser._whisper
        assert live.pid
        live.kill()
        await recogniser.transcribe(recording(tmp_path, "x" * 2_000_001), quiet)
        assert live.pid is None
    finally:
        await recogniser.close()


async def test_where_whisper_runs_is_found_out_before_it_first_does(tmp_path):
    looked: list[Path] = []

    async def look(weights: Path) -> tuple[str, str] | None:
        looked.append(weights)
        return None if weights == live else CARD  # those are broken

    live, slow = tmp_path / "live", tmp_path / "slow"
    recogniser = LocalRecogniser(
        find_weights=lambda: live, find_file_weights=lambda: slow, look=look
    )
    try:
        with pytest.raises(UnavailableError, match="The Whisper weights in live"):
            await recogniser.warm()
        with pytest.raises(InputError, match="cannot be read as sound"):
            await recogniser.files.transcribe(recording(tmp_path), quiet)
        with pytest.raises(UnavailableError, match="The Whisper weights in live"):
            await recogniser.warm()
    finally:
        await recogniser.close()
    assert looked == [live, slow]
    assert recogniser.processor == CARD
