"""`python -m tests.sim.whole`: random lives of a whole cluster, as many as are asked for (CONTRIBUTING.md)."""

from __future__ import annotations

import json
import os
import sys
from argparse import ArgumentParser
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any


def one(seed: int, rows: int, again: bool, kept: str) -> dict[str, Any]:
    """Run a seed; return what came of it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clustersim.settings")
    import django

    django.setup()
    from tests.sim.whole.shrink import Failure, log_of, run
    from tests.sim.whole.stores import InDatabase
    from tests.sim.whole.world import World
    from tests.tools import databases

    if kept:
        with TemporaryDirectory() as folder, databases.using(kept.removeprefix("sqlite"), Path(folder)):
            try:
                world = run(seed, rows, lambda number: World(number, kept=InDatabase))
            except Failure as failure:
                return {"seed": seed, "failed": str(failure)}
            same = world.books.log_sha256 == run(seed, rows).books.log_sha256
            return {"seed": seed, "events": world.store.revision, "asInMemory": "equal" if same else "differs"}
    try:
        world = run(seed, rows)
    except Failure as failure:
        return {"seed": seed, "failed": str(failure)}
    told: dict[str, Any] = {
        "seed": seed,
        "events": world.store.revision,
        "simTime": world.cluster.now_ms / 1000,
        "writes": world.writes,
        "faults": world.faults,
        "owners": world.owners,
        "leaders": world.books.changes,
        "logSha256": world.books.log_sha256,
    }
    if again:
        first, second = log_of(seed, rows), log_of(seed, rows)
        told["rerun"] = "equal" if first == second else "differs"
    return told


def seeds_of(text: str) -> list[int]:
    """Return the seeds that `1-20,33` names."""
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found


def main() -> int:
    """Run the seeds that are asked for, a line of JSON each; 1 where one failed."""
    parser = ArgumentParser(prog="python -m tests.sim.whole", description=__doc__)
    parser.add_argument("--seeds", type=seeds_of, default=seeds_of("1-20"), help="as 1-20 or 3,5,8 (default 1-20)")
    parser.add_argument("--events", type=int, default=20_000, help="rows of the log a run (default 20000)")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default 1)")
    parser.add_argument("--again", action="store_true", help="run each seed twice more and compare logSha256")
    parser.add_argument(
        "--store", default="", help="`sqlite`, or a postgres URL whose database may be emptied (default: in memory)"
    )
    asked = parser.parse_args()
    failed = 0
    with ProcessPoolExecutor(asked.jobs) as pool:
        for told in pool.map(partial(one, rows=asked.events, again=asked.again, kept=asked.store), asked.seeds):
            wrong = told.pop("failed", None)
            failed += wrong is not None or "differs" in (told.get("rerun"), told.get("asInMemory"))
            print(wrong or json.dumps(told), flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
