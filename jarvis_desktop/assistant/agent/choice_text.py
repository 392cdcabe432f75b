"""Finds the choice in what an LLM wrote: behind its thoughts, in prose, in fences, by odd names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from difflib import SequenceMatcher

from jarvis_desktop.assistant.agent.arguments import checked
from jarvis_desktop.assistant.agent.roles import Branch, Role
from jarvis_desktop.assistant.planning.loose import Loose
from jarvis_desktop.assistant.planning.written import plain, without_thoughts
from jarvis_desktop.core.errors import PlanError
from jarvis_desktop.core.goal import Choice
from jarvis_desktop.core.shown import one_line
from jarvis_desktop.core.wording import tr

LONGEST = 100_000
"""Characters of an answer; what is longer is no choice."""
LONGEST_WHY = 200
NEAR = 0.8
"""How alike a name must be to that of a branch, from 0 to 1, to be a slip of it."""
CLEAR = 0.1
"""How much less alike every other branch must be."""

_branch_keys = (
    *("branch", "branchname", "command", "action", "tool", "toolname", "functionname"),
    *("function", "choice", "next", "nextbranch", "call", "name"),
)
_call_keys = (
    "function",
    "functioncall",
    "toolcall",
    "branch",
    "action",
    "command",
    "tool",
    "choice",
)
_args_keys = (
    *("args", "arguments", "commandargs", "branchargs", "parameters", "params", "kwargs"),
    *("actioninput", "branchinput", "branchinputdata", "toolinput", "inputdata", "input"),
)
_why_keys = ("why", "reason", "reasoning", "thought", "thoughts", "explanation")

_aliases: Mapping[str, tuple[str, ...]] = {
    **dict.fromkeys(
        ("python", "code", "script", "exec", "execute", "executecode", "runpython", "runscript",
         "executepython", "pythoncode", "codeinterpreter", "interpreter"),
        ("run_code", "write_function", "coder"),
    ),
    **dict.fromkeys(
        ("writecode", "programmer", "program", "callcoder", "coding"),
        ("coder", "write_function", "run_code"),
    ),
    **dict.fromkeys(
        ("answer", "final", "respond", "reply", "done", "finish", "finished", "end", "complete",
         "manualfinish", "giveanswer", "stop", "submit", "return", "finalize"),
        ("final_answer", "finish"),
    ),
    **dict.fromkeys(
        ("finalanswer", "finalresult", "summary", "result"), ("final_answer", "finish")
    ),
    **dict.fromkeys(
        ("interim", "partialanswer", "showprogress", "intermediateresult"), ("intermediate_answer",)
    ),
    **dict.fromkeys(
        ("ask", "question", "askhuman", "askperson", "clarify", "askquestion", "user"),
        ("ask_user",),
    ),
    **dict.fromkeys(
        ("plan", "newplan", "makeplan", "rewriteplan", "changeplan", "planning"), ("re_plan",)
    ),
    **dict.fromkeys(
        ("update", "markdone", "markstep", "updatestep", "updatesteps", "setstate", "markplan"),
        ("update_plan",),
    ),
    **dict.fromkeys(
        ("experts", "expert", "callexperts", "huggingface", "hugginggpt", "useexperts", "tools"),
        ("run_experts",),
    ),
    **dict.fromkeys(
        ("library", "savefunction", "addfunction", "writefunction", "savecode", "function",
         "createfunction"),
        ("write_function", "extend_library"),
    ),
}  # fmt: skip
"""What LLMs call branches: the first of these that a role has is meant."""

_script = re.compile(r"```(?:python|py)\d?[ \t]*\n(.*?)\n[ \t]*```", re.DOTALL | re.IGNORECASE)


def choice_in(text: str, role: Role) -> Choice:
    """The first choice in an answer that holds.

    Raises PlanError, one sentence that tells an LLM what to do better: about the first thing that
    looked like a choice.
    """
    if len(text) > LONGEST:
        raise PlanError(tr("That is far too long; write one JSON object and nothing else."))
    refusal: PlanError | None = None
    for version in dict.fromkeys((without_thoughts(text), text)):
        reader = Loose(version)
        try:
            for value in _objects(reader):
                try:
                    choice = _choice(value, role)
                except PlanError as error:
                    refusal = refusal or error
                    continue
                if reader.broken_off:
                    raise PlanError(tr("The answer breaks off; write all of it, shorter."))
                return choice
        except PlanError as error:
            refusal = refusal or error
    if script := _of_script(text, role):
        return script
    raise refusal or PlanError(tr("There is no JSON object in that."))


def _objects(reader: Loose) -> Iterator[Mapping[str, object]]:
    for value in reader.values():
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, Mapping):
                yield item


def _of_script(text: str, role: Role) -> Choice | None:
    """A script alone, which only one branch can take."""
    scripts = _script.findall(text)
    runs = [branch for branch in role.branches if branch.required == ("code",)]
    if len(scripts) != 1 or len(runs) != 1:
        return None
    return Choice(runs[0].name, checked({"code": scripts[0]}, runs[0]))


def _choice(value: Mapping[str, object], role: Role) -> Choice:
    low = {plain(str(key)): item for key, item in value.items()}
    for key in _call_keys:
        inner = low.get(key)
        if isinstance(inner, Mapping):
            del low[key]
            low |= {plain(str(name)): item for name, item in inner.items()}
    reasons = (low[key] for key in _why_keys if isinstance(low.get(key), str))
    why = one_line(str(next(reasons, "")), limit=LONGEST_WHY)
    branch, args = _named(low, role)
    return Choice(branch.name, checked(args, branch, why), why)


def _named(low: Mapping[str, object], role: Role) -> tuple[Branch, Mapping[str, object]]:
    """The branch, and all that may be its arguments."""
    names = [key for key in _branch_keys if isinstance(low.get(key), str)]
    for key in names:
        if branch := branch_named(str(low[key]), role):
            return branch, _args({**low, key: None}, branch)
    exact = {plain(branch.name): branch for branch in role.branches}
    keyed = [name for name in low if name in exact]
    if len(keyed) == 1:  # {"coder": {"task": "..."}}
        branch = exact[keyed[0]]
        return branch, _args({**low, keyed[0]: None, "args": low[keyed[0]]}, branch)
    if names:
        name = one_line(str(low[names[0]]))
        raise PlanError(
            tr(
                "There is no branch “{name}”; take one of {role}.",
                name=name,
                role=_listed(role),
            )
        )
    for branch in role.branches:
        args = _args(low, branch)
        needed = {plain(name) for name in branch.required}
        others = {plain(name) for other in role.branches for name in other.required} - needed
        if needed and needed <= args.keys() and not others & args.keys():
            alike = [other for other in role.branches if other.required == branch.required]
            if len(alike) == 1:
                return branch, args
    raise PlanError(tr("The answer names no “branch”; take one of {role}.", role=_listed(role)))


def _args(low: Mapping[str, object], branch: Branch) -> Mapping[str, object]:
    """The arguments, whether they stand apart or beside the name; as some interfaces have it, as
    JSON within a string."""
    inner = next((low[key] for key in _args_keys if low.get(key) is not None), None)
    if isinstance(inner, str) and inner.lstrip().startswith("{"):
        inner = next(Loose(inner).values())
    own = {plain(name) for name in branch.args}
    kept = own | (low.keys() - {*_args_keys, *_why_keys})
    beside = {key: item for key, item in low.items() if key in kept}
    if inner is None:
        return beside
    if not isinstance(inner, Mapping):
        inner = {(branch.required or ("",))[0]: inner}
    return {**beside, **{plain(str(key)): item for key, item in inner.items()}}


def branch_named(name: str, role: Role) -> Branch | None:
    """The branch that a name means without a doubt, or None."""
    bare = plain(name[:60])
    names = {plain(branch.name): branch for branch in role.branches}
    if bare in names:
        return names[bare]
    for alias in _aliases.get(bare, ()):
        if branch := role.branch(alias):
            return branch
    within = [branch for each, branch in names.items() if each in bare]
    if len(within) == 1:  # "call_coder", "coder branch"
        return within[0]
    alike = sorted((SequenceMatcher(None, bare, each).ratio(), each) for each in names)
    best, name = alike[-1]
    second = alike[-2][0] if len(alike) > 1 else 0.0
    return names[name] if best >= NEAR and best - second >= CLEAR else None


def _listed(role: Role) -> str:
    return ", ".join(branch.name for branch in role.branches)
