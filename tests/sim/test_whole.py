"""The simulation of the whole cluster itself: it is repeatable, and a planted defect is found and shrunk.

The seeds are run in `test_whole_seeds_*.py`; as many others as anybody likes: `python -m tests.sim.whole`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from itertools import islice
from pathlib import Path

import pytest

from controllers.admission import resourcequota
from tests.sim.whole.shrink import Failure, failing_step, run
from tests.sim.whole.steps import Step, steps_of
from tests.tools.patience import PATIENCE_SECONDS

ROOT = Path(__file__).parents[2]
PROGRAM = """
import os, sys
os.environ["DJANGO_SETTINGS_MODULE"] = "clustersim.settings"
import django
django.setup()
from tests.sim.whole.shrink import log_of
print(log_of(int(sys.argv[1]), int(sys.argv[2])))
"""


def log_sha256(seed: int, rows: int, hash_seed: str) -> str:
    command = [sys.executable, "-c", PROGRAM, str(seed), str(rows)]
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed}
    done = subprocess.run(
        command, cwd=ROOT, env=environment, capture_output=True, text=True, check=True, timeout=3 * PATIENCE_SECONDS
    )
    return done.stdout.strip()


def test_a_seed_gives_the_same_log_whatever_the_hash_seed_and_another_seed_another() -> None:
    first = log_sha256(21, 6_000, "0")
    assert log_sha256(21, 6_000, "4711") == first
    assert log_sha256(22, 300, "0") != log_sha256(21, 300, "0")


def test_a_planted_bug_is_found_and_shrunk_to_a_few_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is charged: a namespace gets more than its quota allows."""
    with monkeypatch.context() as planted:
        planted.setattr(resourcequota, "_pay", lambda *arguments: None)
        with pytest.raises(Failure, match="seed 17, step") as failed:
            run(17, 1_000)
        listed = [line.strip().removesuffix(",") for line in str(failed.value).splitlines() if "Step(" in line]
        steps = [eval(line, {"Step": Step}) for line in listed]
        assert 2 <= len(steps) <= 12
        # What is printed fails when it is run, and passes without the bug.
        assert failing_step(steps, 17, rest=False) is not None
    assert failing_step(steps, 17) is None


def test_a_seed_means_the_same_steps_every_time() -> None:
    assert list(islice(steps_of(4), 50)) == list(islice(steps_of(4), 50))
    assert list(islice(steps_of(4), 50)) != list(islice(steps_of(5), 50))
