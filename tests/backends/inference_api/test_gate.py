"""The one way to the network: which addresses it lets through, and to whom the key is shown."""

from __future__ import annotations

import ssl
import time
from collections.abc import Callable, Iterator, Sequence

import httpx2
import pytest

from jarvis_desktop.backends.inference_api.errors import ApiTarget
from jarvis_desktop.backends.inference_api.transport import Gate, RequestBudget, hub_host
from jarvis_desktop.core.errors import ExpertError, Fault, JarvisError, UnavailableError
from jarvis_desktop.storage.web_fetch import checked

KEY = {"Authorization": "Bearer hf_canary"}
ROUTER = "https://router.huggingface.co/fal-ai/x"
FILE = "https://cdn.example.com/x.png"

Answer = Callable[[httpx2.Request], httpx2.Response]


class Network(httpx2.BaseTransport):
    """Keeps what reaches it, and answers as scripted."""

    def __init__(self, *answers: Answer | Exception) -> None:
        self.answers = list(answers)
        self.requests: list[httpx2.Request] = []

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        self.requests.append(request)
        answer = self.answers.pop(0) if self.answers else ok
        if isinstance(answer, Exception):
            raise answer
        return answer(request)


def ok(request: httpx2.Request) -> httpx2.Response:
    return httpx2.Response(200, json={})


def moved(to: str) -> Answer:
    return lambda request: httpx2.Response(302, headers={"Location": to})


@pytest.fixture
def names(monkeypatch: pytest.MonkeyPatch) -> dict[str, Sequence[str]]:
    """What the name server says of each host."""
    known: dict[str, Sequence[str]] = {"cdn.example.com": ("93.184.215.14",)}

    def look_up(host: str, *args: object, **settings: object) -> list[tuple[object, ...]]:
        if host not in known:
            raise OSError("no such host")
        return [(0, 0, 0, "", (address, 0)) for address in known[host]]

    monkeypatch.setattr("socket.getaddrinfo", look_up)
    for name in ("HTTPS_PROXY", "https_proxy", "HF_ENDPOINT"):
        monkeypatch.delenv(name, raising=False)
    return known


def gate(network: Network, **settings: str) -> Gate:
    return Gate(check=checked, network=network, **settings)


def asking(gate: Gate, url: str, method: str = "GET", **headers: str) -> httpx2.Response:
    budget = RequestBudget(ApiTarget("fal-ai", "tiny"), time.monotonic() + 60, 1000)
    with gate.open(budget), gate.client() as client:
        return client.request(method, url, headers=headers)


def test_nothing_passes_outside_of_a_call(names: object) -> None:
    with gate(Network()).client() as client, pytest.raises(RuntimeError):
        client.get(FILE)


def test_a_file_is_fetched_from_the_address_that_was_checked_and_without_the_key(
    names: object,
) -> None:
    network = Network()
    asking(gate(network), FILE, **KEY)
    (request,) = network.requests
    assert (request.url.host, request.headers["Host"]) == ("93.184.215.14", "cdn.example.com")
    assert request.extensions["sni_hostname"] == "cdn.example.com"
    assert "authorization" not in request.headers


def test_the_router_and_the_hub_are_shown_the_key(names: object) -> None:
    network = Network()
    asking(gate(network), ROUTER, "POST", **KEY)
    asking(gate(network), "https://huggingface.co/api/whoami-v2", **KEY)
    assert all(
        request.headers["Authorization"] == "Bearer hf_canary" for request in network.requests
    )
    assert {request.url.host for request in network.requests} == {
        "router.huggingface.co", "huggingface.co",
    }  # fmt: skip


def test_a_mirror_of_the_hub_is_asked_without_the_key(
    names: object, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HF_ENDPOINT", "https://mirror.example.com")
    network = Network()
    asking(gate(network, hub=hub_host()), "https://mirror.example.com/api/models/x", **KEY)
    assert "authorization" not in network.requests[0].headers


@pytest.mark.parametrize(
    "addresses", [("10.0.0.7",), ("127.0.0.1",), ("93.184.215.14", "192.168.1.1"), ("::1",)]
)
def test_names_of_inner_addresses_lead_nowhere(
    names: dict[str, Sequence[str]], addresses: Sequence[str]
) -> None:
    names["inner.example.com"] = addresses
    network = Network()
    with pytest.raises(ExpertError, match="not of the public network"):
        asking(gate(network), "https://inner.example.com/x.png")
    assert not network.requests


def test_a_file_may_lie_elsewhere_but_not_within(names: dict[str, Sequence[str]]) -> None:
    names["other.example.com"] = ("93.184.215.15",)
    network = Network(moved("https://other.example.com/y.png"))
    assert asking(gate(network), FILE, **KEY).status_code == 200
    assert [request.headers["Host"] for request in network.requests] == [
        "cdn.example.com", "other.example.com",
    ]  # fmt: skip
    names["inner.example.com"] = ("169.254.169.254",)
    names["10.0.0.1"] = ("10.0.0.1",)
    for place in ("https://inner.example.com/", "http://other.example.com/", "https://10.0.0.1/"):
        with pytest.raises(ExpertError, match="cannot be used"):
            asking(gate(Network(moved(place))), FILE)


@pytest.mark.parametrize(
    ("status", "fault"),
    [
        (401, Fault.ANSWER), (402, Fault.ANSWER), (403, Fault.ANSWER), (410, Fault.ANSWER),
        (429, Fault.BUSY), (503, Fault.LOADING),
    ],
)  # fmt: skip
def test_who_keeps_a_file_says_nothing_about_the_key(
    names: object, status: int, fault: Fault
) -> None:
    network = Network(lambda request: httpx2.Response(status))
    with pytest.raises(JarvisError) as caught:
        asking(gate(network), FILE, **KEY)
    assert (caught.value.fault, caught.value.retryable) == (fault, True)


def test_a_question_goes_to_nobody_else(names: object) -> None:
    network = Network(moved(FILE))
    with pytest.raises(UnavailableError, match="web page answered"):
        asking(gate(network), ROUTER, "POST", **KEY)
    assert len(network.requests) == 1
    with pytest.raises(ExpertError, match="must not be used"):
        asking(gate(network), FILE, "POST")
    assert len(network.requests) == 1


def test_a_host_that_is_not_found_is_said(names: object) -> None:
    with pytest.raises(UnavailableError, match="no connection to fal-ai") as caught:
        asking(gate(Network()), "https://gone.example.com/x")
    assert caught.value.fault is Fault.NETWORK


def certificate() -> Exception:
    error = httpx2.ConnectError("certificate verify failed")
    error.__cause__ = ssl.SSLCertVerificationError("self-signed certificate")
    return error


@pytest.mark.parametrize(
    ("raised", "fault", "words"),
    [
        (httpx2.ConnectError("refused"), Fault.NETWORK, "There is no connection to fal-ai."),
        (httpx2.ConnectTimeout("slow"), Fault.NETWORK, "There is no connection to fal-ai."),
        (httpx2.ProxyError("403"), Fault.NETWORK, "There is no connection to fal-ai."),
        (
            certificate(),
            Fault.NETWORK,
            "The server that answers for fal-ai has no valid certificate.",
        ),
        (httpx2.ReadTimeout("slow"), Fault.TIMEOUT, "fal-ai did not answer in time."),
        (httpx2.RemoteProtocolError("?"), Fault.NETWORK, "The connection to fal-ai broke off."),
    ],
)
def test_what_the_network_raises_is_said(
    names: object, raised: Exception, fault: Fault, words: str
) -> None:
    with pytest.raises(JarvisError) as caught:
        asking(gate(Network(raised)), ROUTER, "POST")
    assert (caught.value.fault, caught.value.message) == (fault, words)


def test_the_hub_is_named_as_it_stands_in_a_sentence(names: object) -> None:
    with pytest.raises(UnavailableError, match="no connection to the Hugging Face Hub") as caught:
        asking(gate(Network(httpx2.ConnectError("refused"))), "https://huggingface.co/api/x")
    assert caught.value.fault is Fault.NETWORK


def test_a_call_that_has_no_time_left_asks_nobody(names: object) -> None:
    network = Network()
    budget = RequestBudget(ApiTarget("fal-ai", "tiny"), time.monotonic() - 1, 1000)
    made = gate(network)
    with made.open(budget), made.client() as client, pytest.raises(ExpertError, match="in time"):
        client.get(ROUTER)
    assert not network.requests


def test_behind_a_proxy_names_are_looked_up_there_but_numbers_are_looked_at(
    names: dict[str, Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    names["127.0.0.1"] = ("127.0.0.1",)
    network = Network()
    asking(gate(network), "https://elsewhere.example.com/x.png")
    assert network.requests[0].url.host == "elsewhere.example.com"
    with pytest.raises(ExpertError, match="not of the public network"):
        asking(gate(network), "https://127.0.0.1/x.png")


def test_a_body_that_goes_on_too_long_ends(names: object) -> None:
    class Endless(httpx2.SyncByteStream):
        def __iter__(self) -> Iterator[bytes]:
            while True:
                yield b"x" * 400

    network = Network(lambda request: httpx2.Response(200, stream=Endless()))
    with pytest.raises(ExpertError, match="more than 0 MB"):
        asking(gate(network), ROUTER, "POST")
