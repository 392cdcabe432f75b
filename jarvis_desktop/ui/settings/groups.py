"""The groups of the settings in their order. A row that is only a key is made from its field."""

from __future__ import annotations

from jarvis_desktop.core.i18n import mark
from jarvis_desktop.ui.settings.about_panels import LicencesPanel, VersionPanel
from jarvis_desktop.ui.settings.endpoints_panel import EndpointsPanel
from jarvis_desktop.ui.settings.machines_panel import MachinesPanel
from jarvis_desktop.ui.settings.mcp_panel import McpPanel
from jarvis_desktop.ui.settings.panels import (
    AutostartSwitch,
    DesktopPanel,
    FolderPanel,
    KeyPanel,
    ModeControl,
    NetworkPanel,
    ResetAll,
    ServerPanel,
    link,
)
from jarvis_desktop.ui.settings.schema import SettingsCard, SettingsGroup, SettingsRow, row, rows
from jarvis_desktop.ui.settings.servers_panel import ServerModel, WorkServerPanel
from jarvis_desktop.ui.settings.shortcut_recorder import KeyRecorder
from jarvis_desktop.ui.settings.speech_panels import (
    DeviceChoice,
    LastDictations,
    LevelPanel,
    RecogniserPanel,
    ReplacementLines,
    SentencePanel,
    TrialPanel,
    WhichWhisper,
)

PRIVACY = SettingsGroup(
    "mode",
    mark("Mode and privacy"),
    "shield",
    (SettingsCard(rows=rows(row("mode", make=ModeControl, whole=True))),),
)

PLANNING = SettingsGroup(
    "planning",
    mark("Planning"),
    "review",
    (
        SettingsCard(title=mark("Plans"), rows=rows("planner.ask", "planner.kind")),
        SettingsCard(
            title=mark("Goals in several steps"),
            description=mark(
                "Agent mode works towards a goal in several rounds, and writes code if that helps."
            ),
            rows=rows(
                "agent.ask_plan",
                "agent.code",
                "agent.rounds",
                "agent.minutes",
                "agent.tokens",
                "agent.repairs",
            ),
        ),
    ),
)

EXPERTS = SettingsGroup(
    "experts",
    mark("LLM and experts"),
    "llm",
    (
        SettingsCard(
            title=mark("LLM"),
            rows=rows(
                "llm.provider", "llm.id", "llm.address", "llm.think", "llm.context", "llm.sees"
            ),
        ),
        SettingsCard(
            title=mark("Experts"),
            rows=rows(
                SettingsRow(
                    "experts-page",
                    mark("Experts and LLMs on this computer"),
                    mark("What is installed, what it takes, and what else could be fetched."),
                    search=mark("models download remove"),
                    make=link("experts", mark("Open the page")),
                ),
                "experts.disk_budget_gb",
                "experts.memory_budget_mb",
                "experts.ask_above_mb",
                "experts.allowed_licences",
                "experts.denied_licences",
                "experts.gated",
                "processes",
            ),
        ),
        SettingsCard(
            title=mark("Your other computers"),
            description=mark(
                "One with a graphics card can work for this one. Start “jarvis-desktop serve "
                "--experts” there; it shows a code for this page. What is sent is encrypted."
            ),
            rows=rows(
                SettingsRow(
                    "machines",
                    mark("Computers whose experts are used here"),
                    mark("In the modes “hybrid” and “lite”, and if you like in “local”."),
                    search=mark("pair machine gpu graphics card remote server"),
                    make=MachinesPanel,
                ),
                "machines.in_local_mode",
            ),
        ),
        SettingsCard(
            title=mark("MCP servers"),
            description=mark(
                "Programs whose tools stand in plans beside the experts. They run with your "
                "rights: add only those you trust. You are asked before each call."
            ),
            rows=rows(
                SettingsRow(
                    "mcp",
                    mark("Servers and their tools"),
                    mark("A command to start, or an address that begins with https://."),
                    search=mark("model context protocol tools claude cursor"),
                    make=McpPanel,
                ),
            ),
        ),
    ),
)


def _key_and_test(
    work: str,
    about: str = mark("Many servers of your own need no key. The test sends a sentence of ours."),
) -> SettingsRow:
    """The row of the key of a server for this kind of work, and of its test."""
    return SettingsRow(
        f"{work}-server",
        mark("Key and test"),
        about,
        search=mark("token api secret password latency"),
        make=WorkServerPanel,
    )


SERVERS = SettingsGroup(
    "servers",
    mark("Servers"),
    "network",
    (
        SettingsCard(
            title=mark("Transcription"),
            description=mark(
                "A server that speaks OpenAI’s protocol, such as Speaches, LocalAI, or another "
                "computer with JARVIS, hears in place of this one. If it fails, this one does."
            ),
            rows=rows(
                "servers.transcription",
                row("servers.transcription_model", make=ServerModel),
                "servers.spoken",
                _key_and_test("transcription"),
            ),
        ),
        SettingsCard(
            title=mark("Speech"),
            description=mark(
                "A server such as Kokoro-FastAPI, Speaches or LocalAI speaks in place of this "
                "computer’s voice, which stands in if it fails."
            ),
            rows=rows(
                "servers.speech",
                row("servers.speech_model", make=ServerModel),
                "servers.speech_voice",
                _key_and_test("speech"),
            ),
        ),
        SettingsCard(
            title=mark("Pictures"),
            description=mark(
                "A server such as LocalAI, or one for Stable Diffusion that speaks OpenAI’s "
                "protocol, paints from descriptions, and changes pictures as you say."
            ),
            rows=rows(
                "servers.images",
                row("servers.images_model", make=ServerModel),
                _key_and_test("images", mark("The test asks for its models, and paints nothing.")),
            ),
        ),
        SettingsCard(
            title=mark("Single tasks"),
            description=mark(
                "An address that does one task by the Inference API’s protocol: a Hugging Face "
                "Inference Endpoint, or a server of your own such as TGI or TEI."
            ),
            rows=rows(
                SettingsRow(
                    "endpoints",
                    mark("Addresses for tasks"),
                    mark("Each is used first; if it fails, the next expert is tried."),
                    search=mark("endpoint inference hugging face tgi tei url api translation"),
                    make=EndpointsPanel,
                ),
            ),
        ),
    ),
)

WORK_KEYS = SettingsGroup(
    "api",
    mark("API keys"),
    "key",
    (
        SettingsCard(
            description=mark(
                "Keys are kept in your system’s keyring alone, are never shown, and never written "
                "into a file."
            ),
            rows=rows(
                SettingsRow(
                    "hub-key",
                    mark("Hugging Face"),
                    mark("For experts of other computers, in the modes “hybrid” and “lite”."),
                    search=mark("token api hub secret password account"),
                    make=KeyPanel,
                ),
                SettingsRow(
                    "service-key",
                    mark("LLM service"),
                    mark("For the address of the service under “LLM and experts”, and no other."),
                    search=mark("openai token api secret password"),
                    make=KeyPanel,
                ),
                "api.provider",
            ),
        ),
    ),
)

HISTORY = SettingsGroup(
    "history",
    mark("History"),
    "history",
    (
        SettingsCard(
            rows=rows(
                "history.retention_days",
                SettingsRow(
                    "history-page",
                    mark("Your conversations"),
                    mark("Search them, export and import them, or delete them."),
                    search=mark("export import delete search"),
                    make=link("history", mark("Open the page")),
                ),
                "conversation_minutes",
            )
        ),
    ),
)

DATA = SettingsGroup(
    "data",
    mark("Data"),
    "folder",
    (
        SettingsCard(
            rows=rows(
                SettingsRow(
                    "folders",
                    mark("Where your data is stored"),
                    mark("All of it is on this computer."),
                    search=mark("folder size disk storage logs database cache path"),
                    make=FolderPanel,
                ),
                SettingsRow(
                    "reset",
                    mark("Settings"),
                    mark("Brings every default back. Conversations, keys and experts stay."),
                    search=mark("reset default factory"),
                    make=ResetAll,
                ),
            )
        ),
    ),
)

NETWORK = SettingsGroup(
    "network",
    mark("Network"),
    "network",
    (
        SettingsCard(
            rows=rows(
                "network.proxy",
                SettingsRow(
                    "network-test",
                    mark("Is the Hub reached?"),
                    mark("Asks for one small page of the Hugging Face Hub."),
                    search=mark("test connection internet online"),
                    make=NetworkPanel,
                ),
            )
        ),
        SettingsCard(
            title=mark("For other programs"),
            description=mark(
                "Editors, chat programs and home automation use JARVIS as they would a service of "
                "OpenAI, or as an MCP server. Each request needs the token, and what needs a yes "
                "is not done."
            ),
            rows=rows(
                "server.on",
                "server.host",
                "server.port",
                SettingsRow(
                    "server-state",
                    mark("Address and token"),
                    mark("Give both to the other program; the token is its key."),
                    search=mark("server api key password copy"),
                    make=ServerPanel,
                ),
            ),
        ),
    ),
)

ABOUT = SettingsGroup(
    "about",
    mark("About"),
    "note",
    (
        SettingsCard(
            rows=rows(
                SettingsRow(
                    "version",
                    mark("Version"),
                    mark("Of this program, and what is new in a newer one."),
                    search=mark("update upgrade release changelog news"),
                    make=VersionPanel,
                ),
                "updates.check",
                SettingsRow(
                    "licences",
                    mark("Licences"),
                    mark("Of the libraries, fonts and weights that come with JARVIS."),
                    search=mark("license copyright third party open source"),
                    make=LicencesPanel,
                ),
            )
        ),
    ),
)


HEARING = SettingsCard(
    title=mark("Hearing"),
    rows=rows(
        row("speech.input", make=DeviceChoice),
        SettingsRow(
            "level",
            mark("Level"),
            mark("Shows how loud you are. Nothing is kept."),
            search=mark("volume loudness test meter gain"),
            make=LevelPanel,
        ),
        SettingsRow(
            "trial",
            mark("Is it understood?"),
            mark("Say a sentence and see what is written down. It is not kept."),
            search=mark("test recognition dictation"),
            make=TrialPanel,
        ),
        row("speech.microphone", whole=True),
    ),
)
UNDERSTANDING = SettingsCard(
    title=mark("Understanding"),
    rows=rows(
        "speech.language",
        SettingsRow(
            "recognisers",
            mark("Recogniser in use"),
            mark("The one that comes with JARVIS understands English."),
            search=mark("whisper speech recognition download transcription"),
            make=RecogniserPanel,
        ),
        row("speech.recogniser", make=WhichWhisper),
        "speech.words",
        "speech.pause",
    ),
)
SPEAKING = SettingsCard(
    title=mark("Speaking"),
    rows=rows(
        row("speech.output", make=DeviceChoice),
        "speech.engine",
        "speech.voice",
        "speech.rate",
        "speech.volume",
        "speech.speak_typed",
        SettingsRow(
            "sentence",
            mark("How it sounds"),
            make=SentencePanel,
            search=mark("test voice listen"),
        ),
    ),
)
HANDS_FREE = SettingsCard(
    title=mark("Hands-free"),
    rows=rows(
        "speech.hands_free", "speech.interrupt", "speech.echo_cancellation", "speech.wake_word"
    ),
)
DICTATION = SettingsCard(
    title=mark("Dictation"),
    description=mark("Writes what you say into any program, without asking JARVIS anything."),
    rows=rows(
        "dictation.commands",
        row("dictation.replacements", make=ReplacementLines),
        "dictation.space",
        "dictation.clean_up",
        "dictation.keep",
        SettingsRow(
            "dictations",
            mark("Last dictations"),
            mark("The newest first. Copy one to paste it again."),
            search=mark("history paste copy clear dictate"),
            make=LastDictations,
        ),
    ),
)
VOICE = SettingsGroup(
    "voice", mark("Voice"), "mic", (HEARING, SPEAKING, UNDERSTANDING, DICTATION, HANDS_FREE)
)

VOICE_KEYS = SettingsGroup(
    "keys",
    mark("Keys"),
    "keyboard",
    (
        SettingsCard(
            title=mark("Keys of the whole desktop"),
            description=mark("They work while another program is in front."),
            rows=rows(
                row("speech.key", make=KeyRecorder),
                "speech.key_way",
                row("dictation.key", make=KeyRecorder),
                "dictation.key_way",
                row("window.quick_key", make=KeyRecorder),
            ),
        ),
    ),
)


APPEARANCE = SettingsGroup(
    "appearance",
    mark("Appearance"),
    "appearance",
    (
        SettingsCard(
            rows=rows("window.theme", "window.text_size", "window.motion", "window.language")
        ),
    ),
)
DESKTOP = SettingsGroup(
    "desktop",
    mark("Desktop"),
    "desktop",
    (
        SettingsCard(
            rows=rows(
                "window.tray",
                SettingsRow(
                    "autostart",
                    mark("Start with the session"),
                    mark("JARVIS is there when you log in."),
                    search=mark("autostart boot login"),
                    make=AutostartSwitch,
                ),
                "window.start_hidden",
                "window.overlay",
                "window.notify",
                SettingsRow(
                    "desktop",
                    mark("This desktop"),
                    mark("What it supports, and whether JARVIS is in its menu."),
                    search=mark("menu entry install portal tray"),
                    make=DesktopPanel,
                ),
            )
        ),
    ),
)
GROUPS = (
    PRIVACY,
    VOICE,
    VOICE_KEYS,
    PLANNING,
    EXPERTS,
    SERVERS,
    WORK_KEYS,
    APPEARANCE,
    DESKTOP,
    HISTORY,
    DATA,
    NETWORK,
    ABOUT,
)
