"""What bash knows beyond the POSIX shell, as scripts of manifests use it: arrays, conditions, braces, here-strings."""

from __future__ import annotations

import pytest

from controllers.kubelet.shell.tree import Unplayable
from tests.controllers.kubelet.test_shell import CONTAINER, done, shell_in
from tests.tools.lab import Document

BASH: Document = {**CONTAINER, "image": "docker.io/library/bash"}


@pytest.mark.parametrize(
    ("script", "out", "code"),
    [
        ("items=(foo bar baz qux xyz); JOB=3; echo ${items[$JOB]} ${#items[@]} ${items[-1]}", "qux 5 xyz\n", 0),
        ('a=(x "y z"); a+=(w); a[5]=q; printf "<%s>" "${a[@]}"; echo ${!a[@]}', "<x><y z><w><q>0 1 2 5\n", 0),
        (
            "a=(1 2 3); unset 'a[1]'; a[2]+=4; echo ${#a[@]} ${a[@]} ${a[@]:1}; a=($(echo p q)); echo $a",
            "2 1 34 34\np\n",
            0,
        ),
        (
            'declare -A m=([a]=1 [b]="2 3"); m[c]=4; for k in "${!m[@]}"; do echo "$k=${m[$k]}"; done',
            "a=1\nb=2 3\nc=4\n",
            0,
        ),
        (
            'a=(x y); IFS=,; echo "${a[*]}"; b=(4 5); echo ${b[$((0+1))]} $((b[1]*2)); ((b[1]++)); echo ${b[1]}',
            "x,y\n5 10\n6\n",
            0,
        ),
        (
            "[[ mysql-2 =~ -([0-9]+)$ ]] || exit 1; n=${BASH_REMATCH[1]}; echo server-id=$((100 + $n))",
            "server-id=102\n",
            0,
        ),
        (
            "[[ abc == a* && ! abc == b* ]] && echo glob; [[ abc == 'a*' ]] || echo quoted; p='a*'; [[ abc == $p ]]",
            "glob\nquoted\n",
            0,
        ),
        ("[[ b > a && ( 2 -gt 10 || 3 -eq 3 ) && -n x && -z '' ]] && echo yes; [[ -d /etc && ! -f /etc ]]", "yes\n", 0),
        ("re='^[0-9]+$'; for x in 42 4x; do [[ $x =~ $re ]] && echo $x; done; [[ 'a b' =~ a[[:space:]]b ]]", "42\n", 0),
        (
            "for ((i=0;i<3;i++)); do echo -n $i; done; ((i+=4)); echo .$i; ((i == 7)) && let i*=2; echo $i",
            "012.7\n14\n",
            0,
        ),
        (
            "echo {1..3} {c..a} {01..03} {8..2..3} x{1,2}y {a,b{1,2}} '{1,2}' {a}",
            "1 2 3 c b a 01 02 03 8 5 2 x1y x2y a b1 b2 {1,2} {a}\n",
            0,
        ),
        ('read -r a b <<< "x y z"; echo "$b|$a"; while read l; do echo "<$l>"; done < <(echo in)', "y z|x\n<in>\n", 0),
        (
            "IFS=, read -ra p <<< a,b,c; echo ${#p[@]} ${p[2]}; mapfile -t l < <(printf '1\\n2\\n'); echo ${l[1]}",
            "3 c\n2\n",
            0,
        ),
        ("x=hello; echo ${x^^} ${x^} ${x@U} ${x: -2}; n=x; echo ${!n}; [[ -v x ]]", "HELLO Hello HELLO lo\nhello\n", 0),
        (
            "printf -v v '%03d' 7; echo $v; declare -i z=3; z+=4; echo $z; false | true; echo ${PIPESTATUS[0]}",
            "007\n7\n1\n",
            0,
        ),
        ("{ echo out; echo err >&2; } &> /tmp/both; wc -l < /tmp/both; ls /none |& wc -l", "2\n1\n", 0),
        ('function f { local IFS=-; echo "$*"; return 3; }; f a b; echo $?', "a-b\n3\n", 0),
    ],
)
def test_scripts_print_what_bash_prints(script: str, out: str, code: int) -> None:
    assert done(shell_in(BASH), script)[:3] == (out, "", code)


@pytest.mark.parametrize(
    ("script", "out", "wrong", "code"),
    [
        ("a=(1 2)", "", 'sh: syntax error: unexpected "("\n', 2),
        ("echo {1..3}", "{1..3}\n", "", 0),
        ("x=ab; echo ${x^^}", "", "sh: syntax error: bad substitution: ${x^^}\n", 2),
        ("cat <<< x", "", "sh: syntax error: unexpected redirection\n", 2),
        ("[[ a == a && -d /etc ]] && echo yes", "yes\n", "", 0),
        ("declare x=1", "", "sh: declare: not found\n", 127),
    ],
)
def test_a_shell_that_is_not_bash_does_not_know_what_bash_does(script: str, out: str, wrong: str, code: int) -> None:
    assert done(shell_in(), script)[:3] == (out, wrong, code)


@pytest.mark.parametrize(
    "script",
    ["select x in a b; do echo; done", "coproc cat", "echo @(a|b)", "trap x ERR", "[[ a -nt b ]]", "declare -n r=x"],
)
def test_what_this_shell_alone_cannot_read_is_not_known_to_whoever_plays_it(script: str) -> None:
    shell = shell_in(BASH)
    _, wrong, code, _ = done(shell, script)
    assert code == 2
    assert wrong.startswith("sh: ")
    shell = shell_in(BASH)
    shell.lenient = True
    with pytest.raises(Unplayable):
        done(shell, script)


def test_what_is_set_before_or_within_goes_where_it_belongs() -> None:
    shell = shell_in(BASH)
    assert done(shell, "x=1; export y=2; x=3 sh -c 'echo $x $y'; sh -c 'echo [$x]'; echo $x")[0] == "3 2\n[]\n1\n"
    assert done(shell, "(x=5; cd /etc); echo $x; pwd; v=0; echo a | read v; echo $v")[0] == "1\n/\n0\n"
    assert done(shell, "set -x; x=1; [[ $x == 1 ]]; echo 'a b' $x")[1] == "+ x=1\n+ [[ 1 == 1 ]]\n+ echo 'a b' 1\n"
