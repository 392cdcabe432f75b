"""Selects experts: the candidates for each task that are available, allowed and suitable, best
first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase

from jarvis_desktop.assistant.selection.ranking import (
    CHOICE,
    MAX_CANDIDATES,
    ExpertChoice,
    ExpertChooser,
    ExpertQuestion,
    Ranked,
    Similarity,
    format_experience,
    rank,
    rank_to_fetch,
    word_overlap,
)
from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.expert import Candidate, Experience, Expert, Selection
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.llm import LLM, LLMs
from jarvis_desktop.core.placement import (
    MB,
    NOTHING_MEASURED,
    Hardware,
    Measured,
    limits,
    places,
    too_large,
)
from jarvis_desktop.core.policy import Policy
from jarvis_desktop.core.ports import Catalogue, TrackRecord
from jarvis_desktop.core.task import Task, TaskType
from jarvis_desktop.text.languages import NAMES

DISK_RESERVE_MB = 500
"""Disk space that a download must leave free."""

_codes = {name.casefold(): code for code, name in NAMES.items()}


@dataclass(frozen=True, slots=True)
class ExpertCapacity:
    """The room for experts on this computer.

    Memory that other programs use now does not count: it changes until an expert is loaded, and
    idle experts and the LLM make room.
    """

    hardware: Hardware = field(default_factory=Hardware)
    disk: int = 0
    """Free bytes where experts are stored; 0 if unknown."""
    disk_budget: int = 0
    """The most bytes of disk for all experts; 0 for no limit."""
    budget: int = 0
    """The most bytes of memory that the user allows for experts; 0 for the default share."""
    measured: Measured = field(default_factory=lambda: NOTHING_MEASURED)
    """The memory that experts were measured to use here."""


@dataclass(frozen=True, slots=True)
class LicenceRules:
    """The licences that a user accepts, as patterns such as "CC-BY-NC-*", in any case."""

    allowed: tuple[str, ...] = ("*",)
    denied: tuple[str, ...] = ()

    def allow(self, licence: str) -> bool:
        """Whether experts with this licence may be used."""
        return _matches(licence, self.allowed) and not _matches(licence, self.denied)


@dataclass(frozen=True, slots=True)
class Eligibility:
    """The rules for experts. `room` may be slow: it is called off the event loop, once per plan.

    `gated` allows offers of experts behind terms on the Hub. `ruled_out` says whether a text is
    certainly not in the language of a code such as "en".
    """

    room: Callable[[], ExpertCapacity] = ExpertCapacity
    licences: LicenceRules = field(default_factory=LicenceRules)
    gated: bool = False
    ruled_out: Callable[[str, str], bool] = lambda text, code: False

    def objection(self, expert: Expert, task: Task, *, request: str, room: ExpertCapacity) -> str:
        """Why an installed expert does not suit the task, as words after its name; "" if it
        does."""
        limit = limits(room.hardware, room.budget)
        if not places(expert, room.hardware, limit, measured=room.measured):
            return too_large(expert, room.hardware, limit, measured=room.measured)
        return self.objection_to_asking(expert, task, request=request)

    def objection_to_asking(self, expert: Expert, task: Task, *, request: str) -> str:
        """Like `objection`, for an expert behind an API, which needs no room here."""
        if expert.licence and not self.licences.allow(expert.licence):
            return tr(
                "has the licence {licence}, which your settings leave out", licence=expert.licence
            )
        return self._wrong_language(expert, task, request)

    def objection_to_fetching(
        self, expert: Expert, task: Task, *, request: str, room: ExpertCapacity
    ) -> str:
        """Like `objection`, for an expert that would have to be fetched."""
        if expert.gated and not self.gated:
            return tr("is only available to users who accepted its terms on the Hub")
        if room.disk and (expert.whole_mb + DISK_RESERVE_MB) * MB > room.disk:
            return tr(
                "takes {size} of the disk, and {room} are free",
                size=readable_size(expert.whole_mb * MB),
                room=readable_size(room.disk),
            )
        if 0 < room.disk_budget < expert.whole_mb * MB:
            return tr(
                "takes {size} of the disk, and your settings allow experts {room}",
                size=readable_size(expert.whole_mb * MB),
                room=readable_size(room.disk_budget),
            )
        return self.objection(expert, task, request=request, room=room)

    def _wrong_language(self, expert: Expert, task: Task, request: str) -> str:
        """An expert with one language understands it; one with two translates from the first
        into the second."""
        if not expert.languages or "*" in expert.languages:
            return ""
        source, own = expert.languages[0], _own_text(task)
        if len(expert.languages) == 1:
            if self.ruled_out(own or request, source):
                return tr("understands {language} only", language=tr(NAMES.get(source, source)))
            return ""
        target, wanted = expert.languages[1], _language(task)
        if (wanted and wanted != target) or (own and self.ruled_out(own, source)):
            return tr(
                "translates from {source} into {target} only",
                source=tr(NAMES.get(source, source)),
                target=tr(NAMES.get(target, target)),
            )
        return ""


def _matches(licence: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(licence.casefold(), pattern.casefold()) for pattern in patterns)


def _own_text(task: Task) -> str:
    """The text that the task itself contains; "" if it comes from a file or another task."""
    texts = []
    for name, item in task.items():
        if task.type.port(name):
            text = item.text if isinstance(item, Artifact) else item
            texts += [text] if isinstance(text, str) else []
    return "\n".join(texts)


def _language(task: Task) -> str:
    """The code of the requested language; "" if none is requested or it is unknown."""
    option = task.type.option("language")
    if option is None:
        return ""
    name = one_line(str(task.args.get("language", option.default))).casefold()
    return name if name in NAMES else _codes.get(name, "")


@dataclass(frozen=True, slots=True)
class _TaskCandidates:
    """What the event loop knows about a task, for the thread that ranks."""

    task: Task
    candidates: tuple[Candidate, ...]
    experience: Mapping[str, Experience]
    barred: str = ""
    """Why its experts behind an API cannot be used, in sentences."""
    unwanted: Collection[str] = ()
    """The experts that are not to be offered."""


OTHER_MODES = mark("In the modes hybrid and lite, experts on the network do it.")


async def _no_objection() -> str:
    """Return "": nothing prevents the use of APIs."""
    return ""


class Selector:
    """Turns a plan into one Selection per task.

    Without `llms` no LLM is a candidate, and without `chooser` none chooses. `barred` returns why
    no expert behind an API can be used now, or "".
    """

    def __init__(
        self,
        catalogue: Catalogue,
        policy: Policy,
        *,
        fitting: Eligibility | None = None,
        record: TrackRecord | None = None,
        similarity: Similarity = word_overlap,
        llms: LLMs | None = None,
        chooser: ExpertChooser | None = None,
        barred: Callable[[], Awaitable[str]] = _no_objection,
    ) -> None:
        self._catalogue = catalogue
        self._policy = policy
        self.fitting = fitting or Eligibility()
        self._record = record
        self._similarity = similarity
        self._llms = llms
        self._chooser = chooser
        self._barred = barred

    async def select(
        self,
        tasks: Iterable[Task],
        text: str = "",
        *,
        trace: Callable[[str], None] = lambda text: None,
        unwanted: Collection[str] = (),
    ) -> tuple[Selection, ...]:
        """Select candidates for each task, best first, with the reason; or none, with the reason.

        `text` is the request. `trace` receives how the LLM was asked. Experts in `unwanted` are not
        offered.
        """
        llm, ordered = await self._choose_all(tuple(tasks), text, unwanted)
        selections = [selection for selection, _ in ordered]
        questions = [question for _, question in ordered if question]
        if not (llm and self._chooser and questions):
            return tuple(selections)
        choices = await self._chooser.choose(llm, questions, request=text, trace=trace)
        return tuple(
            _chosen(item, choices[item.task_id], llm) if item.task_id in choices else item
            for item in selections
        )

    async def able(self, task: Task) -> tuple[Candidate, ...]:
        """Everyone who could do the task, best first. Ignores a pinned expert and does not ask
        the LLM."""
        _, ((selection, _),) = await self._choose_all((replace(task, expert=""),), "")
        return selection.candidates

    async def _choose_all(
        self, tasks: Sequence[Task], text: str, unwanted: Collection[str] = ()
    ) -> tuple[LLM | None, list[tuple[Selection, ExpertQuestion | None]]]:
        """The LLM, and for each task its selection and what the LLM could be asked about it."""
        found = {task.id: self._candidates_of(task.type) for task in tasks}
        ordered: dict[int, tuple[Selection, ExpertQuestion | None]] = {
            task.id: (
                Selection(task.id, found[task.id], f"{_where_it_runs(found[task.id][0])}."),
                None,
            )
            for task in tasks
            if self._is_direct(task, found[task.id])
        }
        llm, rest = None, [task for task in tasks if task.id not in ordered]
        if rest:
            listed = [found[task.id] for task in rest]
            remote = any(item.by_provider for candidates in listed for item in candidates)
            barred = await self._barred() if remote else ""
            llm = await self._llm(listed)
            known = [
                replace(self._known(task, found[task.id], llm, barred), unwanted=unwanted)
                for task in rest
            ]
            # Measuring memory and detecting languages may take a while the first time.
            ranked = await asyncio.to_thread(self._ordered, known, text)
            ordered |= zip((task.id for task in rest), ranked, strict=True)
        return llm, [ordered[task.id] for task in tasks]

    def _is_direct(self, task: Task, found: Sequence[Candidate]) -> bool:
        """Whether the task has a single built-in skill, which is always allowed and has no
        rivals."""
        return (
            len(found) == 1
            and _instant(found)
            and not (task.expert or task.is_free or self._policy.prefers_network)
        )

    def can_do(self, task_type: TaskType, llm: LLM) -> bool:
        """Whether any expert or the LLM could do such a task, including experts that can be
        fetched.

        Mode, room and licences count; languages do not, since they depend on the request.
        """
        task, room = Task(0, task_type), self.fitting.room()

        def fits(expert: Expert, objection: Callable[..., str]) -> bool:
            spoken_by_all = replace(expert, languages=())
            return not objection(spoken_by_all, task, request="", room=room)

        known = self._known(task, self._candidates_of(task_type), llm)
        allowed = [item for item in known.candidates if self._policy.allows(item)]
        if any(
            not self.fitting.objection_to_asking(
                replace(item.expert, languages=()), task, request=""
            )
            if item.provider
            else fits(item.expert, self.fitting.objection)
            for item in allowed
        ):
            return True
        return self._policy.allows_downloads and any(
            fits(expert, self.fitting.objection_to_fetching)
            for expert in self._catalogue.obtainable(task_type.name)
        )

    async def _llm(self, listed: Sequence[Sequence[Candidate]]) -> LLM | None:
        """The LLM, if some task may need it: finding it takes a moment."""
        if self._llms is None or all(found and _instant(found) for found in listed):
            return None
        return await self._llms.current()

    def _candidates_of(self, task_type: TaskType) -> tuple[Candidate, ...]:
        """The candidates for a task, without those on the network if the mode forbids them."""
        found = self._catalogue.candidates(task_type.name)
        return tuple(
            item
            for item in found
            if not item.provider or (self._policy.allows(item) and _is_served(item))
        )

    def _kept_away(self, name: str) -> str:
        """Why no expert behind an API is available for a task, as a sentence."""
        found = [item for item in self._catalogue.candidates(name) if item.by_provider]
        if any(not self._policy.allows(item) for item in found):
            return tr(OTHER_MODES)
        if not found:
            return ""
        return tr(
            "The provider {provider} of your settings serves none of its experts.",
            provider=found[0].provider,
        )

    def _known(
        self, task: Task, found: tuple[Candidate, ...], llm: LLM | None, barred: str = ""
    ) -> _TaskCandidates:
        name = task.type.name
        if not any(item.by_provider for item in found):
            format_experience = self._policy.prefers_network or not found
            barred = self._kept_away(name) if format_experience else ""
        elif barred:
            found = tuple(item for item in found if not item.by_provider)
        if llm and not (found and _instant(found)):
            itself = self._catalogue.by_llm(name, llm)
            found = (*found, itself) if itself else found
        return _TaskCandidates(task, found, self._record.of(name) if self._record else {}, barred)

    def _ordered(
        self, known: Sequence[_TaskCandidates], text: str
    ) -> list[tuple[Selection, ExpertQuestion | None]]:
        room = self.fitting.room()
        return [self._order(item, text, room) for item in known]

    def _order(
        self, known: _TaskCandidates, text: str, room: ExpertCapacity
    ) -> tuple[Selection, ExpertQuestion | None]:
        """The selection for one task, and a question for the LLM if there is a choice."""
        task = known.task
        able = [item for item in known.candidates if not (task.is_free and item.built_in)]
        allowed = [item for item in able if self._policy.allows(item)]
        objections = {item: self._objection(item, task, text, room) for item in allowed}
        fitting = [item for item in allowed if not objections[item]]
        if not fitting:
            none = self._none(replace(known, candidates=tuple(able)), objections, text, room)
            none = replace(none, reason=f"{none.reason} {known.barred}".strip())
            return self._as_pinned(none, known, objections) if task.expert else none, None
        ranked = rank(
            fitting,
            text,
            known=known.experience,
            similarity=self._similarity,
            network_first=self._policy.prefers_network,
        )
        if task.is_exact:
            ranked = tuple(sorted(ranked, key=lambda item: not item.candidate.built_in))
        order = tuple(item.candidate for item in ranked)
        choice = [item for item in ranked if item.tier == CHOICE and not task.is_exact]
        apart = _each_once(choice)[:MAX_CANDIDATES]
        is_open = len(apart) > 1 and ranked[0].tier == CHOICE
        question = ExpertQuestion(task, apart) if is_open else None
        why = _why(ranked)
        if known.barred and self._policy.prefers_network:
            why = f"{why} {known.barred}"
        selection = Selection(task.id, order, why)
        if task.expert:
            return self._as_pinned(selection, known, objections), None
        return selection, question

    def _as_pinned(
        self, selection: Selection, known: _TaskCandidates, objections: Mapping[Candidate, str]
    ) -> Selection:
        """Put the expert that the user chose first, or explain why it cannot run."""
        wanted = known.task.expert
        first = [item for item in selection.candidates if _is_called(item, wanted)]
        if first:
            rest = [item for item in selection.candidates if item not in first]
            why = tr("You chose {expert}.", expert=wanted)
            return replace(selection, candidates=(*first, *rest), reason=why)
        against = next((why for it, why in objections.items() if _is_called(it, wanted)), "")
        if not against:
            listed = self._catalogue.candidates(known.task.type.name)
            there = [item for item in listed if _is_called(item, wanted)]
            against = self._forbidden(there[0]) if there else tr("is not on this computer")
        return replace(
            selection,
            reason=tr(
                "You chose {expert}, but it {objection}. {reason}",
                expert=wanted,
                objection=against,
                reason=selection.reason,
            ),
        )

    def _forbidden(self, candidate: Candidate) -> str:
        if not self._policy.allows(candidate):
            return tr("may not run in the mode “{mode}”", mode=self._policy.mode.called)
        return tr("cannot be asked now") if candidate.provider else tr("does not suit this")

    def _objection(self, candidate: Candidate, task: Task, text: str, room: ExpertCapacity) -> str:
        if candidate.provider:
            return self.fitting.objection_to_asking(candidate.expert, task, request=text)
        return self.fitting.objection(candidate.expert, task, request=text, room=room)

    def _none(
        self,
        known: _TaskCandidates,
        objections: Mapping[Candidate, str],
        text: str,
        room: ExpertCapacity,
    ) -> Selection:
        """Explain why a task has no candidate, and offer an expert to fetch if that would help."""
        task = known.task
        if known.candidates and not objections:
            mode = self._policy.mode.called
            reason = tr("The mode “{mode}” allows none of its experts.", mode=mode)
            return Selection(task.id, (), reason)
        against = {item.expert: objection for item, objection in objections.items()}
        fetchable = []
        obtainable = self._catalogue.obtainable(task.type.name, text)
        for expert in (each for each in obtainable if each.id not in known.unwanted):
            objection = self.fitting.objection_to_fetching(expert, task, request=text, room=room)
            if objection:
                against[expert] = objection
            else:
                fetchable.append(expert)
        if not fetchable and any(expert.id in known.unwanted for expert in obtainable):
            reason = tr("There is no other expert for it that could be fetched.")
            return Selection(task.id, (), reason)
        if not fetchable:
            return Selection(task.id, (), self._nothing(task, against))
        best = rank_to_fetch(fetchable, text, similarity=self._similarity)[0]
        needs = tr(
            "It needs an expert that is not on this computer: {expert}.", expert=described(best)
        )
        if not self._policy.allows_downloads:
            advice = tr("The mode is offline; choose another mode to fetch it.")
            reason = f"{needs} {advice}"
            return Selection(task.id, (), reason)
        reason = f"{needs} {tr('To get it: jarvis-desktop experts pull {name}.', name=best.id)}"
        return Selection(task.id, (), reason, offer=best)

    def _nothing(self, task: Task, against: Mapping[Expert, str]) -> str:
        if against:
            reasons = "; ".join(f"{expert.id} {why}" for expert, why in list(against.items())[:3])
            return tr("None of its experts suits this: {reasons}.", reasons=reasons)
        beyond = self._catalogue.out_of_reach(task.type.name)
        if not beyond:
            return tr("There is no expert for “{step}” yet.", step=task.type.called)
        return tr(
            "It needs an expert such as {expert}, which this version of JARVIS cannot run yet.",
            expert=described(beyond[0]),
        )


def described(expert: Expert) -> str:
    """An expert with its licence and the size of its download, including its base expert."""
    size = readable_size(expert.whole_mb * MB)
    if not expert.verified:
        size = tr("about {size}", size=size)
    if not expert.licence:
        return tr("{name} ({size} to download)", name=expert.id, size=size)
    return tr(
        "{name} ({size} to download, licence {licence})",
        name=expert.id,
        size=size,
        licence=expert.licence,
    )


def _is_called(candidate: Candidate, name: str) -> bool:
    """Whether the name is that of the expert, or of this way to run it."""
    return name in (candidate.expert.id, candidate.kept_as)


def _is_served(candidate: Candidate) -> bool:
    """Whether the provider runs the expert, as far as is known."""
    known = candidate.expert.providers
    return candidate.own or not known or candidate.provider in ("auto", *known)


def _instant(candidates: Sequence[Candidate]) -> bool:
    """Whether only skills do the task: at once, exactly and without alternatives."""
    return all(item.backend == "skill" for item in candidates)


def _each_once(ranked: Sequence[Ranked]) -> tuple[Ranked, ...]:
    """List an expert once, even if several providers run it."""
    first: dict[tuple[str, str], Ranked] = {}
    for item in ranked:
        first.setdefault((item.candidate.expert.id, item.candidate.backend), item)
    return tuple(first.values())


def _where_it_runs(candidate: Candidate) -> str:
    if candidate.own:
        return tr("{name} runs on {machine}", name=candidate.expert.id, machine=candidate.provider)
    if candidate.remote:
        return tr("{name} answers over the network", name=candidate.expert.id)
    if candidate.backend == "mcp":
        return tr("{name} is a tool of an MCP server", name=candidate.expert.id)
    return tr("{name} runs on this computer now", name=candidate.expert.id)


def _why(ranked: Sequence[Ranked]) -> str:
    """Why the first candidate is first."""
    first = ranked[0]
    parts = [_where_it_runs(first.candidate)]
    if experience := format_experience(first.experience):
        parts.append(experience)
    others = _each_once([item for item in ranked if item.tier == first.tier])[1:]
    if others:
        parts.append(
            trn("ranked before {count} other", "ranked before {count} others", len(others))
        )
    return "; ".join(parts) + "."


def _chosen(selection: Selection, choice: ExpertChoice, llm: LLM) -> Selection:
    """The selection with the LLM's choice first and the others as fallbacks."""
    chosen = choice.candidate
    same = [
        item
        for item in selection.candidates
        if (item.expert, item.backend) == (chosen.expert, chosen.backend) and item != chosen
    ]
    rest = [item for item in selection.candidates if item != chosen and item not in same]
    names = {"llm": llm.name, "expert": choice.candidate.expert.id}
    why = (
        tr("{llm} chose {expert}: {reason}", reason=choice.reason, **names)
        if choice.reason
        else tr("{llm} chose {expert}.", **names)
    )
    return replace(selection, candidates=(chosen, *same, *rest), reason=why)
