"""Keys of network services, from the system's keyring or the environment, never from a file."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass
from urllib.parse import urlsplit

from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.core.i18n import tr
from jarvis_desktop.process.network_guard import is_this_computer, web_address

SERVICE = "jarvis-desktop"
VARIABLE = "JARVIS_LLM_KEY"
HUB_VARIABLE = "HF_TOKEN"
SERVER_VARIABLE = "JARVIS_API_TOKEN"
HUGGING_FACE = "router.huggingface.co"
"""The one host that receives the key of the Hub, HF_TOKEN."""
HUB = f"https://{HUGGING_FACE}"
"""The address under which the Hub's key is saved, for its LLMs and experts alike."""

_hidden: dict[str, str] = {}
"""Keys that were taken out of the environment."""


class ApiKey:
    """The key of one service, requested once, in a thread that nobody has to wait for.

    A keyring may ask the user to unlock it. After `patience` seconds there is no key for now; one
    that arrives later is used for the next prompt.
    """

    def __init__(self, ask: Callable[[], str] = str, *, patience: float = 5.0) -> None:
        self._ask = ask
        self._patience = patience
        self._asked: Future[str] | None = None
        self._is_late = False

    async def get(self) -> str:
        """Return the key, or "". Raises what `ask` raises."""
        if self._asked is None:
            self._asked, self._is_late = Future(), False
            # a caller that stops waiting must not cancel it
            self._asked.set_running_or_notify_cancel()
            threading.Thread(target=self._fill, args=(self._asked,), daemon=True).start()
        if not self._is_late:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._patience):
                    await asyncio.wrap_future(self._asked)
            self._is_late = not self._asked.done()
        return self._asked.result() if self._asked.done() else ""

    def forget(self) -> None:
        """Request the key again the next time, because the service rejected it."""
        if self._asked and self._asked.done():
            self._asked = None

    def _fill(self, asked: Future[str]) -> None:
        try:
            asked.set_result(self._ask())
        except Exception as error:  # noqa: BLE001 - raised where the key is waited for
            asked.set_exception(error)


def hide() -> None:
    """Take the keys out of the environment, so that no started process inherits them.

    This process still knows them.
    """
    for name in (VARIABLE, HUB_VARIABLE, SERVER_VARIABLE):
        if key := os.environ.pop(name, ""):
            _hidden[name] = key


def give_back() -> None:
    """Put the keys back, for this program to restart."""
    os.environ.update(_hidden)


@dataclass(frozen=True, slots=True)
class KeyState:
    """Whether there is a key for a service, and where; without the key itself."""

    kept: bool = False
    """Whether it is in the keyring."""
    variable: str = ""
    """The environment variable that holds one; it is used if the keyring has none."""
    trouble: str = ""
    """Why no key can be saved and what to do, in sentences."""


def state(address: str) -> KeyState:
    """Return the state of the key for an address. May wait for the user to unlock the keyring."""
    import keyring

    place = origin(address)
    name = HUB_VARIABLE if place == HUB else VARIABLE
    variable = name if _variable(name) else ""
    try:
        return KeyState(bool(keyring.get_password(SERVICE, place)), variable)
    except _keyring_errors():
        return KeyState(
            variable=variable,
            trouble=tr(
                "This system has no keyring that is open, so no key can be kept. Unlock or install "
                "one, such as GNOME Keyring or KWallet, or set the variable {name} before JARVIS "
                "starts.",
                name=name,
            ),
        )


def hub_key() -> str:
    """Return the key of the Hugging Face Hub, or "". May wait for the user, like `key_for`."""
    return _from_keyring(HUB) or _variable(HUB_VARIABLE)


def keep_hub_key(key: str) -> None:
    """Save the key of the Hub in the keyring. Raises InputError, UnavailableError."""
    key = key.strip()
    if not key.startswith("hf_"):
        raise InputError(
            tr("That is not a key of the Hugging Face Hub: those begin with hf_."),
            hint=tr(
                "Make one at https://huggingface.co/settings/tokens, with the permission to make "
                "calls to Inference Providers."
            ),
        )
    try:
        keep(HUB, key)
    except UnavailableError as error:
        raise UnavailableError(
            error.message,
            hint=tr(
                "Unlock or install one, or set the variable {hub_variable} instead: it holds as "
                "long as the program runs.",
                hub_variable=HUB_VARIABLE,
            ),
        ) from error


def key_for(address: str) -> str:
    """Return the key for the service at the address in the settings, or "".

    The environment's key names no host, so it is never sent over a network in the clear. A missing
    or locked keyring counts as empty. May wait for the user to unlock it: do not call it on an
    event loop.
    """
    place = origin(address)
    safe = place.startswith("https://") or is_this_computer(urlsplit(place).hostname or "")
    if safe and (key := _variable(VARIABLE)):
        return key
    if kept := _from_keyring(place):
        return kept
    return _variable(HUB_VARIABLE) if place == HUB else ""


def keep(address: str, key: str) -> None:
    """Save a key in the keyring. Raises UnavailableError if there is none to use."""
    key = key.strip()
    if not key or not key.isascii() or not key.isprintable() or " " in key:
        raise InputError(
            tr("That is not a key."), hint=tr("A key is one line of letters, digits and signs.")
        )
    _keep(
        origin(address),
        key,
        hint=tr(
            "Unlock or install one, or set the variable {variable} instead: it is sent to "
            "the address of the settings alone, and to another computer only over https.",
            variable=VARIABLE,
        ),
    )


def secret(place: str) -> str:
    """Return what was saved under `place`, or "". May wait for the user, like `key_for`."""
    return _from_keyring(place)


def keep_secret(place: str, value: str) -> None:
    """Save a value that is not the key of an address. Raises UnavailableError like `keep`."""
    _keep(
        place,
        value,
        hint=tr("Unlock or install one, or write ${NAME} for a variable of the environment."),
    )


def forget_secret(place: str) -> None:
    """Delete such a value, if there is one and a keyring that is open."""
    import keyring

    with suppress(*_keyring_errors()):
        keyring.delete_password(SERVICE, place)


def _keep(place: str, key: str, *, hint: str) -> None:
    import keyring

    try:
        keyring.set_password(SERVICE, place, key)
    except _keyring_errors() as error:
        raise UnavailableError(
            tr("The key could not be kept: the system has no keyring that is open."), hint=hint
        ) from error


def forget(address: str) -> bool:
    """Delete a key from the keyring; return whether there was one. Raises like `keep`."""
    import keyring
    from keyring.errors import PasswordDeleteError

    place = origin(address)
    try:
        if keyring.get_password(SERVICE, place) is None:
            return False
        keyring.delete_password(SERVICE, place)
    except PasswordDeleteError as error:
        raise StorageError(
            tr("The keyring did not delete the key for {place}.", place=place)
        ) from error
    except _keyring_errors() as error:
        raise UnavailableError(
            tr("There is no key to delete: the system has no keyring that is open."),
            hint=f"Where the key is in the variable {HUB_VARIABLE if place == HUB else VARIABLE}, "
            "unset that.",
        ) from error
    return True


def origin(address: str) -> str:
    """Return scheme, host and port of an address; its key is saved for these alone.

    Raises InputError if it is not a web address.
    """
    try:
        parts = urlsplit(web_address(address))
        port = parts.port
    except ValueError:
        parts, port = urlsplit(""), None
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise InputError(
            tr("The address of a server begins with https:// or http:// and names a host."),
            hint=tr("For example http://127.0.0.1:1234/v1."),
        )
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}" + (f":{port}" if port else "")


def server_token() -> str:
    """Return the token that the environment gives this computer's own server, or ""."""
    return _variable(SERVER_VARIABLE)


def _variable(name: str) -> str:
    return os.environ.get(name, _hidden.get(name, "")).strip()


def _from_keyring(place: str) -> str:
    import keyring

    try:
        return keyring.get_password(SERVICE, place) or ""
    except _keyring_errors():
        return ""


def _keyring_errors() -> tuple[type[Exception], ...]:
    """Errors of a missing or locked keyring, or a missing session bus."""
    from keyring.errors import KeyringError

    return KeyringError, RuntimeError, OSError
