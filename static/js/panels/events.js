/** Kubernetes Events as rows, newest first: in the dock for the whole session, in the inspector for one object. */

/** @import { Dispatch, EventSlim, Ui, View } from "../lib/types.d.ts" */
import { element, keepFocus, setText, syncList } from "../dom/dom.js";
import { namedOf } from "../dom/face.js";
import { KINDS } from "../lib/kinds.js";
import { clockTime, text } from "../lib/text.js";
import { eventTimeOf } from "../state/events.js";
import { whose } from "../state/people.js";
import { objectAt } from "../state/selectors.js";
import { keyOf } from "../state/view.js";

/** Rows drawn; older events are one `kubectl get events` away. */
export const EVENT_ROWS_MAX = 200;

/**
 * Bring the rows of a list into line with the events.
 * @param {Element} list
 * @param {readonly EventSlim[]} events newest first
 * @param {View} view
 * @param {Ui} ui
 * @param {Dispatch} dispatch
 * @param {boolean} withObject whether each row names what it is about
 */
export function eventRows(list, events, view, ui, dispatch, withObject) {
  if (events.length === 0) {
    const none = text(ui.lang, withObject ? "events_none" : "events_none_here");
    if (list.textContent !== none) keepFocus(list, () => list.replaceChildren(element("p", { class: "none" }, none)));
    return;
  }
  if (list.firstElementChild?.matches(".none")) list.replaceChildren();
  syncList(list, events.slice(0, EVENT_ROWS_MAX), keyOf, (event) => {
    const about = element("button", { class: "link", type: "button" });
    about.addEventListener("click", () => {
      const target = targetOf(event);
      if (target && objectAt(view, target.resource, target.key)) dispatch({ type: "select", ...target });
    });
    return element("div", { class: "event-row" }, [
      element("time"), element("span", { class: "reason" }), withObject ? about : null, element("q"),
      element("span", { class: "count" }),
    ]);
  }, (row, event) => {
    const { namespace, name = "" } = event.involvedObject ?? {};
    const person = whose(view, namespace);
    const version = `${event.metadata.resourceVersion ?? ""} ${person?.name ?? ""}`;
    if (row.dataset["version"] === version) return;
    row.dataset["version"] = version;
    row.classList.toggle("warning", event.type === "Warning");
    const at = Date.parse(eventTimeOf(event));
    const [time, reason] = /** @type {Element[]} */ ([...row.children]);
    if (time) setText(time, Number.isNaN(at) ? "" : clockTime(at));
    if (reason) setText(reason, event.reason ?? "");
    const about = row.querySelector("button");
    if (about) about.replaceChildren(...namedOf(person, namespace, name));
    if (about) about.title = `${event.involvedObject?.kind ?? ""} ${namespace ?? ""}`.trim();
    setText(/** @type {Element} */ (row.querySelector("q")), event.message ?? event.note ?? "");
    const count = event.count ?? event["series"]?.count ?? 1;
    setText(/** @type {Element} */ (row.lastElementChild), count > 1 ? text(ui.lang, "times", { count }) : "");
  });
}

/**
 * @param {EventSlim} event
 * @returns {{resource: string, key: string} | null}
 */
function targetOf(event) {
  const about = event.involvedObject;
  const kind = KINDS.find((candidate) => candidate.kind === about?.kind);
  if (!kind || !about?.name) return null;
  return { resource: kind.resource, key: kind.namespaced ? `${about.namespace}/${about.name}` : about.name };
}
