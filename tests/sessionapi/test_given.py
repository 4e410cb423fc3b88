"""What a container was given when it started: its variables, and parts of ConfigMaps mounted for themselves, stay."""

from __future__ import annotations

from typing import Any

from tests.sessionapi.test_roles import MERGE, Class, room
from tests.sessionapi.test_timeline import compact, newest, run

__all__ = ["room"]

HOME = "/api/v1/namespaces/default"
SAYS = (
    'while true; do echo "$COLOR $P_color $SHOP_PORT_80_TCP_PORT $(cat /etc/one) $(cat /etc/all/color)"; sleep 10; done'
)


def reader() -> dict[str, Any]:
    named = {"name": "app", "key": "color"}
    container = {
        "name": "main",
        "image": "busybox:1.36",
        "command": ["sh", "-c", SAYS],
        "env": [{"name": "COLOR", "valueFrom": {"configMapKeyRef": named}}],
        "envFrom": [{"prefix": "P_", "configMapRef": {"name": "app"}}],
        "volumeMounts": [
            {"name": "app", "mountPath": "/etc/all"},
            {"name": "app", "mountPath": "/etc/one", "subPath": "color"},
        ],
    }
    spec = {"containers": [container], "volumes": [{"name": "app", "configMap": {"name": "app"}}]}
    return {"metadata": {"name": "reader"}, "spec": spec}


async def write(room: Class, method: str, path: str, body: Any) -> None:
    headers = MERGE if method == "PATCH" else {}
    answer = await room.call("teacher", method, HOME + path, body, headers=headers)
    assert answer.status_code < 300, answer.text


async def said(room: Class) -> list[str]:
    answer = await room.call("teacher", "GET", f"{HOME}/pods/reader/log?tailLines=1")
    return str(answer.text).split()


async def test_variables_stay_as_they_were_and_volumes_follow(room: Class) -> None:
    await write(room, "POST", "/configmaps", {"metadata": {"name": "app"}, "data": {"color": "red"}})
    await write(room, "POST", "/pods", reader())
    await run(room, 10)
    await write(room, "PATCH", "/configmaps/app", {"data": {"color": "blue"}})
    await write(room, "POST", "/services", {"metadata": {"name": "shop"}, "spec": {"ports": [{"port": 80}]}})
    await run(room, 30)
    assert await said(room) == ["red", "red", "red", "blue"], "the Service came later than the container"
    await write(room, "DELETE", "/pods/reader?gracePeriodSeconds=0", None)
    await write(room, "POST", "/pods", reader())
    await run(room, 30)
    assert await said(room) == ["blue", "blue", "80", "blue", "blue"]


async def test_what_is_compacted_is_told_as_it_is_now(room: Class) -> None:
    await write(room, "POST", "/configmaps", {"metadata": {"name": "app"}, "data": {"color": "red"}})
    await write(room, "POST", "/pods", reader())
    await run(room, 10)
    await write(room, "PATCH", "/configmaps/app", {"data": {"color": "blue"}})
    await run(room, 10)
    await compact(room, await newest(room))
    assert await said(room) == ["blue", "blue", "blue", "blue"]
