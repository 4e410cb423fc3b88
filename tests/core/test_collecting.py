"""What stays is passed over by looks for reference cycles, until some of it leaves."""

from __future__ import annotations

import gc
from weakref import ref

from scheduler_core.kernels.collecting import leaving, pass_over, staying


class Ring:
    """Holds itself."""

    def __init__(self) -> None:
        self.itself = self


def test_what_stays_is_looked_at_again_once_it_leaves():
    gc.collect()
    try:
        with staying():
            assert not gc.isenabled()
            ring = Ring()
            found = ref(ring)
        assert gc.isenabled()
        assert gc.get_freeze_count() > 0
        del ring
        gc.collect()
        assert found() is not None, "it is passed over"
    finally:
        leaving()
    assert gc.get_freeze_count() == 0
    gc.collect()
    assert found() is None


def test_what_a_burst_has_made_is_passed_over_until_something_leaves():
    gc.collect()
    try:
        ring = Ring()
        found = ref(ring)
        pass_over()
        del ring
        gc.collect()
        assert found() is not None, "it is passed over"
    finally:
        leaving()
    gc.collect()
    assert found() is None
