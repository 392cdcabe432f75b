"""Speech written down and sounds named, by tiny experts that are really run."""

from __future__ import annotations

import numpy as np
import pytest

from jarvis_desktop.backends.local.pipelines.text_classification import stretches
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.tasks.audio.media import write_wav
from jarvis_desktop.tasks.everyday.save_file import bring_into

ASR, NAMED = "automatic-speech-recognition", "audio-classification"


@pytest.fixture
def recording(tmp_path):
    """A sound of so many seconds, in stereo at 44.1 kHz if that is wanted, in any format."""

    def make(seconds: float, ending: str = ".wav", *, rate: int = 16_000, channels: int = 1):
        count = max(int(seconds * rate), 1)
        noise = np.random.default_rng(1).normal(0, 0.1, (channels, count)).astype(np.float32)
        path = write_wav(tmp_path / "sound.wav", noise, rate)
        if ending == ".wav":
            return path
        return bring_into(Artifact(Kind.AUDIO, path=path), ending, tmp_path, lambda *_: None)

    return make


@pytest.mark.parametrize("builder", ["speller", "scribe", "moonshine"])
def test_speech_is_written_down(bench, recording, builder):
    said = bench.text(ASR, f"tiny_sound:{builder}", {"audio": recording(1.0)})
    assert set(said.replace("A", "cat").split()) == {"cat"}
    assert bench.text(ASR, f"tiny_sound:{builder}", {"audio": recording(1.0)}) == said


@pytest.mark.parametrize("ending", [".mp3", ".m4a", ".ogg"])
def test_any_sound_is_brought_to_what_the_expert_takes(bench, recording, ending):
    path = recording(1.0, ending, rate=44_100, channels=2)
    assert bench.text(ASR, "tiny_sound:speller", {"audio": path}) == "A"
    assert bench.text(NAMED, "tiny_sound:wave_namer", {"audio": path}).startswith("dog: 100%")


@pytest.mark.parametrize("seconds", [0.0, 0.1])
def test_a_moment_of_sound_is_enough_to_be_asked_about(bench, recording, seconds):
    assert bench.text(ASR, "tiny_sound:speller", {"audio": recording(seconds)}) == "A"
    assert bench.text(NAMED, "tiny_sound:wave_namer", {"audio": recording(seconds)})
    assert bench.text(NAMED, "tiny_media:listener", {"audio": recording(seconds)})


def test_a_long_recording_is_heard_in_parts_with_their_times(bench, recording):
    path = recording(70.0)
    said = bench.text(ASR, "tiny_sound:speller", {"audio": path}, options={"timestamps": True})
    lines = said.splitlines()
    assert len(lines) == 4
    assert lines[0] == "[0:00] A"
    starts = [line.split("]")[0][1:] for line in lines]
    assert starts == sorted(starts)
    assert bench.text(ASR, "tiny_sound:speller", {"audio": path}) == "A A A A"
    assert any(words.endswith("of 70 seconds") for _, words in bench.reports)


def test_nothing_is_invented_where_it_is_silent(bench, tmp_path):
    path = write_wav(tmp_path / "silence.wav", np.zeros(40 * 16_000, np.float32), 16_000)
    with pytest.raises(ExpertError, match=r"No words were heard in silence\.wav"):
        bench.run(ASR, "tiny_sound:scribe", {"audio": path})


@pytest.mark.parametrize(("task", "builder"), [(ASR, "speller"), (NAMED, "wave_namer")])
def test_what_is_no_sound_is_refused(bench, tmp_path, task, builder):
    note = tmp_path / "note.wav"
    note.write_text("not a sound")
    with pytest.raises(InputError, match=r"note\.wav cannot be read as sound"):
        bench.run(task, f"tiny_sound:{builder}", {"audio": note})


def test_sounds_are_named_over_the_whole_recording(bench, recording):
    said = bench.text(NAMED, "tiny_sound:wave_namer", {"audio": recording(35.0)})
    assert said.splitlines() == ["dog: 100%", "cat: 0%"]
    said = bench.text(NAMED, "tiny_media:listener", {"audio": recording(35.0)})
    assert said.splitlines()[0] == "Dog: 100%"


def test_sound_is_cut_where_it_is_quiet():
    rate = 100
    sound = np.ones(50 * rate, np.float32)
    sound[25 * rate : 26 * rate] = 0.0
    (first, second) = stretches(sound, rate, seconds=30)
    assert first[0] == 0
    assert 25 * rate <= first[1] == second[0] <= 26 * rate
    assert second[1] == len(sound)
    assert stretches(sound[: 20 * rate], rate, seconds=30) == [(0, 20 * rate)]
