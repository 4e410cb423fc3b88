"""A person's writes beside the engine, from a process of their own as a web process makes them.

`python -m tests.bench.person SESSION`: writes a few ConfigMaps, as a process that has served before, says `ready`, and
goes on until it is told something or standard input closes; then prints the milliseconds of each write since as a JSON
list. The database is that of the environment.
"""

from __future__ import annotations

import json
import os
import select
import sys
from itertools import count
from time import perf_counter
from typing import Final

PAUSE_SECONDS: Final = 0.02
"""Between two writes: as fast as several people together click."""

WARM_WRITES: Final = 5
"""A process reads modules, schemas and the session's flags with its first writes."""


def main(session_id: int) -> int:
    """Write until told to stop, and print how long each write took."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    import django

    django.setup()
    from clustersim.classroom.writing import write
    from clustersim.store import open_store
    from controllers.log.operations import Create

    store = open_store(session_id)
    waits: list[float] = []
    for number in count():
        if number == WARM_WRITES:
            waits.clear()
            print("ready", flush=True)
        if number >= WARM_WRITES and select.select([sys.stdin], [], [], PAUSE_SECONDS)[0]:
            break
        told = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"note-{number}"}}
        began = perf_counter()
        results = write(store, [Create("configmaps", "default", told)])
        waits.append((perf_counter() - began) * 1000)
        assert results[0].error is None, results[0].error
    print(json.dumps(waits))
    return 0


if __name__ == "__main__":
    sys.exit(main(int(sys.argv[1])))
