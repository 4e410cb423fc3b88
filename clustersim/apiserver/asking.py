"""Requests that commands in containers send (`kubectl exec web -- curl http://shop`), through the session as it is."""

from __future__ import annotations

import time
from hashlib import sha256
from typing import Final

from clustersim.apiserver.virtual import ReadView
from controllers.flags.flag import InForce
from controllers.flags.held import flags_of
from controllers.kinds.clustersim.target import Target
from controllers.kubelet.shell.running import Came
from controllers.kubelet.stages.answers import Answers
from controllers.proxy.asking import Asking
from scheduler_core.api.document import Document

FRESH_SECONDS: Final = 1.0
"""How old the network may be that a request goes through: a script sends many, and each look reads all pods."""


class Wire:
    """Sends the requests of one pod's commands."""

    def __init__(self, view: ReadView, pod: Document, answers: Answers) -> None:
        """Read nothing yet."""
        self._view, self._pod, self._answers = view, pod, answers
        self._network: Asking | None = None
        self._read_at = 0.0
        self._sent = 0

    def __call__(self, target: Target) -> Came:
        """Return what comes of a request."""
        now = time.monotonic()
        if self._network is None or now - self._read_at > FRESH_SECONDS:
            view = self._view
            flags = InForce(flags_of(view))
            self._network, self._read_at = Asking(view.list, flags, self._answers, view.unix_ms()), now
        self._sent += 1
        return self._network.send(self._pod, target, self._choose)

    def _choose(self, purpose: str, below: int) -> int:
        """Draw: every request of a pod anew, also of two commands that begin at one moment."""
        seed = f"{self._pod['metadata']['uid']}/{purpose}/{self._sent}/{self._read_at}"
        return int.from_bytes(sha256(seed.encode()).digest()[:8]) % below
