import sys
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.errors import InputError, UnavailableError
from jarvis_desktop.platform.desktop import SystemDesktop
from jarvis_desktop.tasks.everyday.files import OPEN_FILE, open_file, question
from tests.fakes import FakeStore
from tests.tasks.calls import FakeServices, call_of, quiet, text_of


async def test_opens(tmp_path: Path):
    file = tmp_path / "photo.jpg"
    file.touch()
    parts = FakeServices()
    call = call_of(OPEN_FILE.type, tmp_path, file=file)
    assert question(call) == ""
    assert text_of(await open_file(call, quiet, parts.services())) == "Opened photo.jpg."
    assert parts.desktop.opened == [file]


async def test_the_desktop_hears_the_name_that_the_person_knows(tmp_path: Path):
    kept = tmp_path / "5f2e.txt"
    kept.touch()
    parts = FakeServices()
    given = Artifact(Kind.DOCUMENT, path=kept, name="letter.txt")
    await open_file(call_of(OPEN_FILE.type, tmp_path, file=given), quiet, parts.services())
    assert (parts.desktop.opened, parts.desktop.names) == ([kept], ["letter.txt"])


async def test_opens_what_the_person_named_and_not_what_is_kept_of_it(tmp_path: Path):
    own = tmp_path / "letter.txt"
    own.write_text("Dear Sir.")
    parts = FakeServices(store=FakeStore(tmp_path / "store"))
    call = call_of(OPEN_FILE.type, tmp_path, file=parts.store.take_in(own))
    await open_file(call, quiet, parts.services())
    own.unlink()
    await open_file(call, quiet, parts.services())
    first, second = parts.desktop.opened
    assert first == own
    assert (second.name, second != call.file("file")) == ("letter.txt", True)


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere there is always a desktop")
def test_without_a_desktop_the_error_names_what_the_person_knows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    kept = tmp_path / "5f2e.txt"
    with pytest.raises(UnavailableError, match=r"open letter\.txt with") as caught:
        SystemDesktop().open(kept, "letter.txt")
    assert "5f2e" not in f"{caught.value} {caught.value.hint}"
    with pytest.raises(UnavailableError, match=r"open 5f2e\.txt with") as caught:
        SystemDesktop().open(kept)
    assert str(tmp_path) in caught.value.hint


@pytest.mark.parametrize(
    "name", ["a.exe", "a.SH", "a.desktop", "a.jar", "a.html", "a.bat. ", "a.py", "a.docm"]
)
def test_asks_before_what_could_run_code(tmp_path: Path, name: str):
    file = tmp_path / name
    file.touch()
    assert name in question(call_of(OPEN_FILE.type, tmp_path, file=file))


def test_asks_by_permission_and_by_the_name_it_was_given_under(tmp_path: Path):
    program = tmp_path / "program"
    program.touch()
    program.chmod(0o755)
    assert question(call_of(OPEN_FILE.type, tmp_path, file=program))
    kept = tmp_path / "5f2e"
    kept.touch()
    taken = Artifact(Kind.DOCUMENT, path=kept, name="program", source=program)
    assert question(call_of(OPEN_FILE.type, tmp_path, file=taken))
    given = Artifact(Kind.DOCUMENT, path=kept, name="setup.exe")
    assert question(call_of(OPEN_FILE.type, tmp_path, file=given))


async def test_says_why_not(tmp_path: Path):
    parts = FakeServices()
    with pytest.raises(InputError, match=r"gone\.txt"):
        await open_file(
            call_of(OPEN_FILE.type, tmp_path, file=tmp_path / "gone.txt"), quiet, parts.services()
        )
    file = tmp_path / "a.txt"
    file.touch()
    parts.desktop.error = UnavailableError("There is no desktop.")
    with pytest.raises(UnavailableError):
        await open_file(call_of(OPEN_FILE.type, tmp_path, file=file), quiet, parts.services())
