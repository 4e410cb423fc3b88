"""Opening a session from a template, and seating people in it with what their role needs."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final

from django.db import transaction

from clustersim.classroom import importing, people
from clustersim.classroom.auth import TEACHER, Principal
from clustersim.classroom.polls import votes
from clustersim.classroom.polls.sealing import refuse_fork, seal_of
from clustersim.classroom.templates import IMPORT, TEMPLATES, Template
from clustersim.classroom.writing import refuse_first, write
from clustersim.feed import wake_owners
from clustersim.store import SqlStore, forking, open_store, retention, sessions
from clustersim.store.sessions import SessionRow
from controllers.bootstrap import command_objects, server_objects
from controllers.commands import REPLICAS
from controllers.kinds.clustersim.lesson import NAME as LESSON_NAME
from controllers.kinds.clustersim.lesson import RESOURCE as LESSON
from controllers.kinds.clustersim.poll import RESOURCE as POLLS
from controllers.kinds.table import KINDS, by_kind
from controllers.lesson import Package
from controllers.log.operations import Create, Delete
from controllers.log.store import Gone
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError, Cause, invalid
from scheduler_core.api.said import said

TITLE_LENGTH_MAX: Final = sessions.TITLE_LENGTH_MAX
SEED_MAX: Final = 2**53 - 1
"""The largest seed: exact in every JSON reader."""

NODES_PER_COST: Final = 25
"""Nodes of a template that count as one more session in `limits.OPENINGS`."""

IMPORT_COST: Final = 5
"""What opening a session from a file counts in `limits.OPENINGS`."""

FORK_SUFFIX_LENGTH: Final = 20
FORK_MOMENT: Final = re.compile(r" @ \d+$")
"""Characters of a fork's title that are left for the revision it goes on from."""

STUDENT_QUOTA: Final = {"pods": "50", "requests.cpu": "16", "requests.memory": "32Gi"}
"""What one student's namespace may hold: a third of a small teaching cluster's nodes full of pods."""

STUDENT_REQUESTS: Final = {"cpu": "100m", "memory": "200Mi"}
"""What a container of a student asks where it says nothing, or the quota would refuse it.

What scores reckon with for such a container anyway (upstream's `schedutil.GetNonzeroRequests`), so that they stay.
"""


@dataclass(frozen=True, slots=True)
class Opened:
    """A session just opened: its teacher, their token, the secret of their link, and what the file gave (import)."""

    session: SessionRow
    teacher: Principal
    token: str
    secret: str
    imported: Document | None = None


def cost(template: str) -> int:
    """Return what opening a session from a template counts in `limits.OPENINGS`: one, and more by its nodes."""
    if template == IMPORT:
        return IMPORT_COST
    plan = TEMPLATES.get(template)
    return 1 if plan is None else 1 + sum(group.count for group in plan.nodes) // NODES_PER_COST


def open_session(title: str, template: str, seed: int | None, teacher_name: str, manifest: str | None = None) -> Opened:
    """Make a session with the template's objects in it and its teacher's seat.

    Raises:
        ApiError: 503 too many are awake; 422 an unknown template; 400, 413 a file that cannot be read; 429 too many
            files at once. Nothing is made then.
    """
    check_room()
    if template == IMPORT:
        if not manifest:
            raise invalid(
                "Session", "clustersim.io", title, [Cause("manifest", said("give.file", "give the text of the file"))]
            )
        with importing.turn():
            entries = importing.entries_of(manifest.encode("utf-8", "surrogatepass"))
            opened = _open(title, template, TEMPLATES["empty"], seed, teacher_name)
            options = importing.Options("default", create_namespaces=True)
            store = open_store(opened.session.id)
            return replace(opened, imported=importing.import_objects(store, opened.teacher, entries, options))
    plan = TEMPLATES.get(template)
    if plan is None:
        known = ", ".join([*TEMPLATES, IMPORT])
        raise invalid(
            "Session",
            "clustersim.io",
            title,
            [
                Cause(
                    "template",
                    said("template.unknown", "{template!r} is none of {known}", template=template, known=known),
                )
            ],
        )
    return _open(title, template, plan, seed, teacher_name)


def open_lesson(
    title: str, package: Package, seed: int, teacher_name: str, lesson: Document, *, replicas: int = 1
) -> Opened:
    """Make a session for a lesson: nothing is on it, time stands, and its owner plays the first scene.

    Args:
        title: of the session.
        package: the lesson.
        seed: the session's.
        teacher_name: whose lesson it is.
        lesson: the object that says where the lesson stands.
        replicas: of the control plane, where another lesson's exit ticket needs more than this one.

    Raises:
        ApiError: 503 too many sessions are awake. Nothing is made then.
    """
    check_room()
    plan = TEMPLATES[package.template]
    bare = Template(plan.name, plan.title, pace=package.pace, replicas=max(plan.replicas, replicas))
    opened = _open(title, package.template, bare, seed, teacher_name)
    refuse_first(write(open_store(opened.session.id), [creation(lesson)]))
    wake_owners(opened.session.id)
    return opened


def open_cluster(
    title: str,
    documents: Sequence[Document],
    scheduler: Document,
    seed: int,
    teacher_name: str,
    *,
    prepare: Callable[[SqlStore], None] = lambda made: None,
) -> Opened:
    """Make a session that these objects are in, under a scheduler that is told to be so; its time stands.

    `prepare` writes what else is to be so before anybody runs it.

    Raises:
        ApiError: 503 too many sessions are awake; what an object is refused for. Nothing is made then.
    """
    check_room()
    plan = Template("empty", title, documents=tuple(documents), scheduler=scheduler, paused=True)
    return _open(title, plan.name, plan, seed, teacher_name, prepare)


def fork_session(
    forker: Principal, store: SqlStore, revision: int, *, prepare: Callable[[SqlStore], None] = lambda made: None
) -> Opened:
    """Make a session that goes on from a kept revision of the forker's; the forker is its teacher.

    Who is no teacher here takes no Secrets of others along. `prepare` writes what is to be otherwise there before
    anybody runs it.

    Raises:
        ApiError: 409 a poll is open to the forker; 410 the revision is no longer kept; 503 too many sessions are awake.
            Nothing is made then.
    """
    session = fork_asleep(forker, store, revision, prepare=prepare)
    with transaction.atomic():
        teacher = people.teacher_of(session)
        token, secret = people.new_token(teacher), people.new_link(teacher)
        sessions.wake(session.id)
    wake_owners(session.id)
    return Opened(session, teacher, token, secret)


def fork_asleep(
    forker: Principal,
    store: SqlStore,
    revision: int,
    seed: int | None = None,
    *,
    prepare: Callable[[SqlStore], None] = lambda made: None,
) -> SessionRow:
    """Make such a session and its teacher's seat, and let it sleep until somebody goes in.

    `seed` is another than its parent's.

    Raises:
        ApiError: as `fork_session`.
    """
    refuse_fork(forker, store)
    check_room()
    parent = sessions.get(store.session_id)
    try:
        replicas = store.list_at(REPLICAS, revision)
        since = max(store.compacted, retention.input_of(replicas, revision))
        withheld = () if forker.role == TEACHER else [kind.resource for kind in KINDS if kind.secret]
        session = forking.fork(
            store,
            _fork_title(parent.title, revision),
            revision,
            since=min(since, revision),
            withheld=withheld,
            own=forker.namespace,
            seed=seed,
        )
    except Gone as error:
        raise past_gone(revision, store.compacted) from error
    try:
        made = open_store(session.id)
        _leave_class(made)
        prepare(made)
    except BaseException:
        sessions.remove(session.id)
        raise
    with transaction.atomic():
        people.seat(session, forker.name, TEACHER)
        for one in seal_of(open_store(session.id)).polls:
            votes.carry(parent.id, session.id, one.poll)
    return session


def _fork_title(title: str, revision: int) -> str:
    """Return a fork's title: of a fork's fork, too, with one moment alone."""
    return f"{FORK_MOMENT.sub('', title)[: TITLE_LENGTH_MAX - FORK_SUFFIX_LENGTH]} @ {revision}"


def _leave_class(made: SqlStore) -> None:
    """Take a class's lesson out of a fork, and the questions that are answered: whoever plays on there leads nobody."""
    sealing = {one.poll for one in seal_of(made).polls}
    told = [one.name for one in made.list(POLLS)[0] if one.name not in sealing]
    lesson = [LESSON_NAME] if made.get(LESSON, "", LESSON_NAME) is not None else []
    if told or lesson:
        write(made, [Delete(POLLS, "", name) for name in told] + [Delete(LESSON, "", name) for name in lesson])


def past_gone(revision: int, compacted: int) -> ApiError:
    """Return the 410 of a revision that is no longer kept."""
    return ApiError(
        410,
        "Expired",
        said(
            "past.gone",
            "revision {revision} is no longer kept: the log reaches back to {compacted}",
            revision=revision,
            compacted=compacted,
        ),
    )


def check_room() -> None:
    """Refuse one session more where too many are awake.

    Raises:
        ApiError: 503.
    """
    if sessions.awake_count() >= sessions.AWAKE_MAX:
        message = said(
            "session.noRoom",
            "{awake_max} sessions are awake, and no more fit: try again in a minute, when one sleeps",
            awake_max=sessions.AWAKE_MAX,
        )
        raise ApiError(503, "ServiceUnavailable", message, retry_after_seconds=60)


def _open(
    title: str,
    template: str,
    plan: Template,
    seed: int | None,
    teacher_name: str,
    prepare: Callable[[SqlStore], None] = lambda made: None,
) -> Opened:
    with transaction.atomic():
        session = sessions.create(title, template, seed)
        fill(session.id, plan)
        prepare(open_store(session.id))
        teacher = people.seat(session, teacher_name, TEACHER)
        token, secret = people.new_token(teacher), people.new_link(teacher)
    wake_owners(session.id)
    return Opened(session, teacher, token, secret)


def fill(session_id: int, template: Template) -> None:
    """Write what every session begins with and what the template adds."""
    store = open_store(session_id)
    # What upstream's API server makes, it owns.
    refuse_first(write(store, [creation(one) for one in server_objects()], field_manager="kube-apiserver"))
    commands = command_objects(
        replicas=template.replicas, pace=template.pace, paused=template.paused, scheduler=template.scheduler
    )
    refuse_first(write(store, [creation(document) for document in (*commands, *template.objects())]))


def creation(document: Document) -> Create:
    """Return the operation that creates a document where its metadata says."""
    kind = by_kind(document["apiVersion"], document["kind"])
    namespace = document["metadata"].get("namespace", "default") if kind.namespaced else ""
    return Create(kind.resource, namespace, document)


def seat_student(session: SessionRow, name: str, base: str = "") -> tuple[Principal, str]:
    """Return (the student, a token) with the namespace, its quota and what its containers ask by default made."""
    with transaction.atomic():
        student = people.seat(session, name, "student", base)
        token = people.new_token(student)
        namespace = {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": student.namespace, "annotations": {"clustersim.io/created-by": student.slug}},
        }
        quota = {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": "student", "namespace": student.namespace},
            "spec": {"hard": dict(STUDENT_QUOTA)},
        }
        defaults = {
            "apiVersion": "v1",
            "kind": "LimitRange",
            "metadata": {"name": "student", "namespace": student.namespace},
            "spec": {"limits": [{"type": "Container", "defaultRequest": dict(STUDENT_REQUESTS)}]},
        }
        made = [creation(namespace), creation(quota), creation(defaults)]
        results = write(open_store(session.id), made)
        # A teacher may have made the namespace beforehand; the seat takes it as it is.
        refuse_first(
            result for result in results if result.error is not None and result.error.reason != "AlreadyExists"
        )
    return student, token
