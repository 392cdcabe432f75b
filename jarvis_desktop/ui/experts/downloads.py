"""The download queue on the page of experts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QPushButton, QWidget

from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.experts.downloads import Download, DownloadState
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.controller import DownloadsMonitor, ExpertsController
from jarvis_desktop.ui.experts.list_item import Empty, EntryList, ExpertListItem, small
from jarvis_desktop.ui.widgets import labels
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.layout import hbox, vbox

STATES = {
    DownloadState.WAITING: (mark("Waits its turn"), "plain"),
    DownloadState.FETCHING: (mark("Downloading"), "accent"),
    DownloadState.PAUSED: (mark("Paused"), "fair"),
    DownloadState.FAILED: (mark("Failed"), "bad"),
    DownloadState.DONE: (mark("Ready"), "good"),
}
"""What each state is called, and its tone."""
KINDS = {
    "expert": mark("Expert"), "llm": mark("LLM of Ollama"), "engine": mark("Runs experts"),
}  # fmt: skip
MUCH = 20_000_000
"""Bytes; deleting more needs a confirmation."""


class DownloadsPart(QWidget):
    """Shows the queue, with downloads that were paused before a restart."""

    more_wanted = Signal()
    """The queue is empty and the user wants to search for experts."""

    def __init__(self, controller: ExpertsController, watch: DownloadsMonitor) -> None:
        super().__init__()
        self._controller, self._watch = controller, watch
        self._states: dict[object, DownloadState] = {}
        self.list = EntryList(tr("Downloads"))
        self.clear = button(tr("Clear those that are ready"), kind="quiet")
        self.clear.clicked.connect(lambda: controller.do(lambda manager: manager.downloads.clear()))
        foot = hbox(None, self.clear)
        self.empty = Empty("download")
        self.empty.show_words(
            tr("Nothing is being downloaded"),
            tr(
                "Downloads are shown here and run while you do other things. They can be paused at "
                "any time; what has arrived is kept, also when JARVIS is closed."
            ),
            tr("Look for experts"),
        )
        self.empty.act.clicked.connect(self.more_wanted)
        vbox(self.list, foot, self.empty, parent=self, spacing=12)
        watch.changed.connect(self.show_downloads)
        self.show_downloads(watch.listed)

    def show_downloads(self, listed: Sequence[Download]) -> None:
        """Show these downloads."""
        with self.list.still():
            self.list.show_keys([each.key for each in listed])
            for each in listed:
                self._fill(self.list.entries[each.key], each)
        self._states = {each.key: each.state for each in listed}
        self.list.setVisible(bool(listed))
        self.empty.setVisible(not listed)
        self.clear.setVisible(any(each.over for each in listed))

    def _fill(self, entry: ExpertListItem, download: Download) -> None:
        said, tone = STATES[download.state]
        kind = tr(KINDS[download.kind])
        entry.show_name(formatting.name(download.name), (kind, "plain"), (tr(said), tone))
        entry.show_words("", _facts(download))
        entry.complain(one_line(download.reason, limit=600))
        if download.state is DownloadState.FETCHING:
            unknown = download.asking or download.have >= download.size
            fraction = None if unknown else download.fraction
            entry.show_progress(fraction, tr("Progress of the download"))
        elif download.state is DownloadState.PAUSED and download.fraction:
            entry.show_progress(download.fraction, tr("Progress of the download"), rests=True)
        else:
            entry.done()
        if self._states.get(download.key) is not download.state:
            focused = entry.isAncestorOf(self.focusWidget()) if self.focusWidget() else False
            entry.do(*self._buttons(entry, download))
            if focused and not entry.asks:
                entry.refuse()  # the keyboard stays in this line

    def _buttons(self, entry: ExpertListItem, download: Download) -> list[QPushButton]:
        key, name = download.key, formatting.name(download.name)
        made: list[QPushButton] = []
        if download.under_way:
            pause = button(tr("Pause"), tr("Pause {name}", name=name))
            pause.clicked.connect(partial(self._do, "pause", download))
            made.append(pause)
        elif download.state is DownloadState.PAUSED:
            resume = button(tr("Continue"), tr("Resume {name}", name=name), kind="primary")
            resume.clicked.connect(partial(self._do, "resume", download))
            made.append(resume)
        elif download.state is DownloadState.FAILED:
            again = button(tr("Retry"), tr("Retry {name}", name=name), kind="primary")
            again.clicked.connect(partial(self._do, "resume", download))
            made.append(again)
        if download.over:
            drop = small(
                "close", tr("Take {name} off the list", name=name), tr("Take off the list")
            )
            drop.clicked.connect(
                lambda: self._controller.do(lambda manager: manager.downloads.drop(key))
            )
        else:
            drop = small("close", tr("Cancel {name}", name=name), tr("Cancel it"))
            drop.clicked.connect(lambda: self._ask(entry, download))
        return [*made, drop]

    def _do(self, what: str, download: Download) -> None:
        self._controller.do(lambda manager: getattr(manager.downloads, what)(download.key))

    def _ask(self, entry: ExpertListItem, download: Download) -> None:
        """Cancel a download; ask first if much has already arrived."""
        now = next((each for each in self._watch.listed if each.key == download.key), download)
        drop = partial(self._controller.do, lambda manager: manager.downloads.drop(download.key))
        if now.have < MUCH:
            drop()
            return
        name, size = formatting.name(download.name), labels.size(now.have)
        if download.kind == "llm":  # nobody but Ollama can delete that
            question = tr(
                "Cancel {name}? Ollama keeps the {size} that arrived until it is restarted; "
                "fetched again before that, the download resumes.",
                name=name,
                size=size,
            )
        else:
            question = tr(
                "Cancel {name}? The {size} that arrived are deleted. Pausing keeps them.",
                name=name,
                size=size,
            )
        entry.ask(question, tr("Cancel it"), drop)


def offer_of(
    entry: ExpertListItem,
    download: Download,
    controller: ExpertsController,
    show: Callable[[], object],
) -> QPushButton:
    """The button of something that is offered and in the queue: what it is doing, or to try again;
    the reason of a failure stands in its row."""
    name, failed = formatting.name(download.name), download.state is DownloadState.FAILED
    entry.complain(one_line(download.reason, limit=600) if failed else "")
    if failed:
        made = button(tr("Retry"), tr("Retry {name}", name=name), kind="primary")
        made.clicked.connect(
            lambda: controller.do(lambda manager: manager.downloads.resume(download.key))
        )
    else:
        tip = tr("Show the download of {name}", name=name)
        made = button(tr(STATES[download.state][0]), tip, kind="quiet")
        made.clicked.connect(lambda: show())
    return made


def _facts(download: Download) -> str:
    have, size = labels.size(download.have), labels.size(download.size)
    if download.over:
        return size if download.size else ""
    if download.state is DownloadState.FETCHING and download.asking:
        return tr("Asking what there is to fetch…")
    if download.state is DownloadState.FETCHING and download.have >= download.size > 0:
        return tr("All of it is here; checking that it is whole…")
    if not download.size:
        return ""
    facts = [tr("{have} of {size}", have=have, size=size) if download.have else size]
    if download.speed:
        facts.append(tr("{size} a second", size=labels.size(round(download.speed))))
    if (left := download.seconds_left) is not None:
        facts.append(_left(left))
    return formatting.joined(*facts)


def _left(seconds: float) -> str:
    if seconds < 90:
        return tr("{count} s left", count=round(seconds))
    if seconds < 5400:
        return tr("{count} min left", count=round(seconds / 60))
    return tr("{count} h left", count=f"{seconds / 3600:.1f}")
