"""`experts key`: the key of the Hugging Face Hub, with which experts are asked over the network."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from jarvis_desktop.cli import output
from jarvis_desktop.cli.arguments import add_shared
from jarvis_desktop.core.errors import InputError

if TYPE_CHECKING:
    from jarvis_desktop.compose_app import App


def add(actions: Any) -> None:
    """Add the commands to those of `experts`."""
    key = actions.add_parser("key", help="the key with which experts are asked over the network")
    steps = key.add_subparsers(title="actions", metavar="ACTION", required=True)
    for name, about, command in (
        ("set", "keep the Hub's key, typed unseen or read from stdin, in the keyring", _set),
        ("remove", "delete it from the keyring", _remove),
        ("test", "ask the Hub whose key it is, and what it may do", _test),
    ):
        parser = steps.add_parser(name, help=about)
        add_shared(parser)
        parser.set_defaults(command=command)


def _set(args: argparse.Namespace) -> int:
    import getpass

    from jarvis_desktop import keys
    from jarvis_desktop.cli.keyboard import somebody_is_there, whole_input

    # Never an argument: those are seen by every program, and kept in the shell's history.
    asked = "Key of the Hugging Face Hub (hf_…): "
    keys.keep_hub_key(getpass.getpass(asked) if somebody_is_there() else whole_input())
    if args.json:
        output.write_json({"key_for": keys.HUB})
    else:
        output.say("The key of the Hugging Face Hub is kept in the system's keyring.")
        output.note("note    Try it with: jarvis-desktop experts key test")
    return output.DONE


def _remove(args: argparse.Namespace) -> int:
    from jarvis_desktop import keys

    removed = keys.forget(keys.HUB)
    if args.json:
        output.write_json({"key_for": keys.HUB, "removed": removed})
    else:
        there = "is deleted" if removed else "was not in the keyring"
        output.say(f"The key of the Hugging Face Hub {there}.")
    return output.DONE


def _test(args: argparse.Namespace) -> int:
    from jarvis_desktop.cli import session

    async def work(app: App) -> int:
        if not app.policy.allows_downloads:
            raise InputError("The mode is offline, so nothing is asked.", hint="Change the mode.")
        account = await app.api.account()
        if args.json:
            output.write_json({"account": account.name, "may_call": account.may_call})
        else:
            output.say(f"The key is taken; it is that of {account.name}.")
            if account.may_call is False:
                output.note(
                    "note    It may not make calls to Inference Providers: give it that permission "
                    "at https://huggingface.co/settings/tokens"
                )
        return output.PARTLY if account.may_call is False else output.DONE

    return session.run(args, work)
