"""The code library on the disk: its files, kills in the middle, several processes, its search."""

from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from jarvis_desktop.core.errors import StorageError, UnavailableError
from jarvis_desktop.storage import code_files, code_search, database
from jarvis_desktop.storage.code_library import CodeLibrary, LibraryRows
from tests.storage.functions import drafted, module, opened, saved
from tests.storage.samples import START

ROOT = Path(__file__).parents[2]


def test_one_function_is_one_module_with_its_tests_beside_it(tmp_path: Path):
    library = opened(tmp_path)
    assert (library.list(), library.damaged()) == ((), ())
    saved(library, drafted())
    package = module(tmp_path, "double.py").parent
    assert {path.name for path in package.iterdir()} == {"double.py", "test_double.py"}
    assert (package / "double.py").read_bytes() == drafted().source.encode()
    assert (package / "test_double.py").read_bytes() == drafted().tests.encode()
    files = [*package.iterdir(), tmp_path / "library.key", tmp_path / "history.db"]
    assert {stat.S_IMODE(path.stat().st_mode) for path in files} == {0o600}
    assert stat.S_IMODE(package.stat().st_mode) == 0o700
    assert not list((tmp_path / "library" / "incoming").iterdir())


def test_line_ends_stay_as_they_were_agreed_to(tmp_path: Path):
    source = drafted().source.replace("\n", "\r\n")
    draft = type(drafted())("double", source)
    saved(opened(tmp_path), draft)
    assert module(tmp_path, "double.py").read_bytes() == source.encode()
    assert module(tmp_path, "test_double.py").read_bytes() == b""
    assert opened(tmp_path).get("double").draft == draft


class KilledError(BaseException):
    """Stands for a kill -9: nothing of ours catches it."""


def killed_at(monkeypatch: pytest.MonkeyPatch, owner: object, name: str, *, after: int = 0) -> None:
    """The process ends at the call of that method that follows `after` others."""
    real, calls = getattr(owner, name), iter(range(after))

    def kill(*args: object, **named: object) -> object:
        if next(calls, None) is None:
            raise KilledError
        return real(*args, **named)

    monkeypatch.setattr(owner, name, kill)


KILLS: dict[str, tuple[object, str, int]] = {
    "before its row": (LibraryRows, "begin", 0),
    "before its files": (code_files, "_staged", 0),
    "between its files": (code_files, "_staged", 1),
    "before they are in place": (Path, "replace", 0),
    "with one of them in place": (Path, "replace", 1),
    "before it counts": (LibraryRows, "settle", 0),
}


@pytest.mark.parametrize("moment", KILLS)
@pytest.mark.parametrize("name", ["double", "triple"])
def test_a_kill_while_saving_harms_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: str, name: str
):
    library = opened(tmp_path)
    for draft in (drafted("cube"), drafted()):
        saved(library, draft)
    changed = drafted(name, factor=3)
    owner, method, after = KILLS[moment]
    with monkeypatch.context() as patch:
        killed_at(patch, owner, method, after=after)
        with pytest.raises(KilledError):
            saved(library, changed)
    other = opened(tmp_path)
    assert [item.name for item in other.list()] == ["cube", "double"]
    assert other.get("double").version == 1
    assert other.damaged() == ()
    assert not other.lay_out(tmp_path / "out")
    assert (tmp_path / "out" / "library" / "double.py").read_bytes() == drafted().source.encode()
    # Whoever saves next finishes it; the same one saved again is not kept twice.
    saved(other, drafted("add"))
    assert saved(other, changed).version == (2 if name == "double" else 1)
    assert other.get(name).draft == changed
    assert other.damaged() == ()
    assert not list((tmp_path / "library" / "incoming").iterdir())


def test_a_kill_while_removing_is_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    library = opened(tmp_path)
    for name in ("cube", "double"):
        saved(library, drafted(name))
    with monkeypatch.context() as patch:
        killed_at(patch, Path, "unlink", after=1)
        with pytest.raises(KilledError):
            library.remove("double")
    assert [item.name for item in library.list()] == ["cube"]
    assert len(library.damaged()) == 1
    library.remove("double")
    assert library.damaged() == ()


def test_what_cannot_be_written_is_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    library = opened(tmp_path)
    saved(library, drafted())
    with monkeypatch.context() as patch:
        patch.setattr(os, "fsync", full)
        with pytest.raises(StorageError, match="no space left") as caught:
            saved(library, drafted(factor=3))
    assert caught.value.hint
    assert library.get("double").draft == drafted()
    assert library.damaged() == ()
    module(tmp_path, "cube.py").mkdir()
    with pytest.raises(StorageError, match="a folder is in its place"):
        saved(library, drafted("cube"))
    assert saved(library, drafted(factor=3)).version == 2
    module(tmp_path, "test_double.py").unlink()
    module(tmp_path, "test_double.py").mkdir()
    with pytest.raises(StorageError, match=r"test_double\.py cannot be removed"):
        library.remove("double")


def full(handle: int) -> None:
    raise OSError(28, "No space left on device")


WRITER = """
import sys
from pathlib import Path
from jarvis_desktop.storage import database
from tests.storage.functions import drafted, opened, saved
folder, start = Path(sys.argv[1]), int(sys.argv[2])
database.BUSY_SECONDS = 60
library = opened(folder)
sys.stdin.readline()
for number in range(start, start + 12):
    saved(library, drafted(f"own_{start}_{number}"))
    saved(library, drafted("shared", factor=number))
    library.used(["shared"])
    assert library.get("shared").draft.source
    library.list()
"""


def test_several_processes_use_it_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    # How long one waits for another is the business of a slow disk.
    monkeypatch.setattr(database, "BUSY_SECONDS", 60)
    saved(opened(tmp_path), drafted("shared", factor=1))
    command = [sys.executable, "-c", WRITER, str(tmp_path)]
    runs = [
        subprocess.Popen([*command, str(start)], stdin=subprocess.PIPE, text=True, cwd=ROOT)
        for start in (100, 200)
    ]
    for run in runs:
        assert run.stdin
        run.stdin.write("go\n")
        run.stdin.close()
    library = opened(tmp_path)
    while any(run.poll() is None for run in runs):
        # Whoever looks in the middle of saving never takes it for tampering.
        assert library.damaged() == ()
        assert library.get("shared").name == "shared"
        assert "shared" in [item.name for item in library.list()]
    assert [run.returncode for run in runs] == [0, 0]
    assert len(library.list()) == 25
    versions = library.versions("shared")
    assert [item.version for item in versions] == list(range(25, 0, -1))
    assert library.get("shared").used == 24
    assert library.damaged() == ()


def test_threads_may_use_one_at_once(tmp_path: Path):
    library = opened(tmp_path)
    wrong: list[BaseException] = []

    def work(name: str) -> None:
        try:
            for factor in (2, 3):
                saved(library, drafted(name, factor=factor))
                library.search("double", 3)
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(f"f{number}x",)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert [item.version for item in library.list()] == [2, 2, 2, 2]


Meaning = Callable[[Sequence[str]], list[list[float]]]


class Reader:
    """Tells meaning by a few words; counts what it read."""

    def __init__(self, *topics: str) -> None:
        self.topics = topics
        self.read: list[str] = []
        self.error: UnavailableError | None = None

    def __call__(self, texts: Sequence[str]) -> list[list[float]]:
        if self.error:
            raise self.error
        self.read += texts
        return [
            [1.0, *(float(any(word in text.lower() for word in topic.split("/"))) * 3
                    for topic in self.topics)]
            for text in texts
        ]  # fmt: skip


def test_what_means_alike_is_near(tmp_path: Path):
    reader = Reader("fetch/download", "draw/chart", "photo/picture")
    library = opened(tmp_path, reader)
    for name, says in (
        ("acquire", "Download a file."),
        ("render", "Make a chart."),
        ("snap", "Sort each photo."),
    ):
        saved(library, drafted(name, says))
    assert library.search("fetch it", 1)[0].name == "acquire"
    assert library.search("draw it", 1)[0].name == "render"
    assert library.search("my pictures", 1)[0].name == "snap"
    assert sorted(text for text in reader.read if "." in text)[1:] == sorted(
        ["acquire. Download a file.", "render. Make a chart.", "snap. Sort each photo."]
    )


def test_each_function_is_read_once_until_its_words_or_the_reader_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    for name in ("cube", "double"):
        saved(opened(tmp_path), drafted(name))
    reader = Reader("number")
    library = opened(tmp_path, reader)
    library.search("numbers", 3)
    assert len(reader.read) == 4  # the probe, two functions, the wish
    library.search("more numbers", 3)
    saved(library, drafted(factor=3))
    assert len(reader.read) == 5
    saved(library, drafted(says="Something else."))
    assert reader.read[5:] == ["double. Something else."]
    other = Reader("number", "else", "Download")
    opened(tmp_path, other).search("numbers", 3)
    assert len(other.read) == 4
    monkeypatch.setattr(code_search, "MAX_EMBEDDED", 1)
    third = Reader("twice")
    assert len(opened(tmp_path, third).search("numbers", 3)) == 2
    assert len(third.read) == 3


def test_without_the_reader_words_do(tmp_path: Path):
    reader = Reader("number")
    reader.error = UnavailableError("The weights cannot be loaded.")
    library = opened(tmp_path, reader)
    saved(library, drafted())
    saved(library, drafted("plot_lines", "Draw a chart."))
    assert library.search("charts", 1)[0].name == "plot_lines"


def test_words_of_any_length_are_looked_for(tmp_path: Path):
    library = opened(tmp_path, Reader("number"))
    saved(library, drafted())
    for words in ("x" * 1_000_000, "\ud800\0", "double " * 100_000, "' OR 1=1 --"):
        assert len(library.search(words, 3)) == 1


def test_a_session_that_goes_on_gets_new_functions_and_versions(tmp_path: Path):
    library = opened(tmp_path)
    saved(library, drafted())
    out = tmp_path / "out"
    library.lay_out(out)
    run = subprocess.Popen(
        [sys.executable, "-B", "-c", SESSION, str(out)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert run.stdin
    assert run.stdout
    assert run.stdout.readline() == "6\n"
    kept = (out / "library" / "__init__.py").stat()
    saved(library, drafted(factor=5))
    saved(library, drafted("cube", factor=27))
    library.lay_out(out)
    assert (out / "library" / "__init__.py").stat().st_mtime_ns == kept.st_mtime_ns
    run.stdin.write("go\n")
    rest = run.communicate()[0]
    assert rest.splitlines() == [
        "15",
        "81",
        "['cube', 'double']",
        "function",
        "has no function nope",
    ]


SESSION = """
import sys
sys.path.insert(0, sys.argv[1])
from library import double
print(double(3), flush=True)
sys.stdin.readline()
import library.double
print(library.double(3))
from library import *
print(cube(3))
print(dir(library))
print(type(library.cube).__name__)
try:
    library.nope
except AttributeError as error:
    print(str(error)[12:-1])
"""


def test_functions_that_need_each_other(tmp_path: Path):
    library = opened(tmp_path)
    for one, other in (("even", "odd"), ("odd", "even")):
        head = f"from library import {other}\n"
        draft = drafted(one)
        saved(library, type(draft)(one, head + draft.source))
    library.lay_out(tmp_path / "out")
    code = f"import sys; sys.path.insert(0, {str(tmp_path / 'out')!r}); from library import even"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert "even is still being imported: of two functions that need each other" in done.stderr


def test_it_is_laid_out_over_whatever_is_there(tmp_path: Path):
    library = opened(tmp_path)
    saved(library, drafted())
    out, victim = tmp_path / "out", tmp_path / "victim.py"
    victim.write_bytes(b"mine")
    out.mkdir()
    (out / "library").symlink_to(tmp_path / "library" / "library")
    library.lay_out(out)
    package = out / "library"
    assert not package.is_symlink()
    (package / "double.py").unlink()
    (package / "double.py").symlink_to(victim)
    (package / "__pycache__").mkdir()
    (package / "__pycache__" / "double.pyc").touch()
    (package / "evil.so").touch()
    (package / "__init__.py").unlink()
    (package / "__init__.py").hardlink_to(victim)
    library.lay_out(out)
    assert victim.read_bytes() == b"mine"
    assert {path.name for path in package.iterdir()} == {"__init__.py", "double.py"}
    assert (package / "double.py").read_bytes() == drafted().source.encode()
    assert not os.path.samefile(package / "double.py", module(tmp_path, "double.py"))
    (tmp_path / "file").touch()
    with pytest.raises(StorageError, match="cannot be laid out"):
        library.lay_out(tmp_path / "file" / "deeper")


def test_it_makes_the_tables_that_are_missing(tmp_path: Path):
    (tmp_path / "history.db").touch()
    assert opened(tmp_path).list() == ()
    path = tmp_path / "deeper" / "history.db"
    library = CodeLibrary(tmp_path, path, now=lambda: START)
    assert saved(library, drafted()).version == 1
