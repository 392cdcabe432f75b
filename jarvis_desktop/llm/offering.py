"""What a person without an LLM is offered: one that fits this computer, and how it comes here."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Protocol

from jarvis_desktop.core.call import Report
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.llm import LLM
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Fetcher
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.llm.choice import LLMChoice
from jarvis_desktop.llm.shipped import MB, ShippedLLM, described, fitting
from jarvis_desktop.paths import Paths

DOWNLOAD = "https://ollama.com/download"
OFFLINE = mark("The mode is offline, so nothing is fetched; choose another mode to get one.")
SERVICE = mark("Name a service with: jarvis-desktop llm use ID --address ADDRESS.")
NO_WAY = b"offline"
"""In the mark, where the person was told of no way to get an LLM."""


@dataclass(frozen=True, slots=True)
class Offer:
    """An LLM that could be fetched."""

    name: str
    """What Ollama calls it, or its handle in the catalogue of experts."""
    download_mb: int
    licence: str
    good_at: str
    verified: bool
    """Whether size and licence were read at their source."""
    expert: Expert | None = None
    """Its weights in the catalogue; None where Ollama fetches and runs it."""

    @property
    def described(self) -> str:
        """What a person wants to know before fetching it."""
        return described(self.name, self.download_mb, self.licence, verified=self.verified)


@dataclass(frozen=True, slots=True)
class Missing:
    """That there is no LLM."""

    reason: str
    """Why, in whole sentences."""
    advice: str
    """What to do about it, for one who types commands."""
    offers: tuple[Offer, ...] = ()
    """What can be fetched now, the best first."""
    with_ollama: Offer | None = None
    """What could be fetched if Ollama ran."""


class Household(Protocol):
    """The parts of the application that are needed to get an LLM."""

    @property
    def llms(self) -> LLMChoice:
        """Knows which LLM is used."""
        ...

    @property
    def weights(self) -> Fetcher:
        """Fetches what Ollama does not."""
        ...

    @property
    def experts(self) -> Sequence[Expert]:
        """The catalogue."""
        ...

    @property
    def policy(self) -> Policy:
        """What the mode allows."""
        ...

    @property
    def paths(self) -> Paths:
        """The person's folders."""
        ...


class Offering:
    """Finds out what to offer, fetches it, and remembers that the person was told."""

    def __init__(self, house: Household) -> None:
        self._house = house
        self._mark = house.paths.data / "no-llm-told"

    @property
    def was_told(self) -> bool:
        """Whether the person was told before, in the window or in a terminal.

        One who was told offline, where there is no way to get an LLM, is told again elsewhere.
        """
        try:
            told = self._mark.read_bytes()
        except OSError:
            return False
        return told != NO_WAY or not self._house.policy.allows_downloads

    def note_told(self) -> None:
        """Remember that the person was told; where that fails they are told again."""
        if self.was_told:
            return
        with suppress(OSError):
            self._mark.parent.mkdir(parents=True, exist_ok=True)
            self._mark.write_bytes(b"" if self._house.policy.allows_downloads else NO_WAY)

    async def missing(self) -> Missing | None:
        """What to say where there is no LLM; None where there is one, or where none is wanted."""
        llms = self._house.llms
        if await llms.current() or llms.wanted.provider == "none":
            return None
        return await self._missing()

    async def advice(self) -> str:
        """What to do where there is no LLM, for one who types commands."""
        if self._house.llms.wanted.provider == "none":
            return tr("Change that with: jarvis-desktop llm use auto.")
        return (await self._missing()).advice

    async def _missing(self) -> Missing:
        llms = self._house.llms
        if not self._house.policy.allows_downloads:
            return Missing(llms.reason, tr(OFFLINE))
        if llms.wanted.provider == "openai":
            return Missing(llms.reason, tr(SERVICE))
        by_ollama = await self._by_ollama()
        if by_ollama and (await llms.of_ollama()).running:
            return Missing(llms.reason, self._advice(by_ollama), (by_ollama,))
        from_disk = await self._from_disk()
        offers = (from_disk,) if from_disk else ()
        advice = self._advice(from_disk, with_ollama=by_ollama)
        return Missing(llms.reason, advice, offers, with_ollama=by_ollama)

    def _advice(self, offer: Offer | None, *, with_ollama: Offer | None = None) -> str:
        """The same offers in words."""
        if named := self._house.llms.wanted.id:
            size = f"{best.described}: " if (best := with_ollama or offer) else ""
            return size + tr(
                "Fetch it with: jarvis-desktop llm pull {name}; or take the best that is there "
                "with: jarvis-desktop llm use auto.",
                name=one_line(named),
            )
        if with_ollama:
            told = tr(
                "To use it, install Ollama from {address} and fetch it with: "
                "jarvis-desktop llm pull {name}.",
                address=DOWNLOAD,
                name=with_ollama.name,
            )
            without = (
                tr("Without Ollama: jarvis-desktop llm pull {name}.", name=offer.name)
                if offer
                else ""
            )
            return f"{_fits(with_ollama)} {told} {without}".rstrip()
        if not offer:
            return tr(SERVICE)
        told = tr("To use it, fetch it with: jarvis-desktop llm pull {name}.", name=offer.name)
        return f"{_fits(offer)} {told}"

    async def fetch(self, offer: Offer, report: Report) -> LLM | None:
        """Fetch it; the LLM that is used then. Raises JarvisError; cancelling stops it."""
        if offer.expert:
            await self._house.weights.fetch(offer.expert, report)
        else:
            await self._house.llms.ollama.pull(offer.name, report)
        self._house.llms.forget()
        return await self._house.llms.current()

    async def _by_ollama(self) -> Offer | None:
        if self._house.llms.wanted.provider == "transformers":
            return None
        llms, named = self._house.llms, self._house.llms.wanted.id
        able = [llm for llm in llms.shipped if named in ("", llm.ollama)]
        llm = fitting(able, await llms.measured())
        if llm is None:
            return None
        return Offer(llm.ollama, llm.download_mb, llm.licence, llm.good_at, llm.verified)

    async def _from_disk(self) -> Offer | None:
        """The largest that runs here without Ollama: with 16 bits a number or more it needs about
        three times the memory."""
        llms = self._house.llms
        heavy = Candidate(Expert("llm", "text-generation"), "transformers", heavy=True)
        if llms.wanted.provider == "ollama" or not self._house.policy.allows(heavy):
            return None
        computer = await llms.measured()
        experts = {expert.id: expert for expert in self._house.experts}
        fits = [
            _without_ollama(llm, expert)
            for llm in llms.shipped
            if (expert := experts.get(llm.expert))
            and llms.wanted.id in ("", expert.id)
            and computer.holds(3 * llm.need)
            and expert.download_mb * MB <= computer.disk
        ]
        return fits[-1] if fits else None


def _fits(offer: Offer) -> str:
    return tr(
        "{llm} fits this computer: {strengths}.", llm=offer.described, strengths=tr(offer.good_at)
    )


def _without_ollama(llm: ShippedLLM, expert: Expert) -> Offer:
    return Offer(
        expert.id, expert.download_mb, expert.licence, llm.good_at, expert.verified, expert
    )
