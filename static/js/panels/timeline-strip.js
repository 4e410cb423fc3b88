/** Over the timeline: all that is kept as bars with the window in it, and beside it the moments that have names. */

/** @import { Dispatch, TimelineState, Ui, View } from "../lib/types.d.ts" */
import { element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { clockTime, number, text } from "../lib/text.js";
import { bookmarksOf, revisionOnStrip, stripOf } from "../state/timeline.js";

/**
 * The strip: it leads to a moment anywhere in what is kept. The slider under it does the same by keyboard.
 * @param {Dispatch} dispatch
 */
export function mountStrip(dispatch) {
  const label = element("span", { class: "tl-label" });
  const bars = element("div", { class: "tl-bars" });
  const frame = element("div", { class: "tl-frame" });
  const track = element("div", { class: "tl-strip-track", "data-testid": "timeline-strip", "aria-hidden": "true" }, bars, frame);
  /** @type {TimelineState | null} */
  let state = null;
  /** @type {unknown} */
  let drawn = null;
  /** @param {PointerEvent} event */
  const hold = (event) => {
    const box = track.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / Math.max(1, box.width)));
    if (state) dispatch({ type: "hold", revision: revisionOnStrip(state, share) });
  };
  track.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    track.setPointerCapture(event.pointerId);
    hold(event);
  });
  track.addEventListener("pointermove", (event) => {
    if (track.hasPointerCapture(event.pointerId)) hold(event);
  });
  return {
    element: element("div", { class: "tl-strip" }, label, track),
    /** @param {Ui} ui */
    render({ lang, timeline }) {
      state = timeline;
      setText(label, text(lang, "tl_kept", {
        from: number(lang, timeline.compacted + 1), to: number(lang, timeline.newest),
      }));
      if (drawn === timeline) return;
      drawn = timeline;
      const { bars: heights, from, to } = stripOf(timeline);
      syncList(bars, heights.map((height, slot) => ({ height, slot })), ({ slot }) => String(slot), () => element("i"),
        (bar, { height }) => {
          bar.style.height = `${Math.round(100 * height)}%`;
        });
      frame.style.left = `${100 * from}%`;
      frame.style.width = `${100 * Math.max(0.005, to - from)}%`;
    },
  };
}

/**
 * The moments that have names, as a list that everybody sees.
 * @param {Dispatch} dispatch
 */
export function mountBookmarks(dispatch) {
  const summary = element("summary", { "data-testid": "bookmark-list" });
  const list = element("ul", { class: "tl-names" });
  return {
    element: element("details", { class: "tl-twin" }, summary, list),
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, { lang }) {
      const found = bookmarksOf(view.objects);
      setText(summary, text(lang, "bookmarks", { count: number(lang, found.length) }));
      const may = view.me?.role === "teacher" || view.me?.role === "student";
      syncList(list, found, ({ name, revision }) => `${revision} ${name} ${lang} ${may}`, ({ name, revision, atMs }) => {
        const remove = element("button", { class: "ghost", type: "button", onclick: () => dispatch({ type: "unbookmark", name }) }, icon("trash"));
        setAttribute(remove, "aria-label", text(lang, "delete_named", { name }));
        return element("li", {}, icon("tag"), element("button", {
          class: "link", type: "button", onclick: () => dispatch({ type: "hold", revision }),
        }, name), element("time", {}, clockTime(view.epochMs + atMs)), element("span", {}, number(lang, revision)), may && remove);
      });
    },
  };
}
