"""What every ArtifactStore promises, asked of the fake and of the real one alike."""

from pathlib import Path

import pytest

from jarvis_desktop.core.artifact import Artifact, Kind, text_artifact
from jarvis_desktop.core.errors import ExpertError, InputError
from jarvis_desktop.core.ports import ArtifactStore
from jarvis_desktop.storage.artifacts import FileStore
from tests.fake_voice import write_wav
from tests.fakes import FakeStore


@pytest.fixture(params=["fake", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ArtifactStore:
    root = tmp_path / "store"
    return FakeStore(root) if request.param == "fake" else FileStore(root)


def test_a_persons_file_is_copied_and_left_alone(store: ArtifactStore, tmp_path: Path):
    given = write_wav(tmp_path / "memo.wav")
    content = given.read_bytes()
    artifact = store.take_in(given)
    assert (artifact.kind, artifact.name, artifact.made_by) == (Kind.AUDIO, "memo.wav", None)
    assert artifact.path not in (None, given)
    assert artifact.path is not None
    assert artifact.path.read_bytes() == given.read_bytes() == content


@pytest.mark.parametrize("name", ["missing.txt", "folder", "empty.txt", "link.txt"])
def test_what_is_no_file_with_content_is_refused_by_name(
    store: ArtifactStore, tmp_path: Path, name: str
):
    (tmp_path / "folder").mkdir()
    (tmp_path / "empty.txt").touch()
    (tmp_path / "real.txt").write_text("words")
    (tmp_path / "link.txt").symlink_to(tmp_path / "real.txt")
    with pytest.raises(InputError, match=name):
        store.take_in(tmp_path / name)


def test_an_experts_file_is_moved_out_of_the_work_folder(store: ArtifactStore):
    workdir = store.workdir()
    made = write_wav(workdir / "out.wav")
    content = made.read_bytes()
    kept = store.keep(Artifact(Kind.AUDIO, path=made, made_by=3))
    store.discard(workdir)
    assert (kept.kind, kept.name, kept.made_by) == (Kind.AUDIO, "out.wav", 3)
    assert kept.path is not None
    assert kept.path.read_bytes() == content
    assert not workdir.exists()


def test_a_persons_own_file_is_lent_while_it_is_there(store: ArtifactStore, tmp_path: Path):
    given = write_wav(tmp_path / "memo.wav")
    artifact = store.take_in(given)
    assert store.lend(artifact) == given
    content = given.read_bytes()
    given.unlink()
    lent = store.lend(artifact)
    assert lent.name == "memo.wav"
    assert lent != artifact.path
    assert lent.read_bytes() == content


def test_of_what_an_expert_made_a_copy_is_lent(store: ArtifactStore):
    kept = store.keep(Artifact(Kind.AUDIO, path=write_wav(store.workdir() / "out.wav")))
    lent = store.lend(kept)
    assert (lent.name, lent != kept.path) == ("out.wav", True)


def test_a_name_the_expert_chose_stays(store: ArtifactStore):
    made = write_wav(store.workdir() / "out.wav")
    assert store.keep(Artifact(Kind.AUDIO, path=made, name="hello.wav")).name == "hello.wav"


def test_texts_pass_through(store: ArtifactStore):
    assert store.keep(text_artifact("words")) == text_artifact("words")


def test_it_knows_what_it_holds(store: ArtifactStore, tmp_path: Path):
    given, made = write_wav(tmp_path / "memo.wav"), write_wav(store.workdir() / "out.wav")
    assert not store.holds(given)
    assert not store.holds(made)
    taken, kept = store.take_in(given), store.keep(Artifact(Kind.AUDIO, path=made))
    assert taken.path is not None
    assert kept.path is not None
    assert store.holds(taken.path)
    assert store.holds(kept.path)
    taken.path.unlink()
    for path in (taken.path, given, made, tmp_path, Path("x" * 300), Path("a\0b")):
        assert not store.holds(path)


def test_an_expert_that_wrote_nothing_is_told(store: ArtifactStore):
    workdir = store.workdir()
    (workdir / "empty.wav").touch()
    for name in ("empty.wav", "missing.wav"):
        with pytest.raises(ExpertError, match=name):
            store.keep(Artifact(Kind.AUDIO, path=workdir / name))


def test_work_folders_are_new_and_empty(store: ArtifactStore):
    first, second = store.workdir(), store.workdir()
    assert first != second
    assert list(first.iterdir()) == list(second.iterdir()) == []
