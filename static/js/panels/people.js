/** Who is present: overlapping initials, the count, and a list on demand. */

/** @import { Dispatch, Person, Selection, Ui, View } from "../lib/types.d.ts" */
import { element, setAttribute, setText, syncList } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { number, text } from "../lib/text.js";
import { roleKey } from "../state/classroom.js";
import { isWall, lookOf, looksOn } from "../state/looks.js";
import { saidKey } from "../state/people.js";

/** Faces in the bar; the rest is the count. */
const FACES_MAX = 4;

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 */
export function mountPeople(root, dispatch) {
  const faces = element("span", { class: "faces", "aria-hidden": "true" });
  const count = element("span", { class: "people-count" });
  const list = element("ul", { class: "people-list" });
  const download = element("a", { class: "button people-kubeconfig", "data-testid": "kubeconfig" });
  const heading = element("h2");
  const switches = lookSwitches(dispatch);
  const popover = element("div", { class: "popover people-popover", popover: "auto", id: "people-popover" }, [
    heading, list, ...switches.elements, download,
  ]);
  const here = element("span", { class: "sr-only" });
  const button = element("button", {
    class: "people-button", type: "button", "data-testid": "people", popovertarget: "people-popover",
  }, [faces, count, " ", here]);
  root.append(button, popover);
  /** @type {readonly Person[] | null} */
  let shown = null;
  let shownLang = "";
  /** @type {unknown} */
  let shownLooks = null;

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      switches.render(view, ui);
      if (view.people === shown && ui.lang === shownLang && view.looks === shownLooks) return;
      shownLooks = view.looks;
      shown = view.people;
      shownLang = ui.lang;
      const online = view.people.filter((person) => person.online);
      setText(count, number(ui.lang, online.length));
      setText(heading, text(ui.lang, "people"));
      setText(download, text(ui.lang, "kubeconfig"));
      setAttribute(download, "title", text(ui.lang, "kubeconfig_title"));
      if (view.session) setAttribute(download, "href", `/api/sessions/${view.session.code}/kubeconfig?download=1`);
      setText(here, text(ui.lang, "people_here"));
      syncList(faces, online.slice(0, FACES_MAX), (person) => `${person.id} ${person.name}`, face);
      const sorted = view.people.filter((person) => !person.left).sort(
        (a, b) => Number(b.online) - Number(a.online) || a.name.localeCompare(b.name),
      );
      syncList(list, sorted, (person) => `${person.id} ${person.name}`, (person) => personRow(person, dispatch), (row, person) => {
        row.classList.toggle("away", !person.online);
        const note = person.id === view.me?.id ? "you" : person.online ? "" : "person_away";
        setText(/** @type {Element} */ (row.children[1]), person.name);
        setText(/** @type {Element} */ (row.children[2]), note ? text(ui.lang, note) : "");
        setText(/** @type {Element} */ (row.children[3]), text(ui.lang, roleKey(view, person.role)));
        const look = person.id === view.me?.id || isWall(view, ui) ? null : lookOf(view, person);
        showLook(/** @type {HTMLButtonElement} */ (row.children[4]), look, view, ui);
      });
    },
  };
}

/**
 * @param {Person} person
 * @param {Dispatch} dispatch
 */
function personRow(person, dispatch) {
  const go = element("button", { class: "link people-look", type: "button" });
  go.addEventListener("click", () => {
    const { resource, key } = go.dataset;
    if (resource && key) dispatch({ type: "select", resource, key });
  });
  return element("li", {}, [
    face(person), element("b"), element("small"), element("span", { class: "chip" }), go,
  ]);
}

/**
 * @param {HTMLButtonElement} go
 * @param {Selection | null} look
 * @param {View} view
 * @param {Ui} ui
 */
function showLook(go, look, view, ui) {
  go.hidden = !look;
  go.dataset["resource"] = look?.resource ?? "";
  go.dataset["key"] = look?.key ?? "";
  setText(go, look ? text(ui.lang, "looks_at", { name: saidKey(view, look.key) }) : "");
}

/**
 * Who sees at what others look: each person for themselves, the teacher for everybody.
 * @param {Dispatch} dispatch
 */
function lookSwitches(dispatch) {
  const make = (/** @type {"shareLooks" | "switchLooks"} */ type) => {
    const input = element("input", { type: "checkbox", "data-testid": type });
    input.addEventListener("change", () => dispatch({ type, on: input.checked }));
    const words = element("span");
    return { input, words, label: element("label", { class: "people-switch" }, input, words) };
  };
  const mine = make("shareLooks");
  const all = make("switchLooks");
  const off = element("p", { class: "hint people-switch" });
  return {
    elements: [mine.label, all.label, off],
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const role = view.me?.role;
      mine.label.hidden = !view.looks.on || (role !== "teacher" && role !== "student");
      all.label.hidden = role !== "teacher";
      off.hidden = view.looks.on || role === "teacher";
      mine.input.checked = ui.sharesLooks;
      all.input.checked = looksOn(view, ui);
      setText(mine.words, text(ui.lang, "looks_mine"));
      setText(all.words, text(ui.lang, "looks_all"));
      setText(off, text(ui.lang, "looks_off"));
    },
  };
}
