"""The certificate of this machine, and the computers that may use its experts.

The key of the certificate is in the keyring. Of the tokens only hashes are kept: they have 256 bits
of entropy, so nobody can guess them from a hash.
"""

from __future__ import annotations

import datetime
import hashlib
import hmac
import json
import secrets
import ssl
import tempfile
from pathlib import Path
from typing import Any

from jarvis_desktop.core.display import one_line, unused_name
from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import save_json, save_text
from jarvis_desktop.platform import api_keys

PLACE = "experts-server"
"""Under which the key is in the keyring."""
YEARS = 100


class PairedComputers:
    """A folder with the certificate and the list of computers."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._certificate = folder / "certificate.pem"
        self._list = folder / "computers.json"

    def encryption(self) -> tuple[ssl.SSLContext, bytes]:
        """Return what encrypts, and the certificate as DER; made at first. Raises JarvisError."""
        key, certificate = self.pem()
        try:
            return encryption_of(key, certificate), ssl.PEM_cert_to_DER_cert(certificate)
        except (ssl.SSLError, ValueError) as error:
            raise self._unfit() from error

    def pem(self) -> tuple[str, str]:
        """Return the key and the certificate; made at first. Raises JarvisError."""
        key = api_keys.secret(PLACE)
        if not key or not self._certificate.exists():
            key = self._make()
        try:
            return key, self._certificate.read_text("utf-8")
        except (OSError, ValueError) as error:
            raise self._unfit() from error

    def all(self) -> dict[str, str]:
        """Return the names of the computers, with the days on which they were paired."""
        return {each["name"]: each["since"] for each in self._read().values()}

    def knows(self, token: str) -> bool:
        """Whether a computer with this token was paired."""
        digest = _digest(token).encode()
        return any(hmac.compare_digest(digest, known.encode()) for known in self._read())

    def add(self, name: str) -> str:
        """Save a computer, and return its token. Raises StorageError."""
        known, token = self._read(), secrets.token_urlsafe(32)
        wanted = one_line(name, limit=40) or "computer"
        names = {each["name"] for each in known.values()}
        free = unused_name(wanted, taken=names.__contains__)
        since = datetime.datetime.now(datetime.UTC).date().isoformat()
        self._write({**known, _digest(token): {"name": free, "since": since}})
        return token

    def remove(self, name: str) -> str:
        """Forget a computer: its token ends at once. Raises InputError."""
        known = self._read()
        found = next((each["name"] for each in known.values() if each["name"] == name), "")
        if not found:
            raise InputError(
                tr("There is no machine {name}.", name=one_line(name)),
                hint=tr("See them with: jarvis-desktop machines list."),
            )
        self._write({key: each for key, each in known.items() if each["name"] != found})
        return found

    def _make(self) -> str:
        """Make a certificate, and return its key."""
        pem, text = self_signed()
        try:
            api_keys.keep_secret(PLACE, pem)
        except UnavailableError as error:
            raise UnavailableError(
                tr("The key of this machine’s certificate could not be kept in a keyring."),
                hint=tr(
                    "Unlock or install one, or give a certificate of your own: --certificate FILE "
                    "--key FILE."
                ),
            ) from error
        save_text(self._certificate, text)
        return pem

    def _unfit(self) -> UnavailableError:
        return UnavailableError(
            tr("The certificate of this machine does not fit its key in the keyring."),
            hint=tr("Delete {path}, and pair the computers again.", path=self._folder),
        )

    def _read(self) -> dict[str, dict[str, str]]:
        try:
            found: Any = json.loads(self._list.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise StorageError(
                tr("The list of machines {path} cannot be read.", path=self._list),
                hint=tr("Delete it, and pair the computers again."),
            ) from error
        return {
            str(key): {"name": str(each["name"]), "since": str(each["since"])}
            for key, each in (found.items() if isinstance(found, dict) else ())
            if isinstance(each, dict) and {"name", "since"} <= each.keys()
        }

    def _write(self, computers: dict[str, dict[str, str]]) -> None:
        save_json(self._list, computers)


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def self_signed(*names: str) -> tuple[str, str]:
    """Return a key and a certificate in PEM, for computers that were told to trust it alone."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.x509.oid import NameOID

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "JARVIS Desktop")])
    start = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=2)
    builder = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(start)
        .not_valid_after(start + datetime.timedelta(days=365 * YEARS))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
    )
    if names:
        listed = x509.SubjectAlternativeName([x509.DNSName(each) for each in names])
        builder = builder.add_extension(listed, critical=False)
    certificate = builder.sign(key, hashes.SHA256())
    pem = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    ).decode()
    return pem, certificate.public_bytes(serialization.Encoding.PEM).decode()


def encryption_of(key: str, certificate: str) -> ssl.SSLContext:
    """Return what encrypts, of PEM texts. Raises ssl.SSLError if they do not fit together."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_3
    # ssl reads both from files alone; these are the owner's, and gone at once.
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "both.pem"
        file.touch(mode=0o600)
        file.write_text(f"{key}\n{certificate}", "utf-8")
        context.load_cert_chain(file)
    return context


def certificate_of(file: Path) -> bytes:
    """Return the first certificate of a PEM file as DER. Raises InputError."""
    try:
        return certificate_der(file.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"The certificate {file} cannot be read.") from error


def certificate_der(text: str) -> bytes:
    """Return the first certificate of a PEM text as DER. Raises ValueError."""
    end = "-----END CERTIFICATE-----"
    return ssl.PEM_cert_to_DER_cert(
        text[text.index("-----BEGIN CERTIFICATE-----") :].partition(end)[0] + end
    )
