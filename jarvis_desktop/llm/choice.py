"""The choice of the LLM: the one in the settings, or the best that is available.

The chosen LLM is guarded: a failure triggers a new search, and the mode may forbid it at any time.
"""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from contextlib import aclosing, asynccontextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from jarvis_desktop.core.context import Urgency, current_turn, current_urgency, current_wait
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import Fault, InputError, JarvisError, UnavailableError
from jarvis_desktop.core.expert import Candidate, Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.llm import LLM, Ability, Prompt, Think
from jarvis_desktop.core.placement import MemorySize
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaLLM, OllamaServer, OllamaStatus
from jarvis_desktop.llm.openai_compatible import (
    OpenAICompatibleLLM,
    ServedLLM,
    described,
    listed,
    server_at,
)
from jarvis_desktop.llm.profile import LLMProfile, LLMProfiles, profile_key
from jarvis_desktop.llm.shipped import GB, MB, Computer, Item, ShippedLLM
from jarvis_desktop.llm.transformers_local import TransformersLLM
from jarvis_desktop.platform.api_keys import ApiKey, key_for
from jarvis_desktop.platform.hardware_probe import free_disk_bytes, gpu_memory_bytes, memory_bytes
from jarvis_desktop.text.quotation import QuotationFilter

ProviderLLM = OllamaLLM | OpenAICompatibleLLM | TransformersLLM


class GuardedLLM:
    """An LLM that reports its failures and obeys the mode. Its words are free of our own marks."""

    def __init__(
        self,
        llm: ProviderLLM,
        think: Think,
        on_failure: Callable[[], None],
        on_use: Callable[[], None],
        *,
        objection: Callable[[], str],
        queue: PromptQueue,
        profile: Callable[[], LLMProfile | None] = lambda: None,
    ) -> None:
        """Prompts to an LLM on this computer wait for each other in the `queue`."""
        self.name = llm.name
        self.provider: str = llm.provider
        self.remote = llm.remote
        self.window = llm.window
        self.sees = llm.sees
        self._llm = llm
        self._think = think
        self._on_failure = on_failure
        self._on_use = on_use
        self._objection = objection
        self._queue = queue
        self._profile = profile

    @property
    def ability(self) -> Ability:
        """Up to which plans it is useful."""
        profile = self._profile()
        return profile.ability(self._llm.ability) if profile else self._llm.ability

    @property
    def enforces_schema(self) -> bool:
        """Whether it is known that the server enforces schemas."""
        return self._llm.enforces_schema

    async def stream(self, prompt: Prompt) -> AsyncGenerator[str, None]:
        """Return the answer in pieces. Raises JarvisError.

        The next prompt is let through as soon as this answer is written, however slowly it is read.
        """
        if prompt.think is Think.OFF and prompt.schema is None:
            # With reasoning before JSON, some servers forget the schema.
            prompt = replace(prompt, think=self._think)
        written: asyncio.Queue[str | None] = asyncio.Queue()
        writing = asyncio.create_task(self._write(prompt, written))
        try:
            while (piece := await written.get()) is not None:
                yield piece
            await writing
        finally:
            writing.cancel()
            await asyncio.gather(writing, return_exceptions=True)

    async def _write(self, prompt: Prompt, written: asyncio.Queue[str | None]) -> None:
        """Put the answer into `written`, with None after the last piece. Raises JarvisError."""
        try:
            async with nullcontext() if self.remote else self._queue.slot():
                self._check()
                self._on_use()
                # A plan names the results of its tasks in our marks.
                marks = QuotationFilter() if prompt.schema is None else None
                async with aclosing(self._llm.stream(prompt)) as pieces:
                    async for piece in pieces:
                        self._check()
                        if text := marks.feed(piece) if marks else piece:
                            written.put_nowait(text)
                if marks and (text := marks.rest()):
                    written.put_nowait(text)
        except JarvisError:
            self._on_failure()
            raise
        finally:
            written.put_nowait(None)

    def _check(self) -> None:
        if objection := self._objection():  # the mode may have changed since
            raise UnavailableError(objection, fault=Fault.NETWORK)


SEARCH_INTERVAL_S = 30.0
"""Seconds after which the search is repeated."""

ASSUMED_MEMORY = 8 * GB
"""The assumed memory of a computer that does not report it."""

Provider = Literal["auto", "ollama", "openai", "transformers", "none"]
OnDisk = Callable[[], Sequence[tuple[Expert, Path]]]
"""Returns the installed chat LLMs, each with the folder of its weights."""


@dataclass(frozen=True, slots=True)
class LLMPreference:
    """The LLM in the settings."""

    provider: Provider = "auto"
    id: str = ""
    """Its provider's name for it; "" selects the best one."""
    address: str = ""
    """Of the service, or of another Ollama."""
    think: Think = Think.OFF
    """How long it may reason before an answer in words, unless a prompt says so."""
    context: int = 8192
    """The largest number of tokens of a prompt and its answer."""
    sees: bool = False
    """Whether the LLM of an OpenAI-compatible service accepts images."""


@dataclass(frozen=True, slots=True)
class LLMMatch:
    """An LLM that was found, or none."""

    reason: str
    """In sentences; if none was found, one for each place."""
    key: tuple[str, ...] = ()
    profile: str = ""
    """The key of its profile."""
    make: Callable[[], ProviderLLM] | None = None


class LLMChoice:
    """Finds the LLM to use, again every `SEARCH_INTERVAL_S` seconds and after a failure.

    If `policy` keeps everything on this computer, no other is asked. `key` returns the key for an
    address and `room` measures the computer; both are called in a thread. `on_use` is called before
    each prompt.
    """

    def __init__(
        self,
        wanted: LLMPreference,
        policy: Policy,
        *,
        on_disk: OnDisk,
        shipped: Sequence[ShippedLLM] = (),
        room: Callable[[], Computer] | None = None,
        key: Callable[[str], str] = key_for,
        on_use: Callable[[], None] = lambda: None,
        profiles: LLMProfiles | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.shipped = tuple(shipped)
        self.profiles = profiles or LLMProfiles()
        self.on_disk = on_disk
        self.reason = "No LLM was searched for yet."
        """Which LLM is used, or why none, in sentences."""
        self._policy = policy
        self._room = room or this_computer
        self._key_for = key
        self._on_use = on_use
        self._clock = clock
        self._queue = PromptQueue()
        self._looking = asyncio.Lock()
        self._looked: float | None = None
        self._known_by: tuple[str, ...] = ()
        self._profile_key = ""
        self._described: dict[ServedLLM, ServedLLM] = {}
        """What a service states of an LLM of its list, asked once."""
        self._real: ProviderLLM | None = None
        self._watched: LLM | None = None
        self._leaving: dict[TransformersLLM, asyncio.Task[None]] = {}
        self.choose(wanted)

    def choose(self, wanted: LLMPreference) -> None:
        """Use these settings from the next prompt on."""
        self.wanted = wanted
        self.ollama = OllamaServer(wanted.address if wanted.provider == "ollama" else "")
        self._key = ApiKey(partial(self._key_for, wanted.address))
        self._known_by = ("chosen anew",)
        self.forget()

    async def current(self) -> LLM | None:
        """Return the LLM to use now; the same object as long as it is the same LLM."""
        async with self._looking:
            if self._looked is None or self._clock() - self._looked >= SEARCH_INTERVAL_S:
                self._looked = self._clock()  # before the search, so that `forget` during it counts
                try:
                    await self._take(await self._find())
                except BaseException:
                    self.forget()
                    raise
        return self._watched

    async def of_ollama(self) -> OllamaStatus:
        """Return what Ollama has, unless the mode forbids asking it."""
        server = self.ollama.server
        if server.remote and not self._allows(remote=True):
            return OllamaStatus(False, reason=self._forbidden(server.host).reason)
        return await self.ollama.status()

    async def of_service(self, address: str = "") -> Sequence[ServedLLM]:
        """Return the LLMs for answers of a service, by default of the one in the settings.

        Raises JarvisError, also if the mode forbids asking it.
        """
        address = address or self.wanted.address
        server = server_at(address)
        if server.remote and not self._allows(remote=True):
            raise UnavailableError(self._forbidden(server.host).reason)
        found = await listed(address, key=ApiKey(partial(self._key_for, address)), timeout=5.0)
        return [each for each in found if "embed" not in each.name.lower()]

    async def measured(self) -> Computer:
        """Return what this computer has."""
        return await asyncio.to_thread(self._room)

    def forget(self) -> None:
        """Search again at the next use."""
        self._looked = None
        self._described.clear()

    def alike(self, wanted: LLMPreference) -> LLMChoice:
        """Return a second choice, such as for a test prompt. The caller must close it."""
        return LLMChoice(
            wanted,
            self._policy,
            on_disk=self.on_disk,
            shipped=self.shipped,
            room=self._room,
            key=self._key_for,
            on_use=self._on_use,
            profiles=self.profiles,
            clock=self._clock,
        )

    async def unload(self) -> str:
        """Unload the LLM in use from memory; return its name. The next prompt loads it again.

        Raises InputError if there is none or it cannot be unloaded, and UnavailableError.
        """
        await self.current()
        if isinstance(self._real, OllamaLLM):
            await self.ollama.unload(self._real.name)
        elif isinstance(self._real, TransformersLLM):
            await self._real.close()
        elif self._real is None:
            raise InputError(tr("There is no LLM to unload. {reason}", reason=self.reason))
        else:
            raise InputError(
                tr("{name} is not loaded by Ollama or by JARVIS.", name=self._real.name),
                hint=tr("Unload it in the program that runs it."),
            )
        return self._real.name

    @property
    def in_use(self) -> ProviderLLM | None:
        """The LLM in use, unguarded; None if there is none or it was not searched for."""
        return self._real

    @property
    def profile(self) -> LLMProfile | None:
        """What was measured of the LLM in use."""
        return self.profiles.find(self._profile_key)

    def keep_profile(self, profile: LLMProfile) -> None:
        """Save what was measured of the LLM in use."""
        self.profiles.keep(self._profile_key, profile)

    async def close(self) -> None:
        """End the LLM that runs here, even during an answer."""
        if isinstance(self._real, TransformersLLM):
            await self._real.close()
        for former, leaving in tuple(self._leaving.items()):
            await former.close()
            await leaving

    async def _take(self, found: LLMMatch) -> None:
        self.reason = found.reason
        if found.key == self._known_by:
            return
        if isinstance(self._real, TransformersLLM):
            self._let_go(self._real)
        self._known_by = found.key
        self._profile_key = found.profile
        self._real = found.make() if found.make else None
        self._watched = None
        if self._real:
            self._watched = GuardedLLM(
                self._real,
                self.wanted.think,
                self.forget,
                self._on_use,
                objection=partial(self._objection, self._real),
                queue=self._queue,
                profile=partial(self.profiles.find, found.profile),
            )

    def _objection(self, llm: ProviderLLM) -> str:
        """Why it may not be used now; "" if it may."""
        return "" if not llm.remote or self._policy.allows_api else self._forbidden(llm.name).reason

    def _let_go(self, llm: TransformersLLM) -> None:
        """End an LLM that is no longer used, after its current answers."""
        self._leaving[llm] = leaving = asyncio.create_task(llm.retire())
        leaving.add_done_callback(lambda done: self._leaving.pop(llm))

    async def _find(self) -> LLMMatch:
        match self.wanted.provider:
            case "none":
                return LLMMatch(tr("The settings say that no LLM is used."))
            case "ollama":
                return await self._from_ollama()
            case "openai":
                return await self._from_service()
            case "transformers":
                return await self._from_disk()
            case "auto":
                return await self._any()

    async def _any(self) -> LLMMatch:
        sources = [self._from_ollama, self._from_disk]
        if self.wanted.address:
            sources.insert(1, self._from_service)
        reasons = []
        for source in sources:
            found = await source()
            if found.make:
                return found
            reasons.append(found.reason)
        return LLMMatch(" ".join(reasons))

    async def _from_ollama(self) -> LLMMatch:
        server = self.ollama.server
        status = await self.of_ollama()
        if not status.running:
            return LLMMatch(status.reason)
        try:
            llms = await self.ollama.installed()
        except JarvisError as error:
            return LLMMatch(error.message)
        named, remote = self.wanted.id, self._allows(remote=True)
        if named:
            llm = next((each for each in llms if each.is_called(named)), None)
            if llm is None:
                return LLMMatch(tr("Ollama does not have {named}.", named=one_line(named)))
            if not llm.is_local and not remote:
                return self._forbidden(llm.name)
        else:
            able = [each for each in llms if each.is_local and "completion" in each.capabilities]
            if not able:
                return LLMMatch(tr("Ollama runs, but has no LLM that answers."))
            llm = await self._best(able, self._need, anywhere=server.remote)
            if llm is None:
                return LLMMatch(tr("Every LLM that Ollama has needs more memory than there is."))
        return LLMMatch(
            tr("{name} is used, which Ollama runs.", name=llm.name),
            ("ollama", llm.name, llm.digest),
            profile_key("ollama", server.host, llm.name, llm.digest),
            partial(OllamaLLM, llm, server, most_context=self.wanted.context),
        )

    async def _from_service(self) -> LLMMatch:
        address, name = self.wanted.address, self.wanted.id
        if not address:
            return LLMMatch(tr("The settings name no address of an LLM service."))
        server = server_at(address)
        if server.remote and not self._allows(remote=True):
            return self._forbidden(server.host)
        # A remote service is not asked each time; a failing prompt will show it.
        llms: Sequence[ServedLLM] = ()
        if not (name and server.remote):
            try:
                llms = await listed(address, key=self._key, timeout=5.0)
            except JarvisError as error:
                # Some servers have no list: `transformers serve` before its first download.
                if not name or isinstance(error, UnavailableError):
                    return LLMMatch(error.message)
            name = name or next((llm.name for llm in llms if "embed" not in llm.name.lower()), "")
        if not name:
            return LLMMatch(tr("The LLM service at {host} has no LLM.", host=server.host))
        llm = next((each for each in llms if each.name == name), ServedLLM(name))
        if not server.remote and not llm.window:
            if llm not in self._described:
                self._described[llm] = await described(address, llm, key=self._key)
            llm = self._described[llm]
        key = profile_key("openai", server.host, name, llm.digest)
        profile = self.profiles.find(key) or LLMProfile()
        if llm.enforces_schema is None:
            llm = replace(llm, enforces_schema=profile.enforces_schema)
        return LLMMatch(
            tr(
                "{name} is used, by the LLM service at {host}.",
                name=one_line(name),
                host=server.host,
            ),
            ("openai", address, repr(replace(llm, enforces_schema=None))),
            key,
            partial(
                OpenAICompatibleLLM,
                name,
                address,
                key=self._key,
                window=min(self.wanted.context, llm.window or self.wanted.context),
                sees=self.wanted.sees,
                parameters=llm.parameters,
                enforces_schema=llm.enforces_schema,
                on_probe=partial(self.profiles.note_schema, key),
            ),
        )

    async def _from_disk(self) -> LLMMatch:
        named = self.wanted.id
        there = await asyncio.to_thread(self.on_disk)
        found = [each for each in there if named in ("", each[0].id)]
        if not found:
            return LLMMatch(tr("There is no {named} on the disk.", named=one_line(named) or "LLM"))
        if not self._allows(remote=False):
            return LLMMatch(
                tr(
                    "The mode “{mode}” loads no LLM on this computer.",
                    mode=self._policy.mode.called,
                )
            )
        graphics = (await self.measured()).graphics
        best = await self._best(found, lambda each: _weight(each[0], graphics))
        if best is None:
            return LLMMatch(tr("Every LLM on the disk needs more memory than there is."))
        expert, folder = best
        return LLMMatch(
            tr("{name} is used, from the disk.", name=expert.id),
            ("transformers", expert.id, str(folder)),
            profile_key("transformers", "", expert.id),
            partial(TransformersLLM, expert.id, folder, most_context=self.wanted.context),
        )

    async def _best(
        self, able: Iterable[Item], need: Callable[[Item], int], *, anywhere: bool = False
    ) -> Item | None:
        """The largest that is fast enough here, else the smallest that runs at all."""
        if anywhere:
            return sorted(able, key=need)[-1]
        return (await self.measured()).best(able, need)

    def _need(self, llm: InstalledLLM) -> int:
        """The memory of an Ollama LLM, by the shipped list or else by its file."""
        known = next((each.need for each in self.shipped if llm.is_called(each.ollama)), 0)
        return known or llm.size * 6 // 5 + 500 * MB

    def _allows(self, *, remote: bool) -> bool:
        # Only weights that JARVIS loads are heavy; a server's are loaded anyway.
        candidate = Candidate(Expert("llm", ""), "llm", remote=remote, heavy=not remote)
        return self._policy.allows(candidate)

    def _forbidden(self, what: str) -> LLMMatch:
        return LLMMatch(
            tr(
                "The mode “{mode}” allows no LLM of another computer ({what}).",
                mode=self._policy.mode.called,
                what=one_line(what),
            )
        )


def this_computer(folder: Path | None = None) -> Computer:
    """Measure this computer and the disk of `folder`. May take some seconds."""
    disk = free_disk_bytes(folder or Path.home())
    return Computer(memory_bytes() or ASSUMED_MEMORY, gpu_memory_bytes(), disk)


def _weight(expert: Expert, graphics: int) -> int:
    """The memory of an expert: 16 bits per number, on processors 32."""
    return expert.download_mb * MB * (1 if graphics else 2) * 6 // 5


UNLOAD_TIMEOUT_S = 20.0
"""For an LLM to finish its answer and leave the memory."""

POLL_S = 0.2


class LLMInMemory:
    """The memory that the LLM shares with experts. Its next prompt loads it again."""

    def __init__(self, llms: LLMChoice, *, patience: float = UNLOAD_TIMEOUT_S) -> None:
        self._llms = llms
        self._patience = patience

    async def memory(self) -> MemorySize:
        """Return what it takes now; nothing if it is not loaded on this computer."""
        await self._llms.current()  # an earlier run may have loaded it
        llm = self._llms.in_use
        if isinstance(llm, OllamaLLM) and not self._llms.ollama.server.remote:
            try:
                loaded = await self._llms.ollama.in_memory()
            except JarvisError:
                return MemorySize()
            whole, on_card = loaded.get(llm.name, (0, 0))
            return MemorySize(max(0, whole - on_card), on_card)
        if isinstance(llm, TransformersLLM) and llm.pid is not None:
            weights = await asyncio.to_thread(_size, llm.folder)
            graphics = (await self._llms.measured()).graphics
            return MemorySize(0, weights) if graphics else MemorySize(2 * weights)
        return MemorySize()

    async def leave(self) -> str:
        """Unload the LLM after its current answer; return its name.

        Raises UnavailableError if that takes too long, and what Ollama raises.
        """
        llm = self._llms.in_use
        name = llm.name if llm else "The LLM"
        try:
            async with asyncio.timeout(self._patience):
                if isinstance(llm, TransformersLLM):
                    await llm.retire()
                elif isinstance(llm, OllamaLLM):
                    await self._llms.ollama.unload(llm.name)
                    while await self.memory() != MemorySize():  # noqa: ASYNC110 - Ollama tells nobody
                        await asyncio.sleep(POLL_S)
        except TimeoutError as error:
            raise UnavailableError(
                tr("{name} did not leave the memory in time.", name=name)
            ) from error
        return name


def _size(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*.safetensors"))


class PromptQueue:
    """Lets one prompt through at a time: the most urgent first, then in the order of asking.

    A server with one slot would take them in the order in which they arrive: a question would wait
    behind the next round of a goal, and nobody could say for what.
    """

    def __init__(self) -> None:
        self._taken = False
        self._writes_for = ""
        """The turn whose answer is being written."""
        self._waiting: list[tuple[Urgency, int, asyncio.Future[None]]] = []
        self._numbers = itertools.count()

    @asynccontextmanager
    async def slot(self) -> AsyncGenerator[None]:
        """Wait until it is this prompt's turn, and hold the LLM until the block ends. An answer
        that is being written is never interrupted."""
        if self._taken:
            await self._wait()
        self._taken, self._writes_for = True, current_turn.get()
        try:
            yield
        finally:
            self._release()

    async def _wait(self) -> None:
        ours = asyncio.get_running_loop().create_future()
        urgency, writes_for, show = current_urgency.get(), self._writes_for, current_wait.get()
        heapq.heappush(self._waiting, (urgency, next(self._numbers), ours))
        if urgency is not Urgency.BACKGROUND:  # for which nobody waits
            show(True, writes_for)
        try:
            await ours
        except asyncio.CancelledError:
            if not ours.cancelled():  # it was let through at the same moment
                self._release()
            raise
        finally:
            if urgency is not Urgency.BACKGROUND:
                show(False, writes_for)

    def _release(self) -> None:
        while self._waiting:
            _, _, next_one = heapq.heappop(self._waiting)
            if not next_one.done():  # otherwise it was cancelled
                next_one.set_result(None)
                return  # the LLM is taken by that one, which only has to wake up
        self._taken = False
