"""`llm` lists, selects and fetches large language models, and keeps their keys."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from typing import TYPE_CHECKING

from jarvis_desktop.cli import output, session
from jarvis_desktop.cli.input import somebody_is_there, whole_input
from jarvis_desktop.cli.output import progress
from jarvis_desktop.cli.session import Subparsers, add_action, add_actions, app_command
from jarvis_desktop.core.display import readable_size
from jarvis_desktop.core.errors import InputError, JarvisError, UnavailableError
from jarvis_desktop.core.placement import MB
from jarvis_desktop.llm.catalogue import (
    LLMOfferFinder,
    LLMTrial,
    find_shipped,
    list_llms,
    settings_for,
    try_and_measure,
)
from jarvis_desktop.platform import api_keys
from jarvis_desktop.platform.api_keys import origin
from jarvis_desktop.settings import change

if TYPE_CHECKING:
    from jarvis_desktop.app.application import Application
    from jarvis_desktop.core.expert import Expert
    from jarvis_desktop.llm.catalogue import KnownLLM
    from jarvis_desktop.llm.profile import LLMProfile
    from jarvis_desktop.llm.shipped import Computer, ShippedLLM


@dataclass(frozen=True, slots=True)
class LLMRow:
    """One LLM of the list."""

    id: str
    installed: str
    """Its source: "ollama", "disk", a service in use, or "" if it is not installed."""
    used: bool
    about: str
    download_mb: float = 0
    """0 if there is nothing to fetch."""
    remark: str = ""
    listed: ShippedLLM | None = None
    """Its entry in the shipped list."""
    profile: LLMProfile | None = None
    """What `llm test` measured of it."""

    @property
    def size(self) -> str:
        """The size as shown; that of the shipped list may be approximate."""
        about = "about " if self.listed and not self.listed.verified else ""
        return about + readable_size(self.download_mb * MB) if self.download_mb else ""


MAX_NAMED = 8
"""LLMs of a service that a note names."""


def add(subparsers: Subparsers) -> None:
    """Add the commands."""
    actions = add_actions(subparsers, "llm", "list, choose and fetch large language models")
    action = partial(add_action, actions)
    action("list", "what fits this computer, and what is there", _list)
    use = action("use", "choose the LLM; “auto” takes the best that is there", _use, "ID")
    use.add_argument(
        "--address", metavar="URL", help="of a service that speaks OpenAI's protocol, with its /v1"
    )
    action("pull", "fetch an LLM", _pull, "ID")
    action("test", "ask the LLM something, and measure it", _test)
    action("unload", "let the LLM give back its memory", _unload)
    for parser in add_keys(actions, _address):
        parser.add_argument(
            "address",
            metavar="URL",
            nargs="?",
            help="address of the service (default: the one in the settings)",
        )


def add_keys(
    actions: Subparsers, address: Callable[[argparse.Namespace], str]
) -> list[argparse.ArgumentParser]:
    """Add `key set` and `key remove`; `address` returns whose key the arguments mean."""
    keys = add_actions(actions, "key", "keep or delete the key of a service")
    return [
        add_action(keys, name, about, partial(command, address))
        for name, about, command in (
            ("set", "keep a key, typed unseen or read from stdin, in the keyring", _set_key),
            ("remove", "delete a key from the keyring", _remove_key),
        )
    ]


@app_command
async def _list(args: argparse.Namespace, app: Application) -> int:
    llm = await app.llms.current()
    rows = await _rows(app)
    if args.json:
        output.write_json({"llms": rows, "used": llm and llm.name, "reason": app.llms.reason})
        return output.DONE
    for row in rows:
        mark = "→" if row.used else "✓" if row.installed else " "
        remarks = [row.remark, row.profile.summary if row.profile else ""]
        remark = f"  ({'; '.join(filter(None, remarks))})" if any(remarks) else ""
        output.say(f"{mark} {row.id:20} {row.size:>13}  {row.about}{remark}")
    output.note(f"note    {app.llms.reason}")
    if llm is None:
        output.note(f"        {await LLMOfferFinder(app).advice()}")
    return output.DONE


async def _rows(app: Application) -> list[LLMRow]:
    """The shipped list, then the other LLMs."""
    shelved = await list_llms(app.llms)
    return [_row(each, shelved.computer) for each in shelved.known]


def _row(known: KnownLLM, computer: Computer) -> LLMRow:
    where = {"transformers": "disk"}.get(known.where, known.where)
    if each := known.listed:
        about, remark = f"{each.good_at}; {each.licence}", _remark(each, computer)
        size = each.download_mb
        return LLMRow(known.id, where, known.used, about, size, remark, each, known.profile)
    if known.ollama:
        about = "in Ollama's cloud" if known.in_cloud else "in Ollama"
    else:
        about = known.expert.summary if known.expert else "in a service"
    return LLMRow(known.id, where, known.used, about, known.size / 1e6, profile=known.profile)


def _remark(llm: ShippedLLM, computer: Computer) -> str:
    if not computer.holds(llm.need):
        return "too large for this computer"
    return "" if computer.suits(llm.need) else "slow on this computer"


@app_command
async def _use(args: argparse.Namespace, app: Application) -> int:
    if args.id.startswith(("http://", "https://")) and not args.address:
        args.id, args.address = await _only_llm(app, args.id), args.id
    values = await _wish(app, args.id, args.address)
    change(app.paths.settings, "llm", values)
    if args.address and (missing := await _not_served(app, values["id"], args.address)):
        output.note(missing)
    if args.json:
        output.write_json({"llm": values})
    elif args.id in ("auto", "none"):
        output.say(
            "The best LLM that is there is used." if args.id == "auto" else "No LLM is used."
        )
    else:
        output.say(f"{values['id']} is used from now on.")
    return output.DONE


async def _only_llm(app: Application, address: str) -> str:
    """The LLM of a service that has one. Raises InputError if it has others."""
    origin(address)
    names = [each.name for each in await app.llms.of_service(address)]
    if len(names) == 1:
        return names[0]
    told = f"It has: {', '.join(names[:MAX_NAMED])}." if names else "It names none."
    raise InputError(
        f"Say which LLM of {address} is meant. {told}",
        hint=f"Such as: jarvis-desktop llm use {names[0] if names else 'ID'} --address {address}.",
    )


async def _not_served(app: Application, name: str, address: str) -> str:
    """A note if a service that answers does not have an LLM of that name; "" otherwise."""
    try:
        served = [each.name for each in await app.llms.of_service(address)]
    except JarvisError:  # it may be started later
        return ""
    if not served or not name or name in served:
        return ""
    return f"note    {address} has no LLM called {name}. It has: {', '.join(served[:MAX_NAMED])}."


async def _wish(app: Application, name: str, address: str | None) -> dict[str, str]:
    """The settings that `use` writes. Raises InputError if there is no such LLM."""
    if address:
        origin(address)  # refuses invalid addresses
        if name == "none":
            raise InputError("Where no LLM is used, there is no address.", hint="Leave it out.")
        if name == "auto":
            return {"provider": "auto", "id": "", "address": address}
        return {"provider": "openai", "id": name, "address": address}
    return await settings_for(app.llms, name)


@app_command
async def _pull(args: argparse.Namespace, app: Application) -> int:
    if not app.policy.allows_downloads:
        raise InputError("The mode is offline, so nothing is fetched.", hint="Change the mode.")
    listed = find_shipped(app.llms, args.id)
    if listed and not (await app.llms.measured()).holds(listed.need):
        output.note(f"note    {listed.id} needs {listed.memory_gb:g} GB of memory to run.")
    status = await app.llms.of_ollama()
    expert = _writer(app, listed.expert if listed else args.id)
    if status.running and (listed or not expert):
        name, provider = listed.ollama if listed else args.id, "ollama"
        await app.llms.ollama.pull(name, progress())
    elif expert:
        name, provider = expert.id, "transformers"
        await app.expert_manager.fetch_engine(expert, progress())
        await app.weights.fetch(expert, progress())
    else:
        raise UnavailableError(status.reason, hint=await LLMOfferFinder(app).advice())
    return output.result(args, {"llm": name, "provider": provider}, f"{name} is ready.")


def _writer(app: Application, name: str) -> Expert | None:
    """The expert of that handle, if it is a chat LLM."""
    found = (each for each in app.experts if each.id == name and each.task == "text-generation")
    return next(found, None)


def _test(args: argparse.Namespace) -> int:
    def tell(trial: LLMTrial) -> None:
        if (profile := trial.profile) and profile.plans_tried:
            output.note(f"note    plans tried: {profile.plans_tried}, right: {profile.plans_right}")

    async def work(app: Application) -> int:
        llm = await app.llms.current()
        if llm is None:
            raise UnavailableError(app.llms.reason, hint=await LLMOfferFinder(app).advice())
        output.note(f"note    {app.llms.reason}")
        answer = await try_and_measure(app.llms, app.plan_check, tell)
        assert answer.profile
        profile, obeys = answer.profile, bool(answer.profile.keeps_schema)
        if args.json:
            record = {"llm": llm.name, "provider": llm.provider, "remote": llm.remote}
            record |= {"window": llm.window, "sees": llm.sees, "answer": answer.words}
            record |= {"first_seconds": round(answer.first, 2)}
            record |= {"seconds": round(answer.whole, 2), "ability": llm.ability}
            record |= asdict(profile)
            output.write_json(record)
        else:
            output.say(answer.words.strip())
            first, whole = answer.first, answer.whole
            output.note(f"note    first words after {first:.1f} s, all of it after {whole:.1f} s")
            kept = "It keeps" if obeys else "It does not keep"
            enforced = ", which its server enforces" if profile.enforces_schema else ""
            output.note(f"note    {kept} to the form that plans need{enforced}.")
            output.note(f"note    Measured: {profile.summary}; {profile.read_speed:.0f} read.")
            output.note(f"note    It is used for {llm.ability}, in a window of {profile.window}.")
        return output.DONE if obeys else output.PARTLY

    return session.run(args, work)


@app_command
async def _unload(args: argparse.Namespace, app: Application) -> int:
    name = await app.llms.unload()
    return output.result(args, {"unloaded": name}, f"{name} has left the memory.")


def _set_key(find: Callable[[argparse.Namespace], str], args: argparse.Namespace) -> int:
    import getpass

    address = find(args)
    place = api_keys.origin(address)
    # Never an argument: every program sees those, and the shell's history keeps them.
    typed = getpass.getpass(f"Key for {place}: ") if somebody_is_there() else whole_input()
    api_keys.keep(address, typed)
    return output.result(
        args, {"key_for": place}, f"The key for {place} is kept in the system's keyring."
    )


def _remove_key(find: Callable[[argparse.Namespace], str], args: argparse.Namespace) -> int:
    address = find(args)
    removed = api_keys.forget(address)
    if args.json:
        output.write_json({"key_for": api_keys.origin(address), "removed": removed})
    else:
        there = "is deleted" if removed else "was not in the keyring"
        output.say(f"The key for {api_keys.origin(address)} {there}.")
    return output.DONE


def _address(args: argparse.Namespace) -> str:
    address: str = args.address or session.load(args)[0].llm.address
    if not address:
        raise InputError("The settings name no LLM service.", hint="Say its address.")
    return address
