"""What words, conditions and redirections need of the shell in which they stand."""

from __future__ import annotations

from collections.abc import Generator, Iterator
from typing import Protocol

from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.parameters import Segments
from controllers.kubelet.shell.running import Happening, Sent, Wrote
from controllers.kubelet.shell.tree import Script
from controllers.kubelet.shell.variables import Elements


class Words(Protocol):
    """What words need of their shell."""

    bash: bool
    options: set[str]
    arguments: tuple[str, ...]

    def variable(self, name: str) -> str | None:
        """Return a variable's value; None where it has none."""

    def held(self, name: str) -> str | None:
        """Return what a name holds that is a variable's."""

    def elements(self, name: str) -> Elements:
        """Return the elements of an array, in order."""

    def element(self, name: str, index: str) -> str | None:
        """Return an element of an array."""

    def put(self, name: str, text: str, index: str | None = None, *, more: bool = False) -> None:
        """Give a variable a value."""

    def put_all(self, name: str, items: list[tuple[str | None, str]], *, more: bool = False) -> None:
        """Make a variable an array."""

    def number_text(self, name: str, index: str | None) -> str:
        """Return what a name in a sum holds."""

    def put_number(self, name: str, index: str | None, value: int) -> None:
        """Give a name in a sum a value."""

    def is_keyed(self, name: str) -> bool:
        """Return whether the elements of an array have names."""

    def output(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return what it prints."""

    def output_file(self, script: Script) -> Generator[Happening, None, str]:
        """Run a script; return the path of a file with what it prints."""

    def matching(self, pattern: Segments) -> list[str]:
        """Return the files and folders that a pattern names."""

    def spend(self, work: int) -> None:
        """Count work as steps."""


class Surroundings(Words, Protocol):
    """What conditions and redirections need besides: files, and what is read."""

    inside: Inside
    sent: Sent
    inputs: dict[int, Sent]
    unknown: set[str]
    folder: str
    code: int
    now_ms: int
    begun_ms: int
    steps_left: int

    def read(self, name: str) -> str | None:
        """Return a file's text; None where there is none."""

    def write(self, name: str, text: str, *, more: bool) -> str:
        """Write a file; return what is wrong, else nothing."""

    def path(self, name: str) -> str:
        """Return a name as a path from the root."""

    def lacks(self, name: str) -> bool:
        """Return whether it is certain that there is no such file."""

    def is_folder(self, name: str) -> bool:
        """Return whether a path is a folder."""

    def knows(self, name: str) -> bool:
        """Return whether a program is known, and the image has it."""

    def traced(self, text: str) -> Iterator[Wrote]:
        """Print a command before it runs, where that is asked for."""
