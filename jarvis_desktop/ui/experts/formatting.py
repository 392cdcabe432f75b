"""Figures, sizes and dates of experts and LLMs in words."""

from __future__ import annotations

import time
from collections.abc import Mapping

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr, trn
from jarvis_desktop.core.placement import MB
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.experts.catalogue import Fit, FitLevel
from jarvis_desktop.text.languages import NAMES
from jarvis_desktop.ui.widgets import labels

DAY = 86_400
NAME = 70
"""Characters of a name that are shown."""

SHORT: Mapping[FitLevel, str] = {
    FitLevel.CARD: mark("Fits the graphics card"),
    FitLevel.MEMORY: mark("Fits this computer"),
    FitLevel.SLOWLY: mark("Runs slowly here"),
    FitLevel.NO: mark("Too large"),
    FitLevel.SERVED: mark("Runs elsewhere"),
    FitLevel.UNKNOWN: mark("Size not known"),
}
TONES: Mapping[FitLevel, str] = {
    FitLevel.CARD: "good",
    FitLevel.MEMORY: "good",
    FitLevel.SLOWLY: "fair",
    FitLevel.NO: "bad",
    FitLevel.SERVED: "plain",
    FitLevel.UNKNOWN: "plain",
}
"""How each is coloured, besides its words."""
LONG: Mapping[FitLevel, str] = {
    FitLevel.CARD: mark("needs {need} of {room} of the graphics card"),
    FitLevel.MEMORY: mark("needs {need} of memory"),
    FitLevel.SLOWLY: mark("needs {need} of memory"),
    FitLevel.NO: mark("needs {need} of memory, and experts may have {room}"),
    FitLevel.SERVED: mark("somebody else runs it; it is asked over the network"),
    FitLevel.UNKNOWN: "",
}


def name(text: str) -> str:
    """A foreign name, shortened to one line."""
    return one_line(text, limit=NAME)


def fits(fit: Fit) -> str:
    """The figures behind how well it fits."""
    return tr(LONG[fit.level], need=labels.size(fit.need), room=labels.size(fit.room))


def task(expert: Expert, inventory: Mapping[str, TaskType]) -> str:
    """What it does."""
    found = inventory.get(expert.task)
    title = found.called if found else labels.upper_first(expert.task.replace("-", " "))
    return one_line(title) or tr("Unknown task")


def download(expert: Expert) -> str:
    """The size of the download, including the expert's base."""
    if not expert.download_mb:
        return ""
    size = labels.size(expert.whole_mb * MB)
    return size if expert.verified else tr("about {size}", size=size)


def languages(expert: Expert) -> str:
    """Which languages it understands; for a translator, from which into which."""
    named = [tr(NAMES.get(code, code)) for code in expert.languages if code != "*"]
    if expert.task == "translation" and len(named) == 2:
        return tr("{source} to {target}", source=named[0], target=named[1])
    if not named:
        return tr("many languages") if expert.languages else ""
    shown = ", ".join(one_line(each, limit=20) for each in named[:3])
    return shown if len(named) <= 3 else trn("{count} language", "{count} languages", len(named))


def licence(text: str) -> str:
    """Under which licence it is."""
    if not text:
        return tr("licence not known")
    return tr("licence {licence}", licence=one_line(text, limit=30))


def used(moment: float, *, now: float | None = None) -> str:
    """When it was used last."""
    days = int(((time.time() if now is None else now) - moment) // DAY)
    if days <= 0:
        return tr("used today")
    if days == 1:
        return tr("used yesterday")
    if days < 60:
        return trn("used {count} day ago", "used {count} days ago", days)
    return trn("used {count} month ago", "used {count} months ago", days // 30)


def joined(*facts: str) -> str:
    """Facts on one line."""
    return " · ".join(filter(None, facts))
