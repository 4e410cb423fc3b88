"""In which order files of tests are begun when several processes run them."""

from __future__ import annotations

from pathlib import Path

from tests.tools.order import LONG_SECONDS, begun, longest, taken

ROOT = Path(__file__).resolve().parents[2]


def test_of_both_kinds_the_longest_come_first_and_the_same_share_is_begun() -> None:
    waiting = [f"w{number}" for number in range(10)]
    computing = [f"c{number}" for number in range(90)]
    seconds = {file: 100 - index for index, file in enumerate(waiting)} | {"c7": 50, "c3": 40}
    order = begun([*computing, *waiting], frozenset(waiting), seconds)
    assert sorted(order) == sorted([*computing, *waiting])
    assert order[0] == "c7"
    assert [file for file in order if file in waiting] == waiting
    assert [file for file in order if file not in waiting][:3] == ["c7", "c3", "c0"]
    total = {"w": sum(seconds[file] for file in waiting), "c": 50 + 40 + 88}
    past = {"w": 0.0, "c": 0.0}
    for file in order:
        # What is begun is never further than one file ahead of the other kind.
        kind, other = file[0], "c" if file[0] == "w" else "w"
        assert past[kind] / total[kind] <= past[other] / total[other] + 1e-9
        past[kind] += seconds.get(file, 1)


def test_the_files_that_are_named_as_long_are_there() -> None:
    named = longest()
    assert [file for file in named if not (ROOT / file).is_file()] == []
    assert min(named.values()) >= LONG_SECONDS


def test_what_files_took_is_read_from_a_report() -> None:
    report = """<testsuites><testsuite>
      <testcase classname="tests.sim.test_whole" name="a[1]" time="2.5" />
      <testcase classname="tests.sim.test_whole.TestIt" name="b" time="3.5" />
      <testcase classname="tests.core.test_lists" name="c" time="0.5" />
    </testsuite></testsuites>"""
    assert taken(report) == {"tests/sim/test_whole.py": 6.0}
