"""Sessions as rows: codes, last use, owners."""

from __future__ import annotations

import re

import pytest

from clustersim.store import open_store, sessions, workers
from clustersim.store.models import Session


@pytest.mark.usefixtures("own_database")
class TestCodes:
    def test_a_code_is_six_letters_and_digits_none_of_which_is_read_as_another(self):
        codes = {sessions.create("t", "empty").code for _ in range(40)}
        assert len(codes) == 40
        for code in codes:
            assert re.fullmatch(r"[ACDEFGHJKMNPQRTWXY34679]{6}", code)

    @pytest.mark.parametrize("spelt", ["{0}-{1}", "{0}{1}", " {0} {1} ", "{0}- {1}"])
    def test_case_dash_and_spaces_do_not_matter(self, spelt):
        row = sessions.create("t", "empty")
        text = spelt.format(row.code[:3], row.code[3:])
        found = sessions.find(text.lower())
        assert found is not None
        assert found.id == row.id
        assert found.display_code == f"{row.code[:3]}-{row.code[3:]}"

    @pytest.mark.parametrize("wrong", ["", "K7Q", "K7Q-M2", "K7Q-M2XX", "K7Q/M2X", "' OR 1=1"])
    def test_no_other_text_finds_a_session(self, wrong):
        sessions.create("t", "empty")
        assert sessions.find(wrong) is None

    def test_what_is_asked_for_is_kept(self):
        row = sessions.create("  A class  ", "gpu-lab", 2**53 - 1)
        assert (row.title, row.template, row.seed, row.revision) == ("A class", "gpu-lab", 2**53 - 1, 0)
        assert row.epoch_ms % 1000 == 0
        assert sessions.get(row.id) == row

    def test_a_fork_goes_on_with_its_parents_numbers(self):
        parent = sessions.create("t", "empty")
        row = sessions.create(
            "t", "empty", 5, parent_id=parent.id, forked_at=40, compacted=40, epoch_ms=7000, horizon_ms=900
        )
        store = open_store(row.id)
        assert (store.revision, store.compacted, store.horizon_ms, store.epoch_ms) == (40, 40, 900, 7000)
        with store.transaction("x") as transaction:
            written = transaction.put("pods", "a", "b", {"metadata": {"name": "b", "uid": "u"}})
        assert written.revision == 41


@pytest.mark.usefixtures("own_database")
class TestUse:
    def test_a_request_wakes_a_hibernated_session(self):
        row = sessions.create("t", "empty")
        epoch = sessions.claim(row.id, "w1", epoch=row.epoch)
        assert sessions.release(row.id, "w1", epoch=epoch, hibernate=True)
        assert sessions.get(row.id).hibernated
        assert row.id not in [awake.id for awake in sessions.awake()]
        assert sessions.touch(row.id) is True
        assert sessions.touch(row.id) is False
        assert not sessions.get(row.id).hibernated

    def test_last_use_is_written_rarely(self):
        row = sessions.create("t", "empty")
        long_ago = row.touched_ms - sessions.TOUCH_EVERY_MS - 1000
        Session.objects.filter(pk=row.id).update(touched_ms=long_ago)
        assert sessions.unused([row.id], before_ms=row.touched_ms - 1) == [row.id]
        sessions.touch(row.id)
        touched = sessions.get(row.id).touched_ms
        assert touched >= row.touched_ms
        sessions.touch(row.id)
        assert sessions.get(row.id).touched_ms == touched
        assert sessions.unused([row.id], before_ms=row.touched_ms - 1) == []

    def test_a_session_in_use_costs_no_query_per_request(self, django_assert_num_queries):
        row = sessions.create("t", "empty")
        sessions.touch(row.id)
        with django_assert_num_queries(0):
            assert sessions.touch(row.id) is False

    def test_a_session_that_found_no_room_to_wake_wakes_with_the_first_request_after(self, monkeypatch):
        row = sessions.create("t", "empty")
        sessions.touch(row.id)
        epoch = sessions.claim(row.id, "w1", epoch=row.epoch)
        assert sessions.release(row.id, "w1", epoch=epoch, hibernate=True)
        with monkeypatch.context() as crowded:
            crowded.setattr(sessions, "AWAKE_MAX", 0)
            assert sessions.touch(row.id) is False
            assert sessions.get(row.id).hibernated
        assert sessions.touch(row.id) is True
        assert not sessions.get(row.id).hibernated

    def test_a_removed_session_takes_its_rows_along(self):
        row, other = sessions.create("t", "empty"), sessions.create("t", "empty")
        for each in (row, other):
            with open_store(each.id).transaction("x") as transaction:
                transaction.put("pods", "a", "b", {"metadata": {"name": "b", "uid": "u"}})
                transaction.trace("u", 1, {}, b"")
        store = open_store(row.id)
        sessions.remove(row.id)
        assert sessions.find(row.code) is None
        with pytest.raises(sessions.NoSession):
            store.list("pods")
        with pytest.raises(sessions.NoSession):
            open_store(row.id)
        assert len(open_store(other.id).list("pods")[0]) == 1
        assert len(open_store(other.id).traces("u")) == 1


@pytest.mark.usefixtures("own_database")
class TestOwners:
    def test_of_two_claims_on_one_epoch_one_succeeds(self):
        row = sessions.create("t", "empty")
        assert sessions.claim(row.id, "w1", epoch=row.epoch) == row.epoch + 1
        assert sessions.claim(row.id, "w2", epoch=row.epoch) is None
        assert sessions.get(row.id).owner == "w1"

    def test_only_the_owner_of_this_epoch_releases(self):
        row = sessions.create("t", "empty")
        first = sessions.claim(row.id, "w1", epoch=row.epoch)
        second = sessions.claim(row.id, "w2", epoch=first)
        assert not sessions.release(row.id, "w1", epoch=first)
        assert sessions.get(row.id).owner == "w2"
        assert sessions.release(row.id, "w2", epoch=second)
        assert sessions.get(row.id).owner == ""

    def test_loads_count_awake_sessions_by_owner(self):
        for owner in ("w1", "w1", "w2"):
            row = sessions.create("t", "empty")
            sessions.claim(row.id, owner, epoch=row.epoch)
        sessions.create("t", "empty")
        assert workers.loads() == {"w1": 2, "w2": 1}

    def test_a_lease_is_written_by_compare_and_swap(self):
        assert workers.write("w1", {"renewMs": 1}, version=0)
        assert not workers.write("w1", {"renewMs": 2}, version=0)
        assert workers.write("w1", {"renewMs": 3}, version=1)
        assert not workers.write("w1", {"renewMs": 4}, version=1)
        lease = workers.read("w1")
        assert (lease.record, lease.version) == ({"renewMs": 3}, 2)
        assert workers.alive() == []
        workers.remove("w1")
        assert workers.every() == []
