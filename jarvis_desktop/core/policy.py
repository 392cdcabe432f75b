"""What the mode allows. Other code asks the policy and never looks at the mode.

There is one Policy, and its mode changes: ask it at the moment of use, do not keep its answer.
Processes with network are ended at a change, because they would not notice it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from jarvis_desktop.core.expert import Candidate
from jarvis_desktop.core.i18n import mark, tr


class Mode(StrEnum):
    """How far a request may travel."""

    OFFLINE = "offline"
    """Nothing leaves this computer."""
    LOCAL = "local"
    """Experts run here; the network is only used for requested downloads."""
    HYBRID = "hybrid"
    """Experts run here, or behind the API if that fails."""
    LITE = "lite"
    """Experts run behind the API, with a small recogniser here."""

    @property
    def called(self) -> str:
        """The shown name, for use within a sentence."""
        return tr(_called[self])


_called = {
    Mode.OFFLINE: mark("offline"),
    Mode.LOCAL: mark("local"),
    Mode.HYBRID: mark("hybrid"),
    Mode.LITE: mark("lite"),
}


@dataclass(slots=True)
class Policy:
    """The rules of the current mode.

    The application has one instance, so that a change of mode applies everywhere at once.
    """

    mode: Mode = Mode.LOCAL
    own_machines: bool = False
    """Whether the local mode includes the user's other machines."""

    def allows(self, candidate: Candidate) -> bool:
        """Whether this candidate may be tried."""
        if candidate.own:
            return self.allows_own_machines
        if candidate.remote:
            return self.allows_api
        return self.mode is not Mode.LITE or not candidate.heavy

    @property
    def allows_api(self) -> bool:
        """Whether texts and files may be sent to experts on other computers."""
        return self.mode in (Mode.HYBRID, Mode.LITE)

    @property
    def allows_own_machines(self) -> bool:
        """Whether texts and files may be sent to the user's other machines."""
        return self.allows_api or (self.own_machines and self.mode is Mode.LOCAL)

    @property
    def prefers_network(self) -> bool:
        """Whether experts behind an API come before local ones."""
        return self.mode is Mode.LITE

    @property
    def asks_for_downloads(self) -> bool:
        """Whether every download is confirmed, however small."""
        return self.mode is Mode.LOCAL

    @property
    def allows_downloads(self) -> bool:
        """Whether weights may be downloaded when the user asks for them."""
        return self.mode is not Mode.OFFLINE
