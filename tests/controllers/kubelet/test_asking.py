"""`wget`, `curl` and `nc` in a container: what they print, with what they end, how long they wait."""

from __future__ import annotations

import pytest

from controllers.kinds.clustersim.target import Target
from controllers.kubelet.shell.running import PLAIN, Asked, Came, Meant
from tests.controllers.kubelet.test_shell import CONTAINER, done, shell_in

OK = Came("ok", 200, "", "10.96.0.5", "hello\n")
ILL = Came("error", 503, "Unhealthy", "10.96.0.5", "cannot serve\n")
REFUSED = Came("refused", 0, "NoEndpoints", "10.96.0.5")
LATE = Came("timeout", 0, "NetworkPolicy", "10.96.0.5")
HANGS = Came("timeout", 0, "Hangs", "10.96.0.5")
NOBODY = Came("unresolved", 0, "NoSuchName")
AWAY = Came("outside", 0, "LeftTheCluster")


class Sends:
    """Answers every request alike, and remembers them."""

    def __init__(self, came: Came) -> None:
        self.asked: list[Target] = []
        self.how: list[Asked] = []
        self._came = came

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        self.asked.append(target)
        self.how.append(asked)
        return self._came

    def look_up(self, host: str) -> Meant | None:
        return None


@pytest.mark.parametrize(
    ("script", "came", "out", "errors", "code", "waited"),
    [
        ("wget -qO- http://web", OK, "hello\n", "", 0, 0),
        ("wget -q -O - web:80/a/b", OK, "hello\n", "", 0, 0),
        (
            "wget -O- http://web", OK, "hello\n",
            "Connecting to web:80 (10.96.0.5:80)\nwriting to stdout\nwritten to stdout\n", 0, 0,
        ),
        ("wget -q http://web && cat index.html", OK, "hello\n", "", 0, 0),
        ("wget -q --spider http://web", OK, "", "", 0, 0),
        ("wget -qO- nope", NOBODY, "", "wget: bad address 'nope'\n", 1, 0),
        ("wget -qO- web", REFUSED, "", "wget: can't connect to remote host (10.96.0.5): Connection refused\n", 1, 0),
        ("wget -qO- -T 2 web", LATE, "", "wget: download timed out\n", 1, 2000),
        ("wget -qO- --timeout=2 web", HANGS, "", "wget: download timed out\n", 1, 2000),
        (
            "wget -qO- web", LATE, "",
            "wget: can't connect to remote host (10.96.0.5): Connection timed out\n", 1, 131_000,
        ),
        ("wget -qO- web", HANGS, "", "wget: download timed out\n", 1, 900_000),
        ("wget -qO- web", ILL, "", "wget: server returned error: HTTP/1.1 503 Service Unavailable\n", 1, 0),
        ("wget ftp://web", OK, "", "wget: bad address 'ftp://web'\n", 1, 0),
        (
            "wget -qO- example.com", AWAY, "",
            "wget: 'example.com' lies outside of the cluster, which is not simulated\n", 1, 0,
        ),
        ("curl -s web", OK, "hello\n", "", 0, 0),
        ("curl -i web", OK, "HTTP/1.1 200 OK\nContent-Type: text/plain\nContent-Length: 6\n\nhello\n", "", 0, 0),
        ("curl -so /dev/null -w '%{http_code}\\n' web", OK, "200\n", "", 0, 0),
        ("curl -s --write-out '%{http_code}' --output /tmp/o web; cat /tmp/o", ILL, "503cannot serve\n", "", 0, 0),
        ("curl -s web", ILL, "cannot serve\n", "", 0, 0),
        ("curl -sSf web", ILL, "", "curl: (22) The requested URL returned error: 503\n", 22, 0),
        ("curl nope", NOBODY, "", "curl: (6) Could not resolve host: nope\n", 6, 0),
        ("curl -s nope", NOBODY, "", "", 6, 0),
        (
            "curl web", REFUSED, "",
            "curl: (7) Failed to connect to web port 80 after 0 ms: Could not connect to server\n", 7, 0,
        ),
        ("curl -m 3 web", LATE, "", "curl: (28) Connection timed out after 3000 milliseconds\n", 28, 3000),
        (
            "curl --connect-timeout 2 -m 9 web", LATE, "",
            "curl: (28) Connection timed out after 2000 milliseconds\n", 28, 2000,
        ),
        (
            "curl --connect-timeout 2 -m 9 web", HANGS, "",
            "curl: (28) Operation timed out after 9000 milliseconds with 0 bytes received\n", 28, 9000,
        ),
        ("curl", OK, "", "curl: (2) no URL specified\n", 2, 0),
        ("nc -zv web 80", OK, "", "web (10.96.0.5:80) open\n", 0, 0),
        ("nc -z web 80 || echo shut", REFUSED, "shut\n", "nc: web (10.96.0.5:80): Connection refused\n", 0, 0),
        ("nc -zw 2 web 80", LATE, "", "nc: web (10.96.0.5:80): Connection timed out\n", 1, 2000),
        ("nc -z nope 80", NOBODY, "", "nc: bad address 'nope'\n", 1, 0),
        ("nc -lp 80", OK, "", "nc: this container is simulated: no process runs in it\n", 1, 0),
    ],
)  # fmt: skip
def test_what_commands_say_of_what_came(script: str, came: Came, out: str, errors: str, code: int, waited: int) -> None:
    shell = shell_in({**CONTAINER, "image": "toolbox"})
    shell.send = sends = Sends(came)
    assert done(shell, script) == (out, errors, code, waited)
    assert len(sends.asked) <= 1


def test_what_is_asked_for() -> None:
    shell = shell_in({**CONTAINER, "image": "toolbox"})
    shell.send = sends = Sends(OK)
    done(shell, "curl -sk https://Web.Shop/a?b=1 http://x; sh -c 'wget -qO- http://10.96.0.9:8080'; nc -z db 5432")
    assert sends.asked == [Target("web.shop", 443, "/a?b=1"), Target("10.96.0.9", 8080, "/"), Target("db", 5432, "/")]


@pytest.mark.parametrize(
    ("script", "how"),
    [
        ("curl -s web", PLAIN),
        ("curl -s -H 'A: b' --header 'Accept:  c:d' web", Asked(headers=(("a", "b"), ("accept", "c:d")))),
        ("curl -s --cacert /ca.crt --cert=/c --key /k -X delete https://web", Asked("DELETE")),
        ("curl -s -d a=1 --data-raw b=2 web", Asked("POST", body="a=1&b=2")),
        ("echo -n '{}' > /tmp/o; curl -s -X PATCH --data-binary @/tmp/o web", Asked("PATCH", body="{}")),
        ("curl -sI web", Asked("HEAD")),
        ("wget -qO- --header 'A: b' --post-data x=1 http://web", Asked("POST", (("a", "b"),), "x=1")),
    ],
)
def test_how_it_is_asked_for(script: str, how: Asked) -> None:
    shell = shell_in({**CONTAINER, "image": "toolbox"})
    shell.send = sends = Sends(OK)
    assert done(shell, script)[2] == 0
    assert sends.how == [how]


def test_certificates_of_the_cluster_are_believed_where_it_is_said_who_signs_them() -> None:
    shell = shell_in({**CONTAINER, "image": "toolbox"})
    shell.send = Sends(OK)
    unbelieved = "curl: (60) SSL certificate problem: unable to get local issuer certificate\n"
    assert done(shell, "curl https://web")[:3] == ("", unbelieved, 60)
    assert done(shell, "curl -s --cacert /ca.crt https://web")[:3] == ("hello\n", "", 0)


@pytest.mark.parametrize("program", ["wget", "curl", "nc", "nslookup"])
def test_without_a_network_there_is_none(program: str) -> None:
    shell = shell_in({**CONTAINER, "image": "toolbox"})
    assert done(shell, f"{program} web 80")[1] == f"{program}: this container is simulated: no process runs in it\n"


def test_what_an_image_lacks_is_not_found() -> None:
    assert done(shell_in(), "curl web")[1:3] == ("sh: curl: not found\n", 127)
