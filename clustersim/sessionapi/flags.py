"""Routes of the components' flags: what is in force, and other values. Answers come after the owner has obeyed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.http import HttpResponse

from clustersim.classroom import writing
from clustersim.classroom.auth import TEACHER
from clustersim.classroom.roles import guard_for
from clustersim.runtime import commands
from clustersim.sessionapi.http import Call, answer, refuse
from controllers.flags.flag import COMPONENTS
from controllers.flags.table import NAME, told_flags, wrong_flags
from controllers.flags.table import RESOURCE as FLAGS
from controllers.log.operations import Create
from scheduler_core.api.document import Document
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said


def show(call: Call) -> HttpResponse:
    """Answer `GET …/flags`."""
    _ = call.principal
    stored = call.store.get(FLAGS, "", NAME)
    return answer(told_flags(None if stored is None else stored.object.get("spec")))


def change(call: Call) -> HttpResponse:
    """Answer `PUT …/flags`: what it names is set, null sets the default, the rest stays."""
    principal = call.require(TEACHER)
    asked = _asked(call.body(COMPONENTS))
    if call.store.get(FLAGS, "", NAME) is None:
        document = {"apiVersion": "clustersim.io/v1", "kind": "Flags", "metadata": {"name": NAME}}
        # Where another was quicker, theirs is changed.
        writing.write(call.store, [Create(FLAGS, "", document)])

    def mutate(document: Document) -> None:
        spec = document.setdefault("spec", {})
        for component, values in asked.items():
            merged = {**(spec.get(component) or {}), **values}
            spec[component] = {name: text for name, text in merged.items() if text is not None}
        causes = wrong_flags(spec)
        if causes:
            raise refuse(*causes)

    observed = commands.ask(
        principal.session_id, FLAGS, NAME, mutate, actor=principal.actor, guard=guard_for(principal, commands=True)
    )
    return answer(told_flags(observed.get("spec")))


def _asked(body: Mapping[str, Any]) -> dict[str, dict[str, str | None]]:
    """Return the texts that a body names, null where a default is asked for.

    Raises:
        ApiError: 422.
    """
    asked: dict[str, dict[str, str | None]] = {}
    causes: list[Cause] = []
    for component, values in body.items():
        if not isinstance(values, Mapping):
            causes.append(
                Cause(component, said("flags.object", "give an object of flags by name, without their dashes"))
            )
            continue
        asked[component] = {}
        for name, value in values.items():
            if isinstance(value, bool):
                asked[component][name] = "true" if value else "false"
            elif value is None or isinstance(value, str | int | float):
                asked[component][name] = None if value is None else str(value)
            else:
                causes.append(
                    Cause(f"{component}.{name}"[:200], said("flags.text", "give a text, as on a command line"))
                )
    if causes:
        raise refuse(*causes)
    # A name that there is none of is refused with null too: a slip must not pass for done.
    unknown = wrong_flags({component: dict.fromkeys(values, "") for component, values in asked.items()})
    unknown = [cause for cause in unknown if cause.message.startswith("unknown flag")]
    if unknown:
        raise refuse(*unknown)
    return asked
