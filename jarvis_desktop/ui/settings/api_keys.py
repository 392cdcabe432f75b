"""Keys of services on the network: kept in the system's keyring alone, never shown, never written
anywhere else."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtWidgets import QHBoxLayout, QLineEdit

from jarvis_desktop import keys
from jarvis_desktop.core.errors import InputError
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import mark, tr
from jarvis_desktop.ui.application import App
from jarvis_desktop.ui.bridge import Outcome, unexpected
from jarvis_desktop.ui.look import theme
from jarvis_desktop.ui.look.flow import FlowLayout
from jarvis_desktop.ui.look.icons import Symbol
from jarvis_desktop.ui.look.section import button
from jarvis_desktop.ui.look.text import Label
from jarvis_desktop.ui.settings.rows import Hands, Row
from jarvis_desktop.ui.voice.panel import Panel

NO_CALLS = mark(
    "It may not make calls to Inference Providers: give it that permission at "
    "https://huggingface.co/settings/tokens."
)
OFFLINE = mark("The mode is “offline”, so nobody is asked. Choose another mode to test the key.")
NO_ADDRESS = mark("Write the address of the service first: a key is kept for one address alone.")


class KeyPanel(Panel):
    """Whether there is a key; to set, test and remove it."""

    def __init__(self, row: Row, hands: Hands) -> None:
        super().__init__(tr(row.title))
        self._hands = hands
        self._hub = row.key == "hub-key"
        self._jobs: set[str] = set()
        name = tr(row.title)
        state = QHBoxLayout()
        state.setSpacing(theme.space())
        self.symbol = Symbol("skipped", "muted", size=16)
        self.state = Label(wrap=True)
        state.addWidget(self.symbol)
        state.addWidget(self.state, 1)
        self.column.addLayout(state)
        typed = QHBoxLayout()
        typed.setSpacing(theme.space())
        self.field = QLineEdit()
        self.field.setProperty("role", "plain")
        self.field.setEchoMode(QLineEdit.EchoMode.Password)
        self.field.setPlaceholderText(tr("Paste the key here"))
        self.field.setAccessibleName(name)
        self.field.setAccessibleDescription(tr(row.help))
        self.field.returnPressed.connect(self._keep)
        self.keep = button(tr("Keep"), tr("Keep the key: {name}", name=name))
        self.keep.setEnabled(False)
        self.field.textChanged.connect(lambda text: self.keep.setEnabled(bool(text.strip())))
        self.keep.clicked.connect(self._keep)
        typed.addWidget(self.field, 1)
        typed.addWidget(self.keep)
        self.column.addLayout(typed)
        self.test = button(tr("Test"), tr("Test the key: {name}", name=name))
        self.test.clicked.connect(self._test)
        self.remove = button(tr("Remove"), tr("Remove the key: {name}", name=name))
        self.remove.clicked.connect(self._remove)
        acts = FlowLayout(gap=theme.space())
        acts.addWidget(self.test)
        acts.addWidget(self.remove)
        self.column.addLayout(acts)
        self.told = Label(role="small", wrap=True)
        self.told.hide()
        self.column.addWidget(self.told)
        self.setFocusProxy(self.field)
        self._show(keys.KeyState())
        hands.settings.session.settled.connect(self._settled)

    def appear(self) -> None:
        """Look whether there is one."""
        address = self._address
        if not address:
            self._show(keys.KeyState())
            self.state.setText(tr(NO_ADDRESS))
            self._invite(False)
            return

        async def look(app: App) -> keys.KeyState:
            return await asyncio.to_thread(keys.state, address)

        self._do("look", look, self._looked)

    def leave(self) -> None:
        """What was typed and not kept is nobody's."""
        self.field.clear()

    @property
    def _address(self) -> str:
        if self._hub:
            return keys.HUB
        settings = self._hands.settings.now
        return settings.llm.address if settings and settings.llm.provider != "ollama" else ""

    def _settled(self) -> None:
        if not self._hub and self.isVisible():
            self.appear()

    def _looked(self, outcome: Outcome) -> None:
        if isinstance(outcome.value, keys.KeyState):
            self._show(outcome.value)
        elif outcome.error:
            self.complain(str(outcome.error))

    def _show(self, state: keys.KeyState) -> None:
        there = state.kept or bool(state.variable)
        self.symbol.show_icon("done" if there else "skipped", "done" if there else "muted")
        if state.kept:
            self.state.setText(tr("Set: it is in the system’s keyring."))
        elif state.variable:
            self.state.setText(tr("Set by the variable {name} of the environment.",
                                  name=state.variable))  # fmt: skip
        else:
            self.state.setText(tr("Not set."))
        self.test.setVisible(there)
        self.remove.setVisible(state.kept)
        self.complain(state.trouble)
        self._invite(not state.trouble)

    def _invite(self, possible: bool) -> None:
        for widget in (self.field, self.keep):
            widget.setVisible(possible)

    def _keep(self) -> None:
        key, address = self.field.text().strip(), self._address
        if not key or not address:
            return

        async def keep(app: App) -> keys.KeyState:
            if self._hub:
                await asyncio.to_thread(keys.keep_hub_key, key)
            else:
                await asyncio.to_thread(keys.keep, address, key)
            return await self._changed(app, address)

        def kept(outcome: Outcome) -> None:
            if outcome.value:
                self.field.clear()
            self._after(outcome, tr("The key is kept in the system’s keyring."))

        self._do("keep", keep, kept)

    def _remove(self) -> None:
        address = self._address

        async def remove(app: App) -> keys.KeyState:
            await asyncio.to_thread(keys.forget, address)
            return await self._changed(app, address)

        self._do("remove", remove, lambda outcome: self._after(outcome, tr("The key is deleted.")))

    async def _changed(self, app: App, address: str) -> keys.KeyState:
        """What used the old one uses it no more."""
        app.api.forget_key()
        app.llms.choose(app.llms.wanted)
        return await asyncio.to_thread(keys.state, address)

    def _test(self) -> None:
        address = self._address

        async def test(app: App) -> str:
            if not app.policy.allows_downloads:
                raise InputError(tr(OFFLINE))
            if self._hub:
                account = await app.api.account()
                told = tr("It is taken; it is that of {name}.", name=one_line(account.name))
                return told if account.may_call is not False else f"{told} {tr(NO_CALLS)}"
            from jarvis_desktop.llm.openai_compatible import listed

            found = await listed(address, key=keys.Key(lambda: keys.key_for(address)))
            return tr("It is taken; the service has {count} LLMs.", count=len(found))

        self._tell(tr("Asking…"))
        self._do("test", test, lambda outcome: self._after(outcome, str(outcome.value or "")))

    def _after(self, outcome: Outcome, told: str) -> None:
        if isinstance(outcome.value, keys.KeyState):
            self._show(outcome.value)
        if outcome.value is None and not outcome.cancelled:
            self._tell("")
            self.complain(str(outcome.error or unexpected()))
        else:
            self.complain("")
            self._tell(told)

    def _tell(self, words: str) -> None:
        self.told.setText(words)
        self.told.setVisible(bool(words))

    def _do(
        self,
        what: str,
        work: Callable[[App], Coroutine[Any, Any, Any]],
        then: Callable[[Outcome], None],
    ) -> None:
        app = self._hands.settings.session.app
        if app is None or what in self._jobs:
            return
        self._jobs.add(what)

        def ended(outcome: Outcome) -> None:
            self._jobs.discard(what)
            then(outcome)

        self._hands.settings.session.engine.run(lambda: work(app), ended)
