"""A seal for rows of the database: a keyed hash, so that whoever changes a row and all hashes in it
is found out all the same. The key is a file apart from the database."""

from __future__ import annotations

import hashlib
import hmac
import json
import secrets
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from jarvis_desktop.storage.module_files import RefusedError, read_regular, write_whole

LENGTH = 32
"""Bytes of a key."""


class Seals:
    """Makes and checks seals with the key in a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._key = b""

    def read_key(self) -> bool:
        """Look what the key is now; whether there is one. No seal holds without."""
        self._key = b""
        with suppress(RefusedError):
            key = read_regular(self._path, most=LENGTH)
            self._key = key if len(key) == LENGTH else b""
        return bool(self._key)

    def make_key(self) -> None:
        """See that there is a key; nobody else may do the same at this moment.

        With a new one no seal of the old one holds. Raises StorageError.
        """
        if not self.read_key():
            whole = {self._path: secrets.token_bytes(LENGTH)}
            write_whole(whole, beside=self._path.parent)
            self.read_key()

    def of(self, values: Sequence[object]) -> str:
        """The seal of some values."""
        whole = json.dumps(values).encode()
        return hmac.new(self._key, whole, hashlib.sha256).hexdigest()

    def holds(self, seal: object, values: Sequence[object]) -> bool:
        """Whether a seal was made for these values, with this key."""
        if not self._key or not isinstance(seal, str):
            return False
        return hmac.compare_digest(seal.encode("utf-8", "replace"), self.of(values).encode())
