"""Entries as the Hub lists them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from jarvis_desktop.experts.hub.database import HubIndexWriter
from jarvis_desktop.experts.hub.entry import HubEntry, read


def item(repo: str, task: str = "text-classification", **more: Any) -> dict[str, Any]:
    """One of the usual kind: small, open, in the safe format."""
    licence = f"license:{more.pop('licence', 'mit')}"
    tags = ["transformers", "safetensors", "bert", "en", licence, *more.pop("tags", ())]
    return {
        "id": repo,
        "pipeline_tag": task,
        "library_name": "transformers",
        "sha": f"{len(repo) % 16:x}" * 40,
        "lastModified": "2026-01-02T03:04:05.000Z",
        "downloads": 1000,
        "likes": 3,
        "gated": False,
        "private": False,
        "tags": tags,
        "safetensors": {"parameters": {"F32": 25_000_000}, "total": 25_000_000},
        "inferenceProviderMapping": [],
        **more,
    }


def entry(repo: str, task: str = "text-classification", **more: Any) -> HubEntry:
    """The same, read."""
    found = read(item(repo, task, **more), task)
    assert found
    return found


def index(path: Path, *entries: HubEntry) -> Path:
    """An index that holds these."""
    with HubIndexWriter(path) as writer:
        for each in entries:
            writer.keep([each], writer.state(each.task))
        writer.tidy()
    return path
