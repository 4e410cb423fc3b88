"""Home, join and session pages: languages, themes, codes as people type them, and nothing a title could break."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.http import HttpRequest, HttpResponse

from clustersim.classroom import lessons, limits, templates
from clustersim.headers import SecurityHeadersMiddleware
from clustersim.pages import catalogue, views
from tests.tools import application

REFUSED = json.loads((Path(__file__).parents[1] / "golden" / "refused.json").read_text())
HOSTILE = '</script><img src=x onerror="alert(1)">'


async def page(path: str, **headers: str) -> tuple[int, str]:
    async with application.http() as client:
        answer = await client.get(path, headers=headers)
        return answer.status_code, answer.text


async def test_home_offers_every_template_and_the_join_form() -> None:
    status, text = await page("/")
    assert status == 200
    for name in views.TEMPLATES:
        assert f'data-testid="template-{name}"' in text
    assert 'data-testid="join-code"' in text
    assert "A Kubernetes control plane you can stop, question and rewind" in text


async def test_home_keeps_the_place_of_each_lesson() -> None:
    """The cards come a moment later; what stands below them does not move then."""
    _, text = await page("/")
    assert text.count('class="lesson-card outline"') == len(lessons.all_packages()) > 0


def test_every_template_of_the_classroom_has_its_card() -> None:
    assert {*views.TEMPLATES} == {template.name for template in templates.TEMPLATES.values()} | {"import"}


@pytest.mark.parametrize(
    ("headers", "language"),
    [
        ({}, "en"),
        ({"accept-language": "zh-CN,zh;q=0.9"}, "zh-Hans"),
        ({"accept-language": "de"}, "en"),
        ({"accept-language": "zh-CN", "cookie": "django_language=en"}, "en"),
        ({"cookie": "django_language=zh-hans"}, "zh-Hans"),
        ({"cookie": "django_language=xx"}, "en"),
    ],
    ids=["none", "the browser's", "one we do not speak", "chosen before the browser's", "chosen", "nonsense"],
)
async def test_the_page_speaks_the_language_asked_for(headers: dict[str, str], language: str) -> None:
    _, text = await page("/", **headers)
    assert f'<html lang="{language}"' in text
    assert catalogue.texts(language.lower())["start_title"] in text


def test_both_languages_say_the_same_things() -> None:
    assert catalogue.EN.keys() == catalogue.ZH_HANS.keys()
    for key, sentence in catalogue.EN.items():
        assert re.findall(r"\{\w+\}", sentence) == re.findall(r"\{\w+\}", catalogue.ZH_HANS[key]), key


@pytest.mark.parametrize(("cookie", "theme"), [("dark", "dark"), ("projector", "projector"), ('"><b>', "light")])
async def test_the_theme_comes_with_the_page(cookie: str, theme: str) -> None:
    _, text = await page("/", cookie=f"clustersim_theme={cookie}")
    assert f'data-theme="{theme}"' in text


@pytest.mark.parametrize(
    ("sent", "back"), [("/s/K7Q-M2X", "/s/K7Q-M2X"), ("https://elsewhere.example/", "/"), ("//elsewhere.example", "/")]
)
async def test_the_language_switch_goes_back_to_this_site_only(sent: str, back: str) -> None:
    async with application.http() as client:
        answer = await client.post("/language", data={"language": "zh-hans", "next": sent})
        assert answer.status_code == 302
        assert answer.headers["location"] == back
        assert f"{settings.LANGUAGE_COOKIE_NAME}=zh-hans" in answer.headers["set-cookie"]


async def test_a_language_we_do_not_speak_is_not_remembered() -> None:
    async with application.http() as client:
        answer = await client.post("/language", data={"language": "xx"})
        assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("prefix", ["/join", "/j", "/s"])
async def test_an_unknown_code_says_so_kindly(prefix: str) -> None:
    status, text = await page(f"{prefix}/QQQ-QQQ")
    assert status == 404
    assert "No session with the code QQQ-QQQ" in text


async def test_codes_are_found_in_any_writing_and_shown_in_one() -> None:
    async with application.http() as client:
        code = (await application.opened(client))["code"]
        # Whoever has a seat there is led to it; these come anew.
        client.cookies.clear()
        for prefix in ("/join", "/j"):
            text = (await client.get(f"{prefix}/{code.replace('-', '').lower()}")).text
            assert f'value="{code}"' in text
        moved = await client.get(f"/s/{code.lower()}")
        assert (moved.status_code, moved.headers["location"]) == (302, f"/s/{code}")


async def test_the_session_page_carries_its_start_as_data_and_a_hostile_title_as_text() -> None:
    async with application.http() as client:
        code = (await application.opened(client, title=HOSTILE))["code"]
        answer = await client.get(f"/s/{code}")
    found = re.search(r'<script id="start" type="application/json">(.*?)</script>', answer.text, re.DOTALL)
    assert found is not None
    start = json.loads(found[1])
    assert start["code"] == code
    assert start["title"] == HOSTILE
    assert start["release"] == settings.RELEASE
    assert "<img src=x" not in answer.text
    for region in ("top-bar", "palette", "stage", "inspector", "dock", "phone"):
        assert f'id="{region}"' in answer.text


async def test_pages_hold_no_inline_script_or_handler_and_forbid_them() -> None:
    async with application.http() as client:
        code = (await application.opened(client))["code"]
        client.cookies.clear()
        for path in ("/", f"/join/{code}", f"/s/{code}", "/s/QQQ-QQQ"):
            answer = await client.get(path)
            scripts = re.findall(r"<script([^>]*)>", answer.text)
            assert all("src=" in script or 'type="application/json"' in script for script in scripts)
            assert not re.search(r"\son[a-z]+=", answer.text)
            policy = answer.headers["content-security-policy"]
            assert "script-src 'self'" in policy
            assert "unsafe-inline" not in policy.partition("style-src")[0]


async def test_an_address_without_a_page_says_where_to_go() -> None:
    status, text = await page("/nowhere", cookie="django_language=zh-hans")
    assert status == 404
    assert catalogue.texts("zh-hans")["no_page_title"] in text
    async with application.http() as client:
        answer = await client.get("/join/")
        assert (answer.status_code, answer.headers["location"]) == (302, "/"), "the code was left out: it is asked for"


async def test_the_words_of_a_page_are_on_their_way_before_its_script_asks() -> None:
    async with application.http() as client:
        code = (await application.opened(client))["code"]
        text = (await client.get(f"/s/{code}", headers={"cookie": "django_language=zh-hans"})).text
    ahead = re.findall(r'<link rel="modulepreload" href="[^"]*/page/([^"]+)"( media="[^"]+")?>', text)
    desk = ' media="(min-width: 600px)"'
    assert ahead == [
        ("packs/session.js", ""),
        ("lib/text/page.zh-hans.js", ""),
        ("packs/desk-shared.js", desk),
        ("packs/desk.js", desk),
        *((f"lib/text/{part}.zh-hans.js", desk) for part in ("stage", "make", "presenting")),
    ]


@pytest.mark.parametrize(
    ("content_type", "guarded"),
    [("text/html; charset=utf-8", True), ("image/svg+xml", True), ("text/css", False), ("text/javascript", False)],
)
def test_what_only_a_page_loads_carries_no_rules_for_pages(content_type: str, guarded: bool) -> None:
    answer = SecurityHeadersMiddleware(lambda _request: HttpResponse(b"", content_type=content_type))(HttpRequest())
    assert isinstance(answer, HttpResponse)
    assert ("Content-Security-Policy" in answer.headers) is guarded
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    ("language", "path", "host", "said"),
    [
        (
            "en",
            "/api/sessions/ABC-DEF/handout",
            "testserver",
            "there is no session &#x27;ABC-DEF&#x27;: look at the code again",
        ),
        ("zh-hans", "/api/sessions/ABC-DEF/handout", "testserver", "没有课堂码为 ABC-DEF 的课堂：请再核对一次"),
        ("zh-hans", "/api/nothing", "testserver", "没有路径“/api/nothing”"),
        ("zh-hans", "/", "elsewhere.example", "主机名“elsewhere.example”不属于这台服务器"),
    ],
)
async def test_what_is_refused_in_a_browser_is_a_page_in_its_language(
    language: str, path: str, host: str, said: str
) -> None:
    asked = {"accept": "text/html,*/*;q=0.8", "cookie": f"django_language={language}", "host": host}
    async with application.http() as client:
        shown, told = await client.get(path, headers=asked), await client.get(path, headers={**asked, "accept": "*/*"})
    assert said in shown.text
    assert shown.text.count("</html>") == 1
    assert (shown.status_code, told.json()["code"]) == (told.status_code, told.status_code)
    assert shown.headers["Content-Security-Policy"] == told.headers["Content-Security-Policy"]


async def test_who_tried_too_many_codes_is_told_so_and_not_that_there_is_no_session(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(limits, "CODES", limits.Rate(0, 1.0, "session codes that nobody has, from one address"))
    status, text = await page("/join/ABC-DEF", cookie="django_language=zh-hans")
    assert (status, "太频繁了" in text, "没有课堂码为" in text) == (429, True, False)


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: case["what"])
def test_a_refusal_is_told_in_the_readers_language_as_the_page_tells_it(case: dict[str, Any]) -> None:
    assert catalogue.sentence(case["status"], "zh-hans") == case["told"]
    assert catalogue.sentence(case["status"], "en") == case["status"]["message"]
