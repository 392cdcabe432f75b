"""Files that are given to other programs: by their names, and nothing gets back into the store."""

import os
import time
from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind
from jarvis_desktop.core.context import current_conversation
from jarvis_desktop.storage import artifacts
from jarvis_desktop.storage.artifacts import FileStore, safe_name
from jarvis_desktop.storage.conversations import ConversationFileStore, PrivateConversations
from tests.storage.samples import INVENTORY, mode


@pytest.mark.parametrize(
    ("title", "stored", "expected"),
    [
        ("photo.png", "ab12.png", "photo.png"),
        ("photo.jpeg", "ab12.jpg", "photo.jpeg"),
        ("photo", "ab12.png", "photo.png"),
        ("photo.exe", "ab12.png", "photo.exe.png"),
        ("../../etc/passwd", "ab12.txt", "_.._etc_passwd.txt"),
        ("a<b>:c|d?.png", "ab12.png", "a_b__c_d_.png"),
        ("con.png", "ab12.png", "_con.png"),
        (".hidden", "ab12.png", "hidden.png"),
        ("\u202egnp.exe", "ab12.png", "_gnp.exe.png"),
        ("...", "ab12.png", "file.png"),
        ("two\nlines.png", "ab12.png", "two lines.png"),
        ("ends in a dot.", "ab12", "ends in a dot"),
    ],
)
def test_names_are_good_in_any_folder(title: str, stored: str, expected: str) -> None:
    assert safe_name(Artifact(Kind.IMAGE, path=Path(stored), name=title)) == expected


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "store")


@pytest.fixture
def own(tmp_path: Path) -> Path:
    """A file of the person's."""
    path = tmp_path / "own" / "letter.txt"
    path.parent.mkdir()
    path.write_text("Dear Sir.\n")
    return path


def kept_only(artifact: Artifact, name: str = "") -> Artifact:
    """As the history gives it later, which does not know where it came from."""
    return Artifact(artifact.kind, path=artifact.path, name=name or artifact.name)


@pytest.mark.parametrize(
    "title", ["x" * 500 + ".txt", "\0", "é" * 300, "a/../..", "CON", "‮txt.exe", "\ud800.txt", " "]
)
def test_any_title_gives_a_name_that_can_be_written(
    title: str, store: FileStore, own: Path
) -> None:
    given = kept_only(store.take_in(own), title)
    handed = store.hand_out(given)
    assert handed != given.path
    assert handed.read_bytes() == own.read_bytes()
    assert len(os.fsencode(handed.name)) <= 255


def test_what_is_lent_is_the_person_s_own_while_it_is_there(store: FileStore, own: Path) -> None:
    given = store.take_in(own)
    assert store.lend(given) == own
    own.unlink()
    lent = store.lend(given)
    assert lent.name == "letter.txt"
    assert lent.read_text() == "Dear Sir.\n"


def test_what_is_written_into_a_copy_does_not_get_into_the_store(
    store: FileStore, own: Path
) -> None:
    given = kept_only(store.take_in(own))
    assert given.path is not None
    handed, lent = store.hand_out(given), store.lend(given)
    handed.write_text("changed")
    assert given.path.read_text() == lent.read_text() == "Dear Sir.\n"
    assert (mode(handed), mode(lent), mode(given.path)) == (0o600, 0o400, 0o400)
    assert store.hand_out(given) == handed
    assert handed.read_text() == "changed"


def test_a_file_of_nobody_s_store_is_given_as_it_lies(store: FileStore, own: Path) -> None:
    assert store.hand_out(Artifact(Kind.DOCUMENT, path=own)) == own
    assert store.lend(Artifact(Kind.DOCUMENT, path=own, name="other.txt")) == own


def test_what_cannot_be_copied_is_given_as_it_lies(
    store: FileStore, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = kept_only(store.take_in(own))
    with monkeypatch.context() as patch:
        patch.setattr(artifacts, "MAX_COPY_BYTES", 3)
        assert store.hand_out(given) == given.path
    place = tmp_path / "taken"
    place.write_text("")
    assert artifacts.hand_out(given, place, locked=False) == given.path


def test_what_was_handed_out_goes_with_its_file(store: FileStore, own: Path) -> None:
    given = kept_only(store.take_in(own))
    assert given.path is not None
    handed, lent = store.hand_out(given), store.lend(given)
    store.remove([given.path])
    assert not given.path.exists()
    assert not handed.parent.exists()
    assert not lent.parent.exists()


def test_what_was_handed_out_long_ago_is_swept(store: FileStore, own: Path) -> None:
    given = kept_only(store.take_in(own))
    old, new = store.hand_out(given), store.lend(given)
    for copy in (old, new):
        os.utime(copy.parent, (time.time() - 90_000,) * 2)
    assert store.lend(given) == new
    store.sweep()
    assert not old.exists()
    assert new.exists()


def test_what_is_used_again_has_no_source(store: FileStore, own: Path) -> None:
    handed = store.hand_out(kept_only(store.take_in(own)))
    again = store.take_in(handed)
    assert (again.name, again.source) == ("letter.txt", None)


def test_what_is_not_to_be_kept_is_handed_out_beside_its_files(own: Path, tmp_path: Path) -> None:
    private = PrivateConversations(tmp_path / "unkept", INVENTORY)
    store = ConversationFileStore(tmp_path / "store", private)
    name = private.begin()
    pasted = store.workdir() / "picture.txt"
    pasted.write_text("pasted")
    token = current_conversation.set(name)
    try:
        given = store.take_in(own)
        drawn = store.take_in(pasted)
    finally:
        current_conversation.reset(token)
    assert store.lend(given) == own
    assert drawn.source is None
    handed = store.hand_out(kept_only(given))
    assert handed.is_relative_to(tmp_path / "unkept")
    kept = kept_only(store.take_in(own))
    assert store.hand_out(kept).is_relative_to(tmp_path / "store")
    private.forget(name)
    assert not handed.exists()
    private.close()
