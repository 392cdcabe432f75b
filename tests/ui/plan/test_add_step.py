"""A step is added: what fits comes first, and what is missing is asked for."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.task import Ref, Task
from jarvis_desktop.ui.plan import editing
from jarvis_desktop.ui.plan.add_step import AddStepPanel
from jarvis_desktop.ui.plan.plan_view import PlanView
from tests.ui.plan.plan_scene import (
    DRAW,
    INVENTORY,
    FakePlanController,
    cards,
    diamond,
    letter,
    shown,
    turn_of,
)


@pytest.fixture
def view(qtbot: QtBot, controller: FakePlanController) -> PlanView:
    view = shown(qtbot, controller, turn_of(diamond()))
    view.review(True)
    return view


def adding(view: PlanView) -> AddStepPanel:
    QTest.mouseClick(view.foot.add, Qt.MouseButton.LeftButton)
    QApplication.processEvents()
    assert isinstance(view.panel, AddStepPanel)
    return view.panel


def listed(panel: AddStepPanel) -> list[str]:
    return [panel.list.item(at).text() for at in range(panel.list.count())]


def test_what_goes_on_with_the_last_results_comes_first() -> None:
    offers = editing.step_offers(INVENTORY, diamond(), [letter()])
    first = [(offer.type.name, offer.args) for offer in offers[:2]]
    assert first[0] == ("save-file", {"content": Ref(3)})
    groups = [offer.group for offer in offers]
    assert groups == sorted(
        groups, key=[editing.FOLLOWS, editing.INDEPENDENT, editing.NEEDS_INPUT].index
    )
    by_name = {offer.type.name: offer for offer in offers}
    assert by_name["clock"].group == editing.INDEPENDENT
    assert by_name["audio-classification"].group == editing.NEEDS_INPUT
    assert by_name["audio-classification"].missing[0].name == "audio"


def test_an_empty_plan_goes_on_with_the_files() -> None:
    offers = {item.type.name: item for item in editing.step_offers(INVENTORY, Plan(()), [letter()])}
    assert offers["image-to-text"].args == {"image": letter()}
    assert offers["summarization"].missing


def test_search_and_enter_add_a_step_that_is_wired(view: PlanView) -> None:
    panel = adding(view)
    assert panel.search.hasFocus()
    QTest.keyClicks(panel.search, "summar")
    assert len(listed(panel)) == 2, "its heading and itself"
    assert panel.message.text() == "It takes the result of Save file."
    QTest.keyClick(panel.search, Qt.Key.Key_Return)
    added = view.editor.plan.tasks[-1]
    assert (added.type.name, added.args) == ("summarization", {"text": Ref(3)})
    assert view.panel is None
    assert cards(view)[added.id].hasFocus()
    view.editor.undo()
    assert view.editor.plan == diamond()


def test_arrow_keys_choose_and_pass_the_headings(view: PlanView) -> None:
    panel = adding(view)
    seen = []
    for _ in range(len(INVENTORY) + 2):
        assert panel.offer is not None
        seen.append(panel.offer.type.name)
        QTest.keyClick(panel.search, Qt.Key.Key_Down)
    assert set(seen) == {item.name for item in INVENTORY}
    QTest.keyClick(panel.search, Qt.Key.Key_Up)
    assert panel.offer is not None
    assert panel.offer.type.name in seen[-4:]


def test_what_is_missing_is_asked_for(view: PlanView, controller: FakePlanController) -> None:
    panel = adding(view)
    QTest.keyClicks(panel.search, "what a sound is")
    assert [row.name for row in panel.rows] == ["audio"]
    assert not panel.add.isEnabled()
    QTest.keyClick(panel.search, Qt.Key.Key_Return)
    assert view.editor.plan == diamond(), "it goes to what is missing"
    controller.file = letter().path.with_name("sound.wav")  # type: ignore[union-attr]
    menu = panel.rows[0].menu()
    next(item for item in menu.actions() if item.text() == "A file…").trigger()
    assert panel.add.isEnabled()
    QTest.mouseClick(panel.add, Qt.MouseButton.LeftButton)
    assert view.editor.plan.tasks[-1].type.name == "audio-classification"


def test_words_that_are_missing_are_typed(qtbot: QtBot, controller: FakePlanController) -> None:
    view = shown(qtbot, controller, turn_of(Plan((Task(0, DRAW, {"prompt": "a cat"}),))))
    view.review(True)
    panel = adding(view)
    QTest.keyClicks(panel.search, "summarization")
    [row] = panel.rows
    assert row.field is not None
    assert not panel.add.isEnabled()
    QTest.keyClicks(row.field, "a long story")
    assert panel.add.isEnabled()
    QTest.keyClick(row.field, Qt.Key.Key_Return)
    assert view.editor.plan.tasks[-1].args == {"text": "a long story"}


def test_nothing_found_is_said(view: PlanView) -> None:
    panel = adding(view)
    QTest.keyClicks(panel.search, "xyzzy")
    assert listed(panel) == []
    assert panel.message.text() == "There is no such step."
    assert not panel.add.isEnabled()


def test_a_step_that_cannot_be_is_told_here(
    view: PlanView, monkeypatch: pytest.MonkeyPatch
) -> None:
    panel = adding(view)

    def refuse(*_: object) -> Plan:
        raise InputError("There is no room.")

    monkeypatch.setattr(Plan, "add", refuse)
    QTest.mouseClick(panel.add, Qt.MouseButton.LeftButton)
    assert panel.trouble.text() == "There is no room."
    assert view.panel is panel
    assert view.trouble.isHidden()


def test_esc_leaves_without_adding(view: PlanView) -> None:
    panel = adding(view)
    QTest.keyClick(panel.search, Qt.Key.Key_Escape)
    assert view.panel is None
    assert view.editor.plan == diamond()
