"""What every Library promises, asked of the fake and of the real one alike."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jarvis_desktop.core.code import FunctionDraft, Library
from jarvis_desktop.core.errors import InputError, StorageError
from tests.fake_library import FakeLibrary
from tests.storage.functions import drafted, module, opened, saved


@pytest.fixture(params=["fake", "real"])
def library(request: pytest.FixtureRequest, tmp_path: Path) -> Library:
    return FakeLibrary() if request.param == "fake" else opened(tmp_path)


@pytest.fixture
def spoil(library: Library, tmp_path: Path) -> Callable[[str], None]:
    """Changes a function behind the library's back."""

    def change(name: str) -> None:
        if isinstance(library, FakeLibrary):
            library.changed.add(name)
        else:
            with module(tmp_path, f"{name}.py").open("a") as file:
                file.write("# more\n")

    return change


def test_what_is_saved_is_there(library: Library) -> None:
    assert not library.list()
    function = saved(library, drafted())
    assert function.draft == drafted()
    assert function.signature == "double(x: int) -> int"
    assert function.summary == "Twice the number."
    assert (function.version, function.used) == (1, 0)
    saved(library, drafted("cube"))
    assert [item.name for item in library.list()] == ["cube", "double"]
    assert library.get("double") == library.list()[1]
    assert replace(library.get("double"), approved=function.approved) == function
    assert not library.damaged()


def test_a_function_has_versions(library: Library) -> None:
    for factor in (2, 3, 4):
        library.used(["double"])
        function = saved(library, drafted(factor=factor))
        assert function.version == factor - 1
    assert [item.draft for item in library.versions("double")] == [
        drafted(factor=factor) for factor in (4, 3, 2)
    ]
    assert library.list()[0].draft == drafted(factor=4)
    assert library.get("double").used == 2
    assert not library.versions("triple")


def test_the_same_is_not_kept_twice(library: Library) -> None:
    first = saved(library, drafted())
    assert saved(library, drafted()).version == first.version == 1
    saved(library, drafted(factor=3))
    assert saved(library, drafted()).version == 3


def test_only_what_was_agreed_to_is_kept(library: Library) -> None:
    other = replace(drafted(), source=drafted().source + "\n# and more\n")
    with pytest.raises(InputError):
        library.save(other, approved=drafted().sha256)
    with pytest.raises(InputError):
        library.save(drafted(), approved="")
    assert not library.list()


@pytest.mark.parametrize(
    "draft",
    [
        drafted("_double"),
        drafted("print"),
        drafted("json"),
        drafted("class"),
        drafted("Double"),
        drafted("d\N{CYRILLIC SMALL LETTER O}uble"),
        drafted("x" * 61),
        drafted("../double"),
        drafted("test_double"),
        replace(drafted(), source="def double(x: int) -> int: return 2 * x"),
        replace(drafted(), source="def double(x) -> int:\n    'Twice.'"),
        replace(drafted(), source="def double(x: int):\n    'Twice.'"),
        replace(drafted(), source="async def double(x: int) -> int:\n    'Twice.'"),
        replace(drafted(), source="def triple(x: int) -> int:\n    'Thrice.'"),
        replace(drafted(), source="def double("),
        replace(drafted(), source=drafted().source + "#" * 60_000),
        replace(drafted(), source="# coding: latin-1\n" + drafted().source),
        replace(drafted(), tests="def test_("),
        replace(drafted(), packages=("numpy; python_version > '3'",)),
        replace(drafted(), packages=("--index",)),
    ],
)
def test_what_breaks_a_rule_is_refused_in_a_sentence(
    library: Library, draft: FunctionDraft
) -> None:
    with pytest.raises(InputError, match=r"\S\.") as caught:
        saved(library, draft)
    assert "Traceback" not in str(caught.value)
    assert not library.list()


def test_uses_are_counted(library: Library) -> None:
    for name in ("cube", "double"):
        saved(library, drafted(name))
    library.used(["double", "unknown"])
    library.used({"double", "cube"})
    library.used([])
    assert [item.used for item in library.list()] == [1, 2]


def test_one_is_removed_with_all_its_versions(library: Library) -> None:
    for draft in (drafted(), drafted(factor=3), drafted("cube")):
        saved(library, draft)
    library.remove("double")
    assert [item.name for item in library.list()] == ["cube"]
    assert not library.versions("double")
    for act in (library.get, library.remove):
        with pytest.raises(InputError, match="double"):
            act("double")
    assert saved(library, drafted()).version == 1
    assert not library.damaged()


def test_what_was_changed_is_refused_until_it_is_written_anew(
    library: Library, spoil: Callable[[str], None]
) -> None:
    for name in ("cube", "double"):
        saved(library, drafted(name))
    spoil("double")
    assert [item.name for item in library.list()] == ["cube"]
    assert [item.name for item in library.search("double", 5)] == ["cube"]
    with pytest.raises(StorageError, match="double"):
        library.get("double")
    (told,) = library.damaged()
    assert "double" in told
    assert saved(library, drafted()).version == 2
    assert len(library.list()) == 2
    assert not library.damaged()
    spoil("cube")
    library.remove("cube")
    assert not library.damaged()


def test_the_nearest_come_first(library: Library) -> None:
    for name, says in (
        ("download_prices", "Closing prices of a stock."),
        ("plot_lines", "A chart with a line for each column."),
        ("rename_photos", "Give photos names by their date."),
    ):
        saved(library, drafted(name, says))
    assert library.search("plot a chart", 1)[0].name == "plot_lines"
    assert library.search("the closing prices", 3)[0].name == "download_prices"
    assert len(library.search("photos", 2)) == 2
    assert len(library.search("", 5)) == 3


SCRIPT = """
from library import double, cube
import library
assert double(3) == 6 and cube(3) == 6, double
assert library.double is double
"""


def test_the_package_is_laid_out_for_scripts(
    library: Library, spoil: Callable[[str], None], tmp_path: Path
) -> None:
    for name in ("cube", "double"):
        saved(library, drafted(name))
    out = tmp_path / "out"
    assert not library.lay_out(out)
    assert {path.name for path in (out / "library").iterdir()} == {
        "__init__.py", "cube.py", "double.py",
    }  # fmt: skip
    assert ran(out, SCRIPT) == ""
    spoil("cube")
    (told,) = library.lay_out(out)
    assert "cube" in told
    assert not (out / "library" / "cube.py").exists()
    assert ran(out, "from library import double") == ""
    assert "ImportError" in ran(out, "from library import cube")


def ran(folder: Path, script: str) -> str:
    """What a script says that is wrong."""
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(folder)!r})\n{script}",
    ]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr
