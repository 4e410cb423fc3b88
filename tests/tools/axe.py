"""axe-core over a page of a real browser, as `axe-playwright-python` brings it: what it finds, one line each."""

from __future__ import annotations

from importlib import resources
from typing import Any, Final

from playwright.sync_api import Page

SCRIPT: Final = (resources.files("axe_playwright_python") / "axe.min.js").read_text(encoding="utf-8")
TAGS: Final = ("wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice")
EXPERIMENTAL: Final = ("label-content-name-mismatch", "p-as-heading", "table-fake-caption", "td-has-header")
"""Rules that axe does not run by itself yet and that this page keeps. Left out is `focus-order-semantics`, which does
not know that a separator that can be focused is a widget (ARIA 1.2)."""


def problems(page: Page) -> list[str]:
    """Return what axe finds on the page as it is now: rule, element, why."""
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(SCRIPT)
    found: list[dict[str, Any]] = page.evaluate(
        """async ([tags, extra]) => {
          const rules = Object.fromEntries(extra.map((rule) => [rule, { enabled: true }]));
          const result = await axe.run(document, {
            resultTypes: ["violations"], runOnly: { type: "tag", values: tags }, rules,
          });
          return result.violations.flatMap(({ id, nodes }) => nodes.map(({ html, target, failureSummary }) =>
            ({ id, html: html.slice(0, 200), target: target.join(" "), why: failureSummary ?? "" })));
        }""",
        [list(TAGS), list(EXPERIMENTAL)],
    )
    return [f"{one['id']}: {one['target']} {one['html']} {' '.join(one['why'].split())[:200]}" for one in found]
