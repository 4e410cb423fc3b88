"""What a revision keeps of a template, byte by byte as upstream's encoder makes it."""

from __future__ import annotations

import copy
import json

from controllers.kit.hashing import revision_hash
from controllers.kit.history import encoded, snapshot, template_of
from tests.kit.test_hashing import TEMPLATE


def owner(**container: object) -> dict[str, object]:
    template = copy.deepcopy(TEMPLATE)
    template["metadata"]["labels"] = {"app": "db"}
    template["spec"]["containers"][0].update(container)
    return {"spec": {"template": template}}


def test_a_revision_has_the_hash_that_a_real_controller_gave_it() -> None:
    """Answers recorded from kube-controller-manager v1.34."""
    assert revision_hash(encoded(snapshot(owner())), 0) == "5654ddd9f4"
    assert revision_hash(encoded(snapshot(owner(image="web:2"))), 0) == "dcbc554f5"


def test_what_is_empty_is_no_part_of_it() -> None:
    emptied = owner(tty=False, env=[], stdin=False, livenessProbe=None, command=[])
    assert encoded(snapshot(emptied)) == encoded(snapshot(owner()))
    assert encoded(snapshot(owner(env=[{"name": "A", "value": ""}]))) == encoded(snapshot(owner(env=[{"name": "A"}])))


def test_what_json_has_always_stays_though_it_is_empty() -> None:
    header = {"httpGet": {"port": 0, "httpHeaders": [{"name": "A", "value": ""}]}}
    text = encoded(snapshot(owner(livenessProbe=header))).decode()
    assert '"livenessProbe":{"httpGet":{"httpHeaders":[{"name":"A","value":""}],"port":0}}' in text


def test_letters_of_html_are_escaped_as_go_escapes_them() -> None:
    assert b'"args":["a \\u003c b \\u0026 c"]' in encoded(snapshot(owner(args=["a < b & c"])))


def test_a_revision_is_kept_in_the_order_of_the_bytes_that_are_hashed() -> None:
    """A client compares the bytes of a revision with those that it makes itself (`Match` of pkg/controller/daemon)."""
    data = snapshot(owner(livenessProbe={"httpGet": {"port": 80, "path": "/"}}, env=[{"value": "b", "name": "A"}]))
    assert json.dumps(data, separators=(",", ":")).encode() == encoded(data)


def test_the_template_comes_back_as_it_was() -> None:
    before = owner()
    assert template_of({"data": snapshot(before)}) == before["spec"]["template"]  # type: ignore[index]


def test_what_a_template_keeps_is_worked_out_once_whatever_else_its_owner_says() -> None:
    first = {**owner(), "status": {"numberReady": 1}}
    assert snapshot({**owner(), "status": {"numberReady": 2}}) is snapshot(first)
    assert snapshot(owner(image="web:2")) is not snapshot(first)
