"""A child's side of the supervisor's pipe: when the supervisor is gone, the child ends too."""

from __future__ import annotations

import os
import signal
import threading

from clustersim.runtime.supervisor import LIFELINE


def watch() -> None:
    """End this process (SIGTERM to itself) when the supervisor's end of the pipe closes; without one, do nothing."""
    text = os.environ.get(LIFELINE, "")
    if not text.isdecimal():
        return
    descriptor = int(text)

    def wait() -> None:
        try:
            while os.read(descriptor, 1):
                continue
        except OSError:
            return
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=wait, name="lifeline", daemon=True).start()
