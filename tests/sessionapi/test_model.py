"""The formal model over HTTP: what it says of one pod, and the optimum beside the engine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from controllers.scheduler import past
from tests.tools.application import bearer, http, opened

GPU = {"accelerator": "gpu"}


class Lab:
    """A session of the GPU lab that no worker runs: pods are where the test puts them."""

    def __init__(self, client: httpx.AsyncClient, session: dict[str, Any]) -> None:
        self.client = client
        self.code = session["code"]
        self.headers = bearer(session["token"])

    async def get(self, path: str, expect: int = 200) -> Any:
        answer = await self.client.get(f"/api/sessions/{self.code}{path}", headers=self.headers)
        assert answer.status_code == expect, answer.text
        return answer.json()

    async def create(self, name: str, cpu: str = "1", *, on: str = "", **spec: Any) -> None:
        container = {"name": "c", "image": "nginx", "resources": {"requests": {"cpu": cpu}}}
        place = {"nodeName": on} if on else {}
        body = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "labels": {"app": name.partition("-")[0]}},
            "spec": {"containers": [container], **place, **spec},
        }
        path = f"/clusters/{self.code}/api/v1/namespaces/default/pods"
        answer = await self.client.post(path, json=body, headers=self.headers)
        assert answer.status_code == 201, answer.text


@pytest.fixture
async def lab(application_database: None) -> AsyncIterator[Lab]:
    async with http() as client:
        session = await opened(client, "gpu-lab")
        client.cookies.clear()
        yield Lab(client, session)


async def test_what_the_model_says_of_a_pod_that_waits(lab: Lab) -> None:
    await lab.create("web-1", on="plain-1")
    await lab.create("train-1", nodeSelector=GPU)
    told = await lab.get("/model?pod=default/train-1")
    assert (told["pod"], told["bound"], told["boundTo"], told["case"]) == ("default/train-1", False, None, "Scheduling")
    assert (told["schedulingEnabled"], told["mayGo"], told["above"], told["trace"]) == (True, True, [], None)
    assert len(told["possible"]) == 15
    assert told["feasible"] == told["viable"] == [f"gpu-{number}" for number in range(1, 7)]
    assert set(told["engine"]["feasible"]) == set(told["feasible"])
    plain = next(one for one in told["nodes"] if one["node"] == "plain-1")
    assert [one["section"] for one in plain["filters"] if not one["holds"]] == ["1.3"]
    assert plain["engine"]["plugin"] == "NodeAffinity"
    assert told["formulas"]["1.3"].startswith("∀ Label")
    bound = await lab.get("/model?pod=default/web-1")
    assert (bound["bound"], bound["boundTo"], bound["case"]) == (True, "plain-1", "Bound")


async def test_requests_share_what_they_read_into_views(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[bytes] = []
    real = past.parsed

    def counting(data: bytes, of: Any) -> Any:
        read.append(data)
        return real(data, of)

    monkeypatch.setattr(past, "parsed", counting)
    await lab.create("web-1", on="plain-1")
    await lab.create("train-1", nodeSelector=GPU)
    told = await lab.get("/model?pod=default/train-1")
    assert len(read) == 15 + 2
    assert await lab.get("/model?pod=default/train-1") == told
    assert len(read) == 15 + 2
    await lab.create("web-2", on="plain-2")
    await lab.get("/model?pod=default/train-1")
    assert len(read) == 15 + 3


async def test_a_full_cluster_enables_preemption_of_the_least(lab: Lab) -> None:
    for number in range(1, 7):
        await lab.create(f"web-{number}", "8", on=f"gpu-{number}")
    await lab.create("train-1", "2", nodeSelector=GPU, priorityClassName="system-cluster-critical")
    told = await lab.get("/model?pod=default/train-1")
    assert (told["case"], told["casualty"]) == ("Preemption", {"brokenBudgets": 0, "pods": 1})
    gpu = next(one for one in told["nodes"] if one["node"] == "gpu-1")
    assert gpu["preemption"] == {
        "jeopardy": ["default/web-1"],
        "enabled": True,
        "pods": ["default/web-1"],
        "casualty": {"brokenBudgets": 0, "pods": 1},
    }


async def test_an_earlier_revision_is_an_earlier_cluster(lab: Lab) -> None:
    await lab.create("web-1")
    before = (await lab.get("/model?pod=default/web-1"))["revision"]
    await lab.create("web-2", on="plain-1")
    shown = await lab.get(f"/model?pod=default/web-1&revision={before}")
    assert (shown["revision"], shown["unbound"]) == (before, 1)
    assert (await lab.get(f"/model?pod=default/web-2&revision={before}", expect=404))["reason"] == "NotFound"


async def test_the_optimum_places_what_the_engine_leaves_over(lab: Lab) -> None:
    for number in range(10, 70):
        await lab.create(f"web-{number}")
    for number in range(10, 22):
        await lab.create(f"xtrain-{number}", "2", nodeSelector=GPU)
    told = await lab.get("/model/optimum?needs=app%3Dxtrain&has=accelerator%3Dgpu")
    assert (told["pods"], told["nodes"], told["aside"]) == (72, 15, [])
    assert told["solver"]["proven"] is True
    assert told["solver"]["utility"]["placed"] == [{"priority": 0, "pods": 72}]
    assert told["difference"] == {"pods": 6, "viability": 0}
    assert len(told["engine"]["placement"]) == 66
    assert told["now"]["placement"] == {}
    assert (told["guarantees"]["strays"], told["guarantees"]["holds"]) == ([], False)
    assert told["engine"]["separation"]["intruders"]
    few = await lab.get("/model/optimum?selector=app%3Dweb&pods=default/web-10,default/web-11&namespace=default")
    assert (few["pods"], few["guarantees"]) == (2, None)
    # (15 + 1)² placements of two pods, all of them feasible; the best are the 15² that place both.
    assert few["placements"] == {"possible": 256, "feasible": 256, "viable": 225}
    assert told["placements"] is None


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/model", "pod"),
        ("/model?pod=web", "pod"),
        ("/model?pod=default/web-1&revision=0", "revision"),
        ("/model?pod=default/web-1&revision=99999999", "revision"),
        ("/model?pod=default/web-1&revision=-1", "revision"),
        ("/model/optimum?namespace=nowhere", "pods"),
        ("/model/optimum?needs=app%3Dweb", "has"),
        ("/model/optimum?has=app%3Dweb", "needs"),
        ("/model/optimum?pods=" + ",".join(f"default/p{number}" for number in range(201)), "pods"),
    ],
)
async def test_a_question_that_makes_no_sense_is_refused_with_the_field(lab: Lab, path: str, field: str) -> None:
    await lab.create("web-1")
    refused = await lab.get(path, expect=422)
    assert refused["details"]["causes"][0]["field"] == field


async def test_what_is_not_there_is_not_found_and_a_selector_that_cannot_be_read_is_bad(lab: Lab) -> None:
    assert (await lab.get("/model?pod=default/nobody", expect=404))["reason"] == "NotFound"
    assert (await lab.get("/model/optimum?selector=%3D%3D", expect=400))["reason"] == "BadRequest"


async def test_nobody_asks_without_a_token_and_a_session_not_too_often(lab: Lab, no_refill: None) -> None:
    for path in ("/model?pod=default/web-1", "/model/optimum"):
        answer = await lab.client.get(f"/api/sessions/{lab.code}{path}")
        assert answer.status_code == 401
    await lab.create("web-1")
    codes = [
        (await lab.client.get(f"/api/sessions/{lab.code}/model/optimum", headers=lab.headers)).status_code
        for _ in range(8)
    ]
    assert codes[0] == 200
    assert codes[-1] == 429
