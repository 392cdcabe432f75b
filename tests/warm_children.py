"""Child processes that start at once: forks of a process that has imported what children need.

Each child is still a process that loads, runs, hangs and dies on its own; only the tenths of a
second in which libraries are imported are not repeated, and for experts the seconds. A test of how
a process starts names `spawned_children`, one of what experts need `warm_experts`.
"""

from __future__ import annotations

import multiprocessing

import pytest

from tests.cli.warm import end_commands
from tests.warm_context import LIGHT, new_context, replace_spawning

EXPERTS = (
    "numpy",
    "PIL.Image",
    "safetensors.torch",
    "torch",
    "transformers",
    "jarvis_desktop.backends.local.worker",
    "jarvis_desktop.experts.download_worker",
    "jarvis_desktop.llm.transformers_worker",
    # What transformers and diffusers import only when the first weights are loaded.
    "transformers.models.auto.modeling_auto",
    "transformers.models.auto.tokenization_auto",
    "transformers.generation.utils",
    "transformers.pipelines",
    "diffusers",
)
"""What experts import. No more, as tests bound the memory of such a process."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Children that run functions of the tests import pytest as well. With real weights they start
    as they do for users, since what they take is compared with the catalogue."""
    if any(
        item.get_closest_marker(mark) for item in session.items for mark in ("real", "real_large")
    ):
        return
    experts = any("warm_experts" in getattr(item, "fixturenames", ()) for item in session.items)
    replace_spawning(EXPERTS if experts else ("pytest", *LIGHT))


def pytest_sessionfinish() -> None:
    """The process of warm commands has no other end."""
    end_commands()


@pytest.fixture(scope="session")
def warm_experts() -> None:
    """Let the process that forks have imported what experts need."""


@pytest.fixture
def spawned_children(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let children start as they do for users."""
    monkeypatch.setattr(multiprocessing, "get_context", new_context)
