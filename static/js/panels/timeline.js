/** The dock's timeline: lanes of marks over simulated time, a moment to hold and to move, moments with names, a list. */

/** @import { Dispatch, Mark, TimelineState, Ui, View } from "../lib/types.d.ts" */
/** @import { Item } from "../state/timeline.js" */
import { face } from "../dom/face.js";
import { element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { faceOf, initials } from "../lib/faces.js";
import { clockTime, number, text } from "../lib/text.js";
import { actorOf, whose } from "../state/people.js";
import { bookmarksOf, flagsBeside, itemsOf, LANES, placeOf, revisionAt, ticksOf } from "../state/timeline.js";
import { mountBookmarks, mountStrip } from "./timeline-strip.js";

const ZOOMS = /** @type {const} */ ([["zoom_all", 0], ["zoom_6min", 360_000], ["zoom_1min", 60_000], ["zoom_10s", 10_000], ["zoom_tick", 1_000]]);
const SIGNS = { ADDED: "●", MODIFIED: "◆", DELETED: "✕" };
/** Of what is still to come for whoever holds the page. */
const HOLLOW = { ADDED: "○", MODIFIED: "◇", DELETED: "✕" };
/** Marks of the list, newest first. */
const LISTED_MAX = 200;

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mount(root, dispatch) {
  root.classList.add("timeline");
  const tools = mountTools(dispatch);
  const chart = mountChart(dispatch);
  const summary = element("summary");
  const list = element("ol", { class: "tl-list" });
  const twin = element("details", { class: "tl-twin" }, summary, list);
  const strip = mountStrip(dispatch);
  const names = mountBookmarks(dispatch);
  root.append(tools.element, strip.element, chart.element, names.element, twin);

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     * @param {boolean} seen
     */
    render(view, ui, seen) {
      if (!seen) return;
      tools.render(view, ui);
      strip.render(ui);
      names.render(view, ui);
      chart.render(view, ui);
      setText(summary, text(ui.lang, "tl_list", { count: number(ui.lang, ui.timeline.marks.length) }));
      if (twin.open) drawList(list, view, ui, dispatch);
    },
  };
}

/** @param {Dispatch} dispatch */
function mountTools(dispatch) {
  const make = (/** @type {string} */ id, /** @type {() => void} */ act, /** @type {Node | string} */ child) =>
    element("button", { class: `button ${id}`, type: "button", "data-testid": `tl-${id}`, onclick: act }, child);
  let at = 1;
  const back = make("play_back", () => dispatch({ type: "playPast", direction: -1 }), icon("play"));
  const on = make("play_on", () => dispatch({ type: "playPast", direction: 1 }), icon("play"));
  const less = make("past_back", () => dispatch({ type: "hold", revision: at - 1 }), "");
  const more = make("past_on", () => dispatch({ type: "hold", revision: at + 1 }), "");
  const zooms = ZOOMS.map(([key, spanMs]) => make(key, () => dispatch({ type: "zoomTime", spanMs }), ""));
  const zoom = element("span", { class: "segmented", role: "group" }, zooms);
  const legend = element("span", { class: "tl-legend" });
  const name = element("input", { class: "tl-name", type: "text", maxlength: "40", "data-testid": "bookmark-name" });
  const save = element("button", { class: "button", type: "submit", "data-testid": "bookmark-save" });
  const form = element("form", { class: "tl-bookmark" }, icon("tag"), name, save);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const wanted = name.value.trim();
    if (!wanted) return name.focus();
    dispatch({ type: "bookmark", name: wanted });
    name.value = "";
  });
  return {
    element: element("div", { class: "tl-tools" }, back, on, less, more, zoom, legend, form),
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, { lang, past, timeline }) {
      at = past.revision || view.revision;
      for (const [button, key, direction] of /** @type {const} */ ([[back, "play_back", -1], [on, "play_on", 1]])) {
        setAttribute(button, "aria-label", text(lang, key));
        setAttribute(button, "title", text(lang, key));
        setAttribute(button, "aria-pressed", String(past.playing === direction));
      }
      setText(less, text(lang, "past_back"));
      setAttribute(less, "title", text(lang, "past_back_title"));
      setText(more, text(lang, "past_on"));
      setAttribute(more, "title", text(lang, "past_on_title"));
      more.disabled = !past.revision;
      setAttribute(zoom, "aria-label", text(lang, "zoom"));
      ZOOMS.forEach(([key, spanMs], index) => {
        const button = /** @type {HTMLElement} */ (zooms[index]);
        setText(button, text(lang, key));
        setAttribute(button, "aria-pressed", String(timeline.spanMs === spanMs));
      });
      setText(legend, text(lang, "tl_legend"));
      form.hidden = view.me?.role !== "teacher" && view.me?.role !== "student";
      setAttribute(name, "aria-label", text(lang, "bookmark_name"));
      setAttribute(name, "placeholder", text(lang, "bookmark_name"));
      setText(save, text(lang, "bookmark"));
    },
  };
}

/** @param {Dispatch} dispatch */
function mountChart(dispatch) {
  const flags = element("div", { class: "tl-flags" });
  const axis = element("div", { class: "tl-axis", "aria-hidden": "true" });
  const lanes = LANES.map((lane) => {
    const label = element("b");
    const count = element("small");
    const track = element("div", { class: "tl-track", "aria-hidden": "true" });
    return { lane, label, count, track, row: element("div", { class: `tl-lane lane-${lane}` }, element("span", { class: "tl-label" }, label, count), track) };
  });
  const head = element("div", { class: "tl-head", role: "slider", tabindex: "0", "data-testid": "timeline-slider" });
  const over = element("div", { class: "tl-over" }, head);
  const chart = element("div", { class: "tl-chart" }, flags, axis, ...lanes.map(({ row }) => row), over);
  /** @type {TimelineState | null} */
  let state = null;
  let now = 1;
  let drawn = "";

  /** @param {PointerEvent} event */
  const hold = (event) => {
    if (!state) return;
    const mark = document.elementsFromPoint(event.clientX, event.clientY).find((one) => one instanceof HTMLElement && one.dataset["rv"]);
    const box = over.getBoundingClientRect();
    const share = Math.max(0, Math.min(1, (event.clientX - box.left) / Math.max(1, box.width)));
    const own = mark instanceof HTMLElement && event.type === "pointerdown" ? Number(mark.dataset["rv"]) : 0;
    dispatch({ type: "hold", revision: own || revisionAt(state, state.fromMs + share * (state.toMs - state.fromMs)) });
  };
  over.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    over.setPointerCapture(event.pointerId);
    head.focus();
    hold(event);
  });
  over.addEventListener("pointermove", (event) => {
    if (over.hasPointerCapture(event.pointerId)) hold(event);
  });
  head.addEventListener("keydown", (event) => {
    if (!state) return;
    const marks = state.marks.map(({ rv }) => rv);
    const wanted = {
      ArrowLeft: now - 1, ArrowDown: now - 1, ArrowRight: now + 1, ArrowUp: now + 1, Home: state.compacted + 1, End: state.newest,
      PageUp: marks.find((rv) => rv > now), PageDown: marks.filter((rv) => rv < now).pop(),
    }[event.key];
    if (wanted === undefined) return;
    event.preventDefault();
    dispatch({ type: "hold", revision: wanted });
  });

  return {
    element: chart,
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const { lang, past, timeline } = ui;
      state = timeline;
      now = past.revision || view.revision;
      const held = past.shown || Infinity;
      const at = past.shown ? view.newestMs : timeline.newestMs;
      head.style.left = `${100 * Math.max(0, Math.min(1, placeOf(timeline, at)))}%`;
      head.classList.toggle("held", Boolean(past.revision));
      setAttribute(head, "data-label", text(lang, past.revision ? "tl_held" : "tl_now", { revision: number(lang, now) }));
      setAttribute(head, "aria-label", text(lang, "tl_moment"));
      setAttribute(head, "aria-valuemin", String(timeline.compacted + 1));
      setAttribute(head, "aria-valuemax", String(timeline.newest));
      setAttribute(head, "aria-valuenow", String(now));
      setAttribute(head, "aria-valuetext", text(lang, "past_at", { time: clockTime(view.epochMs + at), revision: number(lang, now) }));
      const bookmarks = bookmarksOf(view.objects);
      const key = [lang, held, past.shown ? at : "", bookmarks.length, bookmarks.at(-1)?.name, view.people.length].join("|");
      if (drawn === key && chart.dataset["of"] === String(timelineId(timeline))) return;
      drawn = key;
      chart.dataset["of"] = String(timelineId(timeline));
      drawFlags(flags, bookmarks, timeline, ui, dispatch);
      drawAxis(axis, timeline, view.epochMs, placeOf(timeline, at));
      for (const { lane, label, count, track } of lanes) {
        setText(label, text(lang, `lane_${lane}`));
        setText(count, number(lang, (timeline.counts[lane] ?? []).reduce((sum, one) => sum + one, 0)));
        track.replaceChildren(...itemsOf(timeline, lane).map((item) => itemOf(item, view, lang, held)));
      }
    },
  };
}

/** As wide as the sign over a moment, and a time on the axis, pixels. */
const SIGN_PX = 80;

/** @type {WeakMap<TimelineState, number>} */
const IDS = new WeakMap();
let ids = 0;

/** @param {TimelineState} state */
function timelineId(state) {
  let id = IDS.get(state);
  if (!id) IDS.set(state, (id = ids += 1));
  return id;
}

/**
 * @param {Item} item
 * @param {View} view
 * @param {Ui["lang"]} lang
 * @param {number} held
 */
function itemOf({ at, count, rv, mark, renewal }, view, lang, held) {
  const person = mark?.lane === "people" ? actorOf(view, mark.actor) : null;
  const after = rv > held;
  const sign = person ? initials(person.name) : mark ? signOf(mark, after) : number(lang, count);
  // Renewals are so even that their number tells nothing: a stroke says that they go on.
  const shape = person ? "person" : renewal ? "tick" : mark ? "single" : "many";
  const made = element("span", { class: `tl-item ${shape}${after ? " after" : ""}`, "data-rv": rv || undefined }, shape === "tick" ? "" : sign);
  if (person) {
    const { hue, ring } = faceOf(person);
    made.dataset["color"] = String(hue);
    made.classList.toggle("ring", ring);
  }
  made.style.left = `${100 * at}%`;
  const many = text(lang, "tl_many", { count: number(lang, count) });
  made.title = mark ? [clockTime(view.epochMs + mark.simTime * 1000, true), mark.text, ...(count > 1 ? [many] : [])].join(" · ") : many;
  return made;
}

/**
 * @param {Mark} mark
 * @param {boolean} after
 */
function signOf({ lane, verb }, after) {
  if (lane === "scheduler") return after ? "△" : "▲";
  return (after ? HOLLOW : SIGNS)[verb];
}

/**
 * @param {HTMLElement} flags
 * @param {ReturnType<typeof bookmarksOf>} bookmarks
 * @param {TimelineState} timeline
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function drawFlags(flags, bookmarks, timeline, ui, dispatch) {
  const seen = bookmarks.filter(({ atMs }) => atMs >= timeline.fromMs && atMs <= timeline.toMs);
  const places = seen.map(({ atMs }) => placeOf(timeline, atMs));
  const beside = flagsBeside(places);
  syncList(flags, seen.map((one, index) => ({ ...one, index })), ({ name, revision }) => `${revision} ${name}`, ({ name, revision }) => {
    const flag = element("button", {
      class: "tl-flag", type: "button", "data-testid": "bookmark-flag", onclick: () => dispatch({ type: "hold", revision }),
    }, name);
    flag.addEventListener("keydown", (event) => {
      if (event.key === "Delete") dispatch({ type: "unbookmark", name });
    });
    return flag;
  }, (flag, { name, revision, index }) => {
    const { late = false, room = 1 } = beside[index] ?? {};
    setAttribute(flag, "title", text(ui.lang, "bookmark_title", { name, revision: number(ui.lang, revision) }));
    flag.style.left = `${100 * (places[index] ?? 0)}%`;
    flag.style.setProperty("--room", `${100 * room}%`);
    flag.classList.toggle("late", late);
  });
}

/**
 * @param {HTMLElement} axis
 * @param {TimelineState} timeline
 * @param {number} epochMs
 * @param {number} head share of the width at which the moment's own sign ends
 */
function drawAxis(axis, timeline, epochMs, head) {
  const fine = timeline.toMs - timeline.fromMs < 6_000;
  // A time of which the sign would leave a digit is left out.
  const sign = SIGN_PX / Math.max(1, axis.clientWidth);
  const beside = (/** @type {number} */ ms) => Math.abs(placeOf(timeline, ms) - (head - sign / 2)) > sign;
  axis.replaceChildren(...ticksOf(timeline).filter(beside).map((ms) => {
    const tick = element("span", { class: "tl-tick" }, fine ? clockTime(epochMs + ms, true).slice(0, 10) : clockTime(epochMs + ms));
    tick.style.left = `${100 * placeOf(timeline, ms)}%`;
    return tick;
  }));
}

/**
 * @param {HTMLElement} list
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function drawList(list, view, ui, dispatch) {
  const rows = ui.timeline.marks.slice(-LISTED_MAX).reverse();
  syncList(list, rows, (mark) => `${mark.rv} ${ui.lang}`, (mark) => listRow(mark, view, ui, dispatch));
}

/**
 * @param {Mark} mark
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 */
function listRow(mark, view, ui, dispatch) {
  const go = element("button", { class: "link", type: "button", onclick: () => dispatch({ type: "hold", revision: mark.rv }) }, number(ui.lang, mark.rv));
  return element("li", {}, [
    element("time", {}, clockTime(view.epochMs + mark.simTime * 1000, true)), go,
    element("span", {}, text(ui.lang, `lane_${mark.lane}`)),
    element("span", {}, whoseFace(view, mark), mark.text), authorOf(view, mark.actor),
  ]);
}

/**
 * The face of the student whose object it is; nothing for everybody's.
 * @param {View} view
 * @param {Mark} mark
 */
function whoseFace(view, mark) {
  const person = whose(view, mark.object.split("/")[0]);
  return person && mark.object.includes("/") ? face(person, "small") : null;
}

/**
 * Who wrote it: a person with their face, a component by its name.
 * @param {View} view
 * @param {string} actor
 */
function authorOf(view, actor) {
  const person = actorOf(view, actor);
  return element("small", {}, person ? [face(person, "small"), person.name] : actor);
}
