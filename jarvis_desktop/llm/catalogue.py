"""The LLMs there are (shipped, installed, of Ollama or a service), and the one to offer."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Literal, Protocol

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import InputError, JarvisError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.core.llm import LLM, Message, MessageRole, Prompt
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Fetcher
from jarvis_desktop.core.task import Report
from jarvis_desktop.llm.choice import LLMChoice, LLMPreference
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaStatus
from jarvis_desktop.llm.profile import LLMProfile, PlanCheck, measure, profile_key
from jarvis_desktop.llm.shipped import MB, Computer, ShippedLLM, described, fitting
from jarvis_desktop.paths import Paths

Where = Literal["ollama", "transformers", "openai", ""]
"""The provider that would run it now; "" if it is not here."""


@dataclass(frozen=True, slots=True)
class KnownLLM:
    """An LLM that is listed or present."""

    id: str
    """The handle of the shipped list, else its provider's name for it."""
    where: Where = ""
    used: bool = False
    loaded: int = 0
    """Bytes of memory; 0 if it is not loaded, or that is not known."""
    listed: ShippedLLM | None = None
    """Its entry in the shipped list."""
    ollama: InstalledLLM | None = None
    """What Ollama says of it."""
    expert: Expert | None = None
    """Its installed weights, which JARVIS loads itself."""
    without_ollama: Expert | None = None
    """The same LLM as weights that JARVIS could download and load itself."""
    profile: LLMProfile | None = None
    """What was measured of it."""

    @property
    def name(self) -> str:
        """Its name for its provider."""
        if self.ollama:
            return self.ollama.name
        if self.where == "transformers" and self.expert:
            return self.expert.id
        return self.listed.ollama if self.listed and not self.where else self.id

    @property
    def size(self) -> int:
        """Bytes on the disk or to download; 0 if it is elsewhere or not known."""
        if self.ollama:
            return self.ollama.size if self.ollama.is_local else 0
        if self.expert:
            return self.expert.download_mb * MB
        return self.listed.download_mb * MB if self.listed else 0

    @property
    def in_cloud(self) -> bool:
        """Whether Ollama passes prompts on to the cloud."""
        return self.ollama is not None and not self.ollama.is_local


@dataclass(frozen=True, slots=True)
class LLMInventory:
    """All that is known of LLMs now."""

    known: tuple[KnownLLM, ...]
    """The shipped list from the smallest, then all others."""
    used: LLM | None
    reason: str
    """Why this one is used, or none, in sentences."""
    wanted: LLMPreference
    ollama: OllamaStatus
    installed: bool
    """Whether the program Ollama is on this computer, running or not."""
    computer: Computer


async def list_llms(
    llms: LLMChoice,
    *,
    experts: Sequence[Expert] = (),
    program: Callable[[], bool] = lambda: False,
) -> LLMInventory:
    """List all LLMs.

    `experts` is the catalogue; `program` returns, in a thread, whether Ollama is installed.
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
    known += [
        KnownLLM(name, "openai", used=used == ("openai", name)) for name in await _served(llms, llm)
    ]
    return LLMInventory(
        tuple(replace(each, profile=_profile(llms, each)) for each in known),
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
) -> KnownLLM:
    found = KnownLLM(id, where, listed=shipped, ollama=ollama, expert=expert)
    in_memory = loaded.get(found.name, 0) if where == "ollama" else 0
    return replace(found, used=used == (where, found.name), loaded=in_memory)


def _profile(llms: LLMChoice, known: KnownLLM) -> LLMProfile | None:
    if known.used:
        found = llms.profile
    elif known.ollama:
        host = llms.ollama.server.host
        found = llms.profiles.find(
            profile_key("ollama", host, known.ollama.name, known.ollama.digest)
        )
    else:
        found = llms.profiles.find(profile_key("transformers", "", known.name))
    return found if found and found.is_measured else None


async def _details(llms: LLMChoice, status: OllamaStatus) -> dict[str, InstalledLLM]:
    found: Sequence[InstalledLLM] = status.llms
    if status.running:
        with suppress(JarvisError):  # it has just ended
            found = await llms.ollama.installed()
    return {each.name: each for each in found}


async def _served(llms: LLMChoice, used: LLM | None) -> Sequence[str]:
    """The names of the LLMs of the service in the settings."""
    names = [used.name] if used and used.provider == "openai" else []
    if llms.wanted.provider in ("openai", "auto") and llms.wanted.address:
        with suppress(JarvisError):  # the reason says what is wrong
            names += [each.name for each in await llms.of_service() if each.name not in names]
    return names


async def _loaded(llms: LLMChoice, status: OllamaStatus) -> dict[str, int]:
    if not status.running:
        return {}
    try:
        return {name: whole for name, (whole, _) in (await llms.ollama.in_memory()).items()}
    except JarvisError:
        return {}


async def settings_for(llms: LLMChoice, name: str) -> dict[str, str]:
    """Return the settings that select the LLM of that name; also "auto" and "none".

    Raises InputError if there is no such LLM on this computer.
    """
    before = llms.wanted
    if name == "none":
        return {"provider": "none"}
    if name == "auto":
        # The address of another Ollama is not that of a service.
        kept = "" if before.provider == "ollama" else before.address
        return {"provider": "auto", "id": "", "address": kept}
    entry = find_shipped(llms, name)
    wanted = entry.ollama if entry else name
    for each in (await llms.of_ollama()).llms:
        if each.is_called(wanted):
            kept = before.address if before.provider == "ollama" else ""
            return {"provider": "ollama", "id": each.name, "address": kept}
    expert = entry.expert if entry else name
    if any(each.id == expert for each, _ in llms.on_disk()):
        return {"provider": "transformers", "id": expert, "address": ""}
    if name in await _served(llms, None):
        return {"provider": "openai", "id": name, "address": before.address}
    raise InputError(
        tr("There is no LLM {name} on this computer.", name=name),
        hint=tr(
            "Fetch it with: jarvis-desktop llm pull {name}. For one of a service, say "
            "--address too.",
            name=name,
        ),
    )


def find_shipped(llms: LLMChoice, name: str) -> ShippedLLM | None:
    """Return the shipped entry with that handle or Ollama name."""
    names = name.casefold()
    return next((each for each in llms.shipped if names in (each.id, each.ollama)), None)


OLLAMA_URL = "https://ollama.com/download"
OFFLINE = mark("The mode is offline, so nothing is fetched; choose another mode to get one.")
SERVICE = mark("Name a service with: jarvis-desktop llm use ID --address ADDRESS.")
INFORMED_OFFLINE = b"offline"
"""In the file if the user was informed while offline, when no LLM could be downloaded."""


@dataclass(frozen=True, slots=True)
class LLMOffer:
    """An LLM that could be downloaded."""

    name: str
    """Ollama's name, or the handle in the catalogue of experts."""
    download_mb: int
    licence: str
    good_at: str
    verified: bool
    """Whether size and licence were read at their source."""
    expert: Expert | None = None
    """Its weights in the catalogue; None if Ollama downloads and runs it."""

    @property
    def described(self) -> str:
        """What the user wants to know before downloading it."""
        return described(self.name, self.download_mb, self.licence, verified=self.verified)


@dataclass(frozen=True, slots=True)
class NoLLM:
    """That there is no LLM, and what to do about it."""

    reason: str
    """In sentences."""
    advice: str
    """What to do, on the command line."""
    offers: tuple[LLMOffer, ...] = ()
    """What can be downloaded now, best first."""
    with_ollama: LLMOffer | None = None
    """What could be downloaded if Ollama ran."""


class LLMOfferDependencies(Protocol):
    """The parts of the application that an offer needs."""

    @property
    def llms(self) -> LLMChoice:
        """The choice of the LLM."""

    @property
    def weights(self) -> Fetcher:
        """Downloads what Ollama does not."""

    @property
    def experts(self) -> Sequence[Expert]:
        """The catalogue."""

    @property
    def policy(self) -> Policy:
        """What the mode allows."""

    @property
    def paths(self) -> Paths:
        """The user's folders."""


class LLMOfferFinder:
    """Finds an LLM to offer, downloads it, and remembers that the user was informed."""

    def __init__(self, dependencies: LLMOfferDependencies) -> None:
        self._dependencies = dependencies
        self._mark = dependencies.paths.data / "no-llm-told"

    @property
    def informed(self) -> bool:
        """Whether the user was informed before, in the window or in a terminal.

        A user who was informed while offline is informed again when downloads are possible.
        """
        try:
            content = self._mark.read_bytes()
        except OSError:
            return False
        return content != INFORMED_OFFLINE or not self._dependencies.policy.allows_downloads

    def note_informed(self) -> None:
        """Remember that the user was informed."""
        if self.informed:
            return
        with suppress(OSError):
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            self._mark.write_bytes(
                b"" if self._dependencies.policy.allows_downloads else INFORMED_OFFLINE
            )

    async def missing(self) -> NoLLM | None:
        """Return what to say without an LLM; None if there is one, or none is wanted."""
        llms = self._dependencies.llms
        if await llms.current() or llms.wanted.provider == "none":
            return None
        return await self._missing()

    async def advice(self) -> str:
        """Return what to do without an LLM, on the command line."""
        if self._dependencies.llms.wanted.provider == "none":
            return tr("Change that with: jarvis-desktop llm use auto.")
        return (await self._missing()).advice

    async def _missing(self) -> NoLLM:
        llms = self._dependencies.llms
        if not self._dependencies.policy.allows_downloads:
            return NoLLM(llms.reason, tr(OFFLINE))
        if llms.wanted.provider == "openai":
            return NoLLM(llms.reason, tr(SERVICE))
        by_ollama = await self._by_ollama()
        if by_ollama and (await llms.of_ollama()).running:
            return NoLLM(llms.reason, self._advice(by_ollama), (by_ollama,))
        from_disk = await self._from_disk()
        offers = (from_disk,) if from_disk else ()
        advice = self._advice(from_disk, with_ollama=by_ollama)
        return NoLLM(llms.reason, advice, offers, with_ollama=by_ollama)

    def _advice(self, offer: LLMOffer | None, *, with_ollama: LLMOffer | None = None) -> str:
        """Put the offers into words."""
        if named := self._dependencies.llms.wanted.id:
            size = f"{best.described}: " if (best := with_ollama or offer) else ""
            return size + tr(
                "Fetch it with: jarvis-desktop llm pull {name}; or take the best that is there "
                "with: jarvis-desktop llm use auto.",
                name=one_line(named),
            )
        if with_ollama:
            how = tr(
                "To use it, install Ollama from {address} and fetch it with: "
                "jarvis-desktop llm pull {name}.",
                address=OLLAMA_URL,
                name=with_ollama.name,
            )
            without = (
                tr("Without Ollama: jarvis-desktop llm pull {name}.", name=offer.name)
                if offer
                else ""
            )
            return f"{_fits(with_ollama)} {how} {without}".rstrip()
        if not offer:
            return tr(SERVICE)
        how = tr("To use it, fetch it with: jarvis-desktop llm pull {name}.", name=offer.name)
        return f"{_fits(offer)} {how}"

    async def fetch(self, offer: LLMOffer, report: Report) -> LLM | None:
        """Download an LLM; return the one that is used then. Raises JarvisError."""
        if offer.expert:
            await self._dependencies.weights.fetch(offer.expert, report)
        else:
            await self._dependencies.llms.ollama.pull(offer.name, report)
        self._dependencies.llms.forget()
        return await self._dependencies.llms.current()

    async def _by_ollama(self) -> LLMOffer | None:
        if self._dependencies.llms.wanted.provider == "transformers":
            return None
        llms, named = self._dependencies.llms, self._dependencies.llms.wanted.id
        able = [llm for llm in llms.shipped if named in ("", llm.ollama)]
        llm = fitting(able, await llms.measured())
        if llm is None:
            return None
        return LLMOffer(llm.ollama, llm.download_mb, llm.licence, llm.good_at, llm.verified)

    async def _from_disk(self) -> LLMOffer | None:
        """The largest that runs without Ollama, with 16 bits or more per number."""
        llms = self._dependencies.llms
        heavy = Candidate(Expert("llm", "text-generation"), "transformers", heavy=True)
        if llms.wanted.provider == "ollama" or not self._dependencies.policy.allows(heavy):
            return None
        computer = await llms.measured()
        experts = {expert.id: expert for expert in self._dependencies.experts}
        fits = [
            _without_ollama(llm, expert)
            for llm in llms.shipped
            if (expert := experts.get(llm.expert))
            and llms.wanted.id in ("", expert.id)
            and computer.holds(3 * llm.need)  # by its figures for Ollama
            and expert.download_mb * MB <= computer.disk
        ]
        return fits[-1] if fits else None


def _fits(offer: LLMOffer) -> str:
    return tr(
        "{llm} fits this computer: {strengths}.", llm=offer.described, strengths=tr(offer.good_at)
    )


def _without_ollama(llm: ShippedLLM, expert: Expert) -> LLMOffer:
    return LLMOffer(
        expert.id, expert.download_mb, expert.licence, llm.good_at, expert.verified, expert
    )


TRIAL_PROMPT = "Say in one short sentence what you can do."
TRIAL_MAX_TOKENS = 96


@dataclass(frozen=True, slots=True)
class LLMTrial:
    """The answer to a test prompt so far."""

    words: str = ""
    first: float = 0.0
    """Seconds until the first word; 0 before it."""
    whole: float = 0.0
    """Seconds since the prompt."""
    tokens: int = 0
    """About how many tokens it has: servers send about one at a time."""
    profile: LLMProfile | None = None
    """What was measured of the LLM so far, after the answer."""

    @property
    def speed(self) -> float:
        """Tokens per second after the first one; 0 if there are too few to know."""
        rest = self.whole - self.first
        return (self.tokens - 1) / rest if self.tokens > 2 and rest > 0 else 0.0


async def try_llm(
    llm: LLM,
    tell: Callable[[LLMTrial], None] = lambda trial: None,
    *,
    clock: Callable[[], float] = time.monotonic,
) -> LLMTrial:
    """Send an LLM a test prompt; `tell` gets the answer so far. Raises JarvisError."""
    begin, trial = clock(), LLMTrial()
    async for piece in llm.stream(
        Prompt((Message(MessageRole.USER, TRIAL_PROMPT),), longest=TRIAL_MAX_TOKENS)
    ):
        passed = clock() - begin
        first = trial.first or passed
        trial = LLMTrial(trial.words + piece, first, passed, trial.tokens + 1)
        tell(trial)
    return LLMTrial(trial.words, trial.first, clock() - begin, trial.tokens)


async def try_and_measure(
    llms: LLMChoice, check: PlanCheck, tell: Callable[[LLMTrial], None] = lambda trial: None
) -> LLMTrial:
    """Try the LLM of a choice, measure it with `check`, and save its profile.

    Raises InputError if there is no LLM, and what the LLM raises.
    """
    llm = await llms.current()
    if llm is None:
        raise InputError(llms.reason)
    trial = await try_llm(llm, tell)
    profile = await measure(llm, check, lambda found: tell(replace(trial, profile=found)))
    llms.keep_profile(profile)
    return replace(trial, profile=profile)


class OllamaDownloader:
    """Downloads LLMs through Ollama.

    It keeps partial downloads itself, and deletes them when it restarts.
    """

    def __init__(self, llms: LLMChoice) -> None:
        self._llms = llms
        self._arrived: dict[str, tuple[int, int]] = {}

    async def fetch(self, name: str, report: Callable[[float | None, int], None]) -> None:
        """Download it. Raises JarvisError."""

        def counted(have: int, size: int) -> None:
            self._arrived[name] = size, have
            report(have / size, size)

        report(None, 0)
        await self._llms.ollama.pull(name, lambda fraction, words: None, counted=counted)
        self._llms.forget()

    async def measure(self, name: str) -> tuple[int, int]:
        """Return what was seen of it, else the shipped list's size."""
        listed = (each for each in self._llms.shipped if name in (each.id, each.ollama))
        size = next((each.download_mb * MB for each in listed), 0)
        return self._arrived.get(name, (size, 0))

    async def free(self) -> int:
        """Return the free bytes of the disk, if Ollama is on this computer."""
        return 0 if self._llms.ollama.server.remote else (await self._llms.measured()).disk

    async def drop(self, name: str) -> None:
        """Forget its progress."""
        await asyncio.sleep(0)
        self._arrived.pop(name, None)
