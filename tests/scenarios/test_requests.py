"""Everyday requests from the words to the answer, on real files, with the built-in experts."""

from __future__ import annotations

import wave

import pytest

from jarvis_desktop.core import events
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.expert import Status
from jarvis_desktop.core.turn import Turn
from tests.scenarios import files
from tests.scenarios.conftest import Person, steps

pytestmark = pytest.mark.asyncio(loop_scope="module")


def picture(artifact: Artifact):
    from PIL import Image

    assert artifact.path is not None
    with Image.open(artifact.path) as opened:
        return opened.convert("RGB")


def seconds(artifact: Artifact) -> float:
    with wave.open(str(artifact.path)) as file:
        return float(file.getnframes() / file.getframerate())


def only(turn: Turn, kind: Kind) -> Artifact:
    found = [item for item in turn.artifacts if item.kind is kind]
    assert len(found) == 1, turn.reply
    return found[0]


async def test_read_summarise_and_speak(person: Person) -> None:
    files.page(person.folder / "scan.png", files.LETTER)
    turn = await person.ask(
        "Read the text in this picture, summarise it and say the summary out loud", "scan.png"
    )
    assert steps(turn) == ["image-to-text", "summarization (0,)", "text-to-speech (1,)"]
    assert turn.status is Status.DONE
    assert "garden meeting" in turn.reply
    assert len(turn.reply) < len(files.LETTER)
    assert seconds(only(turn, Kind.AUDIO)) > 2


async def test_what_a_sign_says(person: Person) -> None:
    files.page(person.folder / "sign.png", "NO ENTRY EXCEPT BICYCLES", size=40)
    turn = await person.ask("What does this sign say?", "sign.png")
    assert steps(turn) == ["image-to-text"]
    assert "NO ENTRY" in turn.reply


async def test_read_me_a_letter(person: Person) -> None:
    files.page(person.folder / "scan.png", files.LETTER)
    turn = await person.ask("Read me the letter in scan.png")
    assert steps(turn) == ["image-to-text", "text-to-speech (0,)"]
    assert "apple trees" in turn.reply
    assert seconds(only(turn, Kind.AUDIO)) > 10


async def test_summarise_a_report_and_read_it(person: Person) -> None:
    files.pdf(person.folder / "report.pdf", files.REPORT)
    turn = await person.ask("Summarise report.pdf in three sentences and read it to me")
    assert steps(turn) == ["document-to-text", "summarization (0,)", "text-to-speech (1,)"]
    assert turn.reply.count(".") == 3
    assert "hale" in turn.reply


async def test_compare_two_sentences(person: Person) -> None:
    turn = await person.ask(
        "How do these two sentences compare: 'The cat sat on the mat' and 'The cat sat on a mat'"
    )
    assert steps(turn) == ["sentence-similarity"]
    assert "%" in turn.reply


async def test_sketch_and_rotate_and_then_brighter(person: Person) -> None:
    files.photo(person.folder / "photo.jpg")
    turn = await person.ask("Turn photo.jpg into a pencil sketch and rotate it 90 degrees")
    assert steps(turn) == ["image-to-image", "image-editing (0,)"]
    sketch = picture(only(turn, Kind.IMAGE))
    assert sketch.size == (160, 240)
    again = await person.then("Now make it brighter")
    assert steps(again) == ["image-editing"]
    brighter = picture(only(again, Kind.IMAGE))
    assert brighter.size == sketch.size

    def light(image) -> float:
        histogram = image.convert("L").histogram()
        total = sum(value * count for value, count in enumerate(histogram))
        return float(total / sum(histogram))

    assert light(brighter) > light(sketch)


@pytest.mark.parametrize(
    ("review", "verdict"),
    [("I loved every minute of it", "positive"), ("Awful food and a rude waiter", "negative")],
)
async def test_a_review(person: Person, review: str, verdict: str) -> None:
    turn = await person.ask(f"Is this review positive or negative: '{review}'")
    assert verdict in turn.reply


async def test_the_total_on_a_receipt(person: Person) -> None:
    files.receipt(person.folder / "receipt.png")
    turn = await person.ask("What is the total on this receipt?", "receipt.png")
    assert steps(turn) == ["document-question-answering"]
    assert "9.84" in turn.reply


async def test_transcribe_and_key_words(person: Person) -> None:
    files.speech(
        person.folder / "meeting.wav",
        "The garden meeting is on Saturday. We will plant apple trees along the wall.",
    )
    turn = await person.ask("Transcribe meeting.wav and give me the key words")
    assert steps(turn) == ["automatic-speech-recognition", "keyword-extraction (0,)"]
    assert turn.status is Status.DONE
    assert "saturday" in turn.reply.lower()
    assert [item.kind for item in turn.artifacts].count(Kind.TEXT) >= 2


async def test_two_branches_at_once(person: Person) -> None:
    files.photo(person.folder / "a.jpg")
    files.photo(person.folder / "b.jpg")
    turn = await person.ask("Blur a.jpg and make b.jpg black and white")
    assert steps(turn) == ["image-editing", "image-editing"]
    kinds = [type(event) for event in person.frontend.events]
    started = [number for number, kind in enumerate(kinds) if kind is events.TaskStarted]
    finished = [number for number, kind in enumerate(kinds) if kind is events.TaskFinished]
    assert max(started) < min(finished)
    grey = picture(next(item for item in turn.artifacts if item.title.startswith("b")))
    red, green, blue = (band.tobytes() for band in grey.split())
    assert red == green == blue


async def test_one_broken_branch_leaves_the_other_running(person: Person) -> None:
    files.photo(person.folder / "a.jpg")
    whole = files.photo(person.folder / "b.jpg").read_bytes()
    (person.folder / "b.jpg").write_bytes(whole[: len(whole) // 3])
    turn = await person.ask("Blur a.jpg and make b.jpg black and white")
    assert turn.status is Status.PARTLY
    assert only(turn, Kind.IMAGE).title.startswith("a")
    assert "b.jpg is damaged" in turn.reply


async def test_the_sound_of_a_video(person: Person) -> None:
    files.clip(person.folder / "clip.mp4", "The dog sleeps in the sun. The fox jumps over the dog.")
    turn = await person.ask("Take the audio out of clip.mp4, transcribe it and summarise it")
    assert steps(turn) == [
        "video-to-audio",
        "automatic-speech-recognition (0,)",
        "summarization (1,)",
    ]
    assert turn.status is Status.DONE
    assert "dog" in turn.reply


async def test_clean_up_a_memo(person: Person) -> None:
    memo = files.noisy(person.folder / "memo.wav")
    turn = await person.ask("Clean up the noise in memo.wav")
    assert steps(turn) == ["audio-to-audio"]
    made = only(turn, Kind.AUDIO)
    with wave.open(str(memo)) as file:
        length = file.getnframes() / file.getframerate()
    assert seconds(made) == pytest.approx(length, abs=0.1)


async def test_a_timer_is_set(person: Person) -> None:
    turn = await person.ask("Set a timer for ten seconds")
    assert steps(turn) == ["timer"]
    assert "10 seconds" in turn.reply
    timers = person.app.timers.pending()
    assert len(timers) == 1
    assert (await person.ask("Cancel the timer")).status is Status.DONE
    assert not person.app.timers.pending()


async def test_arithmetic(person: Person) -> None:
    assert "36" in (await person.ask("What is 15 percent of 240?")).reply


async def test_say_and_save(person: Person) -> None:
    turn = await person.ask("Say 'good morning' and save it as hello.wav")
    assert steps(turn) == ["text-to-speech", "save-file (0,)"]
    assert turn.status is Status.DONE
    with wave.open(str(person.folder / "hello.wav")) as file:
        assert file.getnframes() > 0


async def test_a_drawing_needs_an_expert_and_says_which(person: Person) -> None:
    turn = await person.ask("Draw me a castle")
    assert steps(turn) == ["text-to-image"]
    assert turn.status is Status.FAILED
    assert "sd-turbo" in turn.reply
    assert "GB to download" in turn.reply
    assert person.frontend.questions[-1].endswith("Download it now?")


async def test_nothing_is_deleted(person: Person) -> None:
    keep = person.folder / "keep.txt"
    keep.write_text("mine")
    turn = await person.ask("Delete all my files")
    assert turn.status is Status.FAILED
    assert turn.plan is None
    assert "nothing was touched" in turn.reply
    assert keep.read_text() == "mine"


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("", "nothing in that request"),
        (" \n\t ", "nothing in that request"),
        ("👍🎉", "from words"),
        ("lorem ipsum dolor sit amet " * 2000, "53,999 characters"),
        ("Schicke bitte diesen Text an meine Mutter", "nur einfache Aufträge"),
        ("What is the meaning of life?", "language model"),
        ("Frobnicate the widget", "what can you do"),
        ("Summarise missing.pdf", "I cannot find missing.pdf"),
    ],
)
async def test_a_clear_reply_each_time(person: Person, text: str, answer: str) -> None:
    turn = await person.ask(text)
    assert turn.status is Status.FAILED
    assert answer in turn.reply


async def test_a_long_pasted_text_is_summarised(person: Person) -> None:
    body = " ".join(f"{sentence} Number {n}." for n in range(150) for sentence in (files.REPORT,))
    turn = await person.ask(f"Summarise this: {body[:50_000]}")
    assert turn.status is Status.DONE
    assert 0 < len(turn.reply) < 2000


async def test_people_and_faces_are_looked_for(person: Person) -> None:
    files.photo(person.folder / "group.jpg")
    turn = await person.ask("Find the faces in group.jpg")
    assert steps(turn) == ["object-detection"]
    assert "no face" in turn.reply.lower()


async def test_every_turn_is_in_the_history(person: Person) -> None:
    turn = await person.ask("What is seven times six?")
    kept = person.app.history.show(turn.id)
    assert isinstance(kept, Turn)
    assert (kept.text, kept.reply, kept.status) == (turn.text, turn.reply, turn.status)
    assert kept.plan == turn.plan
