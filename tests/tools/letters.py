"""How large the letters of a page are on the screen, in the document and on its canvases, and which words are cut."""

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


_PAINTED = """() => {
  const fillText = CanvasRenderingContext2D.prototype.fillText;
  const seen = window.lettersPainted = new Map();
  CanvasRenderingContext2D.prototype.fillText = function (words, ...rest) {
    const size = parseFloat(this.font.match(/([0-9.]+)px/)[1]) * this.getTransform().d / devicePixelRatio;
    if (words.trim()) seen.set(words, Math.min(size, seen.get(words) ?? Infinity));
    return fillText.call(this, words, ...rest);
  };
}"""

_CUT = """() => {
  const found = new Set();
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node; node = walker.nextNode()) {
    const element = node.parentElement;
    if (!node.data.trim() || !element.checkVisibility({visibilityProperty: true, opacityProperty: true})) continue;
    if (element.closest('.sr-only, .st-hidden, .st-outline, svg, option, .mirror')) continue;
    const range = document.createRange();
    range.selectNodeContents(node);
    const [first] = range.getClientRects();
    // What is covered is not seen at all; asked at its first letter, for the middle of cut words may lie under others.
    const begins = first && first.left + Math.min(first.width / 2, 4);
    const hit = first && document.elementFromPoint(begins, (first.top + first.bottom) / 2);
    if (hit && !hit.contains(element) && !element.contains(hit)) continue;
    let boxes = [...range.getClientRects()].filter(box => box.width > 1 && box.height > 1);
    for (let over = element; over && over !== document.body; over = over.parentElement) {
      const {overflowX, overflowY} = getComputedStyle(over);
      if (overflowX === 'visible' && overflowY === 'visible') continue;
      const edge = over.getBoundingClientRect();
      const some = boxes.some(box => box.left < edge.right && box.right > edge.left
        && box.top < edge.bottom && box.bottom > edge.top);
      const beyond = some && boxes.some(box => box.right > edge.right + 2 || box.left < edge.left - 2
        || (!['auto', 'scroll'].includes(overflowY) && (box.bottom > edge.bottom + 6 || box.top < edge.top - 6)));
      if (beyond) found.add(`${over.className}: ${node.data.trim().slice(0, 40)}`);
      // What is scrolled out of sight there is cut by nothing above.
      if (!some) break;
      boxes = boxes.filter(box => box.top >= edge.top && box.bottom <= edge.bottom);
    }
  }
  return [...found].sort();
}"""


def listen_to_paint(page: Page) -> None:
    """Note what a page writes on its canvases from its next address on; `painted_smaller_than` tells of it."""
    page.add_init_script(f"({_PAINTED})()")


def painted_smaller_than(page: Page, pixels: float) -> list[str]:
    """Return what was written on canvases in letters of fewer CSS pixels than these; it is forgotten then."""
    found: list[str] = page.evaluate(
        """least => {
          const small = [...window.lettersPainted].filter(([, size]) => size < least - 0.01);
          const none = window.lettersPainted.size === 0;
          window.lettersPainted.clear();
          return none ? [] : small.map(([words, size]) => `${size.toFixed(1)}: ${words}`).sort();
        }""",
        pixels,
    )
    return found


def cut_words(page: Page) -> list[str]:
    """Return which words of a page are seen in part: by what they are cut, and how they begin."""
    found: list[str] = page.evaluate(_CUT)
    return found
