"""A keyring in memory: locked, absent or open, as a test needs it."""

from __future__ import annotations

from keyring.backend import KeyringBackend
from keyring.errors import KeyringLocked, PasswordDeleteError


class MemoryKeyring(KeyringBackend):
    """Keeps passwords as long as it lives."""

    priority = 1

    def __init__(self) -> None:
        super().__init__()
        self.locked = False
        self.kept: dict[tuple[str, str], str] = {}

    def get_password(self, service: str, username: str) -> str | None:
        self._open()
        return self.kept.get((service, username))

    def set_password(self, service: str, username: str, password: str) -> None:
        self._open()
        self.kept[service, username] = password

    def delete_password(self, service: str, username: str) -> None:
        self._open()
        if self.kept.pop((service, username), None) is None:
            raise PasswordDeleteError("not found")

    def _open(self) -> None:
        if self.locked:
            raise KeyringLocked("locked")
