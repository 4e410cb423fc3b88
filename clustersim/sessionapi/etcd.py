"""Routes of the store browser: which keys the store holds, as etcd would have them, and what lies under one."""

from __future__ import annotations

from typing import Final

from django.http import HttpResponse

from clustersim.classroom import roles
from clustersim.sessionapi.http import Call, answer
from controllers.flags.apiserver import ETCD_PREFIX
from controllers.flags.held import flags_of
from controllers.kinds.table import COMPUTED, TABLE
from controllers.log.store import Stored
from controllers.registry.kind import Kind
from scheduler_core.api.document import Document
from scheduler_core.api.errors import ApiError
from scheduler_core.api.said import said

KEYS_MAX: Final = 1_000
"""Keys of one answer; more are refused with 422."""

KEYS_DEFAULT: Final = 200


def show(call: Call) -> HttpResponse:
    """Answer `GET …/store?prefix=&limit=`: keys in order; or, with `key=`, what lies under one."""
    principal = call.principal
    root = flags_of(call.store)[ETCD_PREFIX]
    wanted = call.request.GET.get("key") or ""
    prefix = wanted or call.request.GET.get("prefix") or root
    limit = call.count("limit", KEYS_DEFAULT, KEYS_MAX)
    found: list[tuple[str, Stored]] = []
    for kind in TABLE.of(call.store).kinds:
        if kind in COMPUTED or kind.stored_as is not None or not _overlap(_root(kind, root), prefix):
            continue
        try:
            roles.check(principal, "list", kind.resource, None)
        except ApiError:
            # Such as others' Secrets: who may not list them does not see their keys.
            continue
        for one in call.seal.all_stored(call.store.list(kind.resource)[0]):
            key = kind.key_of(root, one.namespace, one.name)
            if key == wanted or (not wanted and key.startswith(prefix)):
                found.append((key, one))
    if wanted:
        if not found:
            raise ApiError(
                404,
                "NotFound",
                said("etcd.noKey", "there is no key {wanted!r}, or not with this role", wanted=wanted[:200]),
                name=wanted[:200],
            )
        return answer({**_row(*found[0]), "value": found[0][1].object})
    found.sort(key=lambda pair: pair[0])
    rows = [_row(key, one) for key, one in found[:limit]]
    return answer({"prefix": root, "revision": call.store.revision, "count": len(found), "keys": rows})


def _root(kind: Kind, root: str) -> str:
    """Return what all keys of a kind begin with."""
    return kind.key_of(root, "", "").rstrip("/") + "/"


def _overlap(one: str, other: str) -> bool:
    return one.startswith(other) or other.startswith(one)


def _row(key: str, stored: Stored) -> Document:
    return {
        "key": key,
        "resourceVersion": str(stored.revision),
        "bytes": stored.size,
        "resource": stored.resource,
        "namespace": stored.namespace,
        "name": stored.name,
    }
