"""Builds resources/speech/commands.arpa: which words follow which in requests to an assistant.

The small built-in recogniser was trained on news and books; this second language model, made from
sentence patterns of our own, lets it hear requests. Run it after changing a pattern:

    python3 packaging/build_command_lm.py [TO]

Interpolated Kneser-Ney over words, bigrams and trigrams, written exactly as a back-off file.
Below the words of the patterns lie the most frequent words of the recogniser's own language model,
so that an unforeseen name can still be heard.
"""

from __future__ import annotations

import math
import random
import re
import sys
import tomllib
from collections import Counter, defaultdict
from pathlib import Path

import pocketsphinx

SEED = 7
SENTENCES = 60_000
BACKGROUND_WORDS = 3_000
BACKGROUND_SHARE = 0.05
DISCOUNT = 0.75
TRIGRAM_LEAST = 3
"""Rarer trigrams are left to their bigrams: they would be two thirds of the file."""

BEGIN, END = "<s>", "</s>"
HERE = Path(__file__).parent
SPEECH = HERE.parent / "resources" / "speech"

History = tuple[str, ...]


def sentences(count: int, *, seed: int) -> list[list[str]]:
    """Requests drawn from the patterns, each pattern as likely as any other."""
    draw = random.Random(seed)
    given = tomllib.loads((HERE / "command_patterns.toml").read_text())
    patterns, slots = given["patterns"], given["slots"]
    return [_fill(draw.choice(patterns), slots, draw).split() for _ in range(count)]


def _fill(pattern: str, slots: dict[str, list[str]], draw: random.Random) -> str:
    def pick(match: re.Match[str]) -> str:
        inner = match.group(1)
        options: list[str] = slots[inner] if inner in slots else inner.split("|")
        return draw.choice(options)

    while "{" in pattern:
        pattern = re.sub(r"\{([^{}]*)\}", pick, pattern)
    return pattern


def dictionary() -> set[str]:
    """The words that the recogniser can pronounce: its own, and ours in commands.dict."""
    paths = (
        Path(pocketsphinx.get_model_path()) / "en-us" / "cmudict-en-us.dict",
        SPEECH / "commands.dict",
    )
    lines = (line for path in paths for line in path.read_text().splitlines() if line)
    words = (line.split(maxsplit=1)[0] for line in lines)
    return {word for word in words if "(" not in word}


def background(words: set[str], count: int) -> dict[str, float]:
    """The most frequent words of the general language model with their shares."""
    decoder = pocketsphinx.Decoder(loglevel="FATAL")
    general, log = decoder.get_lm("_default"), decoder.logmath
    plain = sorted(word for word in words if re.fullmatch(r"[a-z']+", word))
    share = {word: log.exp(general.prob([word])) for word in plain}
    top = sorted(plain, key=lambda word: (-share[word], word))[:count]
    total = sum(share[word] for word in top)
    return {word: share[word] / total for word in top}


def arpa(corpus: list[list[str]], base: dict[str, float]) -> str:
    """The language model as text in ARPA form; `base` is mixed into the single words."""
    counts = [Counter[History]() for _ in range(3)]
    for words in corpus:
        padded = (BEGIN, *words, END)
        for order in (2, 3):
            counts[order - 1].update(zip(*(padded[i:] for i in range(order)), strict=False))
    # Kneser-Ney: a shorter n-gram counts in how many different places it stands, not how often.
    bigrams = Counter(gram[1:] for gram in counts[2])
    bigrams.update({gram: n for gram, n in counts[1].items() if gram[0] == BEGIN})
    unigrams = Counter(gram[1:] for gram in counts[1])

    seen = sum(unigrams.values())
    one = {
        word: (1 - BACKGROUND_SHARE) * unigrams[(word,)] / seen
        + BACKGROUND_SHARE * base.get(word, 0.0)
        for word in sorted({gram[0] for gram in unigrams} | set(base))
    }
    two, back_one = _discounted(bigrams, {(word,): p for word, p in one.items()})
    three, back_two = _discounted(counts[2], two, least=TRIGRAM_LEAST)

    lines = ["\\data\\", f"ngram 1={len(one) + 1}", f"ngram 2={len(two)}", f"ngram 3={len(three)}"]
    lines += ["", "\\1-grams:", f"-99 {BEGIN} {_log(back_one[(BEGIN,)])}"]
    lines += [f"{_log(p)} {w} {_log(back_one.get((w,), 1.0))}" for w, p in one.items()]
    lines += ["", "\\2-grams:"]
    lines += [
        f"{_log(p)} {' '.join(gram)} {_log(back_two.get(gram, 1.0))}" for gram, p in two.items()
    ]
    lines += ["", "\\3-grams:", *(f"{_log(p)} {' '.join(gram)}" for gram, p in three.items())]
    return "\n".join([*lines, "", "\\end\\", ""])


def _discounted(
    counts: Counter[History], lower: dict[History, float], *, least: int = 1
) -> tuple[dict[History, float], dict[History, float]]:
    """Shares of n-grams, and the weight each history leaves to shorter ones."""
    totals, left = Counter[History](), defaultdict[History, float](float)
    for gram, n in counts.items():
        totals[gram[:-1]] += n
        left[gram[:-1]] += DISCOUNT if n >= least else n
    back = {history: left[history] / totals[history] for history in totals}
    shares = {
        gram: (n - DISCOUNT) / totals[gram[:-1]] + back[gram[:-1]] * lower[gram[1:]]
        for gram, n in sorted(counts.items())
        if n >= least
    }
    return shares, back


def _log(share: float) -> str:
    return f"{math.log10(share):.3f}"


def main(to: Path) -> None:
    """Write the language model to a file."""
    words = dictionary()
    corpus = sentences(SENTENCES, seed=SEED)
    unknown = sorted({word for line in corpus for word in line} - words)
    if unknown:
        raise SystemExit(f"The recogniser cannot pronounce: {', '.join(unknown)}.")
    to.write_text(arpa(corpus, background(words, BACKGROUND_WORDS)))
    print(f"{to}: {to.stat().st_size:,} bytes from {len(corpus):,} requests")


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else SPEECH / "commands.arpa")
