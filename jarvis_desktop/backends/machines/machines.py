"""The user's other machines, whose experts are used here: a file with their addresses, certificates
and experts as last seen. Their tokens are in the keyring."""

from __future__ import annotations

import hashlib
import json
import re
import ssl
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from jarvis_desktop.backends.machines.wire import PORT, WireExpert, wire_expert
from jarvis_desktop.core.display import one_line, unused_name
from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.paths import save_json
from jarvis_desktop.platform import api_keys

_name = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)


@dataclass(frozen=True, slots=True)
class Machine:
    """A computer that was paired with this one."""

    name: str
    host: str
    port: int
    certificate: str
    """PEM; nothing else is trusted."""
    experts: tuple[Expert, ...] = ()
    """An entry for each task of an expert."""

    @property
    def base(self) -> str:
        """Its URL."""
        return f"https://{f'[{self.host}]' if ':' in self.host else self.host}:{self.port}"

    @property
    def fingerprint(self) -> str:
        """The SHA-256 of its certificate, to compare by eye."""
        digest = hashlib.sha256(ssl.PEM_cert_to_DER_cert(self.certificate)).hexdigest().upper()
        return ":".join(digest[at : at + 2] for at in range(0, 32, 2))

    def trust(self) -> ssl.SSLContext:
        """Return what accepts its certificate and no other, under any name."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        context.check_hostname = False
        context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
        context.load_verify_locations(cadata=self.certificate)
        return context


class _Entry(BaseModel):
    model_config = ConfigDict(extra="ignore")

    host: str
    port: int = Field(ge=1, le=65535)
    certificate: str
    experts: list[WireExpert] = Field(default_factory=list)


class Machines:
    """The file of the machines."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._known: tuple[Machine, ...] | None = None
        self._read_at = 0

    def all(self) -> tuple[Machine, ...]:
        """Return the machines, by name. The file is read again when it has changed. Raises
        StorageError."""
        try:
            changed = self._path.stat().st_mtime_ns
        except OSError:
            return ()
        if self._known is None or changed != self._read_at:
            self._known, self._read_at = self._read(), changed
        return self._known

    def find(self, name: str) -> Machine:
        """Return a machine. Raises InputError."""
        for each in self.all():
            if each.name.casefold() == name.casefold():
                return each
        raise InputError(
            tr("There is no machine {name}.", name=one_line(name)),
            hint=tr("See them with: jarvis-desktop machines list."),
        )

    def free_name(self, wanted: str) -> str:
        """Return a name for a new machine, near the wanted one."""
        plain = re.sub(r"[^A-Za-z0-9_.-]+", "-", wanted).strip("-._")[:32] or "machine"
        known = {each.name.casefold() for each in self.all()}
        return unused_name(plain, taken=lambda name: name.casefold() in known)

    def add(self, machine: Machine, token: str) -> None:
        """Save a machine that was paired; its token goes into the keyring. Raises JarvisError."""
        if not _name.fullmatch(machine.name):
            raise InputError(
                tr("A machine’s name has letters, digits, dots and dashes, at most 40.")
            )
        api_keys.keep_secret(_place(machine.name), token)
        others = [each for each in self.all() if each.name.casefold() != machine.name.casefold()]
        self._write([*others, machine])

    def remove(self, name: str) -> Machine:
        """Forget a machine and its token. Raises InputError."""
        found = self.find(name)
        self._write([each for each in self.all() if each != found])
        api_keys.forget_secret(_place(found.name))
        return found

    def note_experts(self, machine: Machine, experts: Sequence[Expert]) -> None:
        """Save what a machine offers now."""
        if machine.experts != tuple(experts):
            self._write(
                replace(each, experts=tuple(experts)) if each.name == machine.name else each
                for each in self.all()
            )

    @staticmethod
    def token(machine: Machine) -> str:
        """Return the token for a machine. May wait for the keyring. Raises UnavailableError."""
        if token := api_keys.secret(_place(machine.name)):
            return token
        raise UnavailableError(
            tr("The key for {name} is not in the keyring.", name=machine.name),
            hint=tr("Unlock the keyring, or pair the two computers again."),
        )

    def _read(self) -> tuple[Machine, ...]:
        try:
            found = json.loads(self._path.read_text("utf-8"))
            entries = {name: _Entry.model_validate(each) for name, each in found.items()}
        except (OSError, ValueError, AttributeError, ValidationError) as error:
            raise StorageError(
                tr("The list of machines {path} cannot be read.", path=self._path),
                hint=tr("Delete it, and pair the computers again."),
            ) from error
        return tuple(
            Machine(
                name,
                each.host,
                each.port,
                each.certificate,
                tuple(item.expert() for item in each.experts),
            )
            for name, each in sorted(entries.items())
            if _name.fullmatch(name)
        )

    def _write(self, machines: Iterable[Machine]) -> None:
        document = {
            each.name: {
                "host": each.host,
                "port": each.port,
                "certificate": each.certificate,
                "experts": [wire_expert(item) for item in each.experts],
            }
            for each in machines
        }
        save_json(self._path, document)
        self._known = None


def place_of(address: str) -> tuple[str, int]:
    """Return host and port of an address as a user types it. Raises InputError."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address.strip()}")
        host, port = parts.hostname or "", parts.port or PORT
    except ValueError:
        host, port = "", PORT
    if not host or parts.username is not None or not host.isascii():
        raise InputError(
            tr("“{address}” is not the address of a computer.", address=one_line(address)),
            hint=tr("For example 192.168.1.20 or desk.local:8766."),
        )
    return host, port


def _place(name: str) -> str:
    return f"machine:{name}"
