"""NamespaceLifecycle: objects are made in namespaces that are there and stay; three namespaces are never deleted.

Source: k8s.io/apiserver/pkg/admission/plugin/namespace/lifecycle.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from controllers.registry.admission import Attempt, Plugin, Verb
from controllers.registry.kind import Kind
from scheduler_core.api.errors import Cause, forbidden, not_found

NAMESPACES: Final = "namespaces"
IMMORTAL: Final = frozenset({"default", "kube-system", "kube-public"})


def _watches(verb: Verb, kind: Kind, subresource: str) -> bool:
    if verb == "delete":
        return kind.resource == NAMESPACES
    return verb == "create" and kind.namespaced


def _admit(attempt: Attempt) -> str:
    if attempt.verb == "delete":
        if attempt.title in IMMORTAL:
            raise attempt.refuse("this namespace may not be deleted")
        return ""
    home = attempt.lookup.get(NAMESPACES, "", attempt.namespace)
    check_home(home, attempt.namespace, attempt.kind.stored_resource, attempt.title)
    return ""


def check_home(home: Mapping[str, Any] | None, name: str, resource: str, title: str) -> None:
    """Refuse that something is made in a namespace that is not there or goes away.

    Raises:
        ApiError: 403, 404.
    """
    if home is None:
        raise not_found(NAMESPACES, name)
    if "deletionTimestamp" in home["metadata"]:
        why = f"unable to create new content in namespace {name} because it is being terminated"
        refusal = forbidden(resource, title, why)
        refusal.causes = [Cause("metadata.namespace", f"namespace {name} is being terminated", "NamespaceTerminating")]
        raise refusal


PLUGIN: Final = Plugin(
    "NamespaceLifecycle",
    "Refuses objects in namespaces that are not there or are going away, and the deletion of `default`, `kube-system` "
    "and `kube-public`.",
    watches=_watches,
    mutate=_admit,
)
