import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.tasks.media import read_audio, write_wav
from jarvis_desktop.tasks.save_file import TYPE, question, safe_name, save
from tests.tasks.calls import Given, call_of, quiet


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    place = tmp_path / "place"
    place.mkdir()
    return place


@pytest.fixture
def beep(tmp_path: Path) -> Artifact:
    sound = (0.3 * np.sin(np.arange(32_000) / 10))[None].astype(np.float32)
    return Artifact(Kind.AUDIO, path=write_wav(tmp_path / "speech.wav", sound, 16_000))


def saved(folder: Path, content: Given, name: str = "") -> tuple[str, list[Artifact]]:
    call = call_of(TYPE, folder.parent / "work", content=content, name=name, folder=str(folder))
    said, *files = save(call, quiet)
    return said.text or "", list(files)


def test_a_sound_is_copied(folder: Path, beep: Artifact):
    said, (file,) = saved(folder, beep, "hello.wav")
    assert said == f"Saved as hello.wav in {folder}."
    assert beep.path is not None
    assert (folder / "hello.wav").read_bytes() == beep.path.read_bytes()
    assert file.name == "hello.wav"
    assert file.path is not None
    assert file.path.parent == folder.parent / "work"
    assert file.path.read_bytes() == beep.path.read_bytes()


@pytest.mark.parametrize("ending", ["mp3", "flac", "ogg", "m4a", "opus"])
def test_a_sound_is_converted(folder: Path, beep: Artifact, ending: str):
    saved(folder, beep, f"hello.{ending}")
    sound, rate = read_audio(folder / f"hello.{ending}")
    assert sound.shape[1] / rate == pytest.approx(2, abs=0.15)
    assert np.sqrt((sound**2).mean()) == pytest.approx(0.3 / np.sqrt(2), rel=0.1)


@pytest.mark.parametrize("ending", ["jpg", "webp", "bmp"])
def test_a_picture_is_converted(folder: Path, tmp_path: Path, ending: str):
    Image.new("RGBA", (30, 20), (255, 0, 0, 128)).save(tmp_path / "a.png")
    saved(folder, Artifact(Kind.IMAGE, path=tmp_path / "a.png"), f"red.{ending}")
    with Image.open(folder / f"red.{ending}") as image:
        assert image.size == (30, 20)
        assert image.format == {"jpg": "JPEG", "webp": "WEBP", "bmp": "BMP"}[ending]


def test_a_text_is_written_in_utf_8(folder: Path):
    assert saved(folder, "Grüße", "note")[0].startswith("Saved as note.txt")
    assert (folder / "note.txt").read_bytes() == "Grüße".encode()
    saved(folder, ["one", "two"], "both.md")
    assert (folder / "both.md").read_text() == "one\n\ntwo"
    saved(folder, "x", "notes 1.2")
    assert (folder / "notes 1.2.txt").exists()


def test_without_a_name_it_keeps_its_own(folder: Path, beep: Artifact):
    saved(folder, beep)
    saved(folder, "hello")
    assert sorted(os.listdir(folder)) == ["result.txt", "speech.wav"]


def test_several_files_are_numbered(folder: Path, beep: Artifact):
    said, files = saved(folder, [beep, beep], "part.wav")
    assert [file.name for file in files] == ["part-1.wav", "part-2.wav"]
    assert "part-1.wav and part-2.wav" in said


@pytest.mark.parametrize(("name", "reason"), [("a.mp3", "text cannot"), ("a.exe", "text cannot")])
def test_a_text_is_no_sound(folder: Path, name: str, reason: str):
    with pytest.raises(InputError, match=reason):
        saved(folder, "hello", name)
    assert not os.listdir(folder)


def test_a_sound_is_no_picture(folder: Path, beep: Artifact):
    with pytest.raises(InputError, match=r"cannot be saved as \.png"):
        saved(folder, beep, "hello.png")


@pytest.mark.parametrize(
    "name",
    [
        "../up.txt", "/etc/passwd", "a/b.txt", "a\\b.txt", "C:x.txt", "CON", "con.txt", "LPT1.txt",
        "nul .txt", ".hidden", "..", "-rf.txt", "a\nb.txt", "a\0.txt", "a.txt.", "\u202egpj.txt",
        "x" * 200 + ".txt", "what?.txt", "~x.txt",
    ],
)  # fmt: skip
def test_names_that_are_none(folder: Path, name: str):
    with pytest.raises(InputError):
        safe_name(name)
    with pytest.raises(InputError):
        saved(folder, "hello", name)
    assert not os.listdir(folder)


def test_asks_before_it_replaces(folder: Path):
    (folder / "note.txt").write_text("old")
    args: dict[str, Given] = {"content": "new", "folder": str(folder)}
    assert question(call_of(TYPE, folder, **args, name="other.txt")) == ""
    assert question(call_of(TYPE, folder, **args, name="../note.txt")) == ""
    asked = question(call_of(TYPE, folder, **args, name="note.txt"))
    assert asked == f"note.txt is already in {folder}. Replace it?"
    saved(folder, "new", "note.txt")
    assert (folder / "note.txt").read_text() == "new"


def test_what_a_link_leads_to_stays_as_it_is(folder: Path, tmp_path: Path):
    outside = tmp_path / "outside.txt"
    outside.write_text("mine")
    (folder / "note.txt").symlink_to(outside)
    saved(folder, "new", "note.txt")
    assert outside.read_text() == "mine"
    assert (folder / "note.txt").read_text() == "new"


@pytest.mark.parametrize("place", ["", "relative", "/nowhere/at/all"])
def test_needs_a_folder(tmp_path: Path, place: str):
    call = call_of(TYPE, tmp_path, content="x", folder=place)
    with pytest.raises(InputError, match="folder"):
        save(call, quiet)
    assert question(call) == ""


def test_a_folder_is_not_replaced(folder: Path):
    (folder / "note.txt").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        saved(folder, "x", "note.txt")
