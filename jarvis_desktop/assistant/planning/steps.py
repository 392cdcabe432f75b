"""Split a request into steps: which task is asked for, and in which words."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType

from jarvis_desktop.assistant.planning import intents, wish_words
from jarvis_desktop.assistant.planning.inputs import (
    ASK_TABLE,
    CHART,
    CONVERT,
    CONVERTERS,
    CUT,
    EDIT_TABLE,
    EDIT_TEXT,
    FILE_DETAILS,
    FOLLOWING,
    PROMPT,
    PRONOUN,
    QUESTION,
    SAVE,
)
from jarvis_desktop.assistant.planning.intents import CueMatch
from jarvis_desktop.assistant.planning.planned_step import (
    IN_A_LANGUAGE,
    JOINTS,
    LEADING_JOINTS,
    PlannedStep,
    clause,
    meaningful,
    read_options,
    without_joints,
)
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text import parts

_boundary = re.compile(
    r"[.!?;\n]+(?=\s|$)|,(?=\s|$)|"
    r"\b(?:and then|(?<!until )(?<!till )(?<!since )then|after that|afterwards|and also|and|also|"
    r"plus|und(?: (?:dann|danach|anschließend|außerdem|auch))?)\b"
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
_number_before = re.compile(r"(?<![:.])\b\d+(?:\.\d+)?\s*$")
_counts_on = re.compile(
    r"\s*(?:(?:and|und)\s+)?(?:\d+(?:\.\d+)?(?=\s*(?:$|[,;!?]|(?:and|und|times|plus|minus)\b))|"
    r"(?:times|plus|minus|divided by|multiplied by|mal)\b)"
)
"""The next of several numbers, or what is done with them: "the mean of 4, 8 and 12, times 3"."""
_day = r"(?:\d|(?:today|tomorrow|yesterday|now|christmas|easter|halloween|new year)\b)"
_range_before = re.compile(
    rf"\b(?:between|zwischen)\s+(?:(?!\band\b)[^,;!?]){{0,40}}?\b{_day}(?:(?!\band\b)[^,;!?]){{0,20}}$"
)
_range_behind = re.compile(rf"\s*(?:(?:the|[a-z]{{3,9}})\s+)?{_day}")
"""The two ends of a range, between which no wish ends: "between 3 March and 20 June"."""
_file_behind = re.compile(r"\s*(?:and\s+|also\s+)?xfile\d+x")
_determined = re.compile(r"\b(?:the|that|this|your|my)\s+$")
_only_names = frozenset("in from for of with on at about here is are using and".split())
_joint_end = re.compile(
    r"(?:,|\b(?:and|then|also|plus|und|dann))\s*(?:(?:tell|show) me\s*)?(?:what(?:'s| is))?\s*$"
)
_sentence_end = re.compile(r"[.!?\n]+(?=\s|$)")
FitScorer = Callable[[TaskType, int, int], float]
"""How well the available inputs suit a task asked for in these words: added to its score."""


WRITING = "text-generation"
"""The task that does in words what no other task does."""
SUMMARY = "summarization"


_OF_TABLES = (ASK_TABLE, CHART)


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
            and not _is_there_already(reading.text, item)
        ]
        asked, refers = _without_references(reading, inside, steps)
        if not asked and refers and wish_words.is_question(part):
            asked, refers = inside, ()  # "and what are its five most frequent words?"
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
                again = steps[-1].type.port(QUESTION) and steps[-1].type.name not in _OF_TABLES
                again = again and wish_words.is_question(part)
                if again or (steps[-1].type.name == CONVERT and parts.another_format(part)):
                    cue = CueMatch(steps[-1].type, start, start, 0.0)
                    steps.append(PlannedStep(steps[-1].type, start, end, cue))
                elif wish_words.is_foreign(part, foreign.get(start, 0.0), steps[-1].type) and not (
                    foreign[start] < wish_words.SURELY
                    and steps[-1].type.hears
                    and _hears(steps[-1], replace(steps[-1], end=end), reading)
                ):
                    steps[-1] = _with_unread(steps[-1], _bare(reading.words(start, end)))
                else:
                    steps[-1] = _lengthened(steps[-1], start, end, refers, reading)
            elif not steps and found == inside and wish_words.opens(part, foreign.get(start, 0.0)):
                leading.append(_bare(reading.words(start, end)))
            continue
        if steps and _adds_nothing(steps[-1], asked, start, end, reading):
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


def _is_there_already(text: str, cue: CueMatch) -> bool:
    """Return whether a cue is a noun for what there is already: "translate these subtitles"."""
    noun = " " not in text[cue.start : cue.end]
    return noun and _these.search(text, max(0, cue.start - 8), cue.start) is not None


_these = re.compile(r"\b(?:these|those)\s$")


def _adds_nothing(
    step: PlannedStep, asked: Sequence[CueMatch], start: int, end: int, reading: ParsedRequest
) -> bool:
    """Return whether a step does what is asked next too, as it has no options: "list the dates and
    the names in the letter". Another question is another step."""
    same = [cue for cue in asked if cue.type is step.type]
    others = [cue for cue in asked if cue not in same and cue.type.port(QUESTION) is None]
    plain = step.type.ports and step.type.name not in (EDIT_TABLE, EDIT_TEXT)
    plain = plain and all(option.reads == "own-words" for option in step.type.options)
    if not plain or not same or others or reading.files_in(start, end):
        return False
    # "And the names" begins with the cue, "and list the ten longest words" does not.
    part = _bare(reading.text[start : min(cue.start for cue in same)])
    return not (step.type.options and part and wish_words.asks(reading.text[start:end]))


def _bare(words: str) -> str:
    """Return words without what joins them to others."""
    return LEADING_JOINTS.sub("", JOINTS.sub("", words)).strip(" ,.;:!?")


def _with_unread(step: PlannedStep, *words: str) -> PlannedStep:
    return replace(step, unread=(*step.unread, *(it for it in words if not _adds_no_wish(it))))


def _adds_no_wish(words: str) -> bool:
    """Return whether words only ask for what was said before: "it is too dark, fix it"."""
    return (
        re.fullmatch(r"(?:please )?(?:fix|correct|change|do) (?:it|this|that)", words) is not None
    )


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
        (item for item in group if IN_A_LANGUAGE.fullmatch(text, item.start, item.end)), None
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
    step: PlannedStep, start: int, end: int, refers: tuple[str, ...], reading: ParsedRequest
) -> PlannedStep:
    """Return the step with the words up to `end`, or without those from `start` if these ask for
    what the task does not do."""
    longer = replace(step, end=end, refers_to=(*step.refers_to, *refers))
    part, words = reading.text[start:end], _bare(reading.words(start, end))
    asks = wish_words.STATED.match(words) or wish_words.is_question(words.lower())
    says_how = (
        _adds.match(words.lower())
        and len(meaningful(words.lower()) - wish_words.SMALL_WORDS) >= MIN_WISH_WORDS
    )
    orders = wish_words.orders(part, step.type, given=_is_given(step, reading))
    if not (asks or says_how or orders) or _hears(step, longer, reading):
        return longer
    return _with_unread(step, words)


def _is_given(step: PlannedStep, reading: ParsedRequest) -> bool:
    """Return whether the words of a step say what it works on, so that more of them do not."""
    words = reading.text[step.start : step.end]
    return bool(PRONOUN.search(words) or reading.files_in(step.start, step.end))


def _hears(step: PlannedStep, longer: PlannedStep, reading: ParsedRequest) -> bool:
    """Return whether more words change what a task does. One that reads words as they were said
    says by `TaskType.hears` what it makes of them; what asks or changes a table names what it does
    not understand, and a text is written, or remembered, by all of them."""
    if _says_what_it_misses(step.type) or wish_words.is_literal(step.type):
        return True
    ended = re.search(r"[.!?]\s*$", reading.text[step.start : step.end])
    hears = None if ended else step.type.hears  # "Remind me to call Ann. Frame it": not Ann's
    heard = []
    for each in (step, longer):
        read = read_options(each, reading)
        spoken = [
            str(read.pop(option.name, ""))
            for option in step.type.options
            if option.reads in ("clause", "own-words")
        ]
        heard.append((read, [hears(words) for words in spoken if hears]))
    return heard[0] != heard[1]


def _says_what_it_misses(task_type: TaskType) -> bool:
    prompted = any(port.name == PROMPT and port.required for port in task_type.ports)
    return prompted or task_type.name in (*_OF_TABLES, EDIT_TABLE)


def _with_beginning(step: PlannedStep, reading: ParsedRequest) -> PlannedStep:
    """Return the first step with the words before its cue, and whether these ask something that the
    task does not answer: "work out which is brighter after you sharpen both"."""
    words = JOINTS.sub("", reading.words(0, step.cue.start)).strip(" ,.;:!?")
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
            or (_number_before.search(text, 0, before) and _counts_on.match(text, behind))
            or (_range_before.search(text, cuts[-1], before) and _range_behind.match(text, behind))
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
                and (chance >= wish_words.SURELY or wish_words.is_order(text[at:]))
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
    named = [
        item for item in matches
        if item.type.name in earlier and not item.options
        and not _to_a_format.match(text, item.start)
    ]  # fmt: skip
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
    letter" asks nothing of the letter, and "turn the picture into a PDF" is no edit of it."""
    if match.type.port(PROMPT):
        return any(other.type.name == CONVERT and other.covers(match) for other in group)
    if match.type.name == "document-question-answering":
        return any(other.type.name == EDIT_TEXT and other.start < match.start for other in group)
    return match.type.name in CONVERTERS and any(
        not match.overlaps(other)
        and other.type.name in FOLLOWING
        and set(match.type.gives) & set(other.type.ports[0].kinds)
        for other in group
    )
