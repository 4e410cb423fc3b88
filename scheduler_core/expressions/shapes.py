"""What is known of the type of a variable: objects with fields, lists, maps, single values, or nothing.

As upstream's DeclType (k8s.io/apiserver/pkg/cel/types.go).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Final


@dataclass(frozen=True)
class Shape:
    """A type: `cel` is how the language writes it."""

    cel: str


@dataclass(frozen=True)
class Object(Shape):
    """An object whose fields are known; they are worked out when they are first asked for. It may be null.

    `cel` is its name upstream, or `dyn` where it has none: then it passes for a map, too.
    """

    of: Callable[[], Mapping[str, Shape]]

    @cached_property
    def fields(self) -> Mapping[str, Shape]:
        """Return its fields."""
        return self.of()


DYN: Final = Shape("dyn")
TEXT: Final = Shape("string")
INT: Final = Shape("int")
BOOL: Final = Shape("bool")
TIME: Final = Shape("timestamp")
TEXTS: Final = Shape("list<string>")


def object_of(title: str = "dyn", /, **fields: Shape) -> Object:
    """Return an object's shape; the same one for the same fields, so that what is compiled is found again."""
    return _object_of(title, tuple(fields.items()))


@lru_cache(maxsize=512)
def _object_of(title: str, fields: tuple[tuple[str, Shape], ...]) -> Object:
    return Object(title, lambda: dict(fields))


def lazy(of: Callable[[], Mapping[str, Shape]], title: str = "dyn") -> Object:
    """Return an object's shape, whose fields may hold itself."""
    return Object(title, of)


_LISTED: Final = Shape("map<string,list<string>>")
_KIND: Final = object_of("kubernetes.GroupVersionKind", group=TEXT, version=TEXT, kind=TEXT)
_RESOURCE: Final = object_of("kubernetes.GroupVersionResource", group=TEXT, version=TEXT, resource=TEXT)

REQUEST: Final = object_of(
    "kubernetes.AdmissionRequest",
    kind=_KIND,
    resource=_RESOURCE,
    subResource=TEXT,
    requestKind=_KIND,
    requestResource=_RESOURCE,
    requestSubResource=TEXT,
    name=TEXT,
    namespace=TEXT,
    operation=TEXT,
    userInfo=object_of(
        "kubernetes.UserInfo", username=TEXT, uid=TEXT, groups=TEXTS, extra=Shape("map<string,list<string>>")
    ),
    dryRun=BOOL,
    options=DYN,
)
"""`request`: an AdmissionRequest without the objects."""

_TEXT_MAP: Final = Shape("map<string,string>")

NAMESPACE: Final = object_of(
    "kubernetes.Namespace",
    metadata=object_of(
        "kubernetes.NamespaceMetadata",
        name=TEXT,
        generateName=TEXT,
        namespace=TEXT,
        labels=_TEXT_MAP,
        annotations=_TEXT_MAP,
        UID=TEXT,
        creationTimestamp=TIME,
        deletionGracePeriodSeconds=INT,
        deletionTimestamp=TIME,
        generation=INT,
        resourceVersion=TEXT,
        finalizers=TEXTS,
    ),
    spec=object_of("kubernetes.NamespaceSpec", finalizers=TEXTS),
    status=object_of("kubernetes.NamespaceStatus", conditions=Shape("list<dyn>"), phase=TEXT),
)
"""`namespaceObject`: the namespace of the object, without owners and managed fields."""
