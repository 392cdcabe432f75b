"""Says why an expert is not for this task on this computer: room, licence, terms, language."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line, readable_size
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import (
    MB,
    NOTHING_MEASURED,
    Hardware,
    Measured,
    limits,
    places,
    too_large,
)
from jarvis_desktop.core.task import Task
from jarvis_desktop.tasks.text.classification import NAMES

RESERVE_MB = 500
"""What a download leaves free on the disk."""

_codes = {name.casefold(): code for code, name in NAMES.items()}


@dataclass(frozen=True, slots=True)
class ExpertCapacity:
    """What this computer has for experts.

    What other programs take of the memory at this moment does not count: that is another when an
    expert is loaded, and then experts that are idle, and the LLM, make room.
    """

    hardware: Hardware = field(default_factory=Hardware)
    disk: int = 0
    """Bytes that are free where experts are kept; 0 where that is not known."""
    disk_budget: int = 0
    """The most bytes of the disk that experts may take together; 0 is no limit."""
    budget: int = 0
    """The most bytes of memory that the person lets experts have; 0 for the usual share."""
    measured: Measured = field(default_factory=lambda: NOTHING_MEASURED)
    """What experts were seen to take here."""


@dataclass(frozen=True, slots=True)
class Licences:
    """Which licences a person wants: patterns such as "CC-BY-NC-*", whatever their case."""

    allowed: tuple[str, ...] = ("*",)
    denied: tuple[str, ...] = ()

    def allow(self, licence: str) -> bool:
        """Whether experts with this licence may be used."""
        return _matches(licence, self.allowed) and not _matches(licence, self.denied)


@dataclass(frozen=True, slots=True)
class Fitting:
    """The rules. `room` may take a while: it is asked off the event loop, once per plan.

    `gated` says whether experts behind the Hub's terms are offered. `ruled_out` says whether a
    text is without a doubt not in the language of a code, such as "en".
    """

    room: Callable[[], ExpertCapacity] = ExpertCapacity
    licences: Licences = field(default_factory=Licences)
    gated: bool = False
    ruled_out: Callable[[str, str], bool] = lambda text, code: False

    def objection(self, expert: Expert, task: Task, *, request: str, room: ExpertCapacity) -> str:
        """Why an expert that is here is not for the task, after its name; "" where it is."""
        limit = limits(room.hardware, room.budget)
        if not places(expert, room.hardware, limit, measured=room.measured):
            return too_large(expert, room.hardware, limit, measured=room.measured)
        return self.objection_to_asking(expert, task, request=request)

    def objection_to_asking(self, expert: Expert, task: Task, *, request: str) -> str:
        """The same for one behind an API, which takes no room here."""
        if expert.licence and not self.licences.allow(expert.licence):
            return tr(
                "has the licence {licence}, which your settings leave out", licence=expert.licence
            )
        return self._wrong_language(expert, task, request)

    def objection_to_fetching(
        self, expert: Expert, task: Task, *, request: str, room: ExpertCapacity
    ) -> str:
        """The same for one that would have to be fetched."""
        if expert.gated and not self.gated:
            return tr("is only given to people who accepted its terms on the Hub")
        if room.disk and (expert.whole_mb + RESERVE_MB) * MB > room.disk:
            return tr(
                "takes {size} of the disk, and {room} are free",
                size=readable_size(expert.whole_mb),
                room=readable_size(room.disk / MB),
            )
        if 0 < room.disk_budget < expert.whole_mb * MB:
            return tr(
                "takes {size} of the disk, and your settings let experts have {room}",
                size=readable_size(expert.whole_mb),
                room=readable_size(room.disk_budget / MB),
            )
        return self.objection(expert, task, request=request, room=room)

    def _wrong_language(self, expert: Expert, task: Task, request: str) -> str:
        """An expert with one language understands that; one with two translates from to."""
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
    """The text that stands in the task itself; "" where it comes from a file or another task."""
    texts = []
    for name, item in task.items():
        if task.type.port(name):
            text = item.text if isinstance(item, Artifact) else item
            texts += [text] if isinstance(text, str) else []
    return "\n".join(texts)


def _language(task: Task) -> str:
    """The code of the language that is asked for; "" where none is, or an unheard-of one."""
    option = task.type.option("language")
    if option is None:
        return ""
    name = one_line(str(task.args.get("language", option.default))).casefold()
    return name if name in NAMES else _codes.get(name, "")
