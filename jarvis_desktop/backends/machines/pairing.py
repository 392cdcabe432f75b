"""How two computers get to know each other: by a code shown on one and typed on the other.

A machine makes its own certificate, so nothing vouches for it but the pairing. Both sides prove
that they know the code, over the certificate that each of them sees. Somebody in between has
another certificate, and would have to find the code from the proof while the client waits. It has
40 bits and each guess takes a scrypt of 32 MB, salted by both sides so that nothing can be computed
in advance. Guessing at the machine itself ends after three tries. Afterwards the code is worthless:
the client has a token, and trusts this certificate alone.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.core.i18n import tr

ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without letters that look like digits, or like each other (Crockford's base 32)."""
CODE_CHARS = 8
LIFE_S = 600.0
TRIES = 3
SALT_BYTES, NONCE_BYTES = 16, 32
COST = 1 << 15
"""Of scrypt: 32 MB and 0.1 s for each guess."""
_alike = str.maketrans("ILO", "110", "- ")


def new_code() -> str:
    """Return a code such as "K7Q2-9XWM"."""
    letters = "".join(secrets.choice(ALPHABET) for _ in range(CODE_CHARS))
    return f"{letters[:4]}-{letters[4:]}"


def readable_code(typed: str) -> str:
    """Return a typed code without what does not matter; "" if it cannot be one."""
    code = typed.strip().upper().translate(_alike)
    return code if len(code) == CODE_CHARS and set(code) <= set(ALPHABET) else ""


def proof(side: str, code: str, salt: bytes, nonce: bytes, certificate: bytes) -> bytes:
    """Return what proves that a side ("client" or "machine") knows the code, for the DER of the
    certificate that it sees. Takes about 0.1 s."""
    key = hashlib.scrypt(
        readable_code(code).encode(),
        salt=salt + nonce,
        n=COST,
        r=8,
        p=1,
        maxmem=1 << 26,
        dklen=32,
    )
    told = f"jarvis-desktop pairing {side}".encode() + hashlib.sha256(certificate).digest()
    return hmac.digest(key, told, "sha256")


@dataclass
class PairingCode:
    """A code that is shown, for one computer, a few tries and some minutes."""

    certificate: bytes
    """The DER of this computer's certificate."""
    code: str = field(default_factory=new_code, repr=False)
    salt: bytes = field(default_factory=lambda: secrets.token_bytes(SALT_BYTES))
    clock: Callable[[], float] = time.monotonic
    tries: int = TRIES

    def __post_init__(self) -> None:
        self._ends = self.clock() + LIFE_S

    @property
    def valid(self) -> bool:
        """Whether it can still be used."""
        return self.tries > 0 and self.clock() < self._ends

    def answer(self, nonce: bytes, given: bytes) -> bytes:
        """Return our proof for a right one, which ends the code. Raises UnavailableError.

        Takes about 0.2 s; call it in a thread, one call at a time.
        """
        if not self.valid or len(nonce) != NONCE_BYTES:
            raise UnavailableError(tr("No pairing code is shown there now."))
        self.tries -= 1
        right = proof("client", self.code, self.salt, nonce, self.certificate)
        if not hmac.compare_digest(right, given):
            raise UnavailableError(
                tr("The pairing code is wrong, or another computer answers in between.")
            )
        self.tries = 0
        return proof("machine", self.code, self.salt, nonce, self.certificate)
