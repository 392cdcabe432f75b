"""Keys: where they are looked for, and that each host is given its own only."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from collections.abc import Iterator

import keyring
import pytest
from keyring.backends.fail import Keyring as NoKeyring

from jarvis_desktop import keys
from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from tests.llm.keyring import MemoryKeyring

OPENAI = "https://api.openai.com/v1"
ROUTER = "https://router.huggingface.co/v1"


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    monkeypatch.delenv(keys.VARIABLE, raising=False)
    before = keyring.get_keyring()
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_a_key_is_kept_for_its_host_only(ring: MemoryKeyring) -> None:
    keys.keep(OPENAI, "sk-secret\n")
    assert ring.kept == {("jarvis-desktop", "https://api.openai.com"): "sk-secret"}
    assert keys.key_for(OPENAI) == "sk-secret"
    assert keys.key_for("http://api.openai.com/v1") == ""
    assert keys.key_for("https://api.openai.com.example.org/v1") == ""


def test_a_key_is_forgotten(ring: MemoryKeyring) -> None:
    keys.keep(OPENAI, "sk-secret")
    assert keys.forget(OPENAI)
    assert not keys.forget(OPENAI)
    assert keys.key_for(OPENAI) == ""


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    keys.keep(OPENAI, "sk-secret")
    monkeypatch.setenv(keys.VARIABLE, " sk-other ")
    assert keys.key_for(OPENAI) == "sk-other"


@pytest.mark.parametrize(
    ("address", "sent"),
    [
        ("http://192.0.2.7:8000/v1", False),
        ("http://llm.example.org/v1", False),
        ("http://127.0.0.1:1234/v1", True),
        ("http://localhost:1234", True),
        ("https://llm.example.org/v1", True),
    ],
)
def test_the_key_of_the_environment_never_travels_in_the_clear(
    monkeypatch: pytest.MonkeyPatch, address: str, sent: bool
) -> None:
    monkeypatch.setenv(keys.VARIABLE, "sk-other")
    assert bool(keys.key_for(address)) is sent


async def test_a_key_that_is_slow_to_come_is_none_until_it_is_there() -> None:
    unlocked, asked = threading.Event(), []

    def ask() -> str:
        asked.append("once")
        unlocked.wait(30)
        return "sk-secret"

    key = keys.Key(ask, patience=0.05)
    assert await key.get() == ""
    assert await key.get() == ""
    key.forget()  # it is still waited for
    unlocked.set()
    async with asyncio.timeout(30):
        while not await key.get():
            await asyncio.sleep(0.01)
    assert (await key.get(), asked) == ("sk-secret", ["once"])
    key.forget()
    assert await keys.Key().get() == ""


async def test_what_goes_wrong_with_a_key_is_said() -> None:
    with pytest.raises(InputError, match="begins with https"):
        await keys.Key(lambda: keys.key_for("nowhere")).get()


def test_the_hubs_token_is_for_the_hubs_router_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    assert keys.key_for(ROUTER) == "hf_token"
    for address in (OPENAI, "http://router.huggingface.co/v1", "https://huggingface.co.evil.org"):
        assert keys.key_for(address) == ""
    keys.keep(ROUTER, "hf_kept")
    assert keys.key_for(ROUTER) == "hf_kept"


def test_whether_there_is_a_key_is_told_without_it(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert keys.state(OPENAI) == keys.KeyState()
    keys.keep(OPENAI, "sk-secret")
    assert keys.state(OPENAI) == keys.KeyState(kept=True)
    assert "secret" not in repr(keys.state(OPENAI))
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    assert keys.state(keys.HUB) == keys.KeyState(variable="HF_TOKEN")
    ring.locked = True
    locked = keys.state(OPENAI)
    assert (locked.kept, locked.variable) == (False, "")
    assert "no keyring that is open" in locked.trouble
    assert keys.VARIABLE in locked.trouble


def test_keys_of_the_environment_are_given_to_no_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(keys, "_hidden", {})
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    monkeypatch.setenv(keys.VARIABLE, "sk-other")
    keys.hide()
    environment = subprocess.run(
        [sys.executable, "-c", "import os; print(dict(os.environ))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "hf_token" not in environment
    assert "sk-other" not in environment
    # They hold for the session.
    assert keys.hub_key() == "hf_token"
    assert keys.key_for(OPENAI) == "sk-other"
    keys.hide()
    assert keys.hub_key() == "hf_token"


def test_the_key_of_the_hub_is_kept_for_llms_and_experts_alike(ring: MemoryKeyring) -> None:
    assert keys.hub_key() == ""
    keys.keep_hub_key(" hf_kept\n")
    assert keys.hub_key() == keys.key_for(ROUTER) == "hf_kept"
    assert keys.forget(keys.HUB)
    assert keys.hub_key() == ""


@pytest.mark.parametrize("key", ["sk-secret", "", "hg_word", "hf_two words"])
def test_what_is_no_key_of_the_hub_is_refused_unnamed(key: str) -> None:
    with pytest.raises(InputError, match="That is no key") as caught:
        keys.keep_hub_key(key)
    assert not key or key not in str(caught.value)


def test_without_a_keyring_the_hubs_key_may_be_in_the_environment(ring: MemoryKeyring) -> None:
    ring.locked = True
    with pytest.raises(UnavailableError, match="no keyring that is open") as caught:
        keys.keep_hub_key("hf_secret")
    assert "HF_TOKEN" in caught.value.hint
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize("closed", ["locked", "absent"])
def test_a_closed_keyring_is_as_good_as_an_empty_one(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    if closed == "locked":
        ring.locked = True
    else:
        keyring.set_keyring(NoKeyring())
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    assert keys.key_for(OPENAI) == ""
    assert keys.key_for(ROUTER) == "hf_token"
    for act in (lambda: keys.keep(OPENAI, "sk-secret"), lambda: keys.forget(OPENAI)):
        with pytest.raises(UnavailableError, match="no keyring that is open") as caught:
            act()
        assert keys.VARIABLE in caught.value.hint
        assert "secret" not in str(caught.value)


def test_with_no_keyring_there_is_nothing_to_delete(ring: MemoryKeyring) -> None:
    ring.locked = True
    with pytest.raises(UnavailableError, match="There is no key to delete") as caught:
        keys.forget(keys.HUB)
    assert keys.HUB_VARIABLE in caught.value.hint
    assert keys.VARIABLE not in caught.value.hint


def test_a_keyring_that_refuses_to_delete_is_said(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring, "get_password", lambda service, name: "sk-secret")
    with pytest.raises(StorageError, match="did not delete the key for https://api"):
        keys.forget(OPENAI)


@pytest.mark.parametrize("key", ["", " \n", "two words", "schlüssel", "a\nb"])
def test_what_is_no_key_is_refused_unnamed(key: str) -> None:
    with pytest.raises(InputError) as caught:
        keys.keep(OPENAI, key)
    assert caught.value.message == "That is no key."


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234"),
        ("HTTPS://API.OpenAI.com/v1/", "https://api.openai.com"),
        ("http://[::1]:8080", "http://[::1]:8080"),
    ],
)
def test_the_origin_of_an_address(address: str, place: str) -> None:
    assert keys.origin(address) == place


@pytest.mark.parametrize(
    "address",
    ["", "localhost:1234", "ftp://x", "http://", "http://x:y", "https://a:b@c", "http://["],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="begins with https"):
        keys.origin(address)
