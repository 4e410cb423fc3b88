"""What a simulated container answers to commands and scripts: output, errors, exit codes and how long it takes."""

from __future__ import annotations

import tarfile
from collections.abc import Mapping, Sequence
from io import BytesIO
from typing import Any

import pytest

from controllers.kinds.clustersim.target import Target
from controllers.kubelet.shell.inside import expanded, look_inside
from controllers.kubelet.shell.interpreter import Shell
from controllers.kubelet.shell.looking import PROGRAMS
from controllers.kubelet.shell.running import PLAIN, Asked, Came, Meant, Reads, Sent, TooLong, Waits, Wrote
from controllers.kubelet.stages.pods import STAGES
from tests.tools.lab import Document

NOW_MS = 1_767_225_600_000
SENT = "one\ntwo\n"


class Held:
    """What the API holds."""

    def __init__(self, *documents: Document) -> None:
        self._documents = documents

    def get(self, resource: str, namespace: str, name: str) -> Mapping[str, Any] | None:
        kinds = {"services": "Service", "configmaps": "ConfigMap", "secrets": "Secret", "nodes": "Node"}
        return next(
            (
                one
                for one in self._documents
                if one["kind"] == kinds[resource]
                and one["metadata"]["name"] == name
                and one["metadata"].get("namespace", "") == namespace
            ),
            None,
        )

    def list(self, resource: str, namespace: str) -> Sequence[Mapping[str, Any]]:
        assert resource == "services"
        return [
            one for one in self._documents if one["kind"] == "Service" and one["metadata"]["namespace"] == namespace
        ]

    def at(self, unix_ms: int) -> Held:
        return self


CONTAINER: Document = {"name": "main", "image": "alpine:3"}


def pod_of(container: Document, **spec: Any) -> Document:
    return {
        "metadata": {
            "name": "web",
            "namespace": "shop",
            "uid": "u-1",
            "labels": {"app": "web", "tier": "front"},
            "annotations": {"said": 'a "b"'},
        },
        "spec": {"nodeName": "n1", "containers": [container], **spec},
        "status": {"podIP": "10.128.1.2", "hostIP": "192.168.0.1"},
    }


def shell_in(container: Document = CONTAINER, *documents: Document, **spec: Any) -> Shell:
    inside = look_inside(pod_of(container, **spec), container, Held(*documents), STAGES.answers)
    return Shell(inside, PROGRAMS, NOW_MS, dict(inside.environment), inside.folder)


def done(shell: Shell, text: str) -> tuple[str, str, int, int]:
    """Return (output, errors, exit code, milliseconds) of a script."""
    texts, waited = {1: "", 2: ""}, 0
    running = shell.run(text)
    while True:
        try:
            one = next(running)
        except StopIteration as end:
            return texts[1], texts[2], end.value, waited
        if isinstance(one, Waits):
            waited += one.ms
        elif isinstance(one, Reads):
            assert shell.sent.text is None, "who reads what is there does not wait"
            shell.sent.text = SENT
        elif isinstance(one, Wrote):
            texts[one.fd] += one.text


@pytest.mark.parametrize(
    ("script", "out", "code"),
    [
        ("echo hello; exit 3", "hello\n", 3),
        ("hostname", "web\n", 0),
        ("a=2; b=$((a * 3 + 1)); echo \"$b\" '$b' $b", "7 $b 7\n", 0),
        ("false && echo no || echo yes", "yes\n", 0),
        ("! true", "", 1),
        ("for i in a b 'c d'; do echo \"<$i>\"; done", "<a>\n<b>\n<c d>\n", 0),
        ("i=0; while [ $i -lt 3 ]; do echo -n $i; i=$((i+1)); done", "012", 0),
        ("if [ -f /etc/hostname ]; then cat /etc/hostname; else echo none; fi", "web\n", 0),
        ("printf '%s-%d\\n' x 7 y 8", "x-7\ny-8\n", 0),
        ("echo one > /tmp/a; echo two >> /tmp/a; cat /tmp/a | wc -l", "2\n", 0),
        ("echo $(echo inner; exit 4) $?", "inner 4\n", 0),
        ("x='a b'; set --; for w in $x; do echo $w; done", "a\nb\n", 0),
        ("env | grep ^HOSTNAME", "HOSTNAME=web\n", 0),
        ("sh -c 'echo in $0; exit 9' name; echo $?", "in name\n9\n", 0),
        ("printf 'b\\na\\nb\\n' | sort | uniq | head -n 1", "a\n", 0),
        ("while read line; do echo got $line; done < /etc/hostname", "got web\n", 0),
        ("printf 'x y\\nz\\n' | while read a b; do echo \"$a:$b\"; done", "x:y\nz:\n", 0),
        ("until true; do echo never; done; echo ${UNSET:-other}", "other\n", 0),
        ("for i in 1 2 3; do [ $i = 2 ] && continue; [ $i = 3 ] && break; echo $i; done; echo end", "1\nend\n", 0),
        ("{ echo a; echo b; } | tail -n 1; (cd /etc; pwd); pwd", "b\n/etc\n/\n", 0),
        ("date +%Y-%m-%d; sleep 86400; date +%d", "2026-01-01\n02\n", 0),
        ("echo lost >/dev/null 2>&1; ls /etc/host*", "/etc/hostname\n/etc/hosts\n", 0),
        ("sleep 1000 & echo after", "after\n", 0),
        ("exec echo gone; echo never", "gone\n", 0),
        ("grep Cpus_allowed_list /proc/self/status | cut -f2 && nproc; cat /proc/1/cgroup", "0-3\n4\n0::/\n", 0),
    ],
)
def test_scripts_print_what_a_shell_prints(script: str, out: str, code: int) -> None:
    assert done(shell_in(), script)[:3] == (out, "", code)


def test_a_command_that_there_is_not_is_not_found() -> None:
    assert done(shell_in(), "nosuch --help")[:3] == ("", "sh: nosuch: not found\n", 127)
    assert done(shell_in(), "bash -c true")[2] == 127
    assert done(shell_in({**CONTAINER, "image": "debian:13"}), "bash -c true")[2] == 0


def test_errors_go_where_they_are_sent() -> None:
    assert done(shell_in(), "cat /none 2>&1 | wc -l")[0] == "1\n"
    assert done(shell_in(), "echo x >&2")[:2] == ("", "x\n")
    assert done(shell_in(), "cat /none")[1:3] == ("cat: can't open '/none': No such file or directory\n", 1)


@pytest.mark.parametrize(
    "script",
    ["echo 'open", "if true; then", "echo $(echo", "case x in a) :", "| cat", "a && ", "done", "${a b}", "(" * 99],
)
def test_what_cannot_be_read_is_said(script: str) -> None:
    out, wrong, code, _ = done(shell_in(), script)
    assert (out, code) == ("", 2)
    assert wrong.startswith("sh: ")


@pytest.mark.parametrize(
    "script",
    [
        "while true; do :; done",
        "x=a; while true; do x=$x$x; done",
        "sh -c 'while :; do echo x; done'",
        "while true; do echo x; done | cat",
    ],
)
def test_what_does_not_end_is_stopped(script: str) -> None:
    with pytest.raises(TooLong):
        done(shell_in(), script)


def test_time_passes_in_a_script() -> None:
    assert done(shell_in(), "sleep 2; sleep 0.5; sleep 1m")[3] == 62_500


def test_a_container_has_the_environment_that_its_pod_gives_it() -> None:
    service = {
        "kind": "Service",
        "metadata": {"name": "db-main", "namespace": "shop"},
        "spec": {"clusterIP": "10.96.0.7", "ports": [{"name": "sql", "port": 5432, "protocol": "TCP"}]},
    }
    config = {"kind": "ConfigMap", "metadata": {"name": "conf", "namespace": "shop"}, "data": {"mode": "fast"}}
    secret = {"kind": "Secret", "metadata": {"name": "key", "namespace": "shop"}, "data": {"token": "czNjcmV0"}}
    container = {
        **CONTAINER,
        "resources": {"limits": {"memory": "64Mi", "cpu": "1500m"}},
        "envFrom": [{"prefix": "C_", "configMapRef": {"name": "conf"}}],
        "env": [
            {"name": "TOKEN", "valueFrom": {"secretKeyRef": {"name": "key", "key": "token"}}},
            {"name": "NODE", "valueFrom": {"fieldRef": {"fieldPath": "spec.nodeName"}}},
            {"name": "APP", "valueFrom": {"fieldRef": {"fieldPath": "metadata.labels['app']"}}},
            {"name": "MEMORY", "valueFrom": {"resourceFieldRef": {"resource": "limits.memory", "divisor": "1Mi"}}},
            {"name": "CPU", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
            {"name": "WHOLE", "value": "$(NODE)-$(NONE)-$$(NODE)"},
        ],
    }
    seen = shell_in(container, service, config, secret).inside.environment
    wanted = {
        "C_mode": "fast",
        "TOKEN": "s3cret",
        "NODE": "n1",
        "APP": "web",
        "MEMORY": "64",
        "CPU": "2",
        "WHOLE": "n1-$(NONE)-$(NODE)",
        "DB_MAIN_SERVICE_HOST": "10.96.0.7",
        "DB_MAIN_SERVICE_PORT": "5432",
        "DB_MAIN_SERVICE_PORT_SQL": "5432",
        "DB_MAIN_PORT": "tcp://10.96.0.7:5432",
        "DB_MAIN_PORT_5432_TCP_ADDR": "10.96.0.7",
    }
    assert {name: seen.get(name) for name in wanted} == wanted
    assert "DB_MAIN_SERVICE_HOST" not in shell_in(container, service, enableServiceLinks=False).inside.environment


@pytest.mark.parametrize(
    ("text", "value"),
    [("$(A)", "1"), ("$$(A)", "$(A)"), ("$(B)", "$(B)"), ("$(A", "$(A"), ("$A $", "$A $"), ("a$$", "a$")],
)
def test_names_in_brackets_are_replaced_as_upstream_does(text: str, value: str) -> None:
    assert expanded(text, {"A": "1"}) == value


def test_volumes_show_their_files_and_cannot_be_written() -> None:
    config = {
        "kind": "ConfigMap",
        "metadata": {"name": "conf", "namespace": "shop"},
        "data": {"a.txt": "A\n", "b": "B"},
    }
    container = {
        **CONTAINER,
        "volumeMounts": [
            {"name": "conf", "mountPath": "/etc/conf"},
            {"name": "conf", "mountPath": "/opt/one", "subPath": "b"},
            {"name": "info", "mountPath": "/info"},
        ],
    }
    volumes = [
        {"name": "conf", "configMap": {"name": "conf"}},
        {
            "name": "info",
            "downwardAPI": {
                "items": [
                    {"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}},
                    {"path": "annotations", "fieldRef": {"fieldPath": "metadata.annotations"}},
                ]
            },
        },
    ]
    shell = shell_in(container, config, volumes=volumes)
    assert done(shell, "ls /etc/conf; cat /etc/conf/a.txt; cat /opt/one")[0] == "a.txt\nb\nA\nB"
    assert done(shell, "cat /info/labels")[0] == 'app="web"\ntier="front"'
    assert done(shell, "cat /info/annotations")[0] == r'said="a \"b\""', "quoted as Go quotes"
    out, wrong, code, _ = done(shell, "echo x > /etc/conf/new")
    assert (out, wrong, code) == ("", "sh: can't create /etc/conf/new: Read-only file system\n", 1)


class Names:
    """Knows one name."""

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        return Came("refused")

    def look_up(self, host: str) -> Meant | None:
        if host == "away":
            return Meant("away.shop.svc.cluster.local", (), "db.example.com")
        return Meant("db.shop.svc.cluster.local", ("10.128.1.4", "10.128.2.5")) if host == "db" else None


def test_names_are_looked_up_where_the_cluster_is_asked() -> None:
    shell = shell_in()
    shell.send = Names()
    whole = "Name:\tdb.shop.svc.cluster.local\nAddress: "
    assert done(shell, "nslookup DB")[0].endswith(f"{whole}10.128.1.4\n{whole}10.128.2.5\n\n")
    out, _, code, _ = done(shell, "nslookup away")
    assert (out.splitlines()[3:], code) == (["away.shop.svc.cluster.local\tcanonical name = db.example.com", ""], 0)
    assert done(shell, "nslookup db.other")[::2] == (
        "Server:\t\t10.96.0.10\nAddress:\t10.96.0.10:53\n\n** server can't find db.other: NXDOMAIN\n\n",
        1,
    )
    assert "nameserver 10.96.0.10\noptions ndots:5" in done(shell_in(), "cat /etc/resolv.conf")[0]
    assert "10.128.1.2\tweb\n" in done(shell_in(), "cat /etc/hosts")[0]


def test_files_can_be_taken_out_as_an_archive_and_put_in() -> None:
    out, errors, code, _ = done(
        shell_in(), "mkdir /srv; echo ünder > /srv/a; echo b > /srv/b; tar cf - /srv /etc/hostname"
    )
    assert (errors, code) == ("", 0)
    with tarfile.open(fileobj=BytesIO(out.encode())) as archive:
        found = {one.name: archive.extractfile(one).read() for one in archive.getmembers()}  # type: ignore[union-attr]
    assert found == {"srv/a": "ünder\n".encode(), "srv/b": b"b\n", "etc/hostname": b"web\n"}
    _, errors, code, _ = done(shell_in(), "tar cf - /none")
    assert (errors, code) == ("tar: /none: Cannot stat: No such file or directory\n", 1)
    out, _, code, _ = done(
        shell_in(), "mkdir /srv; echo ünder > /srv/a; tar cf - /srv/a | tar -xmf - -C /tmp; cat /tmp/srv/a"
    )
    assert (out, code) == ("ünder\n", 0)
    _, errors, code, _ = done(shell_in(), "echo none | tar -xmf - -C /srv")
    assert (errors, code) == ("tar: short read\n", 1)
    long = "n" * 300
    _, errors, code, _ = done(shell_in(), f"echo x > /{long}; tar cf - /{long}")
    assert (errors, code) == (f"tar: {long}: file name is too long\n", 1)


@pytest.mark.parametrize(
    ("script", "out", "reads"),
    [
        ("cat", SENT, True),
        ("cat; cat", SENT, True),
        ("sh -c 'grep -c o'", "2\n", True),
        ('while read line; do echo "<$line>"; done', "<one>\n<two>\n", True),
        ("sh -c 'cat > /tmp/x'; wc -l < /tmp/x", "2\n", True),
        ("xargs echo", "one two\n", True),
        ("timeout 5 tee /tmp/y", SENT, True),
        ("hostname", "web\n", False),
        ("echo a | cat", "a\n", False),
        ("echo a | sh -c cat", "a\n", False),
        ("cat /etc/hostname", "web\n", False),
        ("echo a | while read x; do cat; done", "", False),
    ],
)
def test_what_is_sent_is_waited_for_by_who_reads_it_alone(script: str, out: str, reads: bool) -> None:
    shell = shell_in()
    shell.sent = Sent(None)
    assert done(shell, script)[:3] == (out, "", 0)
    assert (shell.sent.text is not None) is reads


def test_a_container_sees_what_the_kernel_would_let_it_have() -> None:
    """What test/e2e/common/node/framework/cgroups of v1.34 looks at before and after a resize."""
    given = {"requests": {"cpu": "500m", "memory": "64Mi"}, "limits": {"cpu": "1500m", "memory": "128Mi"}}
    told = {"name": "main", "containerID": "containerd://f00d", "resources": given}
    container = {
        **CONTAINER,
        "resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "2"}},
        "volumeMounts": [{"name": "groups", "mountPath": "/groups"}],
    }
    document = pod_of(container, volumes=[{"name": "groups", "hostPath": {"path": "/sys/fs/cgroup"}}])
    document["metadata"]["uid"] = "1a-2b"
    other = {"name": "other", "resources": {"requests": {"cpu": "20m"}, "limits": {"memory": "128Mi"}}}
    document["spec"]["containers"].append(other)
    document["status"] |= {"qosClass": "Burstable", "containerStatuses": [told]}
    inside = look_inside(document, container, Held(), STAGES.answers)
    shell = Shell(inside, PROGRAMS, NOW_MS, dict(inside.environment), inside.folder)
    assert (
        done(shell, "mount -t cgroup2")[0]
        == "cgroup on /sys/fs/cgroup type cgroup2 (ro,nosuid,nodev,noexec,relatime)\n"
    )
    own = "cd /sys/fs/cgroup; head -n 1 cpu.max; cat cpu.weight memory.max"
    assert done(shell, own)[0] == "150000 100000\n20\n134217728\n", "a resize that is not in force yet does not count"
    top = "/groups/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1a_2b.slice"
    assert done(shell, "find /groups -name '*1a_2b*' -o -name '*1a-2b*'")[0] == f"{top}\n"
    assert done(shell, f"cd {top}; cat cpu.max cpu.weight memory.max; ls")[0] == (
        "max 100000\n21\n268435456\ncgroup.controllers\ncpu.max\ncpu.weight\ncri-containerd-f00d.scope\nmemory.max\n"
    ), "it has as much as its containers together, and no end of what one of them has no end"
    assert done(shell, f"find {top} -type f -name 'cpu*' | wc -l")[0] == "4\n"
    assert done(shell_in(), "cat /sys/fs/cgroup/cpu.weight /sys/fs/cgroup/cpu.max")[0] == "1\nmax 100000\n"
    assert done(shell_in(), "find /none")[1:3] == ("find: /none: No such file or directory\n", 1)


PS = "PID   USER     TIME  COMMAND\n"


def test_processes_are_those_that_a_container_sees_under_their_users() -> None:
    nginx = {"name": "nginx", "image": "nginx"}
    box = {"name": "box", "image": "busybox", "command": ["sleep", "3600"], "securityContext": {"runAsUser": 1000}}
    assert done(shell_in(box), "ps")[0] == PS + "    1 1000      0:00 sleep 3600\n"
    shared = shell_in(box, containers=[nginx, box], shareProcessNamespace=True)
    told = "    1 65535     0:00 /pause\n    2 root      0:00 (nginx)\n    3 1000      0:00 sleep 3600\n"
    assert done(shared, "ps ax")[0] == PS + told
    debugger = {"name": "d", "image": "busybox", "command": ["sh"], "targetContainerName": "nginx"}
    looking = shell_in(debugger, containers=[nginx, box], ephemeralContainers=[debugger])
    assert done(looking, "ps")[0] == PS + "    1 root      0:00 (nginx)\n    2 root      0:00 sh\n"


def test_files_are_of_who_made_them_and_in_volumes_of_their_group() -> None:
    mounts = [{"name": "data", "mountPath": "/data/demo"}]
    box = {"name": "box", "image": "busybox", "command": ["sleep", "1h"], "volumeMounts": mounts}
    security = {"runAsUser": 1000, "runAsGroup": 3000, "fsGroup": 2000}
    shell = shell_in(box, volumes=[{"name": "data", "emptyDir": {}}], securityContext=security)
    assert done(shell, "ls -l /data")[0].startswith("drwxrwsrwx    1 root     2000 ")
    listed = done(
        shell, "cd /data/demo; echo hello > testfile; ls -l; echo x > /tmp/own; ls -l /tmp/own /etc/hostname"
    )[0]
    assert [line.split()[:5] for line in listed.splitlines()] == [
        ["-rw-r--r--", "1", "1000", "2000", "6"],
        ["-rw-r--r--", "1", "1000", "3000", "2"],
        ["-rw-r--r--", "1", "root", "root", "4"],
    ]


def test_a_node_s_root_is_seen_and_entered() -> None:
    info = {"nodeInfo": {"osImage": "Simulated Linux 1"}}
    host = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": info}
    debugger = {**CONTAINER, "image": "busybox:1.36", "volumeMounts": [{"name": "root", "mountPath": "/host"}]}
    root = [{"name": "root", "hostPath": {"path": "/"}}]

    def run(text: str) -> tuple[str, str, int]:
        return done(shell_in(debugger, host, nodeName="n1", volumes=root), text)[:3]

    out, _, code = run("ls /host")
    assert code == 0
    assert {"etc", "usr", "var"} <= set(out.split())
    assert run("chroot /host cat /etc/hostname /etc/os-release") == ('n1\nPRETTY_NAME="Simulated Linux 1"\n', "", 0)
    assert run("chroot /host ls /etc/kubernetes; ls /host/etc/hostname")[0] == "manifests\n/host/etc/hostname\n"
    assert run("chroot /host ls /host")[2] == 1
    assert run("chroot /nope ls")[2] == 125
