"""What commands have written in containers, as it is kept: in an annotation of the pod, or of the claim of its volume.

So whoever reads the store knows the same files: the kubelet's probes, the next command, another owner, a fork. A file
of the container itself is gone with its run; one in a volume stays as long as the pod, one in a claim as long as that.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from controllers.kubelet.shell.disk import last_of

FILES: Final = "clustersim.io/files"
"""The annotation: a JSON list of `Kept`."""

FILES_MAX: Final = 64
"""Files that are kept of what commands write in one pod, and in one claim; the oldest are forgotten."""

FILE_LENGTH_MAX: Final = 16 * 1024
"""Characters of a file that are kept; the rest is cut, and a longer one is not copied into a container."""

FILES_BYTES_MAX: Final = 64 * 1024
"""Bytes of what is kept of one pod or claim; the oldest files are forgotten."""


class Kept(msgspec.Struct, frozen=True, omit_defaults=True, rename={"ms": "at"}):
    """The last that a command did to one file."""

    path: str
    """From the root, or from that of the volume."""
    ms: int
    """Unix milliseconds."""
    text: str | None = None
    """None: it was removed."""
    container: str = ""
    run: int = 0
    """Restarts before that run of the container."""
    volume: str = ""


class Change(NamedTuple):
    """A file is written at Unix `ms`, or removed where there is no text; `more`: the text comes to what is there."""

    ms: int
    path: str
    text: str | None
    more: bool = False


class Mount(NamedTuple):
    """A volume in a container that keeps what is written."""

    path: str
    volume: str
    claim: str
    """Empty: the volume goes with its pod."""
    within: str
    """The part of the volume that is mounted, without slashes around it."""

    def inner(self, path: str) -> str:
        """Return a path in the container as one in the volume."""
        return f"{self.within}/{path[len(self.path) :].lstrip('/')}".lstrip("/")

    def outer(self, path: str) -> str | None:
        """Return a path in the volume as one in the container; None where it is not mounted."""
        if not self.within:
            return f"{self.path}/{path}"
        return f"{self.path}{path[len(self.within) :]}" if path.startswith(self.within + "/") else None


def mounts_of(pod: Mapping[str, Any], container: Mapping[str, Any]) -> list[Mount]:
    """Return the volumes in which a container keeps what it writes, deeper ones first."""
    volumes = {one.get("name"): one for one in pod["spec"].get("volumes") or ()}
    found: list[Mount] = []
    for mount in container.get("volumeMounts") or ():
        volume: Mapping[str, Any] = volumes.get(mount.get("name")) or {}
        claim = str((volume.get("persistentVolumeClaim") or {}).get("claimName") or "")
        if "ephemeral" in volume:
            claim = f"{pod['metadata']['name']}-{volume['name']}"
        if not claim and not volume.keys() & {"emptyDir", "hostPath"}:
            continue
        path = "/" + str(mount.get("mountPath", "")).strip("/")
        found.append(Mount(path, str(volume["name"]), claim, str(mount.get("subPath") or "").strip("/")))
    return sorted(found, key=lambda one: -len(one.path))


def mount_of(mounts: Iterable[Mount], path: str) -> Mount | None:
    """Return the volume that a path of a container lies in."""
    return next((one for one in mounts if path.startswith(one.path.rstrip("/") + "/")), None)


def kept_by(document: Mapping[str, Any] | None) -> list[Kept]:
    """Return what a pod or claim keeps; nothing where somebody has written what cannot be read."""
    text = ((document or {}).get("metadata", {}).get("annotations") or {}).get(FILES)
    if not text:
        return []
    try:
        return msgspec.json.decode(text, type=list[Kept])
    except (msgspec.DecodeError, UnicodeEncodeError):
        return []


def text_of(kept: Iterable[Kept]) -> str:
    """Return the annotation's text: of each file the last that was done, the oldest left out where it is too much."""
    last = {(one.container, one.run, one.volume, one.path): one for one in sorted(kept, key=lambda one: one.ms)}
    left = sorted(last.values(), key=lambda one: one.ms)[-FILES_MAX:]
    left = [msgspec.structs.replace(one, text=one.text and one.text[:FILE_LENGTH_MAX]) for one in left]
    while len(text := msgspec.json.encode(left)) > FILES_BYTES_MAX:
        left = left[1:]
    return text.decode()


def changed(before: Mapping[str, str | None], after: Mapping[str, str | None], ms: int) -> list[Change]:
    """Return what has happened to files between two looks at path → text (None: removed)."""
    return [Change(ms, path, text) for path, text in after.items() if path not in before or before[path] != text]


def pieces(before: Mapping[str, str | None], after: Mapping[str, str | None], ms: int) -> list[Change]:
    """Return the same as `changed`; of a file that has grown only what came to it."""
    found: list[Change] = []
    for change in changed(before, after, ms):
        known, text = before.get(change.path), change.text
        grown = known and text is not None and text.startswith(known)
        found.append(Change(ms, change.path, text[len(known) :], more=True) if known and text and grown else change)
    return found


def folded(changes: Iterable[Change]) -> dict[str, Change]:
    """Return path → the last state of each file, of what was done to files in order of time."""
    found: dict[str, Change] = {}
    grown: dict[str, list[str]] = {}
    for one in changes:
        if one.more and one.text is not None:
            grown.setdefault(one.path, [(found[one.path].text or "") if one.path in found else ""]).append(one.text)
        else:
            grown.pop(one.path, None)
        found[one.path] = one
    for path, texts in grown.items():
        found[path] = Change(found[path].ms, path, last_of("".join(texts)))
    return found
