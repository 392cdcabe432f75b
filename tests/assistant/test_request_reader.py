from __future__ import annotations

import errno
from pathlib import Path

import pytest

from jarvis_desktop.assistant.request_reader import AttachmentIntake
from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import current_turn
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Port, Task, TaskType
from jarvis_desktop.core.turn import Request
from tests.assistant.conftest import House
from tests.fakes import FakeStore

READ = TaskType("read", "", (Port("text", (Kind.TEXT, Kind.DOCUMENT), many=True),), (Kind.TEXT,))


@pytest.fixture
def store(tmp_path: Path) -> FakeStore:
    return FakeStore(tmp_path / "store")


@pytest.fixture
def intake(store: FakeStore, tmp_path: Path) -> AttachmentIntake:
    (tmp_path / "usual").mkdir()
    return AttachmentIntake(store, folders=(tmp_path / "usual",))


def written(path: Path, content: str = "words") -> Path:
    path.write_text(content)
    return path


async def named(intake: AttachmentIntake, text: str, folder: Path | None = None) -> list[str]:
    return [item.name for item in await intake.named(text, Request(text, folder=folder), ())]


@pytest.mark.parametrize(
    "name", ["~nobody9/x.txt", "x" * 300 + ".txt", "/" + "y" * 5000 + ".txt", "a\0b.txt"]
)
async def test_names_that_no_file_can_have_are_left_to_the_planner(
    intake: AttachmentIntake, name: str
):
    assert await named(intake, f"Read {name}") == []


async def test_a_folder_that_may_not_be_looked_into_has_no_such_file(
    intake: AttachmentIntake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    written(tmp_path / "usual" / "note.txt")
    look = Path.stat

    def guarded(self: Path, **more: bool):
        if self.parent == tmp_path / "closed":
            raise PermissionError(errno.EACCES, "Permission denied")
        return look(self, **more)

    monkeypatch.setattr(Path, "stat", guarded)
    assert await named(intake, "Read note.txt", tmp_path / "closed") == ["note.txt"]


async def test_a_named_file_is_found_in_the_home_folder(intake: AttachmentIntake, home: Path):
    written(home / "note.txt")
    assert await named(intake, "Read ~/note.txt") == ["note.txt"]


async def test_a_full_path_without_an_ending_names_a_file(intake: AttachmentIntake, tmp_path: Path):
    written(tmp_path / "notes")
    assert await named(intake, f"Open {tmp_path}/notes") == ["notes"]
    assert await named(intake, f"Open {tmp_path}/other") == []


async def test_a_file_given_by_the_name_of_nobodys_home_is_refused_by_name(
    intake: AttachmentIntake,
):
    with pytest.raises(InputError, match=r"no file ~nobody9/x\.txt") as caught:
        await intake.given(Request("Read", files=(Path("~nobody9/x.txt"),)))
    assert caught.value.hint


@pytest.mark.parametrize("name", ["x" * 300 + ".txt", "a\0b.txt", "missing.txt"])
async def test_a_given_file_that_cannot_be_is_refused(tmp_path: Path, name: str):
    from jarvis_desktop.storage.artifacts import FileStore

    intake = AttachmentIntake(FileStore(tmp_path / "store"))
    with pytest.raises(InputError):
        await intake.given(Request("Read", files=(Path(name),), folder=tmp_path))


async def test_a_plan_gets_its_files_from_the_folder_of_the_request(
    intake: AttachmentIntake, store: FakeStore, tmp_path: Path
):
    written(tmp_path / "note.txt")
    bare = Artifact(Kind.DOCUMENT, path=Path("note.txt"))
    called = Artifact(Kind.DOCUMENT, path=Path("note.txt"), name="My note")
    plan = Plan((Task(1, READ, {"text": (bare, "and", called)}),))
    settled = await intake.settled(plan, tmp_path)
    items = settled.task(1).args["text"]
    assert isinstance(items, tuple)
    first, words, second = items
    assert words == "and"
    assert isinstance(first, Artifact)
    assert isinstance(second, Artifact)
    assert (first.name, second.name) == ("note.txt", "My note")
    assert first.path is not None
    assert store.holds(first.path)


async def test_a_plan_may_name_what_lies_in_the_store_already(
    intake: AttachmentIntake, store: FakeStore, tmp_path: Path
):
    kept = store.take_in(written(tmp_path / "note.txt")).path
    before = store.made
    item = Artifact(Kind.DOCUMENT, path=kept, name="My note", made_by=4)
    plan = Plan((Task(1, READ, {"text": item}),))
    assert await intake.settled(plan, tmp_path) == plan
    assert store.made == before


async def test_a_plan_with_the_name_of_nobodys_home_is_refused(intake: AttachmentIntake):
    item = Artifact(Kind.DOCUMENT, path=Path("~nobody9/x.txt"))
    with pytest.raises(InputError, match="nobody9"):
        await intake.settled(Plan((Task(1, READ, {"text": item}),)), None)


async def test_the_store_learns_which_turn_takes_a_file_in(
    house: House, monkeypatch: pytest.MonkeyPatch
):
    turns: list[str] = []
    take_in = house.store.take_in

    def remembered(path: Path) -> Artifact:
        turns.append(current_turn.get())
        return take_in(path)

    monkeypatch.setattr(house.store, "take_in", remembered)
    turn = await house.handle(Request("Read", files=(house.file("a.txt"), house.file("b.txt"))))
    assert turns == [turn.id] * 2
    assert current_turn.get() == ""


async def given(intake: AttachmentIntake, folder: Path, *paths: str) -> list[str]:
    request = Request("Look", files=tuple(map(Path, paths)), folder=folder)
    return [item.name for item in await intake.given(request)]


async def test_of_a_folder_the_files_in_it_are_given(
    intake: AttachmentIntake, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "trip" / "more").mkdir(parents=True)
    (tmp_path / "trip" / ".cache").mkdir()
    for name in ("b.txt", "a.txt", ".hidden.txt", "more/c.txt", ".cache/d.txt"):
        written(tmp_path / "trip" / name)
    written(tmp_path / "e.txt")
    (tmp_path / "trip" / "link.txt").symlink_to(tmp_path / "e.txt")
    (tmp_path / "trip" / "loop").symlink_to(tmp_path)
    assert await given(intake, tmp_path, "e.txt", "trip") == ["e.txt", "a.txt", "b.txt", "c.txt"]
    monkeypatch.setattr("jarvis_desktop.assistant.request_reader.MAX_FOLDER_FILES", 2)
    with pytest.raises(InputError, match="trip has more than 2 files"):
        await given(intake, tmp_path, "trip")


async def test_a_folder_without_files_gives_nothing(
    intake: AttachmentIntake, tmp_path: Path
) -> None:
    (tmp_path / "none" / "at all").mkdir(parents=True)
    with pytest.raises(InputError, match="no files in none"):
        await given(intake, tmp_path, "none")
