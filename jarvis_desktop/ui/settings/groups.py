"""All groups of the settings, in the order in which they are listed.

The rows about how JARVIS works: privacy, plans, LLM, experts, keys, history, data, network.

The rows about hearing and speaking, and the keys of the whole desktop."""

from __future__ import annotations

from jarvis_desktop.core.i18n import mark
from jarvis_desktop.core.plan import SIMPLE
from jarvis_desktop.localization import LANGUAGES
from jarvis_desktop.ui.settings.panels import (
    AutostartSwitch,
    DesktopPanel,
    FolderPanel,
    KeyPanel,
    ModeControl,
    NetworkPanel,
    ResetAll,
    link,
)
from jarvis_desktop.ui.settings.schema import Group, SettingOption, SettingsCard, SettingsRow
from jarvis_desktop.ui.settings.shortcut_recorder import KeyRecorder
from jarvis_desktop.ui.settings.speech_panels import (
    DeviceChoice,
    LevelPanel,
    RecogniserPanel,
    SentencePanel,
    TrialPanel,
    WhichWhisper,
)

NO_LIMIT = mark("no limit")

PRIVACY = Group(
    "mode",
    mark("Mode and privacy"),
    "shield",
    (
        SettingsCard(
            rows=(
                SettingsRow(
                    "mode",
                    mark("How far a request may travel"),
                    mark(
                        "Holds at once for everything that runs. You are asked before a mode that "
                        "sends more away than the one that holds."
                    ),
                    words=mark("privacy offline local hybrid lite cloud network data"),
                    make=ModeControl,
                    whole=True,
                ),
            )
        ),
    ),
)

PLANNING = Group(
    "planning",
    mark("Planning"),
    "review",
    (
        SettingsCard(
            title=mark("Plans"),
            rows=(
                SettingsRow(
                    "planner.ask",
                    mark("Show a plan before it runs"),
                    SIMPLE,
                    words=mark("review confirm approve simple plans without asking"),
                    options=(
                        SettingOption("always", mark("Every plan")),
                        SettingOption("larger", mark("All but simple ones")),
                        SettingOption("never", mark("None")),
                    ),
                ),
                SettingsRow(
                    "planner.kind",
                    mark("Planner"),
                    mark("Who turns your words into steps."),
                    words=mark("embedded llm planning engine"),
                    options=(
                        SettingOption("auto", mark("Built-in where it is sure, else the LLM")),
                        SettingOption("embedded", mark("Built-in: quick, and needs no LLM")),
                        SettingOption("llm", mark("The LLM")),
                    ),
                ),
            ),
        ),
        SettingsCard(
            title=mark("Goals in several steps"),
            told=mark("Agent mode works on towards a goal, and writes code where that helps."),
            rows=(
                SettingsRow(
                    "agent.ask_plan",
                    mark("Ask about the first plan of a goal"),
                    mark("What changes it after foreign text was read is asked about in any case."),
                    words=mark("agent approve confirm"),
                    options=(
                        SettingOption("always", mark("Always")),
                        SettingOption("larger", mark("With more than three steps")),
                        SettingOption("never", mark("Never")),
                    ),
                ),
                SettingsRow(
                    "agent.code",
                    mark("Code"),
                    mark("In the sandbox it reaches only hosts that you named, and no other file."),
                    words=mark("python sandbox script security"),
                    options=(
                        SettingOption("ask", mark("Ask before it runs")),
                        SettingOption("sandboxed", mark("Run in the sandbox without asking")),
                    ),
                ),
                SettingsRow(
                    "agent.rounds",
                    mark("Most rounds"),
                    mark("Then you are asked whether to go on."),
                    words=mark("agent limit steps budget"),
                    unit=mark("{value} rounds"),
                ),
                SettingsRow(
                    "agent.minutes",
                    mark("Most minutes"),
                    mark("Of work, before you are asked whether to go on."),
                    words=mark("agent limit time budget"),
                    unit=mark("{value} minutes"),
                ),
                SettingsRow(
                    "agent.tokens",
                    mark("Most tokens"),
                    mark("Of the LLM, estimated, before you are asked whether to go on."),
                    words=mark("agent limit cost budget"),
                    unit=mark("{value} tokens"),
                ),
                SettingsRow(
                    "agent.repairs",
                    mark("Repairs of code"),
                    mark("How often one piece of code is mended before another way is looked for."),
                    words=mark("agent retry fix"),
                    unit=mark("{value} times"),
                ),
            ),
        ),
    ),
)

EXPERTS = Group(
    "experts",
    mark("LLM and experts"),
    "llm",
    (
        SettingsCard(
            title=mark("LLM"),
            rows=(
                SettingsRow(
                    "llm.provider",
                    mark("Who runs it"),
                    mark("The LLM answers questions, and plans what the built-in planner cannot."),
                    words=mark("language model chat ollama openai transformers"),
                    options=(
                        SettingOption("auto", mark("The best that is there")),
                        SettingOption("ollama", "Ollama"),
                        SettingOption("openai", mark("A service that speaks OpenAI’s protocol")),
                        SettingOption("transformers", mark("JARVIS itself, from the disk")),
                        SettingOption("none", mark("Nobody: work without an LLM")),
                    ),
                ),
                SettingsRow(
                    "llm.id",
                    mark("Which LLM"),
                    mark("As its provider calls it, such as “qwen3.5:4b”."),
                    words=mark("model name"),
                    nothing=mark("The best that is there"),
                ),
                SettingsRow(
                    "llm.address",
                    mark("Address of the service"),
                    mark("Up to its version, such as http://127.0.0.1:1234/v1."),
                    words=mark("url endpoint server lm studio llama.cpp vllm"),
                    nothing=mark("None"),
                ),
                SettingsRow(
                    "llm.think",
                    mark("Thinking"),
                    mark("How long it may reason before it answers; slower, and often better."),
                    words=mark("reasoning effort"),
                    options=(
                        SettingOption("off", mark("Not at all")),
                        SettingOption("low", mark("Briefly")),
                        SettingOption("medium", mark("For a while")),
                        SettingOption("high", mark("For long")),
                    ),
                ),
                SettingsRow(
                    "llm.context",
                    mark("Longest prompt"),
                    mark("Together with its answer. More takes more memory."),
                    words=mark("context window tokens"),
                    unit=mark("{value} tokens"),
                ),
                SettingsRow(
                    "llm.sees",
                    mark("The LLM of a service takes pictures"),
                    mark("OpenAI’s protocol does not tell; switch it on where yours does."),
                    words=mark("vision images multimodal"),
                ),
            ),
        ),
        SettingsCard(
            title=mark("Experts"),
            rows=(
                SettingsRow(
                    "experts-page",
                    mark("Experts and LLMs on this computer"),
                    mark("What is installed, what it takes, and what else could be fetched."),
                    words=mark("models download remove"),
                    make=link("experts", mark("Open the page")),
                ),
                SettingsRow(
                    "experts.disk_budget_gb",
                    mark("Disk for experts"),
                    mark("The most that they take together; the least used ones go first."),
                    words=mark("storage space budget gigabytes"),
                    unit=mark("{value} GB"),
                    nothing=NO_LIMIT,
                ),
                SettingsRow(
                    "experts.memory_budget_mb",
                    mark("Memory for experts"),
                    mark("Of the main memory and of the graphics card each."),
                    words=mark("ram vram budget"),
                    unit=mark("{value} MB"),
                    nothing=mark("leaves other programs their part"),
                ),
                SettingsRow(
                    "experts.ask_above_mb",
                    mark("Ask before downloads larger than"),
                    mark("In the mode “local” every download is asked about."),
                    words=mark("download confirm size"),
                    unit=mark("{value} MB"),
                ),
                SettingsRow(
                    "experts.allowed_licences",
                    mark("Licences that experts may have"),
                    mark("Patterns such as “Apache-*”, with commas between them; “*” is any."),
                    words=mark("license commercial"),
                    nothing=mark("none"),
                ),
                SettingsRow(
                    "experts.denied_licences",
                    mark("Licences that are left out"),
                    mark("Such as “CC-BY-NC-*”, for experts that may not be used to earn money."),
                    words=mark("license non-commercial"),
                    nothing=mark("none"),
                ),
                SettingsRow(
                    "experts.gated",
                    mark("Offer experts behind terms"),
                    mark("Their terms must be accepted on the Hugging Face Hub first."),
                    words=mark("gated licence agreement"),
                ),
                SettingsRow(
                    "processes",
                    mark("Built-in methods at once"),
                    mark("Each is a process of its own."),
                    words=mark("cores cpu parallel performance threads"),
                    unit=mark("{value} processes"),
                    nothing=mark("one per core, at most four"),
                ),
            ),
        ),
    ),
)

WORK_KEYS = Group(
    "api",
    mark("API keys"),
    "key",
    (
        SettingsCard(
            told=mark(
                "Keys are kept in your system’s keyring alone, are never shown, and never written "
                "into a file."
            ),
            rows=(
                SettingsRow(
                    "hub-key",
                    mark("Hugging Face"),
                    mark("For experts of other computers, in the modes “hybrid” and “lite”."),
                    words=mark("token api hub secret password account"),
                    make=KeyPanel,
                    whole=True,
                ),
                SettingsRow(
                    "service-key",
                    mark("LLM service"),
                    mark("For the address of the service under “LLM and experts”, and no other."),
                    words=mark("openai token api secret password"),
                    make=KeyPanel,
                    whole=True,
                ),
                SettingsRow(
                    "api.provider",
                    mark("Inference provider"),
                    mark("The only one that the Hub may pass requests on to; “auto” is any."),
                    words=mark("groq together fal hub api"),
                    refusal=mark("That is the Hub’s name of a provider: small letters and digits."),
                ),
            ),
        ),
    ),
)

HISTORY = Group(
    "history",
    mark("History"),
    "history",
    (
        SettingsCard(
            rows=(
                SettingsRow(
                    "history.retention_days",
                    mark("Forget conversations after"),
                    mark("Those without a turn for so long; pinned ones stay."),
                    words=mark("delete retention privacy old days"),
                    unit=mark("{value} days"),
                    nothing=mark("never"),
                ),
                SettingsRow(
                    "history-page",
                    mark("Your conversations"),
                    mark("Search them, export and import them, or delete them."),
                    words=mark("export import delete search"),
                    make=link("history", mark("Open the page")),
                ),
                SettingsRow(
                    "conversation_minutes",
                    mark("Commands carry on for"),
                    mark("A command in a terminal goes on with the last conversation for so long."),
                    words=mark("terminal command line cli"),
                    unit=mark("{value} minutes"),
                ),
            )
        ),
    ),
)

DATA = Group(
    "data",
    mark("Data"),
    "folder",
    (
        SettingsCard(
            rows=(
                SettingsRow(
                    "folders",
                    mark("Where your data lie"),
                    mark("All of it is on this computer."),
                    words=mark("folder size disk storage logs database cache path"),
                    make=FolderPanel,
                    whole=True,
                ),
                SettingsRow(
                    "reset",
                    mark("Settings"),
                    mark("Brings every default back. Conversations, keys and experts stay."),
                    words=mark("reset default factory"),
                    make=ResetAll,
                    whole=True,
                ),
            )
        ),
    ),
)

NETWORK = Group(
    "network",
    mark("Network"),
    "network",
    (
        SettingsCard(
            rows=(
                SettingsRow(
                    "network.proxy",
                    mark("Proxy"),
                    mark(
                        "For downloads and the API, such as http://proxy:3128. Ollama, a program "
                        "of its own, has its own setting."
                    ),
                    words=mark("http https firewall company"),
                    nothing=mark("The system’s"),
                    refusal=mark(
                        "That is an address such as http://proxy:3128, without a name or password. "
                        "Those belong into the variable HTTPS_PROXY of your system."
                    ),
                ),
                SettingsRow(
                    "network-test",
                    mark("Is the Hub reached?"),
                    mark("Asks for one small page of the Hugging Face Hub."),
                    words=mark("test connection internet online"),
                    make=NetworkPanel,
                    whole=True,
                ),
            )
        ),
    ),
)


SPEECH_LANGUAGES = (
    SettingOption("", mark("Found out from what is said (needs Whisper)")),
    *(
        SettingOption(code, name)
        for code, name in (
            ("en", mark("English")), ("de", mark("German")), ("fr", mark("French")),
            ("es", mark("Spanish")), ("it", mark("Italian")), ("pt", mark("Portuguese")),
            ("nl", mark("Dutch")), ("pl", mark("Polish")), ("sv", mark("Swedish")),
            ("da", mark("Danish")), ("no", mark("Norwegian")), ("fi", mark("Finnish")),
            ("cs", mark("Czech")), ("el", mark("Greek")), ("hu", mark("Hungarian")),
            ("ro", mark("Romanian")), ("tr", mark("Turkish")), ("uk", mark("Ukrainian")),
            ("ru", mark("Russian")), ("ar", mark("Arabic")), ("he", mark("Hebrew")),
            ("hi", mark("Hindi")), ("id", mark("Indonesian")), ("ja", mark("Japanese")),
            ("ko", mark("Korean")), ("zh", mark("Chinese")),
        )
    ),
)  # fmt: skip

HEARING = SettingsCard(
    title=mark("Hearing"),
    rows=(
        SettingsRow(
            "speech.input",
            mark("Microphone"),
            mark("The device that hears you."),
            words=mark("input device headset recording"),
            make=DeviceChoice,
            whole=True,
        ),
        SettingsRow(
            "level",
            mark("Level"),
            mark("Shows how loud you are there. Nothing is kept."),
            words=mark("volume loudness test meter gain"),
            make=LevelPanel,
            whole=True,
        ),
        SettingsRow(
            "trial",
            mark("Is it understood?"),
            mark("Say a sentence and see what is written down. It is sent nowhere."),
            words=mark("test recognition dictation"),
            make=TrialPanel,
            whole=True,
        ),
        SettingsRow(
            "speech.microphone",
            mark("When the microphone is open"),
            mark("Only an open one hears what is said in the half second before the key."),
            words=mark("privacy listening always on recording"),
            options=(
                SettingOption(
                    "talking",
                    mark("Only while I talk"),
                    mark(
                        "It opens with the key and closes with it. A device that is slow to wake "
                        "up may lose the beginning of the first word."
                    ),
                ),
                SettingOption(
                    "conversation",
                    mark("Also while an answer is spoken, and for half a minute after"),
                    mark(
                        "No first word is lost when you go on talking. What nobody asked for is "
                        "forgotten after half a second; it is never written down, and never leaves "
                        "the memory of this computer."
                    ),
                ),
                SettingOption(
                    "always",
                    mark("All the time"),
                    mark(
                        "No first word is ever lost, and a wake word can be heard. Your system "
                        "shows the microphone as in use; what nobody asked for is forgotten after "
                        "half a second."
                    ),
                ),
            ),
            whole=True,
        ),
    ),
)
UNDERSTANDING = SettingsCard(
    title=mark("Understanding"),
    rows=(
        SettingsRow(
            "recognisers",
            mark("Recogniser in use"),
            mark("Whisper understands far more than the small one that is built in."),
            words=mark("whisper speech recognition download transcription"),
            make=RecogniserPanel,
            whole=True,
        ),
        SettingsRow(
            "speech.recogniser",
            mark("Which Whisper is used"),
            mark("A larger one hears more exactly, and takes longer."),
            words=mark("model size speed"),
            make=WhichWhisper,
        ),
        SettingsRow(
            "speech.language",
            mark("Language that is spoken"),
            mark("The one in which you talk to JARVIS."),
            words=mark("tongue English German Chinese"),
            options=SPEECH_LANGUAGES,
        ),
        SettingsRow(
            "speech.words",
            mark("Words to expect"),
            mark("Names and other words that are often misheard, with commas between them."),
            words=mark("vocabulary names dictionary spelling"),
            nothing=mark("None"),
        ),
        SettingsRow(
            "speech.pause",
            mark("Silence that ends what you say"),
            mark("Where no key is held, JARVIS answers after so long a pause."),
            words=mark("timeout end of speech wait"),
            unit=mark("{value} s"),
            slides=0.1,
        ),
    ),
)
SPEAKING = SettingsCard(
    title=mark("Speaking"),
    rows=(
        SettingsRow(
            "speech.output",
            mark("Loudspeaker"),
            mark("The device on which answers are heard."),
            words=mark("output device headphones sound"),
            make=DeviceChoice,
            whole=True,
        ),
        SettingsRow(
            "speech.engine",
            mark("Spoken by"),
            mark("Kokoro and Piper sound more natural, and have to be installed first."),
            words=mark("tts text to speech engine espeak kokoro piper"),
            options=(
                SettingOption("system", mark("The system’s own voice")),
                SettingOption("kokoro", mark("Kokoro")),
                SettingOption("piper", mark("Piper")),
            ),
        ),
        SettingsRow(
            "speech.voice",
            mark("Name of the voice"),
            mark("One of that speaker’s voices, by its name; left empty, it follows the language."),
            words=mark("speaker accent"),
            nothing=mark("By the language of the text"),
        ),
        SettingsRow(
            "speech.rate",
            mark("Speed"),
            mark("How fast answers are spoken."),
            words=mark("rate slower faster words per minute"),
            unit=mark("{value} words a minute"),
            slides=10,
        ),
        SettingsRow(
            "speech.volume",
            mark("Volume"),
            mark("As a share of what your system gives."),
            words=mark("louder quieter"),
            unit=mark("{value} %"),
            slides=0.05,
            factor=100,
        ),
        SettingsRow(
            "sentence",
            mark("How it sounds"),
            make=SentencePanel,
            words=mark("test voice listen"),
            whole=True,
        ),
    ),
)
HANDS_FREE = SettingsCard(
    title=mark("Hands-free"),
    rows=(
        SettingsRow(
            "speech.hands_free",
            mark("Ask aloud, and take the answer aloud"),
            mark(
                "Questions about a spoken request are read out, and “yes”, “no”, “stop”, “repeat” "
                "or “slower” answers them. Anything unclear is a no; what deletes or sends is "
                "never agreed to by voice."
            ),
            words=mark("confirm questions"),
        ),
        SettingsRow(
            "speech.interrupt",
            mark("Interrupt an answer by speaking, without a key"),
            mark(
                "The microphone listens while an answer is spoken. Use headphones: without them "
                "the voice of JARVIS may be taken for yours."
            ),
            words=mark("barge in stop talking"),
        ),
        SettingsRow(
            "speech.wake_word",
            mark("Wake word"),
            mark("Said aloud, it begins to listen; the microphone is open all the time for it."),
            words=mark("hey jarvis hotword always listening"),
            options=(
                SettingOption("", mark("None")),
                SettingOption("hey_jarvis", "Hey Jarvis"),
                SettingOption("okay_nabu", "Okay Nabu"),
                SettingOption("hey_mycroft", "Hey Mycroft"),
                SettingOption("alexa", "Alexa"),
            ),
        ),
    ),
)
VOICE = Group("voice", mark("Voice"), "mic", (HEARING, SPEAKING, UNDERSTANDING, HANDS_FREE))

VOICE_KEYS = Group(
    "keys",
    mark("Keys"),
    "keyboard",
    (
        SettingsCard(
            title=mark("Keys of the whole desktop"),
            told=mark("They work while another program is in front."),
            rows=(
                SettingsRow(
                    "speech.key",
                    mark("Talk key"),
                    mark("Hold it and speak. Press the field, then the keys you want."),
                    words=mark("hotkey shortcut push to talk keyboard microphone"),
                    make=KeyRecorder,
                    whole=True,
                ),
                SettingsRow(
                    "speech.key_way",
                    mark("What the talk key does"),
                    mark("A tap is shorter than about a third of a second."),
                    words=mark("hold toggle press push to talk"),
                    options=(
                        SettingOption("auto", mark("Hold it, or tap it")),
                        SettingOption("hold", mark("Hold it while you speak")),
                        SettingOption("toggle", mark("Press it to start and to stop")),
                    ),
                ),
                SettingsRow(
                    "window.quick_key",
                    mark("Key of the quick box"),
                    mark("Opens a small field near the pointer, in which you type or talk."),
                    words=mark("hotkey shortcut launcher spotlight tray"),
                    make=KeyRecorder,
                    whole=True,
                ),
            ),
        ),
    ),
)


APPEARANCE = Group(
    "appearance",
    mark("Appearance"),
    "appearance",
    (
        SettingsCard(
            rows=(
                SettingsRow(
                    "window.theme",
                    mark("Colours"),
                    mark("High contrast is dark or light, as your system is."),
                    words=mark("theme dark light mode night contrast accessibility"),
                    options=(
                        SettingOption("system", mark("As the system")),
                        SettingOption("light", mark("Light")),
                        SettingOption("dark", mark("Dark")),
                        SettingOption("contrast", mark("High contrast")),
                    ),
                ),
                SettingsRow(
                    "window.text_size",
                    mark("Text size"),
                    mark("Of everything in this window."),
                    words=mark("font zoom scale larger accessibility"),
                    unit=mark("{value} %"),
                    slides=0.1,
                    factor=100,
                ),
                SettingsRow(
                    "window.motion",
                    mark("Motion"),
                    mark("Off, nothing moves that need not."),
                    words=mark("animation accessibility reduce"),
                ),
                SettingsRow(
                    "window.language",
                    mark("Language"),
                    mark("Of this window; what you say and write may be in any."),
                    words=mark("translation locale English Deutsch 中文"),
                    options=(
                        SettingOption("", mark("The system’s")),
                        *(SettingOption(code, name) for code, name in LANGUAGES.items()),
                    ),
                ),
            )
        ),
    ),
)
DESKTOP = Group(
    "desktop",
    mark("Desktop"),
    "desktop",
    (
        SettingsCard(
            rows=(
                SettingsRow(
                    "window.tray",
                    mark("Stay in the tray"),
                    mark("Closing the window leaves JARVIS running there, where there is a tray."),
                    words=mark("background icon close minimise"),
                ),
                SettingsRow(
                    "autostart",
                    mark("Start with the session"),
                    mark("JARVIS is there when you log in."),
                    words=mark("autostart boot login"),
                    make=AutostartSwitch,
                ),
                SettingsRow(
                    "window.start_hidden",
                    mark("Start hidden"),
                    mark("In the tray alone, without the window."),
                    words=mark("background minimised"),
                ),
                SettingsRow(
                    "window.overlay",
                    mark("Show that JARVIS listens"),
                    mark("A small sign above all windows, while this one is not in front."),
                    words=mark("overlay recording indicator"),
                ),
                SettingsRow(
                    "window.notify",
                    mark("Notifications"),
                    mark("Of long work that ended and of timers, while JARVIS is not in front."),
                    words=mark("alerts messages popup"),
                ),
                SettingsRow(
                    "desktop",
                    mark("This desktop"),
                    mark("What it can do for JARVIS, and whether it knows JARVIS by name."),
                    words=mark("menu entry install portal tray"),
                    make=DesktopPanel,
                    whole=True,
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
    WORK_KEYS,
    APPEARANCE,
    DESKTOP,
    HISTORY,
    DATA,
    NETWORK,
)
