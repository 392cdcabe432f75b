"""The planner that asks an LLM, and never trusts its answer.

An LLM is slow, so it is asked as little as possible. What needs no task is answered directly. A
request in another language is first translated, because the embedded planner then knows most of
them. Only the rest is planned, by a small LLM from a short list of tasks. After one repair, or
after `PLANNING_TIMEOUT_S` seconds, the best plan that there is without it is used, else the LLM's
own words, or a sentence: nobody waits longer than `UNPLANNED_TIMEOUT_S` for one of those to begin.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import TypeVar

from jarvis_desktop.assistant.planning import (
    inputs,
    llm_output,
    llm_prompt,
    plan_diff,
    planner,
    request_parser,
)
from jarvis_desktop.assistant.planning.embedded_planner import EmbeddedPlanner, scores_of
from jarvis_desktop.assistant.planning.llm_output import ask_until_valid
from jarvis_desktop.assistant.planning.plan_builder import NamedArtifacts, build_plan
from jarvis_desktop.assistant.planning.plan_diff import check_own_words, check_settings
from jarvis_desktop.assistant.planning.steps import WRITING
from jarvis_desktop.assistant.planning.wiring import SPEAKS_OF_WRITING
from jarvis_desktop.assistant.prompts import Prompts
from jarvis_desktop.core.artifact import Kind
from jarvis_desktop.core.context import llm_timeout
from jarvis_desktop.core.display import one_line
from jarvis_desktop.core.errors import (
    ExpertError,
    JarvisError,
    PlanError,
    StorageError,
)
from jarvis_desktop.core.expert import TaskResult
from jarvis_desktop.core.i18n import both, mark, tr
from jarvis_desktop.core.llm import LLM, Ability, LLMs, Message, MessageRole, Prompt, answer
from jarvis_desktop.core.plan import Plan
from jarvis_desktop.core.ports import (
    AnswerDirectly,
    Context,
    NeedsAgent,
    Planned,
    Planner,
    PlanRejected,
    Scores,
    TaskScorer,
)
from jarvis_desktop.core.task import Arg, Item, Ref, Task, TaskType
from jarvis_desktop.text.languages import is_foreign
from jarvis_desktop.text.quotation import marked_off

T = TypeVar("T")

UNPLANNED_TIMEOUT_S = 20.0
"""Seconds until the first word about a request that the LLM was asked to plan and did not."""
PLANNING_TIMEOUT_S = 13.0
"""Seconds of these for the plan, with its translation and its repair."""
MIN_WRITING_S = 9.0
"""Seconds that must be left to read the files and for the LLM to begin to write about them."""
MAX_PLAN_ANSWERS = 2
"""A plan and its repair."""
MAX_TRANSLATED_CHARS = 600
"""A longer request is mostly a text that is pasted, and planned as it is."""
TRANSLATION_TOKENS = 200

_TRANSLATED = (
    (
        "Mach das Bild heller und speichere es als hell.png",
        "Make the picture brighter and save it as hell.png",
    ),
    ("Peux-tu me lire cette page à voix haute ?", "Can you read this page aloud to me?"),
    ("¿Por qué duermen los gatos?", "Why do cats sleep?"),
    ("Sag mir, wie spät es ist", "Tell me what time it is"),
    ("把“早上好”翻译成法语", "Translate “早上好” into French"),
)
"""Requests and their translations, by which a small LLM sees what is wanted."""

NO_OTHER_WAY = mark("I found no other way to do that.")


@dataclass(eq=False)
class LlmPlanner:
    """Plans with the LLM of the settings, over the task types that are `runnable` right now.

    A plan that breaks a rule goes back to the LLM with the reason. If there is no LLM, or it fails,
    or it does not fix its plan, `fallback` plans. If that declines too, the LLM works on the text
    of the given file, or answers in its own words.

    `agent` turns on agent mode, for goals over the application's own tasks. `scorer` ranks
    the tasks for a request; without it, every request is planned from all tasks.
    `cannot_know` returns why no LLM can know the answer to an English question, else "", and
    may block. `timeout`, in seconds, covers one plan with its translation and its repair.
    """

    llms: LLMs
    prompts: Prompts
    _: KW_ONLY
    fallback: Planner
    runnable: Callable[[TaskType, LLM], bool]
    scorer: TaskScorer | None = None
    cannot_know: Callable[[str], str] = lambda text: ""
    timeout: float = PLANNING_TIMEOUT_S
    agent: bool = False

    def __post_init__(self) -> None:
        self._cues = EmbeddedPlanner()

    async def plan(self, text: str, inventory: Sequence[TaskType], context: Context) -> Planned:
        """Return a plan, the answer that none is needed or that agent mode is, or a reason. Never
        raises."""
        llm = await self.llms.current() if text.strip() else None
        if llm is None:
            return await self.fallback.plan(text, inventory, context)
        builtin = planner.has_builtin_tasks(inventory)
        if self.agent and builtin and planner.asks_for_agent(text, inventory, context):
            context.trace("It is a goal for agent mode by its words.")
            return NeedsAgent()
        types = [task_type for task_type in inventory if self.runnable(task_type, llm)]
        async with llm_timeout(None) as stopwatch:
            try:
                async with llm_timeout(self.timeout):
                    return await self._plan(llm, text, types, context, builtin=builtin)
            except PlanError as error:
                context.trace(f"{llm.name} made no plan that can be used: {error.message}")
            except StorageError as error:  # a mistake in the user's own prompts
                context.trace(f"{llm.name} could not plan: {error.message}")
                return await self._without_llm(text, inventory, context) or PlanRejected(str(error))
            except JarvisError as error:
                context.trace(f"{llm.name} could not plan: {error.message}")
            except TimeoutError:
                context.trace(f"{llm.name} made no plan within {self.timeout:.0f} seconds.")
            if planned := await self._without_llm(text, inventory, context):
                return planned
            left = max(0.0, UNPLANNED_TIMEOUT_S - stopwatch.spent)
        if left >= MIN_WRITING_S and (by_words := writing_about_files(text, types, context)):
            return by_words
        unseen = [item.title for item in context.attachments if item.kind is not Kind.TEXT]
        if unseen and not llm.sees:
            return PlanRejected(
                tr("I found no way to do that with {files}.", files=both(*unseen)), final=True
            )
        # An LLM that could not plan may still answer, or says why it cannot.
        return await self._direct(text, within=left)

    async def _without_llm(
        self, text: str, inventory: Sequence[TaskType], context: Context
    ) -> Plan | AnswerDirectly | NeedsAgent | None:
        """Return what the fallback plans; None if it declines, or if the request is in another
        language: its cues and its encoder are English."""
        if planner.has_builtin_tasks(inventory) and is_foreign(text):
            return None
        planned = await self.fallback.plan(text, inventory, context)
        return None if isinstance(planned, PlanRejected) else planned

    async def _plan(
        self, llm: LLM, text: str, types: Sequence[TaskType], context: Context, *, builtin: bool
    ) -> Planned:
        """Return the plan, or that none is needed, or none can help. Raises PlanError and what the
        LLM raises."""
        english = await self._in_english(llm, text, types, context) if builtin else text
        if english != text:
            planned = await self._cues.plan(english, types, context)
            if isinstance(planned, Plan) and (own := plan_diff.in_own_words(planned, text)):
                return own
        scores = await scores_of(self.scorer, english, types)
        if scores and builtin and needs_no_task(english, types, context, scores):
            context.trace("No task is likely for it, so it is answered directly.")
            return await self._direct(english)
        if (
            scores
            and builtin
            and no_task_fits(types, context, scores)
            and (by_words := writing_about_files(text, types, context))
        ):
            context.trace("No task is likely for it, so the text of the files is worked on.")
            return by_words
        short = llm.ability is Ability.SHORT_PLANS and self.scorer is not None
        if llm.ability is Ability.ANSWERS or (short and scores is None):
            raise PlanError(tr("{name} is too small to plan.", name=llm.name))
        if short and scores:
            types = short_list(types, context, scores, size=llm_prompt.SHORT_TASKS)
        else:
            types = likely_tools(types, scores)
        names = [task_type.name for task_type in types]
        named = NamedArtifacts(context)
        agent = self.agent and builtin and not short

        def read(answered: str) -> Plan | AnswerDirectly | NeedsAgent:
            if agent and llm_output.is_agent_goal(answered):
                return NeedsAgent()
            steps = llm_output.read_steps(answered, names)
            if not steps:
                return AnswerDirectly()
            plan = check_own_words(build_plan(steps, types, named), text, types)
            check_settings(plan, english, types)
            check_sight(plan, context)
            own = plan if english == text else plan_diff.in_own_words(plan, text)
            if own is None:
                raise PlanError(tr("Leave out words to work on that the user did not give."))
            return own

        asked = llm_prompt.request_text(english, llm_prompt.list_files(named, context))
        made = await self._ask(llm, asked, types, context, read, short=short, agent=agent)
        return await self._direct(english) if isinstance(made, AnswerDirectly) else made

    async def _few_tools(self, text: str, types: Sequence[TaskType]) -> list[TaskType]:
        """Return the tasks with the few tools of servers that are likely for the text."""
        if sum(bool(item.server) for item in types) <= MAX_TOOLS:
            return list(types)
        return likely_tools(types, await scores_of(self.scorer, text, types))

    async def _direct(
        self, english: str, *, within: float | None = None
    ) -> AnswerDirectly | PlanRejected:
        """Let the LLM answer, unless it can only invent the answer."""
        if reason := await asyncio.to_thread(self.cannot_know, english):
            return PlanRejected(reason, final=True)
        return AnswerDirectly(within=within)

    async def _in_english(
        self, llm: LLM, text: str, types: Sequence[TaskType], context: Context
    ) -> str:
        """Return the request in English, which the cues and the encoder read; the text itself if it
        is English, long, or cannot be translated."""
        head, pasted = request_parser.split_pasted(text, types)
        if not is_foreign(head) or pasted or len(text) > MAX_TRANSLATED_CHARS:
            return text
        shown = [
            Message(role, said)
            for pair in _TRANSLATED
            for role, said in zip((MessageRole.USER, MessageRole.ASSISTANT), pair, strict=True)
        ]
        system = Message(MessageRole.SYSTEM, self.prompts.template("english").text)
        messages = (system, *shown, Message(MessageRole.USER, text))
        english = await answer(llm, Prompt(messages, longest=TRANSLATION_TOKENS))
        context.trace(f"In English: {one_line(english, limit=MAX_TRANSLATED_CHARS)}")
        return english.strip() or text

    async def replan(
        self,
        text: str,
        inventory: Sequence[TaskType],
        context: Context,
        *,
        plan: Plan,
        results: Mapping[int, TaskResult],
    ) -> Plan | PlanRejected:
        """Return a plan that takes another way with what is done, or the reason why there is none.
        Never raises. Finished tasks keep their ids and arguments, whatever the LLM made of them."""
        llm = await self.llms.current()
        if llm is None:
            return await self.fallback.replan(text, inventory, context, plan=plan, results=results)
        if llm.ability is not Ability.FULL_PLANS:  # it would plan the same again, after a long time
            return PlanRejected(tr(NO_OTHER_WAY))
        types = [task_type for task_type in inventory if self.runnable(task_type, llm)]
        types = await self._few_tools(text, types)
        types += [item for item in plan_diff.types_of(plan) if item not in types]
        named = NamedArtifacts(context)
        done = plan_diff.finished_tasks(plan, results)

        def read(answered: str) -> Plan | PlanRejected:
            steps = llm_output.read_steps(answered, [task_type.name for task_type in types])
            if not steps:
                return PlanRejected(tr(NO_OTHER_WAY))
            fresh = check_own_words(build_plan(steps, types, named, finished=done), text, types)
            return plan_diff.reuse_finished(fresh, plan, done)

        try:
            template = self.prompts.template("replan")
            context.trace(f"It plans anew by the prompt {template.label}.")
            asked = template.filled(
                request=llm_prompt.request_text(text, llm_prompt.list_files(named, context)),
                plan=plan_diff.format_plan(plan, named),
                done=marked_off(plan_diff.format_finished(done, results), text),
                failed=marked_off(plan_diff.format_failures(plan, results), text),
            )
            return await self._ask(llm, asked, types, context, read)
        except JarvisError as error:
            context.trace(f"{llm.name} made no other plan: {error.message}")
            return PlanRejected(tr(NO_OTHER_WAY))

    async def revise(
        self, words: str, inventory: Sequence[TaskType], context: Context, *, plan: Plan
    ) -> Plan | PlanRejected:
        """Return the plan as the user's words want it, or why not. Never raises. What they leave
        unchanged keeps its id, however the LLM wrote it."""
        llm = await self.llms.current() if words.strip() else None
        if llm is None:
            return await self.fallback.revise(words, inventory, context, plan=plan)
        types = [item for item in inventory if self.runnable(item, llm)]
        if llm.ability is not Ability.FULL_PLANS and (
            scores := await scores_of(self.scorer, words, types)
        ):
            types = short_list(types, context, scores, size=llm_prompt.SHORT_TASKS)
        else:
            types = await self._few_tools(words, types)
        types += [item for item in plan_diff.types_of(plan) if item not in types]
        short = plan_diff.ShortenedPlan(plan, context)
        named = NamedArtifacts(short.context)

        def read(answered: str) -> Plan | PlanRejected:
            steps = llm_output.read_steps(answered, [task_type.name for task_type in types])
            if not steps:
                return PlanRejected(
                    tr("{llm} did not understand what should change.", llm=llm.name)
                )
            fresh = plan_diff.keep_unchanged(short.restored(build_plan(steps, types, named)), plan)
            return check_own_words(fresh, words, types, but=plan.tasks)

        try:
            template = self.prompts.template("revise")
            context.trace(f"The plan is revised by the prompt {template.label}.")
            asked = template.filled(
                plan=marked_off(plan_diff.format_plan(short.plan, named), words),
                request=llm_prompt.request_text(words, llm_prompt.list_files(named, short.context)),
            )
            small = llm.ability is not Ability.FULL_PLANS
            revised = await self._ask(llm, asked, types, context, read, short=small)
            if isinstance(revised, Plan):
                return revised
            # A small LLM often fails at what is clear from the words alone: "drop the first step".
            own = await self.fallback.revise(words, inventory, context, plan=plan)
            return own if isinstance(own, Plan) else revised
        except JarvisError as error:
            context.trace(f"{llm.name} did not revise the plan: {error.message}")
            return await self.fallback.revise(words, inventory, context, plan=plan)

    async def _ask(
        self,
        llm: LLM,
        asked: str,
        types: Sequence[TaskType],
        context: Context,
        read: Callable[[str], T],
        *,
        short: bool = False,
        agent: bool = False,
    ) -> T:
        """Return what `read` makes of the answer; `short` is for a small LLM, and with `agent` the
        answer may be that it is a goal. Raises the PlanError of the last try, StorageError,
        ExpertError on a time-out, and what the LLM raises."""
        if short:
            prompt = llm_prompt.short_planning_prompt(
                llm, self.prompts, asked=asked, inventory=types, context=context
            )
        else:
            prompt = llm_prompt.planning_prompt(
                llm, self.prompts, asked=asked, inventory=types, context=context, agent=agent
            )
        try:
            async with llm_timeout(self.timeout):
                return await ask_until_valid(
                    llm, prompt, read, trace=context.trace, max_rejections=MAX_PLAN_ANSWERS
                )
        except TimeoutError as error:
            raise ExpertError(
                tr("It took longer than {timeout:.0f} seconds.", timeout=self.timeout)
            ) from error


def check_sight(plan: Plan, context: Context) -> None:
    """Raise PlanError if a text is to be written about a given picture that nothing looks at."""
    if not any(item.kind is Kind.IMAGE for item in context.attachments):
        return
    for task in plan:
        words = task.args.get(inputs.PROMPT, "")
        alone = task.type.name == WRITING and inputs.MATERIAL not in task.args
        if alone and isinstance(words, str) and Kind.IMAGE in inputs.mentioned_kinds(words.lower()):
            raise PlanError(
                tr(
                    "Task {id} ({name}) does not see the picture: give it as its text what another "
                    "task says of it.",
                    id=task.id,
                    name=task.type.name,
                )
            )


def writing_about_files(text: str, types: Sequence[TaskType], context: Context) -> Plan | None:
    """Return the plan by which the LLM does what the request says with the text of the given files;
    None if nothing here can read them. Pictures are read only if the words speak of writing."""
    writing = next((item for item in types if item.name == WRITING), None)
    if writing is None:
        return None
    tasks: list[Task] = []
    sources: list[Item] = []
    for given in context.attachments:
        if given.kind is Kind.IMAGE and not SPEAKS_OF_WRITING.search(text.lower()):
            continue
        source: Item = given
        for converter in inputs.find_route((given.kind,), (Kind.TEXT,), types) or ():
            tasks.append(Task(len(tasks), converter, {converter.ports[0].name: source}))
            source = Ref(tasks[-1].id)
        if isinstance(source, Ref) or given.kind is Kind.TEXT:
            sources.append(source)
    if not sources:
        return None
    args: dict[str, Arg] = {inputs.PROMPT: text, inputs.MATERIAL: tuple(sources)}
    return Plan((*tasks, Task(len(tasks), writing, args)))


MIN_TASK_SCORE = 0.4
"""Without a file, a request may be for a task from this probability on."""

WORDS_ALONE = frozenset({WRITING, "repeat", "help", "chance", "clock", "spell", "stop"})
"""Tasks that do not speak against an answer in words: writing is one, and the others are recognised
by their cues."""

MAX_UNFIT_SCORE = 0.15
"""Of a request with files, no task does what is asked if none is as likely as this."""

MIN_TASKS = 4
MIN_LISTED_SCORE = 0.08
"""Less likely tasks only mislead, if there are `MIN_TASKS` others."""

MIN_MAKER_SCORE = 0.3
"""A task counts as the source of a file for others, such as of a picture to edit, if it is this
likely."""

MAX_TOOLS = 25
"""Tools of MCP servers in one prompt."""

_things = re.compile(
    r"\b(?:pictures?|photos?|images?|screenshots?|recordings?|videos?|films?|clips?|documents?|"
    r"files?|tables?|spreadsheets?|pdfs?)\b"
)


def feasible_tasks(
    inventory: Sequence[TaskType], context: Context, scores: Scores
) -> list[TaskType]:
    """Return the tasks that can run on the files at hand, on words, or on what likely tasks make
    of those.

    A small LLM plans well from ten tasks and badly from seventy, and every line of the list costs
    it time. So the others are left out, and the rest are ranked by the scores of the encoder.
    """
    at_hand = {Kind.TEXT, *(item.kind for item in context.attachments)}
    at_hand |= {item.artifact.kind for item in inputs.conversation_resources(context)}
    makers = [
        item
        for item, score in zip(inventory, scores.tasks, strict=True)
        if item.name in inputs.CONVERTERS or score >= MIN_MAKER_SCORE
    ]
    before: set[Kind] = set()
    while at_hand != before:
        before = set(at_hand)
        for maker in makers:
            if _can_run(maker, before):
                at_hand |= set(maker.gives)
    return [item for item in inventory if _can_run(item, at_hand)]


def _can_run(task_type: TaskType, kinds: Collection[Kind]) -> bool:
    return all(set(port.kinds) & set(kinds) for port in task_type.ports if port.required)


def short_list(
    inventory: Sequence[TaskType], context: Context, scores: Scores, *, size: int
) -> list[TaskType]:
    """Return at most `size` feasible tasks, the likeliest first, with those that turn the files at
    hand into what these take.

    Writing and questions about the given kinds of files are favoured, because requests ask for them
    in words of all sorts.
    """
    likely = dict(zip((item.name for item in inventory), scores.tasks, strict=True))
    able = feasible_tasks(inventory, context, scores)
    kinds = [item.kind for item in context.attachments] or [Kind.TEXT]

    def weight(task_type: TaskType) -> float:
        if task_type.name == WRITING:
            return likely[WRITING] + 0.2
        if task_type.name in WORDS_ALONE:
            return likely[task_type.name] * 0.2
        answers = task_type.port(inputs.QUESTION) and set(kinds) & set(task_type.ports[0].kinds)
        return likely[task_type.name] + (0.2 if answers else 0.0)

    weights = {item.name: weight(item) for item in able}
    chosen: dict[str, TaskType] = {}
    for task_type in sorted(able, key=lambda item: weights[item.name], reverse=True):
        if len(chosen) >= MIN_TASKS and weights[task_type.name] < MIN_LISTED_SCORE:
            break
        wanted = [port.kinds for port in task_type.ports if port.required]
        routes = (inputs.find_route(kinds, each, able) or () for each in wanted)
        group = [*(item for route in routes for item in route), task_type]
        new = {item.name: item for item in group if item.name not in chosen}
        if len(chosen) + len(new) <= size:
            chosen |= new
    return list(chosen.values())


def likely_tools(inventory: Sequence[TaskType], scores: Scores | None) -> list[TaskType]:
    """Return the application's own tasks and at most `MAX_TOOLS` tools of servers, the likeliest.

    LLMs choose badly among more.
    """
    chances = scores.tasks if scores else (0.0,) * len(inventory)
    ranked = sorted(
        (number for number, item in enumerate(inventory) if item.server),
        key=lambda number: -chances[number],
    )
    left_out = set(ranked[MAX_TOOLS:])
    return [item for number, item in enumerate(inventory) if number not in left_out]


def needs_no_task(
    text: str, inventory: Sequence[TaskType], context: Context, scores: Scores
) -> bool:
    """Return whether words are surely all that is asked for: no file is given or spoken of, and no
    task is likely."""
    earlier = any(item.artifact.path for item in inputs.conversation_resources(context))
    words = text.lower()
    if context.attachments or (earlier and (inputs.PRONOUN.search(words) or _things.search(words))):
        return False
    able = {item.name for item in feasible_tasks(inventory, context, scores)} - WORDS_ALONE
    return all(
        score < MIN_TASK_SCORE
        for item, score in zip(inventory, scores.tasks, strict=True)
        if item.name in able
    )


def no_task_fits(inventory: Sequence[TaskType], context: Context, scores: Scores) -> bool:
    """Return whether words about the given files are surely what is asked for: "proofread this"."""
    able = {item.name for item in feasible_tasks(inventory, context, scores)} - WORDS_ALONE
    return bool(context.attachments) and all(
        score < MAX_UNFIT_SCORE
        for item, score in zip(inventory, scores.tasks, strict=True)
        if item.name in able
    )
