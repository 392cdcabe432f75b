"""The main window: connects its parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QMimeData, QSettings, QSize, Signal
from PySide6.QtGui import (
    QCloseEvent,
    QGuiApplication,
    QKeySequence,
    QPaintEvent,
    QShortcut,
    QShowEvent,
)
from PySide6.QtWidgets import (
    QApplication,
    QMainWindow,
    QStackedWidget,
    QWidget,
)

from jarvis_desktop.core.artifact import Artifact
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.core.ports import Timer
from jarvis_desktop.core.turn import Request
from jarvis_desktop.ui.actions import Actions, PageContext
from jarvis_desktop.ui.conversation.conversation_view import ConversationView
from jarvis_desktop.ui.conversation.notices import (
    ElsewhereNotice,
    QuitNotice,
    ResumeNotice,
    UpdateNotice,
)
from jarvis_desktop.ui.conversation.turn_controller import TurnController
from jarvis_desktop.ui.countdown import Countdown
from jarvis_desktop.ui.engine import Outcome
from jarvis_desktop.ui.experts.controller import DownloadMark, LLMMonitor, LLMOverview, described
from jarvis_desktop.ui.experts.llm_status import LLMNotice
from jarvis_desktop.ui.header import Header
from jarvis_desktop.ui.history.controller import HistoryController
from jarvis_desktop.ui.history.drawer import HistoryPanel
from jarvis_desktop.ui.media.image_viewer import ImageViewer, pictures_of
from jarvis_desktop.ui.navigation import PLACES, PageStack
from jarvis_desktop.ui.pending_turn import OpenConversation, PendingTurn
from jarvis_desktop.ui.plan.controller import PlanController
from jarvis_desktop.ui.request.attachments import DropTarget
from jarvis_desktop.ui.request.composer import Composer, TypeAnywhere
from jarvis_desktop.ui.request.file_dialogs import FileDialogs
from jarvis_desktop.ui.session import WindowSession
from jarvis_desktop.ui.settings.controller import SettingsController
from jarvis_desktop.ui.shortcuts import WINDOW, bind
from jarvis_desktop.ui.voice.controller import SpokenAnswers, VoiceController
from jarvis_desktop.ui.voice.talk import TalkController
from jarvis_desktop.ui.welcome import Welcome
from jarvis_desktop.ui.widgets import theme
from jarvis_desktop.ui.widgets.banners import Banner, DropZone
from jarvis_desktop.ui.widgets.layout import hbox, vbox
from jarvis_desktop.ui.widgets.page import MAX_TEXT_WIDTH

if TYPE_CHECKING:
    from jarvis_desktop.ui.onboarding import FirstStart

SIZE = QSize(1120, 780)


class MainWindow(QMainWindow):
    """The window of JARVIS Desktop."""

    painted = Signal()
    """The window is visible for the first time."""
    quit_wanted = Signal()
    """The user wants to quit JARVIS, not only close its window."""

    def __init__(self, session: WindowSession, settings: Path) -> None:
        """`settings` is the file with the window's position and switches."""
        super().__init__()
        self.session = session
        self._settings = QSettings(str(settings), QSettings.Format.IniFormat)
        self._seen = False
        self._viewer: ImageViewer | None = None
        self.first: FirstStart | None = None
        self.user_actions = Actions(self)
        self.user_actions.plans = PlanController(session, self._settings, self)
        self.filing = FileDialogs(self, session.engine)
        self.talker = TalkController(session.engine, self)
        self.llms = LLMMonitor(session, self)
        self.countdown = Countdown(session, self)
        self.settings_controller = SettingsController(session, self)
        self.history = HistoryPanel(self, HistoryController(session, self))
        self.user_actions.history = self.history.controller
        self.setWindowTitle("JARVIS Desktop")
        self.setMinimumSize(460, 420)
        self._build()
        self._connect_session()
        self._connect_parts()
        self._connect_llms()
        self._restore()
        self.composer.field.setFocus()

    def _build(self) -> None:
        self._central = central = QWidget()
        central.setObjectName("stage")
        self.sidebar = self.history.sidebar
        middle = TypeAnywhere()
        self._context = PageContext(
            self.session, self.talker, self.user_actions, self.settings_controller
        )
        self.places = PageStack(middle, self._context)
        row = hbox(self.sidebar, (self.places, 1), parent=central, spacing=0)
        self.header = Header(self.settings_controller)
        right = vbox(self.header, parent=middle, spacing=0)
        self.banner = Banner()
        self.llm_notice, self.resume_notice = LLMNotice(), ResumeNotice(self.session)
        self.elsewhere, self.leaving = ElsewhereNotice(self.session), QuitNotice()
        self.update_notice = UpdateNotice(self.session, self.user_actions)
        held = vbox(
            self.banner, margins=(theme.space("three"), theme.space(), theme.space("three"), 0)
        )
        cards = (
            self.leaving,
            self.history.sign,
            self.elsewhere,
            self.resume_notice,
            self.llm_notice,
            self.update_notice,
        )
        for notice in cards:
            notice.setMaximumWidth(MAX_TEXT_WIDTH)
            row = hbox(None, (notice, 1000), None)
            held.addLayout(row)
        right.addLayout(held)
        self.welcome = Welcome()
        self.conversation = ConversationView(self.user_actions)
        self.stack = QStackedWidget()
        self.stack.addWidget(self.welcome)
        self.stack.addWidget(self.conversation)
        right.addWidget(self.stack, 1)
        self.composer = Composer(self.session, self.talker)
        self.composer.setMaximumWidth(MAX_TEXT_WIDTH)
        middle.field = self.composer.field
        self.spoken = SpokenAnswers(
            self.session,
            self.talker,
            conversation=self.conversation,
            composer=self.composer,
            parent=self,
        )
        self.voice = VoiceController(self, self.session, self.talker, self.header, self.composer)
        self.turns = TurnController(
            self.session, self.user_actions, self.composer, self.conversation, self.send
        )
        right.addLayout(hbox(None, (self.composer, 1000), None, margins=theme.space("two")))
        self.setCentralWidget(central)
        self.drop_zone = DropZone(central)
        DropTarget(self, self.drop_zone, self._drop)

    def _connect_session(self) -> None:
        session = self.session
        session.added.connect(self._added)
        session.changed.connect(self.conversation.refresh)
        session.switched.connect(self._switched)
        session.busy_changed.connect(self.composer.show_busy)
        session.stops_next.connect(self.composer.show_stop)
        session.asked.connect(self._asked)
        self.user_actions.media.serve(session)
        self.user_actions.media.failed.connect(self.banner.say)
        session.rang.connect(self._rang)
        self.countdown.show_in(self)
        self.header.serve(self.countdown)
        self.banner.closed.connect(self.countdown.acknowledge)
        session.failed.connect(self.banner.say)

    def _connect_parts(self) -> None:
        self.composer.sent.connect(self.send)
        self.composer.stop_wanted.connect(self.session.stop)
        self.composer.attached.refused.connect(self.banner.say)
        self.composer.files_wanted.connect(self.filing.choose)
        self.composer.goal_wanted.connect(self._goal_wanted)
        self.welcome.chosen.connect(self.send)
        self.welcome.voice_wanted.connect(self.voice.settings_wanted)
        self.voice.settings_wanted.connect(partial(self.places.go, "settings", "voice"))
        self.user_actions.go.connect(self.places.go)
        self.history.connect_parts()
        self.places.gone.connect(self._gone)
        self.places.message.connect(lambda text, good: self.banner.say(text, calm=good))
        self.header.explained.connect(lambda text: self.banner.say(text, calm=True))
        self.spoken.late.connect(lambda text: self.banner.say(text, calm=True))
        actions = self.user_actions
        actions.silence.connect(self.session.silence)
        filing = self.filing
        filing.chosen.connect(self.add_files)
        filing.failed.connect(self.banner.say)
        for source in (filing, self.turns):
            source.saved.connect(lambda text: self.banner.say(text, calm=True))
        actions.open_file.connect(filing.open)
        actions.show_folder.connect(lambda path: filing.open(path.parent))
        actions.save_as.connect(filing.save_as)
        actions.attach.connect(lambda path: self.add_files([path]))
        actions.enlarge.connect(self._enlarge)
        actions.copy_text.connect(lambda text: QGuiApplication.clipboard().setText(text))
        self.leaving.stay.clicked.connect(self.composer.field.setFocus)
        field, goal, quits = self.composer.field, self.composer.goal, self.quit_wanted.emit
        bind(self, WINDOW, escape=self._escape, write=field.setFocus, goal=goal.toggle, quit=quits)
        for place in PLACES:
            QShortcut(QKeySequence(place.keys), self).activated.connect(
                partial(self.places.go, place.name)
            )

    def _connect_llms(self) -> None:
        watch, notice = self.llms, self.llm_notice
        watch.looked.connect(self._looked)
        watch.fetched.connect(self._fetched)
        notice.serve(watch)
        DownloadMark(self.sidebar.places["experts"], self.session)
        notice.later.clicked.connect(self.composer.field.setFocus)
        notice.choice_wanted.connect(partial(self.places.go, "experts", "llms"))
        self.header.llm_wanted.connect(lambda: watch.look(wanted=True))

    def send(self, request: Request, place: OpenConversation | None = None) -> None:
        """Send a request, by default in the open conversation. What was asked aloud is answered
        aloud, if the switch in the header is on; the settings decide about what was typed."""
        self.banner.hide()
        self.countdown.acknowledge()
        settings = self.settings_controller.now
        aloud = request.speak or bool(settings and settings.speech.speak_typed)
        given = replace(request, speak=aloud and self.header.speak.isChecked())
        self.session.send(given, place=place)
        if not self.talker.held:  # losing the focus would count as releasing the key
            self.composer.field.setFocus()

    def add_files(self, files: Sequence[Path]) -> None:
        """Attach files to the next request, after they are inspected."""
        self.uncover()
        self.composer.attached.offer(files)
        self.composer.field.setFocus()

    def uncover(self) -> None:
        """Show the conversation, and close what covers it."""
        if self._viewer:
            self._viewer.leave()
        self.places.back()

    @property
    def is_first_start(self) -> bool:
        """Whether the first start was never completed here."""
        return not self._settings.value("first_start/over", False, type=bool)

    def begin_first_start(self) -> None:
        """Show the pages of the first start."""
        from jarvis_desktop.ui.onboarding import FirstStart

        self.first = FirstStart(self._context, self.llms, self._central)
        self.first.over.connect(self._begun)
        self.first.chosen.connect(self.send)

    def _begun(self) -> None:
        self._settings.setValue("first_start/over", True)
        self.first = None
        self.llm_notice.leave()  # one page was about it
        self.composer.field.setFocus()

    def _drop(self, held: QMimeData) -> bool:
        self.places.back()
        taken = self.composer.attached.take(held)
        if taken:
            self.composer.field.setFocus()
        return taken

    # What the session says

    def _gone(self, place: str) -> None:
        self.sidebar.show_place(place)
        if not place:
            self.composer.field.setFocus()

    def _added(self, pending: PendingTurn) -> None:
        self.places.back()
        self.stack.setCurrentWidget(self.conversation)
        self.conversation.append(pending)
        self.llm_notice.leave()
        self._show_title()

    def _switched(self) -> None:
        self.uncover()
        entries = self.session.open.entries
        self.conversation.show_entries(entries)
        self.spoken.refresh()
        self.composer.goal.setChecked(self.session.open.goal)
        self.stack.setCurrentWidget(self.conversation if entries else self.welcome)
        self._show_title()
        self.composer.field.setFocus()

    def _show_title(self) -> None:
        self.header.show_title(one_line(self.session.open.title))

    def _looked(self, look: LLMOverview) -> None:
        self.header.show_llm(look.used, look.reason)
        if self.llms.fetching:
            return
        offered = look.missing and (look.missing.offers or look.missing.with_ollama)
        if look.lost and not offered:
            self.llm_notice.warn(look.reason, wanted=look.wanted)
        elif look.missing and (look.wanted or not self.session.open.entries):
            self.llm_notice.offer(look.missing)
        elif look.used:
            self.llm_notice.hide()
        elif look.wanted:
            self.banner.say(look.reason, calm=True)

    def _fetched(self, outcome: Outcome) -> None:
        if outcome.value:
            self.banner.say(
                tr("{llm} is ready. It is used now.", llm=described(outcome.value)), calm=True
            )

    def _asked(self, pending: PendingTurn) -> None:
        self.conversation.refresh(pending)
        self.conversation.draw_now()
        self.spoken.asked(pending)
        view = self.conversation.view(pending)
        if view and view.panel:
            self.conversation.to_end()
            # Not while the user types or holds the talk button, which would be released.
            if not self.composer.field.toPlainText() and not self.talker.held:
                view.panel.take_focus()
        elif not (pending.question or self.talker.held):
            self.composer.field.setFocus()

    def _rang(self, timer: Timer) -> None:
        label = one_line(timer.label)
        message = tr("The timer is up: {label}", label=label) if label else tr("The timer is up.")
        self.banner.say(message, calm=True, stays=True)
        QApplication.alert(self)

    # What the user wants

    def _goal_wanted(self, wanted: bool) -> None:
        self.session.open.goal = wanted
        self.composer.field.setFocus()

    def _escape(self) -> None:
        if self._viewer and self._viewer.isVisible():
            self._viewer.leave()
        elif self.first:
            self.first.skip()
        elif self.leaving.isVisible():
            self.leaving.stay.click()
        elif self.places.here:
            self.places.back()
        elif not self.voice.escape() and not any(
            panel.refuse() for panel in self.conversation.panels()
        ):
            self.session.stop()

    def _enlarge(self, artifact: Artifact) -> None:
        among = pictures_of(entry.turn for entry in self.session.open.entries)
        self._viewer = ImageViewer(self._central, artifact, self.user_actions, among)
        self._viewer.destroyed.connect(self._viewer_gone)

    def _viewer_gone(self) -> None:
        self._viewer = None

    # What Qt says

    def changeEvent(self, change: QEvent) -> None:
        super().changeEvent(change)
        if change.type() == QEvent.Type.ActivationChange and self.isActiveWindow():
            self.llms.look(wanted=self.llm_notice.isVisible())
        elif change.type() == QEvent.Type.WindowStateChange:
            self.countdown.look()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self.countdown.look()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if not self._seen:
            self._seen = True
            self.painted.emit()

    def take_over(self, other: MainWindow) -> None:
        """Take over the draft of another window."""
        self.composer.take_over(other.composer)

    def closeEvent(self, event: QCloseEvent) -> None:
        self.keep()
        self.voice.close()
        super().closeEvent(event)

    def keep(self) -> None:
        """Save the window's position, its switches and the settings that were just changed."""
        self.settings_controller.write()
        self._settings.setValue("geometry", self.saveGeometry())
        self._settings.setValue("speak", self.header.speak.isChecked())
        self._settings.sync()

    def _restore(self) -> None:
        geometry = self._settings.value("geometry")
        if geometry is None or not self.restoreGeometry(geometry):
            self.resize(SIZE)
        self.header.speak.setChecked(bool(self._settings.value("speak", True, type=bool)))
