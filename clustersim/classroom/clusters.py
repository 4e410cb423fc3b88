"""Opening a session on a real cluster as kubectl told it, held still at the decision about a pod that waits there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from django.db import transaction

from clustersim.classroom import importing, manifests, people
from clustersim.classroom.auth import TEACHER
from clustersim.classroom.opening import Opened, check_room, creation
from clustersim.classroom.writing import SESSION_ACTOR, refuse_first, write, writes
from clustersim.feed import wake_owners
from clustersim.store import SqlStore, open_store, sessions
from controllers.bootstrap import SCHEDULER, identity_of, initial_objects
from controllers.scheduler.past import Past
from controllers.scheduler.reporting import envelope_of
from controllers.whatif.deciding import Decision, attempt_now
from controllers.whatif.why import find_waiting, read_by_scheduler, scheduler_of, spec_for
from scheduler_core.api.document import Document
from scheduler_core.snapshot.node_info import PodInfo

TEMPLATE: Final = "cluster"
"""What such a session is made from."""

CLUSTER_BYTES_MAX: Final = 64 * 1024 * 1024
"""Bytes of a cluster's objects as kubectl prints them, that a session is opened from; more are refused with 413."""

CLUSTER_OBJECTS_MAX: Final = 20_000
"""Objects of such a file; more are refused with 413."""


@dataclass(frozen=True, slots=True)
class OpenedAt:
    """A session, and the pod that it was opened for."""

    opened: Opened
    pod: str


def open_cluster(title: str, seed: int | None, teacher_name: str, data: bytes, wanted: str = "") -> OpenedAt:
    """Make a session of a cluster's objects, its time held, with the decision about a pod that waits.

    Of the file only what a scheduler reads is kept; owners that did not come along are left out, or their pods would be
    collected once time runs.

    Args:
        title: of the session.
        seed: of it; None: a new one.
        teacher_name: of who opens it.
        data: JSON or YAML, as `kubectl get nodes,pods,… -A -o json` prints it.
        wanted: the pod, as `manage.py why` takes it.

    Raises:
        ApiError: 400, 413 for a file that cannot be read; 404, no pod waits; 503 too many sessions are awake; 429 too
            many files at once. Nothing is made then.
    """
    check_room()
    with importing.turn():
        found = manifests.objects(data, bytes_max=CLUSTER_BYTES_MAX, objects_max=CLUSTER_OBJECTS_MAX)
        objects = list(read_by_scheduler(found))
        names = {scheduler_of(document) for resource, document in objects if resource == "pods"}
        known = {document["metadata"]["uid"] for _, document in objects}
        with transaction.atomic():
            session = sessions.create(title, TEMPLATE, seed)
            store = open_store(session.id)
            first = initial_objects(scheduler=spec_for(None, names))
            refuse_first(write(store, [creation(_held(document)) for document in first]))
            with writes(store, SESSION_ACTOR) as writing:
                for resource, document in objects:
                    metadata = document["metadata"]
                    place = resource, metadata.get("namespace", ""), metadata["name"]
                    # A namespace that every session has keeps its uid.
                    if writing.get(*place) is None:
                        writing.put(*place, _owned(document, known))
            pod = _decide(store, wanted)
            teacher = people.seat(session, teacher_name, TEACHER)
            token, secret = people.new_token(teacher), people.new_link(teacher)
    wake_owners(session.id)
    return OpenedAt(Opened(session, teacher, token, secret), pod.key)


def _held(document: Document) -> Document:
    """Return a first object of a session; its clock stands."""
    return {**document, "spec": {**document["spec"], "paused": True}} if document["kind"] == "Clock" else document


def _owned(document: Document, known: set[str]) -> Document:
    metadata = document["metadata"]
    owners = [owner for owner in metadata.get("ownerReferences") or () if owner.get("uid") in known]
    kept = {name: value for name, value in metadata.items() if name != "ownerReferences"}
    return {**document, "metadata": {**kept, **({"ownerReferences": owners} if owners else {})}}


def _decide(store: SqlStore, wanted: str) -> PodInfo:
    """Take the decision about the pod, and keep its trace as the first scheduler's."""
    past = Past(store)
    pod, _ = find_waiting(past, wanted)
    attempt: Mapping[str, Any] = attempt_now(past, pod, 1)
    decision = Decision(past, attempt)
    taken = decision.taken(decision.world())
    name = attempt["input"]["profile"]
    profile = next(one for one in past.settings.configuration.profiles if one.scheduler_name == name)
    told = {
        **attempt,
        "profile": profile.scheduler_name,
        "era": profile.rules.era,
        "scoreMax": profile.rules.score_max,
        "point": "PostFilter",
    }
    envelope = envelope_of(told, identity_of(SCHEDULER, 0), store.revision, 0)
    envelope |= {"explanation": taken["explanation"]} if "explanation" in taken else {}
    stored = store.get("pods", pod.pod.namespace, pod.pod.name)
    assert stored is not None
    with writes(store, SESSION_ACTOR) as writing:
        writing.trace(pod.uid, 1, envelope, msgspec.json.encode(taken["result"]))
        # A trace stands at the row that follows it.
        writing.put("pods", pod.pod.namespace, pod.pod.name, stored.object)
    return pod
