"""The table of rules: lessons and polls name them by id, so ids and words are held here."""

from __future__ import annotations

from typing import Final

from controllers.rules.scheduling import MISTAKES
from controllers.rules.table import RULES

IDS: Final = (
    "engine",
    "fewest-victims",
    "lowest-first",
    "lowest-priority-node",
    "emptiest-node",
    "fullest-node",
    "least-used",
    "first-in-list",
    "always-preempts",
    "pdb-forbids",
    "reserved-seat",
    "instant-detection",
    "exact-expiry",
    "needs-sync-clocks",
    "lease-means-one",
    "refused-means-stop",
    "scheduler-pushes",
    "choice-is-fact",
    "system-moves-it",
    "last-write-wins",
    "locks",
    "surplus-queues",
    "all-reasons-told",
    "same-scale-same-winner",
    "soft-is-small",
    "my-score-rules",
    "only-bound-counts",
    "first-timer",
    "greedy-is-optimal",
    "formula-is-code",
    "toleration-attracts",
    "other",
)


def test_every_rule_that_lessons_name_is_there() -> None:
    assert sorted(RULES) == sorted(IDS)
    assert set(MISTAKES) < set(RULES)


def test_words_are_there_in_both_languages_and_tell_rules_apart() -> None:
    for language in ("en", "zh"):
        for words in ("title", "because"):
            said = [getattr(rule, words)[language] for rule in RULES.values()]
            assert all(said)
            assert len(set(said)) == len(said)
    assert all(any("一" <= letter <= "鿿" for letter in rule.title["zh"]) for rule in RULES.values())


def test_a_reason_fits_a_phone() -> None:
    assert max(len(rule.title["en"]) for rule in RULES.values()) <= 36
    assert max(len(rule.because["en"]) for rule in RULES.values()) <= 60
