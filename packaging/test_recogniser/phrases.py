"""What is said to the test recogniser: the sentences of sentences.txt, and more of their words.

Five hundred sentences are soon learnt by heart. So that it has to listen, most of what it is
taught is made of the same words in other orders: walks along neighbouring words, and words at
random.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

from tokenizers import AddedToken, Tokenizer, decoders, pre_tokenizers
from tokenizers.models import BPE
from tokenizers.trainers import BpeTrainer

SENTENCES = Path(__file__).with_name("sentences.txt")
QUESTIONS = frozenset("What Who How When Which Is Was Do Does Can Could".split())
LONGEST_WALK = 11
TIMESTAMPS = 1_501
LARGEST_VOCABULARY = 1_900

Phrase = tuple[str, ...]
"""Words as Whisper writes them, with capitals and punctuation: ("What", "time", "is", "it?")."""


def plain(word: str) -> str:
    """A word without capitals and punctuation."""
    return re.sub(r"[^a-z']", "", word.lower())


def key(phrase: Phrase) -> str:
    """What two phrases have in common that sound the same."""
    return " ".join(map(plain, phrase))


def capital(word: str) -> str:
    """As it stands at the beginning."""
    return word[:1].upper() + word[1:]


def bare(word: str) -> str:
    """Without the punctuation that follows it."""
    return word.rstrip(".,?")


@dataclass(frozen=True)
class Phrases:
    """The two parts of sentences.txt."""

    taught: tuple[Phrase, ...]
    held_out: tuple[Phrase, ...]

    @property
    def words(self) -> list[str]:
        """The closed vocabulary, as written within a sentence."""
        names = {"Jarvis", "I"} | {
            bare(word) for p in self.taught for word in p[1:] if word[0].isupper()
        }
        proper = {plain(name): name for name in names}
        every = {plain(word) for phrase in self.taught for word in phrase}
        return sorted(proper.get(word, word) for word in every)


def read() -> Phrases:
    """The sentences that are shipped beside this file."""
    parts: dict[str, list[Phrase]] = {"taught": [], "held out": []}
    into: list[Phrase] = []
    for line in SENTENCES.read_text().splitlines():
        if found := re.fullmatch(r"\[(.+)\]", line):
            into = parts[found.group(1)]
        elif line and not line.startswith("#"):
            into.append(tuple(line.split()))
    phrases = Phrases(tuple(parts["taught"]), tuple(parts["held out"]))
    unknown = {plain(word) for p in phrases.held_out for word in p} - set(map(plain, phrases.words))
    if unknown:
        raise SystemExit(f"Held out, but never taught: {', '.join(sorted(unknown))}.")
    return phrases


def ended(words: list[str]) -> Phrase:
    """A sentence of words: a capital, and a full stop or a question mark."""
    end = "?" if words[0] in QUESTIONS else "."
    return (
        (capital(words[0]), *words[1:-1], words[-1] + end)
        if len(words) > 1
        else (capital(words[0]) + end,)
    )


def walks(phrases: Phrases, count: int, dice: random.Random) -> list[Phrase]:
    """New sentences in which each word has followed the one before somewhere."""
    after: dict[str, list[str]] = defaultdict(list)
    for phrase in phrases.taught:
        for one, other in zip(("", *phrase), (*phrase, ""), strict=True):
            after[plain(one)].append(other)
    forbidden = {key(phrase) for phrase in (*phrases.taught, *phrases.held_out)}
    made: dict[str, Phrase] = {}
    while len(made) < count:
        words: list[str] = []
        # Choosing among different followers rather than frequent ones leads to rare words.
        while len(words) < LONGEST_WALK:
            followers = after[plain(words[-1]) if words else ""]
            chosen = dice.choice(sorted(set(followers)) if dice.random() < 0.6 else followers)
            if not chosen:
                break
            words.append(chosen.rstrip(".?"))
        words[-1] = bare(words[-1])
        phrase = ended(words)
        if key(phrase) not in forbidden:
            made[key(phrase)] = phrase
    return list(made.values())


def salads(words: list[str], count: int, dice: random.Random) -> list[Phrase]:
    """Words at random, which no memory of sentences helps with."""
    return [ended(dice.sample(words, dice.randint(3, 6))) for _ in range(count)]


def special_tokens() -> list[str]:
    """Whisper's, in Whisper's order; the time stamps follow them."""
    from faster_whisper.tokenizer import _LANGUAGE_CODES

    return [
        "<|endoftext|>",
        "<|startoftranscript|>",
        *(f"<|{code}|>" for code in _LANGUAGE_CODES[:99]),
        "<|translate|>",
        "<|transcribe|>",
        "<|startoflm|>",
        "<|startofprev|>",
        "<|nospeech|>",
        "<|notimestamps|>",
    ]


def tokenizer(phrases: Phrases) -> Tokenizer:
    """Byte-level pieces as Whisper's, learnt until the words are whole."""
    made = Tokenizer(BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = BpeTrainer(
        vocab_size=LARGEST_VOCABULARY,
        min_frequency=1,
        show_progress=False,
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
    )
    texts = [f" {word} {capital(word)} {word}. {word}? {word}," for word in phrases.words]
    made.train_from_iterator(texts, trainer)
    made.add_special_tokens([AddedToken(word, special=True) for word in special_tokens()])
    return made


def number(words: Tokenizer, special: str) -> int:
    """Of one of the special tokens."""
    found: int | None = words.token_to_id(special)
    assert found is not None
    return found
