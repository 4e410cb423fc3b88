"""What programs in a simulated container print: as those of coreutils, busybox and their like do."""

from __future__ import annotations

import pytest

from controllers.kinds.clustersim.target import Target
from controllers.kubelet.shell.running import PLAIN, Asked, Came, Meant
from tests.controllers.kubelet.test_shell import CONTAINER, done, shell_in

FILE = "printf 'b 2 x\\na 10 y\\nb 1 z\\n' > /tmp/t; cd /tmp; "


@pytest.mark.parametrize(
    ("script", "out"),
    [
        ("echo abc | rev; printf '1\\n2\\n' | tac; printf 'a\\nb\\n' | nl", "cba\n2\n1\n     1\ta\n     2\tb\n"),
        ("printf 'a\\nb\\nc\\n' | paste -sd,; seq 2 | paste -d: - /etc/hostname", "a,b,c\n1:web\n2:\n"),
        ("echo HeLLo | tr '[:upper:]' a-z; echo aabb | tr -s ab; echo a1b2 | tr -cd 0-9", "hello\nab\n12"),
        (FILE + "sort t; sort -k2n t; sort -k1,1 -k2,2nr t; sort -u -k1,1 t", "a 10 y\nb 1 z\nb 2 x\nb 1 z\nb 2 x\n"
         "a 10 y\na 10 y\nb 2 x\nb 1 z\na 10 y\nb 2 x\n"),
        (FILE + "cut -d' ' -f1,3 t; cut -c1-3 t | head -n 1", "b x\na y\nb z\nb 2\n"),
        ("printf 'x\\nx\\ny\\n' | uniq -c; printf 'x\\nx\\ny\\n' | uniq -d", "      2 x\n      1 y\nx\n"),
        (FILE + "tail -n +3 t; tail -1 t; head -c 3 t; head -n -2 t; wc -l < t", "b 1 z\nb 1 z\nb 2b 2 x\n3\n"),
        ("seq 2 2 6 | xargs; seq 3 -1 2; seq -w 9 10; seq -s, 3; seq 0.5 0.5 1",
         "2 4 6\n3\n2\n09\n10\n1,2,3\n0.5\n1.0\n"),
        ("echo 1 2 3 | xargs -n2 echo x; printf 'a\\nb\\n' | xargs -I{} echo '<{}>'", "x 1 2\nx 3\n<a>\n<b>\n"),
        (FILE + "grep -n b t; grep -vc b t; grep -o '[0-9]*' t; grep -E '^[a-z] [0-9]{2}' t; grep -w 1 t",
         "1:b 2 x\n3:b 1 z\n1\n2\n10\n1\na 10 y\nb 1 z\n"),
        ("printf 'one\\ntwo\\nthree\\n' > /t; sed -n '2p' /t; sed 's/o/0/g;/t/!d' /t; sed -E 's/(.)(.)/\\2\\1/;3q' /t",
         "two\ntw0\nthree\nnoe\nwto\nhtree\n"),
        ("echo 'a/b' | sed 's#/#-#; s/a/[&]/'; printf 'x\\n' > /t; sed -i 's/x/y/' /t; cat /t; sed '1a more' /t",
         "[a]-b\ny\ny\nmore\n"),
        (FILE + "awk '{print $1, $2*2}' t; awk 'NR==2 {print NF, $NF}' t; awk '{s+=$2} END {print s, NR}' t",
         "b 4\na 20\nb 2\n3 y\n13 3\n"),
        (FILE + "awk '{n[$1]++} END {for (k in n) print k, n[k]}' t | sort; awk '$2 > 1 && /b/' t",
         "a 1\nb 2\nb 2 x\n"),
        ("echo k=v | awk -F= -v x=5 '{printf \"%s:%d %s\\n\", $2, x, toupper(substr($1, 1))}'", "v:5 K\n"),
        ("awk 'BEGIN {n = split(\"x:y\", p, \":\"); print n p[2]; while (i < 2) i++; print i, 1/4, length(\"abc\")}'",
         "2y\n2 0.25 3\n"),
        ("expr 1 + 2; expr abc : 'a\\(.\\)c'; expr length hello; expr 3 \\> 2; expr 7 / 2", "3\nb\n5\n1\n3\n"),
        ("basename /a/b.txt .txt; dirname /a/b; realpath /etc/../etc/hosts; basename a/", "b\n/a\n/etc/hosts\na\n"),
        ("echo hi | base64; echo aGkK | base64 -d; printf x | md5sum",
         "aGkK\nhi\n9dd4e461268c8034f5c8564e155c67a6  -\n"),
        ("t=$(mktemp); echo x > $t; d=$(mktemp -d); [ -d $d ] && [ -s $t ] && echo made; ln -s $t /l; cat /l",
         "made\nx\n"),
        ("install -d /opt/x; echo a > /a; install -m 755 /a /opt/x/; cat /opt/x/a; cat -n /a", "a\n     1\ta\n"),
        ("printf '%05.1f|%x|%-3s|%c|%b\\n' 3.14159 255 a xyz 'a\\tb'; printf '%s-' a b; printf '\\101\\x42\\n'",
         "003.1|ff|a  |x|a\tb\na-b-AB\n"),
        ("yes | head -n 2; yes no | head -n 1; shuf -e a | cat; shuf -i 1-9 | wc -l", "y\ny\nno\na\n9\n"),
        ("id -u; id -un; whoami; nproc; arch; uname -sm", "0\nroot\nroot\n4\nx86_64\nLinux x86_64\n"),
        ("hostname -i; hostname -s; getent hosts web; getent hosts localhost", "10.128.1.2\nweb\n10.128.1.2      web\n"
         "127.0.0.1       localhost\n"),
    ],
)  # fmt: skip
def test_programs_print_what_those_of_an_image_print(script: str, out: str) -> None:
    assert done(shell_in(), script)[:3] == (out, "", 0)


def test_a_container_knows_its_addresses() -> None:
    node = {"kind": "Node", "metadata": {"name": "n1"}, "spec": {"podCIDR": "10.128.1.0/24"}}
    assert "inet 10.128.1.2/24 scope global eth0\n" in done(shell_in(CONTAINER, node), "ip addr")[0]
    assert "inet addr:10.128.1.2  Mask:255.255.255.0\n" in done(shell_in(CONTAINER, node), "ifconfig eth0")[0]
    shell = shell_in(hostname="db-0", subdomain="db")
    assert done(shell, "hostname -f; hostname -d")[0] == "db-0.db.shop.svc.cluster.local\ndb.shop.svc.cluster.local\n"


@pytest.mark.parametrize("script", ["top -b -n 1", "df", "free", "uptime", "ip route", "ping web"])
def test_what_nobody_knows_is_said_to_be_not_known(script: str) -> None:
    assert done(shell_in(), script)[1].endswith("this container is simulated: no process runs in it\n")


class Network:
    """One pod answers, another one does not."""

    def __call__(self, target: Target, asked: Asked = PLAIN) -> Came:
        if target.host == "none":
            return Came("unresolved")
        return Came("refused" if target.host == "db" else "timeout", address="10.128.1.4")

    def look_up(self, host: str) -> Meant | None:
        return Meant("db.shop.svc.cluster.local", ("10.128.1.4", "10.128.2.5")) if host == "db" else None


def test_ping_and_getent_ask_the_cluster() -> None:
    shell = shell_in()
    shell.send = Network()
    out, _, code, ms = done(shell, "ping -c 2 db")
    assert out == (
        "PING db (10.128.1.4): 56 data bytes\n64 bytes from 10.128.1.4: seq=0\n64 bytes from 10.128.1.4: seq=1\n\n"
        "--- db ping statistics ---\n2 packets transmitted, 2 packets received, 0% packet loss\n"
    )
    assert (code, ms) == (0, 1000)
    out, _, code, ms = done(shell, "ping -c 2 far")
    assert out.endswith("2 packets transmitted, 0 packets received, 100% packet loss\n")
    assert (code, ms) == (1, 2000)
    assert done(shell, "ping -c 1 none")[1:3] == ("ping: bad address 'none'\n", 1)
    whole = "db.shop.svc.cluster.local\n"
    assert done(shell, "getent hosts db")[0] == f"10.128.1.4      {whole}10.128.2.5      {whole}"
    assert done(shell, "getent hosts nobody")[::2] == ("", 2)
