"""The rules of the house that no linter knows."""

from __future__ import annotations

import ast
import importlib
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cache
from graphlib import TopologicalSorter
from itertools import chain
from pathlib import Path

import pytest

from tests.english_forms import MAX_SHARE, Text, all_texts, stilted

ROOT = Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "jarvis_desktop"
MODULES = sorted(
    path
    for folder in (PACKAGE, ROOT / "packaging", ROOT / "tests")
    for path in folder.rglob("*.py")
)
DEFINING = re.compile(r"^(?:[A-Z_]+ =|    return) define\(", re.MULTILINE)
TASKS = sorted(
    path for path in (PACKAGE / "tasks").rglob("*.py") if DEFINING.search(path.read_text("utf-8"))
)
LIMIT = 800
ROOT_MODULES = 6
VAGUE = {"utils", "util", "helpers", "helper", "misc", "manager", "managers", "common"}
HEAVY = {"torch", "transformers", "ctranslate2", "faster_whisper", "PySide6", "cv2", "av", "numpy"}
TEXTS = {".py", ".md", ".toml", ".txt", ".sh", ".yml", ".yaml", ".json", ".cfg", ".ini", ".css", ""}
MADE = {".git", ".venv", "__pycache__", ".mypy_cache", ".ruff_cache", ".import_linter_cache"}
MADE |= {".pytest_cache", ".hypothesis", ".coverage", "dist", "build"}

# In two halves, so that this file does not find itself.
FORBIDDEN = (
    *("/wo" + "rk/", "/ro" + "ot/", "/opt/" + "pypi", "/opt/" + "wheels"),
    *(
        "pypi" + ".org",
        "files.python" + "hosted",
        "download.py" + "torch.org",
        "extra-index" + "-url",
    ),
    *("find" + "-links", "index" + "-url"),
)


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_modules_stop_at_800_lines() -> None:
    long = {
        named(path): n
        for path in MODULES
        if (n := len(path.read_text("utf-8").split("\n"))) > LIMIT + 1
    }
    assert not long


def test_few_modules_stand_at_the_root() -> None:
    here = [path.name for path in PACKAGE.glob("*.py") if not path.stem.startswith("__")]
    assert len(here) <= ROOT_MODULES


@dataclass(frozen=True)
class Outline:
    """What the rules ask of a module, which is read once for all of them."""

    classes: list[str]
    docstring: str | None
    imports: set[str]


@cache
def outlines() -> dict[Path, Outline]:
    """Of all modules of the package."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        tree = ast.parse(path.read_text("utf-8"))
        classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
        found[path] = Outline(classes, ast.get_docstring(tree), imports_at_run_time(tree))
    return found


def test_a_class_name_means_one_thing() -> None:
    places: dict[str, list[str]] = {}
    for path, outline in outlines().items():
        for name in outline.classes:
            if not name.startswith("_"):
                places.setdefault(name, []).append(named(path))
    assert not {name: where for name, where in places.items() if len(where) > 1}


def imports_at_run_time(node: ast.AST) -> set[str]:
    """What is imported below a node, in functions too, but for what only types need."""
    found: set[str] = set()
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, ast.stmt | ast.excepthandler | ast.match_case):
            continue
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        if isinstance(child, ast.ImportFrom) and child.module and not child.level:
            found |= {child.module, *(f"{child.module}.{alias.name}" for alias in child.names)}
        found |= imports_at_run_time(child)
    return found


def test_no_module_imports_one_that_imports_it() -> None:
    names = {
        ".".join(path.relative_to(ROOT).with_suffix("").parts): outline.imports
        for path, outline in outlines().items()
        if path.stem != "__init__"
    }
    TopologicalSorter(
        {name: imports & set(names) for name, imports in names.items()}
    ).prepare()  # raises CycleError


@cache
def texts() -> tuple[Text, ...]:
    return all_texts(PACKAGE)


@pytest.mark.parametrize("kind", ["docstring", "comment", "shown"])
def test_english_is_plain(kind: str) -> None:
    """See the word list in CONTRIBUTING; `python -m tests.english_forms` shows every hit."""
    written = [text for text in texts() if text.kind == kind]
    hits = [text for text in written if stilted(text)]
    assert len(written) > 1000
    assert len(hits) <= MAX_SHARE * len(written), [f"{it.path}:{it.line}" for it in hits]


def test_module_names_say_what_is_in_them() -> None:
    assert not [named(path) for path in MODULES if VAGUE & set(path.stem.split("_"))]


def test_modules_say_why_they_exist() -> None:
    assert not [named(path) for path, outline in outlines().items() if not outline.docstring]


QTS = {"count", "data", "event", "paint"}
"""Methods of Qt's without a capital in their name, which are overridden."""


def test_public_methods_of_the_window_say_what_they_do() -> None:
    classes = {
        cls.name: (path, cls)
        for path in (PACKAGE / "ui").rglob("*.py")
        for cls in ast.parse(path.read_text("utf-8")).body
        if isinstance(cls, ast.ClassDef)
    }

    def methods(name: str) -> set[str]:
        """What a class of the window and those it is made of can do."""
        if name not in classes:
            return set()
        cls = classes[name][1]
        own = {item.name for item in cls.body if isinstance(item, ast.FunctionDef)}
        return own.union(*(methods(ast.unparse(base)) for base in cls.bases))

    silent = [
        f"{named(path)}: {name}.{method.name}"
        for name, (path, cls) in classes.items()
        for method in cls.body
        if isinstance(method, ast.FunctionDef)
        and method.name.islower()
        and not (name + method.name).startswith("_")
        and not method.name.startswith("_")
        and method.name not in QTS.union(*(methods(ast.unparse(base)) for base in cls.bases))
        and not ast.get_docstring(method)
    ]
    assert not silent


def test_tasks_were_found() -> None:
    assert len(TASKS) >= 20


@pytest.mark.parametrize("path", TASKS, ids=lambda path: path.stem)
def test_task_is_registered_and_in_the_help(path: Path) -> None:
    from jarvis_desktop.app.help_pages import help_page
    from jarvis_desktop.tasks.definition import Definition
    from jarvis_desktop.tasks.registry import DEFINITIONS

    name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
    values = vars(importlib.import_module(name)).values()
    tables = [value.values() for value in values if isinstance(value, dict)]
    tuples = [value for value in values if isinstance(value, tuple)]
    own = {each for each in chain(values, *tables, *tuples) if isinstance(each, Definition)}
    assert own
    assert own <= set(DEFINITIONS)
    listed = re.findall(r"^\*\*([\w-]+)\*\*:", help_page("tasks"), re.MULTILINE)
    assert {item.type.name for item in own} <= set(listed)


def test_task_names_are_unique() -> None:
    from jarvis_desktop.tasks.registry import DEFINITIONS

    names = [definition.type.name for definition in DEFINITIONS]
    assert len(names) == len(set(names))


def test_nothing_heavy_is_imported_by_compose() -> None:
    code = "import jarvis_desktop.app.build, sys; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert not HEAVY & set(done.stdout.split())


def our_texts() -> list[Path]:
    """All text files but those that git ignores and those that tools make."""
    folders = [path for path in ROOT.iterdir() if path.is_dir() and path.name not in MADE]
    found = [path for path in ROOT.iterdir() if path.is_file()]
    found += [path for folder in folders for path in folder.rglob("*")]
    return [
        path
        for path in found
        if path.suffix in TEXTS and path.is_file() and not MADE & set(path.relative_to(ROOT).parts)
    ]


def test_no_file_names_a_place_of_some_machine_or_a_registry() -> None:
    files = our_texts()
    assert {ROOT / "pyproject.toml", ROOT / ".ci" / "run", Path(__file__).resolve()} <= set(files)
    found = [
        f"{named(path)}: {word}"
        for path in files
        for text in [path.read_text("utf-8", errors="replace")]
        for word in FORBIDDEN
        if word in text and re.search(rf"(?<![\w.]){re.escape(word)}", text)
    ]
    assert not found


CANARY = """
import sys
from PySide6.QtCore import QObject
thing = QObject()
before = sys.getrefcount(None)
for _ in range(1000):
    thing.setObjectName("x")
print(before - sys.getrefcount(None))
"""


def test_qt_loses_no_references_to_none() -> None:
    # PySide6 6.12.0 lost one at each call that returns nothing, until Python 3.11 aborted.
    done = subprocess.run(
        [sys.executable, "-c", CANARY], capture_output=True, text=True, check=True, cwd=ROOT
    )
    assert int(done.stdout) <= 10
