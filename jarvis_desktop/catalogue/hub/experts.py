"""Makes an expert of an entry of the index: what it is called, which files it needs, what it takes
of memory. Only what is loaded here without foreign code, and of known size, can be one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from jarvis_desktop.catalogue.hub.database import key_of
from jarvis_desktop.catalogue.hub.entry import HALVES, LANGUAGES, Entry, is_repo
from jarvis_desktop.catalogue.hub.index import HubIndex
from jarvis_desktop.catalogue.hub.wanted import memory_half_mb, memory_mb
from jarvis_desktop.core.expert import Expert
from jarvis_desktop.core.shown import one_line

PIPELINES = frozenset(
    """audio-classification audio-to-audio automatic-speech-recognition depth-estimation
    document-question-answering feature-extraction fill-mask image-classification
    image-segmentation image-text-to-text image-to-image image-to-text image-to-video
    mask-generation object-detection question-answering sentence-similarity summarization
    table-question-answering tabular-classification text-classification text-generation
    text-to-audio text-to-image text-to-speech text-to-video token-classification translation
    video-classification visual-question-answering zero-shot-classification
    zero-shot-image-classification zero-shot-object-detection""".split()
)
"""The Hub's tasks that are ours too, or stand for one of ours."""
OTHERWISE: Mapping[str, tuple[str, ...]] = {
    "image-editing": ("image-to-image",),
    "visual-question-answering": ("visual-question-answering", "image-text-to-text"),
}
"""Tasks of ours for which the Hub has another name, or a further one."""

FILES: Mapping[str, tuple[str, ...]] = {
    "transformers": (
        "*.json", "*.txt", "*.model", "*.spm", "*.jinja", "model*.safetensors",
    ),
    "diffusers": ("model_index.json", "*/*.json", "tokenizer*/*", "*/*.safetensors"),
}  # fmt: skip
"""What experts of each library need, usually."""
LONGEST = 64
_HANDLE = re.compile(r"[a-z0-9][a-z0-9.-]*")
_PAIR = re.compile(r"-([a-z]{2,3})-([a-z]{2,3})$")


def tasks_of(task: str) -> tuple[str, ...]:
    """The Hub's names for a task; none where it has none."""
    return OTHERWISE.get(task) or ((task,) if task in PIPELINES else ())


def tasks_of_all(tasks: Iterable[str]) -> tuple[str, ...]:
    """Those of several tasks, each once."""
    return tuple(dict.fromkeys(name for task in tasks for name in tasks_of(task)))


def handle(repo: str) -> str:
    """A name for people and for a folder: "org--name" in small letters, and no other repository's.

    No id on the Hub has two hyphens in a row. What cannot be a name of ours is replaced, and part
    of a digest then keeps names apart.
    """
    plain = repo.replace("/", "--").lower()
    if len(plain) <= LONGEST and _HANDLE.fullmatch(plain) and not plain.endswith("."):
        return plain
    digest = _digits(repo)
    return re.sub(r"[^a-z0-9.-]", "-", plain)[: LONGEST - 9].rstrip(".-") + f"-{digest}"


def find(index: HubIndex, name: str) -> Entry | None:
    """The entry of a repository, by its id or by its handle."""
    if is_repo(name):
        return index.find(name)
    owner, two_hyphens, rest = name.lower().partition("--")
    if not two_hyphens:
        return None
    if found := index.find(f"{owner}/{rest}"):
        return found
    digest = name[-8:].lower()
    if not re.fullmatch(r"[0-9a-f]{8}", digest):
        return None
    first = int(digest, 16) << 32
    near = index.keyed(first, first + (1 << 32) - 1)
    return next((each for each in near if handle(each.repo) == name.lower()), None)


def expert_of(entry: Entry, task: str) -> Expert | None:
    """An expert for a task of ours; None where it could not be fetched and run."""
    languages = _languages(entry, task)
    if not (entry.runs and entry.sha and entry.weights_mb) or languages is None:
        return None
    return Expert(
        id=handle(entry.repo),
        task=task,
        summary=summary(entry),
        revision=entry.sha,
        download_mb=entry.weights_mb,
        licence=entry.licence,
        languages=languages,
        verified=True,
        repo=entry.repo,
        files=files_of(entry),
        memory_mb=memory_mb(entry),
        memory_half_mb=memory_half_mb(entry),
        providers=entry.providers,
        gated=entry.gated,
        downloads=entry.downloads,
        likes=entry.likes,
    )


def files_of(entry: Entry) -> tuple[str, ...]:
    """Patterns of the files that are needed."""
    files = FILES[entry.library]
    if HALVES in entry.tags:
        return tuple(each.replace("*.safetensors", "*.fp16.safetensors") for each in files)
    return files


def reason_against(entry: Entry) -> str:
    """Why there is no expert of an entry, in a few words."""
    if entry.library not in FILES:
        library = f"by the library {entry.library}" if entry.library else "by an unnamed library"
        return f"it is loaded {library}"
    if not entry.runs:
        return "it needs code of its own, another library, or has no weights in the safe format"
    if not entry.weights_mb:
        return "the Hub does not say how large it is"
    return "it is not said what it translates" if entry.sha else "it has no commit"


def described(entry: Entry) -> Expert:
    """An entry as an expert to be shown, whether or not it runs here."""
    return expert_of(entry, entry.task) or Expert(
        id=handle(entry.repo),
        task=entry.task,
        summary=summary(entry),
        revision=entry.sha,
        download_mb=entry.weights_mb,
        licence=entry.licence,
        languages=entry.languages,
        verified=True,
        repo=entry.repo,
        providers=entry.providers,
        gated=entry.gated,
        downloads=entry.downloads,
        likes=entry.likes,
    )


def summary(entry: Entry) -> str:
    """What it says of itself; else what it is tagged with."""
    if entry.summary:
        return entry.summary
    tags = [tag for tag in entry.tags if ":" not in tag]
    parts = [", ".join(tags)] if tags else []
    bases = [tag.partition(":")[2] for tag in entry.tags if tag.startswith("base_model:")]
    parts += [f"built upon {bases[0]}"] if bases else []
    return one_line("; ".join(parts) or entry.repo, limit=200)


def _languages(entry: Entry, task: str) -> tuple[str, ...] | None:
    """As an expert has them: one that it understands, or from and into; None where unclear."""
    if task != "translation" or "*" in entry.languages:
        # Two would say that it translates. What understands some is not held to one of them.
        return entry.languages if len(entry.languages) == 1 else ()
    pair = _PAIR.search(entry.repo.lower())
    return pair.groups() if pair and LANGUAGES.issuperset(pair.groups()) else None


def _digits(repo: str) -> str:
    return f"{key_of(repo):016x}"[:8]
