"""The files that a shell sees: those of its container, and what was written and removed meanwhile."""

from __future__ import annotations

from typing import Final

from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.parameters import Segments
from controllers.kubelet.shell.patterns import compiled, of_pattern
from controllers.kubelet.shell.running import VALUE_LENGTH_MAX

LAST_WORD: Final = "/dev/termination-log"
"""The file whose text is the container's message when it has ended, where the pod names no other."""


_OF_IMAGES: Final = frozenset(
    {"app", "bin", "dev", "etc", "home", "lib", "lib64", "opt", "proc", "root", "sbin", "srv", "sys", "usr", "var"}
)
"""Folders at the root in which an image may have files that nobody has told of."""


def last_of(text: str) -> str:
    """Return what is kept of a file that grows: where it is too long, whole lines of its end."""
    if len(text) <= VALUE_LENGTH_MAX:
        return text
    half = text[-VALUE_LENGTH_MAX // 2 :]
    return half[half.find("\n") + 1 :]


class Disk:
    """What a shell does with files; who is one has these. A folder that was made is a file whose path ends with `/`."""

    __slots__ = ()

    inside: Inside
    folder: str
    written: dict[str, str]
    removed: set[str]
    certain: bool
    unsure: set[str]
    now_ms: int
    first_ms: int
    missed: list[str]
    lenient: bool
    unknown: set[str]
    pipes: dict[str, str]
    """Path → text of what `<(…)` stands for."""

    def path(self, name: str) -> str:
        """Return a name as a path from the root."""
        parts: list[str] = []
        for part in (name if name.startswith("/") else f"{self.folder}/{name}").split("/"):
            if part == "..":
                parts = parts[:-1]
            elif part not in ("", "."):
                parts.append(part)
        return "/" + "/".join(parts)

    def files(self) -> dict[str, str]:
        """Return path → text of all files that are there."""
        found = {**self.inside.files, **self.written}
        return {path: text for path, text in found.items() if path not in self.removed}

    def read(self, name: str) -> str | None:
        """Return a file's text; None where there is none."""
        path = self.path(name)
        if path in ("/dev/null", "/dev/stdin"):
            return ""
        if path in self.removed:
            return None
        if path in self.pipes:
            return self.pipes[path]
        return self.written.get(path, self.inside.files.get(path))

    def own(self) -> dict[str, str | None]:
        """Return path → text of what was written here, and None of what was removed."""
        return {**self.written, **dict.fromkeys(self.removed)}

    def change(self, path: str, text: str | None, *, more: bool = False) -> None:
        """Take what somebody else has written or, where there is no text, removed."""
        if more and text is not None:
            text = last_of((self.read(path) or "") + text)
        if text is None:
            self.removed.add(path)
        else:
            self.removed.discard(path)
            self.written[path] = text

    def lacks(self, name: str) -> bool:
        """Return whether it is certain that there is no such file; where an image may have it, remember that."""
        path = self.path(name)
        if not self.certain:
            # What the API puts into a volume comes later, too.
            sure = path in self.removed or self.inside.leaves_free(path, at_first=self.now_ms == self.first_ms)
            if not sure or self.is_folder(path):
                self.unsure.add(path)
                return False
            self.missed.append(path)
            return True
        if path in self.removed or path.split("/")[1] not in _OF_IMAGES or self.inside.is_volume(path):
            return True
        self.unsure.add(path)
        return False

    def misses(self, name: str) -> None:
        """Take note that a file was not found without which a program fails: it may well be there."""
        if not self.lacks(name) and self.lenient and not self.inside.is_volume(self.path(name)):
            self.unknown.add(name)

    def is_folder(self, name: str) -> bool:
        """Return whether a path is a folder: one that is there anyway, or above a file."""
        path = self.path(name)
        if path == "/" or path in self.inside.folders:
            return True
        return any(other.startswith(path + "/") for other in (*self.files(), *self.inside.folders))

    def write(self, name: str, text: str, *, more: bool) -> str:
        """Write a file; return what is wrong, else nothing."""
        path = self.path(name)
        if path.startswith("/dev/") and path != LAST_WORD:
            return ""
        if self.inside.is_read_only(path):
            return f"can't create {name}: Read-only file system"
        self.removed.discard(path)
        self.written[path] = last_of((self.read(name) or "") + text) if more else text[:VALUE_LENGTH_MAX]
        return ""

    def matching(self, pattern: Segments) -> list[str]:
        """Return the files and folders that a pattern names."""
        text = "".join(text for text, _ in pattern)
        rooted = text.startswith("/")
        top = "" if rooted else self.folder.rstrip("/")
        depth = text.rstrip("/").count("/") + (0 if rooted else top.count("/") + 1)
        wanted = compiled(of_pattern([(f"{top}/", True), *pattern] if not rooted else pattern, path=True))
        names = {"/".join(path.split("/")[: depth + 1]) for path in (*self.files(), *self.inside.folders)}
        end = "/" if text.endswith("/") else ""
        found = sorted(name for name in names if name.count("/") == depth and wanted.fullmatch(name + end))
        return [name + end if rooted else (name + end)[len(top) + 1 :] for name in found]
