"""The rows about how JARVIS works: privacy, plans, LLM, experts, keys, history, data, network."""

from __future__ import annotations

from jarvis_desktop.core.plan import SIMPLE
from jarvis_desktop.core.wording import mark
from jarvis_desktop.ui.settings.api_keys import KeyPanel
from jarvis_desktop.ui.settings.folders import FolderPanel
from jarvis_desktop.ui.settings.rows import Card, Group, Option, Row
from jarvis_desktop.ui.settings.special import ModeControl, ResetAll, link
from jarvis_desktop.ui.settings.trying import NetworkPanel

NO_LIMIT = mark("no limit")

PRIVACY = Group(
    "mode",
    mark("Mode and privacy"),
    "shield",
    (
        Card(
            rows=(
                Row(
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
        Card(
            title=mark("Plans"),
            rows=(
                Row(
                    "planner.ask",
                    mark("Show a plan before it runs"),
                    SIMPLE,
                    words=mark("review confirm approve simple plans without asking"),
                    options=(
                        Option("always", mark("Every plan")),
                        Option("larger", mark("All but simple ones")),
                        Option("never", mark("None")),
                    ),
                ),
                Row(
                    "planner.kind",
                    mark("Planner"),
                    mark("Who turns your words into steps."),
                    words=mark("embedded llm planning engine"),
                    options=(
                        Option("auto", mark("Built-in where it is sure, else the LLM")),
                        Option("embedded", mark("Built-in: quick, and needs no LLM")),
                        Option("llm", mark("The LLM")),
                    ),
                ),
            ),
        ),
        Card(
            title=mark("Goals in several steps"),
            told=mark("Agent mode works on towards a goal, and writes code where that helps."),
            rows=(
                Row(
                    "agent.ask_plan",
                    mark("Ask about the first plan of a goal"),
                    mark("What changes it after foreign text was read is asked about in any case."),
                    words=mark("agent approve confirm"),
                    options=(
                        Option("always", mark("Always")),
                        Option("larger", mark("With more than three steps")),
                        Option("never", mark("Never")),
                    ),
                ),
                Row(
                    "agent.code",
                    mark("Code"),
                    mark("In the sandbox it reaches only hosts that you named, and no other file."),
                    words=mark("python sandbox script security"),
                    options=(
                        Option("ask", mark("Ask before it runs")),
                        Option("sandboxed", mark("Run in the sandbox without asking")),
                    ),
                ),
                Row(
                    "agent.rounds",
                    mark("Most rounds"),
                    mark("Then you are asked whether to go on."),
                    words=mark("agent limit steps budget"),
                    unit=mark("{value} rounds"),
                ),
                Row(
                    "agent.minutes",
                    mark("Most minutes"),
                    mark("Of work, before you are asked whether to go on."),
                    words=mark("agent limit time budget"),
                    unit=mark("{value} minutes"),
                ),
                Row(
                    "agent.tokens",
                    mark("Most tokens"),
                    mark("Of the LLM, estimated, before you are asked whether to go on."),
                    words=mark("agent limit cost budget"),
                    unit=mark("{value} tokens"),
                ),
                Row(
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
        Card(
            title=mark("LLM"),
            rows=(
                Row(
                    "llm.provider",
                    mark("Who runs it"),
                    mark("The LLM answers questions, and plans what the built-in planner cannot."),
                    words=mark("language model chat ollama openai transformers"),
                    options=(
                        Option("auto", mark("The best that is there")),
                        Option("ollama", "Ollama"),
                        Option("openai", mark("A service that speaks OpenAI’s protocol")),
                        Option("transformers", mark("JARVIS itself, from the disk")),
                        Option("none", mark("Nobody: work without an LLM")),
                    ),
                ),
                Row(
                    "llm.id",
                    mark("Which LLM"),
                    mark("As its provider calls it, such as “qwen3.5:4b”."),
                    words=mark("model name"),
                    nothing=mark("The best that is there"),
                ),
                Row(
                    "llm.address",
                    mark("Address of the service"),
                    mark("Up to its version, such as http://127.0.0.1:1234/v1."),
                    words=mark("url endpoint server lm studio llama.cpp vllm"),
                    nothing=mark("None"),
                ),
                Row(
                    "llm.think",
                    mark("Thinking"),
                    mark("How long it may reason before it answers; slower, and often better."),
                    words=mark("reasoning effort"),
                    options=(
                        Option("off", mark("Not at all")),
                        Option("low", mark("Briefly")),
                        Option("medium", mark("For a while")),
                        Option("high", mark("For long")),
                    ),
                ),
                Row(
                    "llm.context",
                    mark("Longest prompt"),
                    mark("Together with its answer. More takes more memory."),
                    words=mark("context window tokens"),
                    unit=mark("{value} tokens"),
                ),
                Row(
                    "llm.sees",
                    mark("The LLM of a service takes pictures"),
                    mark("OpenAI’s protocol does not tell; switch it on where yours does."),
                    words=mark("vision images multimodal"),
                ),
            ),
        ),
        Card(
            title=mark("Experts"),
            rows=(
                Row(
                    "experts-page",
                    mark("Experts and LLMs on this computer"),
                    mark("What is installed, what it takes, and what else could be fetched."),
                    words=mark("models download remove"),
                    make=link("experts", mark("Open the page")),
                ),
                Row(
                    "experts.disk_budget_gb",
                    mark("Disk for experts"),
                    mark("The most that they take together; the least used ones go first."),
                    words=mark("storage space budget gigabytes"),
                    unit=mark("{value} GB"),
                    nothing=NO_LIMIT,
                ),
                Row(
                    "experts.memory_budget_mb",
                    mark("Memory for experts"),
                    mark("Of the main memory and of the graphics card each."),
                    words=mark("ram vram budget"),
                    unit=mark("{value} MB"),
                    nothing=mark("leaves other programs their part"),
                ),
                Row(
                    "experts.ask_above_mb",
                    mark("Ask before downloads larger than"),
                    mark("In the mode “local” every download is asked about."),
                    words=mark("download confirm size"),
                    unit=mark("{value} MB"),
                ),
                Row(
                    "experts.allowed_licences",
                    mark("Licences that experts may have"),
                    mark("Patterns such as “Apache-*”, with commas between them; “*” is any."),
                    words=mark("license commercial"),
                    nothing=mark("none"),
                ),
                Row(
                    "experts.denied_licences",
                    mark("Licences that are left out"),
                    mark("Such as “CC-BY-NC-*”, for experts that may not be used to earn money."),
                    words=mark("license non-commercial"),
                    nothing=mark("none"),
                ),
                Row(
                    "experts.gated",
                    mark("Offer experts behind terms"),
                    mark("Their terms must be accepted on the Hugging Face Hub first."),
                    words=mark("gated licence agreement"),
                ),
                Row(
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

KEYS = Group(
    "api",
    mark("API keys"),
    "key",
    (
        Card(
            told=mark(
                "Keys are kept in your system’s keyring alone, are never shown, and never written "
                "into a file."
            ),
            rows=(
                Row(
                    "hub-key",
                    mark("Hugging Face"),
                    mark("For experts of other computers, in the modes “hybrid” and “lite”."),
                    words=mark("token api hub secret password account"),
                    make=KeyPanel,
                    whole=True,
                ),
                Row(
                    "service-key",
                    mark("LLM service"),
                    mark("For the address of the service under “LLM and experts”, and no other."),
                    words=mark("openai token api secret password"),
                    make=KeyPanel,
                    whole=True,
                ),
                Row(
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
        Card(
            rows=(
                Row(
                    "history.retention_days",
                    mark("Forget conversations after"),
                    mark("Those without a turn for so long; pinned ones stay."),
                    words=mark("delete retention privacy old days"),
                    unit=mark("{value} days"),
                    nothing=mark("never"),
                ),
                Row(
                    "history-page",
                    mark("Your conversations"),
                    mark("Search them, export and import them, or delete them."),
                    words=mark("export import delete search"),
                    make=link("history", mark("Open the page")),
                ),
                Row(
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
        Card(
            rows=(
                Row(
                    "folders",
                    mark("Where your data lie"),
                    mark("All of it is on this computer."),
                    words=mark("folder size disk storage logs database cache path"),
                    make=FolderPanel,
                    whole=True,
                ),
                Row(
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
        Card(
            rows=(
                Row(
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
                Row(
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
