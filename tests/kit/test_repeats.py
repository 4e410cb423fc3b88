"""A run of creates of one body makes what each of them would make alone, and asks admission twice."""

from __future__ import annotations

from typing import Any

import pytest

from controllers.kinds.core.pod import validation
from controllers.kit.client import Client
from controllers.log.memory import MemoryStore
from controllers.log.operations import Bind, Create, Form, Operation, Patch, Result
from controllers.log.store import copy_object
from controllers.loop.component import Emission
from controllers.registry import incoming, repeats

BODY: dict[str, Any] = {
    "metadata": {"generateName": "web-", "labels": {"app": "web", "bcdfg": "x"}},
    "spec": {
        "containers": [{"name": "c", "image": "nginx:1"}, {"name": "d", "image": "nginx:1"}],
        "initContainers": [{"name": "i", "image": "nginx:1"}],
    },
}
QUOTA = {"metadata": {"name": "q"}, "spec": {"hard": {"pods": "3"}}}


class Plane:
    """A store that a client writes operations to, and how many documents went the whole way in."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.whole = 0
        self.store = MemoryStore(seed=7)
        self.client = Client(self.store)
        whole_way = incoming.new_document

        def counted(*given: Any) -> Any:
            self.whole += 1
            return whole_way(*given)

        monkeypatch.setattr(incoming, "new_document", counted)
        account = Create("serviceaccounts", "default", {"metadata": {"name": "default"}})
        self.write(Create("namespaces", "", {"metadata": {"name": "default"}}), account)
        self.whole = 0

    def write(self, *operations: Operation, now_ms: int = 1000) -> list[Result]:
        slot: Any = None
        return self.client.commit([Emission(slot, 1, "session", one, None) for one in operations], now_ms, 0)[0]

    def pods(self) -> list[Any]:
        return [stored.object for stored in self.store.list("pods")[0]]


def test_a_run_makes_what_each_create_makes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    together, apart = Plane(monkeypatch), Plane(monkeypatch)
    creates = [Create("pods", "default", BODY)] * 6
    together.whole = 0
    told = together.write(*creates)
    assert together.whole == 2
    apart.whole = 0
    for one in creates:
        apart.write(Create(one.resource, one.namespace, copy_object(one.object)))
    assert apart.whole == 6
    assert [result.error for result in told] == [None] * 6
    assert together.pods() == apart.pods()
    assert [stored.data for stored in together.store.list("pods")[0]] == [
        stored.data for stored in apart.store.list("pods")[0]
    ]
    volumes = {pod["spec"]["volumes"][0]["name"] for pod in together.pods()}
    assert len(volumes) == 6
    for pod in together.pods():
        mounts = [one["volumeMounts"][0]["name"] for one in pod["spec"]["containers"] + pod["spec"]["initContainers"]]
        assert mounts == [pod["spec"]["volumes"][0]["name"]] * 3


def test_a_run_ends_with_any_other_write(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    create = Create("pods", "default", BODY)
    levels = {"metadata": {"name": "low", "creationTimestamp": None}, "value": 7, "globalDefault": True}
    plane.write(*[create] * 3, Create("priorityclasses.scheduling.k8s.io", "", levels), *[create] * 3)
    assert sorted(pod["spec"]["priority"] for pod in plane.pods()) == [0, 0, 0, 7, 7, 7]


def test_a_run_goes_on_in_the_next_transaction_beside_bindings_and_events(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    create = Create("pods", "default", BODY)
    for number in range(3):
        plane.write(create, create, told("a", "n", 2 * number), create, told("b", "m", 2 * number + 1))
        pod = plane.pods()[0]["metadata"]
        plane.write(Bind("default", pod["name"], pod["uid"], "n"))
    assert plane.whole == 4
    assert len({pod["metadata"]["uid"] for pod in plane.pods()}) == 9


def test_a_run_ends_with_what_others_write_and_with_time(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    create = Create("pods", "default", BODY)
    plane.write(create, create)
    plane.client.apply(Create("namespaces", "", {"metadata": {"name": "other"}}), "somebody")
    plane.write(create, create)
    plane.write(Create("namespaces", "", {"metadata": {"name": "another"}}))
    plane.write(create, create)
    assert plane.whole == 6 + 2
    plane.write(create, now_ms=2000)
    assert {pod["metadata"]["creationTimestamp"][-3:] for pod in plane.pods()} == {"01Z", "02Z"}


def test_what_is_charged_goes_the_whole_way(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    counted = {"status": {"hard": {"pods": "3"}, "used": {"pods": "0"}}}
    plane.write(
        Create("resourcequotas", "default", QUOTA), Patch("resourcequotas", "default", "q", counted, "merge", "status")
    )
    plane.whole = 0
    results = plane.write(*[Create("pods", "default", BODY)] * 5)
    assert plane.whole == 5
    assert [result.error is None for result in results] == [True] * 3 + [False] * 2
    assert len(plane.pods()) == 3


def test_what_depends_on_its_own_kind_goes_the_whole_way(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    service = {"metadata": {"generateName": "s-"}, "spec": {"ports": [{"port": 80}]}}
    plane.write(*[Create("services", "default", service)] * 4)
    services = [stored.object for stored in plane.store.list("services")[0]]
    assert len({one["spec"]["clusterIP"] for one in services}) == 4


def test_documents_that_differ_in_more_than_draws_are_no_run() -> None:
    runs = repeats.Repeats(frozenset({"pods"}))
    create = Create("pods", "", {"metadata": {"generateName": "a-"}})
    for number in (1, 2):
        run = runs.begin(create, "me")
        assert run is not None
        assert run.is_recording
        drawn = [f"n{number}", f"u{number}"]
        metadata = {"name": f"a-n{number}", "uid": f"u{number}"}
        run.learn({"metadata": metadata, "spec": {"number": str(number)}}, None, drawn)
    assert not run.is_known


def test_a_good_spec_is_known_by_all_but_the_drawn_name() -> None:
    def spec(name: str, mounted: str, value: str = "") -> dict[str, Any]:
        mounts = [{"name": mounted, "mountPath": "/m"}]
        container = {"name": "c", "env": [{"name": "A", "value": value}], "volumeMounts": mounts}
        return {"containers": [container], "volumes": [{"name": name, "emptyDir": {}}]}

    one, other = "kube-api-access-bcdfg", "kube-api-access-zxcvb"
    key = validation._key_of
    assert key(spec(one, one)) == key(spec(other, other))
    assert key(spec(one, one)) != key(spec(one, other))
    assert key(spec(one, one)) != key(spec(one, "", one))


def told(pod: str, node: str, number: int) -> Create:
    message = f"Successfully assigned default/{pod} to {node}"
    body = {
        "metadata": {"name": f"{pod}.{number:04x}", "namespace": "default"},
        "involvedObject": {"kind": "Pod", "namespace": "default", "name": pod, "uid": f"of-{pod}"},
        "reason": "Scheduled",
        "message": message,
    }
    return Create("events", "default", body, form=Form("scheduled", (f"{pod}.{number:04x}", message, pod, f"of-{pod}")))


def test_bodies_of_one_form_are_a_run(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever the first two have in common: a node, or a pod whose name is a part of everything."""
    together, apart = Plane(monkeypatch), Plane(monkeypatch)
    placed = [("a", "n"), ("b", "n"), ("c", "m"), ("of-d", "n"), ("e", "of-e")]
    creates = [told(pod, node, number) for number, (pod, node) in enumerate(placed)]
    together.whole = 0
    results = together.write(*creates)
    assert together.whole == 2
    for one in creates:
        apart.write(Create(one.resource, one.namespace, one.object))
    assert [result.error for result in results] == [None] * 5
    assert [one.data for one in together.store.list("events")[0]] == [one.data for one in apart.store.list("events")[0]]


def test_a_value_that_the_first_two_share_shows_nowhere_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    plane.write(told("a", "n", 1), told("a", "n", 2), told("b", "m", 3), told("c", "n", 4))
    assert [one.object["message"][-8:] for one in plane.store.list("events")[0]] == [
        "t/a to n",
        "t/a to n",
        "t/b to m",
        "t/c to n",
    ]


def test_a_name_of_a_form_that_is_taken_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    plane = Plane(monkeypatch)
    results = plane.write(told("a", "n", 1), told("b", "n", 2), told("c", "n", 3), told("b", "n", 2))
    assert [result.error and result.error.reason for result in results] == [None, None, None, "AlreadyExists"]
