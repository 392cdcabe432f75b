"""What can be done with a step, as a menu. Everything is in it, so that it all can be done without
a mouse."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget
from shiboken6 import isValid

from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.shown import one_line, readable_size
from jarvis_desktop.core.task import Port, Task, as_words
from jarvis_desktop.core.wording import tr
from jarvis_desktop.ui.look import icons
from jarvis_desktop.ui.plan import fitting
from jarvis_desktop.ui.plan.editing import Editing
from jarvis_desktop.ui.plan.telling import name_of

MOST_EXPERTS = 20


def step_menu(
    editing: Editing, task_id: int, parent: QWidget, *, open_step: Callable[[], None]
) -> QMenu:
    """The menu of a step; it goes away with its last choice."""
    menu = plain_menu(parent, tr("What to do with this step"))
    task = editing.plan.task(task_id)
    _add(menu, "edit", tr("Look at it or change it"), open_step, "Return")
    if not editing.open:
        return menu
    if editing.can_run_afresh(task_id):
        _add(menu, "refresh", tr("Run this again"), partial(editing.run_afresh, task_id))
    for port in task.type.ports:
        if choices := fitting.sources_for(editing.plan, task, port):
            label = tr("Take as {input}", input=tr(as_words(port.name)))
            inputs = menu.addMenu(
                icons.icon(icons.FOR_KIND[port.kinds[0]], "muted"), escaped(label)
            )
            fill_inputs(inputs, editing, task, port, choices)
    experts = menu.addMenu(icons.icon("llm", "muted"), escaped(tr("Expert")))
    experts.addAction(tr("Looking for experts…")).setEnabled(False)
    experts.aboutToShow.connect(partial(_fill_experts, experts, editing, task))
    menu.addSeparator()
    order = [each.id for each in editing.plan]
    earlier = _add(menu, "up", tr("Move earlier"), partial(editing.move, task_id, -1), "Alt+Up")
    earlier.setEnabled(order[0] != task_id)
    later = _add(menu, "down", tr("Move later"), partial(editing.move, task_id, 1), "Alt+Down")
    later.setEnabled(order[-1] != task_id)
    menu.addSeparator()
    remove = _add(menu, "trash", tr("Remove"), partial(editing.remove, task_id), "Delete")
    remove.setEnabled(len(editing.plan) > 1)
    return menu


def fill_inputs(menu: QMenu, editing: Editing, task: Task, port: Port, choices: list[Task]) -> None:
    """The steps whose results fit an input, with those it takes ticked."""
    numbers = {each.id: number for number, each in enumerate(editing.plan, 1)}
    for source in choices:
        words = tr("{number} · {step}", number=numbers[source.id], step=name_of(source.type))
        action = menu.addAction(escaped(words))
        action.setCheckable(True)
        held = task.args.get(port.name, ())
        refs = held if isinstance(held, tuple) else (held,)
        action.setChecked(any(getattr(item, "task_id", None) == source.id for item in refs))
        action.triggered.connect(partial(editing.connect_steps, source.id, task.id, port))


def described(candidate: Candidate) -> str:
    """An expert, where it runs and how large it is."""
    expert = candidate.expert
    if candidate.built_in:
        return tr("Built in, on this computer")
    where = tr("on this computer")
    if candidate.remote:
        where = (
            tr("by {provider}, over the network", provider=candidate.provider)
            if candidate.provider and candidate.provider != "auto"
            else tr("over the network")
        )
    parts = [one_line(expert.id, limit=48), where]
    if expert.whole_mb and not candidate.remote:
        parts.append(readable_size(expert.whole_mb))
    return " · ".join(parts)


def plain_menu(parent: QWidget, name: str) -> QMenu:
    """An empty menu that deletes itself."""
    menu = QMenu(parent)
    menu.setAccessibleName(name)
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def escaped(words: str) -> str:
    """Words for a menu, in which "&" marks a letter."""
    return one_line(words, limit=90).replace("&", "&&")


def _fill_experts(menu: QMenu, editing: Editing, task: Task) -> None:
    menu.clear()
    menu.addAction(tr("Looking for experts…")).setEnabled(False)
    editing.ask_experts(task.id, partial(_show_experts, menu, editing, task))


def _show_experts(
    menu: QMenu, editing: Editing, task: Task, candidates: list[Candidate], trouble: str
) -> None:
    if not isValid(menu):  # it was closed in the meantime
        return
    menu.clear()
    choices = [("", tr("The best one (JARVIS chooses)"))]
    choices += [(item.kept_as, described(item)) for item in candidates[:MOST_EXPERTS]]
    for pin, words in choices:
        action = menu.addAction(escaped(words))
        action.setCheckable(True)
        action.setChecked(pin == task.expert)
        action.triggered.connect(partial(editing.choose_expert, task.id, pin))
    if trouble:
        menu.addAction(escaped(trouble)).setEnabled(False)


def _add(menu: QMenu, icon: str, words: str, act: Callable[..., object], keys: str = "") -> QAction:
    action = menu.addAction(icons.icon(icon, "muted"), escaped(words))
    if keys:
        action.setShortcut(QKeySequence(keys))
        action.setShortcutVisibleInContextMenu(True)
    action.triggered.connect(lambda _=False: act())
    return action
