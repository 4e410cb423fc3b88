"""The route of Compare: two schedulers on the same pods and the same seed. docs/session-api.md."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import msgspec
from django.http import HttpResponse

from clustersim.classroom import limits, opening
from clustersim.documents import one_yaml
from clustersim.sessionapi.http import Call, answer, flag_field, number_field, refuse
from clustersim.store import history
from controllers.log.store import ADDED, Gone
from controllers.scheduler.modelling import Modelling
from controllers.scheduler.past import Past
from controllers.whatif.changes import Change, read_changes
from controllers.whatif.compare.comparing import check, compare
from controllers.whatif.compare.inputs import Given, present, with_arrivals
from controllers.whatif.compare.sides import spec_of_side
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause
from scheduler_core.api.said import said

ARRIVALS_MAX: Final = 500
"""Arrivals that a comparison lets come again; more are refused with 422."""

SIDE_SECONDS: Final = 4.0
"""Real seconds that one side of a comparison may run; then it ends where it is, and the answer says so."""

SEED_MAX: Final = 2**53 - 1

INPUTS: Final = ("now", "anew")


def compare_two(call: Call) -> HttpResponse:
    """Answer `POST …/compare`: anybody in the session may ask, nothing is changed."""
    _ = call.principal
    body = call.body(("a", "b", "input", "seed", "optimum"))
    sides = [_changes(body, name) for name in ("a", "b")]
    seed = number_field(body, "seed", 0, SEED_MAX, whole=True)
    wants_optimum = flag_field(body, "optimum")
    past = call.past()
    specs = [
        spec_of_side(past.settings.spec, call.store.plugins, changes, name)
        for name, changes in zip("ab", sides, strict=True)
    ]
    limits.spend(limits.COMPARISONS, call.session.id)
    given, still = _given(call, past, body.get("input", "now"))
    check(given)
    told = compare(
        given,
        specs,
        seed=call.store.seed if seed is None else int(seed),
        plugins=call.store.plugins,
        go_on=_for_a_while,
    )
    optimum = _optimum(past, given) if still and wants_optimum else None
    return answer({"revision": past.revision, **told, "optimum": optimum})


def _for_a_while() -> Callable[[], bool]:
    """Return what says whether the time of a side that begins now is not over."""
    until = time.monotonic() + SIDE_SECONDS
    return lambda: time.monotonic() < until


def _changes(body: Document, name: str) -> list[Change]:
    """Return what a side changes; a scheduler may be given as text, JSON or YAML as `PUT …/scheduler` takes it."""
    written = body.get(name, [])
    if not isinstance(written, list):
        raise refuse(
            Cause(
                name,
                said(
                    "compare.changes",
                    'give a list of changes, such as [{{"weight": {{"plugin", "weight"}}}}]; none: as it is',
                ),
            )
        )
    if not written:
        return []
    read: list[Any] = []
    for one in written:
        text = one.get("scheduler") if isinstance(one, dict) else None
        read.append({"scheduler": one_yaml(text.encode())} if isinstance(text, str) and len(one) == 1 else one)
    try:
        return read_changes(read)
    except ApiError as wrong:
        causes = [replace(cause, field=cause.field.replace("changes", name, 1)) for cause in wrong.causes]
        raise refuse(*causes) from wrong


def _given(call: Call, past: Past, wanted: Any) -> tuple[Given, bool]:
    """Return the input, and whether it is the cluster as it stands."""
    if wanted in INPUTS:
        return present(past, anew=wanted == "anew"), True
    if not isinstance(wanted, dict) or set(wanted) != {"last"}:
        raise refuse(
            Cause("input", said("compare.input", 'give "now", "anew", or {{"last": 40}}: the pods that came last'))
        )
    count = int(number_field(wanted, "last", 1, ARRIVALS_MAX, whole=True) or 1)
    store = call.store
    try:
        rows = [
            row
            for row in history.log_rows(store, store.compacted, past.revision)
            if row.resource == "pods" and row.verb == ADDED
        ][-count:]
        if not rows:
            raise refuse(
                Cause(
                    "input.last", said("compare.noArrivals", "the log holds no pod that came; let pods be made first")
                )
            )
        documents = store.rows([row.revision for row in rows])
        arrivals = [(row.now_ms, msgspec.json.decode(documents[row.revision][1])) for row in rows]
        return with_arrivals(past.at(rows[0].revision - 1), arrivals), False
    except Gone as error:
        raise opening.past_gone(store.compacted, store.compacted) from error


def _optimum(past: Past, given: Given) -> Document:
    """Return the best placement of all pods at once; `problem` where the model has none for them."""
    try:
        found = Modelling(past).optima(lambda pod: pod.uid in given.played)
    except ApiError as no:
        return {"problem": no.causes[0].message if no.causes else no.message}
    solver = found["solver"]
    placed = sum(one["pods"] for one in solver["utility"]["placed"])
    return {"placed": placed, "proven": solver["proven"], "gap": solver["gap"], "placement": solver["placement"]}
