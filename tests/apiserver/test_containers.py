"""Real kubectl looks into containers in which nothing runs: logs, exec, attach. The engine is off."""

from __future__ import annotations

import json
import os
import pty
import select
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from websockets import Subprotocol
from websockets.sync.client import ClientConnection, connect

from clustersim.apiserver.within import LOG_REQUESTS_MAX
from controllers.kinds.core.service_addresses import API_SERVER_ADDRESS
from tests.tools.apiserver import Api
from tests.tools.kubectl import binaries
from tests.tools.patience import PATIENCE_SECONDS

Kubectl = Callable[..., subprocess.CompletedProcess[str]]

STARTED = "2026-01-01T00:00:00Z"
ENDED = "2026-01-01T00:00:05Z"


@pytest.fixture
def api(sqlite_api: Api) -> Api:
    """Return one web process: which database is behind it is nothing that kubectl could see."""
    return sqlite_api


@pytest.fixture(params=sorted(binaries()))
def kubectl(api: Api, namespace: str, request: pytest.FixtureRequest) -> Kubectl:
    """Return a function that runs one kubectl in the test's namespace."""
    binary = binaries()[request.param]

    def run(*arguments: str, stdin: str = "", role: str = "teacher") -> subprocess.CompletedProcess[str]:
        api.kubectl_binary = binary
        done = api.kubectl("-n", namespace, *arguments, stdin=stdin, check=False, role=role, tls=True)
        print(done)  # Where a test fails, all that was said is shown.
        return done

    return run


def running(name: str = "main") -> dict[str, Any]:
    return {"name": name, "image": "", "imageID": "", "ready": True, "restartCount": 0, "started": True,
            "containerID": "containerd://1", "state": {"running": {"startedAt": STARTED}}}  # fmt: skip


def ended(name: str = "main", code: int = 3) -> dict[str, Any]:
    state = {"exitCode": code, "reason": "Error", "startedAt": STARTED, "finishedAt": ENDED, "containerID": "c://1"}
    return {**running(name), "state": {"waiting": {"reason": "CrashLoopBackOff"}}, "lastState": {"terminated": state}}


def put(
    api: Api,
    namespace: str,
    containers: list[dict[str, Any]],
    statuses: list[dict[str, Any]],
    name: str = "web",
    **more: Any,
) -> None:
    spec = {"nodeName": "n1", "containers": containers, **more}
    path = f"/api/v1/namespaces/{namespace}/pods"
    status, answer, _ = api.request("POST", path, {"metadata": {"name": name}, "spec": spec})
    assert status == 201, answer
    told = {"status": {"phase": "Running", "podIP": "10.128.1.9", "containerStatuses": statuses}}
    patched = api.request("PATCH", f"{path}/{name}/status", told, content_type="application/merge-patch+json")
    assert patched[0] == 200, patched[1]


def main(*command: str, name: str = "main", image: str = "alpine:3", **more: Any) -> dict[str, Any]:
    return {"name": name, "image": image, **({"command": list(command)} if command else {}), **more}


def test_exec_answers_and_ends_with_the_commands_code(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main(env=[{"name": "COLOR", "value": "red"}])], [running()])
    assert kubectl("exec", "web", "--", "hostname").stdout == "web\n"
    assert "COLOR=red\n" in kubectl("exec", "web", "--", "env").stdout
    assert "10.128.1.9\tweb\n" in kubectl("exec", "web", "--", "cat", "/etc/hosts").stdout
    done = kubectl("exec", "web", "--", "sh", "-c", "echo out; echo wrong >&2; exit 3")
    assert (done.returncode, done.stdout) == (3, "out\n")
    assert done.stderr == "wrong\ncommand terminated with exit code 3\n"
    done = kubectl("exec", "web", "--", "nosuch")
    assert done.returncode == 127
    assert 'exec: "nosuch": executable file not found in $PATH: unknown' in done.stderr
    done = kubectl("exec", "-i", "web", "--", "sh", stdin="x=4\nfor i in 1 2; do\n echo $((x*i))\ndone\nexit 6\n")
    assert (done.returncode, done.stdout) == (6, "4\n8\n")
    assert kubectl("exec", "-i", "web", "--", "cat", stdin="given").stdout == "given"


def test_commands_send_requests_to_services(api: Api, namespace: str, kubectl: Kubectl) -> None:
    api.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    put(api, namespace, [main(image="busybox")], [running()], "box")
    put(api, namespace, [main(image="nginx")], [running()])
    base = f"/api/v1/namespaces/{namespace}"
    # Pods of other tests have the same address.
    own = f"10.200.{crc32(namespace.encode()) % 200}.7"
    told = {"status": {"podIP": own}}
    api.request("PATCH", f"{base}/pods/web/status", told, content_type="application/merge-patch+json")
    status, made, _ = api.request(
        "POST", f"{base}/services", {"metadata": {"name": "shop"}, "spec": {"ports": [{"port": 80}]}}
    )
    assert status == 201, made
    slices = f"/apis/discovery.k8s.io/v1/namespaces/{namespace}/endpointslices"
    ends = {
        "metadata": {"name": "shop-1", "labels": {"kubernetes.io/service-name": "shop"}},
        "addressType": "IPv4",
        "ports": [{"name": "", "port": 80}],
        "endpoints": [{"addresses": [own], "conditions": {"ready": True}, "nodeName": "n1"}],
    }
    assert api.request("POST", slices, ends)[0] == 201
    done = kubectl("exec", "box", "--", "wget", "-qO-", "http://shop")
    assert done.stdout == "<h1>Welcome to nginx!</h1>\n<p>web on n1</p>\n", done.stderr
    done = kubectl("exec", "box", "--", "sh", "-c", "nc -zv shop 80; wget -S -q --spider shop")
    assert f"shop ({made['spec']['clusterIP']}:80) open\n" in done.stderr
    assert "  HTTP/1.1 200 OK\n" in done.stderr
    done = kubectl("exec", "box", "--", "wget", "-qO-", "http://shop.nowhere")
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, "wget: bad address 'shop.nowhere'")


SHOWS = "/var/run/secrets/kubernetes.io/serviceaccount"
ASKS = f'curl -s --cacert {SHOWS}/ca.crt -H "Authorization: Bearer $(cat {SHOWS}/token)"'
SERVER = f"https://{API_SERVER_ADDRESS}:6443"
"""Its own address: without an engine nobody makes the Service `kubernetes`."""


def test_a_pod_asks_the_api_server_as_its_account(api: Api, namespace: str, kubectl: Kubectl) -> None:
    """kubernetes.io/docs/tasks/run-application/access-api-from-pod: what roles give the account, and nothing else."""
    for made in (
        ("create", "serviceaccount", "reader"),
        ("create", "role", "reads", "--verb=get,list,watch,delete", "--resource=configmaps"),
        ("create", "rolebinding", "reads", "--role=reads", f"--serviceaccount={namespace}:reader"),
        ("create", "configmap", "told", "--from-literal=a=b"),
    ):
        assert kubectl(*made).returncode == 0
    api.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    put(api, namespace, [main(image="curlimages/curl")], [running()], serviceAccountName="reader")

    def asked(rest: str, role: str = "teacher") -> str:
        return str(kubectl("exec", "web", "--", "sh", "-c", f"{ASKS} {rest}", role=role).stdout)

    assert json.loads(asked(f"{SERVER}/api"))["versions"] == ["v1"]
    own = f"{SERVER}/api/v1/namespaces/{namespace}"
    assert json.loads(asked(f"{own}/configmaps/told"))["data"] == {"a": "b"}
    refused = json.loads(asked(f"{own}/secrets"))
    who = f"system:serviceaccount:{namespace}:reader"
    where = f'in API group "" in the namespace "{namespace}"'
    assert refused["message"] == f'secrets is forbidden: User "{who}" cannot list resource "secrets" {where}'
    assert asked(f"{own}/configmaps?watch=true").count("no stream is read") == 1
    assert json.loads(asked(f"-X DELETE {own}/configmaps/told"))["status"] == "Success"
    assert kubectl("get", "configmap", "told").returncode == 1
    # Without the token nobody is asked for, and what stands in its file is good nowhere else.
    unknown = json.loads(kubectl("exec", "web", "--", "curl", "-sk", f"{SERVER}/api").stdout)
    assert unknown["message"] == 'forbidden: User "system:anonymous" cannot get path "/api"'
    shown = kubectl("exec", "web", "--", "cat", f"{SHOWS}/token").stdout
    assert api.request("GET", "/api", headers={"authorization": f"Bearer {shown}"})[0] == 401


def test_a_log_that_is_read_writes_nothing(api: Api, namespace: str, kubectl: Kubectl) -> None:
    kubectl("create", "serviceaccount", "default")
    kubectl("create", "clusterrolebinding", f"all-{namespace}", "--clusterrole=cluster-admin",
            f"--serviceaccount={namespace}:default")  # fmt: skip
    own = f"{SERVER}/api/v1/namespaces/{namespace}"
    body = '{"metadata":{"name":"made"}}'
    posts = f"-X POST -H 'Content-Type: application/json' -d '{body}'"
    script = f"{ASKS} {own}/configmaps/none; {ASKS} {posts} {own}/configmaps"
    api.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    put(api, namespace, [main("sh", "-c", script, image="curlimages/curl")], [ended()])
    said = kubectl("logs", "web", "--previous").stdout
    assert 'configmaps \\"none\\" not found' in said
    assert "is not written" in said
    assert kubectl("get", "configmap", "made").returncode == 1


def test_a_log_asks_the_api_server_a_few_times_and_no_more(api: Api, namespace: str, kubectl: Kubectl) -> None:
    script = f"for i in $(seq 70); do curl -sk -o /dev/null -w '%{{http_code}}\\n' {SERVER}/api/$i; done"
    api.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    put(api, namespace, [main("sh", "-c", script, image="curlimages/curl")], [ended()])
    codes = kubectl("logs", "web", "--previous").stdout.split()
    assert codes == ["403"] * LOG_REQUESTS_MAX + ["429"] * (70 - LOG_REQUESTS_MAX)


def test_one_request_is_all_that_a_container_does(api: Api, namespace: str, kubectl: Kubectl) -> None:
    """`kubectl run tmp --rm -i --image=curlimages/curl -- curl http://shop`, once it runs."""
    api.request("POST", "/api/v1/nodes", {"metadata": {"name": "n1"}})
    curl = main("curl", "-sS", "http://nobody", image="curlimages/curl", stdin=True)
    put(api, namespace, [curl], [running()], "tmp")
    assert kubectl("logs", "tmp").stdout == "curl: (6) Could not resolve host: nobody\n"


def test_files_are_copied_out_and_in(api: Api, namespace: str, kubectl: Kubectl, tmp_path: Path) -> None:
    put(api, namespace, [main()], [running()])
    done = kubectl("cp", "web:/etc/hostname", str(tmp_path / "copy"))
    assert (done.returncode, (tmp_path / "copy").read_text()) == (0, "web\n"), done.stderr
    given = tmp_path / "given"
    given.write_text("ünder\n")
    done = kubectl("cp", str(given), "web:/tmp/given")
    assert (done.returncode, kubectl("exec", "web", "--", "cat", "/tmp/given").stdout) == (0, "ünder\n"), done.stderr
    given.write_text("x" * 20_000)
    refused = kubectl("cp", str(given), "web:/tmp/large")
    assert refused.returncode != 0
    assert "tar: large: No space left on device" in refused.stderr


def test_what_a_command_writes_the_next_one_reads(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main("sh", "-c", "echo up > /tmp/state; sleep 3600")], [running()])
    assert kubectl("exec", "web", "--", "cat", "/tmp/state").stdout == "up\n"
    kubectl("exec", "web", "--", "sh", "-c", "mkdir /data && echo red > /data/colour; rm /tmp/state; cd /data; touch x")
    assert kubectl("exec", "web", "--", "ls", "/data").stdout == "colour\nx\n"
    assert kubectl("exec", "web", "--", "cat", "/data/colour").stdout == "red\n"
    assert kubectl("exec", "web", "--", "test", "-e", "/tmp/state").returncode == 1
    done = kubectl("exec", "web", "--", "dd", "if=/dev/zero", "of=/data/continue", "bs=1", "count=1", "conv=fsync")
    assert (done.returncode, done.stderr.splitlines()[:2]) == (0, ["1+0 records in", "1+0 records out"])
    assert kubectl("exec", "web", "--", "sh", "-c", "[ -s /data/continue ]").returncode == 0
    kubectl("exec", "-i", "web", "--", "sh", stdin="mv /data/x /data/y\nrm -r /data/colour\n")
    assert kubectl("exec", "web", "--", "ls", "/data").stdout == "continue\ny\n"


def test_what_is_written_in_a_claim_is_there_for_another_pod(api: Api, namespace: str, kubectl: Kubectl) -> None:
    claim = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    body = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": {"name": "data"}, "spec": claim}
    assert api.request("POST", f"/api/v1/namespaces/{namespace}/persistentvolumeclaims", body)[0] == 201
    volumes = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    mount = {"volumeMounts": [{"name": "data", "mountPath": "/data"}]}
    for name in ("one", "two"):
        put(api, namespace, [main("sleep", "3600", **mount)], [running()], name, volumes=volumes)
    kubectl("exec", "one", "--", "sh", "-c", "echo 7 > /data/n; echo 8 > /tmp/n")
    assert kubectl("exec", "two", "--", "cat", "/data/n").stdout == "7\n"
    assert kubectl("exec", "two", "--", "cat", "/tmp/n").returncode == 1


def test_what_cannot_be_run_is_told(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main(), main(name="side")], [running(), ended("side")])
    assert 'container not found ("side")' in kubectl("exec", "web", "-c", "side", "--", "ls").stderr
    assert "container none is not valid for pod web" in kubectl("exec", "web", "-c", "none", "--", "ls").stderr
    assert 'pods "none" not found' in kubectl("exec", "none", "--", "ls").stderr


def test_only_who_may_run_commands_does(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main()], [running()])
    for role in ("viewer", "student"):
        refused = kubectl("exec", "web", "--", "env", role=role)
        assert 'cannot create resource "pods/exec"' in refused.stderr
        assert kubectl("logs", "web", role=role).returncode == 0
    home = api.made["studentNamespace"]
    put(api, home, [main()], [running()], name=f"mine-{namespace}")
    assert (
        kubectl("exec", "-n", home, f"mine-{namespace}", "--", "hostname", role="student").stdout
        == f"mine-{namespace}\n"
    )


def test_logs_are_what_the_command_prints(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(
        api,
        namespace,
        [main("sh", "-c", "for i in 1 2 3 4 5; do echo line $i; sleep 1; done; echo -n end; exit 3")],
        [ended()],
    )
    lines = [f"line {number}\n" for number in range(1, 6)]
    assert kubectl("logs", "web").stdout == "".join(lines) + "end\n"
    assert kubectl("logs", "web", "--previous", "--tail=2").stdout == "line 5\nend\n"
    stamped = kubectl("logs", "web", "--timestamps", "--tail=2").stdout
    assert stamped == "2026-01-01T00:00:04.000000000Z line 5\n2026-01-01T00:00:05.000000000Z end\n"
    assert kubectl("logs", "web", "--since-time=2026-01-01T00:00:03Z").stdout == "".join(lines[3:]) + "end\n"
    assert kubectl("logs", "web", "--limit-bytes=4").stdout == "line"
    assert kubectl("logs", "-f", "web").stdout == "".join(lines) + "end\n"
    assert "--tail" not in kubectl("logs", "web", "--tail=-1").stderr


def test_logs_of_several_containers(api: Api, namespace: str, kubectl: Kubectl) -> None:
    waits = {**running("late"), "state": {"waiting": {"reason": "ContainerCreating"}}}
    put(api, namespace, [main("echo", "one"), main("echo", "two", name="side"), main(name="late")],
        [running(), running("side"), waits])  # fmt: skip
    assert kubectl("logs", "web", "-c", "side").stdout == "two\n"
    assert "is waiting to start: ContainerCreating" in kubectl("logs", "web", "-c", "late").stderr
    assert (
        'previous terminated container "main" in pod "web" not found'
        in kubectl("logs", "-p", "web", "-c", "main").stderr
    )
    # kubectl asks for one container after another in the order of a Go map, which is another each time.
    both = kubectl("logs", "web", "--all-containers", "--prefix", "--ignore-errors").stdout.splitlines()
    assert {"[pod/web/main] one", "[pod/web/side] two"} < set(both)
    status, answer, _ = api.request("GET", f"/api/v1/namespaces/{namespace}/pods/web/log")
    assert (status, answer["message"]) == (
        400,
        "a container name must be specified for pod web, choose one of: [main side late]",
    )
    path = f"/api/v1/namespaces/{namespace}/pods/web/log?container=main&tailLines=-3"
    assert api.request("GET", path)[1]["details"]["causes"][0]["field"] == "tailLines"


def test_logs_know_the_files_that_an_init_container_wrote(api: Api, namespace: str, kubectl: Kubectl) -> None:
    """The tutorial of indexed Jobs: each worker turns a word around that its init container has chosen."""
    mount = [{"name": "input", "mountPath": "/input"}]
    says = "words=(foo bar baz qux xyz)\necho ${words[$JOB_COMPLETION_INDEX]} > /input/data.txt\n"
    index = {"env": [{"name": "JOB_COMPLETION_INDEX", "value": "3"}], "volumeMounts": mount}
    chooser = main("bash", "-c", says, name="input", image="docker.io/library/bash", **index)
    worker = main("rev", "/input/data.txt", image="docker.io/library/busybox", volumeMounts=mount)
    put(api, namespace, [worker], [running()], initContainers=[chooser], volumes=[{"name": "input", "emptyDir": {}}])
    state = {"terminated": {"exitCode": 0, "reason": "Completed", "startedAt": STARTED, "finishedAt": STARTED}}
    told = {"status": {"initContainerStatuses": [{**running("input"), "state": state}]}}
    path = f"/api/v1/namespaces/{namespace}/pods/web/status"
    assert api.request("PATCH", path, told, content_type="application/merge-patch+json")[0] == 200
    assert kubectl("logs", "web", "-c", "main").stdout == "xuq\n"


def test_logs_say_what_cannot_be_played(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main("sh", "-c", "echo on; trap 'echo x' ERR; echo never")], [running()])
    done = kubectl("logs", "web")
    told = "clustersim: this simulation cannot play the rest of this script: "
    assert done.stdout == f"on\n{told}trap … ERR is nothing that this simulated shell knows\n"


def test_a_teacher_says_what_containers_print(api: Api, namespace: str, kubectl: Kubectl) -> None:
    own = {
        "answers": {
            "logs": [{"image": "*", "start": ["hello from {pod}"]}],
            "commands": [{"command": "shopctl status*", "out": "open\n", "code": 4}],
        }
    }
    made = {"metadata": {"name": "kubelet-stages"}, "data": {"pods.yaml": json.dumps(own)}}
    assert api.request("POST", "/api/v1/namespaces/kube-system/configmaps", made)[0] == 201
    try:
        put(api, namespace, [main()], [running()])
        assert kubectl("logs", "web").stdout == "hello from web\n"
        done = kubectl("exec", "web", "--", "shopctl", "status", "--all")
        assert (done.returncode, done.stdout) == (4, "open\n")
    finally:
        api.request("DELETE", "/api/v1/namespaces/kube-system/configmaps/kubelet-stages")


def test_a_person_sits_at_a_prompt(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main()], [running()])
    mine, theirs = pty.openpty()
    environment = {**os.environ, "KUBECONFIG": str(api.kubeconfig(tls=True)), "HOME": str(api.data)}
    kubectl("version")
    arguments = [api.kubectl_binary, "-n", namespace, "exec", "-it", "web", "--", "sh"]
    process = subprocess.Popen(arguments, env=environment, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    shown = ""

    def wait_until(text: str) -> None:
        nonlocal shown
        while text not in shown:
            assert select.select([mine], [], [], PATIENCE_SECONDS)[0], shown
            shown += os.read(mine, 4096).decode()

    wait_until("/ # ")
    assert "this container is simulated" in shown
    os.write(mine, b"hostnamx\x7fe\r")
    wait_until("web\r\n/ # ")
    os.write(mine, b"sleep 1000\r")
    wait_until("sleep 1000\r\n")
    os.write(mine, b"\x03")
    wait_until("^C\r\n/ # ")
    os.write(mine, b"exit 5\r")
    wait_until("exit code 5")
    assert process.wait(PATIENCE_SECONDS) == 5
    os.close(mine)


def test_who_attaches_sees_what_is_printed_until_the_end(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main("sh")], [running()])
    done = kubectl("attach", "-i", "web", stdin="echo $HOSTNAME\nexit 2\n")
    assert (done.returncode, done.stdout) == (2, "web\n")


def test_who_attaches_to_what_is_made_for_it_misses_nothing(api: Api, namespace: str) -> None:
    """`kubectl run -i --rm t -- nslookup web`: it is over before anybody can attach."""
    put(api, namespace, [main("sh", "-c", "echo alive; sleep 5", stdin=True, stdinOnce=True)], [running()])
    path = f"/api/v1/namespaces/{namespace}/pods/web/attach?stdin=1&stdout=1&stderr=1"
    with attached(api, path, "v4.channel.k8s.io") as opened:
        assert opened.recv(PATIENCE_SECONDS) == b"\x01alive\n"


@contextmanager
def attached(api: Api, path: str, protocol: str) -> Iterator[ClientConnection]:
    url = api.base.replace("http://", "ws://") + path
    head = {"Authorization": f"Bearer {api.made['teacher']}"}
    with connect(url, subprotocols=[Subprotocol(protocol)], additional_headers=head) as opened:
        assert opened.subprotocol == protocol
        yield opened


def frames(api: Api, path: str, protocol: str) -> list[bytes]:
    """Return what a websocket of a protocol gets until the server closes it."""
    with attached(api, path, protocol) as opened:
        found = [frame if isinstance(frame, bytes) else frame.encode() for frame in opened]
        assert opened.close_code == 1000
        return found


def test_the_oldest_protocols_of_websockets_are_spoken_too(api: Api, namespace: str) -> None:
    put(api, namespace, [main("sh", "-c", "echo alive; sleep 5")], [running()])
    path = f"/api/v1/namespaces/{namespace}/pods/web"
    asked = f"{path}/exec?command=sh&command=-c&stdout=1&stderr=1&command="
    assert frames(api, f"{asked}echo%20out", "channel.k8s.io") == [b"\x01out\n"], "and no word at the end"
    said = b"\x03command terminated with non-zero exit code: exit status 3"
    assert frames(api, f"{asked}exit%203", "channel.k8s.io") == [said]
    assert b"".join(frames(api, f"{path}/log", "binary.k8s.io")) == b"alive\n"


def test_a_container_that_finds_its_port_taken_says_so(api: Api, namespace: str, kubectl: Kubectl) -> None:
    containers = [main(name="one", image="nginx"), main(name="two", image="nginx")]
    put(api, namespace, containers, [running("one"), ended("two", 1)])
    text = "bind() to 0.0.0.0:80 failed (98: Address already in use)"
    assert text in kubectl("logs", "web", "-c", "two").stdout
    assert text not in kubectl("logs", "web", "-c", "one").stdout


def test_what_is_sent_to_a_container_that_reads_is_shown(api: Api, namespace: str, kubectl: Kubectl) -> None:
    put(api, namespace, [main("cat", stdin=True)], [running()])
    assert kubectl("attach", "-i", "web", stdin="one\ntwo\n").stdout == "one\ntwo\n"
