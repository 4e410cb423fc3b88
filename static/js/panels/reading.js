/** How far an open tab is read: told by its parts, so that a page of another width shows the same words. */

import { pageZoom } from "../dom/dom.js";

/** Steps in which the share of a part is told: every telling is a row that everybody reads. */
const SHARES = 4;

/**
 * @param {HTMLElement} scroller its first child's, or of a decision its body's, children are the parts
 * @param {() => void} moved it is read on from elsewhere
 */
export function mountReading(scroller, moved) {
  let part = 0;
  /** Where it was asked to be read, until a hand scrolls it. @type {number | null} */
  let wanted = null;

  const parts = () => [...(scroller.querySelector(".dc-body") ?? scroller.firstElementChild)?.children ?? []];
  /** @param {Element} one */
  const lies = (one) => {
    const zoom = pageZoom();
    const box = one.getBoundingClientRect();
    return { top: (box.top - scroller.getBoundingClientRect().top) / zoom + scroller.scrollTop, height: box.height / zoom };
  };
  const most = () => scroller.scrollHeight - scroller.clientHeight;

  function apply() {
    if (wanted === null || most() <= 0) return;
    const one = parts()[Math.floor(wanted)];
    if (!one) return;
    const { top, height } = lies(one);
    scroller.scrollTop = wanted ? ((top + height * (wanted % 1)) * most()) / scroller.scrollHeight : 0;
  }

  /** The part that is read now. */
  function read() {
    if (scroller.scrollTop < 1 || most() <= 0) return 0;
    // The line that is read wanders from the top of what is seen to its end, as the first and the last part are both come to.
    const line = (scroller.scrollTop * scroller.scrollHeight) / most();
    const at = parts().findLastIndex((one) => lies(one).height > 0 && lies(one).top <= line);
    const one = parts()[at];
    if (!one) return 0;
    const { top, height } = lies(one);
    return at + Math.max(0, Math.min(SHARES - 1, Math.floor(((line - top) / height) * SHARES)) / SHARES);
  }

  scroller.addEventListener("scroll", () => {
    const next = read();
    if (next === part) return;
    part = next;
    moved();
  }, { passive: true });
  for (const hand of ["wheel", "pointerdown", "keydown"]) scroller.addEventListener(hand, () => void (wanted = null), { passive: true });
  // What is read may still be on its way: charts, and answers that are asked for.
  const grown = new ResizeObserver(apply);
  new MutationObserver(() => {
    grown.disconnect();
    for (const child of scroller.children) grown.observe(child);
    apply();
  }).observe(scroller, { childList: true });

  return {
    /** The part that is read, counted from 0, and the share of it that has been. */
    get part() {
      return part;
    },
    /** @param {number} next */
    show(next) {
      wanted = next;
      apply();
    },
  };
}
