import pytest

from jarvis_desktop.core.speech import FRAME, PRE_ROLL, RATE, Sound
from jarvis_desktop.speech.microphone import MicrophoneListener, RecentSound

BEGUN = 100.0
STRETCH = 5 * FRAME


def stretch(number: int) -> Sound:
    """0.16 s, told from others by its samples."""
    return Sound(bytes((number % 256, 0)) * STRETCH, 0.5, (number / 10,) * 5, finished=0.5)


def remembered(count: int, *, reached: float) -> RecentSound:
    memory = RecentSound()
    for number in range(count):
        memory.add(stretch(number), reached)
    return memory


def length(sounds) -> float:
    return float(sum(sound.seconds for sound in sounds))


def test_the_half_second_before_is_told_from_what_came_since():
    sounds = list(remembered(6, reached=BEGUN + 0.05).since(BEGUN))
    before = [sound for sound in sounds if sound.before]
    after = [sound for sound in sounds if not sound.before]
    assert length(before) == pytest.approx(PRE_ROLL)
    assert length(after) == pytest.approx(0.05)
    assert {sound.pcm[:1] for sound in after if sound.pcm} == {b"\5"}
    # A stretch that is cut keeps the frames of each part, and its end has what was found in it.
    assert [len(sound.speech) for sound in sounds if sound.pcm[:1] == b"\5"] == [3, 2]
    assert [sound.finished for sound in sounds if sound.pcm[:1] == b"\5"] == [None, 0.5]


@pytest.mark.parametrize(
    ("reached", "before", "since"),
    [
        (BEGUN, 0.48, 0),
        (BEGUN + 0.48, 0, 0.48),
        (BEGUN + 9, 0, 0.48),  # the device was opened since
        (BEGUN - 9, 0, 0),
    ],
)
def test_there_may_be_less_of_either(reached, before, since):
    sounds = list(remembered(3, reached=reached).since(BEGUN))
    assert length(sound for sound in sounds if sound.before) == pytest.approx(before)
    assert length(sound for sound in sounds if not sound.before) == pytest.approx(since)


def test_what_is_older_is_forgotten():
    memory = remembered(1000, reached=BEGUN)
    assert length(memory.since(BEGUN)) == pytest.approx(PRE_ROLL)
    assert length(memory._sounds) < PRE_ROLL + 0.5
    memory.clear()
    assert list(memory.since(BEGUN)) == []


async def test_each_stretch_is_given_once(monkeypatch):
    listener, memory = MicrophoneListener(), RecentSound()
    for number in range(3):
        memory.add(stretch(number), listener._begun + number)
        listener.hear(stretch(number), memory)
    listener.hear(Sound(b""), memory)
    listener.end()
    heard = b""
    while (sound := await listener.next()) is not None:
        assert sound.pcm
        heard += sound.pcm
    assert heard == b"".join(stretch(number).pcm for number in range(3))
    assert len(heard) == 3 * STRETCH * 2
    assert RATE == 16_000
