"""The LLMs on the page of experts: the one in use, installed ones, and those that fit this
computer."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt, QTimer, Signal
from PySide6.QtWidgets import (
    QCompleter,
    QFrame,
    QLineEdit,
    QPushButton,
    QWidget,
)

from jarvis_desktop.core.display import one_line, printable
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import mark, tr
from jarvis_desktop.llm.catalogue import KnownLLM, LLMInventory
from jarvis_desktop.llm.shipped import ShippedLLM
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.controller import DownloadsMonitor, ExpertsController, why
from jarvis_desktop.ui.experts.downloads import offer_of
from jarvis_desktop.ui.experts.list_item import EntryList, ExpertListItem, small
from jarvis_desktop.ui.experts.llm_status import LLMState, Need
from jarvis_desktop.ui.widgets import labels, theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.labels import Label
from jarvis_desktop.ui.widgets.layout import bring_into_view, hbox, vbox

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.experts.downloads import Download
    from jarvis_desktop.llm.catalogue import LLMTrial


BITS = 3
"""How many times the memory an LLM takes without Ollama: it has 16 bits a number, or more."""


class LLMOffers(QWidget):
    """LLMs that Ollama can download or, if it does not run, those that JARVIS can run itself."""

    downloads_wanted = Signal()
    """The user wants to see the downloads."""

    def __init__(self, controller: ExpertsController, watch: DownloadsMonitor) -> None:
        super().__init__()
        self._controller, self._watch = controller, watch
        self._shelved: LLMInventory | None = None
        self.list = EntryList(tr("LLMs that can be downloaded"))
        self.offline = Label(
            tr("In the mode “offline” nothing is downloaded."), role="warning", wrap=True
        )
        vbox(
            Label(tr("Fit this computer"), role="heading"),
            self.offline,
            self.list,
            parent=self,
            spacing=12,
        )
        self.hide()

    def show_offers(self, shelved: LLMInventory, *, may_fetch: bool) -> None:
        """Show what could be fetched."""
        self._shelved = shelved
        able = self._able(shelved)
        best = self._best(shelved, able)
        able.sort(key=lambda each: each is not best)
        with self.list.still():
            self.list.show_keys([each.id for each in able])
            for each in able:
                entry = self.list.entries[each.id]
                self._fill(entry, each, shelved, best=each is best)
                self._give(entry, each, shelved, may_fetch=may_fetch, best=each is best)
        self.offline.setVisible(not may_fetch)
        self.setVisible(bool(able))

    def fetch_best(self) -> None:
        """Fetch the one that is recommended."""
        if self._shelved and (best := self._best(self._shelved, self._able(self._shelved))):
            self._fetch(best, self._shelved)

    def _able(self, shelved: LLMInventory) -> list[KnownLLM]:
        """Those that are not here, run here, and can be got."""
        running = shelved.ollama.running
        return [
            each
            for each in shelved.known
            if each.listed and not each.where and not each.used
            if running or each.without_ollama
            if shelved.computer.holds(_need(each.listed, shelved))
        ]

    def _best(self, shelved: LLMInventory, able: Sequence[KnownLLM]) -> KnownLLM | None:
        """The largest that is quick enough, else the smallest that runs; without Ollama the
        largest, for those are small."""
        if not shelved.ollama.running:
            return able[-1] if able else None
        quick = [
            each
            for each in able
            if each.listed and shelved.computer.suits(_need(each.listed, shelved))
        ]
        return quick[-1] if quick else next(iter(able), None)

    def _fill(
        self, entry: ExpertListItem, known: KnownLLM, shelved: LLMInventory, *, best: bool
    ) -> None:
        listed, expert = known.listed, _expert(known, shelved)
        if listed is None:
            return
        need = _need(listed, shelved)
        tags = [(tr("Recommended"), "accent")] if best else []
        quick = shelved.computer.suits(need)
        tags.append((tr("Fits"), "good") if quick else (tr("Slow here"), "fair"))
        entry.show_name(_name(known, shelved), *tags)
        entry.show_words(
            tr(listed.good_at),
            formatting.joined(
                _size(known, shelved),
                tr("needs {size} of memory", size=labels.size(need)),
                formatting.licence(listed.licence),
                tr("sees pictures") if listed.sees and not expert else "",
            ),
        )

    def _give(
        self,
        entry: ExpertListItem,
        known: KnownLLM,
        shelved: LLMInventory,
        *,
        may_fetch: bool,
        best: bool,
    ) -> None:
        """Its button: to fetch it, or to see how far it is."""
        name = _name(known, shelved)
        queued = (each for each in self._watch.listed if each.name == name and not each.over)
        coming = next(queued, None)
        state = f"{name} {coming and coming.state} {may_fetch} {best}"
        if entry.property("shown") == state:
            return
        entry.setProperty("shown", state)
        if coming:
            entry.do(offer_of(entry, coming, self._controller, self.downloads_wanted.emit))
            return
        entry.complain("")
        said = tr("Download {name}, {size}", name=name, size=_size(known, shelved))
        fetch = button(tr("Download"), said, kind="primary" if best else "")
        fetch.setEnabled(may_fetch)
        fetch.clicked.connect(lambda: self._fetch(known, shelved))
        entry.do(fetch)

    def _fetch(self, known: KnownLLM, shelved: LLMInventory) -> None:
        listed, expert = known.listed, _expert(known, shelved)
        if expert:
            self._controller.do(lambda manager: manager.fetch(expert))
        elif listed:
            self._controller.do(lambda manager: manager.pull(listed.ollama, size=known.size))


def _need(listed: ShippedLLM, shelved: LLMInventory) -> int:
    return listed.need * (1 if shelved.ollama.running else BITS)


def _expert(known: KnownLLM, shelved: LLMInventory) -> Expert | None:
    return None if shelved.ollama.running else known.without_ollama


def _name(known: KnownLLM, shelved: LLMInventory) -> str:
    expert = _expert(known, shelved)
    return formatting.name(expert.id if expert else known.name)


def _size(known: KnownLLM, shelved: LLMInventory) -> str:
    if expert := _expert(known, shelved):
        return formatting.download(expert)
    size = labels.size(known.size)
    verified = known.listed and known.listed.verified
    return size if verified else tr("about {size}", size=size)


SERVERS = mark(
    "LM Studio, llama.cpp, vLLM and paid services are reached by their address. With a server that "
    "is not on this computer, your words leave it."
)
MAX_ANSWER = 2000
"""Characters of the answer that are shown."""


class LLMTest(QObject):
    """Belongs to a line of the list, and to its button."""

    def __init__(
        self,
        controller: ExpertsController,
        entry: ExpertListItem,
        button: QPushButton,
        known: KnownLLM,
    ) -> None:
        super().__init__(button)
        self._controller, self._entry, self._button, self._known = controller, entry, button, known

    def press(self) -> None:
        """Begin, or stop what was begun."""
        what = f"try llm {self._known.name}"
        if what in self._controller.jobs:
            self._controller.jobs.cancel(what)
            return
        self._entry.complain("")
        self._entry.say(
            tr("Waiting for the first word…")
            if self._known.loaded
            else tr("Loading it into memory… That may take a minute.")
        )
        self._entry.show_progress(None, tr("Progress of the test"))
        self._button.setText(tr("Stop"))
        engine, entry, known = self._controller.session.engine, self._entry, self._known

        async def work(app: Application) -> LLMTrial:
            return await app.expert_manager.try_llm(
                known, lambda trial: engine.post(_show, entry, trial)
            )

        self._controller.jobs.start(what, work, self._ended)

    def _ended(self, outcome: Outcome) -> None:
        self._entry.done()
        self._button.setText(tr("Test"))
        if outcome.value is None:
            self._entry.say("")
            self._entry.complain(why(outcome))
        else:
            _show(self._entry, outcome.value)
        self._controller.look_at_llms()


def _show(entry: ExpertListItem, trial: LLMTrial) -> None:
    figures = [tr("first word after {time}", time=labels.seconds(trial.first))]
    if trial.profile:
        figures.append(trial.profile.summary)
    elif trial.speed:
        figures.append(tr("about {count} tokens a second", count=f"{trial.speed:.0f}"))
    figures.append(tr("all of it in {time}", time=labels.seconds(trial.whole)))
    entry.say(f"{printable(trial.words).strip()[:MAX_ANSWER]}\n\n{' · '.join(figures)}")


class ServerForm(QFrame):
    """Adds the LLMs of a server by its address."""

    def __init__(self, controller: ExpertsController) -> None:
        super().__init__()
        self.setObjectName("card")
        self._controller = controller
        self.address = QLineEdit()
        self.address.setProperty("role", "plain")
        self.address.setPlaceholderText("http://127.0.0.1:1234/v1")
        self.address.setAccessibleName(tr("Address of a server"))
        self.look = button(tr("Show its LLMs"))
        self.look.setEnabled(False)
        self.address.textChanged.connect(lambda text: self.look.setEnabled(bool(text.strip())))
        self.address.returnPressed.connect(self._look)
        self.look.clicked.connect(self._look)
        self.state = Label(role="small", wrap=True)
        self.trouble = Label(role="warning", wrap=True)
        self.list = EntryList(tr("LLMs of the server"))
        for widget in (self.state, self.trouble, self.list):
            widget.hide()
        vbox(
            Label(tr(SERVERS), role="small", wrap=True),
            hbox((self.address, 1), self.look, spacing=theme.space()),
            self.state,
            self.trouble,
            self.list,
            parent=self,
            margins=(theme.space("two"), 14, theme.space("two"), 14),
            spacing=theme.space(),
        )

    def _look(self) -> None:
        address = self.address.text().strip()

        async def work(app: Application) -> Sequence[str]:
            return await app.expert_manager.served_llms(address)

        def looked(outcome: Outcome) -> None:
            self.state.hide()
            names = list(outcome.value or ())
            if outcome.value is not None and not names:
                self.trouble.show_or_hide(tr("This server has no LLM that answers."))
            else:
                self.trouble.show_or_hide(one_line(why(outcome), limit=600))
            self.list.show_keys(names)
            for name in names:
                entry = self.list.entries[name]
                entry.show_name(formatting.name(name))
                use = button(tr("Use"), tr("Use {name}", name=formatting.name(name)))
                use.clicked.connect(partial(self._use, address, name))
                entry.do(use)
            QTimer.singleShot(0, self.list, lambda: bring_into_view(self.list))

        if address and self._controller.jobs.start("look at server", work, looked):
            self.trouble.hide()
            self.state.show_or_hide(tr("The server is asked…"))

    def _use(self, address: str, name: str) -> None:
        self._controller.use_service(address, name)
        self.address.clear()
        self.list.show_keys([])


class LLMPart(QWidget):
    """Chooses, fetches, tests and removes them."""

    downloads_wanted = Signal()
    """The user wants to see the downloads."""

    def __init__(self, controller: ExpertsController, watch: DownloadsMonitor) -> None:
        super().__init__()
        self._controller, self._watch = controller, watch
        self._shelved: LLMInventory | None = None
        self._may_fetch = True
        self.state = LLMState()
        self.state.need.connect(self._met)
        self.here_title = Label(tr("Available"), role="heading")
        self.here = EntryList(tr("LLMs that are here"))
        self.more = LLMOffers(controller, watch)
        self.more.downloads_wanted.connect(self.downloads_wanted)
        self.by_name = QWidget()
        self.name = QLineEdit()
        self.name.setProperty("role", "plain")
        self.name.setPlaceholderText(tr("Another one of Ollama’s library, such as gemma3:4b"))
        self.name.setAccessibleName(tr("Name of an LLM of Ollama’s library"))
        self.name.returnPressed.connect(self._pull_named)
        self.pull = button(tr("Download"), tr("Download the LLM of that name"))
        self.pull.setEnabled(False)
        self.name.textChanged.connect(lambda text: self.pull.setEnabled(bool(text.strip())))
        self.pull.clicked.connect(self._pull_named)
        hbox((self.name, 1), self.pull, parent=self.by_name, spacing=theme.space())
        self.server = ServerForm(controller)
        vbox(
            self.state,
            self.here_title,
            self.here,
            self.more,
            self.by_name,
            Label(tr("Add a server"), role="heading"),
            self.server,
            parent=self,
            spacing=12,
        )
        for widget in (self.here_title, self.here, self.by_name):
            widget.hide()
        controller.llms.connect(self._show)
        watch.changed.connect(self._coming)
        self._done: set[str] = set()

    def allow(self, may_fetch: bool) -> None:
        """Whether the mode lets anything be fetched."""
        self._may_fetch = may_fetch
        self._lay_out()

    def _show(self, shelved: LLMInventory) -> None:
        self._shelved = shelved
        names = [each.ollama for each in (known.listed for known in shelved.known) if each]
        completer = QCompleter(names, self.name)
        completer.setCaseSensitivity(Qt.CaseSensitivity.CaseInsensitive)
        self.name.setCompleter(completer)
        self._lay_out()

    def _lay_out(self) -> None:
        shelved = self._shelved
        if shelved is None:
            return
        self.state.show_state(shelved, may_fetch=self._may_fetch)
        here = [each for each in shelved.known if each.where or each.used]
        here.sort(key=lambda each: (not each.used, each.name))
        with self.here.still():
            self.here.show_keys([(each.where, each.name) for each in here])
            for each in here:
                self._fill_here(self.here.entries[each.where, each.name], each)
        for widget in (self.here_title, self.here):
            widget.setVisible(bool(here))
        self.more.show_offers(shelved, may_fetch=self._may_fetch)
        self.by_name.setVisible(shelved.ollama.running and self._may_fetch)

    def _fill_here(self, entry: ExpertListItem, known: KnownLLM) -> None:
        tags = [(tr("Used"), "accent")] if known.used else []
        tags.append((_whose(known), "plain"))
        if known.loaded:
            size = labels.size(known.loaded)
            tags.append((tr("In memory, {size}", size=size), "good"))
        entry.show_name(formatting.name(known.name), *tags)
        entry.show_words(tr(known.listed.good_at) if known.listed else "", _facts(known))
        key = (known.used, known.where, known.name)
        if entry.property("shown") != str(key):
            entry.setProperty("shown", str(key))
            entry.do(*self._buttons(entry, known))

    def _buttons(self, entry: ExpertListItem, known: KnownLLM) -> list[QPushButton]:
        name = formatting.name(known.name)
        made: list[QPushButton] = []
        if not known.used and known.where:
            use = button(tr("Use"), tr("Use {name}", name=name))
            use.clicked.connect(lambda: self._controller.use(known.name))
            made.append(use)
        test = button(tr("Test"), tr("Test {name}", name=name))
        trial = LLMTest(self._controller, entry, test, known)
        test.clicked.connect(trial.press)
        made.append(test)
        if known.where in ("ollama", "transformers"):
            remove = small("trash", tr("Remove {name}", name=name), tr("Remove it"))
            remove.clicked.connect(lambda: self._ask(entry, known))
            made.append(remove)
        return made

    def _met(self, need: Need) -> None:
        """Do what the state above asks for."""
        match need:
            case Need.START:
                self._controller.jobs.start(
                    "start ollama", lambda app: app.expert_manager.start_ollama(), self._started
                )
                self.state.wait(tr("Ollama is started…"))
            case Need.FETCH:
                self.more.fetch_best()
            case Need.AUTO:
                self._controller.use("auto")
            case Need.LOOK:
                self._controller.look_at_llms(refresh=True)

    def _started(self, outcome: Outcome) -> None:
        if outcome.error:
            self.state.complain(str(outcome.error))
        self._controller.look_at_llms(refresh=True)

    def _pull_named(self) -> None:
        name = self.name.text().strip()
        if name and self._may_fetch:
            self._controller.do(lambda manager: manager.pull(name))
            self.name.clear()
            self.downloads_wanted.emit()

    def _ask(self, entry: ExpertListItem, known: KnownLLM) -> None:
        size = labels.size(known.size)
        question = tr(
            "Remove {name}? This frees {size} on the disk.",
            name=formatting.name(known.name),
            size=size,
        )
        if known.used:
            question += " " + tr("It is in use; another available one is used instead.")

        def ended(outcome: Outcome) -> None:
            if outcome.error:
                entry.complain(why(outcome))
            self._controller.look_at_llms(refresh=True)

        def remove() -> None:
            name = f"remove {known.name}"
            self._controller.jobs.start(
                name, lambda app: app.expert_manager.remove_llm(known), ended
            )

        entry.ask(question, tr("Remove it"), remove)

    def _coming(self, listed: Sequence[Download]) -> None:
        """Refresh when a download is finished, and show which LLMs are queued."""
        done = {each.name for each in listed if each.over}
        if done - self._done:
            self._controller.look_at_llms(refresh=True)
            self._controller.look()
        self._done = done
        self._lay_out()


def _whose(known: KnownLLM) -> str:
    if known.in_cloud:
        return tr("Ollama’s cloud")
    return {"ollama": "Ollama", "transformers": tr("On the disk"), "openai": tr("Server")}.get(
        known.where, known.where
    )


def _facts(known: KnownLLM) -> str:
    facts = [labels.size(known.size) if known.size else ""]
    if ollama := known.ollama:
        able = ollama.capabilities
        context = f"{ollama.context_length:,}" if ollama.context_length else ""
        facts += [
            one_line(ollama.parameters, limit=12),
            one_line(ollama.quantisation, limit=12),
            tr("context {count} tokens", count=context) if context else "",
            tr("sees pictures") if "vision" in able else "",
            tr("can reason first") if "thinking" in able else "",
        ]
    facts.append(known.profile.summary if known.profile else "")
    licence = known.listed.licence if known.listed else known.expert and known.expert.licence
    facts.append(formatting.licence(licence) if licence else "")
    return formatting.joined(*facts)
