"""The settings of what goes over the network: to the proxy, to servers, for updates, and to other
programs."""

from __future__ import annotations

from typing import Any

from jarvis_desktop.core.i18n import mark
from jarvis_desktop.setting_fields import SettingsTable, setting


class NetworkSettings(SettingsTable):
    """The `[network]` table."""

    proxy: str = setting(
        "",
        mark("Proxy"),
        mark(
            "For downloads and the API, such as http://proxy:3128. Ollama is a separate "
            "program with its own setting."
        ),
        search=mark("http https firewall company"),
        empty=mark("The system’s"),
        invalid=mark(
            "That is an address such as http://proxy:3128, without a name or password. "
            "Those belong into the variable HTTPS_PROXY of your system."
        ),
        pattern=r"^(https?://[^\s/@]+/?)?$",
    )
    """"" is the system's. User name and password belong into the environment's variables."""


def _address(title: str) -> Any:
    return setting(
        "",
        title,
        mark("Such as http://192.168.1.5:8000/v1. It is used from then on."),
        search=mark("url endpoint server base url openai localai speaches kokoro vllm"),
        empty=mark("None"),
        invalid=mark("That is an address such as http://192.168.1.5:8000/v1, without a password."),
        pattern=r"^[^\s@]*$",
    )


def _model(title: str) -> Any:
    return setting(
        "",
        title,
        mark("One of those that the server lists."),
        search=mark("whisper tts diffusion name"),
        empty=mark("The server’s usual one"),
    )


class ServersSettings(SettingsTable):
    """The `[servers]` table: servers with OpenAI's protocol, one for each kind of work."""

    transcription: str = _address(mark("Address for transcription"))
    transcription_model: str = _model(mark("Model for transcription"))
    spoken: bool = setting(
        True,
        mark("Also for what you say to JARVIS"),
        mark("Your requests and dictations; otherwise for recordings only."),
        search=mark("microphone voice dictation privacy"),
    )
    speech: str = _address(mark("Address for speech"))
    speech_model: str = _model(mark("Model for speech"))
    speech_voice: str = setting(
        "",
        mark("Voice of the server"),
        mark("By its name there, such as “alloy” or “af_heart”."),
        search=mark("speaker tts"),
        empty=mark("The usual one"),
    )
    images: str = _address(mark("Address for pictures"))
    images_model: str = _model(mark("Model for pictures"))


class UpdateSettings(SettingsTable):
    """The `[updates]` table."""

    check: bool = setting(
        False,
        mark("Look for new versions"),
        mark("Fetches one small file a day and sends nothing about you. Installing is up to you."),
        search=mark("update upgrade release version automatic"),
    )


class ServerSettings(SettingsTable):
    """The `[server]` table: the server of the running window."""

    on: bool = setting(
        False,
        mark("Let other programs use JARVIS"),
        mark("As long as this window or its tray icon is there."),
        search=mark("server api http openai mcp serve"),
    )
    host: str = setting(
        "127.0.0.1",
        mark("Reached at"),
        mark(
            "127.0.0.1 is this computer alone. 0.0.0.0 lets other computers in, and what they send "
            "is not encrypted."
        ),
        search=mark("address host listen network"),
        invalid=mark("That is an address such as 127.0.0.1, or the name of this computer."),
        pattern=r"^[A-Za-z0-9.:-]+$",
    )
    port: int = setting(
        8765,
        mark("Port"),
        mark("Another one if it is taken."),
        search=mark("listen number"),
        ge=1024,
        le=65535,
    )
