"""Entries of the Hub's list: reading, searching and index terms.

The Hub's answer is not trusted: ids must look like ids, texts are cut and cleaned, numbers must be
numbers, and everything else is dropped. None of it is used as a path or an instruction.

Facts such as the licence are indexed as terms that no word can equal. The full-text index lists
entries by popularity, so a search with several conditions reads only a few of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any, TypeGuard

from jarvis_desktop.core.display import encodable, one_line
from jarvis_desktop.text.languages import NAMES
from jarvis_desktop.text.tokens import FUNCTION_WORDS, stem, tokens

REPO = re.compile(r"[A-Za-z0-9][\w.-]*/[A-Za-z0-9][\w.-]*", re.ASCII)
COMMIT = re.compile(r"[0-9a-f]{40}")
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,39}")

MAX_ID_CHARS = 140
MAX_SUMMARY_CHARS = 200
MAX_TAGS = 16
MAX_COUNT = 1 << 50
"""Larger numbers are not counts."""

MANY_LANGUAGES = 5
"""An entry with this many languages is assumed to support any."""

LANGUAGES = frozenset(
    """aa ab ae af ak am an ar as av ay az ba be bg bh bi bm bn bo br bs ca ce ch co cr cs cu cv cy
    da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy
    hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li
    ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa
    pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th
    ti tk tl tn to tr ts tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu""".split()
)
"""The codes of ISO 639-1; a tag of two such letters names a language."""

BYTES: Mapping[str, float] = {
    "F64": 8, "I64": 8, "U64": 8, "C64": 8, "F32": 4, "I32": 4, "U32": 4, "F16": 2, "BF16": 2,
    "I16": 2, "U16": 2, "I8": 1, "U8": 1, "BOOL": 1, "F8_E4M3": 1, "F8_E5M2": 1, "F4": 0.5,
}  # fmt: skip
"""Bytes per number of each safetensors type."""

LIBRARIES = frozenset({"transformers", "diffusers"})
FOREIGN_TAGS = frozenset(
    """custom_code gptq awq 4-bit 8-bit 2-bit 3-bit 6-bit bitsandbytes fp8 nvfp4 mxfp4 exl2 exl3 mlx
    gguf aqlm hqq eetq quanto compressed-tensors torchao peft lora adapter onnx-only""".split()
)
"""Tags of what needs its own code, another library, or another repository."""

HALVES, UNFIT = "files:fp16", "files:none"
"""Our own tags, which no repository can set: it has weights in 16 bits too; its files are not what
its library loads."""
OWN_TAGS = frozenset({HALVES, UNFIT})

_NOISE = frozenset(
    """transformers diffusers safetensors pytorch tf jax onnx endpoints_compatible model-index
    autotrain_compatible text-generation-inference text-embeddings-inference generated_from_trainer
    custom_code has_space multilingual tensorboard""".split()
)


@dataclass(frozen=True, slots=True)
class HubEntry:
    """What is saved of a repository."""

    repo: str
    task: str
    """The Hub's pipeline tag."""
    sha: str = ""
    modified: int = 0
    """When it last changed, in seconds since 1970."""
    downloads: int = 0
    likes: int = 0
    parameters: int = 0
    weights_mb: int = 0
    """As safetensors; 0 if not known."""
    licence: str = ""
    gated: bool = False
    library: str = ""
    languages: tuple[str, ...] = ()
    """Codes; "*" for many."""
    providers: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    summary: str = ""
    runs: bool = False
    """Whether its format and library can be loaded here without foreign code."""


def read(raw: object, task: str) -> HubEntry | None:
    """Read an item of the Hub's list for a task; None if it is not usable."""
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
        tags=tuple(_descriptive_tags(tags, task)),
        summary=_summary(card),
        runs=library in LIBRARIES and "safetensors" in tags and FOREIGN_TAGS.isdisjoint(tags),
    )


def is_repo(value: object) -> TypeGuard[str]:
    """Whether this is a repository id, such as "org/name"."""
    return (
        isinstance(value, str)
        and len(value) <= MAX_ID_CHARS
        and REPO.fullmatch(value) is not None
        and "--" not in value
        and ".." not in value
    )


def commit(value: object) -> str:
    """Return a commit of 40 digits, or "" if it is not one."""
    return value if isinstance(value, str) and COMMIT.fullmatch(value) else ""


def count(value: object) -> int:
    """Return a count, or 0 if it is not one."""
    if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_COUNT:
        return value
    return 0


def clean(value: object, *, limit: int) -> str:
    """Return foreign text on one line, or "" if it is not text."""
    if not isinstance(value, str):
        return ""
    if len(value) <= limit and value.isascii() and value.isprintable():
        return " ".join(value.split())
    return encodable(one_line(value, limit=limit))


def licence(tags: Iterable[str], card: Mapping[str, Any]) -> str:
    """Return the licence as the Hub names it; its owner's name for it if that is "other"."""
    named = next((tag[8:] for tag in tags if tag.startswith("license:")), "")
    own = card.get("license_name")
    if named in ("", "other") and isinstance(own, str) and own:
        named = own
    return clean(named, limit=60)


def providers(value: object) -> tuple[str, ...]:
    """Return the providers that run it now, from either of the Hub's two formats."""
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
    """The number of parameters, and their size in MB."""
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
    return ("*",) if "multilingual" in tags or len(unique) >= MANY_LANGUAGES else unique


def _descriptive_tags(tags: Iterable[str], task: str) -> Iterator[str]:
    """The tags that describe it; of base models and datasets, the name only."""
    found: dict[str, None] = {}
    for tag in tags:
        if tag in _NOISE or tag in LANGUAGES or tag == task or len(found) == MAX_TAGS:
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
    return next(
        (text for key in keys if (text := clean(card.get(key), limit=MAX_SUMMARY_CHARS))), ""
    )


PROCESS_MB = 700
"""The memory of an expert's process besides its weights."""


@dataclass(frozen=True, slots=True)
class HubQuery:
    """Search criteria; unset ones match everything."""

    tasks: tuple[str, ...] = ()
    """The Hub's names; any of these, or all tasks if empty."""
    words: str = ""
    allowed_licences: tuple[str, ...] = ("*",)
    denied_licences: tuple[str, ...] = ()
    gated: bool = True
    """Whether experts behind terms are included."""
    runs: bool = False
    """Whether it must run here."""
    served: bool = False
    """Whether a provider must run it behind an API."""
    language: str = ""
    """A code that the entry must name, unless it has many languages."""
    size_mb: int = 0
    """The largest size of the weights; excludes unknown sizes."""
    memory_mb: float = 0
    """The memory that it must fit in with 16-bit weights; excludes unknown sizes."""
    limit: int = 5

    def licence_allowed(self, licence: str) -> bool:
        """Whether the user's settings allow this licence; an unknown one is allowed."""
        return not licence or (
            _matches(licence, self.allowed_licences) and not _matches(licence, self.denied_licences)
        )

    @property
    def any_licence(self) -> bool:
        """Whether all licences are allowed."""
        return "*" in self.allowed_licences and not self.denied_licences

    @property
    def largest_mb(self) -> float:
        """The largest size of the weights by all criteria; 0 for any size."""
        sizes = [float(self.size_mb)] if self.size_mb else []
        if self.memory_mb:
            # Here, 32-bit weights take half of their size, and 8-bit weights twice as much.
            sizes.append(2 * max(1.0, self.memory_mb - PROCESS_MB))
        return min(sizes, default=0.0)

    def accepts(self, entry: HubEntry) -> bool:
        """Whether an entry meets all criteria except the words."""
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
    """Estimate the memory in MB with 16-bit weights; 0 if not known."""
    return _memory_mb(entry, 2)


def memory_mb(entry: HubEntry) -> int:
    """Estimate the memory in MB with 32-bit weights; 0 if not known."""
    return _memory_mb(entry, 4)


def _memory_mb(entry: HubEntry, width: int) -> int:
    if not entry.weights_mb:
        return 0
    # If the number of parameters is missing, the weights are assumed to have 16 bits.
    weights = entry.parameters * width / 1e6 or entry.weights_mb * width / 2
    return round(weights * 1.1) + PROCESS_MB


@lru_cache(maxsize=4096)
def _matches(licence: str, patterns: tuple[str, ...]) -> bool:
    return any(fnmatchcase(licence.casefold(), pattern.casefold()) for pattern in patterns)


RUNS, OPEN, SERVED = "=runs", "=open", "=served"
LANGUAGE, LICENCE, SIZE = "=in:", "=under:", "=upto:"
TASK, TOP = "=of:", "=top:"
TOP_DOWNLOADS = 63
"""Downloads that make an entry one of the top of its task: the bound of a popularity class."""
UNKNOWN = "?"
SIZES = (16, 64, 128, 256, 512, 1000, 2000, 4000, 8000, 16_000, 32_000, 64_000)
"""In MB; an entry is listed under each size that it does not exceed."""
MAX_WORDS = 60
MAX_QUERY_WORDS = 6
"""How many words of a request are looked up: the longest, which say most."""

_UNFIT = re.compile(r"[^a-z0-9.+]+")
_HEAD = re.compile(r"[a-z]{3,}(?=[\d.])")
_stem = lru_cache(maxsize=100_000)(stem)


def indexed(entry: HubEntry) -> str:
    """Return all index terms of an entry. The result depends on nothing but the entry."""
    return " ".join(dict.fromkeys([*words(entry), *facts(entry)]))


def words(entry: HubEntry) -> list[str]:
    """Return the words of an entry as they are compared."""
    spoken = [NAMES.get(code, "") for code in entry.languages]
    tags = [tag.partition(":")[2] or tag for tag in entry.tags]
    text = " ".join((entry.repo, *tags, *spoken, entry.summary)).replace("_", " ")
    return list(dict.fromkeys(_cut(text)))[:MAX_WORDS]


def facts(entry: HubEntry) -> Iterator[str]:
    """Generate the terms of an entry's facts."""
    yield TASK + entry.task
    if entry.downloads >= TOP_DOWNLOADS:
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
    """Return the term of entries up to about this size; "" if it exceeds all sizes."""
    return next((f"{SIZE}{size}" for size in SIZES if megabytes <= size), "")


def licence_term(name: str) -> str:
    """Return the term of a licence."""
    return LICENCE + (_UNFIT.sub("-", name.casefold()).strip("-") or UNKNOWN)


def asked(text: str) -> tuple[str, ...]:
    """Return the words of a request as terms, at most `MAX_QUERY_WORDS` of them."""
    found = [word for word in tokens(text[:4000]) if word not in FUNCTION_WORDS]
    unique = list(dict.fromkeys(_stem(word) for word in found))
    kept = set(sorted(unique, key=len, reverse=True)[:MAX_QUERY_WORDS])
    return tuple(word for word in unique if word in kept)


def any_of(terms: Iterable[str]) -> str:
    """Return the FTS5 condition for any of the terms."""
    return "(" + " OR ".join(quoted(term) for term in terms) + ")"


def quoted(term: str) -> str:
    """Return a term quoted for FTS5."""
    return '"' + term.replace('"', '""') + '"'


def _cut(text: str) -> Iterator[str]:
    for word in tokens(text):
        if word not in FUNCTION_WORDS:
            yield _stem(word)
            if head := _HEAD.match(word):  # "qwen" finds "qwen2.5" too
                yield _stem(head[0])
