"""How large the letters of a page are on the screen: what is written in the document, with the page's enlargement."""

from __future__ import annotations

from playwright.sync_api import Page

_SMALL = """least => {
  const found = new Map();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    // What only a screen reader reads is a pixel wide, or lies outside the screen.
    const seen = [...range.getClientRects()].some(box => box.width > 1 && box.height > 1 && box.right > 0
      && box.bottom > 0 && box.left < innerWidth && box.top < innerHeight);
    if (!seen || element.closest('.sr-only, .st-hidden, .st-outline')) continue;
    const size = parseFloat(getComputedStyle(element).fontSize) * (element.currentCSSZoom ?? 1);
    const where = `${size.toFixed(1)} ${element.tagName} ${element.className?.baseVal ?? element.className}`;
    if (size < least - 0.01) found.set(where, node.data.trim());
  }
  return [...found].map(([where, words]) => `${where}: ${words.slice(0, 40)}`).sort();
}"""


def smaller_than(page: Page, pixels: float) -> list[str]:
    """Return where a page shows letters of fewer CSS pixels than these: size, element and words."""
    found: list[str] = page.evaluate(_SMALL, pixels)
    return found
