"""A scheduler extender to try out and to change: `python extender.py --port 8888`. Python 3.11, nothing to install.

What it does, for pods with the label `tier`:

* filter: only nodes with the same `tier` label; another tier cannot be helped by evicting pods, no label might be.
* prioritize: the node with the most CPU gets 10, the others in proportion.
* preempt: nodes where a victim carries the label `protected: "true"` are taken out.
* bind: writes the binding through the session's Kubernetes API, with --api and the environment variable TOKEN.

Configure it as docs/extenders.md shows. It is sent whole nodes and remembers none; with `--nodes nodes.json` (what
`kubectl get nodes -o json` prints) it knows them, and filter and prioritize work with `nodeCacheCapable: true` as well.
"""

from __future__ import annotations

import argparse
import json
import os
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Document = dict[str, Any]


KNOWN: dict[str, Document] = {}
"""Node name → node, as --nodes gave them."""


def nodes_in(asked: Document) -> list[Document]:
    """Return the nodes that ExtenderArgs is about, known ones where it has names alone."""
    if asked["NodeNames"] is None:
        found: list[Document] = asked["Nodes"]["items"]
        return found
    return [KNOWN[name] for name in asked["NodeNames"] if name in KNOWN]


def tier_of(document: Document) -> str | None:
    """Return the label `tier` of a pod or a node."""
    return (document["metadata"].get("labels") or {}).get("tier")


def filter_nodes(asked: Document) -> Document:
    """Answer ExtenderArgs with an ExtenderFilterResult."""
    tier = tier_of(asked["Pod"])
    left: list[Document] = []
    failed: dict[str, str] = {}
    hopeless: dict[str, str] = {}
    for node in nodes_in(asked):
        name, own = node["metadata"]["name"], tier_of(node)
        if tier is None or own == tier:
            left.append(node)
        elif own is None:
            failed[name] = "node has no tier yet"
        else:
            hopeless[name] = f"node is of tier {own}"
    why = {"FailedNodes": failed, "FailedAndUnresolvableNodes": hopeless}
    if asked["NodeNames"] is None:
        return {"Nodes": {"items": left}, **why}
    return {"NodeNames": [node["metadata"]["name"] for node in left], **why}


def cores(node: Document) -> float:
    """Return the CPU that a node offers, in cores."""
    text = str((node.get("status", {}).get("allocatable") or {}).get("cpu", "0"))
    return float(text[:-1]) / 1000 if text.endswith("m") else float(text)


def prioritize(asked: Document) -> list[Document]:
    """Answer ExtenderArgs with a HostPriorityList: 0 to 10."""
    nodes = nodes_in(asked)
    most = max(map(cores, nodes), default=0.0) or 1.0
    return [{"Host": node["metadata"]["name"], "Score": round(10 * cores(node) / most)} for node in nodes]


def preempt(asked: Document) -> Document:
    """Answer ExtenderPreemptionArgs with an ExtenderPreemptionResult: victims by uid."""
    left: Document = {}
    for node, victims in (asked["NodeNameToVictims"] or {}).items():
        pods = victims["Pods"]
        if all((pod["metadata"].get("labels") or {}).get("protected") != "true" for pod in pods):
            left[node] = {
                "Pods": [{"UID": pod["metadata"]["uid"]} for pod in pods],
                "NumPDBViolations": victims["NumPDBViolations"],
            }
    return {"NodeNameToMetaVictims": left}


def binder(api: str, token: str) -> Callable[[Document], Document]:
    """Return what answers ExtenderBindingArgs; `api` is the session's, such as http://127.0.0.1:8000/clusters/<code>."""

    def bind(asked: Document) -> Document:
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": asked["PodName"], "namespace": asked["PodNamespace"], "uid": asked["PodUID"]},
            "target": {"kind": "Node", "name": asked["Node"]},
        }
        path = f"{api.rstrip('/')}/api/v1/namespaces/{asked['PodNamespace']}/pods/{asked['PodName']}/binding"
        request = urllib.request.Request(path, json.dumps(binding).encode(), method="POST")
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"Bearer {token}")
        try:
            with urllib.request.urlopen(request, timeout=4):
                return {}
        except urllib.error.URLError as error:
            return {"Error": f"binding was refused: {error}"}

    return bind


def handler(verbs: dict[str, Callable[[Document], Any]]) -> type[BaseHTTPRequestHandler]:
    """Return what serves `POST /<verb>`."""

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing of each request."""

        def do_POST(self) -> None:
            verb = verbs.get(self.path.strip("/"))
            asked = json.loads(self.rfile.read(int(self.headers.get("Content-Length", "0"))))
            answer = b"" if verb is None else json.dumps(verb(asked)).encode()
            self.send_response(404 if verb is None else 200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(answer)))
            self.end_headers()
            self.wfile.write(answer)

    return Handler


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description="An example scheduler extender; see docs/extenders.md.")
    parser.add_argument("--port", type=int, default=8888, help="0: a free one, which is printed")
    parser.add_argument("--api", default="", help="the session's Kubernetes API, for bind; its token in TOKEN")
    parser.add_argument("--nodes", default="", help="a file with the cluster's nodes, for nodeCacheCapable")
    options = parser.parse_args()
    if options.nodes:
        with open(options.nodes, encoding="utf-8") as file:
            KNOWN.update({node["metadata"]["name"]: node for node in json.load(file)["items"]})
    verbs: dict[str, Callable[[Document], Any]] = {
        "filter": filter_nodes,
        "prioritize": prioritize,
        "preempt": preempt,
    }
    if options.api:
        verbs["bind"] = binder(options.api, os.environ.get("TOKEN", ""))
    server = ThreadingHTTPServer(("127.0.0.1", options.port), handler(verbs))
    print(f"listening on http://127.0.0.1:{server.server_port}", flush=True)
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        server.server_close()


if __name__ == "__main__":
    main()
