"""A scheduling cycle against real extenders over HTTP: filter, prioritize, bind, and all that can go wrong there."""

from __future__ import annotations

import socket
import threading

import pytest

from clustersim.runtime import extenders
from scheduler_core.framework.asks import BindPod, CallExtenders, Reply
from scheduler_core.oracle import Oracle, answer
from scheduler_core.scheduler.replay import extenders_account, outcome_of
from scheduler_core.snapshot.node_info import PodInfo
from tests.extender.server import Odd, extender, keep, names_in, score
from tests.scheduler.kit import Hand, node, pod, scheduler
from tests.tools.patience import PATIENCE_SECONDS


def hand(configured, over_http, *documents, nodes=("a", "b", "c"), drop=()):
    core = scheduler(extenders=configured(*documents), drop=drop)
    for name in nodes:
        core.observe_node(node(name))
    one = Hand(core)

    def attempt(info=None):
        if info is not None:
            core.observe_pod(info)
        return one.attempt(over_http)

    return one, attempt


@pytest.mark.parametrize("names_only", [False, True])
def test_each_extender_sees_what_the_one_before_it_left(configured, over_http, names_only: bool) -> None:
    with extender(filter=keep("a", "b")) as first, extender(check=keep("b", "c")) as second:
        one, attempt = hand(
            configured,
            over_http,
            {"urlPrefix": first.url, "filterVerb": "filter", "nodeCacheCapable": names_only},
            {"urlPrefix": f"{second.url}/", "filterVerb": "check", "nodeCacheCapable": names_only},
        )
        run = attempt(pod("web"))
    assert run.chosen == "b"
    assert [names_in(body) for _, body in first.calls] == [["a", "b", "c"]]
    assert [names_in(body) for _, body in second.calls] == [["a", "b"]]
    body = first.calls[0][1]
    assert body["Pod"]["metadata"]["name"] == "web"
    assert (body["Nodes"] is None) == names_only
    assert (body["NodeNames"] is None) != names_only
    assert one.of(BindPod)[0].node_name == "b"
    accounts = extenders_account(run)["extenders"]
    assert [(told["extender"], told["nodesIn"], told["nodesOut"]) for told in accounts] == [
        (first.url, 3, 2),
        (f"{second.url}/", 2, 1),
    ]
    assert all(told["durationMs"] > 0 for told in accounts)


def test_a_node_dropped_without_a_word_counts_with_those_that_no_plugin_asked_for(configured, over_http) -> None:
    names = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [name]}]} for name in ("a", "b")]
    pinned = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": names}}}
    with extender(filter=keep()) as one:
        seen, attempt = hand(configured, over_http, {"urlPrefix": one.url, "filterVerb": "filter"})
        attempt(pod("web", spec={"affinity": pinned}))
    assert seen.message.startswith("0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].")


def test_reasons_count_in_the_message_and_stand_in_the_trace(configured, over_http) -> None:
    told = keep(FailedNodes={"a": "rack is full"}, FailedAndUnresolvableNodes={"b": "wrong rack", "a": "no"})
    with extender(filter=told) as one:
        seen, attempt = hand(configured, over_http, {"urlPrefix": one.url, "filterVerb": "filter"})
        run = attempt(pod("web"))
    outcome = outcome_of(seen.core, run).as_dict()
    assert outcome["firstFail"] == {
        # In both maps: unresolvable wins, and its word.
        "a": {"code": "UnschedulableAndUnresolvable", "reasons": ["no"], "plugin": one.url},
        "b": {"code": "UnschedulableAndUnresolvable", "reasons": ["wrong rack"], "plugin": one.url},
        # Dropped without a word: absent.
        "c": {"code": "UnschedulableAndUnresolvable", "reasons": [], "plugin": one.url},
    }
    assert outcome["filters"]["a"] == {one.url: {"code": "UnschedulableAndUnresolvable", "reasons": ["no"]}}
    assert seen.message == (
        "0/3 nodes are available: 1 no, 1 wrong rack. no new claims to deallocate, preemption: 0/3 nodes are "
        "available: 3 Preemption is not helpful for scheduling."
    )
    assert run.unschedulable_plugins == {"Extender"}


def test_a_pod_that_an_extender_turned_away_is_woken_by_every_event(configured, over_http) -> None:
    with extender(filter=keep(FailedNodes={"a": "full"})) as one:
        seen, attempt = hand(configured, over_http, {"urlPrefix": one.url, "filterVerb": "filter"}, nodes=("a",))
        assert attempt(pod("web")).result == "unschedulable"
        one.answers["filter"] = keep("a")
        # A label nobody reads: no plugin would wake the pod for it.
        seen.core.observe_node(node("a", labels={"odd": "yes"}))
        seen.core.now_ms += 60_000
        assert attempt().chosen == "a"


def test_extenders_are_asked_about_pods_with_their_resources_alone(configured, over_http) -> None:
    managed = [{"name": "example.com/gpu", "ignoredByScheduler": True}]
    with extender(filter=keep("b")) as one:
        _, attempt = hand(
            configured, over_http, {"urlPrefix": one.url, "filterVerb": "filter", "managedResources": managed}
        )
        assert attempt(pod("plain")).outcome.feasible.size == 3
        assert one.calls == []
        wanting = {"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}}
        requesting = {"name": "c", "resources": {"requests": {"example.com/gpu": "1"}}}
        assert attempt(pod("limited", spec={"containers": [wanting]})).chosen == "b"
        # No node offers the resource: NodeResourcesFit leaves it to the extender.
        assert attempt(pod("inited", spec={"initContainers": [requesting]})).chosen == "b"
    assert one.verbs() == ["filter", "filter"]


def test_scores_are_scaled_weighted_and_added(configured, over_http) -> None:
    with extender(rank=score(a=10, b=3, elsewhere=9)) as first, extender(rank=score(b=1)) as second:
        seen, attempt = hand(
            configured,
            over_http,
            {"urlPrefix": first.url, "prioritizeVerb": "rank", "weight": 2},
            {"urlPrefix": second.url, "prioritizeVerb": "rank", "weight": 30},
        )
        run = attempt(pod("web"))
    table = outcome_of(seen.core, run).as_dict()["scores"]
    assert table["nodes"] == ["a", "b", "c"]
    assert table["plugins"][first.url] == {"raw": [10, 3, 0], "normalized": [100, 30, 0], "weighted": [200, 60, 0]}
    assert table["plugins"][second.url] == {"raw": [0, 1, 0], "normalized": [0, 10, 0], "weighted": [0, 300, 0]}
    sums = [sum(column) for column in zip(*(part["weighted"] for part in table["plugins"].values()), strict=True)]
    assert table["total"] == sums
    assert run.chosen == "b"


def test_scoring_extenders_are_asked_at_the_same_time_and_not_about_a_single_node(configured, over_http) -> None:
    both = threading.Barrier(2, timeout=PATIENCE_SECONDS)

    def together(body):
        both.wait()
        return []

    asked: list[CallExtenders] = []

    def concurrently(ask):
        if not isinstance(ask, CallExtenders):
            return Reply()
        asked.append(ask)
        found = [None] * len(ask.calls)
        threads = [
            threading.Thread(target=lambda index=index, call=call: found.__setitem__(index, extenders.call(call)))
            for index, call in enumerate(ask.calls)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return Reply(value=found)

    with extender(rank=together) as one, extender(rank=together) as other:
        documents = [{"urlPrefix": each.url, "prioritizeVerb": "rank", "weight": 1} for each in (one, other)]
        _, attempt = hand(configured, concurrently, *documents)
        assert attempt(pod("web")).result == "scheduled"
        assert [len(ask.calls) for ask in asked] == [2]
        single = scheduler(extenders=configured(*documents))
        single.observe_node(node("only"))
        single.observe_pod(pod("web"))
        assert Hand(single).attempt(concurrently).chosen == "only"
    assert len(asked) == 1


def test_a_scoring_extender_that_fails_is_passed_over(configured, over_http) -> None:
    with extender(rank=lambda body: Odd(status=500)) as broken, extender(rank=score(c=10)) as one:
        seen, attempt = hand(
            configured,
            over_http,
            {"urlPrefix": broken.url, "prioritizeVerb": "rank", "weight": 50},
            {"urlPrefix": one.url, "prioritizeVerb": "rank", "weight": 50},
        )
        run = attempt(pod("web"))
    assert run.chosen == "c"
    assert broken.url not in outcome_of(seen.core, run).as_dict()["scores"]["plugins"]
    told = extenders_account(run)["extenders"][0]
    assert told["error"] == f"failed rank with extender at URL {broken.url}/rank, code 500"
    assert told["ignored"]


# What goes wrong with filter.

HUGE = b'{"NodeNames": ["' + b"x" * extenders.ANSWER_BYTES_MAX + b'"]}'

BROKEN = {
    "status": (lambda body: Odd(status=503), "failed filter with extender at URL {url}/filter, code 503"),
    "redirect": (
        lambda body: Odd(status=302, headers={"Location": "http://127.0.0.1:1/"}),
        "failed filter with extender at URL {url}/filter, code 302",
    ),
    "no JSON": (lambda body: b"<html>", "the answer of {url}/filter is no JSON: "),
    "cut off": (lambda body: Odd(body=b'{"NodeNames": [', length=400), 'Post "{url}/filter": unexpected EOF'),
    "another shape": (lambda body: {"NodeNames": "a"}, "the answer of {url}/filter cannot be read: NodeNames must be"),
    "no object": (lambda body: [1], "the answer of {url}/filter cannot be read: it must be an object"),
    "too deep": (lambda body: b"[" * 100_000, "the answer of {url}/filter is no JSON: "),
    "too wordy": (
        lambda body: {"NodeNames": [], "FailedNodes": {str(n): "x" * 1_000 for n in range(2_000)}},
        "the answer of {url}/filter comes to ",
    ),
    "too large": (lambda body: HUGE, f'Post "{{url}}/filter": the answer has more than {extenders.ANSWER_BYTES_MAX}'),
    "its own error": (lambda body: {"Error": "the rack table is away"}, "the rack table is away"),
    "a foreign node": (
        lambda body: {"NodeNames": ["a", "elsewhere"]},
        'extender "{url}" claims a filtered node "elsewhere" which is not found in the input node list',
    ),
}


@pytest.mark.parametrize("what", BROKEN)
@pytest.mark.parametrize("ignorable", [False, True])
def test_a_failing_filter_fails_the_pod_unless_it_may_be_ignored(configured, over_http, what: str, ignorable) -> None:
    answer, text = BROKEN[what]
    with extender(filter=answer) as one:
        seen, attempt = hand(
            configured,
            over_http,
            {"urlPrefix": one.url, "filterVerb": "filter", "nodeCacheCapable": True, "ignorable": ignorable},
        )
        run = attempt(pod("web"))
        expected = text.format(url=one.url)
    (told,) = extenders_account(run)["extenders"]
    assert told["error"].startswith(expected)
    assert told["ignored"] == ignorable
    if ignorable:
        assert run.result == "scheduled"
        assert run.outcome.feasible.size == 3
        return
    assert run.result == "error"
    assert seen.message.startswith(expected)
    assert seen.reason == "SchedulerError"
    assert len(one.calls) == 1


def test_time_is_up_in_real_milliseconds(configured, over_http) -> None:
    never = threading.Event()
    with extender(filter=lambda body: Odd(wait=never)) as one:
        document = {"urlPrefix": one.url, "filterVerb": "filter", "httpTimeout": "1500ms"}
        seen, attempt = hand(configured, over_http, document)
        run = attempt(pod("web"))
        never.set()
    assert seen.message == (
        f'Post "{one.url}/filter": context deadline exceeded (Client.Timeout exceeded while awaiting headers)'
    )
    assert extenders_account(run)["extenders"][0]["durationMs"] >= 1_500


def test_an_extender_that_drips_is_cut_off_in_time(configured, over_http) -> None:
    """A byte now and then keeps a socket's own time-out from ever firing."""
    listener = socket.create_server(("127.0.0.1", 0))
    url = f"http://127.0.0.1:{listener.getsockname()[1]}"
    done = threading.Event()

    def drip() -> None:
        connection, _ = listener.accept()
        with connection:
            connection.recv(65536)
            connection.sendall(b"HTTP/1.1 200 OK\r\n")
            while not done.wait(0.02):
                try:
                    connection.sendall(b"X-Slow: 1\r\n"[:3] + b"x: 1\r\n")
                except OSError:
                    return

    thread = threading.Thread(target=drip, daemon=True)
    thread.start()
    try:
        document = {"urlPrefix": url, "filterVerb": "filter", "httpTimeout": "1s"}
        seen, attempt = hand(configured, over_http, document)
        attempt(pod("web"))
        assert "context deadline exceeded" in seen.message
    finally:
        done.set()
        thread.join()
        listener.close()


def test_nobody_listens(configured, over_http) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    url = f"http://127.0.0.1:{port}"
    seen, attempt = hand(configured, over_http, {"urlPrefix": url, "filterVerb": "filter"})
    attempt(pod("web"))
    assert seen.message == f'Post "{url}/filter": dial tcp 127.0.0.1:{port}: connect: connection refused'


def test_an_origin_that_the_operator_has_not_allowed_is_not_called(configured, over_http, allow) -> None:
    with extender(filter=keep("a")) as one:
        seen, attempt = hand(configured, over_http, {"urlPrefix": one.url, "filterVerb": "filter"})
        allow("http://elsewhere:80")
        attempt(pod("web"))
    assert one.calls == []
    assert seen.message == f'Post "{one.url}/filter": {one.url} is not among the origins of CLUSTERSIM_EXTENDERS'


def test_without_a_transport_the_pod_fails_with_words_that_say_so(configured) -> None:
    seen, attempt = hand(configured, lambda ask: Reply(), {"urlPrefix": "http://x", "filterVerb": "filter"})
    attempt(pod("web"))
    assert seen.message.startswith("the extender was not called")


@pytest.mark.parametrize(
    "body", [[{"Host": "a", "Score": 10**7}], [{"Host": "a", "Score": 1.5}], {"a": 1}, [1], [{"Host": 1}]]
)
def test_scores_that_are_none_are_passed_over(configured, over_http, body) -> None:
    with extender(rank=lambda asked: body) as one:
        _, attempt = hand(configured, over_http, {"urlPrefix": one.url, "prioritizeVerb": "rank", "weight": 1})
        run = attempt(pod("web"))
    assert run.result == "scheduled"
    assert "cannot be read" in extenders_account(run)["extenders"][0]["error"]


def test_answers_are_read_in_any_spelling_of_upper_and_lower_case(configured, over_http) -> None:
    told = {"nodenames": ["b"], "failednodes": {"a": "full"}, "FAILEDANDUNRESOLVABLENODES": None}
    with extender(filter=lambda asked: told) as one:
        document = {"urlPrefix": one.url, "filterVerb": "filter", "nodeCacheCapable": True}
        _, attempt = hand(configured, over_http, document)
        assert attempt(pod("web")).chosen == "b"


# The nominated node.


def nominated(name: str):
    return pod(name, priority=5, status={"nominatedNodeName": "b"})


@pytest.mark.parametrize("answer", [keep("a"), lambda body: Odd(status=500 if len(names_in(body)) == 1 else 200)])
def test_a_nominated_node_that_an_extender_refuses_gives_way_to_all(configured, over_http, answer) -> None:
    def told(body):
        found = answer(body)
        return keep("a")(body) if isinstance(found, Odd) and found.status == 200 else found

    with extender(filter=told) as one:
        _, attempt = hand(configured, over_http, {"urlPrefix": one.url, "filterVerb": "filter"})
        run = attempt(nominated("web"))
    assert [names_in(body) for _, body in one.calls] == [["b"], ["a", "b", "c"]]
    assert run.chosen == "a"
    assert not run.outcome.used_nominated_node


# Bind.


def test_the_first_interested_binder_binds_instead_of_the_plugins(configured, over_http) -> None:
    managed = [{"name": "example.com/gpu"}]
    with extender(bind=lambda body: {}) as one:
        document = {"urlPrefix": one.url, "bindVerb": "bind", "managedResources": managed}
        seen, attempt = hand(configured, over_http, document, nodes=("a",), drop=("NodeResourcesFit",))
        assert attempt(pod("plain")).bound
        assert one.calls == []
        assert len(seen.of(BindPod)) == 1
        wanting = {"name": "c", "resources": {"limits": {"example.com/gpu": "1"}}}
        assert attempt(pod("web", spec={"containers": [wanting]})).bound
    assert one.calls == [("bind", {"PodName": "web", "PodNamespace": "default", "PodUID": "uid-web", "Node": "a"})]
    assert len(seen.of(BindPod)) == 1


@pytest.mark.parametrize("ignorable", [False, True])
def test_a_binder_that_fails(configured, over_http, ignorable: bool) -> None:
    with extender(bind=lambda body: {"Error": "no lease on that rack"}) as one:
        document = {"urlPrefix": one.url, "bindVerb": "bind", "ignorable": ignorable}
        seen, attempt = hand(configured, over_http, document, nodes=("a",))
        run = attempt(pod("web"))
    assert run.bound == ignorable
    assert len(seen.of(BindPod)) == ignorable
    if not ignorable:
        assert seen.message == "no lease on that rack"
        assert not seen.core.cache.is_assumed("uid-web")


# One case through the oracle.


def case_of(*documents):
    named = [{"metadata": {"name": name}, "status": {"allocatable": {"cpu": "4", "pods": "9"}}} for name in "abc"]
    web = {"metadata": {"name": "web", "namespace": "default", "uid": "u"}, "spec": {"containers": [{"name": "c"}]}}
    return {"id": "one", "objects": {"nodes": named}, "config": {"extenders": list(documents)}, "pod": web}


def test_the_oracle_asks_extenders_where_it_is_given_a_transport(allow, over_http) -> None:
    with extender(filter=keep("b", "c", FailedNodes={"a": "taken"}), rank=score(c=10)) as one:
        allow(one.url)
        document = {"urlPrefix": one.url, "filterVerb": "filter", "prioritizeVerb": "rank", "weight": 9}
        case = case_of(document)
        told = Oracle(case, over_http).decide(PodInfo.of(case["pod"]))
    assert (told["result"], told["feasible"], told["best"]) == ("scheduled", ["b", "c"], ["c"])
    assert told["firstFail"]["a"] == {"code": "Unschedulable", "reasons": ["taken"], "plugin": one.url}
    assert told["scores"]["plugins"][one.url]["weighted"] == [0, 900]
    assert answer(case)["fitError"].startswith("nobody carries out CallExtenders here")
