"""Routes of bookmarks: moments of the log that people have given a name, for everybody in the session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from django.http import HttpResponse

from clustersim.classroom import limits, opening, people, writing
from clustersim.classroom.auth import CREATED_BY, STUDENT, TEACHER
from clustersim.sessionapi.http import Call, answer, number_field, refuse
from controllers.kinds.clustersim.bookmark import NAME_LENGTH_MAX
from controllers.kinds.clustersim.bookmark import RESOURCE as BOOKMARKS
from controllers.log.operations import Create, Delete, Operation
from controllers.log.store import Gone, Stored
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

STUDENT_BOOKMARKS_MAX: Final = 20
"""Bookmarks of one student; one more is refused with 403."""


def show(call: Call) -> HttpResponse:
    """Answer `GET …/bookmarks`: in order of their revisions."""
    _ = call.principal
    compacted = call.store.compacted
    found = [_told(stored, compacted) for stored in call.store.list(BOOKMARKS)[0]]
    return answer(sorted(found, key=lambda one: (one["revision"], one["name"])))


def create(call: Call) -> HttpResponse:
    """Answer `POST …/bookmarks {"name", "revision"?}`."""
    principal = call.require_acting(TEACHER, STUDENT)
    body = call.body(("name", "revision"))
    name = people.clean_name(body.get("name"), longest=NAME_LENGTH_MAX)
    store = call.store
    newest = store.revision
    revision = int(number_field(body, "revision", 1, newest, whole=True) or newest)
    if principal.role == STUDENT:
        limits.spend(limits.STUDENT_WRITES, principal.participant_id)
        own = [one for one in store.list(BOOKMARKS)[0] if _author(one.object) == principal.slug]
        if len(own) >= STUDENT_BOOKMARKS_MAX:
            why = said(
                "bookmark.studentsMost",
                "a student has at most {student_bookmarks_max} bookmarks: delete one first",
                student_bookmarks_max=STUDENT_BOOKMARKS_MAX,
            )
            raise ApiError(403, "Forbidden", why)
    try:
        at_ms = store.ms_at(revision)
    except Gone as error:
        raise opening.past_gone(revision, store.compacted) from error
    document = {
        "apiVersion": "clustersim.io/v1",
        "kind": "Bookmark",
        "metadata": {"generateName": "bookmark-"},
        "spec": {"name": name, "revision": revision, "atMs": at_ms},
    }
    return answer(_told(_apply(call, Create(BOOKMARKS, "", document)), store.compacted), 201)


def remove(call: Call) -> HttpResponse:
    """Answer `DELETE …/bookmarks {"name", "revision"?}`: teachers any, students their own."""
    principal = call.require_acting(TEACHER, STUDENT)
    body = call.body(("name", "revision"))
    name = people.clean_name(body.get("name"), longest=NAME_LENGTH_MAX)
    revision = number_field(body, "revision", 1, call.store.revision, whole=True)
    for stored in call.store.list(BOOKMARKS)[0]:
        spec = stored.object["spec"]
        if spec["name"] != name or revision not in (None, spec["revision"]):
            continue
        if principal.role != TEACHER and _author(stored.object) != principal.slug:
            raise ApiError(
                403,
                "Forbidden",
                said(
                    "bookmark.others", "the bookmark {name!r} is somebody else's: ask them, or the teacher", name=name
                ),
            )
        _apply(call, Delete(BOOKMARKS, "", stored.name))
        return HttpResponse(status=204)
    where = "" if revision is None else f" at revision {revision}"
    raise ApiError(
        404,
        "NotFound",
        said("bookmark.unknown", "there is no bookmark {name!r}{where}", name=name, where=where),
        name=name,
    )


def _apply(call: Call, operation: Operation) -> Stored:
    """Write one bookmark in a person's name.

    Raises:
        ApiError: 409, the name is taken; 422 with the fields of the body.
    """
    principal = call.principal
    context = writing.web_context(
        principal.actor, call.store, creator=principal.creator, field_validation="Strict", guard=None
    )
    try:
        return writing.apply(call.store, operation, context)
    except ApiError as error:
        if not error.causes:
            raise
        if any(cause.reason == "FieldValueDuplicate" for cause in error.causes):
            raise ApiError(409, "AlreadyExists", error.causes[0].said or error.causes[0].message) from error
        raise refuse(*(replace(cause, field=_field(cause.field)) for cause in error.causes)) from error


def _field(path: str) -> str:
    """Return the field of the body that a path of the object means."""
    return path.removeprefix("spec.")


def _author(document: Mapping[str, Any]) -> str:
    return str((document["metadata"].get("annotations") or {}).get(CREATED_BY, ""))


def _told(stored: Stored, compacted: int) -> dict[str, Any]:
    spec = stored.object["spec"]
    return {
        "name": spec["name"],
        "revision": spec["revision"],
        "simTime": spec["atMs"] / 1000,
        "createdBy": _author(stored.object),
        "kept": spec["revision"] >= compacted,
    }
