import errno
import os
from dataclasses import replace
from pathlib import Path

import numpy as np
import platformdirs
import pytest
from PIL import Image

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, StorageError
from jarvis_desktop.core.task import Call
from jarvis_desktop.tasks.audio.media import read_audio, write_wav
from jarvis_desktop.tasks.everyday.save_file import SAVE_FILE, question, safe_name, save
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


def wished(folder: Path | None, work: Path | None = None, **args: Given) -> Call:
    """A call for that folder, as the executor makes it from the request."""
    workdir = work or (folder.parent / "work" if folder else None)
    assert workdir
    return replace(call_of(SAVE_FILE.type, workdir, **args), folder=folder)


def saved(folder: Path, content: Given, name: str = "") -> tuple[str, list[Artifact]]:
    call = wished(folder, content=content, name=name)
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


@pytest.mark.parametrize(
    ("name", "reason"), [("a.mp3", "cannot become MP3"), ("a.exe", "cannot become EXE")]
)
def test_a_text_is_no_sound(folder: Path, name: str, reason: str):
    with pytest.raises(InputError, match=reason):
        saved(folder, "hello", name)
    assert not os.listdir(folder)


def test_a_sound_is_no_picture(folder: Path, beep: Artifact):
    with pytest.raises(InputError, match="cannot become PNG"):
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
    assert question(wished(folder, content="new", name="other.txt")) == ""
    assert question(wished(folder, content="new", name="../note.txt")) == ""
    asked = question(wished(folder, content="new", name="note.txt"))
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


@pytest.mark.parametrize("place", ["relative", "/nowhere/at/all", "/" + "x" * 300, "a\0b", "/a\nb"])
def test_a_folder_that_is_not_there(tmp_path: Path, place: str):
    call = wished(Path(place), tmp_path / "work", content="x", name="note.txt")
    with pytest.raises(InputError, match="folder") as caught:
        save(call, quiet)
    assert len(caught.value.message.splitlines()) == 1
    assert question(call) == ""


def test_a_folder_that_may_not_be_looked_into(
    tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    def refused(self: Path, **more: object) -> os.stat_result:
        raise PermissionError(errno.EACCES, "Permission denied")

    call = wished(folder, tmp_path / "work", content="x", name="note.txt")
    monkeypatch.setattr(Path, "stat", refused)
    monkeypatch.setattr(os, "lstat", refused)
    assert question(call) == ""
    with pytest.raises(InputError, match="cannot be used: permission denied"):
        save(call, quiet)


def test_a_relative_folder_where_the_current_one_was_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    def gone() -> str:
        raise FileNotFoundError(errno.ENOENT, "No such file or directory")

    call = wished(Path("place"), tmp_path / "work", content="x", name="note.txt")
    monkeypatch.setattr(os, "getcwd", gone)
    assert question(call) == ""
    with pytest.raises(InputError, match="no folder to save in"):
        save(call, quiet)


def test_no_plan_can_choose_the_folder():
    assert [option.name for option in SAVE_FILE.type.options] == ["name"]


def test_without_a_folder_it_saves_in_the_documents(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(platformdirs, "user_documents_path", lambda: home / "My Documents")
    call = wished(None, tmp_path / "work", content="x", name="note.txt")
    assert question(call) == ""
    assert not (home / "My Documents").exists()
    said, _ = save(call, quiet)
    assert said.text == f"Saved as note.txt in {home / 'My Documents'}."
    assert (home / "My Documents" / "note.txt").read_text() == "x"
    assert "Replace it?" in question(call)


def test_documents_that_cannot_be_made(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    (home / "file").touch()
    monkeypatch.setattr(platformdirs, "user_documents_path", lambda: home / "file" / "Documents")
    call = wished(None, tmp_path / "work", content="x")
    assert question(call) == ""
    with pytest.raises(InputError, match="cannot be used: not a directory"):
        save(call, quiet)


def test_a_result_that_is_gone_is_told(folder: Path, tmp_path: Path):
    with pytest.raises(StorageError, match=r"a\.png cannot be saved: no such file"):
        saved(folder, Artifact(Kind.IMAGE, path=tmp_path / "a.png"), "a.png")
    assert not os.listdir(folder)


def test_a_folder_is_not_replaced(folder: Path):
    (folder / "note.txt").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        saved(folder, "x", "note.txt")
