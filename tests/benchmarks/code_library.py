"""Prints how long the code library takes with 1,000 functions, and how well it finds one.

Run: python -m tests.benchmarks.code_library [FUNCTIONS]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from jarvis_desktop.backends.task_encoder import TaskEncoder
from jarvis_desktop.core.code import FunctionDraft
from jarvis_desktop.paths import shipped
from jarvis_desktop.storage.code_library import CodeLibrary
from tests.benchmarks.history import timed
from tests.benchmarks.wanted_functions import FUNCTIONS, WISHES
from tests.storage.functions import drafted, opened, saved


def draft_of(name: str, says: str) -> FunctionDraft:
    """One of these functions; its body says nothing of what it does."""
    return drafted(name, says)


def found(library: CodeLibrary) -> str:
    """How often the function that is meant is the first, and among the first five."""
    places = []
    for wish, name in WISHES:
        names = [item.name for item in library.search(wish, len(FUNCTIONS))]
        places.append(names.index(name))
    first, five = sum(at == 0 for at in places), sum(at < 5 for at in places)
    return f"first {first} of {len(places)}, among five {five}"


def filled(folder: Path, count: int) -> None:
    """Many functions of a few words each."""
    library = opened(folder)
    for number in range(count):
        name, says = list(FUNCTIONS.items())[number % len(FUNCTIONS)]
        saved(library, draft_of(f"{name}_{number}", f"{says} Kind {number}."))


def main(count: int) -> None:
    """Measure in temporary folders."""
    encoder = TaskEncoder(shipped("models", "planner"))
    encoder.directions(["warm"])
    with tempfile.TemporaryDirectory() as folder:
        for label, meaning in (("words alone", None), ("words and meaning", encoder.directions)):
            library = opened(Path(folder) / label.replace(" ", "_"), meaning)
            for name, says in FUNCTIONS.items():
                saved(library, draft_of(name, says))
            sys.stdout.write(f"{len(FUNCTIONS)} functions, {label}: {found(library)}\n")
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        started = time.perf_counter()
        filled(place, count)
        taken = (time.perf_counter() - started) / count * 1000
        sys.stdout.write(f"{count} functions, save {taken:.1f} ms each\n")
        library = opened(place, encoder.directions)
        words = opened(place)
        name = library.list()[0].name
        reading = [lambda: library.search("plot a chart", 8)] * (count // 100 + 1)
        calls: dict[str, list[Callable[[], object]]] = {
            "list": [library.list] * 20,
            "get": [lambda: library.get(name)] * 50,
            "search first": [lambda: words.search("plot a chart of prices", 8)],
            "search words": [lambda: words.search("plot a chart of prices", 8)] * 20,
            "read meaning": list(reading),
            "search": [lambda: library.search("plot a chart of prices", 8)] * 20,
            "lay out": [lambda: library.lay_out(place / "out")],
            "lay out again": [lambda: library.lay_out(place / "out")] * 10,
            "damaged": [library.damaged] * 10,
        }
        for label, each in calls.items():
            sys.stdout.write(f"{label:<14}{timed(each)}\n")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
