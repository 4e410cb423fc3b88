"""Requests through the session as it is: those of commands in containers (`kubectl exec web -- curl http://shop`), of
clients by `…/proxy`, and by a forwarded port.
"""

from __future__ import annotations

import time
from hashlib import sha256
from typing import Final

from clustersim.apiserver.virtual import ReadView
from controllers.flags.flag import InForce
from controllers.flags.held import flags_of
from controllers.kinds.clustersim.target import Target
from controllers.kubelet.shell.running import PLAIN, Asked, Came, Meant
from controllers.kubelet.stages.answers import Answers
from controllers.proxy.asking import Api, Asking, forbidden, listed
from scheduler_core.api.document import Document

FRESH_SECONDS: Final = 1.0
"""How old the network may be that a request goes through: a script sends many, and each look reads all pods."""


class Line:
    """The network that requests go through, read anew where it is too old."""

    def __init__(self, view: ReadView, answers: Answers, api: Api = forbidden) -> None:
        """Read nothing yet; `api` answers for the API server."""
        self._view, self._answers, self._api = view, answers, api
        self._network: Asking | None = None
        self.read_at = 0.0

    def network(self) -> Asking:
        """Return it."""
        now = time.monotonic()
        if self._network is None or now - self.read_at > FRESH_SECONDS:
            view = self._view
            flags = InForce(flags_of(view))
            self._network, self.read_at = listed(view.list, flags, self._answers, view.unix_ms(), self._api), now
        return self._network


class Wire:
    """Sends the requests of one pod's commands."""

    def __init__(self, view: ReadView, pod: Document, answers: Answers, api: Api = forbidden) -> None:
        """Read nothing yet; `api` answers for the API server."""
        self._line, self._pod = Line(view, answers, api), pod
        self._sent = 0

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        """Return what comes of a request."""
        network = self._line.network()
        self._sent += 1
        return network.send(self._pod, target, self._choose, asked)

    def look_up(self, host: str) -> Meant | None:
        """Return what a name means to the pod."""
        return self._line.network().look_up(self._pod, host)

    def _choose(self, purpose: str, below: int) -> int:
        """Draw: every request of a pod anew, also of two commands that begin at one moment."""
        seed = f"{self._pod['metadata']['uid']}/{purpose}/{self._sent}/{self._line.read_at}"
        return int.from_bytes(sha256(seed.encode()).digest()[:8]) % below
