"""Split a request into steps: which task is asked for, in which words, and with which options."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from types import MappingProxyType

from jarvis_desktop.assistant.planning import intents, wish_words
from jarvis_desktop.assistant.planning.inputs import (
    ASK_TABLE,
    CONVERT,
    CONVERTERS,
    CUT,
    EDIT_TABLE,
    EDIT_TEXT,
    FILE_DETAILS,
    FOLLOWING,
    QUESTION,
    SAVE,
    WISHES,
)
from jarvis_desktop.assistant.planning.intents import NUMBER, CueMatch
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import TaskOption, TaskType, Value
from jarvis_desktop.text import parts
from jarvis_desktop.text.languages import CODES, COUNTRIES
from jarvis_desktop.text.numbers import with_digits

_boundary = re.compile(
    r"[.!?;\n]+(?=\s|$)|,(?=\s|$)|"
    r"\b(?:and then|then|after that|afterwards|and also|and|also|plus|"
    r"und(?: (?:dann|danach|anschließend|außerdem|auch))?)\b"
)
_not_before_a_verb = frozenset(
    "the a an this that these those my your our its their his her of in on for with from to into "
    "as by at about no more some any every each what which how whose very".split()
)

_joining = frozenset(
    "in into with from along using following guided based posing standing as to "
    "als aus zu nach".split()
)

_negation = re.compile(
    r"\b(?:not|don't|dont|do not|doesn't|never|without|no need to|instead of|rather than)"
    r"(?:\s+\w+)?\s*$"
)
_file_before = re.compile(r"\bxfile\d+x[a-z]*\s*,?\s*$")
_pages_before = re.compile(r"\b(?:pages|seiten)\s+\d[\d\s,-]*$")
_number = re.compile(r"\s*\d")
_file_behind = re.compile(r"\s*(?:and\s+|also\s+)?xfile\d+x")
_determined = re.compile(r"\b(?:the|that|this|your|my)\s+$")
_only_names = frozenset("in from for of with on at about here is are using and".split())
_sentence_end = re.compile(r"[.!?\n]+(?=\s|$)")
FitScorer = Callable[[TaskType, int, int], float]
"""How well the available inputs suit a task asked for in these words: added to its score."""


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """One task asked for, in the words from `start` to `end`, by the cue `cue`."""

    type: TaskType
    start: int
    end: int
    cue: CueMatch
    options: tuple[tuple[str, Value], ...] = ()
    refers_to: tuple[str, ...] = ()
    """Names of task types whose earlier results these words mention: "the summary"."""
    unread: tuple[str, ...] = ()
    """What these words ask besides, which changes nothing in the task."""


WRITING = "text-generation"
"""The task that does in words what no other task does."""
SUMMARY = "summarization"


class NotUnderstoodError(Exception):
    """Words ask for something, with a file, for which there is no cue."""

    def __init__(self, start: int, end: int) -> None:
        super().__init__(start, end)
        self.start = start
        self.end = end


def split_steps(
    reading: ParsedRequest,
    inventory: Sequence[TaskType],
    fit: FitScorer,
    matches: Sequence[CueMatch],
    foreign: Mapping[int, float] = MappingProxyType({}),
) -> list[PlannedStep]:
    """Return the steps of a request in order; empty if no task is asked for. `matches` are its
    cues, and `foreign` how likely the parts that begin there ask for nothing of ours. Raises
    NotUnderstoodError rather than do to a file what was asked for another one."""
    matches = _keep_literal(reading.text, matches, foreign)
    writing = next((item for item in inventory if item.name == WRITING), None)
    steps: list[PlannedStep] = []
    leading: list[str] = []
    for start, end, found in stretches(reading.text, matches):
        part = reading.text[start:end]
        words = set(re.findall(r"[a-z']+", wish_words.MARKED.sub(" ", part)))
        names = bool(not words - _only_names and reading.files_in(start, end))
        if not without_joints(part) or (names and not steps):
            continue  # "in budget.xlsx, ..."
        inside = [
            item
            for item in found
            if not _negation.search(reading.text[start : item.start][-60:])
            and not wish_words.SAYS_WHETHER.match(reading.text, item.start)
        ]
        asked, refers = _without_references(reading, inside, steps)
        repeated = steps and all(
            cue.type is steps[-1].type
            or (cue.type.name == FILE_DETAILS and fit(cue.type, start, end) <= 0)
            for cue in asked
        )
        if repeated and not steps[-1].type.ports and (told := wish_words.RESULT_TOLD.match(part)):
            more = [_bare(reading.words(start, end))] if told["more"] else []
            steps[-1] = _with_unread(steps[-1], *more)
            continue
        if not asked:
            if steps and found == inside:
                named = [item for item in reading.files_in(start, end) if not item.output]
                if named and words - wish_words.SMALL_WORDS:
                    raise NotUnderstoodError(start, end)
                if wish_words.PUTS.match(part) and len(named) < len(reading.files_in(start, end)):
                    continue  # "put the answer into a file called best.txt": that is saved
                second = steps[-1].type.name == ASK_TABLE and SECOND_QUESTION.match(
                    reading.text, start, end
                )
                if writing and not second and wish_words.is_own_wish(part):
                    cue = CueMatch(writing, start, start, 0.0)
                    steps.append(PlannedStep(writing, start, end, cue))
                    continue
                if wish_words.is_foreign(part, foreign.get(start, 0.0), steps[-1].type):
                    steps[-1] = _with_unread(steps[-1], _bare(reading.words(start, end)))
                else:
                    steps[-1] = _lengthened(steps[-1], end, refers, reading)
            elif not steps and found == inside and wish_words.asks(part):
                leading.append(_bare(reading.words(start, end)))
            continue
        if steps and _adds_nothing(steps[-1], asked, reading.files_in(start, end)):
            steps[-1] = replace(steps[-1], end=end)
            continue
        groups = _groups(reading.text, asked)
        starts = [start, *(group[0].start for group in groups[1:]), end]
        for group, (begins, closes) in zip(groups, itertools.pairwise(starts), strict=True):
            target = _target_cue(reading.text, group)
            group = [item for item in group if target is None or item.type is not target.type]
            rivals = [item for item in group if not _is_implied(item, group)]
            scores = {item: item.weight + fit(item.type, begins, end) for item in rivals}
            best = max(rivals, key=scores.__getitem__)
            if steps and best.type.name == CUT and _limits(steps[-1], best, reading.text):
                steps[-1] = replace(steps[-1], end=closes)
                continue
            changed = steps and steps[-1].type.name == best.type.name == EDIT_TABLE
            if (
                changed and len(groups) == 1 and not target
            ):  # "remove duplicates and sort it" is one change
                steps[-1] = replace(steps[-1], end=closes)
                continue
            also: list[PlannedStep] = []
            said_in = _language_cue(reading.text, group)
            made = [item for item in rivals if item.type.name in (SUMMARY, WRITING)]
            if said_in and made:
                # "Summarise it in Spanish" asks for both, whichever cue is the heavier; a text is
                # written in that language at once.
                best = max(made, key=scores.__getitem__)
                if best.type.name == SUMMARY:
                    also = [PlannedStep(said_in.type, said_in.start, closes, said_in)]
                    closes = said_in.start
            if target and best.type.name == SAVE:
                # "Save it as mp3": the converted file is saved.
                steps.append(PlannedStep(target.type, begins, closes, target, (), refers))
                begins = target.start
            elif target and not any(option.reads == "format" for option in best.type.options):
                also = [PlannedStep(target.type, target.start, closes, target)]
                closes = target.start
            options = tuple(
                pair for item in group if item.type is best.type for pair in item.options
            )
            steps += [PlannedStep(best.type, begins, closes, best, options, refers), *also]
    if steps:
        if (
            steps[0].start
            and writing
            and wish_words.is_leading_wish(reading.text[: steps[0].start])
        ):
            cue = CueMatch(writing, 0, 0, 0.0)
            steps.insert(0, PlannedStep(writing, 0, steps[0].start, cue))
            leading = []
        # The words before the first cue ("for scan.png, ...") belong to the first step.
        if leading and not reading.files_in(0, steps[0].start):
            steps[0] = _with_unread(steps[0], *leading)
        else:
            steps[0] = _with_unread(_with_beginning(steps[0], reading), *leading)
    return steps


def _adds_nothing(step: PlannedStep, asked: Sequence[CueMatch], files: Collection[object]) -> bool:
    """Return whether a step does what is asked next too, as it has no options: "list the dates and
    the names in the letter"."""
    same = [cue for cue in asked if cue.type is step.type]
    others = [cue for cue in asked if cue not in same and cue.type.port(QUESTION) is None]
    plain = step.type.ports and step.type.name not in (EDIT_TABLE, EDIT_TEXT)
    plain = plain and all(option.reads == "own-words" for option in step.type.options)
    return bool(plain and same and not others and not files)


def without_joints(words: str) -> str:
    """Return words without what joins them to the next; "" if they only do that."""
    return _joints.sub("", f" {words}").removeprefix(" ")


def _bare(words: str) -> str:
    """Return words without what joins them to others."""
    return _leading_joints.sub("", _joints.sub("", words)).strip(" ,.;:!?")


def _with_unread(step: PlannedStep, *words: str) -> PlannedStep:
    return replace(step, unread=(*step.unread, *words))


SECOND_QUESTION = re.compile(
    r"\s*(?:(?:and|or|und|oder)\s+)?(?:(?:which|who|what|welche\w?|wer|was)\s+)?(?:one\s+)?"
    r"(?:(?:has|had|is|was|hat|ist)\s+)?(?:the|die|der|das|den|am)\s+"
    r"(?:least|most|lowest|highest|median|average|mean|total|sum|fewest|\w{3,}est|\w{3,}sten?|"
    r"durchschnitt|summe)\W*$"
)
"""A second question that leaves out what the first one has: "and which has the lowest?"."""


def _language_cue(text: str, group: Sequence[CueMatch]) -> CueMatch | None:
    """Return the cue that only names the language of another task's result: "in Spanish"."""
    return next(
        (item for item in group if _in_a_language.fullmatch(text, item.start, item.end)), None
    )


def _target_cue(text: str, group: Sequence[CueMatch]) -> CueMatch | None:
    """Return the cue that only names the format of another task's result: "extract the sound as
    mp3" asks for both."""
    found = [item for item in group if item.type.name == CONVERT]
    others = [item for item in group if item.type.name != CONVERT]
    if not found or not others or found[0].start < others[0].start:
        return None
    return found[0] if _to_a_format.match(text, found[0].start) else None


def _limits(step: PlannedStep, cue: CueMatch, text: str) -> bool:
    """Return whether a cue only says of which part the step is wished: "without the last page"."""
    reads = step.type.gives[:1] == (Kind.TEXT,) or step.type.name == CONVERT
    return reads and LEAVING_OUT.match(text, cue.start) is not None


LEAVING_OUT = re.compile(
    r"\b(?:without|except|but not|(?:all(?: pages)?|everything) (?:but|except)|ohne|außer)\b"
)
"""Words before the part of a file that is not wished."""
_to_a_format = re.compile(r"(?:to|into|as|als|in|nach)\b")


def _lengthened(
    step: PlannedStep, end: int, refers: tuple[str, ...], reading: ParsedRequest
) -> PlannedStep:
    """Return the step with the words up to `end`, and whether these ask for anything that the task
    does not do."""
    longer = replace(step, end=end, refers_to=(*step.refers_to, *refers))
    words = _bare(reading.words(step.end, end))
    takes_all = any(port.name in WISHES for port in step.type.ports if port.required) or any(
        option.reads in (wish_words.AS_SAID, "clause") for option in step.type.options
    )
    asks = wish_words.STATED.match(words) or wish_words.is_question(words.lower())
    says_how = (
        _adds.match(words.lower())
        and len(_meaningful(words.lower()) - wish_words.SMALL_WORDS) >= MIN_WISH_WORDS
    )
    if (
        takes_all
        or refers
        or not (asks or says_how or wish_words.orders(reading.text[step.end : end], step.type))
        or read_options(longer, reading) != read_options(step, reading)
    ):
        return longer
    return _with_unread(step, words)


def _with_beginning(step: PlannedStep, reading: ParsedRequest) -> PlannedStep:
    """Return the first step with the words before its cue, and whether these ask something that the
    task does not answer: "work out which is brighter after you sharpen both"."""
    words = _joints.sub("", reading.words(0, step.cue.start)).strip(" ,.;:!?")
    asks = _asks_before.search(words.lower())
    changes_file = any(port.kinds[:1] == step.type.gives[:1] for port in step.type.ports[:1])
    whole = replace(step, start=0)
    if asks is None or not changes_file or step.type.gives[:1] == (Kind.TEXT,):
        return whole
    asked = reading.text.index(asks[0])
    return replace(whole, unread=(clause(replace(whole, start=asked), reading), *step.unread))


_asks_before = re.compile(r"\b(?:which|what|who|whether|why)\b(?:\s+[\w'-]+){3,}")

MIN_WISH_WORDS = 2
"""Words that say something, in what is asked besides."""

_adds = re.compile(r"(?:and |but )?(?:in|with|into|as|so that|like|without|only|more|less)\b")
"""How words begin that say how something is to be done."""


_condition = re.compile(
    r"\s*(?:and |but )?(?:if|suppose|supposing|assuming|imagine)\b", re.IGNORECASE
)


def stretches(text: str, matches: Sequence[CueMatch]) -> list[tuple[int, int, list[CueMatch]]]:
    """Split the text at sentence ends, commas and "and", but never inside a cue or a list of files,
    pages or formats, nor between a condition and what depends on it: "if I save 9 a week, how ...".
    """
    cuts = [0]
    formats = parts.lists_of_formats(text)
    for boundary in _boundary.finditer(text):
        before, behind = boundary.start(), boundary.end()
        listed = any(start < before < end for start, end in formats) or bool(
            (_file_before.search(text, 0, before) and _file_behind.match(text, behind))
            or (_pages_before.search(text, 0, before) and _number.match(text, behind))
        )
        inside = any(item.start < behind and before < item.end for item in matches)
        listed |= text[before] == "," and wish_words.ASKS_FOR.search(text, 0, before) is not None
        first_comma = text[before] == "," and "," not in text[cuts[-1] : before]
        depends = first_comma and _condition.match(text, cuts[-1])
        if not listed and not inside and not depends:
            cuts.append(boundary.end())
    cuts.append(len(text))
    return [
        (start, end, [item for item in matches if start <= item.start < end])
        for start, end in itertools.pairwise(cuts)
    ]


def _keep_literal(
    text: str, matches: Sequence[CueMatch], foreign: Mapping[int, float]
) -> list[CueMatch]:
    """Leave out cues in words that are to be taken literally: "always translate mails". If such a
    cue is the heaviest at its position, it reaches to the end of its sentence."""
    kept: list[CueMatch] = []
    taken = 0
    for match in matches:
        if match.start < taken:
            continue
        first = not kept or kept[-1].start < match.start
        if first and wish_words.is_literal(match.type):
            closing = _sentence_end.search(text, match.end)
            taken = closing.start() if closing else len(text)
            # "Remember that I like tea and flip a coin": an order after it is not remembered.
            orders = [_before_order(text, match, item) for item in matches]
            orders += [
                joint.start()
                for at, chance in foreign.items()
                if chance >= wish_words.MIN_SURELY_FOREIGN
                and wish_words.is_order(text[at:])
                and not _infinitive.search(text, match.end, at)
                and (joint := _joint_end.search(text, match.end, at))
            ]
            taken = min((taken, *filter(None, orders)))
            match = replace(match, end=taken)
        kept.append(match)
    return kept


_infinitive = re.compile(r"\bto [a-z]+")
"""Words after which a verb may be another infinitive: "remember to buy milk and call Anna"."""


def _before_order(text: str, literal: CueMatch, cue: CueMatch) -> int | None:
    """Return where a part behind `literal` ends, if a cue that needs no file begins the next."""
    if cue.type.ports or cue.type is literal.type or cue.start <= literal.end:
        return None
    joint = _joint_end.search(text, literal.end, cue.start)
    return joint.start() if joint else None


def _without_references(
    reading: ParsedRequest, matches: list[CueMatch], steps: list[PlannedStep]
) -> tuple[list[CueMatch], tuple[str, ...]]:
    """Return the cues that ask for something, and the earlier tasks that the others mention. If
    only results of earlier turns are mentioned, they are asked for again."""
    text, earlier = reading.text, {step.type.name for step in steps}
    named = [item for item in matches if item.type.name in earlier and not item.options]
    asked, names = _split_off(
        text, matches, [it for it in named if intents.is_noun_phrase(text, it)]
    )
    made = [item for item in asked if item.type.name in reading.made and not item.options]
    made = [item for item in made if _determined.search(text, max(0, item.start - 8), item.start)]
    wider, more = _split_off(text, asked, made)
    return (wider, (*names, *more)) if wider else (asked, names)


def _split_off(
    text: str, matches: list[CueMatch], references: list[CueMatch]
) -> tuple[list[CueMatch], tuple[str, ...]]:
    names = tuple(dict.fromkeys(item.type.name for item in references))
    asked = [
        item
        for item in matches
        if item not in references and not any(item.overlaps(other) for other in references)
    ]
    # "Read that" is not a separate cue in "read that summary aloud".
    starts = {other.start for other in references}
    clear = [
        item
        for item in asked
        if item.end + 1 not in starts or not _determined.search(f"{text[item.start : item.end]} ")
    ]
    return clear or asked, names


def _groups(text: str, matches: list[CueMatch]) -> list[list[CueMatch]]:
    """Group the cues of one step: a new step begins if another task's cue stands like a verb."""
    groups: list[list[CueMatch]] = []
    for match in matches:
        current = groups[-1] if groups else []
        if (
            current
            and wish_words.takes_words(current[-1].type)
            and match.type.name != CONVERT
            and not text[current[-1].end : match.start].strip()
        ):
            continue  # "say hello": the next words are to be said, not done
        same = any(match.overlaps(item) or match.type is item.type for item in current)
        before = re.findall(r"[\w'-]+", text[max(0, match.start - 40) : match.start])[-1:]
        verb_like = not before or before[0] not in _not_before_a_verb
        # "A knight | in the same pose as": such words belong to those before them.
        verb_like &= text[match.start : match.end].split()[0] not in _joining
        if current and (same or not verb_like):
            current.append(match)
        else:
            groups.append([match])
    return groups


def _is_implied(match: CueMatch, group: list[CueMatch]) -> bool:
    """Return whether a conversion is only the way to another task. "Read me the text in this
    picture" asks to hear it; the kinds show that it must be read first. "Replace a with b in the
    letter" asks nothing of the letter."""
    if match.type.name == "document-question-answering":
        return any(other.type.name == EDIT_TEXT and other.start < match.start for other in group)
    return match.type.name in CONVERTERS and any(
        not match.overlaps(other)
        and other.type.name in FOLLOWING
        and set(match.type.gives) & set(other.type.ports[0].kinds)
        for other in group
    )


LANGUAGES = (*CODES, "mandarin", "latin")

MIN_TEXT_WORDS = 4
"""Words of a text to work on; fewer words name something else."""

_says_nothing = frozenset(
    "a an the this that these my it me for please picture pictures photo photos image images so "
    "some of in to on and then better nicer different good great edit edits editing change make "
    "turn transform restyle stylise stylize style another image into a like look apply use using "
    "give replace swap add insert put remove erase take out convert more less bit little lot "
    "effect effects tone tones filter colour colours color colors".split()
)
_object = re.compile(
    r"\b(?:replace|swap|add|insert|put|remove|erase|take out|"
    r"(?:turn|change|transform|convert)(?=\b.*\binto\b))\s"
    r".*?(?=\s(?:with|by|for|from|to|into|in|on|of)\b|$)"
)
"""What is to be replaced, added or removed."""
_in_picture = re.compile(
    r"\s*\b(?:in|on|of|from|for) (?:the|this|that|my|an?) (?:picture|photo|image)$|"
    r"\s+(?:is|are)$|^(?:of|for)\b\s*"
)
_joint_end = re.compile(r"(?:,|\b(?:and|then|also|plus|und|dann))\s*(?:what(?:'s| is))?\s*$")
_joint = (
    r"(?:[\s,;]|\b(?:and|then|also|plus|afterwards|after that|und|dann|danach|anschließend|"
    r"außerdem)\b)+"
)
_joints = re.compile(f"{_joint}$", re.IGNORECASE)
_leading_joints = re.compile(f"^{_joint}", re.IGNORECASE)
"""What only joins one step to the next."""

_by_the_way = re.compile(
    rf"^(?:(?:please|for (?:me|us))\b[\s,:]*)+|\s*\bfrom (?:{'|'.join(LANGUAGES)})$", re.IGNORECASE
)
ONLY_A_PART = re.compile(
    r"(?:only |just )?(?:the )?(?:(?:first|second|third|last|\w+th|\w{2,5}) ){0,2}"
    r"(?:pages?|minutes?|seconds?)(?: \d[\d ,and-]*(?:to \d+)?)?"
)
"""Words that only name a part of a file."""
_names = re.compile(
    r"^(?:the|this|that|these|those|my|our|your|his|her|its|their|all|both|each|every\w*|what\w*)\b"
)
_only_points = re.compile(
    r"^(?:it|them|everything|(?:all )?(?:that|this|these|those|of (?:it|them)))$"
)

_settings = re.compile(
    r"[,;]?\s*\b(?:(?:with|using|and)\s+)?(?:the\s+)?seed\s+(?:number\s+|of\s+)?\d+|"
    r"[,;]?\s*\b(?:in\s+|at\s+|of\s+)?\d{2,5}\s*(?:x|×|by)\s*\d{2,5}(?:\s*(?:pixels|px))?\b|"
    rf"[,;]?\s*\b(?:for\s+)?{NUMBER}\s+(?:seconds?|sec)\b(?:\s+long)?"
)
"""What says how something is drawn, not what."""

_ordered = re.compile(
    r"^(?:\W|\b(?:to|and|then)\b)*"
    r"(?:(?:draw|paint|make|create|generate|render|show|give)\b(?:\s+(?:me|us))?\s*)?"
    r"(?:an?\s+(?:new\s+)?(?:picture|image|photo|painting|drawing)\s+of\s+)?"
)
_loose_end = re.compile(
    r"(?:\W|\b(?:in|on|with|from|of|the|that|this|using|by|for|to|as|and|it|picture|image|photo)\b)+$"
)
_file_there = re.compile(
    r"(?:\b(?:in|on|from|of|with|using|for|to|by|at|into|as)\s+)?"
    r"(?:(?:the|this|my)\s+)?(?:(?:picture|photo|image|mask)\s+)?xfile\d+x[a-z]*"
)

_in_a_language = re.compile(rf"(?:in|into|to) (?:{'|'.join(LANGUAGES)})")


def read_options(step: PlannedStep, reading: ParsedRequest) -> dict[str, Value]:
    """Return the options that the words give; all others keep their defaults."""
    found: dict[str, Value] = dict(step.options)
    free = False
    if step.type.exact:
        if step.type.exact not in found:  # a longer cue covered it
            for cue in _named_edits(reading.text[step.start : step.end], step.type):
                found |= cue.options
        settled = step.type.exact in found
        if free := not _writes(found) and _is_free(step, reading, settled=settled):
            found = {}
    for option in step.type.options:
        if (option.name in found and not option.units) or (free and option.choices):
            continue
        if option.reads in ("written", "colour") and not _writes(found):
            continue
        value = _value(option, step, reading)
        if value is not None:
            found[option.name] = value
    return found


def _writes(found: Mapping[str, Value]) -> bool:
    return found.get("edit") == "caption"


def _named_edits(words: str, task_type: TaskType) -> list[intents.CueMatch]:
    return intents.find_cues(words, (replace(task_type, cues=(), name=""),))


def _is_free(step: PlannedStep, reading: ParsedRequest, *, settled: bool) -> bool:
    """Return whether more is wished for than a named edit: "add a cartoon dog" is not a cartoon."""
    words = _settings.sub(" ", _file_there.sub(" ", reading.text[step.start : step.end]))
    if not settled:
        known = {choice for option in step.type.options for choice in option.choices}
        return bool(_meaningful(words) - known)
    for wished in _object.findall(words):
        for cue in reversed(_named_edits(wished, step.type)):
            wished = f"{wished[: cue.start]} {wished[cue.end :]}"
        if _meaningful(wished):
            return True
    return False


def _meaningful(words: str) -> set[str]:
    """Return the words that say what is wished for."""
    return set(re.findall(r"[a-z']+", words)) - _says_nothing


def _value(option: TaskOption, step: PlannedStep, reading: ParsedRequest) -> Value | None:
    words = reading.text[step.start : step.end]
    if option.reads:
        return _readers[option.reads](step, reading)
    if option.choices:
        named = {PurePath(item.name).suffix[1:].lower() for item in reading.files if item.output}
        spoken = (it for it in option.choices if it and (_says(words, it) or it in named))
        return next(spoken, None)
    if option.units and (amount := _number_with(words, option.units)) is not None:
        # "darker by 40 percent": the phrase already set the direction.
        settled = dict(step.options).get(option.name, 0.0)
        amount = -amount if isinstance(settled, float) and settled < 0 else amount
        return int(amount) if isinstance(option.default, int) else amount
    return None


def _says(words: str, choice: str) -> bool:
    stem = re.escape(choice.lower()).replace(r"\-", r"[\s-]+")
    return re.search(rf"\b{stem}(?:s|es|d|ed|ing)?\b", words) is not None


def _number_with(words: str, units: tuple[str, ...]) -> float | None:
    names = "|".join(re.escape(unit).replace(r"\*", r"\w*") for unit in units)
    match = re.search(
        rf"(?<![\w.,])(\d{{1,15}}(?:\.\d+)?)[\s-]*(?:{names})(?!\w)", with_digits(words)
    )
    return float(match[1]) if match else None


def after_cue(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return the words after the cue, without connecting words: "draw me a castle" → "a castle"."""
    words = _joints.sub("", reading.words(step.cue.end, step.end))
    return re.sub(r"^(?:me|us|of|for|that|about|to|:|,|-)\s+", "", words.strip(" .,!?;:")).strip()


def between_cues(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return the words between two cues of the step: "translate good morning into French" → "good
    morning". "" if they only name what to work on: "the last page", "it"."""
    own = intents.find_cues(reading.text[step.start : step.cue.start], (step.type,))
    if not own:
        return ""
    words = reading.words(step.start + own[-1].end, step.cue.start)
    return _unless_named(_by_the_way.sub("", words.strip(" .,!?;:")).strip(" .,!?;:"))


_a_language = f"(?:{'|'.join((*LANGUAGES, *COUNTRIES))})"
_to_translate = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b(?:in|into)\s+{_a_language}\b.*?\b(?:say|call|is)\s+(?P<said>.+)",
        rf"\b{_a_language}\s+(?:(?:word|translation|equivalent|phrase|expression|term)s?\s+)?"
        r"(?:for|of|to say|say|call)\s+(?P<said>.+)",
        rf"\b(?:say|call|for|of|translate|put|what(?:'s| is| are))\b\s+(?P<said>.+?),?\s+"
        rf"(?:(?:in|into|to)\s+{_a_language}|if (?:i|you|we) (?:was|were|am|are)\b)",
        rf"^(?P<said>.+?),?\s+(?:in|into|to)\s+{_a_language}\W*$",
    )
)
_before_said = re.compile(
    r"^(?:[\s,]|\b(?:how|do|does|would|can|could|should|i|you|we|one|they|to|say|the (?:word|"
    r"phrase|sentence|expression)|me|us|please|tell|translate|that)\b)+",
    re.IGNORECASE,
)


def to_translate(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what is to be said in another language: "what is the Swedish word for bread" gives
    "bread". "" if it is not in the words."""
    words = reading.as_said(step.start, step.end).strip(" ?!.")
    found = next((match for form in _to_translate if (match := form.search(words))), None)
    said = _before_said.sub("", found["said"]) if found else ""
    return _unless_named(_by_the_way.sub("", said).strip(" ,;:\"'"))


def _unless_named(words: str) -> str:
    """Return words, "" if they only name what to work on: "the last page", "it"."""
    named = _names.search(words.lower()) and len(words.split()) < MIN_TEXT_WORDS
    return "" if named or _only_points.search(words.lower()) else words


def clause(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return all words of the step; of what asks or changes a table with their capitals, because
    its columns and entries may be known by these: "the IT team"."""
    of_table = step.type.name in (ASK_TABLE, EDIT_TABLE)
    words = (reading.as_said if of_table else reading.words)(step.start, step.end)
    return _joints.sub("", words).strip(" ,;")


def own_words(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return all words of the step, with their capitals."""
    return _joints.sub("", reading.as_said(step.start, step.end)).strip(" ,;")


def prompt(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what to draw, in the words after the cue, without how to draw it."""
    words = _without_files(step.cue.end, step.end, reading)
    return re.sub(
        r"^(?:(?:me|us|of|for|that|about|to|so that|where)\b|[:,-])\s*", "", words
    ).strip()


def wish(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what is wished for of a picture, without file names. "Replace the dog in a.jpg with a
    cat" gives "replace the dog with a cat". "" if it only says that something should change."""
    words = _without_files(step.start, step.end, reading)
    return words if _meaningful(words.lower()) else ""


def described(step: PlannedStep, reading: ParsedRequest) -> str:
    """Return what to paint with the help of a picture. "Draw a knight in the same pose as a.jpg"
    gives "a knight"."""
    before = _loose_end.sub("", _without_files(step.start, step.cue.start, reading))
    behind = _without_files(step.cue.end, step.end, reading)
    before, behind = (_ordered.sub("", part).strip(" ,;:.") for part in (before, behind))
    if step.type.port("mask"):
        behind = re.split(r"\b(?:with|into)\s", behind, maxsplit=1)[-1]
    return before or behind or clause(step, reading)


def _without_files(start: int, end: int, reading: ParsedRequest) -> str:
    plain = _settings.sub("", _file_there.sub(" ", reading.text[start:end]))
    spelled = re.sub(r"\w+", lambda it: reading.spelling.get(it[0], it[0]), plain)
    return _joints.sub("", " ".join(spelled.split())).strip(" ,;:")


def _thing_named(step: PlannedStep, reading: ParsedRequest) -> str | None:
    """Return what to find: "find the red car in a.jpg" gives "the red car"."""
    if step.cue.gap is None:
        return _things(step.cue.end, step.end, reading)
    return _things(*step.cue.gap, reading)


def _things(start: int, end: int, reading: ParsedRequest) -> str | None:
    words = _in_picture.sub("", _without_files(start, end, reading)).strip(" .!?")
    return ", ".join(reading.quotes_in(start, end)) or (words if _meaningful(words) else None)


def _language(step: PlannedStep, reading: ParsedRequest) -> str | None:
    words = reading.text[step.start : step.end]
    match = re.search(rf"\b(?:in|into|to)\s+({'|'.join(LANGUAGES)})\b", words) or re.search(
        rf"\b({'|'.join(LANGUAGES)})\b", words
    )
    if match:
        return match[1].capitalize()
    country = re.search(rf"\bin ({'|'.join(COUNTRIES)})\W*$", words)
    return COUNTRIES[country[1]].capitalize() if country else None


def _file_name(step: PlannedStep, reading: ParsedRequest) -> str | None:
    named = [item for item in reading.files_in(step.start, step.end) if item.output]
    return named[0].text if named else None


def _shape(step: PlannedStep, reading: ParsedRequest) -> str | None:
    words = reading.text[step.start : step.end]
    match = re.search(
        r"\b(square|landscape|portrait|wide)[\s-]?(?:screen|format|orientation|shape)\b", words
    ) or re.search(r"\b(landscape|portrait)\b", words)
    return parts.size_asked(words) or (match[1] if match else None)


def _without(step: PlannedStep, reading: ParsedRequest) -> str | None:
    words = reading.words(step.start, step.end)
    match = re.search(
        r"\b(?:without|with no|but no)\s+(?:any\s+)?([\w' -]+?)(?=\W*$|[.,;!?]| (?:but|with|in)\b)",
        words,
    )
    return match[1] if match else None


def _seed(step: PlannedStep, reading: ParsedRequest) -> int | None:
    words = reading.text[step.start : step.end]
    match = re.search(r"\bseed\s+(?:number\s+|of\s+)?(\d{1,9})\b", words)
    return int(match[1]) if match else None


def _format(step: PlannedStep, reading: ParsedRequest) -> str | None:
    made = [item for item in reading.files_in(step.start, step.end) if item.output]
    if made:
        return made[0].name.rpartition(".")[2].lower()
    return parts.format_asked(reading.text[step.start : step.end]) or None


_readers: dict[str, Callable[[PlannedStep, ParsedRequest], Value | None]] = {
    "as-said": own_words,
    "clause": clause,
    "own-words": own_words,
    "after-cue": after_cue,
    "thing": _thing_named,
    "gap": lambda step, reading: _things(*step.cue.gap, reading) if step.cue.gap else None,
    "language": _language,
    "file-name": _file_name,
    "size": lambda step, reading: parts.size_asked(reading.text[step.start : step.end]),
    "picture-size": lambda step, reading: parts.picture_size_asked(
        reading.text[step.start : step.end]
    ),
    "shape": _shape,
    "without": _without,
    "seed": _seed,
    "format": _format,
    "pages": lambda step, reading: parts.pages_asked(reading.text[step.start : step.end]) or None,
    "times": lambda step, reading: parts.times_asked(reading.text[step.start : step.end]) or None,
    "written": lambda step, reading: (
        next(iter(reading.quotes_in(step.start, step.end)), "")
        or parts.words_written(own_words(step, reading))
        or None
    ),
    "colour": lambda step, reading: parts.colour_asked(reading.text[step.start : step.end]),
    "moment": lambda step, reading: parts.moment_asked(reading.text[step.start : step.end]),
    "each": lambda step, reading: parts.each_asked(reading.text[step.start : step.end]) or None,
    "last-reply": lambda step, reading: reading.last_reply or None,
}
