"""The elector: client-go's `tools/leaderelection` as a state machine without clock, chance or I/O.

Inputs are the present time and the answers to the requests it makes; outputs are requests on the lock (`Get`, `Create`,
`Update` with the version read) and notices. It never compares its clock with another's: a lease is judged from when
this elector saw the record change (`observed_ms`), so constant skew is harmless.

    request = elector.poll(now_ms)                 # at elector.next_ms() at the latest
    while request is not None:                     # one request is in flight at a time
        request = elector.answer(now_ms, <what the lock answered to request>)

The simulated replicas run it on simulated time, `clustersim.runtime` on real time for the ownership of sessions.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final, Literal, NamedTuple

JITTER_TENTHS: Final = 12
"""JitterFactor 1.2: while acquiring, a retry waits the period plus up to 1.2 periods more."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How an election is timed. Upstream's defaults: 15 s, 10 s, 2 s."""

    lease_duration_ms: int = 15_000
    renew_deadline_ms: int = 10_000
    retry_period_ms: int = 2_000
    release_on_cancel: bool = True
    trusts_stored_times: bool = False
    """Others' leases end when the time in the record, by this elector's own clock, says so: no client-go's elector does
    that, people believe it does."""

    @property
    def request_timeout_ms(self) -> int:
        """Return how long one request may take: half the deadline, as kube-scheduler configures its client."""
        return self.renew_deadline_ms // 2


@dataclass(frozen=True, slots=True)
class Record:
    """LeaderElectionRecord: what the lock holds. Times are Unix milliseconds on the clock of whoever wrote them."""

    holder: str
    lease_duration_seconds: int
    acquire_ms: int
    renew_ms: int
    transitions: int


@dataclass(frozen=True, slots=True)
class Get:
    """Read the lock. Answer: `Found`, `Missing` or `Failed`."""


@dataclass(frozen=True, slots=True)
class Create:
    """Create the lock. Answer: `Found` (as stored) or `Failed`."""

    record: Record


@dataclass(frozen=True, slots=True)
class Update:
    """Replace the record if the lock is still at `version`. Answer: `Found` (as stored) or `Failed`."""

    record: Record
    version: str


@dataclass(frozen=True, slots=True)
class Found:
    """The lock's record and its version."""

    record: Record
    version: str


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no lock."""


@dataclass(frozen=True, slots=True)
class Failed:
    """The request was refused or lost; `conflict` when somebody else was faster."""

    conflict: bool = False


Request = Get | Create | Update
Response = Found | Missing | Failed
Branch = Literal[
    "",
    "create",
    "create-refused",
    "get-failed",
    "held",
    "acquire-expired",
    "acquire-released",
    "acquire-refused",
    "renew-optimistic",
    "renew-optimistic-refused",
    "renew",
    "renew-refused",
    "timeout",
    "deadline",
    "release",
]
Notice = Literal["became leader", "stopped leading", "new leader"]

TRIES_MAX: Final = 8
"""Tries that are remembered until somebody clears the list: more come of no one event."""


class Try(NamedTuple):
    """What a try came to, and what this elector had seen of the lock when it did; times are on its own clock."""

    branch: Branch
    leading: bool
    """Whether it believed that it leads."""
    conflict: bool
    """The write was refused because somebody else was faster."""
    holder: str
    """Whom the record names that it had seen; empty: nobody."""
    seen_ms: int
    """When it saw that record change last."""
    expires_ms: int
    """When that lease is over, as it sees."""
    silent: bool
    """It has read the lock, and found what it had seen before."""


class Elector:
    """One candidate for one lock."""

    def __init__(
        self,
        identity: str,
        jitter: Callable[[int, int], int],
        settings: Settings | None = None,
        *,
        epoch_ms: int = 0,
    ) -> None:
        """Begin as a follower that tries at once.

        Args:
            identity: written as holderIdentity.
            jitter: (attempt, below) → a draw in 0 ≤ n < below.
            settings: the timing.
            epoch_ms: added to the present time wherever the record's wire times are made.
        """
        self.identity = identity
        self.settings = settings or Settings()
        self.leading = False
        self.observed: Record | None = None
        self.observed_ms = 0
        self.renewed_ms = 0
        """When this elector last renewed or acquired, on its own clock."""
        self.branch: Branch = ""
        """What the last try came to."""
        self.branches: dict[Branch, int] = {}
        """How often tries came to what."""
        self.attempt = 0
        self.notices: list[Notice] = []
        """What happened since somebody last cleared the list."""
        self.tries: deque[Try] = deque(maxlen=TRIES_MAX)
        """What tries came to since then."""
        self._jitter = jitter
        self.epoch_ms = epoch_ms
        """Follows the wall clock where that is stepped; no duration is measured by it."""
        self._version = ""
        self._raw: Record | None = None
        self._silent = False
        self._reported = ""
        self._next_try_ms: int | None = None
        self._deadline_ms: int | None = None
        self._in_flight: Request | None = None
        self._sent_ms = 0
        self._read_attempt = 0
        """The try that last read the lock; an update in another try is optimistic."""
        self._stopped = False

    # -- what drives it -----------------------------------------------------------------------------------------

    def next_ms(self) -> int | None:
        """Return when `poll` has something to do at the latest; None: at once (before the first poll) or never."""
        if self._stopped:
            return None
        waiting_until_ms = self._sent_ms + self.settings.request_timeout_ms
        times = [self._next_try_ms if self._in_flight is None else waiting_until_ms, self._deadline_ms]
        known = [time for time in times if time is not None]
        return min(known) if known else None

    def poll(self, now_ms: int) -> Request | None:
        """Return the next request that is due, if any."""
        if self._stopped:
            return None
        if self._in_flight is not None and now_ms >= self._sent_ms + self.settings.request_timeout_ms:
            self._in_flight = None
            self._failed("timeout", now_ms)
        if self.leading and self._deadline_ms is not None and now_ms >= self._deadline_ms:
            self.branch = "deadline"
            self._remember("deadline")
            self._stop()
            return None
        if self._in_flight is not None:
            return None
        if self._next_try_ms is not None and now_ms < self._next_try_ms:
            return None
        return self._try(now_ms)

    def answer(self, now_ms: int, response: Response) -> Request | None:
        """Take the answer to the request in flight; return a request that follows from it at once."""
        request = self._in_flight
        if request is None or self._stopped:
            return None
        self._in_flight = None
        match request:
            case Get():
                return self._got(response, now_ms)
            case Create():
                self._created(response, now_ms)
            case Update():
                return self._updated(request, response, now_ms)
        return None

    def cancel(self, now_ms: int) -> Update | None:
        """Step down on request; return the write that releases the lock, where it is held."""
        was_leading = self.leading
        held = self.observed
        # Another may hold it by now, as who leads by a slow clock has just read: that one's is not given up.
        releases = was_leading and held is not None and self.is_holder() and self.settings.release_on_cancel
        if releases:
            self._remember("release")
        self._stop()
        if not releases or held is None:
            return None
        self.branch = "release"
        wire_ms = self.epoch_ms + now_ms
        return Update(Record("", 1, wire_ms, wire_ms, held.transitions), self._version)

    def is_holder(self) -> bool:
        """Return whether the record last observed names this elector."""
        return self.observed is not None and self.observed.holder == self.identity

    def lease_is_valid(self, now_ms: int) -> bool:
        """Return whether the observed lease has not run out yet, as far as this elector can tell."""
        return self.observed is not None and self._expires_ms(self.observed) > now_ms

    def _expires_ms(self, observed: Record) -> int:
        """Return when the lease is over, on this elector's own clock."""
        trusts = self.settings.trusts_stored_times and not self.is_holder()
        since_ms = observed.renew_ms - self.epoch_ms if trusts else self.observed_ms
        return since_ms + 1000 * observed.lease_duration_seconds

    # -- one try ------------------------------------------------------------------------------------------------

    def _try(self, now_ms: int) -> Request:
        self.attempt += 1
        self._silent = False
        if self.leading and self._deadline_ms is None:
            self._deadline_ms = now_ms + self.settings.renew_deadline_ms
        if self.is_holder() and self.lease_is_valid(now_ms) and self._version:
            return self._send(Update(self._renewal(now_ms), self._version), now_ms)
        return self._send(Get(), now_ms)

    def _got(self, response: Response, now_ms: int) -> Request | None:
        match response:
            case Failed():
                self._failed("get-failed", now_ms)
                return None
            case Missing():
                self._version = ""
                return self._send(Create(self._fresh(now_ms, 0)), now_ms)
            case Found(record, version):
                self._version = version
                self._silent = record == self._raw
                if not self._silent:
                    self._observe(record, now_ms)
                    self._raw = record
                if record.holder and self.lease_is_valid(now_ms) and not self.is_holder():
                    self._failed("held", now_ms)
                    return None
                return self._send(Update(self._renewal(now_ms), version), now_ms)

    def _created(self, response: Response, now_ms: int) -> None:
        match response:
            case Found(record, version):
                self._version = version
                self._came_to("create")
                self._observe(record, now_ms)
                self._succeeded(now_ms)
            case Failed() | Missing():
                self._failed("create-refused", now_ms, conflict=_is_conflict(response))

    def _updated(self, request: Update, response: Response, now_ms: int) -> Request | None:
        before = self.observed
        optimistic = self._read_attempt != self.attempt
        match response:
            case Found(record, version):
                self._version = version
                # What it had seen until now is what the try is told with.
                self._came_to(self._branch_of(before, optimistic))
                self._observe(record, now_ms)
                self._succeeded(now_ms)
                return None
            case Failed() | Missing():
                conflict = _is_conflict(response)
                if optimistic:
                    self.branch = "renew-optimistic-refused"
                    self._remember(self.branch, conflict=conflict)
                    return self._send(Get(), now_ms)
                self._failed("renew-refused" if self.is_holder() else "acquire-refused", now_ms, conflict=conflict)
                return None

    def _branch_of(self, before: Record | None, optimistic: bool) -> Branch:
        if before is not None and before.holder == self.identity:
            return "renew-optimistic" if optimistic else "renew"
        return "acquire-expired" if before is not None and before.holder else "acquire-released"

    def _send(self, request: Request, now_ms: int) -> Request:
        if isinstance(request, Get):
            self._read_attempt = self.attempt
        self._in_flight = request
        self._sent_ms = now_ms
        return request

    # -- records ------------------------------------------------------------------------------------------------

    def _fresh(self, now_ms: int, transitions: int) -> Record:
        wire_ms = self.epoch_ms + now_ms
        return Record(self.identity, self.settings.lease_duration_ms // 1000, wire_ms, wire_ms, transitions)

    def _renewal(self, now_ms: int) -> Record:
        """Return the record to write over the observed one: a renewal keeps its acquire time and transitions."""
        observed = self.observed
        assert observed is not None, "a renewal follows an observation"
        if self.is_holder():
            return replace(self._fresh(now_ms, observed.transitions), acquire_ms=observed.acquire_ms)
        return self._fresh(now_ms, observed.transitions + 1)

    def _observe(self, record: Record, now_ms: int) -> None:
        self.observed = record
        self.observed_ms = now_ms
        if record.holder != self._reported:
            self._reported = record.holder
            if record.holder:
                self.notices.append("new leader")

    # -- what a try comes to ------------------------------------------------------------------------------------

    def _succeeded(self, now_ms: int) -> None:
        self.renewed_ms = now_ms
        self._deadline_ms = None
        self._next_try_ms = now_ms + self.settings.retry_period_ms
        if not self.leading:
            self.leading = True
            self.notices.append("became leader")

    def _came_to(self, branch: Branch, *, conflict: bool = False) -> None:
        self.branch = branch
        self.branches[branch] = self.branches.get(branch, 0) + 1
        self._remember(branch, conflict=conflict)

    def _remember(self, branch: Branch, *, conflict: bool = False) -> None:
        observed = self.observed or _NOTHING
        expires_ms = self._expires_ms(observed)
        holder, seen_ms = observed.holder, self.observed_ms
        self.tries.append(Try(branch, self.leading, conflict, holder, seen_ms, expires_ms, self._silent))

    def _failed(self, branch: Branch, now_ms: int, *, conflict: bool = False) -> None:
        self._came_to(branch, conflict=conflict)
        period_ms = self.settings.retry_period_ms
        if self.leading:
            self._next_try_ms = now_ms + period_ms
        else:
            self._next_try_ms = now_ms + period_ms + self._jitter(self.attempt, period_ms * JITTER_TENTHS // 10)

    def _stop(self) -> None:
        if self.leading:
            self.notices.append("stopped leading")
        self.leading = False
        self._in_flight = None
        self._stopped = True


_NOTHING: Final = Record("", 0, 0, 0, 0)
"""What an elector has seen of a lock that it has not read."""


def _is_conflict(response: Response) -> bool:
    return isinstance(response, Failed) and response.conflict
