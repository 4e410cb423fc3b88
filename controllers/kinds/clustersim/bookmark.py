"""Bookmarks: moments of the log that people have given a name."""

from __future__ import annotations

from typing import Any, Final

from controllers.kinds.clustersim.common import shown, with_spec
from controllers.kinds.columns import AGE, NAME
from controllers.registry import fields
from controllers.registry.kind import CLUSTERSIM_GROUP, Column, Kind, Lookup
from controllers.registry.models.clustersim_v1 import BookmarkSpec
from controllers.registry.structs import beyond
from scheduler_core.api.errors import Cause
from scheduler_core.api.said import said

RESOURCE: Final = "bookmarks.clustersim.io"

BOOKMARKS_MAX: Final = 200
"""Bookmarks of one session; one more is refused with 422: a list that nobody reads to its end helps nobody."""

NAME_LENGTH_MAX: Final = 40
"""Characters of a bookmark's name; a longer one is refused."""


def _validate(document: dict[str, Any]) -> list[Cause]:
    spec = document["spec"]
    causes = beyond(spec, BookmarkSpec, "spec")
    name = spec.get("name")
    if not isinstance(name, str) or not 1 <= len(name) <= NAME_LENGTH_MAX:
        causes.append(fields.bad("spec.name", name or "", f"give a text of 1 to {NAME_LENGTH_MAX} characters"))
    return causes


def _admit(document: dict[str, Any], lookup: Lookup) -> list[Cause]:
    others = lookup.list(RESOURCE)
    if len(others) >= BOOKMARKS_MAX:
        why = said(
            "bookmark.most",
            "a session has at most {bookmarks_max} bookmarks: delete one first",
            bookmarks_max=BOOKMARKS_MAX,
        )
        return [Cause("spec.name", why, "FieldValueForbidden")]
    name = document["spec"]["name"]
    if any(other["spec"]["name"] == name for other in others):
        return [
            Cause(
                "spec.name",
                said("bookmark.taken", "there is a bookmark {name!r} already: give another name", name=name),
                "FieldValueDuplicate",
            )
        ]
    return []


KIND: Final = Kind(
    "Bookmark",
    "bookmarks",
    group=CLUSTERSIM_GROUP,
    categories=("clustersim",),
    namespaced=False,
    asks=False,
    columns=(
        NAME,
        Column("Moment", "string", "What the moment is called.", shown("spec", "name")),
        Column("Revision", "string", "Its revision.", shown("spec", "revision")),
        AGE,
    ),
    defaults=with_spec,
    admit=_admit,
    validate=_validate,
    page={"spec": True},
)
