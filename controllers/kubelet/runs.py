"""A run of a container as its script is played: as far as it is known, which is until it asks something.

Each request is sent at the moment at which the script sends it, through the network as it is then; what it comes to is
kept with the run. So the kubelet looks at a run whenever it asks, and knows its end when nothing is left to be asked.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from controllers.kubelet.keeping import Change, pieces
from controllers.kubelet.outcomes import LONGEST_MS, QUIET, REQUEST_MS, Outcome
from controllers.kubelet.playing import can_play, shell_of
from controllers.kubelet.shell.disk import LAST_WORD
from controllers.kubelet.shell.inside import Inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.running import FOREVER_MS, Asks, Exit, Reads, Sent, TooLong, Waits, Watches, Wrote
from controllers.kubelet.turning import Turns, Wait
from controllers.kubelet.wire import Present, Sending

CHANGES_MAX: Final = 10_000
"""Times that a run writes or removes a file; what follows is not known."""

AHEAD_MS: Final = 180_000
"""So far ahead of the present a loop is played that nothing ends."""

SPARE_STEPS: Final = 50_000
"""Commands that are played of all turns of such a loop, beside those of other scripts."""

FILES_LENGTH_MAX: Final = 256 * 1024
"""Characters that a run writes to files; what follows is not known."""

REQUESTS_MAX: Final = 200
"""Requests of one run, beside those of a loop that asks the same again; a script that sends more runs on and on."""

BURST_MAX: Final = 20
BURST_MS: Final = 1_000
"""So many requests of a script that lets no time pass take as long, although each is answered at once."""

STEPS_A_REQUEST: Final = 20
"""Commands that are played more for each of these."""

AGAIN_MS: Final = 1_000
"""After this long a request is sent that could not be, since the API server was out of reach."""

MESSAGE_LENGTH_MAX: Final = 4096
LOG_LENGTH_MAX: Final = 2048
"""Letters of what a container leaves behind as its last word; of its log where it leaves nothing.

Source: pkg/kubelet/container (MaxContainerTerminationMessageLength, …LogLength), v1.34.
"""

_UNPLAYED: Final = (ArithmeticError, LookupError, RecursionError, TypeError, ValueError)
"""What cannot be played is no fault of the kubelet."""


@dataclass(slots=True)
class Run:
    """What one run of a container has come to."""

    around: tuple[Change, ...]
    """What others do to its files, as it was played."""
    outcome: Outcome | None = None
    """None: not known; one that asks: it is known further when it has."""
    changes: list[Change] = field(default_factory=list)
    """What it does to files, in order of time."""
    known_ms: int = FOREVER_MS
    """From when on (Unix) it is not known what it does."""
    sending: Sending | None = None
    player: Player | None = None
    """Plays on; None: all is played."""

    @property
    def waits(self) -> Wait | None:
        """Return how a loop waits that asks again and again; None: it is not in one."""
        return None if self.player is None else self.player.waits

    @property
    def rests(self) -> bool:
        """Return whether it is in a loop that nothing ends, and is played on when that is due."""
        return self.player is not None and self.player.rests

    def go_on(self, present: Present) -> bool:
        """Play on up to the present; whether there was anything to play."""
        player = self.player
        if player is None or not player.is_due(present.unix_ms):
            return False
        player.play(present)
        if player.over:
            self.player = None
        return True

    def look_again(self, unix_ms: int) -> None:
        """Somebody has changed what a loop asks for: it asks with its next turn."""
        if self.player is not None:
            self.player.look_again(unix_ms)


def begin(
    inside: Inside, container: Mapping[str, Any], around: tuple[Change, ...], unix_ms: int, sending: Sending | None
) -> Run:
    """Begin to play what a container was started with at a moment.

    Args:
        inside: what it sees.
        container: from the spec.
        around: what others do to its files, in order of time.
        unix_ms: when it was started.
        sending: sends its requests; None: what comes of them is not known.
    """
    if not inside.words:
        # What an image does of itself is taken to write nothing that anybody asks for.
        return Run(around)
    if not can_play(inside, inside.words, asks=sending is not None):
        return Run(around, known_ms=unix_ms)
    if sending is not None:
        sending.begin()
    run = Run(around, sending=sending)
    run.player = Player(inside, container, run, unix_ms)
    return run


class Player:
    """Plays a run to its end, until it clearly runs on and on, or until it asks."""

    def __init__(self, inside: Inside, container: Mapping[str, Any], run: Run, begun_ms: int) -> None:
        """Begin before the first command; times are in milliseconds since the beginning, `begun_ms` is Unix."""
        self.over = False
        self.waits: Wait | None = None
        self._run, self._container, self._begun_ms = run, container, begun_ms
        shell = self._shell = shell_of(inside, begun_ms, asks=run.sending is not None)
        shell.send, shell.spare = run.sending, SPARE_STEPS
        if container.get("stdin"):
            shell.sent = Sent(None)
        self._running = shell.call(inside.words)
        self._files = _Noted(shell, run, begun_ms)
        self._turns = Turns()
        self._passed_ms, self._due_ms, self._requests = 0, 0, 0
        self._burst, self._burst_ms = 0, 0
        self._printed = ""
        self._asks: Asks | None = None
        self._asked = False
        self._known_ms: int | None = None
        """From when on it would not be known what it does, did it not rest."""

    def is_due(self, unix_ms: int) -> bool:
        """Return whether it goes on at a moment: it does, up to what it asks later."""
        if self._asks is None:
            return self._begun_ms + self._passed_ms <= max(unix_ms, self._begun_ms) + AHEAD_MS
        return self._begun_ms + self._due_ms <= unix_ms

    @property
    def rests(self) -> bool:
        """Return whether more is known of it as time goes on."""
        return self._known_ms is not None

    def look_again(self, unix_ms: int) -> None:
        """Ask with the next turn, where it waits in a loop."""
        if self.waits is not None:
            self._due_ms = self.waits.at_or_after(unix_ms - self._begun_ms)
            self._told()

    def play(self, present: Present) -> None:
        """Play on up to the present."""
        try:
            self._play(present)
        except _UNPLAYED:
            self._run.outcome, self._run.known_ms, self.over = None, self._begun_ms, True
        if self.over:
            self._running.close()

    def _play(self, present: Present) -> None:
        run = self._run
        if self._known_ms is not None:
            run.known_ms, self._known_ms = self._known_ms, None
        try:
            while self._passed_ms <= LONGEST_MS:
                if self._asks is not None and not self._sends(self._asks, present):
                    return
                one = next(self._running)
                if run.sending is not None and run.sending.outside:
                    self._ends_unseen()
                if isinstance(one, Wrote):
                    self._printed = (self._printed + one.text)[-LOG_LENGTH_MAX:]
                elif isinstance(one, Waits):
                    self._pass(one.ms)
                    if self._shell.lasting_loops and not self.is_due(present.unix_ms):
                        self._rests()
                        return
                elif isinstance(one, Watches):
                    coming_ms = self._files.coming_ms
                    self._pass(FOREVER_MS if coming_ms is None else coming_ms - self._begun_ms - self._passed_ms)
                elif isinstance(one, Reads):
                    # What will be sent to it is not known.
                    self._end(None)
                    return
                else:
                    self._ask(one)
        except StopIteration as end:
            self._end(self._outcome(int(end.value)))
        except Exit as end:
            self._end(self._outcome(end.code))
        except TooLong:
            self._end(Outcome(FOREVER_MS, 0))
        else:
            self._end(Outcome(FOREVER_MS, 0))
        if self._shell.unknown or (run.sending is not None and run.sending.outside):
            # It has called what is not known here, or asked for what lies outside of the cluster.
            run.outcome = None

    def _rests(self) -> None:
        """Go on when it is time: it is in a loop that nothing ends."""
        self._pass(0)
        run = self._run
        run.outcome = None if self._shell.unknown else Outcome(FOREVER_MS, 0)
        if self._known_ms is None:
            self._known_ms = run.known_ms
        run.known_ms = min(self._known_ms, self._begun_ms + self._passed_ms)

    def _pass(self, ms: int) -> None:
        self._files.passes(self._passed_ms, ms)
        self._passed_ms += ms

    def _ask(self, asks: Asks) -> None:
        """Plan a request.

        Raises:
            TooLong: there is no end of them.
        """
        if asks.by.goes_on or self._shell.unknown:
            # Of a loop that nothing ends, and of what has done something unknown, no end will be known.
            self._ends_unseen()
        coming_ms = self._files.coming_ms
        self.waits = self._turns.next(asks, self._passed_ms, None if coming_ms is None else coming_ms - self._begun_ms)
        if not self._turns.repeats:
            self._requests += 1
            asks.by.steps_left += STEPS_A_REQUEST
            if self._requests > REQUESTS_MAX:
                self._ends_unseen()
        self._burst = self._burst + 1 if self._passed_ms == self._burst_ms else 1
        self._burst_ms = self._passed_ms
        if self.waits is None and self._burst > BURST_MAX:
            later_ms = self._passed_ms + BURST_MS
            self.waits = Wait(frozenset(), later_ms, BURST_MS, later_ms)
        self._asks, self._due_ms = asks, self._passed_ms if self.waits is None else self.waits.due_ms
        self._told()

    def _ends_unseen(self) -> None:
        self._run.known_ms = min(self._run.known_ms, self._begun_ms + self._passed_ms)
        raise TooLong

    def _sends(self, asks: Asks, present: Present) -> bool:
        """Let a request be sent, if it is time; whether it is."""
        sending = self._run.sending
        assert sending is not None, "without a network no program asks"
        if not self.is_due(present.unix_ms):
            return False
        network = present.network()
        if network is None:
            self._due_ms = present.unix_ms - self._begun_ms + AGAIN_MS
            self._told()
            return False
        moment_ms = self._passed_ms if self.waits is None else min(self._due_ms, self.waits.due_ms)
        asks.by.now_ms += moment_ms - self._passed_ms
        self._pass(moment_ms - self._passed_ms)
        self._turns.sent(asks, moment_ms)
        self._asks, self.waits, self._asked = None, None, True
        if not network.knows(sending.pod, asks.host):
            self._shell.unknown.add(asks.host)
            self._ends_unseen()
        sending.at(self._begun_ms + moment_ms, network)
        return True

    def _told(self) -> None:
        self._run.outcome = Outcome(self._due_ms, 0, asks=True)

    def _end(self, outcome: Outcome | None) -> None:
        self._pass(0)
        if outcome is None:
            self._run.known_ms = min(self._run.known_ms, self._begun_ms + self._passed_ms)
        self._run.outcome, self.over = outcome, True

    def _outcome(self, code: int) -> Outcome:
        message = self._shell.read(str(self._container.get("terminationMessagePath") or LAST_WORD)) or ""
        if not message and code and self._container.get("terminationMessagePolicy") == "FallbackToLogsOnError":
            message = self._printed
        ms = max(self._passed_ms, REQUEST_MS) if self._asked else self._passed_ms
        doubtful = not QUIET.isdisjoint(self._shell.failed)
        return Outcome(ms, code, message=message[:MESSAGE_LENGTH_MAX], doubtful=doubtful)


class _Noted:
    """The files of a run while it is played: what it does is noted, what others do comes at its time."""

    def __init__(self, shell: Shell, run: Run, begun_ms: int) -> None:
        self._shell, self._run, self._begun_ms = shell, run, begun_ms
        self._coming = deque(run.around)
        self._room = FILES_LENGTH_MAX
        self._take(begun_ms)

    @property
    def coming_ms(self) -> int | None:
        """Return when others change something next (Unix); None: they do not."""
        return self._coming[0].ms if self._coming else None

    def passes(self, passed_ms: int, ms: int) -> None:
        """Note what was done until so many milliseconds after the beginning; then `ms` pass."""
        shell, run, now_ms = self._shell, self._run, self._begun_ms + passed_ms
        for change in pieces(self._seen, shell.own(), now_ms):
            self._room -= 0 if change.text is None else len(change.text)
            if len(run.changes) >= CHANGES_MAX or self._room < 0:
                run.known_ms = min(run.known_ms, now_ms)
                break
            run.changes.append(change)
        if shell.unknown:
            run.known_ms = min(run.known_ms, now_ms)
        self._take(now_ms + ms)

    def _take(self, until_ms: int) -> None:
        while self._coming and self._coming[0].ms <= until_ms:
            one = self._coming.popleft()
            self._shell.change(one.path, one.text, more=one.more)
        self._seen = self._shell.own()
