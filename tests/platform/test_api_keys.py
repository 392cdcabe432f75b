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

from jarvis_desktop.core.errors import InputError, StorageError, UnavailableError
from jarvis_desktop.platform import api_keys
from tests.llm.keyring import MemoryKeyring

OPENAI = "https://api.openai.com/v1"
ROUTER = "https://router.huggingface.co/v1"


@pytest.fixture(autouse=True)
def ring(monkeypatch: pytest.MonkeyPatch) -> Iterator[MemoryKeyring]:
    monkeypatch.delenv(api_keys.VARIABLE, raising=False)
    before = keyring.get_keyring()
    ring = MemoryKeyring()
    keyring.set_keyring(ring)
    yield ring
    keyring.set_keyring(before)


def test_a_key_is_kept_for_its_host_only(ring: MemoryKeyring) -> None:
    api_keys.keep(OPENAI, "sk-secret\n")
    assert ring.kept == {("jarvis-desktop", "https://api.openai.com"): "sk-secret"}
    assert api_keys.key_for(OPENAI) == "sk-secret"
    assert api_keys.key_for("http://api.openai.com/v1") == ""
    assert api_keys.key_for("https://api.openai.com.example.org/v1") == ""


def test_a_key_is_forgotten(ring: MemoryKeyring) -> None:
    api_keys.keep(OPENAI, "sk-secret")
    assert api_keys.forget(OPENAI)
    assert not api_keys.forget(OPENAI)
    assert api_keys.key_for(OPENAI) == ""


def test_the_environment_comes_first(monkeypatch: pytest.MonkeyPatch) -> None:
    api_keys.keep(OPENAI, "sk-secret")
    monkeypatch.setenv(api_keys.VARIABLE, " sk-other ")
    assert api_keys.key_for(OPENAI) == "sk-other"


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
    monkeypatch.setenv(api_keys.VARIABLE, "sk-other")
    assert bool(api_keys.key_for(address)) is sent


async def test_a_key_that_is_slow_to_come_is_none_until_it_is_there() -> None:
    unlocked, asked = threading.Event(), []

    def ask() -> str:
        asked.append("once")
        unlocked.wait(60)
        return "sk-secret"

    key = api_keys.ApiKey(ask, patience=0.05)
    assert await key.get() == ""
    assert await key.get() == ""
    key.forget()  # it is still waited for
    unlocked.set()
    async with asyncio.timeout(60):
        while not await key.get():
            await asyncio.sleep(0.01)
    assert (await key.get(), asked) == ("sk-secret", ["once"])
    key.forget()
    assert await api_keys.ApiKey().get() == ""


async def test_what_goes_wrong_with_a_key_is_said() -> None:
    with pytest.raises(InputError, match="begins with https"):
        await api_keys.ApiKey(lambda: api_keys.key_for("ftp://nowhere")).get()


def test_the_hubs_token_is_for_the_hubs_router_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    assert api_keys.key_for(ROUTER) == "hf_token"
    for address in (OPENAI, "http://router.huggingface.co/v1", "https://huggingface.co.evil.org"):
        assert api_keys.key_for(address) == ""
    api_keys.keep(ROUTER, "hf_kept")
    assert api_keys.key_for(ROUTER) == "hf_kept"


def test_whether_there_is_a_key_is_told_without_it(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert api_keys.state(OPENAI) == api_keys.KeyState()
    api_keys.keep(OPENAI, "sk-secret")
    assert api_keys.state(OPENAI) == api_keys.KeyState(kept=True)
    assert "secret" not in repr(api_keys.state(OPENAI))
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    assert api_keys.state(api_keys.HUB) == api_keys.KeyState(variable="HF_TOKEN")
    ring.locked = True
    locked = api_keys.state(OPENAI)
    assert (locked.kept, locked.variable) == (False, "")
    assert "no keyring that is open" in locked.trouble
    assert api_keys.VARIABLE in locked.trouble


def test_keys_of_the_environment_are_given_to_no_other_process(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(api_keys, "_hidden", {})
    monkeypatch.setenv("HF_TOKEN", "hf_token")
    monkeypatch.setenv(api_keys.VARIABLE, "sk-other")
    api_keys.hide()
    environment = subprocess.run(
        [sys.executable, "-c", "import os; print(dict(os.environ))"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "hf_token" not in environment
    assert "sk-other" not in environment
    # They hold for the session.
    assert api_keys.hub_key() == "hf_token"
    assert api_keys.key_for(OPENAI) == "sk-other"
    api_keys.hide()
    assert api_keys.hub_key() == "hf_token"


def test_the_key_of_the_hub_is_kept_for_llms_and_experts_alike(ring: MemoryKeyring) -> None:
    assert api_keys.hub_key() == ""
    api_keys.keep_hub_key(" hf_kept\n")
    assert api_keys.hub_key() == api_keys.key_for(ROUTER) == "hf_kept"
    assert api_keys.forget(api_keys.HUB)
    assert api_keys.hub_key() == ""


@pytest.mark.parametrize("key", ["sk-secret", "", "hg_word", "hf_two words"])
def test_what_is_no_key_of_the_hub_is_refused_unnamed(key: str) -> None:
    with pytest.raises(InputError, match="That is not a key") as caught:
        api_keys.keep_hub_key(key)
    assert not key or key not in str(caught.value)


def test_without_a_keyring_the_hubs_key_may_be_in_the_environment(ring: MemoryKeyring) -> None:
    ring.locked = True
    with pytest.raises(UnavailableError, match="no keyring that is open") as caught:
        api_keys.keep_hub_key("hf_secret")
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
    assert api_keys.key_for(OPENAI) == ""
    assert api_keys.key_for(ROUTER) == "hf_token"
    for act in (lambda: api_keys.keep(OPENAI, "sk-secret"), lambda: api_keys.forget(OPENAI)):
        with pytest.raises(UnavailableError, match="no keyring that is open") as caught:
            act()
        assert api_keys.VARIABLE in caught.value.hint
        assert "secret" not in str(caught.value)


def test_with_no_keyring_there_is_nothing_to_delete(ring: MemoryKeyring) -> None:
    ring.locked = True
    with pytest.raises(UnavailableError, match="There is no key to delete") as caught:
        api_keys.forget(api_keys.HUB)
    assert api_keys.HUB_VARIABLE in caught.value.hint
    assert api_keys.VARIABLE not in caught.value.hint


def test_a_keyring_that_refuses_to_delete_is_said(
    ring: MemoryKeyring, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ring, "get_password", lambda service, name: "sk-secret")
    with pytest.raises(StorageError, match="did not delete the key for https://api"):
        api_keys.forget(OPENAI)


@pytest.mark.parametrize("key", ["", " \n", "two words", "schlüssel", "a\nb"])
def test_what_is_no_key_is_refused_unnamed(key: str) -> None:
    with pytest.raises(InputError) as caught:
        api_keys.keep(OPENAI, key)
    assert caught.value.message == "That is not a key."


@pytest.mark.parametrize(
    ("address", "place"),
    [
        ("http://127.0.0.1:1234/v1", "http://127.0.0.1:1234"),
        ("HTTPS://API.OpenAI.com/v1/", "https://api.openai.com"),
        ("http://[::1]:8080", "http://[::1]:8080"),
        ("localhost:1234/v1", "http://localhost:1234"),
        (" api.openai.com/v1", "https://api.openai.com"),
    ],
)
def test_the_origin_of_an_address(address: str, place: str) -> None:
    assert api_keys.origin(address) == place


@pytest.mark.parametrize(
    "address",
    ["", "[::1", "ftp://x", "http://", "http://x:y", "https://a:b@c", "http://["],
)
def test_what_is_no_address_is_refused(address: str) -> None:
    with pytest.raises(InputError, match="begins with https"):
        api_keys.origin(address)
