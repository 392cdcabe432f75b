"""Dictation with nothing replaced: sound server, shipped recogniser, X server and a window."""

import asyncio
from pathlib import Path

import pytest

from jarvis_desktop.app.build import build
from jarvis_desktop.paths import user_paths
from jarvis_desktop.settings import Settings
from tests.platform.editor import Editor
from tests.scenarios import files
from tests.sound import SoundServer

CONTROL, ALT, W = 0xFFE3, 0xFFE9, ord("w")


@pytest.mark.screen
@pytest.mark.sound
async def test_what_is_said_while_the_key_is_held_stands_in_another_window(
    tmp_path: Path, sound_server: SoundServer, screen
) -> None:
    said = files.speech(tmp_path / "said.wav", "What time is it?")
    editor = await asyncio.to_thread(Editor, screen.name)
    focus = screen.connection.core.SetInputFocus
    focus(0, editor.window, 0, is_checked=True).check()
    app = build(Settings(), user_paths())
    try:
        await app.microphone.warm()
        await app.recogniser.warm()
        await app.dictation.bind()
        await asyncio.to_thread(screen.press, CONTROL, ALT, W)
        async with asyncio.timeout(60):
            while app.microphone.state != "open":
                await asyncio.sleep(0.01)
        await asyncio.to_thread(sound_server.say_into_microphone(said).wait)
        await asyncio.to_thread(screen.release, CONTROL, ALT, W)
        assert await asyncio.to_thread(editor.wait_for, "What time is it?") == "What time is it?"
        await app.dictation.session.settled()
        state = app.dictation.session.state
        assert (state.phase, state.words.text) == ("written", "What time is it?")
        assert [each.text for each in app.dictation.log.kept()] == ["What time is it?"]
    finally:
        await app.close()
        editor.stop()
