"""What a child process makes of signals, from its first moment."""

from __future__ import annotations

import os
import signal
import sys

import pytest

from jarvis_desktop.process.child import Child


@pytest.mark.skipif(sys.platform == "win32", reason="there a terminal sends no signals")
async def test_ctrl_c_ends_it_neither_while_it_starts_nor_later(
    capfd: pytest.CaptureFixture[str],
) -> None:
    child = Child("tests.process.test_child:make", name="test part")
    try:
        await child.start()
        assert child.pid is not None
        os.kill(child.pid, signal.SIGINT)  # its Python takes longer to begin
        pid = await child.call("pid", timeout=100)
        os.kill(pid, signal.SIGINT)
        assert await child.call("pid", timeout=100) == pid == child.pid
    finally:
        await child.close()
    assert capfd.readouterr().err == ""
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
