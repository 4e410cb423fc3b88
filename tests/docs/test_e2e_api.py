"""docs/e2e-api.md names each of upstream's tests of accounts, networks, quotas and operations that ours do again."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Final

import pytest

from tests.tools.upstreamapi import DONE

ROOT: Final = Path(__file__).parents[2]
FILE: Final = ROOT / "docs" / "e2e-api.md"
HEAD: Final = """# Upstream's end-to-end tests of the API

Kubernetes' own end-to-end tests (`test/e2e`, v1.34) of what asks for the API alone and needs no real container, and
the test of ours that does the same to a session in one process: same objects, same changes in the same order, same
things expected. All of them hold. `pytest tests/docs/test_e2e_api.py --update-golden` writes this page.

Kubernetes' own test binary (`go test -c ./test/e2e` of the tag v1.34.1) runs against a session as it is, by the
kubeconfig that the page gives, in a session of the template `three-nodes` at rate 1:

```sh
e2e.test --kubeconfig=config --provider=skeleton --kubectl-path=kubectl --ginkgo.focus='Watchers should'
```

338 of its tests need no real container (208 of them of conformance: api-machinery, apps, architecture, auth, cli,
instrumentation, network, node, scheduling, storage). All pass, by kubectl 1.34 and no other flags; the two of
`Multi-AZ Clusters` ask for zones, and pass once `kubectl label node` has put each node into one. What runs a webhook,
an aggregated server or a program of its own in a pod (admission and conversion webhooks, port-forward to one that
speaks no HTTP) does not: containers are simulated.

| upstream | ours, in `tests/apiserver/` |
|---|---|
"""


def test_the_page_is_what_the_tests_say(pytestconfig: pytest.Config) -> None:
    for file in sorted((ROOT / "tests" / "apiserver").glob("test_*.py")):
        if "tests.tools.upstreamapi" in file.read_text():
            import_module(f"tests.apiserver.{file.stem}")
    page = HEAD + "".join(f"| `{name}` | `{test}` |\n" for name, test in sorted(DONE.items()))
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(page)
    assert FILE.read_text() == page, "run pytest tests/docs/test_e2e_api.py --update-golden and review the difference"
