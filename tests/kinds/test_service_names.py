"""Which Service a name is of."""

from __future__ import annotations

import pytest

from controllers.kinds.core.service_names import service_of_name


@pytest.mark.parametrize(
    ("host", "found"),
    [
        ("web", ("shop", "web")),
        ("Web.", ("shop", "web")),
        ("web.other", ("other", "web")),
        ("web.other.svc", ("other", "web")),
        ("web.other.svc.cluster.local", ("other", "web")),
        ("web.other.svc.cluster.local.", ("other", "web")),
        ("web-0.web.other.svc", ("other", "web")),
        ("web-0.web.other.svc.cluster.local", ("other", "web")),
        ("www.example.com", None),
        ("a.b.web.other.svc", None),
        ("10.96.0.1", None),
        ("localhost", None),
        ("-x", None),
        ("", None),
    ],
)
def test_a_name_is_of_the_service_that_its_form_says(host: str, found: tuple[str, str] | None) -> None:
    assert service_of_name(host, "shop") == found
