"""What the mode allows. The rest of the code asks the policy and never looks at the mode."""

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
    """Experts run here; the network is used only for downloads that were asked for."""
    HYBRID = "hybrid"
    """Experts run here, and by API where that fails."""
    LITE = "lite"
    """Experts run by API, with a small recogniser here."""

    @property
    def called(self) -> str:
        """What a person reads, among other words."""
        return tr(_called[self])


_called = {
    Mode.OFFLINE: mark("offline"),
    Mode.LOCAL: mark("local"),
    Mode.HYBRID: mark("hybrid"),
    Mode.LITE: mark("lite"),
}


@dataclass(slots=True)
class Policy:
    """The rules of the mode that holds now.

    There is one for the whole application: whoever keeps it obeys a changed mode at once.
    """

    mode: Mode = Mode.LOCAL

    def allows(self, candidate: Candidate) -> bool:
        """Whether this candidate may be tried."""
        if candidate.remote:
            return self.allows_api
        return self.mode is not Mode.LITE or not candidate.heavy

    @property
    def allows_api(self) -> bool:
        """Whether words and files may be sent to experts of other computers."""
        return self.mode in (Mode.HYBRID, Mode.LITE)

    @property
    def prefers_network(self) -> bool:
        """Whether experts behind an API come before those of this computer."""
        return self.mode is Mode.LITE

    @property
    def asks_for_downloads(self) -> bool:
        """Whether every one of them is asked about, however small it is."""
        return self.mode is Mode.LOCAL

    @property
    def allows_downloads(self) -> bool:
        """Whether weights may be fetched when the person asks for them."""
        return self.mode is not Mode.OFFLINE
