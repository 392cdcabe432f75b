from __future__ import annotations

from pathlib import Path

import av
import numpy as np
import pytest
from av.stream import Disposition
from PIL import ExifTags, Image

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.audio.media import write_wav
from jarvis_desktop.tasks.everyday.files import FILE_DETAILS, describe_file
from tests.tasks.calls import call_of, quiet, text_of
from tests.tasks.documents.test_to_text import pdf_with
from tests.tasks.filming import film
from tests.tasks.test_cues import planned


def said(kind: Kind, path: Path, tmp_path: Path, name: str = "") -> str:
    given = Artifact(kind, path=path, name=name or path.name)
    return text_of(describe_file(call_of(FILE_DETAILS.type, tmp_path / "work", file=given), quiet))


@pytest.mark.parametrize(
    ("seconds", "lasts"),
    [(83, "1 minute and 23 seconds"), (2.44, "2.4 seconds"), (1, "1 second"), (0.5, "0.5 seconds")],
)
def test_how_long_a_recording_lasts(tmp_path: Path, seconds: float, lasts: str) -> None:
    file = write_wav(tmp_path / "5f2e.wav", np.zeros(int(seconds * 8000), np.float32), 8000)
    told = said(Kind.AUDIO, file, tmp_path, "memo.wav")
    assert told.startswith(f"memo.wav lasts {lasts}. It is a WAV file of ")
    assert told.endswith("with sound at 8,000 Hz, mono.")


def test_when_and_with_what_a_photo_was_taken(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[ExifTags.Base.Model] = "Camera 7"
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = "2024:05:03 14:05:09"
    exif.get_ifd(ExifTags.IFD.GPSInfo)[ExifTags.GPS.GPSLatitudeRef] = "N"
    image = Image.new("RGB", (40, 20))
    image.save(tmp_path / "a.jpg", exif=exif)
    told = said(Kind.IMAGE, tmp_path / "a.jpg", tmp_path)
    assert told.endswith("It was taken on 3 May 2024 at 14:05 with Camera 7. The file says where.")
    exif[ExifTags.Base.Model] = "Camera\n\n# 7" + "0" * 1000
    image.save(tmp_path / "d.jpg", exif=exif)
    damaged = (tmp_path / "d.jpg").read_bytes()
    told = said(Kind.IMAGE, tmp_path / "d.jpg", tmp_path)
    assert "Camera # 700" in told
    assert len(told) < 250
    at = damaged.index(b"MM\0*") + 8
    (tmp_path / "e.jpg").write_bytes(damaged[:at] + b"\0\xff" + damaged[at + 2 :])
    assert "40 pixels wide" in said(Kind.IMAGE, tmp_path / "e.jpg", tmp_path)
    scan = Image.Exif()
    scan[ExifTags.Base.DateTime] = "2025:01:01 00:00:00"  # when it was last changed
    image.save(tmp_path / "f.jpg", exif=scan)
    assert "taken" not in said(Kind.IMAGE, tmp_path / "f.jpg", tmp_path)
    exif[ExifTags.Base.Model] = ""
    exif.get_ifd(ExifTags.IFD.Exif)[ExifTags.Base.DateTimeOriginal] = "yesterday"
    image.save(tmp_path / "b.jpg", exif=exif)
    told = said(Kind.IMAGE, tmp_path / "b.jpg", tmp_path)
    assert told.endswith("It was taken at a place that the file says.")
    image.save(tmp_path / "c.jpg")
    assert "taken" not in said(Kind.IMAGE, tmp_path / "c.jpg", tmp_path)


def test_how_long_words_are(tmp_path: Path) -> None:
    given = text_artifact("Fish swim.\n\nBirds fly.\n")
    call = call_of(FILE_DETAILS.type, tmp_path / "work", file=given)
    told = text_of(describe_file(call, quiet))
    assert told == "The text has 4 words in 2 lines and 22 characters."


def test_how_much_a_text_asks(tmp_path: Path) -> None:
    given = text_artifact("Do fish swim? They do.\n\nAnd “birds?” Who knows!\n")
    call = call_of(FILE_DETAILS.type, tmp_path / "work", file=given, about="sentences")
    told = text_of(describe_file(call, quiet))
    assert told == "The text has 4 sentences in 2 paragraphs, and asks 2 questions."


def test_how_long_a_film_lasts(tmp_path: Path) -> None:
    told = said(Kind.VIDEO, film(tmp_path / "a.mp4", seconds=3), tmp_path)
    assert told.startswith("a.mp4 lasts 3")
    assert "an MP4 file" in told
    assert "96 by 64 pixels and sound at 16,000 Hz" in told
    assert "no sound" in said(Kind.VIDEO, film(tmp_path / "b.mp4", sound=False), tmp_path)


def test_the_cover_of_a_song_is_no_film(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.mp3"), "w") as out:
        sound = out.add_stream("libmp3lame", rate=16_000, layout="mono")
        cover = out.add_stream("mjpeg", rate=1)
        cover.width, cover.height, cover.pix_fmt = 96, 64, "yuvj420p"
        cover.disposition = Disposition.attached_pic
        black = np.zeros((64, 96, 3), np.uint8)
        out.mux(cover.encode(av.VideoFrame.from_ndarray(black, format="rgb24")))
        out.mux(cover.encode())
        silence = np.zeros((1, 16_000), np.float32)
        frame = av.AudioFrame.from_ndarray(silence, format="fltp", layout="mono")
        frame.sample_rate = 16_000
        out.mux(sound.encode(frame))
        out.mux(sound.encode())
    with av.open(str(tmp_path / "a.mp3")) as song:
        assert song.streams.video
    told = said(Kind.AUDIO, tmp_path / "a.mp3", tmp_path)
    assert told.endswith(", with sound at 16,000 Hz, mono.")


def test_how_long_is_left_open_where_the_file_does_not_say(tmp_path: Path) -> None:
    with av.open(str(tmp_path / "a.h264"), "w", format="h264") as out:
        stream = out.add_stream("libx264", rate=10)
        stream.width, stream.height, stream.pix_fmt = 96, 64, "yuv420p"
        frame = av.VideoFrame.from_ndarray(np.zeros((64, 96, 3), np.uint8), format="rgb24")
        out.mux(stream.encode(frame))
        out.mux(stream.encode())
    told = said(Kind.VIDEO, tmp_path / "a.h264", tmp_path)
    assert told.startswith("a.h264 does not say how long it lasts.")


def test_how_large_a_picture_is(tmp_path: Path) -> None:
    Image.new("RGB", (1200, 40)).save(tmp_path / "p.png")
    told = said(Kind.IMAGE, tmp_path / "p.png", tmp_path)
    assert told.startswith("p.png is 1,200 pixels wide and 40 high. It is a PNG file of ")


def test_how_large_another_file_is(tmp_path: Path) -> None:
    (tmp_path / "a.pdf").write_text("x" * 500)
    (tmp_path / "b").write_bytes(b"x" * 2500)
    told = said(Kind.DOCUMENT, tmp_path / "a.pdf", tmp_path)
    assert told.startswith("a.pdf is a PDF file of 500 bytes. a.pdf is damaged")
    assert said(Kind.TABLE, tmp_path / "b", tmp_path) == "b is a file of 2 kB."


def test_how_long_a_text_is(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("One two three.\n\nFour\n")
    told = said(Kind.DOCUMENT, tmp_path / "a.txt", tmp_path)
    assert told.startswith("a.txt has 4 words in 2 lines and 20 characters. It is a TXT file of ")
    (tmp_path / "b.pdf").write_bytes(pdf_with("Dear Ada, all is well.", pages=2))
    told = said(Kind.DOCUMENT, tmp_path / "b.pdf", tmp_path)
    assert told.startswith("b.pdf has 2 pages, 10 words in 2 lines and ")
    Image.new("RGB", (90, 90)).save(tmp_path / "scan.pdf")
    assert said(Kind.DOCUMENT, tmp_path / "scan.pdf", tmp_path).startswith("scan.pdf has 1 page. ")


@pytest.mark.parametrize("kind", [Kind.AUDIO, Kind.IMAGE])
def test_what_cannot_be_read_is_named(tmp_path: Path, kind: Kind) -> None:
    (tmp_path / "odd.dat").write_bytes(b"odd" * 50)
    with pytest.raises(InputError, match=r"odd\.dat"):
        said(kind, tmp_path / "odd.dat", tmp_path)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("how long is this sound", "a.wav"),
        ("how long is this recording", "a.wav"),
        ("how long does this recording last", "a.wav"),
        ("how long is a.wav", "a.wav"),
        ("what is the duration of a.wav", "a.wav"),
        ("what's the length of the song", "a.mp3"),
        ("how long is this video", "a.mp4"),
        ("how long is this film", "a.mp4"),
        ("how big is this picture", "a.png"),
        ("what size is this photo", "a.png"),
        ("how many pixels does the picture have", "a.png"),
        ("what are the dimensions of a.png", "a.png"),
        ("what is the resolution of this picture", "a.png"),
        ("what is the file size", "a.pdf"),
        ("how big is it?", "a.png"),
        ("how big is it in megabytes", "a.pdf"),
        ("What is the duration?", "a.wav"),
        ("what's the duration", "a.wav"),
        ("tell me the playing time of this", "a.mp3"),
        ("how long does it take to play?", "a.mp3"),
        ("how long does it take to play this song", "a.mp3"),
        ("how long does it last?", "a.wav"),
        ("how long's the video", "a.mp4"),
        ("how many bytes is this file?", "a.png"),
        ("how many kilobytes does this take up", "a.pdf"),
        ("how many megabytes is it", "a.mp4"),
        ("how many mb is a.pdf", "a.pdf"),
        ("how many pixels does it have", "a.png"),
        ("how many pixels are there in this picture", "a.png"),
        ("how many minutes long is this", "a.wav"),
        ("how many minutes does this video last", "a.mp4"),
        ("what type of file is this", "a.pdf"),
        ("what kind of file is the document", "a.pdf"),
        ("what file format is a.png", "a.png"),
        ("what is the sample rate of this recording", "a.wav"),
        ("what sample rate does it have", "a.wav"),
        ("how many words are in notes.txt", "notes.txt"),
        ("count the words in notes.txt", "notes.txt"),
        ("how long is notes.txt", "notes.txt"),
        ("how many pages does this pdf have", "a.pdf"),
        ("how many pages does this have?", "a.pdf"),
        ("word count", "a.txt"),
    ],
)
async def test_is_heard(text: str, name: str) -> None:
    assert await planned(text, name) == ["file-details"]


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("what is said in this recording", ["a.wav"]),
        ("how long does the meeting last", ["a.pdf"]),
        ("how long is the runway", ["a.pdf"]),
        ("how long is a mile in km", []),
        ("how big is the dog in this picture", ["a.png"]),
        ("reduce the size of the photo", ["a.png"]),
        ("increase the resolution of the picture", ["a.png"]),
        ("resize the picture to 300 pixels", ["a.png"]),
        ("How many bytes are in a kilobyte?", ["a.pdf"]),
        ("how many pixels are in 4K", ["a.pdf"]),
        ("how many pixels are there in an inch", ["a.pdf"]),
        ("how many megapixels does the eye have", ["a.pdf"]),
        ("how many dogs are there in this picture", ["a.png"]),
        ("how many seconds long is a football match", ["a.pdf"]),
        ("how many minutes long is a football match", ["a.pdf"]),
        ("What is the duration of a football match?", ["a.wav"]),
        ("what is the playing time of the ring cycle", ["a.pdf"]),
        ("How long does it take to play Monopoly?", ["a.pdf"]),
        ("how long does it last in the fridge", ["a.pdf"]),
        ("how big is it in real life", ["a.png"]),
        ("what is the maximum file size for email", ["a.pdf"]),
        ("what file format should I use", ["a.pdf"]),
        ("what type of file is best for photos", ["a.pdf"]),
        ("what kind of file is the best for music", ["a.pdf"]),
        ("what is a good sample rate", ["a.pdf"]),
        ("how many words does a child know", ["a.pdf"]),
        ("how many pages has the bible", []),
        ("count the words that begin with b in a.txt", ["a.txt"]),
    ],
)
async def test_everyday_words_are_not_caught(text: str, names: list[str]) -> None:
    assert "file-details" not in await planned(text, *names)


def test_how_loud_a_recording_is(tmp_path: Path) -> None:
    wave = np.float32(0.5) * np.sin(np.arange(8000, dtype=np.float32) / 3)
    given = Artifact(Kind.AUDIO, path=write_wav(tmp_path / "a.wav", wave, 8000), name="a.wav")
    silent = write_wav(tmp_path / "b.wav", np.zeros(800, np.float32), 8000)
    call = call_of(FILE_DETAILS.type, tmp_path / "work", file=given, about="loudness")
    told = text_of(describe_file(call, quiet))
    assert told.startswith("a.wav has a peak of -6.0 dB and a loudness of -9.0 dB on average")
    quiet_one = Artifact(Kind.AUDIO, path=silent, name="b.wav")
    call = call_of(FILE_DETAILS.type, tmp_path / "work", file=quiet_one, about="loudness")
    assert text_of(describe_file(call, quiet)) == "b.wav is silent."
