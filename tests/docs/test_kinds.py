"""docs/kinds.md lists every kind as the tables in the code have it; `--update-golden` writes it anew."""

from __future__ import annotations

from pathlib import Path

import pytest

from clustersim.apiserver.discovery import told
from controllers.kinds.table import KINDS, SERVED
from controllers.registry.kind import Kind
from controllers.registry.merging import MERGE_KEYS
from controllers.registry.schema import model
from tests.registry.test_merging import reached

FILE = Path(__file__).parent.parent.parent / "docs" / "kinds.md"

HEAD = """# Kinds

What the Kubernetes API of a session (`/clusters/<code>/`) serves. This page is made from the tables in the code
(`pytest tests/docs/test_kinds.py --update-golden`).

A new kind is one file, `controllers/kinds/<group>/<kind>.py`, and its line in `controllers/kinds/table.py`
([adding a kind](adding-a-kind.md)). Its fields
come from the generated models of v1.34 (own kinds: `controllers/registry/models/clustersim_v1/`), and so do type
checks, unknown-field checks, OpenAPI and `kubectl explain`.

All verbs are served for every kind: create, get, list, watch, update, patch (merge, strategic merge, JSON patch),
delete, deletecollection (not of Namespaces). Server-side apply is served for each, on `status` and `scale` too.

| kind | resource | short | scope | subresources | selectable fields |
|---|---|---|---|---|---|
"""

TAIL = """
Every kind is selectable by `metadata.name` and `metadata.namespace` too.

## Columns

What `kubectl get` prints; with `-o wide` also those in parentheses. Ages follow the session's clock.

"""

REST = """
## Differences from upstream

- Objects are kept as they were sent, with defaults filled in: quantities get upstream's canonical spelling, empty lists
  and maps that may be left out are, unknown fields are pruned with a warning, or refused under strict validation.
- `managedFields` tell what people and programs own over the API; the session's own controllers own nothing.
- For two simulated seconds after a namespace was made pods may count on its account `default`: upstream asks for it ten
  times in that time. The bundle in `kube-root-ca.crt` is a stand-in: simulated pods open no connection.
- Admission plugins that have nothing to act on here (CertificateApproval, NodeRestriction and others) are not there.
- Service addresses come from 10.96.0.0/16, node ports from 30000: from the upper part of each, as upstream.
- A node whose `status.allocatable` is missing gets it from `status.capacity`.
- Node Leases in `kube-node-lease` are computed when they are read, and are not told by a watch.
- `metrics.k8s.io/v1beta1` (`kubectl top`) is computed when it is read: containers use a share of what they ask for,
  which differs from pod to pod and from 15 s to 15 s. Those that open ports use cpu for requests instead: of clients,
  and of pods whose command sends them in a loop; each a second takes 20m, or what `clustersim.io/cpu-per-request` says.
  The annotations `clustersim.io/cpu-usage` and `clustersim.io/memory-usage` of a pod say otherwise for each of its
  containers; limits cap them.
- `clustersim.io/created-by` names who made an object; the server writes it, nobody else can.
- VolumeAttachments attach nothing; Ingresses lead nowhere. NetworkPolicies keep simulated requests out and in.
  Whoever writes a kind that nothing acts on is told in a `Warning` header.
- Volumes are not mounted: a pod starts when its claims are bound. A class with any provisioner gets volumes after a few
  seconds, in the zone of the chosen node; a claim that waits looks again as soon as a volume is available, not only
  every 15 s.
- A CSINode is made by the kubelet of a node with the annotation `clustersim.io/csi-drivers: a.example.dev=25`.
- `pods/log`, `exec`, `attach` and `portforward` are answered from the kubelets' stages ([stages.md](stages.md)), the
  latter three by websocket alone; `pods/proxy` and `services/proxy` answer with the same pages, `nodes/proxy` is 501.

"""


def row(kind: Kind) -> str:
    selectable = ", ".join(f"`{name}`" for name in sorted(kind.selectable))
    scope = "namespace" if kind.namespaced else "cluster"
    parts = (
        f"`{kind.api_version}` {kind.kind}",
        f"`{kind.resource}`",
        ", ".join(kind.short_names),
        scope,
        ", ".join(subresource.name for subresource in told(kind)),
        selectable,
    )
    return "| " + " | ".join(parts) + " |\n"


def columns(kind: Kind) -> str:
    listed = kind.columns
    shown = [column.name for column in listed if column.priority == 0 and column.name]
    wide = [column.name for column in listed if column.priority]
    return f"- {kind.kind}: {', '.join(shown)}" + (f" ({', '.join(wide)})" if wide else "") + "\n"


def page() -> str:
    served = set().union(*(reached(model(kind.schema)) for kind in KINDS))
    merging = "\n".join(
        f"- `{struct.partition('.')[2]}.{field}` by `{key}`"
        for (struct, field), key in sorted(MERGE_KEYS.items())
        if struct in served
    )
    return "".join(
        [
            HEAD,
            *map(row, SERVED),
            TAIL,
            *map(columns, SERVED),
            REST,
            "## Protobuf\n\nTyped clients send bodies in protobuf and ask for answers in it; both are served for ",
            "every kind above that is not the session's own: objects, lists, watches, metadata alone, refusals and ",
            "discovery. Tables are JSON, as upstream.\n\n",
            "## Lists that merge by a key in strategic merge patches\n\n",
            merging,
            "\n",
        ]
    )


def test_the_page_is_what_the_code_says(pytestconfig: pytest.Config) -> None:
    if pytestconfig.getoption("--update-golden"):
        FILE.write_text(page())
    assert FILE.read_text() == page(), "run pytest tests/docs/test_kinds.py --update-golden and review the difference"
