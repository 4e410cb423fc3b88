/** The phone's Now: the pod in hand on a short rail, the best nodes as they rise, counts and what was just decided. */

/** @import { Dispatch, PodSlim, Ui, View } from "../lib/types.d.ts" */
/** @import { Hand, Line } from "../state/now.js" */
/** @import { Page, T } from "./phone.js" */
import { element, setAttribute, setText, syncList } from "../dom/dom.js";
import { pointName } from "../lib/trace.js";
import { clockTime, listed, number } from "../lib/text.js";
import { opensLater } from "../state/classroom.js";
import { newestEvents } from "../state/events.js";
import { handOf } from "../state/now.js";
import { onlookers } from "../state/people.js";
import { cycleInHand, leader, nodes, objectsOf } from "../state/selectors.js";
import { eventRows } from "./events.js";

/** Decisions listed. */
const EVENTS_MAX = 12;

/**
 * @param {Dispatch} dispatch
 * @returns {Page}
 */
export function nowPage(dispatch) {
  const home = element("a", { class: "button phone-home", "data-testid": "phone-home" });
  const copy = element("button", { class: "button phone-home", type: "button", "data-testid": "phone-my-copy", onclick: () => dispatch({ type: "myCopy" }) });
  const looks = element("p", { class: "hint", role: "status", "data-testid": "phone-onlookers" });
  const hand = handCard(dispatch);
  const counts = element("ul", { class: "phone-counts" });
  const heading = element("h2");
  const decisions = element("div", { class: "event-list" });
  return {
    element: element("div", { class: "phone-page" }, [home, looks, copy, hand.element, counts, heading, decisions]),
    render(view, ui, t) {
      home.hidden = !ui.parent;
      if (ui.parent) setAttribute(home, "href", `/s/${ui.parent.code}`);
      setText(home, t("phone_home"));
      const lookers = onlookers(view, ui);
      looks.hidden = lookers.length === 0;
      setText(looks, lookers.length ? t("phone_looks", { names: listed(ui.lang, lookers), count: lookers.length }) : "");
      copy.hidden = view.me?.role !== "student" || Boolean(ui.parent);
      copy.disabled = opensLater(view);
      setText(copy, t(copy.disabled ? "copy_later" : "phone_copy"));
      hand.render(view, ui, t);
      syncList(counts, countLines(view, ui, t).map((line, index) => ({ line, index })), (row) => String(row.index),
        () => element("li"), (row, { line }) => setText(row, line));
      setText(heading, t("phone_just"));
      const told = newestEvents(view)
        .filter((event) => event.reason === "Scheduled" || event.reason === "FailedScheduling");
      eventRows(decisions, told.slice(0, EVENTS_MAX), view, ui, dispatch, true);
    },
  };
}

/** @param {Dispatch} dispatch */
function handCard(dispatch) {
  const hint = element("span", { class: "hint" });
  const name = element("button", { class: "link phone-hand", type: "button", "data-testid": "phone-hand" });
  const rail = element("ol", { class: "phone-rail" });
  const refused = element("p", { class: "phone-refused" });
  const best = element("ol", { class: "phone-best", "data-testid": "phone-best" });
  const none = element("span");
  let pod = "";
  name.addEventListener("click", () => dispatch({ type: "select", resource: "pods", key: pod }));
  return {
    element: element("div", { class: "phone-card" }, [hint, name, rail, refused, best, none]),
    /**
     * @param {View} view
     * @param {Ui} ui
     * @param {T} t
     */
    render(view, ui, t) {
      const now = handOf(view);
      for (const part of [hint, name, rail, best]) part.hidden = !now;
      refused.hidden = !now?.refused;
      none.hidden = Boolean(now);
      if (!now) return setText(none, t("phone_no_cycle"));
      pod = now.pod;
      setText(hint, t("phone_attempt", { n: number(ui.lang, now.attempt), point: now.point }));
      setText(name, now.said);
      const era = cycleInHand(view)?.cycle.era;
      syncList(rail, now.rail, ({ point }) => point, () => element("li"), (step, { point, state }) => {
        setText(step, pointName(point, era));
        step.className = state;
        if (state === "current") step.setAttribute("aria-current", "step");
        else step.removeAttribute("aria-current");
      });
      if (now.refused) setText(refused, t("phone_refused", now.refused));
      return bestRows(best, now, ui);
    },
  };
}

/**
 * @param {HTMLElement} list
 * @param {Hand} hand
 * @param {Ui} ui
 */
function bestRows(list, { pod, attempt, best }, ui) {
  // Another pod's bars rise anew.
  syncList(list, best, ({ node }) => `${pod} ${attempt} ${node}`, ({ node }) =>
    element("li", {}, element("b", {}, node), element("span", { class: "phone-bar" }, element("i")), element("span")),
  (row, { total, share, best: highest }) => {
    row.classList.toggle("best", highest);
    /** @type {HTMLElement} */ (row.querySelector("i")).style.width = `${Math.round(100 * share)}%`;
    setText(/** @type {Element} */ (row.lastElementChild), number(ui.lang, total));
  });
}

/**
 * @param {View} view
 * @param {Ui} ui
 * @param {T} t
 */
function countLines(view, ui, t) {
  const all = nodes(view);
  const pods = /** @type {PodSlim[]} */ ([...objectsOf(view, "pods").values()]);
  const leading = leader(view, "kube-scheduler");
  return [
    t("phone_nodes", { ready: all.filter((node) => node.ready).length, total: all.length }),
    t("phone_running", { count: number(ui.lang, pods.filter((pod) => pod.status?.phase === "Running").length) }),
    t("phone_waiting", { count: number(ui.lang, pods.filter((pod) => !pod.spec?.nodeName).length) }),
    leading ? t("phone_leader", { replica: leading.metadata.name }) : t("phone_no_leader"),
  ];
}

/**
 * The lines of a pod's story, with the time where it is known.
 * @param {Element} list
 * @param {readonly Line[]} lines
 * @param {View} view
 * @param {Ui} ui
 * @param {T} t
 */
export function storyLines(list, lines, view, ui, t) {
  syncList(list, lines.map((line, index) => ({ ...line, index })), ({ index }) => String(index),
    () => element("li", {}, element("time"), element("span")), (row, { key, values, atMs }) => {
      const said = Object.fromEntries(Object.entries(values).map(([name, value]) =>
        [name, typeof value === "number" ? number(ui.lang, value) : value]));
      row.className = `story-${key}`;
      setText(/** @type {Element} */ (row.firstElementChild), atMs === null ? "" : clockTime(view.epochMs + atMs));
      setText(/** @type {Element} */ (row.lastElementChild), t(`story_${key}`, said));
    });
}
