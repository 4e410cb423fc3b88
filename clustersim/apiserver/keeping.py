"""What commands write in containers is kept: beside the pod, or beside the claim of the volume that it lies in."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from clustersim.apiserver.sessiontime import session_unix_ms
from clustersim.classroom.writing import apply, context_for
from clustersim.store import open_store
from controllers.kubelet.containers import Container
from controllers.kubelet.keeping import FILES, Change, Kept, changed, kept_by, mount_of, mounts_of, text_of
from controllers.kubelet.scripts import CLAIMS
from controllers.kubelet.shell.interpreter import Shell
from controllers.log.operations import Patch
from scheduler_core.api.containers import told_of_containers
from scheduler_core.api.errors import ApiError

TRIES: Final = 5
"""How often an object is read again that somebody else has changed meanwhile."""


@dataclass(slots=True)
class Keeper:
    """Keeps what one connection's commands write in a container."""

    session_id: int
    resource: str
    pod: Mapping[str, Any]
    container: Container
    _seen: dict[str, str | None] = field(default_factory=dict)

    def begins(self, shell: Shell) -> None:
        """Take what is there as known."""
        self._seen = shell.own()

    def keep(self, shell: Shell) -> None:
        """Write down what has changed since the last look."""
        files = shell.own()
        changes = changed(self._seen, files, 0)
        if not changes:
            return
        self._seen = files
        now_ms = session_unix_ms(open_store(self.session_id))
        of_pod: list[Kept] = []
        of_claims: dict[str, list[Kept]] = {}
        mounts = mounts_of(self.pod, self.container.spec)
        for change in changes:
            mount = mount_of(mounts, change.path)
            if mount is None:
                of_pod.append(_kept(change, change.path, now_ms, container=self.container))
            elif mount.claim:
                of_claims.setdefault(mount.claim, []).append(_kept(change, mount.inner(change.path), now_ms))
            else:
                of_pod.append(_kept(change, mount.inner(change.path), now_ms, volume=mount.volume))
        metadata = self.pod["metadata"]
        if of_pod:
            self._add(self.resource, metadata["name"], of_pod, uid=metadata["uid"])
        for claim, kept in of_claims.items():
            self._add(CLAIMS, claim, kept)

    def _add(self, resource: str, name: str, fresh: Iterable[Kept], *, uid: str = "") -> None:
        store, namespace = open_store(self.session_id), self.pod["metadata"]["namespace"]
        for left in reversed(range(TRIES)):
            stored = store.get(resource, namespace, name)
            if stored is None or (uid and stored.uid != uid):
                return
            runs = {one["name"]: int(one.get("restartCount") or 0) for one in told_of_containers(stored.object)}
            # What ended with a container's run is gone.
            kept = [one for one in kept_by(stored.object) if not one.container or runs.get(one.container) == one.run]
            version = {"resourceVersion": stored.object["metadata"]["resourceVersion"]}
            patch = {"metadata": {**version, "annotations": {FILES: text_of([*kept, *fresh])}}}
            try:
                apply(store, Patch(resource, namespace, name, patch), context_for(None, store))
                return
            except ApiError as error:
                if error.code != 409 or not left:
                    # What refuses every write now: the command has run all the same.
                    return


def _kept(change: Change, path: str, ms: int, *, container: Container | None = None, volume: str = "") -> Kept:
    if container is None:
        return Kept(path, ms, change.text, volume=volume)
    return Kept(path, ms, change.text, container.name, container.restarts)
