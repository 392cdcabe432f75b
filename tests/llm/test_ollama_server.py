import asyncio
import threading

import pytest

from jarvis_desktop.core.errors import ExpertError, UnavailableError
from jarvis_desktop.llm import ollama
from jarvis_desktop.llm.ollama import InstalledLLM, OllamaServer, OllamaStatus
from tests.line_server import Answer, LineHandler, LineServer, running
from tests.ollama import Shown, layer, running_ollama


@pytest.fixture
def served():
    llms = {
        "qwen3.5:4b": Shown(capabilities=("completion", "thinking"), family="qwen35"),
        "gpt-oss:120b-cloud": Shown(size=384, digest="c3"),
    }
    with running_ollama(llms=llms) as served:
        yield served


class Stranger(LineHandler):
    """Gives the same answer to everything."""

    def do_GET(self) -> None:
        self.take()
        self.stream(self.served.next_answer())

    do_POST = do_GET


def quiet(fraction, message):
    pass


async def test_the_status_lists_the_llms_and_marks_those_in_the_cloud(served):
    found = await OllamaServer(served.address).status()
    assert found.running
    assert [(llm.name, llm.size, llm.is_local) for llm in found.llms] == [
        ("gpt-oss:120b-cloud", 384, False),
        ("qwen3.5:4b", 3_400_000_000, True),
    ]
    assert [each for each, _ in served.requests] == ["GET /api/tags"]


async def test_no_llm_is_still_a_running_ollama():
    with running_ollama(llms={}) as served:
        assert await OllamaServer(served.address).status() == OllamaStatus(True)


async def test_an_absent_ollama_is_said(served):
    served.die()
    server = OllamaServer(served.address)
    reason = f"Ollama does not run at {served.address.removeprefix('http://')}."
    assert await server.status() == OllamaStatus(False, reason=reason)
    with pytest.raises(UnavailableError, match="does not run"):
        await server.installed()


async def test_a_silent_server_is_not_waited_for():
    with running(LineServer([Answer(ends="silent")]), Stranger) as served:
        found = await OllamaServer(served.address).status(timeout=0.3)
    assert not found.running
    assert "does not answer" in found.reason


@pytest.mark.parametrize(
    ("body", "status"),
    [
        (b"<html>hello</html>", 200),
        (b'{"models": 3}', 200),
        (b'"a text"', 200),
        (b"[]", 200),
        (b"", 302),
    ],
)
async def test_something_else_at_the_address_is_recognised(body, status):
    headers = {"Location": "http://127.0.0.1:9/"}
    answer = Answer(body=body, status=status, headers=headers)
    with running(LineServer([answer]), Stranger) as served:
        found = await OllamaServer(served.address).status()
    assert not found.running
    assert "is not Ollama" in found.reason
    assert len(served.requests) == 1


async def test_only_this_computer_is_asked_unless_a_host_is_given(served, monkeypatch):
    monkeypatch.setenv("OLLAMA_HOST", "http://203.0.113.1:11434")
    monkeypatch.setenv("HTTP_PROXY", "http://203.0.113.1:3128")
    monkeypatch.setattr(ollama, "LOOPBACK", served.address)
    assert (await OllamaServer().status()).running


@pytest.mark.parametrize(
    ("named", "address"),
    [
        ("127.0.0.1:9999", "http://127.0.0.1:9999"),
        ("0.0.0.0", "http://127.0.0.1:11434"),
        ("http://0.0.0.0:80", "http://127.0.0.1:80"),
        ("localhost", "http://localhost:11434"),
        ("example.org:11434", ollama.LOOPBACK),
        ("localhost.example.org", ollama.LOOPBACK),
        ("http://user@127.0.0.1", ollama.LOOPBACK),
        ("", ollama.LOOPBACK),
    ],
)
def test_the_port_of_ollama_host_is_used_where_it_names_this_computer(
    monkeypatch: pytest.MonkeyPatch, named: str, address: str
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", named)
    assert OllamaServer().server.address == address


@pytest.mark.parametrize(
    ("host", "address", "remote"),
    [
        ("", "http://127.0.0.1:11434", False),
        ("localhost", "http://localhost:11434", False),
        ("[::1]", "http://[::1]:11434", False),
        ("192.0.2.7", "http://192.0.2.7:11434", True),
        ("ai.example:80", "http://ai.example:80", True),
        ("https://ai.example/llm", "https://ai.example/llm", True),
    ],
)
def test_a_host_may_have_the_forms_of_ollama_host(monkeypatch, host, address, remote):
    monkeypatch.delenv("OLLAMA_HOST")
    server = OllamaServer(host).server
    assert (server.address, server.remote) == (address, remote)


@pytest.mark.parametrize(
    "host", ["ftp://me:secret@ai.example", "http://", "http://[::1", "a:99999"]
)
def test_an_address_that_cannot_be_used_is_said_without_naming_it(host):
    with pytest.raises(UnavailableError, match="is not usable") as caught:
        OllamaServer(host)
    assert "secret" not in str(caught.value)


def test_a_password_in_an_address_is_not_shown():
    assert OllamaServer("http://me:secret@ai.example:80").server.host == "ai.example:80"


async def test_the_installed_llms_are_listed_with_what_they_can_do(served):
    server = OllamaServer(served.address)
    cloud, local = await server.installed()
    assert cloud == InstalledLLM("gpt-oss:120b-cloud", 384, "c3")
    assert local == InstalledLLM(
        "qwen3.5:4b", 3_400_000_000, "a1", 32768, frozenset({"completion", "thinking"}), "qwen35"
    )
    await server.installed()
    assert served.shown == ["qwen3.5:4b"]  # asked once, and never for those in the cloud


async def test_an_llm_that_changed_is_asked_about_again(served):
    server = OllamaServer(served.address)
    await server.find("qwen3.5:4b")
    served.llms["qwen3.5:4b"] = Shown(digest="b2", context_length=0)
    assert (await server.find("qwen3.5:4b")).context_length == 0
    assert len(served.shown) == 2


async def test_all_llms_are_asked_about_at_once():
    llms = {f"llm{number}:latest": Shown(digest=str(number)) for number in range(3)}
    with running_ollama(llms=llms, meeting=threading.Barrier(3)) as served:
        assert len(await OllamaServer(served.address).installed()) == 3


async def test_one_broken_llm_does_not_hide_the_others(served):
    served.llms["bad:latest"] = Shown(digest="d4", broken=True)
    found = {llm.name: llm for llm in await OllamaServer(served.address).installed()}
    assert found["bad:latest"].capabilities == frozenset()
    assert found["qwen3.5:4b"].capabilities
    with pytest.raises(ExpertError, match="unable to read the manifest"):
        await OllamaServer(served.address).find("bad")


async def test_one_llm_is_found_by_its_name(served):
    served.llms["mistral:latest"] = served.llms["qwen3.5:4b"]
    server = OllamaServer(served.address)
    found = await server.find("mistral")
    assert found.name == "mistral:latest"
    assert [found.is_called(name) for name in ("mistral", "mistral:latest", "mist")] == [
        True,
        True,
        False,
    ]
    assert (await server.find("qwen3.5:4b")).name == "qwen3.5:4b"
    with pytest.raises(UnavailableError, match="does not have llama9") as caught:
        await server.find("llama9")
    assert caught.value.hint == "Fetch it with: ollama pull llama9"


async def test_a_pull_tells_how_far_all_its_layers_are(served):
    served.pulls = [
        {"status": "pulling manifest"},
        layer("aa", None, 3_000_000),
        layer("aa", 1_500_000, 3_000_000),
        layer("aa", 3_000_000, 3_000_000),
        layer("bb", 500_000, 1_000_000),
        layer("bb", 1_000_000, 1_000_000),
        {"status": "success"},
    ]
    told = []
    await OllamaServer(served.address).pull("qwen3.5:9b", lambda *step: told.append(step))
    assert told == [
        (None, "pulling manifest"),
        (0.0, "0 of 3 MB"),
        (0.5, "2 of 3 MB"),
        (1.0, "3 of 3 MB"),
        (0.875, "4 of 4 MB"),
        (1.0, "4 of 4 MB"),
        (1.0, "4 of 4 MB"),
    ]


@pytest.mark.parametrize(
    ("error", "message"),
    [
        ("pull model manifest: file does not exist", "library has no qwen9"),
        ("max retries exceeded: no space left", "qwen9 could not be fetched: max retries exceeded"),
    ],
)
async def test_a_pull_that_fails_says_why(served, error, message):
    served.pulls = [{"status": "pulling manifest"}, {"error": error}]
    with pytest.raises(UnavailableError, match=message):
        await OllamaServer(served.address).pull("qwen9", quiet)


async def test_a_pull_that_breaks_off_is_said_to(served):
    served.pulls = [layer("aa", 1, 2)]
    with pytest.raises(ExpertError, match="broke off"):
        await OllamaServer(served.address).pull("qwen9", quiet)


async def test_a_pull_without_a_server_is_said(served):
    served.die()
    with pytest.raises(UnavailableError, match="does not run"):
        await OllamaServer(served.address).pull("qwen9", quiet)


async def test_cancelling_a_pull_stops_it(served):
    served.pulls, served.pull_holds = [layer("aa", 1, 2)], True
    begun = asyncio.Event()
    server = OllamaServer(served.address)
    pulling = asyncio.create_task(server.pull("qwen9", lambda *step: begun.set()))
    await begun.wait()
    pulling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await pulling
    assert await asyncio.to_thread(served.left.acquire, timeout=100)


async def test_an_llm_is_unloaded_on_demand(served):
    server = OllamaServer(served.address)
    await server.unload("qwen3.5:4b")
    assert served.unloaded == ["qwen3.5:4b"]
    with pytest.raises(UnavailableError, match="does not have llama9"):
        await server.unload("llama9")
