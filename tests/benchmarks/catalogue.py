"""Prints how large the index of the Hub is, what building it takes, and how long searches take.

A sample is multiplied to two million entries: its own, or the records of a file.

Run: python -m tests.benchmarks.catalogue [--entries N] [--sample FILE] [--keep FILE]
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import random
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from jarvis_desktop.backends.task_encoder import TaskEncoder
from jarvis_desktop.experts.hub import index as meaning
from jarvis_desktop.experts.hub.database import HubIndexWriter, SyncState
from jarvis_desktop.experts.hub.entry import HubQuery, read
from jarvis_desktop.experts.hub.index import HubIndex
from jarvis_desktop.experts.hub.sync import HubRefresh
from jarvis_desktop.paths import shipped
from jarvis_desktop.text.tokens import content
from tests.benchmarks.history import quantiles
from tests.hub import running_hub

ENTRIES = 2_000_000
LIMIT_SEARCH, LIMIT_BYTES, LIMIT_MEMORY = 0.020, 1.5e9, 300e6
PAGE = 1000
PER_QUERY = 200

SHARES = {
    "text-generation": 30, "text-to-image": 14, "text-classification": 14, "fill-mask": 4,
    "reinforcement-learning": 6, "token-classification": 5, "automatic-speech-recognition": 5,
    "image-classification": 4, "sentence-similarity": 3, "question-answering": 3,
    "translation": 2, "summarization": 2, "feature-extraction": 2, "text-to-speech": 1,
    "image-to-text": 1, "object-detection": 1, "text-to-video": 1, "image-to-image": 1,
    "depth-estimation": 0.1, "audio-classification": 0.9,
}  # fmt: skip
LICENCES = ["apache-2.0"] * 40 + ["mit"] * 20 + ["other"] * 8 + ["cc-by-nc-4.0"] * 8
LICENCES += ["creativeml-openrail-m"] * 8 + ["llama3.1"] * 6 + ["gemma", "agpl-3.0", "bsd-3-clause"]
LANGUAGES = (
    ["en"] * 60 + ["zh"] * 8 + ["multilingual"] * 6 + "fr de es ru ja ko it pt sv is".split()
)
FAMILIES = "bert roberta llama qwen2.5 mistral gemma t5 whisper vit detr sdxl flux wav2vec2".split()
COMMON = """fine-tuned instruct chat base large small medical legal financial news sentiment emotion
    summary dialogue code math reasoning image caption speech noise medieval contract invoice
    poetry football weather recipe""".split()


def own_sample(chance: random.Random) -> list[dict[str, Any]]:
    """Records as a file of them has: id, task, tags, description."""
    syllables = "ba ce di fo gu ha je ki lo mu na pe qui ro su ta ve wi xo yu".split()
    rare = ["".join(chance.choices(syllables, k=3)) for _ in range(30_000)]

    def word() -> str:
        usual = chance.random() < 0.5
        return chance.choice(COMMON) if usual else rare[int(len(rare) ** chance.random())]

    def some(count: int) -> list[str]:
        return [word() for _ in range(count)]

    return [
        {
            "id": f"org/{chance.choice(FAMILIES)}-{'-'.join(some(2))}",
            "task": task,
            "meta": {"tags": some(chance.randint(0, 5))},
            "description": " ".join(some(chance.randint(4, 25))),
        }
        for task in chance.choices(list(SHARES), weights=list(SHARES.values()), k=20_000)
    ]


def multiplied(sample: list[dict[str, Any]], count: int) -> Iterator[tuple[str, dict[str, Any]]]:
    """Entries as the Hub lists them, task by task, the most taken first: (task, item)."""
    chance = random.Random(1)
    by_task: dict[str, list[dict[str, Any]]] = {}
    for record in sample:
        by_task.setdefault(record["task"], []).append(record)
    shares = {task: SHARES.get(task, 1.0) for task in by_task}
    whole = sum(shares.values())
    for task, records in by_task.items():
        number = round(count * shares[task] / whole)
        for place in range(number):
            yield task, item(chance.choice(records), task, place, number, chance)


def item(
    record: dict[str, Any], task: str, place: int, number: int, chance: random.Random
) -> dict[str, Any]:
    """One entry after a record, at a place of its task's order."""
    name = record["id"].rpartition("/")[2][:60]
    meta = record.get("meta") or {}
    own = meta["tags"] if isinstance(meta.get("tags"), list) else []
    parameters = int(10 ** chance.uniform(6.5, 10.6))
    tags = ["transformers", "safetensors", "region:us", f"license:{chance.choice(LICENCES)}", task]
    tags += [chance.choice(FAMILIES), chance.choice(LANGUAGES), *map(str, own)]
    tags += [f"base_model:org/{chance.choice(FAMILIES)}", f"arxiv:{place % 9999}"]
    tags += chance.choices(["", "gguf", "4-bit", "custom_code", "lora"], [70, 10, 10, 5, 5])
    return {
        "id": f"org{chance.randrange(200_000)}/{name}-{place}",
        "pipeline_tag": task,
        "library_name": "transformers" if chance.random() < 0.7 else "peft",
        "sha": f"{chance.getrandbits(160):040x}",
        "lastModified": f"2025-0{chance.randint(1, 9)}-1{chance.randint(0, 9)}T10:00:00.000Z",
        "downloads": int(5e6 * (place + 1) ** -1.1) if place < number / 2 else chance.randint(0, 9),
        "likes": int(1e4 * (place + 1) ** -0.8),
        "gated": "auto" if chance.random() < 0.05 else False,
        "tags": tags,
        "safetensors": {"parameters": {"BF16": parameters}, "total": parameters},
        "inferenceProviderMapping": [{"provider": "hf-inference", "status": "live"}],
        # The Hub gives the card of the most popular only; here every second has one.
        "cardData": {"summary": " ".join(str(record.get("description", "")).split())[:200]}
        if place % 2 else {},
    }  # fmt: skip


def build(sample: list[dict[str, Any]], count: int, path: Path) -> None:
    """Fill an index, page by page, as refreshing does."""
    began = time.perf_counter()
    with HubIndexWriter(path) as writer:
        pages: list[Any] = []
        state: SyncState | None = None
        for task, raw in multiplied(sample, count):
            if state is None or state.name != task:
                if state:
                    writer.keep(pages, state)
                state, pages = writer.state(task), []
            if entry := read(json.loads(json.dumps(raw)), task):
                pages.append(entry)
            if len(pages) == PAGE:
                writer.keep(pages, state)
                pages = []
        assert state
        writer.keep(pages, state)
        writer.tidy()
    memory = peak("self")
    taken = time.perf_counter() - began
    print(f"building {taken:.0f} s, {count / taken:.0f} entries a second")
    print(f"memory   {memory / 1e6:.0f} MB, limit {LIMIT_MEMORY / 1e6:.0f} MB")


def spoken(sample: list[dict[str, Any]]) -> list[str]:
    """The words of the sample, as often as they are there: a choice of them is a likely one."""
    texts = [f"{record['id']} {record.get('description', '')[:200]}" for record in sample]
    return [word for text in texts for word in content(text.replace("/", " ")) if word.isalpha()]


def queries(words: list[str], chance: random.Random) -> dict[str, Callable[[], HubQuery]]:
    """Kinds of searches, each with what a person might ask."""
    tasks = list(SHARES)
    common = [word for word, _ in Counter(words).most_common(40)]

    def few(count: int, among: list[str] = words) -> str:
        return " ".join(chance.choices(among, k=count))

    def wanted(task: str = "", **more: Any) -> HubQuery:
        usual = {"runs": True, "gated": False, "memory_mb": 16_000, "denied_licences": ("*-nc-*",)}
        return HubQuery(tasks=(task or chance.choice(tasks),), **{**usual, **more})

    writing = "text-generation"
    return {
        "a task, no words": wanted,
        "a task, 1 word": lambda: wanted(words=few(1)),
        "a task, 4 words": lambda: wanted(words=few(4)),
        "a task, request of 20 words": lambda: wanted(words=few(20)),
        "text-generation, 4 words": lambda: wanted(writing, words=few(4)),
        "text-generation, 4 of the commonest": lambda: wanted(writing, words=few(4, common)),
        "text-generation, Icelandic": lambda: wanted(writing, words=few(2), language="is"),
        "text-generation, MIT, < 60 MB": lambda: wanted(
            writing, words=few(2), allowed_licences=("mit",), size_mb=60
        ),
        "text-generation, AGPL, Swedish, < 40 MB": lambda: wanted(
            writing, allowed_licences=("agpl*",), language="sv", size_mb=40
        ),
        "text-generation, an unheard word": lambda: wanted(writing, words="zzzyx quxxor"),
    }


def measure(label: str, index: HubIndex, make: Callable[[], HubQuery]) -> None:
    """Time searches of one kind, by the clock and by the processor."""
    taken, worked, found = [], [], 0
    for _ in range(PER_QUERY):
        wanted = make()
        began, work = time.perf_counter(), time.thread_time()
        found += len(index.search(wanted))
        taken.append(time.perf_counter() - began)
        worked.append(time.thread_time() - work)
    # Where other programs keep the processors busy, the second is what the search itself takes.
    busy = 1000 * sorted(worked)[int(0.95 * PER_QUERY)]
    limit = f"limit {LIMIT_SEARCH * 1000:.0f} ms"
    print(f"{label:48}{quantiles(taken)}, of the processor p95 {busy:.2f} ms; {limit}", end="")
    print(f"; {found / PER_QUERY:.1f} found", flush=True)


def peak(process: str) -> int:
    """The most memory a process has had, in bytes (Linux)."""
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))


def give_directions(path: Path, encoder: TaskEncoder) -> None:
    """Read what the most popular entries are about, as refreshing does."""
    began, count = time.perf_counter(), 0
    with HubIndexWriter(path) as writer:
        for task in SHARES:
            state = writer.state(task)
            with writer.transaction() as db:
                texts = meaning.missing(db, state.number, task)
                meaning.keep(db, state.number, texts, encoder.directions([t for _, t in texts]))
            count += len(texts)
    if count:
        print(f"meaning  {1000 * (time.perf_counter() - began) / count:.1f} ms an entry, {count}")


async def refreshing(sample: list[dict[str, Any]], path: Path) -> None:
    """The memory of a refresh over HTTP, with pages as large as are read at all."""
    chance, most = random.Random(3), 0
    listed = [
        {**item(chance.choice(sample), "fill-mask", place, 6000, chance), "padding": "x" * 8000}
        for place in range(6000)
    ]
    for each in listed:
        each["tags"] = [*each["tags"], *(f"tag{number:08}" for number in range(1000))]

    def look(fraction: float | None, words: str) -> None:
        nonlocal most
        for child in multiprocessing.active_children():
            most = max(most, peak(str(child.pid)))

    with running_hub(listed=listed) as hub:
        began = time.perf_counter()
        done = await HubRefresh(path, endpoint=hub.address).run(("fill-mask",), look)
    print(f"refresh  {done.read} over HTTP in {time.perf_counter() - began:.0f} s, ", end="")
    print(f"its process at most {most / 1e6:.0f} MB, limit {LIMIT_MEMORY / 1e6:.0f} MB")


def main() -> None:
    """Build and measure."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--entries", type=int, default=ENTRIES)
    parser.add_argument("--sample", type=Path, help="a file of JSON records, one on each line")
    parser.add_argument("--keep", type=Path, help="where the index is kept, or found from before")
    args = parser.parse_args()
    lines = args.sample.read_text("utf-8").splitlines() if args.sample else []
    sample = [json.loads(line) for line in lines] or own_sample(random.Random(1))
    encoder = TaskEncoder(shipped("models", "planner"))
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(refreshing(sample, Path(folder) / "small.db"))
        path = args.keep or Path(folder) / "hub.db"
        if not path.exists():
            process = multiprocessing.get_context("spawn").Process(
                target=build, args=(sample, args.entries, path)
            )
            process.start()
            process.join()
        give_directions(path, encoder)
        began = time.perf_counter()
        plain = HubIndex(path)
        plain.search(HubQuery(tasks=("translation",)))
        print(f"opening and first search {1000 * (time.perf_counter() - began):.1f} ms")
        size = sum(each.stat().st_size for each in path.parent.glob(f"{path.name}*"))
        print(f"{plain.size:,} entries, {size / 1e6:.0f} MB, limit {LIMIT_BYTES / 1e6:.0f} MB")
        words = spoken(sample)
        for label, make in queries(words, random.Random(2)).items():
            measure(label, plain, make)
        plain.close()
        encoder.directions(["warm"])
        meant = HubIndex(path, embed=encoder.directions)
        for label, make in queries(words, random.Random(2)).items():
            if "words" in label and "no words" not in label:
                measure(f"{label}, by meaning", meant, make)
        meant.close()


if __name__ == "__main__":
    main()
