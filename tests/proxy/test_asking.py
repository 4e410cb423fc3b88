"""Requests that commands in containers send: through the cluster as it is, with what containers answer."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controllers.flags.flag import InForce
from controllers.kinds.clustersim.target import read_target
from controllers.kubelet.shell.running import Came, Meant
from controllers.kubelet.stages.pods import STAGES
from controllers.log.operations import Delete
from controllers.proxy.asking import Asking, listed
from scheduler_core.api.document import Document
from tests.proxy.test_clients import service
from tests.proxy.test_policies import POLICIES, labelled, policy
from tests.tools.lab import Lab, node


def lab_of(*more: Document) -> Lab:
    shop = labelled("shop", "shop", "n2")
    web = labelled("web-1", "web")
    web["spec"]["containers"][0] |= {"image": "agnhost:2.53", "ports": [{"containerPort": 80}]}
    lab = Lab([node("n1"), node("n2"), service(), web, shop, *more])
    lab.run(20)
    return lab


def network(lab: Lab) -> Asking:
    return listed(lab.store.list, InForce(), STAGES.answers, lab.store.epoch_ms + lab.cluster.now_ms)


def ask(lab: Lab, url: str, pod: str = "shop") -> Came:
    return network(lab).send(lab.get("pods", pod), read_target(url), lambda purpose, below: 0)


def test_a_pod_answers_with_what_the_stages_say() -> None:
    lab = lab_of()
    address = lab.get("services", "web")["spec"]["clusterIP"]
    assert ask(lab, "http://web/hostname?x=1") == Came("ok", 200, "", address, "web-1")
    told = ask(lab, "http://web.default.svc.cluster.local/a")
    own = lab.get("pods", "web-1")["status"]["podIP"]
    assert told.body == f"/a of web.default.svc.cluster.local, answered by web-1 ({own}) on n1\n"


def test_an_image_that_tells_who_asked_tells_the_pod_s_own_address() -> None:
    echo = labelled("echo", "echo")
    echo["spec"]["containers"][0] |= {"image": "registry.k8s.io/echoserver:1.10", "ports": [{"containerPort": 8080}]}
    lab = lab_of(echo, service("echo", ports=[{"port": 80, "targetPort": 8080}]))
    own = lab.get("pods", "shop")["status"]["podIP"]
    body = ask(lab, "http://echo/a").body
    assert f"client_address={own}\n" in body
    assert "real path=/a\n" in body


@pytest.mark.parametrize(
    ("url", "result", "reason"),
    [("http://nope/", "unresolved", "NoSuchName"), ("http://web:81/", "timeout", "NoRule")],
)
def test_what_does_not_come_so_far(url: str, result: str, reason: str) -> None:
    came = ask(lab_of(), url)
    assert (came.result, came.reason, came.body) == (result, reason, "")


def test_policies_hold_for_commands_too() -> None:
    lab = lab_of(policy("deny-all"))
    assert ask(lab, "http://web/")[:3] == ("timeout", 0, "NetworkPolicy")
    lab.do(Delete(POLICIES, "default", "deny-all"))
    lab.run(1)
    assert ask(lab, "http://web/").result == "ok"


def test_an_image_says_of_what_type_its_page_is_and_who_serves_it() -> None:
    assert STAGES.answers.of_page("nginx:1.27", "/").type == "text/html"
    came = Came("ok", 200, body="ü", type="text/html", server="nginx/1.27.0")
    assert came.headers == [("Server", "nginx/1.27.0"), ("Content-Type", "text/html"), ("Content-Length", "2")]


def test_policies_hold_for_the_api_server_and_not_for_a_forwarded_port() -> None:
    lab = lab_of(policy("deny-all"))
    pod = lab.get("pods", "web-1")
    place = ("default", "web-1", pod["metadata"]["uid"])
    aim = read_target(f"http://{pod['status']['podIP']}/hostname")
    assert network(lab).send_for_client(aim)[:3] == ("timeout", 0, "NetworkPolicy")
    within = network(lab).send_within(*place, aim)
    assert within is not None
    assert (within.result, within.body) == ("ok", "web-1")
    lab.do(Delete(POLICIES, "default", "deny-all"))
    lab.run(1)
    assert network(lab).send_for_client(aim).body == "web-1"


def test_a_forwarded_port_leads_to_the_same_pod_or_to_none() -> None:
    lab = lab_of()
    uid = lab.get("pods", "web-1")["metadata"]["uid"]
    aim = read_target("http://localhost:80/hostname")
    assert network(lab).send_within("default", "web-1", "another", aim) is None
    assert network(lab).send_within("default", "none", uid, aim) is None
    refused = network(lab).send_within("default", "web-1", uid, aim._replace(port=81))
    assert refused is not None
    assert (refused.result, refused.message) == ("refused", "no container of web-1 listens on port 81")


def test_the_api_server_does_not_know_who_asks() -> None:
    lab = lab_of()
    endpoints = lab.get("services", "kubernetes")["spec"]["clusterIP"]
    came = ask(lab, f"https://{endpoints}/api?x=1")
    assert (came.result, came.code, came.address) == ("ok", 403, endpoints)
    assert json.loads(came.body)["message"] == 'forbidden: User "system:anonymous" cannot get path "/api"'


HTML = "/usr/share/nginx/html"


def nginx(volumes: list[Document] | None = None, *more: Document, **spec: Any) -> Document:
    """Return a pod of nginx that serves a volume, if there is one, and other containers of it."""
    mounts = [{"name": "html", "mountPath": HTML}] if volumes else []
    one = labelled("nginx", "nginx")
    container = {"name": "nginx", "image": "nginx:1.27", "ports": [{"containerPort": 80}], "volumeMounts": mounts}
    one["spec"] |= {"containers": [container, *more], "volumes": volumes or [], **spec}
    return one


def asked_within(lab: Lab, path: str = "/") -> tuple[int, str, str]:
    came = ask(lab, f"http://localhost{path}", "nginx")
    assert came.address == "127.0.0.1"
    return came.code, came.type, came.body


def test_localhost_is_the_pod_itself() -> None:
    lab = lab_of(nginx())
    code, kind, body = asked_within(lab)
    where = lab.get("pods", "nginx")["spec"]["nodeName"]
    assert (code, kind, body) == (200, "text/html", f"<h1>Welcome to nginx!</h1>\n<p>nginx on {where}</p>\n")
    assert ask(lab, "http://127.0.0.1:80/hostname", "web-1").body == "web-1"
    assert ask(lab, "http://localhost:81/", "nginx").result == "refused"


def test_what_containers_of_a_pod_share_is_served() -> None:
    """Source: kubernetes.io/docs/tasks/access-application-cluster/communicate-containers-same-pod-shared-volume."""
    says = "echo Hello from the debian container > /pod-data/index.html"
    mount = {"name": "html", "mountPath": "/pod-data"}
    debian = {"name": "debian", "image": "debian", "command": ["/bin/sh", "-c", says], "volumeMounts": [mount]}
    lab = lab_of(nginx([{"name": "html", "emptyDir": {}}], debian, restartPolicy="Never"))
    assert asked_within(lab) == (200, "text/html", "Hello from the debian container\n")
    assert ask(lab, "http://" + lab.get("pods", "nginx")["status"]["podIP"]).body == "Hello from the debian container\n"


def test_what_a_volume_lacks_is_not_there() -> None:
    lab = lab_of(nginx([{"name": "html", "emptyDir": {}}]))
    assert asked_within(lab) == (403, "text/html", "<h1>403 Forbidden</h1>\n")
    assert asked_within(lab, "/a.txt")[0] == 404
    assert asked_within(lab, "/a/")[0] == 404


def test_a_configmap_is_served_by_the_types_of_its_files() -> None:
    data = {"index.html": "<p>shop</p>", "a.json": "{}", "b.txt": "b"}
    pages = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "pages", "namespace": "default"},
        "data": data,
    }
    lab = lab_of(pages, nginx([{"name": "html", "configMap": {"name": "pages"}}]))
    assert asked_within(lab) == (200, "text/html", "<p>shop</p>")
    assert asked_within(lab, "/a.json?x=1") == (200, "application/json", "{}")
    assert asked_within(lab, "/x/../b.txt") == (200, "text/plain", "b")
    assert asked_within(lab, "/../../../etc/hostname")[0] == 404


def test_names_are_looked_up_as_the_name_service_has_them() -> None:
    headless = service("nginx", clusterIP="None")
    headless["spec"]["selector"] = {"app": "nginx"}
    outside = service("away")
    outside["spec"] = {"type": "ExternalName", "externalName": "db.example.com"}
    lab = lab_of(headless, outside, nginx(hostname="web-0", subdomain="nginx"), policy("deny", app="deaf"))
    shop, own = lab.get("pods", "shop"), lab.get("pods", "nginx")["status"]["podIP"]
    found = network(lab)
    assert found.look_up(shop, "nginx") == Meant("nginx.default.svc.cluster.local", (own,))
    assert found.look_up(shop, "web-0.nginx") == Meant("web-0.nginx.default.svc.cluster.local", (own,))
    web = lab.get("services", "web")["spec"]["clusterIP"]
    assert found.look_up(shop, "web.default") == Meant("web.default.svc.cluster.local", (web,))
    assert found.look_up(shop, "away") == Meant("away.default.svc.cluster.local", (), "db.example.com")
    assert found.look_up(shop, "nope") is None


CONF = """
server {                       # its own port
  listen 8080;
  location / { default_type text/plain; return 200 "hello from $hostname at $uri\\n"; }
  location = /health { access_log off; return 204; }
  location /old { return 301 /new; }
  location /api/ { proxy_pass http://api; }
}
server {
  listen 8081 default_server;
  root /data;
}
"""


def configured(conf: str, mount: Document, volumes: list[Document] | None = None) -> Lab:
    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "conf", "namespace": "default"}}
    files = {"a.txt": "a text", "index.html": "an index"}
    data = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "data", "namespace": "default"},
        "data": files,
    }
    web = nginx([{"name": "conf", "configMap": {"name": "conf"}}, {"name": "data", "configMap": {"name": "data"}}])
    mounts = [{"name": "conf", **mount}, {"name": "data", "mountPath": "/data"}]
    web["spec"]["containers"] = [{"name": "main", "image": "nginx:1.27", "volumeMounts": mounts}]
    return lab_of(web, service("nginx"), {**settings, "data": {"default.conf": conf, "nginx.conf": conf}}, data)


def said(lab: Lab, port: int, path: str = "/") -> tuple[str, int, str, str]:
    address = lab.get("pods", "nginx")["status"]["podIP"]
    came = ask(lab, f"http://{address}:{port}{path}")
    return came.result, came.code, came.type, came.body


def test_nginx_answers_as_its_settings_say() -> None:
    lab = configured(CONF, {"mountPath": "/etc/nginx/conf.d"})
    assert said(lab, 8080) == ("ok", 200, "text/plain", "hello from nginx at /\n")
    assert said(lab, 8080, "/x?y=1")[3] == "hello from nginx at /x\n"
    assert said(lab, 8080, "/health")[1::2] == (204, "")
    assert said(lab, 8080, "/old/x")[1] == 301
    assert said(lab, 8081) == ("ok", 200, "text/html", "an index")
    assert said(lab, 8081, "/a.txt")[1::2] == (200, "a text")
    assert said(lab, 8081, "/none")[1] == 404
    assert said(lab, 80)[0] == "refused", "its own settings are hidden"
    assert "answered by nginx" in said(lab, 8080, "/api/x")[3], "what is passed on is not known"


def test_settings_beside_those_of_the_image_leave_its_own_port() -> None:
    lab = configured(CONF, {"mountPath": "/etc/nginx/conf.d/more.conf", "subPath": "default.conf"})
    assert said(lab, 8081)[3] == "an index"
    assert "Welcome to nginx!" in said(lab, 80)[3]
    assert said(lab, 9090)[0] == "refused"


def test_the_main_settings_may_be_ones_own() -> None:
    main = "events {} http { server { listen 90; return 200 'main'; } }"
    lab = configured(main, {"mountPath": "/etc/nginx/nginx.conf", "subPath": "nginx.conf"})
    assert said(lab, 90)[3] == "main"
    assert said(lab, 80)[0] == "refused"


@pytest.mark.parametrize("conf", ["server {", "}", "server { listen 80; return 200 '", "server { " * 40, ";;{"])
def test_settings_that_cannot_be_read_change_nothing(conf: str) -> None:
    lab = configured(conf, {"mountPath": "/etc/nginx/conf.d"})
    assert said(lab, 80)[:2] == ("ok", 200)


def test_a_server_is_chosen_by_the_name_that_it_is_asked_by() -> None:
    conf = "server { listen 80; return 404; } server { listen 80; server_name nginx; return 200 $host; }"
    lab = configured(conf, {"mountPath": "/etc/nginx/conf.d"})
    assert said(lab, 80)[1] == 404
    assert ask(lab, "http://nginx/")[1:5:3] == (200, "nginx")


@pytest.mark.parametrize(
    ("image", "script"),
    [
        ("busybox:1.36", "mkdir -p /www && echo hi > /www/index.html && httpd -f -v -p 80 -h /www"),
        ("python:3.12", "mkdir /www; echo hi > /www/index.html; python3 -m http.server 80 --directory /www"),
    ],
)
def test_a_web_server_that_a_script_starts_serves_what_the_script_wrote(image: str, script: str) -> None:
    web = nginx()
    web["spec"]["containers"] = [{"name": "main", "image": image, "command": ["sh", "-c", script]}]
    lab = lab_of(web)
    assert said(lab, 80) == ("ok", 200, "text/html", "hi\n")
    assert said(lab, 80, "/x")[1] == (404 if image.startswith("busybox") else 200)
