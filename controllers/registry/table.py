"""A table of kinds, and the ways in which kinds are looked up."""

from __future__ import annotations

from collections.abc import Iterable

from controllers.registry.kind import Kind


class Table:
    """Kinds in order, found by resource or by apiVersion and kind."""

    def __init__(self, kinds: Iterable[Kind], versions: Iterable[Kind] = (), computed: Iterable[Kind] = ()) -> None:
        """Take the kinds, further versions of them, and kinds of which nothing is stored; each name once.

        Raises:
            ValueError: two kinds have the same name.
        """
        self.kinds = tuple(kinds)
        self.served = (*self.kinds, *versions)
        self.computed = tuple(computed)
        self._by_resource = {kind.resource: kind for kind in (*self.served, *self.computed)}
        self._by_kind = {(kind.api_version, kind.kind): kind for kind in self.served}
        if not len(self.served) == len(self._by_resource) - len(self.computed) == len(self._by_kind):
            raise ValueError("two kinds have the same name")

    def kind_of(self, resource: str) -> Kind:
        """Return the kind of a group resource such as `pods` or `deployments.apps`.

        Raises:
            KeyError: no such resource.
        """
        return self._by_resource[resource]

    def by_kind(self, api_version: str, kind: str) -> Kind:
        """Return the kind that documents with this apiVersion and kind have.

        Raises:
            KeyError: no such kind.
        """
        return self._by_kind[(api_version, kind)]

    def find_resource(self, resource: str) -> Kind | None:
        """Return the kind of a group resource, or None."""
        return self._by_resource.get(resource)

    def find_kind(self, api_version: str, kind: str) -> Kind | None:
        """Return the kind with this apiVersion and kind, or None."""
        return self._by_kind.get((api_version, kind))
