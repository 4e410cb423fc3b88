"""What somebody came to hangs on the wall: they alone are told so, and newcomers join the class from there."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import Classroom, picture, wait_state
from tests.tools.server import wait_for

PHONE = {"viewport": {"width": 390, "height": 844}, "is_mobile": True, "has_touch": True}
TOLD = {
    "en": ("Your accident is on the wall; nobody is told whose it is.", "The class looks at a copy on the wall."),
    "zh-hans": ("你遇到的情况上了投影，不会告诉任何人是谁的。", "投影上有一份副本，全班一起来看。"),
}


@pytest.mark.parametrize("lang", TOLD)
def test_whose_it_is_is_told_to_them_alone(open_classroom: Callable[[str], Classroom], lang: str) -> None:
    classroom = open_classroom("three-nodes")
    locale = {"en": "en-GB", "zh-hans": "zh-CN"}[lang]
    mei, ada = (classroom.student(name, locale=locale, **PHONE) for name in ("Mei", "Ada"))
    url = classroom.session("POST", "/people", {"role": "viewer", "name": "Wall"})["url"]
    wall = classroom.watch(classroom.context(locale=locale, viewport={"width": 1024, "height": 768}).new_page())
    wall.goto(url)
    wait_state(wall, lambda state: state["connection"] == "live" and state["revision"] > 0, "the wall is there")
    mei.get_by_test_id("phone-my-copy").click()
    mei.wait_for_url(lambda address: classroom.code not in address)
    own = mei.url.rpartition("/")[2][: len(classroom.code)]
    wait_state(mei, lambda state: state["connection"] == "live" and len(state["nodes"]) == 3, "she plays on")
    classroom.session("POST", f"/copies/{own}/wall", {})
    yours, everybody = TOLD[lang]
    told = ".phone-told .phone-handed:visible"
    expect(mei.locator(told)).to_contain_text([yours])
    expect(mei.get_by_test_id("phone-wall")).to_be_hidden()
    expect(ada.locator(told)).to_contain_text([everybody])
    assert yours not in ada.inner_text("body")
    wall.wait_for_url(lambda address: classroom.code not in address)
    expect(wall.get_by_test_id("join-code")).to_have_text(classroom.code)
    for name, page in (("owner", mei), ("others", ada), ("wall", wall)):
        picture(page, f"accident-{name}-{lang}")
    hung = wait_for(lambda: code_of(wall, classroom.code), what="the wall's address")
    classroom.session("DELETE", f"/copies/{hung}/wall")
    expect(mei.locator(told)).to_have_count(0)
    # A page that is on its way while its browser closes may keep that from closing.
    wall.wait_for_url(lambda address: classroom.code in address)
    wait_state(wall, lambda state: state["connection"] == "live" and state["revision"] > 0, "the wall is back")


def code_of(page: Page, besides: str) -> str:
    """Return the code in a page's address; "" while it is the other one."""
    code = page.url.rpartition("/s/")[2][: len(besides)]
    return "" if code == besides else code
