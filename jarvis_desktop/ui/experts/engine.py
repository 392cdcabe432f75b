"""The card of the engine on the page of experts: whether torch is there, and for which computer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.placement import MB
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.experts import formatting
from jarvis_desktop.ui.experts.controller import ExpertsController, why
from jarvis_desktop.ui.experts.list_item import EntryList
from jarvis_desktop.ui.widgets import labels
from jarvis_desktop.ui.widgets.forms import button

if TYPE_CHECKING:
    from jarvis_desktop.app.experts import EngineStatus

KEY = "torch"


class EngineCard(EntryList):
    """Shows the engine in use, or offers it. Downloads appear in the list of downloads."""

    def __init__(self, controller: ExpertsController) -> None:
        super().__init__(tr("What runs experts"))
        self._controller = controller
        self.hide()
        controller.engine.connect(self.show_status)

    def show_status(self, status: EngineStatus) -> None:
        """Show it; nothing if torch is installed beside JARVIS."""
        self.show_keys([] if status.in_environment else [KEY])
        if status.in_environment:
            return
        entry, used = self.entries[KEY], status.used
        size = tr("about {size} to download", size=labels.size(status.download_mb * MB))
        if used is None:
            entry.show_name(KEY, (tr("Not installed"), "fair"))
            entry.show_words(
                tr("Runs experts on this computer. The first expert asks for it."), size
            )
        else:
            tags = [] if status.newest else [(tr("There is a newer one"), "fair")]
            entry.show_name(f"{KEY} {used.torch}", *tags)
            update = "" if status.newest else size
            facts = formatting.joined(labels.size(used.size), update)
            entry.show_words(tr("Runs experts on this computer."), facts)
        buttons = []
        if not status.newest:
            get = button(tr("Download"), tr("Download {name}", name=KEY), kind="primary")
            get.clicked.connect(
                lambda: self._controller.do(
                    lambda manager: manager.downloads.add(
                        "engine", KEY, size=status.download_mb * MB
                    )
                )
            )
            buttons.append(get)
        if used is not None:
            remove = button(tr("Remove"), tr("Remove {name}", name=KEY), kind="quiet")
            remove.clicked.connect(
                lambda: entry.ask(
                    tr(
                        "Remove {name}? This frees {size} on the disk. Experts cannot run here "
                        "without it.",
                        name=KEY,
                        size=labels.size(used.size),
                    ),
                    tr("Remove it"),
                    lambda: self._remove(used.name),
                )
            )
            buttons.append(remove)
        entry.do(*buttons)

    def _remove(self, name: str) -> None:
        def ended(outcome: Outcome) -> None:
            self.entries[KEY].complain(why(outcome))
            self._controller.look()

        self._controller.jobs.start(
            "remove engine", lambda app: app.expert_manager.remove_engine(name), ended
        )
