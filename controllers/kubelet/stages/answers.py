"""What containers print, as data: lines of logs, answers to commands, files and missing programs, by image."""

from __future__ import annotations

from collections.abc import Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Literal

import msgspec


class Every(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A line that comes again: `{n}` in it counts from 1."""

    line: str
    seconds: Annotated[int, msgspec.Meta(ge=1, le=86_400)] = 10


class Printed(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What containers of an image print by themselves, where their command does not say it."""

    image: str
    start: tuple[str, ...] = ()
    every: Every | None = None
    stop: tuple[str, ...] = ()


class Answer(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What a command prints that fits a shell pattern, in containers whose image fits another."""

    command: str
    image: str = "*"
    out: str = ""
    err: str = ""
    code: Annotated[int, msgspec.Meta(ge=0, le=255)] = 0


class File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A file of an image."""

    image: str
    path: str
    text: str


class Programs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What images have: only `has` where it is told, and nothing that they lack."""

    image: str
    has: tuple[str, ...] | None = None
    lacks: tuple[str, ...] = ()


class Whole(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Images, by patterns over full names, of which it is known where they have files: at or below `holds`.

    Where `programs` are told they have these and `more`, and no others.
    """

    images: tuple[str, ...]
    holds: tuple[str, ...]
    programs: tuple[str, ...] = ()
    more: tuple[str, ...] = ()


class Page(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What containers of an image answer to a request whose path fits a shell pattern."""

    body: str
    image: str = "*"
    path: str = "*"
    type: Literal["text/plain", "text/html", "application/json"] = "text/plain"
    server: Annotated[str, msgspec.Meta(pattern="^[ -~]*$", max_length=64)] = ""
    """What the program calls itself in the header `Server`; empty: it does not."""


class Root(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The folder whose files containers of an image serve, where others than the image's own lie there."""

    folder: Annotated[str, msgspec.Meta(pattern="^/.*[^/]$")]
    image: str = "*"
    settings: str = ""
    """The folder of `nginx.conf` and of `conf.d`, where the image is one of nginx."""


class Answers(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """All of it; of each list the first that fits counts, of files all that fit."""

    logs: tuple[Printed, ...] = ()
    commands: tuple[Answer, ...] = ()
    files: tuple[File, ...] = ()
    programs: tuple[Programs, ...] = ()
    pages: tuple[Page, ...] = ()
    roots: tuple[Root, ...] = ()
    whole: tuple[Whole, ...] = ()

    def root_of(self, image: str) -> Root | None:
        """Return which files an image serves; None: it serves none."""
        return next((one for one in self.roots if fnmatchcase(image, one.image)), None)

    def of_page(self, image: str, path: str) -> Page:
        """Return what a request is answered with; nothing is in it where the stages do not say it."""
        fits = (one for one in self.pages if fnmatchcase(image, one.image) and fnmatchcase(path, one.path))
        return next(fits, Page(""))

    def of_command(self, image: str, words: str) -> Answer | None:
        """Return what a command answers."""
        for one in self.commands:
            if fnmatchcase(image, one.image) and fnmatchcase(words, one.command):
                return one
        return None

    def of_logs(self, image: str) -> Printed | None:
        """Return what an image prints."""
        return next((one for one in self.logs if fnmatchcase(image, one.image)), None)

    def files_of(self, image: str) -> Mapping[str, str]:
        """Return path → text of an image's files."""
        return {one.path: one.text for one in self.files if fnmatchcase(image, one.image)}

    def leaves_free(self, image: str, path: str) -> bool:
        """Return whether an image, by its full name, is known to have nothing at a path."""
        whole = self._whole(image)
        return whole is not None and not any(path == top or path.startswith(f"{top}/") for top in whole.holds)

    def leaves_out(self, image: str, program: str) -> bool:
        """Return whether an image, by its full name, is known not to have a program."""
        whole = self._whole(image)
        return whole is not None and bool(whole.programs) and program not in (*whole.programs, *whole.more)

    def _whole(self, image: str) -> Whole | None:
        return next((one for one in self.whole if any(fnmatchcase(image, name) for name in one.images)), None)

    def lacks(self, image: str, program: str) -> bool:
        """Return whether the stages say of an image that it lacks just this program."""
        found = next((one for one in self.programs if fnmatchcase(image, one.image)), None)
        return found is not None and program in found.lacks

    def has(self, image: str, program: str) -> bool:
        """Return whether an image has a program."""
        found = next((one for one in self.programs if fnmatchcase(image, one.image)), None)
        return found is None or (program not in found.lacks and (found.has is None or program in found.has))
