"""What a command does: it prints, it waits, it reads, it asks, it ends."""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass
from typing import Final, NamedTuple, Protocol

from controllers.kinds.clustersim.target import Target

STEPS_MAX: Final = 20_000
"""Commands of one run; a script that has not ended by then is stopped."""

VALUE_LENGTH_MAX: Final = 64 * 1024
"""Characters of a variable, of what a pipe holds and of a file written here; the rest is cut."""

FOREVER_MS: Final = 1000 * 3600 * 24 * 365 * 100
"""How long waits what never goes on."""

MISSING: Final = 127
"""The exit code of a command that there is not."""


class Wrote(NamedTuple):
    """A text on standard output (1) or standard error (2)."""

    fd: int
    text: str


class Waits(NamedTuple):
    """Nothing happens for so many simulated milliseconds."""

    ms: int


class Watches(NamedTuple):
    """Nothing happens until somebody else changes a file; whoever plays it may go on sooner."""


class Reads(NamedTuple):
    """Nothing happens until what is sent to the command is there: its `Sent` has no text yet."""


class Asker(Protocol):
    """A shell that is about to send a request, as whoever plays it sees it."""

    now_ms: int
    steps_left: int

    @property
    def place(self) -> object:
        """Return the command that asks: the same one again is the same place of the script."""

    @property
    def goes_on(self) -> bool:
        """Return whether it stands in a loop that nothing ends."""

    def state(self) -> object:
        """Return all that what follows depends on, beside the place and what comes: it goes on alike from the same."""


class Asks(NamedTuple):
    """A request, or the look-up of a name, is about to be sent to a host."""

    host: str
    by: Asker


Happening = Wrote | Waits | Watches | Reads | Asks

Running = Generator[Happening, None, int]
"""What a command does; its exit code at the end."""


@dataclass(slots=True)
class Sent:
    """What is sent to a shell from outside; it is read once, and only by who asks for it."""

    text: str | None = ""
    """None while it is still being sent."""

    def taken(self) -> Generator[Reads, None, str]:
        """Return all of it; nothing where it was taken before."""
        while self.text is None:
            yield Reads()
        text, self.text = self.text, ""
        return text

    def upto(self, mark: str, most: int = VALUE_LENGTH_MAX) -> Generator[Reads, None, tuple[str, bool]]:
        """Return (its letters up to a mark, whether that was there), and let it go on after the mark."""
        while self.text is None:
            yield Reads()
        found = self.text.find(mark) if mark else -1
        end = len(self.text) if found < 0 else found
        if most < end:
            text, self.text = self.text[:most], self.text[most:]
            return text, True
        text, self.text = self.text[:end], self.text[end + 1 :]
        return text, found >= 0


class Came(NamedTuple):
    """What came of a request: `result` as a client's (`ok`, `error`, `refused`, `timeout`, `unresolved`, `outside`)."""

    result: str
    code: int = 0
    reason: str = ""
    address: str = ""
    """What the name meant; empty where it meant nothing."""
    body: str = ""
    type: str = "text/plain"
    """The media type of the body."""
    server: str = ""
    """What the program that answered calls itself; empty: it does not."""
    message: str = ""
    """Why nothing came, as a sentence."""

    @property
    def headers(self) -> list[tuple[str, str]]:
        """Return the headers of an answer, in order."""
        named = [("Server", self.server)] if self.server else []
        return [*named, ("Content-Type", self.type), ("Content-Length", str(len(self.body.encode())))]


class Meant(NamedTuple):
    """What a name means: the whole name, and its addresses.

    `alias`: what it stands for outside of the cluster, of which no address is known.
    """

    whole: str
    addresses: tuple[str, ...]
    alias: str = ""


class Asked(NamedTuple):
    """How something is asked for by HTTP."""

    method: str = "GET"
    headers: tuple[tuple[str, str], ...] = ()
    """Names in lower case."""
    body: str = ""


PLAIN: Final = Asked()


class Send(Protocol):
    """Sends what a container asks through the cluster."""

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        """Return what comes of a request."""

    def look_up(self, host: str) -> Meant | None:
        """Return what the cluster's name service says of a name; None: there is no such name."""


class Exit(Exception):
    """The shell ends."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class Leave(Exception):
    """`break` and `continue`."""

    def __init__(self, again: bool, levels: int) -> None:
        super().__init__(again)
        self.again, self.levels = again, levels


class Return(Exception):
    """A function, or a script that was read in, ends."""

    def __init__(self, code: int) -> None:
        super().__init__(code)
        self.code = code


class TooLong(Exception):
    """The script did more than is simulated."""
