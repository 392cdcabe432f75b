import pytest

from jarvis_desktop.core.errors import UnavailableError
from jarvis_desktop.platform.dbus import MessageBus


@pytest.mark.parametrize("error", [KeyError(1), EOFError(), ConnectionRefusedError()])
async def test_a_bus_that_ends_before_its_first_answer_is_none(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def ends(address: str) -> None:
        raise error

    monkeypatch.setattr("jeepney.io.asyncio.open_dbus_connection", ends)
    with pytest.raises(UnavailableError, match="no message bus"):
        await MessageBus.open(lambda signal: None, lambda: None)
