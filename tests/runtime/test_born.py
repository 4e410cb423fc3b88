"""Children of the supervisor begin where it stands, or afresh: either way they are looked after and end with it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tools.patience import PATIENCE_SECONDS
from tests.tools.server import ROOT, child_pids, is_alive, wait_for

SUPERVISOR = """
import sys
from pathlib import Path

def main():
    import django
    django.setup()
    from django.core.management import call_command
    from clustersim.runtime import born, lifeline
    born.FORKS = sys.argv[1] == "forks"
    call_command("migrate", verbosity=0)
    born.make_room()
    line = lifeline.line()
    done = born.Born(("help",), line)
    print(done.wait(60), flush=True)
    broken = born.Born(("no-such-command",), line)
    print(broken.wait(60), flush=True)
    runs = born.Born(("worker",), line)
    print(runs.poll(), runs.pid, flush=True)
    sys.stdin.read()

if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("how", ["forks", "afresh"])
def test_a_child_is_started_named_looked_after_and_ends_with_its_supervisor(how: str, tmp_path: Path) -> None:
    script = tmp_path / "supervisor.py"
    script.write_text(SUPERVISOR)
    environment = {
        **os.environ,
        "DJANGO_SETTINGS_MODULE": "clustersim.settings",
        "PYTHONPATH": str(ROOT),
        "CLUSTERSIM_DATA": str(tmp_path / "data"),
    }
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([sys.executable, str(script), how], env=environment, text=True, **pipes) as supervisor:
        assert supervisor.stdout
        lines = iter(supervisor.stdout)
        assert any(line == "0\n" for line in lines), "help was shown"
        assert next(lines) == "1\n", "what fails says so"
        told, pid = next(lines).split()
        assert told == "None", "it runs"
        named = [str(ROOT / "manage.py"), "worker"]
        wait_for(lambda: child_pids(supervisor.pid).get(int(pid), [])[-2:] == named, what="what `ps` shows of it")
        assert os.getsid(int(pid)) == int(pid), "a Ctrl-C does not reach it"
        supervisor.kill()
        supervisor.wait(PATIENCE_SECONDS)
    wait_for(lambda: not is_alive(int(pid)), what="its end")
