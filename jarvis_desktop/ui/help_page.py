"""The page with the help: topics above, the chosen one below."""

from __future__ import annotations

import re
from functools import partial

from PySide6.QtWidgets import QButtonGroup

from jarvis_desktop.app.help_pages import TOPICS, help_page
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.ui.actions import PageContext
from jarvis_desktop.ui.conversation.answer import AnswerText
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.forms import button
from jarvis_desktop.ui.widgets.layout import FlowLayout
from jarvis_desktop.ui.widgets.page import WindowPage

_block = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
_break = re.compile(r"(?<=[^\n])\n(?! *(?:- |#|\||\n|$)) *")
"""A line break within a paragraph or an item of a list."""


class HelpPage(WindowPage):
    """Shows the same pages as `jarvis-desktop help`."""

    def __init__(self, context: PageContext) -> None:
        super().__init__(tr("Help"))
        self.shortcuts = button(tr("Keyboard shortcuts"))
        self.shortcuts.clicked.connect(lambda: context.actions.go.emit("keys", ""))
        self.tools.addWidget(self.shortcuts)
        self._group = QButtonGroup(self)
        topics = FlowLayout(gap=theme.space())
        self.topics = {}
        for topic in TOPICS:
            choose = button(tr(topic.title), kind="tab", act=partial(self.show_topic, topic.name))
            choose.setCheckable(True)
            self._group.addButton(choose)
            topics.addWidget(choose)
            self.topics[topic.name] = choose
        self.column.addLayout(topics)
        self.text = AnswerText(context.actions)
        self.column.addWidget(self.text)
        self.column.addStretch(1)
        self.show_topic(TOPICS[0].name)

    def appear(self, part: str = "") -> None:
        """Show a topic; "" keeps the one that was shown last."""
        if part:
            self.show_topic(part)

    def show_topic(self, name: str) -> None:
        """Show the topic of that name from its beginning."""
        self.topics[name].setChecked(True)
        self.text.show_text(unwrapped(help_page(name)))
        self.scroller.verticalScrollBar().setValue(0)


def unwrapped(page: str) -> str:
    """Join the lines of each paragraph, because an answer's line breaks are shown as they are."""
    parts = _block.split(page)
    parts[::2] = [_break.sub(" ", text) for text in parts[::2]]
    return "".join(parts)
