"""Which fault stands for what a server says, so that whoever decides knows what to try next."""

from __future__ import annotations

import httpx
import pytest

from jarvis_desktop.core.errors import Fault, JarvisError
from jarvis_desktop.platform.http import Server, refusal, sentences
from jarvis_desktop.process.model_files import memory_in_words

SERVER = Server("Ollama", "an Ollama", "http://127.0.0.1:11434", "Start it.", "Get {name}.")


@pytest.mark.parametrize(
    ("status", "fault", "retryable"),
    [
        (401, Fault.KEY, False),
        (403, Fault.KEY, False),
        (402, Fault.PAYMENT, False),
        (404, Fault.GONE, False),
        (302, Fault.GONE, False),
        (400, Fault.OTHER, False),
        (418, Fault.OTHER, False),
        (429, Fault.BUSY, True),
        (503, Fault.LOADING, True),
        (500, Fault.BUSY, True),
        (502, Fault.BUSY, True),
    ],
)
def test_each_status_has_its_fault(status: int, fault: Fault, retryable: bool) -> None:
    error = refusal(SERVER, status, "", name="a:1b", wait=3.0)
    assert (error.fault, error.retryable) == (fault, retryable)
    assert error.wait == (3.0 if status in (429, 503) else 0.0)


def test_an_account_without_credit_is_not_a_busy_server() -> None:
    error = refusal(SERVER, 429, '{"error": {"code": "insufficient_quota"}}')
    assert (error.fault, error.retryable) == (Fault.PAYMENT, False)


@pytest.mark.parametrize(
    ("raised", "fault", "retryable"),
    [
        (httpx.ConnectError("no"), Fault.NETWORK, False),
        (httpx.ReadTimeout("no"), Fault.TIMEOUT, True),
        (TimeoutError(), Fault.TIMEOUT, True),
        (httpx.RemoteProtocolError("cut"), Fault.NETWORK, True),
        (ValueError("no JSON"), Fault.GONE, False),
    ],
)
def test_each_trouble_on_the_way_has_its_fault(
    raised: Exception, fault: Fault, retryable: bool
) -> None:
    with pytest.raises(JarvisError) as caught, sentences(SERVER):
        raise raised
    assert (caught.value.fault, caught.value.retryable) == (fault, retryable)


@pytest.mark.parametrize("retryable", [True, False])
@pytest.mark.parametrize("raised", [MemoryError(), RuntimeError("CUDA out of memory. Tried")])
def test_want_of_memory_is_a_fault_of_its_own(raised: Exception, retryable: bool) -> None:
    with pytest.raises(JarvisError, match="big needs more memory") as caught:  # noqa: SIM117
        with memory_in_words("big", retryable=retryable):
            raise raised
    assert (caught.value.fault, caught.value.retryable) == (Fault.MEMORY, retryable)
