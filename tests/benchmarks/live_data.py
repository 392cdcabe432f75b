"""How many questions about live data are known as such, and how many others are taken for one.

None of these questions was trained on; see `packaging/planner/live_questions.txt`.

Run: python -m tests.benchmarks.live_data
"""

from __future__ import annotations

import sys

from jarvis_desktop.assistant.planning.everyday import why_unknowable
from jarvis_desktop.backends.task_encoder import TaskEncoder
from jarvis_desktop.paths import shipped

MIN_KNOWN, MAX_MISTAKEN = 0.8, 0.025
"""Goals, as shares of the questions."""

LIVE = (
    "What's the weather going to be like in Paris on Tuesday?",
    "Is it windy outside?",
    "Can we have a barbecue this evening or will it rain?",
    "What is the temperature of the sea in Nice?",
    "Tell me what happened today",
    "What are the newspapers writing about?",
    "Is there any news about the trains strike?",
    "Who won yesterday's Formula 1 race?",
    "How did the match between Spain and Italy end?",
    "How is the Nvidia stock doing?",
    "What's a dollar worth today?",
    "How much do tomatoes cost at the supermarket?",
    "What is the cheapest train to Hamburg tomorrow?",
    "Are there road works on the way to the airport?",
    "Is flight BA 117 delayed?",
    "When does the hardware store open?",
    "Is the town hall open this afternoon?",
    "What films are on tonight?",
    "When is the next ferry to the island?",
    "How many people have voted so far?",
)
"""Questions whose answers change from day to day."""

ORDINARY = (
    "What is the capital of Hungary?",
    "Who painted the Mona Lisa?",
    "Who won the Trojan War?",
    "Explain gravity to a child",
    "What is the difference between a crocodile and an alligator?",
    "Give me a shopping list for pancakes",
    "What can I make from leftover bread?",
    "How do I remove coffee stains?",
    'What does "ubiquitous" mean?',
    "Is it safe to drink tap water?",
    "How deep is the ocean?",
    "Why do leaves turn red?",
    "Think of a name for my boat",
    "How does a microwave work?",
    "When did the Titanic sink?",
    "Should I rent or buy a house?",
    "What is a black hole?",
    "Tips for a good night's sleep",
    "How long do I have to boil an egg?",
    "Who wrote The Lord of the Rings?",
    "What is the fastest animal?",
    "Why is ice slippery?",
    "What should I know before I buy a used car?",
    "Recommend a film for children",
    "How many bones does a human have?",
    "What causes wind?",
    "Is a strawberry a berry?",
    "How do I say no politely?",
    "How does the internet work?",
    "Why do shares go up and down?",
    "What does a meteorologist do?",
    "What was the score in chess called elo?",
    "How do I save petrol?",
    "What do opening hours on a door usually look like?",
    "How do I get to sleep on a plane?",
    "Why are trains late in winter?",
    "What makes good news writing?",
    "What should I read this summer?",
    "I have nothing to do this evening",
    "How do I celebrate New Year's Eve?",
)
"""Questions that an LLM can answer from what it has learnt."""


def main() -> int:
    """Print the questions that are judged wrongly, and the shares."""
    encoder = TaskEncoder(shipped("models", "planner"))
    missed = [text for text in LIVE if not why_unknowable(encoder, text)]
    mistaken = [text for text in ORDINARY if why_unknowable(encoder, text)]
    known = 1 - len(missed) / len(LIVE)
    wrong = len(mistaken) / len(ORDINARY)
    print(f"known {known:.0%} of {len(LIVE)}; missed: {missed}")
    print(f"mistaken {wrong:.1%} of {len(ORDINARY)}: {mistaken}")
    return 0 if known >= MIN_KNOWN and wrong <= MAX_MISTAKEN else 1


if __name__ == "__main__":
    sys.exit(main())
