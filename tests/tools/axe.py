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

SMALL: Final = """() => {
  const signs = [...document.querySelectorAll("summary, button, a[href]")].filter((one) =>
    (one.tagName === "SUMMARY" || !one.textContent.trim()) && !one.closest("[inert], .js-plotly-plot")
    && one.checkVisibility({ visibilityProperty: true, opacityProperty: true }));
  return signs.flatMap((one) => {
    const { width, height } = one.getBoundingClientRect();
    return width <= 1 || height <= 1 || (width >= 23.9 && height >= 23.9) ? []
      : [`small: ${width.toFixed(0)} by ${height.toFixed(0)}: ${one.outerHTML.slice(0, 160)}`];
  });
}"""
"""Signs and what folds out, where under 24 by 24 px. axe lets them pass while nothing is near, and so finds them or not
by what the page happens to show (WCAG 2.5.8)."""


def problems(page: Page, within: str = "") -> list[str]:
    """Return what axe finds on the page as it is now: rule, element, why; and every sign that is too small.

    Args:
        page: what is looked at.
        within: a selector of what has changed since all of the page was looked at; a whole page takes axe a second.
    """
    if not page.evaluate("() => Boolean(window.axe)"):
        page.evaluate(SCRIPT)
    # Preloading, axe would fetch and read every stylesheet again for the rule that none turns the page with the device,
    # an eighth of its time; tests/pages/test_static.py holds that rule over the sources.
    found: list[dict[str, Any]] = page.evaluate(
        """async ([within, tags, extra]) => {
          const rules = Object.fromEntries(extra.map((rule) => [rule, { enabled: true }]));
          const result = await axe.run(within || document, {
            resultTypes: ["violations"], runOnly: { type: "tag", values: tags }, rules, preload: false,
          });
          return result.violations.flatMap(({ id, nodes }) => nodes.map(({ html, target, failureSummary }) =>
            ({ id, html: html.slice(0, 200), target: target.join(" "), why: failureSummary ?? "" })));
        }""",
        [within, list(TAGS), list(EXPERIMENTAL)],
    )
    told = [f"{one['id']}: {one['target']} {one['html']} {' '.join(one['why'].split())[:200]}" for one in found]
    small: list[str] = page.evaluate(SMALL)
    return told + small
