"""The LLMs there are: those of the shipped list, those of Ollama, of the disk and of a service."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal

from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.wording import tr
from jarvis_desktop.llm.choice import LLMChoice, Wanted
from jarvis_desktop.llm.ollama_server import InstalledLLM, OllamaStatus
from jarvis_desktop.llm.shipped import MB, Computer, ShippedLLM

Where = Literal["ollama", "transformers", "openai", ""]
"""By whom it would be run now; "" where it is not here."""


@dataclass(frozen=True, slots=True)
class Known:
    """One LLM."""

    id: str
    """The handle of the shipped list, else what its provider calls it."""
    where: Where = ""
    used: bool = False
    loaded: int = 0
    """Bytes that it takes of memory now; 0 where it is not loaded, or nobody knows."""
    listed: ShippedLLM | None = None
    """What the shipped list says of it."""
    ollama: InstalledLLM | None = None
    """What Ollama says of it."""
    expert: Expert | None = None
    """Its weights on the disk, which JARVIS loads itself."""
    without_ollama: Expert | None = None
    """The same LLM of the shipped list as weights that JARVIS could fetch and load itself."""

    @property
    def name(self) -> str:
        """What its provider calls it, or would."""
        if self.ollama:
            return self.ollama.name
        if self.where == "transformers" and self.expert:
            return self.expert.id
        return self.listed.ollama if self.listed and not self.where else self.id

    @property
    def size(self) -> int:
        """Bytes on the disk, or to fetch; 0 where it is elsewhere or nobody says."""
        if self.ollama:
            return self.ollama.size if self.ollama.is_local else 0
        if self.expert:
            return self.expert.download_mb * MB
        return self.listed.download_mb * MB if self.listed else 0

    @property
    def in_cloud(self) -> bool:
        """Whether Ollama passes it on to its makers' computers."""
        return self.ollama is not None and not self.ollama.is_local


@dataclass(frozen=True, slots=True)
class Shelved:
    """All that is known of LLMs at this moment."""

    known: tuple[Known, ...]
    """The shipped list from the smallest, then whatever else is there."""
    used: LLM | None
    reason: str
    """Why this one, or why none, in whole sentences."""
    wanted: Wanted
    ollama: OllamaStatus
    installed: bool
    """Whether the program Ollama is on this computer, whether or not it runs."""
    computer: Computer


async def listed(
    llms: LLMChoice,
    *,
    experts: Sequence[Expert] = (),
    program: Callable[[], bool] = lambda: False,
) -> Shelved:
    """Look what there is.

    `experts` is the catalogue; `program` says in a thread whether Ollama is installed.
    """
    llm = await llms.current()
    used = (llm.provider, llm.name) if llm else ("", "")
    status = await llms.of_ollama()
    details = await _details(llms, status)
    loaded = await _loaded(llms, status)
    disk = {expert.id: expert for expert, _ in await asyncio.to_thread(llms.on_disk)}
    weights = {each.id: each for each in experts}
    known = []
    for each in llms.shipped:
        found, expert = details.pop(each.ollama, None), disk.pop(each.expert, None)
        where: Where = "ollama" if found else "transformers" if expert else ""
        entry = _known(each.id, where, used, loaded, each, found, expert)
        known.append(replace(entry, without_ollama=weights.get(each.expert)))
    known += [_known(name, "ollama", used, loaded, None, each) for name, each in details.items()]
    known += [_known(name, "transformers", used, loaded, None, None, disk[name]) for name in disk]
    if llm and not any(each.used for each in known):
        known.append(Known(llm.name, "openai", used=True))
    return Shelved(
        tuple(known),
        llm,
        llms.reason,
        llms.wanted,
        status,
        status.running or await asyncio.to_thread(program),
        await llms.measured(),
    )


def _known(
    id: str,
    where: Where,
    used: tuple[str, str],
    loaded: dict[str, int],
    shipped: ShippedLLM | None,
    ollama: InstalledLLM | None = None,
    expert: Expert | None = None,
) -> Known:
    found = Known(id, where, listed=shipped, ollama=ollama, expert=expert)
    in_memory = loaded.get(found.name, 0) if where == "ollama" else 0
    return replace(found, used=used == (where, found.name), loaded=in_memory)


async def _details(llms: LLMChoice, status: OllamaStatus) -> dict[str, InstalledLLM]:
    found: Sequence[InstalledLLM] = status.llms
    if status.running:
        with suppress(JarvisError):  # it has just ended: what it listed will do
            found = await llms.ollama.installed()
    return {each.name: each for each in found}


async def _loaded(llms: LLMChoice, status: OllamaStatus) -> dict[str, int]:
    if not status.running:
        return {}
    try:
        return {name: whole for name, (whole, _) in (await llms.ollama.in_memory()).items()}
    except JarvisError:
        return {}


async def wish(llms: LLMChoice, name: str) -> dict[str, str]:
    """What the settings say where the LLM of that name is to be used; also "auto" and "none".

    Raises InputError where there is no such LLM on this computer.
    """
    before = llms.wanted
    if name == "none":
        return {"provider": "none"}
    if name == "auto":
        # The address of another Ollama is none of a service.
        kept = "" if before.provider == "ollama" else before.address
        return {"provider": "auto", "id": "", "address": kept}
    entry = shipped(llms, name)
    wanted = entry.ollama if entry else name
    for each in (await llms.of_ollama()).llms:
        if each.is_called(wanted):
            kept = before.address if before.provider == "ollama" else ""
            return {"provider": "ollama", "id": each.name, "address": kept}
    expert = entry.expert if entry else name
    if any(each.id == expert for each, _ in llms.on_disk()):
        return {"provider": "transformers", "id": expert, "address": ""}
    raise InputError(
        tr("There is no LLM {name} on this computer.", name=name),
        hint=tr(
            "Fetch it with: jarvis-desktop llm pull {name}. For one of a service, say "
            "--address too.",
            name=name,
        ),
    )


def shipped(llms: LLMChoice, name: str) -> ShippedLLM | None:
    """The entry of the shipped list with that handle or Ollama name."""
    names = name.casefold()
    return next((each for each in llms.shipped if names in (each.id, each.ollama)), None)
