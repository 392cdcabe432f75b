"""The planner that is always available: no LLM, no download, milliseconds.

It finds the application's own tasks by their cues. For words without a cue, and for inventories
that have no cues, it uses the scores of a small encoder over the tasks' descriptions.
"""

from __future__ import annotations

import asyncio
import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import replace

from jarvis_desktop.assistant.planning import (
    everyday,
    follow_ups,
    foreign_requests,
    inputs,
    intents,
    plan_editor,
    planned_step,
    request_parser,
    scored_planner,
    steps,
    table_phrases,
    wish_words,
)
from jarvis_desktop.assistant.planning.inputs import ARRANGE, QUESTION, SAVE
from jarvis_desktop.assistant.planning.intents import CueMatch
from jarvis_desktop.assistant.planning.planned_step import PlannedStep
from jarvis_desktop.assistant.planning.request_parser import ParsedRequest
from jarvis_desktop.assistant.planning.steps import WRITING, NotUnderstoodError
from jarvis_desktop.assistant.planning.wiring import (
    SPEAKS_OF_WRITING,
    MissingInputError,
    PlanWiring,
)
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.context import current_note
from jarvis_desktop.core.errors import InputError, PlanError, UnavailableError
from jarvis_desktop.core.expert import TaskResult
from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import Context, PlanRejected, Scores, TaskScorer
from jarvis_desktop.core.task import TaskType
from jarvis_desktop.text.dates import MONTHS
from jarvis_desktop.text.languages import is_foreign, other_language

_parts = (
    r"(?!(?:(?:the|all|any|every|first|last|next|empty|duplicate|\w+th|\d+)\s+){0,4}"
    r"(?:pages?|seconds?|minutes?|rows?|columns?|lines?|entries|duplicates?)\b)"
)
"""Not pages and seconds of a file, which are left out of a copy of it."""
_destructive = re.compile(
    r"\brm\s+-\w+|"
    rf"\b(?:(?:delete|erase|wipe|destroy|shred|get rid of)\s+{_parts}"
    r"(?:(?!(?:in|from|on|behind)\b)\w+\s+){0,3}?"
    r"(?:files?|folders?|director(?:y|ies)|documents?|photos|pictures|downloads|disks?|drives?|"
    r"everything|data|history|desktop|computer|system|xfile\d+x[a-z]*|[/~]\S*)|"
    r"(?:format|reformat|wipe)\s+(?:\w+\s+){0,2}?(?:disk|drive|computer|partition)|"
    r"empty\s+(?:the\s+|my\s+)?(?:trash|recycle bin|bin)|(?:delete|erase) (?:it|this|them|all)"
    r"(?! (?:the )?(?:\w+ )?(?:rows?|columns?|lines?|entries|duplicates?|records|orders)))\b"
)
_question = re.compile(
    r"^\W*(?:who|whose|what|what's|whats|when|where|why|which|how|is|are|was|were|do|does|did|can|"
    r"could|should|would|will)\b|\?\s*$"
)

_judging = re.compile(
    r"^\W*(?:is|are|was|were)\s+(?:the|this|that|these|those|my|xfile)"
    r"|^\W*(?:[\w' ]{0,30}\b(?:out|me|see|check|know|decide|say)\s+)?which\b[^.]*"
    r"\b(?:is|are|looks?|was|should|needs?)\b"
)
"""A question whose adjective asks for nothing: "which of these photos is brighter"."""

_narrates = re.compile(r"^\W*(?:how|why|when|where|who|what)\s+(?:did|had)\s[^.,;:!?]*\W*$")
"""What asks how something went, and for no change: "why did they cut the wood?"."""

_cries = re.compile(r"^\W*help\b(?: me)?\W+(?!with\b)\w")
_lists = re.compile(
    r"^\W*(?:please\s+)?(?:show|list|give|display|print|find|get)\b|"
    rf"^\w+ (?:in|since|before|after|from) (?:{'|'.join(MONTHS)})\W*$"
)
"""What asks a table for its rows: "show me the customers from Berlin", "orders in February"."""
_counts = re.compile(r"^\W*how many \w+ (?:had|have|has|were|did|do|got)\b")
"""What asks a table, and no calculator: "how many days had more than 10 mm of rain"."""
_elsewhere = re.compile(r"\b(file|s?ftps?|smb|ssh|s3|gs|hdfs|data|ipfs)://\S", re.IGNORECASE)
_wish_not = re.compile(r"^\W*(?:do not|don't|dont|never)\b")

MIN_SCORE = 0.35
"""Without a cue, a task on the given files is planned from this probability on, ..."""
MAX_RIVAL_SCORE = 0.17
"""... and only if no other task is as likely as this."""
MIN_SCORE_EACH = 0.6
"""If several tasks are guessed, each must be at least this likely."""
MIN_SCORE_OF_PART = 0.5
"""A part without a cue, beside others, is guessed from this probability on, ..."""
MAX_RIVAL_OF_PART = 0.65
"""... if that of any other task that the files suit is at most this part of it."""
MAX_REQUEST_CHARS = 1000
"""Characters; a longer request is taken for a pasted text."""

_answering = {
    Kind.IMAGE: "document-question-answering",
    Kind.TABLE: "table-question-answering",
}
"""What answers a question about a file of this kind; all else is read as a text."""
LOOKING = "visual-question-answering"
"""What answers a question about what a picture shows rather than says."""
_looks = re.compile(r"\b(?:photo|picture|image|drawing|painting)s?\b")

_voices = re.compile(
    r"\bwho(?:['’]s|se| is| was| are)? "
    r"(?:speaking|talking|singing|the (?:speaker|singer)s?|voices?)\b|"
    r"\bwho (?:speaks|talks|sings|said what)\b|\bwhich speaker\b|"
    r"\bhow many (?:people|persons|speakers|voices|different \w+)\b.*\b(?:speak|talk|hear)"
)
"""What asks who is heard in a recording."""

CONVERTING = (inputs.CONVERT, "text-to-speech", "translation")
"""What is done with an answer, in words behind the question."""

CAN_DO = mark("Say “what can you do” to hear what works now.")

NO_LLM = mark(
    "That needs a language model, and there is none to use. To see why, and which fits: "
    "jarvis-desktop llm list."
)

_wanted_kinds = {
    Kind.TEXT: mark("a text: type or paste it after a colon, or drop a file"),
    Kind.IMAGE: mark("a picture: drop one on the window, or name its file"),
    Kind.AUDIO: mark("a recording: drop one on the window, or name its file"),
    Kind.VIDEO: mark("a video: drop one on the window, or name its file"),
    Kind.TABLE: mark("a table: drop a CSV file on the window, or name it"),
    Kind.DOCUMENT: mark("a document: drop one on the window, or name its file"),
}
_wanted_pairs = {
    frozenset((Kind.IMAGE, Kind.DOCUMENT)): mark(
        "a picture or a document: drop one on the window, or name its file"
    ),
    frozenset((Kind.DOCUMENT, Kind.TABLE)): mark(
        "a document or a table: drop one on the window, or name its file"
    ),
}
_wanted_any = mark("a file: drop one on the window, or name it")


class EmbeddedPlanner:
    """Plans by cues, by the kinds of ports, and by the scores of an encoder."""

    def __init__(self, scorer: TaskScorer | None = None, *, guesses: bool = True) -> None:
        """Without a `scorer`, only tasks with a cue are planned. Without guesses, requests that
        are neither a cue nor everyday ones are left to an LLM."""
        self.scorer = scorer
        self._guesses = guesses

    async def plan(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | PlanRejected:
        """Return a plan, or the reason why there is none. Never raises, whatever the text."""
        if not text.strip():
            return PlanRejected(
                tr("There was nothing in that request. Say or type what you would like.")
            )
        if not any(item.cues or item.presets for item in inventory):
            return await self._by_scores(text, inventory, context)
        planned = await self._by_cues(text, inventory, context)
        turns = context.conversation.turns if context.conversation else ()
        whole = follow_ups.whole_request(text, [turn.text for turn in turns])
        if not whole:
            return planned
        before = turns[-1].plan
        if isinstance(planned, PlanRejected):
            may_be_one = not planned.final
        else:
            may_be_one = follow_ups.is_fragment(text) and follow_ups.has_the_same_tasks(
                planned, before
            )
        if may_be_one:
            again = await self._by_cues(whole, inventory, context)
            if isinstance(again, Plan) and follow_ups.changes_a_value(again, before):
                return again
        return planned

    async def _by_cues(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | PlanRejected:
        """Plan over the application's own tasks."""
        said = text
        text = foreign_requests.in_english(said, whole=False) or said
        read = request_parser.parse_request(text, inventory, context, said=said)
        if _destructive.search(read.text) and (
            read.files or not intents.read_whole(read.text, inventory)
        ):
            return PlanRejected(
                tr(
                    "I do not delete, erase or format anything, so nothing was touched. "
                    "Your own history is deleted in its list, or with: "
                    "jarvis-desktop history delete."
                ),
                final=True,
            )
        if address := _elsewhere.search(request_parser.split_pasted(text, inventory)[0]):
            return PlanRejected(
                tr(
                    "An address that begins with {scheme}:// is not fetched. Give an address on "
                    "the web (https://), drop the file on the window or name its path.",
                    scheme=address[1].lower(),
                ),
                final=True,
            )
        if missing := _missing_files(read, context):
            cues = intents.find_cues(read.text, inventory)
            return PlanRejected(missing, final=any(item.type.name != WRITING for item in cues))
        try:
            fit = _InputFit(read, inventory, context)
            cues, foreign = await self._cues(read, inventory, context, fit)
            found = steps.split_steps(read, inventory, fit, cues, foreign)
        except NotUnderstoodError as odd:
            return _not_read(read.words(odd.start, odd.end))
        if _judging.search(read.text) and any(_is_judged(step, read) for step in found):
            if len(context.attachments) > 1:
                return PlanRejected(
                    tr("Nothing here compares pictures. Ask about each of them by itself."),
                    final=True,
                )
            found = []
        elif _narrates.search(read.text) and any(_is_told_of(step) for step in found):
            found = []
        elif _hears_voices(read, context) and all(
            fit(it.type, it.start, it.end) <= NO_WAY for it in found
        ):
            return PlanRejected(
                tr("Nothing here tells voices apart. What is said can be transcribed.")
            )
        else:
            found = found or await self._guess(text, read, inventory, context)
        tables = {item.kind for item in context.attachments} == {Kind.TABLE}
        if tables:
            found = _asked_of_tables(found, read, inventory, fit)
        asks = _lists.match(read.text) or (tables and _question.search(read.text))
        asked_each = [step for step in found if step.type.name == inputs.ASK_TABLE]
        if (tables and _counts.match(read.text) and len(asked_each) < 2) or (
            asks and all(fit(it.type, it.start, it.end) <= NO_WAY for it in found)
        ):
            # "Show me the customers from Berlin", of a table; and "put it into a PDF".
            found = [step for step in found if tables and step.type.name in (*CONVERTING, SAVE)]
            asked = _about_a_file(read, inventory, context, orders=self._guesses)
            if found and found[0].start and asked:
                found.insert(0, replace(asked, end=found[0].start))
            else:
                found = []
        if len(found) > 1:  # "hey, could you ...": a greeting beside a request asks for nothing
            found = _without_greetings(found, read)
        elif _cries.match(read.text) and any(step.unread for step in found):
            found = []  # "help! my phone is gone"
        if not found and (asked := _about_a_file(read, inventory, context, orders=self._guesses)):
            found = [asked]
        if not found:
            charts = [item for item in inventory if item.name == inputs.CHART]
            if charts and intents.find_cues(read.text, charts):
                return PlanRejected(
                    _missing_input(MissingInputError(charts[0], charts[0].ports[0]))
                )
            return PlanRejected(_not_understood(text, read))
        if words := _not_just_saved(found, read):
            return _not_read(words)
        return _wire(found, read, inventory, context)

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        """Decline: the words are the same as before, and so would the plan be."""
        return PlanRejected(tr("Without a language model I know no other way to do that."))

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """Return the plan with what the words clearly change, or what was not understood."""
        read = request_parser.parse_request(words, inventory, replace(context, attachments=()))
        if missing := _missing_files(read, context):
            return PlanRejected(missing)
        try:
            return plan_editor.revise_plan(read, plan, inventory, context)
        except InputError as error:
            return PlanRejected(str(error))

    async def _by_scores(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | PlanRejected:
        """Plan over an inventory that has no cues."""
        if self.scorer is None:
            return PlanRejected(
                tr("These tasks are known by their descriptions alone, which I cannot read.")
            )
        try:
            scores = await asyncio.to_thread(self.scorer.score, text, inventory)
            planned = scored_planner.plan_from_scores(text, scores, inventory, context.attachments)
        except UnavailableError as error:
            return PlanRejected(str(error))
        except PlanError as error:
            return _no_plan(error)
        return planned if len(planned) else PlanRejected(tr("None of these tasks can do that."))

    async def _guess(
        self, text: str, read: ParsedRequest, inventory: Sequence[TaskType], context: Context
    ) -> list[PlannedStep]:
        """Guess what to do with the given files if there is no cue and the scores leave no doubt.
        Without a file, most requests without a cue are for something else."""
        wanted = self._guesses and context.attachments and not _wish_not.search(read.text)
        if not wanted or len(text) > MAX_REQUEST_CHARS or is_foreign(text):
            return []  # the encoder reads English
        scores = await scores_of(self.scorer, text, inventory)
        if scores is None or any(MAX_RIVAL_SCORE <= value < MIN_SCORE for value in scores.tasks):
            return []
        nodes = scored_planner.decode_scores(scores, inventory, least=MIN_SCORE)
        chosen = sorted(value for value in scores.tasks if value >= MIN_SCORE)
        if not all(node.type.ports for node in nodes) or (
            chosen[1:] and chosen[0] < MIN_SCORE_EACH
        ):
            return []
        places = [min(len(read.text), node.where * len(read.text) // len(text)) for node in nodes]
        between = (sum(pair) // 2 for pair in itertools.pairwise(places))
        cuts = [0, *(read.text.rfind(" ", 0, at) + 1 for at in between), len(read.text)]
        return [
            PlannedStep(node.type, start, end, CueMatch(node.type, start, start, 0.0))
            for node, (start, end) in zip(nodes, itertools.pairwise(cuts), strict=False)
        ]

    async def _cues(
        self,
        read: ParsedRequest,
        inventory: Sequence[TaskType],
        context: Context,
        fit: steps.FitScorer,
    ) -> tuple[list[CueMatch], Mapping[int, float]]:
        """Return the cues of a request and what the encoder reads where cues do not settle it, and
        how likely the parts that begin there ask for nothing of ours."""
        cues = table_phrases.table_cues(
            read,
            _of_the_given(intents.find_cues(read.text, inventory), read, context),
            inventory,
            context,
        )
        about = bool(context.attachments or read.files or read.quotes)
        tables = any(item.kind is Kind.TABLE for item in context.attachments)
        parts = everyday.read_exactly(read, _parts_of(read, cues), inventory, tables=tables)
        cues = [cue for _, _, found in parts for cue in found]
        settled = len(parts) == 1 and any(about or not cue.type.ports for cue in cues)
        if settled or self.scorer is None:
            return cues, {}
        try:
            asked = everyday.open_parts(parts, about=about)
            texts = everyday.texts(read, asked)
            likely = await asyncio.to_thread(self.scorer.everyday, texts)
            earlier = bool(
                context.attachments or (context.conversation and context.conversation.turns)
            )
            found = everyday.matches(read, parts, asked, likely, inventory, about=earlier)
            foreign = everyday.foreign(read, asked, likely)
            if len(parts) > 1 and context.attachments:
                found = [cue for cue in found if _can_be(cue, found, fit)]
                if found or self._guesses:
                    found += await _guessed_parts(self.scorer, read, inventory, fit, found, foreign)
        except UnavailableError:
            return cues, {}
        return sorted(found, key=lambda cue: (cue.start, -cue.weight)), foreign


VIDEO_EDITING = "video-editing"
_OF_OTHERS = ("image-editing", "image-to-image", "audio-to-audio")
"""Tasks that edit pictures or sound in words that are said of videos as well."""
_NEAR = 24
"""Characters behind a cue in which its thing is named: "rotate the video and blur the picture"."""


def _of_the_given(
    cues: Sequence[CueMatch], read: ParsedRequest, context: Context
) -> list[CueMatch]:
    """Leave out the one of two tasks that edit pictures and videos in the same words which the
    files, or else the latest result or the words, do not suit."""
    latest = {kind for it in inputs.conversation_sources(context)[:1] for kind in it.kinds}
    kinds = {item.kind for item in context.attachments} or latest
    kinds = kinds or inputs.mentioned_kinds(read.text)
    of_videos = {(cue.start, cue.end) for cue in cues if cue.type.name == VIDEO_EDITING}
    of_sound = {(cue.start, cue.end) for cue in cues if cue.type.name == _OF_OTHERS[-1]}
    taken_out = [cue.start for cue in cues if cue.type.name == "video-to-audio"]
    still = inputs.OF_A_STILL.search(read.text) if Kind.IMAGE not in kinds else None
    kept = []
    for cue in cues:
        said = read.text[cue.start : cue.end]
        if (
            cue.type.name == inputs.JOIN
            and inputs.OTHERS.search(said)
            and len(context.attachments) < 2
        ):
            continue  # the other pages of a single file
        near = inputs.mentioned_kinds(read.text[cue.start : cue.end + _NEAR])
        video = Kind.VIDEO in kinds and not still
        video &= Kind.IMAGE not in kinds or (Kind.VIDEO in near and Kind.IMAGE not in near)
        if (cue.start, cue.end) in of_sound:  # "take the sound out and make it louder"
            video &= not any(at < cue.start for at in taken_out)
            before = re.split(r",|\band\b", read.text[: cue.end])[-1]
            heard = inputs.mentioned_kinds(before + read.text[cue.end : cue.end + _NEAR])
            video &= Kind.AUDIO not in kinds or (
                Kind.AUDIO not in inputs.mentioned_kinds(before) and Kind.VIDEO in heard
            )
        if video and cue.type.name in _OF_OTHERS and (cue.start, cue.end) in of_videos:
            continue
        turned = cue.type.name == inputs.CUT and any("turn" in str(it) for _, it in cue.options)
        if not (video and turned) and (video or cue.type.name != VIDEO_EDITING):
            kept.append(cue)
    return kept


async def _guessed_parts(
    scorer: TaskScorer,
    read: ParsedRequest,
    inventory: Sequence[TaskType],
    fit: steps.FitScorer,
    cues: Sequence[CueMatch],
    foreign: Mapping[int, float],
) -> list[CueMatch]:
    """Return what the parts without a cue ask of the files, where the scores leave no doubt. Raises
    UnavailableError."""
    guessed: list[CueMatch] = []
    for start, end, found in _parts_of(read, cues)[: everyday.MAX_PARTS]:
        words = planned_step.without_joints(read.text[start:end]).strip()
        hopeless = foreign.get(start, 0.0) >= everyday.MIN_NOTHING or _of_others.match(words)
        to_write = any(item.output for item in read.files_in(start, end))
        if found or not wish_words.asks(words) or hopeless or to_write or is_foreign(words):
            continue
        scores = await asyncio.to_thread(scorer.score, read.with_nouns(start, end), inventory)
        possible = [
            (item, chance, fit(item, start, end))
            for item, chance in zip(inventory, scores.tasks, strict=True)
            if item.ports and item.gives and chance >= MIN_RIVAL_OF_PART
        ]
        likely = {
            item: chance * (1.0 if fits >= FITS else ROUNDABOUT)
            for item, chance, fits in possible
            if fits > NO_WAY
        }
        best = max(likely, key=likely.__getitem__, default=None)
        chance = scores.tasks[inventory.index(best)] if best else 0.0
        rival = max((value for item, value in likely.items() if item is not best), default=0.0)
        if best and chance >= MIN_SCORE_OF_PART and rival <= MAX_RIVAL_OF_PART * likely[best]:
            at = start + read.text[start:end].index(words)
            cue = CueMatch(best, at, at + len(words.rstrip(" .,!?")), chance)
            step = PlannedStep(best, start, end, cue)
            before = [it for it in (*cues, *guessed) if it.start < start][-1:]
            again = any(it.type is best for it in before) and not planned_step.read_options(
                step, read
            )
            # The same as before is not another wish: "transcribe it and say how often ..."
            if best.name != SAVE and not again and not _is_blank_change(step, read):
                guessed.append(cue)
    return guessed


def _is_blank_change(step: PlannedStep, read: ParsedRequest) -> bool:
    """Return whether a task would change a file in a way that the words do not name: "let it fade
    in" does not ask for the noise to be taken away."""
    port = step.type.ports[0]
    changes = port.kinds[0] in step.type.gives[:1] and Kind.TEXT not in port.kinds
    free = step.type.port(inputs.PROMPT) is not None
    chosen = any(option.choices and option.default for option in step.type.options)
    return changes and chosen and not free and not planned_step.read_options(step, read)


def _can_be(cue: CueMatch, cues: Sequence[CueMatch], fit: steps.FitScorer) -> bool:
    """Return whether a cue's task can work on the files at hand, or on what the others make."""
    kinds = {kind for port in cue.type.ports[:1] for kind in port.kinds}
    return fit(cue.type, cue.start, cue.end) > NO_WAY or any(
        kinds & set(other.type.gives) for other in cues if other.start < cue.start
    )


_of_others = re.compile(r"(?:(?:tell|show) (?:me|us) )?(?:who|whose|when|where|why)\b")
"""Begins questions that no task on a file answers in general."""


def _parts_of(read: ParsedRequest, cues: Sequence[CueMatch]) -> list[everyday.Part]:
    """Return the parts of a request that have words besides those that join them."""
    return [
        part
        for part in steps.stretches(read.text, cues)
        if planned_step.without_joints(read.text[slice(*part[:2])])
    ]


async def scores_of(
    scorer: TaskScorer | None, text: str, inventory: Sequence[TaskType]
) -> Scores | None:
    """Return the scores of the tasks; None without a scorer, or if its weights are missing."""
    if scorer is None:
        return None
    try:
        return await asyncio.to_thread(scorer.score, text, inventory)
    except UnavailableError:  # `doctor` reports it; cues still work
        return None


_asks_table = re.compile(
    r"\W*(?:(?:and|also|then|please|tell me|show me|find out|say|und|auch|sag mir)\s+)*"
    r"(?:(?:on|in|at|for|an|in|für)\s+)?(?:which|who|whose|how (?!to\b)\w+|when|where|"
    r"what(?:'s)?|welche\w?|wer|wie \w+|wann|wo|was)\b"
)


_whole_table = re.compile(
    r"\W*(?:please |can you |could you )?(?:summari[sz]e|"
    r"(?:give|write|make) (?:me )?a (?:short )?summary(?: of)?) "
    r"(?:this|it|that|the (?:file|data)|xfile\d+x\w*)(?: for me)?(?: please)?\W*"
)
"""Asks for the summary of a table as it is, and not of the texts in it."""
_leans = re.compile(
    rf"(?!\b(?:all of them|them all|all of these|it all)\b)(?:{inputs.PRONOUN.pattern}"
    r"|\b(?:they|their|there|davon|deren)\b)"
)
"""Words of a question that needs the one before it."""


_single = re.compile(r"\b(?:most|least|\w{3,}est)\b")
_of_all = re.compile(r"\b(?:average|mean|median|total|sum|together|how many)\b.*")


def _needs_before(first: PlannedStep, step: PlannedStep, read: ParsedRequest) -> bool:
    """Return whether a question is part of the one before it: "and how large is this share?", but
    not "which is the cheapest, and what do they cost on average?"."""
    words = read.text[step.start : step.end]
    before = read.text[first.start : first.end]
    of_all = _single.search(before) and _of_all.search(words) and "they" in words
    return bool(_leans.search(words) and not of_all)


def _asked_of_tables(
    found: Sequence[PlannedStep],
    read: ParsedRequest,
    inventory: Sequence[TaskType],
    fit: steps.FitScorer,
) -> list[PlannedStep]:
    """Return the steps of a request that has only tables: what asks something that no other task
    can do with a table asks the table, and its summary is an overview. "Draw the ages and tell me
    how many people are over 60" looks for no people in a picture."""
    answering = next((item for item in inventory if item.name == inputs.ASK_TABLE), None)
    asked: list[PlannedStep] = []
    for step in found:
        words = read.text[step.start : step.end]
        elsewhere = step.type.name == WRITING or fit(step.type, step.start, step.end) <= NO_WAY
        whole = step.type.name == steps.SUMMARY and _whole_table.fullmatch(words)
        if answering is None or not (whole or (elsewhere and _asks_table.match(words))):
            asked.append(step)
        elif asked and asked[-1].type is answering and _needs_before(asked[-1], step, read):
            asked[-1] = replace(asked[-1], end=step.end)  # "and how large is this share?"
        else:
            cue = CueMatch(answering, step.start, step.start, 0.0)
            asked.append(PlannedStep(answering, step.start, step.end, cue, unread=step.unread))
    return asked


def _is_judged(step: PlannedStep, read: ParsedRequest) -> bool:
    """Return whether an edit is only an adjective in a question: "is it blurry?"."""
    cues = intents.find_cues(read.text, (step.type,))
    words = [read.text[cue.start : cue.end] for cue in cues]
    return bool(step.type.exact) and all(word.endswith(("er", "est", "y")) for word in words)


def _is_told_of(step: PlannedStep) -> bool:
    """Return whether a step only changes a file, which nobody asks for by how it was done."""
    return Kind.TEXT not in step.type.gives and step.type.name != inputs.CHART


def _without_greetings(found: Sequence[PlannedStep], read: ParsedRequest) -> list[PlannedStep]:
    """Return the steps without greetings; what was only taken for one is left out by name."""
    kept = [step for step in found if step.type.name != everyday.GREETING] or list(found[:1])
    asked = [
        planned_step.clause(step, read)
        for step in found
        if step not in kept and wish_words.is_question(read.text[step.start : step.end])
    ]
    return [replace(kept[0], unread=(*asked, *kept[0].unread)), *kept[1:]]


def _not_read(words: str) -> PlanRejected:
    told = tr("I did not understand “{words}”, so nothing was done.", words=words.strip(" ,.;"))
    return PlanRejected(f"{told} {tr(CAN_DO)}")


_part_of = re.compile(
    rf"\b(?!(?:{'|'.join(inputs.NOUNS)}|copy|rest|contents?|results?|version|all|both|each|name)\b)"
    r"\w+ of (?:all )?(?:the|my|this|these|that|those|our|your|his|her|their|xfile\d+x\w*)\b"
)
"""A part that is to be taken out of a file: "the headings of the handbook"."""


def _not_just_saved(found: Sequence[PlannedStep], read: ParsedRequest) -> str:
    """Return the words of a request that asks for more than a file to be saved as it is, where
    saving is all that is understood; "" for any other request."""
    if not found or any(step.type.name != inputs.SAVE for step in found):
        return ""
    if unread := [words for step in found for words in step.unread]:
        return unread[0]
    part = _part_of.search(read.text)
    return read.words(*part.span()) if part else ""


MIN_RIVAL_OF_PART = 0.1
"""A task less likely than this does not compete."""
NO_WAY, FITS = -30.0, 5.0
"""How well files fit a task that they cannot be turned into the input of, and one that takes them
as they are."""
ROUNDABOUT = 0.5
"""How much a guess counts beside others if the files must be converted for it."""


class _InputFit:
    """Scores how well the given files suit a task, to decide what words alone do not."""

    def __init__(
        self, read: ParsedRequest, inventory: Sequence[TaskType], context: Context
    ) -> None:
        self._read = read
        self._inventory = inventory
        self._kinds = {item.name.lower(): item.kind for item in context.attachments}
        self._earlier = bool(context.conversation and context.conversation.turns)

    def __call__(self, task_type: TaskType, start: int, end: int) -> float:
        port = next((item for item in task_type.ports if item.name != QUESTION), None)
        if port is None:
            return 0.0
        named = [self._kinds.get(item.name.lower()) for item in self._read.files_in(start, end)]
        here = [kind for kind in named if kind] or list(self._kinds.values())
        if not here:
            can_be_words = Kind.TEXT in port.kinds or self._earlier or start > 0
            return 0.0 if can_be_words else -4.0
        if any(kind in port.kinds for kind in here):
            return FITS
        reachable = any(inputs.find_route((kind,), port.kinds, self._inventory) for kind in here)
        return 4.0 if reachable else NO_WAY


_renames = re.compile(r"\b(?:rename|benenne)")
"""Begins the words after which names are those that the given files get."""


def _wire(
    found: Sequence[PlannedStep],
    read: ParsedRequest,
    inventory: Sequence[TaskType],
    context: Context,
) -> Plan | PlanRejected:
    wiring = PlanWiring(read, inventory, context)
    save = next((item for item in inventory if item.name == SAVE), None)
    renamed = [
        item
        for step in found
        if step.type.name == ARRANGE and _renames.search(read.text, step.start, step.end)
        for item in read.files_in(step.start, step.end)
    ]
    names = [item.text for item in read.files if item.output and item not in renamed]
    try:
        _add_all(wiring, found, read)
        if names and save and all(step.type is not save for step in found):
            wiring.save_as(save, names)
        plan = Plan(wiring.tasks, undone=tuple(wiring.unread))
    except MissingInputError as error:
        if error.task_type.port(QUESTION) and not context.attachments:
            return PlanRejected(tr(NO_LLM))
        # "How do I crop a picture?" asks for words, and an LLM has them.
        return PlanRejected(_missing_input(error), final=not _question.search(read.text))
    except PlanError as error:
        return _no_plan(error)
    for words in wiring.unread:
        current_note.get()(tr("I did not understand “{words}”, so that was left out.", words=words))
    return plan


def _add_all(wiring: PlanWiring, found: Sequence[PlannedStep], read: ParsedRequest) -> None:
    """Add the steps. One that lacks what it works on is left out by name, with those that mean its
    result, if there are others. Raises MissingInputError."""
    missing: MissingInputError | None = None
    for step in found:
        leans = inputs.PRONOUN.search(read.text[step.start : step.end])
        if missing is None or not leans or read.files_in(step.start, step.end):
            try:
                wiring.add(step)
                continue
            except MissingInputError as error:
                missing = missing or error
        wiring.unread.append(planned_step.clause(step, read))
    if missing and not wiring.tasks:
        raise missing
    if missing:
        current_note.get()(_missing_input(missing))


def _hears_voices(read: ParsedRequest, context: Context) -> bool:
    """Return whether it is asked who is heard in a given recording."""
    kinds = {item.kind for item in context.attachments}
    return bool({Kind.AUDIO, Kind.VIDEO} & kinds and _voices.search(read.text))


def _missing_input(error: MissingInputError) -> str:
    """Return what a step needs and was not given."""
    kinds = frozenset(error.port.kinds)
    alone = _wanted_kinds[error.port.kinds[0]] if len(kinds) == 1 else _wanted_any
    wanted = tr(_wanted_pairs.get(kinds, alone))
    return tr("For “{step}” I need {input}.", step=error.task_type.called, input=wanted)


def _no_plan(error: PlanError) -> PlanRejected:
    return PlanRejected(tr("I could not make a plan of that. {reason}", reason=error))


def _missing_files(read: ParsedRequest, context: Context) -> str:
    """Return a sentence about named files that do not exist; "" if all do."""
    earlier = (item.artifact for item in inputs.conversation_resources(context))
    known = {item.title.lower() for item in (*context.attachments, *earlier)}
    missing = [item for item in read.files if not item.output and item.name.lower() not in known]
    if not missing:
        return ""
    names = both(*dict.fromkeys(item.text for item in missing))
    if all(item.is_absolute for item in missing):
        return tr("I cannot find {files}.", files=names)
    advice = tr("Drop the file on the window or give its full path.")
    if context.folder:
        told = tr("I cannot find {files} in {folder}.", files=names, folder=context.folder)
    else:
        told = tr("I cannot find {files}.", files=names)
    return f"{told} {advice}"


def _about_a_file(
    read: ParsedRequest, inventory: Sequence[TaskType], context: Context, *, orders: bool
) -> PlannedStep | None:
    """Take a question that names no task as a question about the given files; of a table also what
    only lists something, if there may be `orders`: "orders in February"."""
    kinds = [item.kind for item in context.attachments]
    lists = orders and set(kinds) == {Kind.TABLE} and _lists.search(read.text)
    asks = _question.search(read.text) or lists
    if not asks or _wish_not.search(read.text):
        return None
    if not kinds and (
        meant := inputs.find_references(read.text, inputs.conversation_resources(context))
    ):
        kinds = [item.artifact.kind for item in meant]
    if not kinds and inputs.PRONOUN.search(read.text):
        kinds = [kind for item in inputs.conversation_sources(context)[:1] for kind in item.kinds]
    wanted = next((_answering[kind] for kind in kinds if kind in _answering), "question-answering")
    if Kind.IMAGE in kinds and _looks.search(read.text) and not SPEAKS_OF_WRITING.search(read.text):
        wanted = LOOKING
    task_type = next((item for item in inventory if item.name == wanted), None)
    if task_type is None or not kinds:
        return None
    return PlannedStep(task_type, 0, len(read.text), CueMatch(task_type, 0, 0, 0.0))


def _not_understood(text: str, read: ParsedRequest) -> str:
    if answer := other_language(text):
        return answer
    if len(text) > MAX_REQUEST_CHARS:
        return tr(
            "That is a text of {count} characters, and I did not find what to do with it. "
            "Begin with the task and a colon, such as “Summarise this:”.",
            count=f"{len(text):,}",
        )
    if not re.search(r"\w", text):
        return f"{tr('I can only work from words.')} {tr(CAN_DO)}"
    if _wish_not.search(read.text):
        return tr("You asked for nothing to be done, so nothing was done.")
    if _question.search(read.text):
        return tr(NO_LLM)
    return f"{tr('I found no task that I can do in that.')} {tr(CAN_DO)}"
