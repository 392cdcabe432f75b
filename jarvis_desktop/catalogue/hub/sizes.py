"""How much there is to fetch of a repository, by its files as the Hub lists them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase

from jarvis_desktop.catalogue import delivery
from jarvis_desktop.catalogue.hub.entry import HALVES, UNFIT, Entry, count
from jarvis_desktop.catalogue.hub.experts import FILES, files_of
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.hardware import MB


def of_expert(expert: Expert, files: object) -> int:
    """MB of the files that a fetch would bring; 0 where they cannot be told."""
    found = _matching(_sizes(files), expert.files)
    safe = {name: size for name, size in found.items() if not delivery.is_pickle(name)}
    if any(name.endswith((".safetensors", ".bin")) for name in safe):
        found = safe
    return _megabytes(found)


def measured(entry: Entry, files: object) -> Entry:
    """An entry with its size. One whose files are not those of its library does not run."""
    there = _sizes(files)
    halves = any(fnmatchcase(name, "*/*.fp16.safetensors") for name in there)
    tags = (*entry.tags, HALVES) if halves and HALVES not in entry.tags else entry.tags
    sized = replace(entry, tags=tags)
    found = _matching(there, files_of(sized) if entry.library in FILES else ())
    whole = entry.library != "diffusers" or "model_index.json" in there
    if not whole or not any(name.endswith(".safetensors") for name in found):
        return replace(entry, tags=(*entry.tags, UNFIT), runs=False)
    return replace(sized, weights_mb=_megabytes(found))


def _sizes(files: object) -> dict[str, int]:
    return {
        name: count(file.get("size"))
        for file in (files if isinstance(files, list) else ())
        if isinstance(file, dict) and isinstance(name := file.get("rfilename"), str)
    }


def _matching(sizes: Mapping[str, int], patterns: Iterable[str]) -> dict[str, int]:
    wanted = tuple(patterns)
    return {
        name: size
        for name, size in sizes.items()
        if any(fnmatchcase(name, pattern) for pattern in wanted)
    }


def _megabytes(sizes: Mapping[str, int]) -> int:
    size = sum(sizes.values())
    return max(1, round(size / MB)) if size else 0
