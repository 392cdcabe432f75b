"""The rows about hearing and speaking, and the keys of the whole desktop."""

from __future__ import annotations

from jarvis_desktop.core.wording import mark
from jarvis_desktop.ui.settings.rows import Card, Group, Option, Row
from jarvis_desktop.ui.settings.shortcut import KeyRecorder
from jarvis_desktop.ui.voice.devices import DeviceChoice
from jarvis_desktop.ui.voice.microphone import LevelPanel, TrialPanel
from jarvis_desktop.ui.voice.sound import SentencePanel
from jarvis_desktop.ui.voice.weights import RecogniserPanel, WhichWhisper

LANGUAGES = (
    Option("", mark("Found out from what is said (needs Whisper)")),
    *(
        Option(code, name)
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

HEARING = Card(
    title=mark("Hearing"),
    rows=(
        Row(
            "speech.input",
            mark("Microphone"),
            mark("The device that hears you."),
            words=mark("input device headset recording"),
            make=DeviceChoice,
            whole=True,
        ),
        Row(
            "level",
            mark("Level"),
            mark("Shows how loud you are there. Nothing is kept."),
            words=mark("volume loudness test meter gain"),
            make=LevelPanel,
            whole=True,
        ),
        Row(
            "trial",
            mark("Is it understood?"),
            mark("Say a sentence and see what is written down. It is sent nowhere."),
            words=mark("test recognition dictation"),
            make=TrialPanel,
            whole=True,
        ),
        Row(
            "speech.microphone",
            mark("When the microphone is open"),
            mark("Only an open one hears what is said in the half second before the key."),
            words=mark("privacy listening always on recording"),
            options=(
                Option(
                    "talking",
                    mark("Only while I talk"),
                    mark(
                        "It opens with the key and closes with it. A device that is slow to wake "
                        "up may lose the beginning of the first word."
                    ),
                ),
                Option(
                    "conversation",
                    mark("Also while an answer is spoken, and for half a minute after"),
                    mark(
                        "No first word is lost when you go on talking. What nobody asked for is "
                        "forgotten after half a second; it is never written down, and never leaves "
                        "the memory of this computer."
                    ),
                ),
                Option(
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
UNDERSTANDING = Card(
    title=mark("Understanding"),
    rows=(
        Row(
            "recognisers",
            mark("Recogniser in use"),
            mark("Whisper understands far more than the small one that is built in."),
            words=mark("whisper speech recognition download transcription"),
            make=RecogniserPanel,
            whole=True,
        ),
        Row(
            "speech.recogniser",
            mark("Which Whisper is used"),
            mark("A larger one hears more exactly, and takes longer."),
            words=mark("model size speed"),
            make=WhichWhisper,
        ),
        Row(
            "speech.language",
            mark("Language that is spoken"),
            mark("The one in which you talk to JARVIS."),
            words=mark("tongue English German Chinese"),
            options=LANGUAGES,
        ),
        Row(
            "speech.words",
            mark("Words to expect"),
            mark("Names and other words that are often misheard, with commas between them."),
            words=mark("vocabulary names dictionary spelling"),
            nothing=mark("None"),
        ),
        Row(
            "speech.pause",
            mark("Silence that ends what you say"),
            mark("Where no key is held, JARVIS answers after so long a pause."),
            words=mark("timeout end of speech wait"),
            unit=mark("{value} s"),
            slides=0.1,
        ),
    ),
)
SPEAKING = Card(
    title=mark("Speaking"),
    rows=(
        Row(
            "speech.output",
            mark("Loudspeaker"),
            mark("The device on which answers are heard."),
            words=mark("output device headphones sound"),
            make=DeviceChoice,
            whole=True,
        ),
        Row(
            "speech.engine",
            mark("Spoken by"),
            mark("Kokoro and Piper sound more natural, and have to be installed first."),
            words=mark("tts text to speech engine espeak kokoro piper"),
            options=(
                Option("system", mark("The system’s own voice")),
                Option("kokoro", mark("Kokoro")),
                Option("piper", mark("Piper")),
            ),
        ),
        Row(
            "speech.voice",
            mark("Name of the voice"),
            mark("One of that speaker’s voices, by its name; left empty, it follows the language."),
            words=mark("speaker accent"),
            nothing=mark("By the language of the text"),
        ),
        Row(
            "speech.rate",
            mark("Speed"),
            mark("How fast answers are spoken."),
            words=mark("rate slower faster words per minute"),
            unit=mark("{value} words a minute"),
            slides=10,
        ),
        Row(
            "speech.volume",
            mark("Volume"),
            mark("As a share of what your system gives."),
            words=mark("louder quieter"),
            unit=mark("{value} %"),
            slides=0.05,
            factor=100,
        ),
        Row(
            "sentence",
            mark("How it sounds"),
            make=SentencePanel,
            words=mark("test voice listen"),
            whole=True,
        ),
    ),
)
HANDS_FREE = Card(
    title=mark("Hands-free"),
    rows=(
        Row(
            "speech.hands_free",
            mark("Ask aloud, and take the answer aloud"),
            mark(
                "Questions about a spoken request are read out, and “yes”, “no”, “stop”, “repeat” "
                "or “slower” answers them. Anything unclear is a no; what deletes or sends is "
                "never agreed to by voice."
            ),
            words=mark("confirm questions"),
        ),
        Row(
            "speech.interrupt",
            mark("Interrupt an answer by speaking, without a key"),
            mark(
                "The microphone listens while an answer is spoken. Use headphones: without them "
                "the voice of JARVIS may be taken for yours."
            ),
            words=mark("barge in stop talking"),
        ),
        Row(
            "speech.wake_word",
            mark("Wake word"),
            mark("Said aloud, it begins to listen; the microphone is open all the time for it."),
            words=mark("hey jarvis hotword always listening"),
            options=(
                Option("", mark("None")),
                Option("hey_jarvis", "Hey Jarvis"),
                Option("okay_nabu", "Okay Nabu"),
                Option("hey_mycroft", "Hey Mycroft"),
                Option("alexa", "Alexa"),
            ),
        ),
    ),
)
VOICE = Group("voice", mark("Voice"), "mic", (HEARING, SPEAKING, UNDERSTANDING, HANDS_FREE))

KEYS = Group(
    "keys",
    mark("Keys"),
    "keyboard",
    (
        Card(
            title=mark("Keys of the whole desktop"),
            told=mark("They work while another program is in front."),
            rows=(
                Row(
                    "speech.key",
                    mark("Talk key"),
                    mark("Hold it and speak. Press the field, then the keys you want."),
                    words=mark("hotkey shortcut push to talk keyboard microphone"),
                    make=KeyRecorder,
                    whole=True,
                ),
                Row(
                    "speech.key_way",
                    mark("What the talk key does"),
                    mark("A tap is shorter than about a third of a second."),
                    words=mark("hold toggle press push to talk"),
                    options=(
                        Option("auto", mark("Hold it, or tap it")),
                        Option("hold", mark("Hold it while you speak")),
                        Option("toggle", mark("Press it to start and to stop")),
                    ),
                ),
                Row(
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
