"""What was changed behind the code library's back is refused, and nothing else is."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import StorageError
from jarvis_desktop.storage.code_library import CodeLibrary
from tests.storage.functions import drafted, module, opened, saved
from tests.storage.tampering import (
    EVIL,
    IN_THE_INDEX,
    ON_THE_DISK,
    STRANGERS,
    Tamperer,
    another_key,
)


@pytest.fixture(scope="module")
def untouched(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With `add` and `cube`, and `double` in its second version."""
    folder = tmp_path_factory.mktemp("library")
    library = opened(folder)
    for draft in (drafted("add"), drafted("cube"), drafted(), drafted(factor=3)):
        saved(library, draft)
    return folder


@pytest.fixture
def library(untouched: Path, tmp_path: Path) -> CodeLibrary:
    """A copy of it, for one test."""
    shutil.copytree(untouched, tmp_path, dirs_exist_ok=True)
    return opened(tmp_path)


def laid_out(library: CodeLibrary, folder: Path) -> tuple[dict[str, bytes], tuple[str, ...]]:
    """The files of the package that scripts get, and what was refused."""
    told = library.lay_out(folder)
    files = {path.name: path.read_bytes() for path in (folder / "library").iterdir()}
    assert all(path.is_file() and not path.is_symlink() for path in (folder / "library").iterdir())
    return files, told


WAYS = {f"disk: {way}": act for way, act in ON_THE_DISK.items()} | {
    f"index: {way}": act for way, act in IN_THE_INDEX.items()
}


@pytest.mark.parametrize("way", WAYS)
def test_a_function_that_was_changed_is_refused(library: CodeLibrary, way: str, tmp_path: Path):
    assert len(library.list()) == 3
    WAYS[way](Tamperer(tmp_path))
    unharmed = {"add"} if way == "disk: two functions swapped" else {"add", "cube"}
    for one in (library, opened(tmp_path)):
        assert {item.name for item in one.list()} == unharmed
        assert {item.name for item in one.search("double", 9)} == unharmed
        with pytest.raises(StorageError, match="“double” is refused") as caught:
            one.get("double")
        assert caught.value.hint
        assert any("“double” is refused" in told for told in one.damaged())
    files, told = laid_out(library, tmp_path / "out")
    assert files.keys() == {"__init__.py", *(f"{name}.py" for name in unharmed)}
    assert not [content for content in files.values() if b"os.system" in content]
    assert any("double" in sentence for sentence in told)
    assert all(item.draft in (drafted(), drafted(factor=3)) for item in library.versions("double"))
    if way == "disk: a folder":
        with pytest.raises(StorageError, match="a folder is in its place"):
            saved(library, drafted(factor=5))
    else:  # to agree to it anew mends it
        assert saved(library, drafted(factor=5)) == opened(tmp_path).get("double")
        assert not [told for told in library.damaged() if "“double” is refused" in told]


def test_there_are_many_ways():
    assert len(WAYS) >= 20


@pytest.mark.parametrize("name", STRANGERS)
def test_what_nobody_agreed_to_is_told_and_reaches_no_script(
    library: CodeLibrary, name: str, tmp_path: Path
):
    STRANGERS[name](module(tmp_path, name))
    assert [item.name for item in library.list()] == ["add", "cube", "double"]
    (told,) = library.damaged()
    assert f"“{name}” is refused" in told
    files, refused = laid_out(library, tmp_path / "out")
    assert files.keys() == {"__init__.py", "add.py", "cube.py", "double.py"}
    assert EVIL not in files.values()
    assert refused == (told,)


@pytest.mark.parametrize("way", ["link", "file", "open to others", "of somebody else"])
def test_a_folder_that_others_may_change_is_refused_whole(
    library: CodeLibrary, way: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    package = module(tmp_path, "double.py").parent
    match way:
        case "link":
            package.rename(tmp_path / "elsewhere")
            package.symlink_to(tmp_path / "elsewhere")
        case "file":
            package.rename(tmp_path / "elsewhere")
            package.touch()
        case "open to others":
            package.chmod(0o777)
        case _:
            monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert not library.list()
    assert len(library.damaged()) == 3
    assert laid_out(library, tmp_path / "out")[0].keys() == {"__init__.py"}


def test_a_name_that_was_changed_is_no_name(library: CodeLibrary, tmp_path: Path):
    for name in ("evil", "../../evil", "/etc/passwd", "add;"):
        Tamperer(tmp_path).index("UPDATE library SET name = ? WHERE version = 2", name)
        assert {item.name for item in library.list()} == {"add", "cube"}
        assert any("is refused" in told and name in told for told in library.damaged())
        assert "double.py" not in laid_out(library, tmp_path / "out")[0]
        library.remove(name)
        assert module(tmp_path, "add.py").exists()
        saved(library, drafted(factor=3))


def test_a_row_that_is_gone_leaves_files_that_nobody_knows(library: CodeLibrary, tmp_path: Path):
    Tamperer(tmp_path).index("DELETE FROM library WHERE name = 'double'")
    assert {item.name for item in library.list()} == {"add", "cube"}
    assert len(library.damaged()) == 2
    assert "double.py" not in laid_out(library, tmp_path / "out")[0]


def test_an_older_version_that_was_changed_is_told_and_harms_no_newer(
    library: CodeLibrary, tmp_path: Path
):
    Tamperer(tmp_path).index("UPDATE library SET source = 'x' WHERE version = 1 AND name='double'")
    assert library.get("double").version == 2
    assert [item.version for item in library.versions("double")] == [2]
    (told,) = library.damaged()
    assert "An older version of “double” is refused" in told
    assert saved(library, drafted(factor=4)).version == 3
    assert not library.damaged()


@pytest.mark.parametrize("how", ["another", "short", "gone", "link"])
def test_without_its_key_nothing_is_believed(library: CodeLibrary, how: str, tmp_path: Path):
    key = tmp_path / "library.key"
    match how:
        case "another":
            another_key(Tamperer(tmp_path))
        case "short":
            key.write_bytes(b"k")
        case "gone":
            key.unlink()
        case "link":
            key.rename(tmp_path / "moved")
            key.symlink_to(tmp_path / "moved")
    assert not library.list()
    assert len([told for told in library.damaged() if "in the index was changed" in told]) == 3
    assert saved(library, drafted()).version == 1
    assert [item.name for item in opened(tmp_path).list()] == ["double"]


def test_what_the_system_does_not_let_it_read_is_refused(
    library: CodeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = os.open

    def guarded(path, flags, *more, **named):
        if str(path).endswith("double.py"):
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", guarded)
    assert {item.name for item in library.list()} == {"add", "cube"}
    assert "double.py cannot be read" in library.damaged()[0]


def test_a_file_that_is_exchanged_after_it_was_looked_at_is_refused(
    library: CodeLibrary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    real = os.open

    def exchanged(path, flags, *more, **named):
        if Path(path) == module(tmp_path, "double.py"):
            Path(path).unlink()
            os.mkfifo(path)
        return real(path, flags, *more, **named)

    monkeypatch.setattr(os, "open", exchanged)
    assert {item.name for item in library.list()} == {"add", "cube"}
