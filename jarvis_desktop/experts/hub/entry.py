"""One repository of the Hub's list, read from what the Hub answers.

The answer is a stranger's: ids must look like ids, words are cut and cleaned, numbers must be
numbers, and what is anything else is left out. Nothing of it is ever a path or an instruction.

What is looked for in the index.

The terms under which an entry is found, and those that a search asks for.

Besides its words an entry has facts, written so that no word can be one of them. Words and facts
lie in one full-text index, whose lists are met in the order of popularity: that is why a search
under several conditions need look at a few entries only, however many there are."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, TypeGuard

from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.tasks.text.classification import NAMES
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem, tokens

REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")

LONGEST_ID = 140
LONGEST_SUMMARY = 200
MOST_TAGS = 16
LARGEST = 1 << 50
"""Numbers above it are no counts of anything."""

MANY = 5
"""Someone who speaks as many languages is taken to speak any."""

LANGUAGES = frozenset(
    """aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy
    hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li
    ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa
    pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th
    ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu""".split()
)
"""The codes of ISO 639-1: a tag of two such letters names a language."""

BYTES: Mapping[str, float] = {
    "F64": 8, "I64": 8, "U64": 8, "C64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2,
    "I16": 2, "U16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F4": 0.5,
}  # fmt: skip
"""How much of the disk a number of each type takes in safetensors."""

LIBRARIES = frozenset({"transformers", "diffusers"})
FOREIGN = frozenset(
    """custom_code gptq awq 4-bit 8-bit 2-bit 3-bit 6-bit bitsandbytes fp8 nvfp4 mxfp4 exl2 exl3 mlx
    gguf aqlm hqq eetq quanto compressed-tensors torchao peft lora adapter onnx-only""".split()
)
"""Tags of what needs code of its own, another library, or another repository besides."""

HALVES, UNFIT = "files:fp16", "files:none"
"""Tags of ours, which no stranger can set: its weights are there in 16 bits as well; it was looked
into, and its files are not what its library loads."""
OURS = frozenset({HALVES, UNFIT})

_NOISE = frozenset(
    """transformers diffusers safetensors pytorch tf jax onnx endpoints_compatible model-index
    autotrain_compatible text-generation-inference text-embeddings-inference generated_from_trainer
    custom_code has_space multilingual tensorboard""".split()
)


@dataclass(frozen=True, slots=True)
class HubEntry:
    """What is kept of a repository."""

    repo: str
    task: str
    """The Hub's name of its task, its pipeline tag."""
    sha: str = ""
    modified: int = 0
    """When it was last changed, in seconds since 1970."""
    downloads: int = 0
    likes: int = 0
    parameters: int = 0
    weights_mb: int = 0
    """The size of its weights as safetensors; 0 if not known."""
    licence: str = ""
    gated: bool = False
    library: str = ""
    languages: tuple[str, ...] = ()
    """Codes; "*" where it says that they are many."""
    providers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summary: str = ""
    runs: bool = False
    """Whether its format and its library are ones that are loaded here, without foreign code."""


def read(raw: object, task: str) -> HubEntry | None:
    """An item of the Hub's list for a task; None where it is not fit to be kept."""
    if not isinstance(raw, dict) or raw.get("pipeline_tag") != task:
        return None
    repo = raw.get("id")
    if not is_repo(repo) or raw.get("private") is True or raw.get("disabled") is True:
        return None
    tags = [tag for tag in _strings(raw.get("tags"), most=300) if len(tag) <= 120]
    card = raw.get("cardData")
    card = card if isinstance(card, dict) else {}
    parameters, size = _weights(raw.get("safetensors"))
    library = _name(raw.get("library_name"))
    return HubEntry(
        repo=repo,
        task=task,
        sha=commit(raw.get("sha")),
        modified=_moment(raw.get("lastModified")),
        downloads=count(raw.get("downloads")),
        likes=count(raw.get("likes")),
        parameters=parameters,
        weights_mb=size,
        licence=licence(tags, card),
        gated=raw.get("gated", False) not in (False, None),
        library=library,
        languages=_languages(tags, card),
        providers=providers(raw.get("inferenceProviderMapping")),
        tags=tuple(_telling(tags, task)),
        summary=_summary(card),
        runs=library in LIBRARIES and "safetensors" in tags and FOREIGN.isdisjoint(tags),
    )


def is_repo(value: object) -> TypeGuard[str]:
    """Whether this is the id of a repository, such as "org/name"."""
    return (
        isinstance(value, str)
        and len(value) <= LONGEST_ID
        and REPO.fullmatch(value) is not None
        and "--" not in value
        and ".." not in value
    )


def commit(value: object) -> str:
    """A commit's 40 digits; "" where it is none."""
    return value if isinstance(value, str) and COMMIT.fullmatch(value) else ""


def count(value: object) -> int:
    """A count of something; 0 where it is none."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST:
        return value
    return 0


def clean(value: object, *, limit: int) -> str:
    """A stranger's words on one line; "" where they are none."""
    if not isinstance(value, str):
        return ""
    if len(value) <= limit and value.isascii() and value.isprintable():
        return " ".join(value.split())
    return encodable(one_line(value, limit=limit))


def licence(tags: Iterable[str], card: Mapping[str, Any]) -> str:
    """The licence, as the Hub names it; the name that its owner gave where that is "other"."""
    named = next((tag[8:] for tag in tags if tag.startswith("license:")), "")
    own = card.get("license_name")
    if named in ("", "other") and isinstance(own, str) and own:
        named = own
    return clean(named, limit=60)


def providers(value: object) -> tuple[str, ...]:
    """The inference providers that run it now, from either of the Hub's two ways to say so."""
    if isinstance(value, dict):
        value = [{**each, "provider": name} for name, each in value.items() if _is_dict(each)]
    if not isinstance(value, list):
        return ()
    live = [
        name
        for each in value[:40]
        if _is_dict(each)
        and each.get("status", "live") == "live"
        and (name := _name(each.get("provider")))
    ]
    return tuple(dict.fromkeys(live))


def _is_dict(value: object) -> bool:
    return isinstance(value, dict)


def _strings(value: object, *, most: int) -> list[str]:
    value = [value] if isinstance(value, str) else value
    if not isinstance(value, list):
        return []
    return [each for each in value[:most] if isinstance(each, str)]


def _name(value: object) -> str:
    return value if isinstance(value, str) and _NAME.fullmatch(value) else ""


def _moment(value: object) -> int:
    try:
        return max(0, int(datetime.fromisoformat(str(value)).timestamp()))
    except (ValueError, OverflowError, OSError):
        return 0


def _weights(value: object) -> tuple[int, int]:
    """How many parameters there are, and how many MB they take."""
    if not isinstance(value, dict):
        return 0, 0
    types = value.get("parameters")
    numbers = {
        str(name): count(number)
        for name, number in (types.items() if isinstance(types, dict) else ())
    }
    size = sum(BYTES.get(name, 4) * number for name, number in numbers.items())
    total = count(value.get("total")) or sum(numbers.values())
    return total, (round(size / 1e6) or 1) if size else 0


def _languages(tags: Iterable[str], card: Mapping[str, Any]) -> tuple[str, ...]:
    found = [tag for tag in tags if tag in LANGUAGES]
    found += [
        code
        for code in _strings(card.get("language"), most=200)
        if 2 <= len(code) <= 3 and code.isascii() and code.isalpha() and code.islower()
    ]
    unique = tuple(dict.fromkeys(found))
    return ("*",) if "multilingual" in tags or len(unique) >= MANY else unique


def _telling(tags: Iterable[str], task: str) -> Iterator[str]:
    """The tags that tell it from others; of what it was built upon and from, the name."""
    found: dict[str, None] = {}
    for tag in tags:
        if tag in _NOISE or tag in LANGUAGES or tag == task or len(found) == MOST_TAGS:
            continue
        key, colon, rest = tag.partition(":")
        if colon:
            if key not in ("base_model", "dataset", "diffusers"):
                continue
            tag = f"{key}:{rest.rpartition(':')[2].rpartition('/')[2]}"
        if tag := clean(tag, limit=40).replace(" ", "-"):
            found[tag] = None
    yield from found


def _summary(card: Mapping[str, Any]) -> str:
    keys = ("summary", "model_summary", "description", "model_description")
    return next((text for key in keys if (text := clean(card.get(key), limit=LONGEST_SUMMARY))), "")


PROCESS_MB = 700
"""What a process that runs an expert takes besides the weights."""


@dataclass(frozen=True, slots=True)
class HubQuery:
    """A search. What is not set is not asked for."""

    tasks: tuple[str, ...] = ()
    """Of the Hub, any of these; none for all."""
    words: str = ""
    allowed_licences: tuple[str, ...] = ("*",)
    denied_licences: tuple[str, ...] = ()
    gated: bool = True
    """Whether what is only given to people who accepted its terms is wanted too."""
    runs: bool = False
    """Whether only what can be loaded here is."""
    served: bool = False
    """Whether only what some provider runs behind an API is."""
    language: str = ""
    """A code that the expert must name, or be said to know many languages."""
    size_mb: int = 0
    """The most that its weights may take; those of unknown size are left out then."""
    memory_mb: float = 0
    """In how much it must find room, its weights in 16 bits; those of unknown size are left out."""
    limit: int = 5

    def licence_allowed(self, licence: str) -> bool:
        """Whether the person wants experts with this licence; an unknown one is not refused."""
        return not licence or (
            _matches(licence, self.allowed_licences) and not _matches(licence, self.denied_licences)
        )

    @property
    def any_licence(self) -> bool:
        """Whether all licences are allowed."""
        return "*" in self.allowed_licences and not self.denied_licences

    @property
    def largest_mb(self) -> float:
        """The most that the weights may take for every reason there is; 0 for any size."""
        sizes = [float(self.size_mb)] if self.size_mb else []
        if self.memory_mb:
            # Weights that are kept in 32 bits take half as much here, those in 8 bits double.
            sizes.append(2 * max(1.0, self.memory_mb - PROCESS_MB))
        return min(sizes, default=0.0)

    def accepts(self, entry: HubEntry) -> bool:
        """Whether an entry is what is wanted, its words aside."""
        return (
            (self.gated or not entry.gated)
            and (entry.runs or not self.runs)
            and (bool(entry.providers) or not self.served)
            and (not self.language or bool({self.language, "*"}.intersection(entry.languages)))
            and (not self.size_mb or 0 < entry.weights_mb <= self.size_mb)
            and (not self.memory_mb or 0 < memory_half_mb(entry) <= self.memory_mb)
            and self.licence_allowed(entry.licence)
        )


def memory_half_mb(entry: HubEntry) -> int:
    """What it takes of memory, its weights in 16 bits; 0 if not known. An estimate."""
    return _memory_mb(entry, 2)


def memory_mb(entry: HubEntry) -> int:
    """The same in 32 bits."""
    return _memory_mb(entry, 4)


def _memory_mb(entry: HubEntry, width: int) -> int:
    if not entry.weights_mb:
        return 0
    # Where the number of parameters is not given, the weights are taken to be in 16 bits.
    weights = entry.parameters * width / 1e6 or entry.weights_mb * width / 2
    return round(weights * 1.1) + PROCESS_MB


@lru_cache(maxsize=4096)
def _matches(licence: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(licence.casefold(), pattern.casefold()) for pattern in patterns)


RUNS, OPEN, SERVED = "=runs", "=open", "=served"
LANGUAGE, LICENCE, SIZE = "=in:", "=under:", "=upto:"
TASK, TOP = "=of:", "=top:"
TAKEN = 63
"""An entry with as many downloads is among the top of its task; the end of a popularity's class."""
UNKNOWN = "?"
SIZES = (16, 64, 128, 256, 512, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
"""In MB: an entry is listed under every one that it does not go beyond."""
MOST_WORDS = 60
ASKED = 6
"""How many of a request's words are looked up; the longest ones, which tell the most."""

_UNFIT = re.compile(r"[^a-z0-9.+]+")
_HEAD = re.compile(r"[a-z]{3,}(?=[\d.])")
_stem = lru_cache(maxsize=100_000)(stem)


def indexed(entry: HubEntry) -> str:
    """All terms of an entry, once each, for the index. The same entry always gives the same."""
    return " ".join(dict.fromkeys([*words(entry), *facts(entry)]))


def words(entry: HubEntry) -> list[str]:
    """The words of an entry as they are compared."""
    spoken = [NAMES.get(code, "") for code in entry.languages]
    tags = [tag.partition(":")[2] or tag for tag in entry.tags]
    text = " ".join((entry.repo, *tags, *spoken, entry.summary)).replace("_", " ")
    return list(dict.fromkeys(_cut(text)))[:MOST_WORDS]


def facts(entry: HubEntry) -> Iterator[str]:
    """What a search may ask of an entry."""
    yield TASK + entry.task
    if entry.downloads >= TAKEN:
        yield TOP + entry.task
    if entry.runs:
        yield RUNS
    if not entry.gated:
        yield OPEN
    if entry.providers:
        yield SERVED
    yield licence_term(entry.licence)
    for code in entry.languages or (UNKNOWN,):
        yield LANGUAGE + code
    if entry.weights_mb:
        yield from (f"{SIZE}{size}" for size in SIZES if entry.weights_mb <= size)


def size_term(megabytes: float) -> str:
    """What entries of at most this size are listed under, with somewhat larger ones; "" if all."""
    return next((f"{SIZE}{size}" for size in SIZES if megabytes <= size), "")


def licence_term(name: str) -> str:
    """What entries with a licence are listed under."""
    return LICENCE + (_UNFIT.sub("-", name.casefold()).strip("-") or UNKNOWN)


def asked(text: str) -> tuple[str, ...]:
    """The words of a request as terms; those that say the most where there are many."""
    found = [word for word in tokens(text[:4000]) if word not in FUNCTION_WORDS]
    unique = list(dict.fromkeys(_stem(word) for word in found))
    kept = set(sorted(unique, key=len, reverse=True)[:ASKED])
    return tuple(word for word in unique if word in kept)


def any_of(terms: Iterable[str]) -> str:
    """A condition of FTS5: one of the terms."""
    return "(" + " OR ".join(quoted(term) for term in terms) + ")"


def quoted(term: str) -> str:
    """A term that is not syntax."""
    return '"' + term.replace('"', '""') + '"'


def _cut(text: str) -> Iterator[str]:
    for word in tokens(text):
        if word not in FUNCTION_WORDS:
            yield _stem(word)
            if head := _HEAD.match(word):  # "qwen2.5" is found by "qwen" as well
                yield _stem(head[0])
