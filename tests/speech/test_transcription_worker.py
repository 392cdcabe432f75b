"""Long recordings by the real engine; what decoding many windows at once loses is decoded again."""

from dataclasses import dataclass, field, replace
from pathlib import Path

import faster_whisper
import numpy as np
import pytest
from faster_whisper.transcribe import Segment as Piece
from faster_whisper.transcribe import Word

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.speech import transcription_worker as module
from jarvis_desktop.speech.decoding import RATE
from jarvis_desktop.speech.recogniser import SHIPPED
from jarvis_desktop.speech.transcription_worker import RecordingReader, make_handler, windows
from jarvis_desktop.speech.vad import SpeechSegments
from tests.synthetic_speech import NEURAL, speak, spoken, write

CPU = "cpu", "int8"


def quiet(fraction, message):
    pass


def speech_of(*stretches: tuple[float, float]) -> SpeechSegments:
    """Speech at these seconds; what is to be heard is noise."""
    length = int((stretches[-1][1] + 1) * RATE)
    samples = np.random.default_rng(0).normal(0, 0.1, length).astype(np.float32)
    return SpeechSegments(samples, tuple((int(a * RATE), int(b * RATE)) for a, b in stretches))


def seconds(speech: SpeechSegments) -> list[tuple[float, float]]:
    return [(start / RATE, end / RATE) for start, end in windows(speech)]


def test_a_window_holds_what_is_said_in_half_a_minute_and_ends_at_a_long_pause():
    speech = speech_of((0, 10), (11, 20), (21, 30), (34, 36), (36.5, 40))
    assert seconds(speech) == [(0, 20), (21, 30), (34, 40)]


def test_speech_without_a_pause_is_cut_where_it_is_quietest():
    speech = speech_of((0, 70))
    for at in (25, 45):
        speech.samples[at * RATE : int((at + 0.2) * RATE)] = 0
    cut, again = 25.05, 45.1
    assert [(round(a, 2), round(b, 2)) for a, b in seconds(speech)] == [
        (0, cut),
        (cut, again),
        (again, 70),
    ]


def piece(start: float, end: float, text: str, **values) -> Piece:
    """A piece as faster-whisper gives it."""
    words = [Word(start, end, f" {text}", 0.9)]
    whole = Piece(1, 0, start, end, text, [], -0.2, 1.1, 0.0, words, 0.0)
    return replace(whole, **values)


@dataclass
class Script:
    """Whisper with what it writes laid down: `together` for each window in its order, `alone` for
    each window that is decoded on its own."""

    together: list[list[Piece]]
    alone: list[list[Piece]] = field(default_factory=list)
    asked: list[float] = field(default_factory=list)
    """How many seconds were decoded alone."""
    supported_languages: tuple[str, ...] = ("en", "de")
    again: int = -1
    """How many windows the Reader said it had decoded again."""

    def transcribe(self, sound, **options):
        if "clip_timestamps" not in options:
            self.asked.append(len(sound) / RATE)
            return self.alone.pop(0), None
        clips = options["clip_timestamps"]
        return [
            replace(
                each,
                start=each.start + clip["start"],
                end=each.end + clip["start"],
                seek=int(clip["start"] * 100),
            )
            for clip, pieces in zip(clips, self.together, strict=True)
            for each in pieces
        ], None

    def detect_language(self, sound, language_detection_segments):
        return "de", 0.9, []


@pytest.fixture
def read(monkeypatch):
    """What a Reader makes of two windows, from 0 to 20 and from 25 to 35 seconds."""
    monkeypatch.setattr(faster_whisper, "BatchedInferencePipeline", lambda whisper: whisper)
    speech = speech_of((0, 20), (25, 35))

    def read(script, chosen=slice(0, 2), language="en"):
        part = RecordingReader(speech).part(script, chosen, language, (), words=True)
        script.again = part.again
        return [(round(each.start, 1), round(each.end, 1), each.text) for each in part.segments]

    return read


def test_each_window_gets_its_own_pieces_with_times_in_the_recording(read):
    script = Script([[piece(0.5, 8, "one"), piece(8, 19.5, "two")], [piece(1, 9.5, "three")]])
    assert read(script) == [(0.5, 8, "one"), (8, 19.5, "two"), (25.5, 34, "three")]
    assert script.asked == []


def test_the_lost_end_of_a_window_is_decoded_again(read):
    script = Script([[piece(0.5, 8, "one")], [piece(1, 9.5, "three")]], [[piece(0, 11, "two")]])
    assert read(script) == [(0.5, 8, "one"), (8, 19, "two"), (25.5, 34, "three")]
    assert (script.asked, script.again) == ([12], 0)


@pytest.mark.parametrize("doubt", [{"avg_logprob": -1.4}, {"compression_ratio": 3.0}])
def test_a_doubtful_window_is_decoded_again(read, doubt):
    script = Script(
        [[piece(0.5, 19.5, "one one one", **doubt)], [piece(1, 9.5, "three")]],
        [[piece(0.5, 19.5, "one")]],
    )
    assert [text for _, _, text in read(script)] == ["one", "three"]
    assert (script.asked, script.again) == ([20], 1)


def test_what_was_invented_is_left_out_and_times_stay_within_the_window(read):
    invented = piece(0, 5, "Thanks for watching!", no_speech_prob=0.9, avg_logprob=-1.2)
    script = Script([], [[invented, piece(5, 4, "  "), piece(18, 29.98, "end")]])
    assert read(script, slice(0, 1)) == [(18, 20, "end")]


def test_the_language_is_found_out_once_and_a_wrong_one_is_refused():
    reader = RecordingReader(speech_of((0, 5)))
    script = Script([], [[piece(0.5, 4, "eins")]])
    part = reader.part(script, slice(0, 1), None, (), words=False)
    assert part.language == "de"
    with pytest.raises(InputError, match="knows no language “xx”"):
        reader.part(script, slice(0, 1), "xx", (), words=False)
    script = Script([], [[piece(0.5, 4, "one")]], supported_languages=("en",))
    assert reader.part(script, slice(0, 1), None, (), words=False).language == "en"


@pytest.fixture(scope="module")
def talk(tmp_path_factory) -> Path:
    """More than a minute of requests, one after the other."""
    requests = ("Set a timer for six seconds.", "Describe the last photo.")
    sound = np.concatenate([spoken(text, after=0.6) for text in requests])
    return write(np.tile(sound, 12), tmp_path_factory.mktemp("talk") / "talk.wav")


def test_the_real_engine_decodes_many_windows_at_once_as_it_does_one_by_one(talk, monkeypatch):
    monkeypatch.setattr(module, "BEAM", 1)
    handle = make_handler()
    opened = handle(quiet, "open", talk)
    assert opened.seconds > sum(opened.windows) > 60
    assert len(opened.windows) == 3
    weights = SHIPPED, "en", (), *CPU
    together = handle(quiet, "part", slice(0, 2), True, *weights)
    alone = handle(quiet, "part", slice(1, 2), False, *weights)
    assert together.seconds == alone.seconds
    texts = [segment.text for segment in together.segments]
    begins, ends = opened.windows[0], sum(opened.windows[:2])
    mine = [each for each in together.segments if begins - 1 < each.start < ends]
    assert bool(mine) == bool(alone.segments)
    times = [(segment.start, segment.end) for segment in together.segments]
    assert times == sorted(times)
    words = [word for segment in together.segments for word in segment.words]
    assert "".join(word.text for word in words).split() == " ".join(texts).split()
    assert all(type(word.start) is float and word.start <= word.end for word in words)


def test_the_language_of_a_recording_is_found_out(tmp_path):
    # Said once and clearly: text that repeats itself is doubted and decoded again by chance.
    talk = "Set a timer for six seconds. After that, describe the last photo of the garden."
    handle = make_handler()
    handle(quiet, "open", speak(talk, tmp_path / "talk.wav", voice=NEURAL))
    part = handle(quiet, "part", slice(0, 1), False, SHIPPED, None, ("Ada",), *CPU)
    assert part.language == "en"
    assert "timer" in " ".join(segment.text for segment in part.segments).lower()
