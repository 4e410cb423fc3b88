/** Who is present: overlapping initials, the count, and a list on demand. */

/** @import { Person, Ui, View } from "../lib/types.d.ts" */
import { element, setAttribute, setText, syncList } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { number, text } from "../lib/text.js";

/** Faces in the bar; the rest is the count. */
const FACES_MAX = 4;

/**
 * @param {HTMLElement} root
 */
export function mountPeople(root) {
  const faces = element("span", { class: "faces", "aria-hidden": "true" });
  const count = element("span", { class: "people-count" });
  const list = element("ul", { class: "people-list" });
  const download = element("a", { class: "button people-kubeconfig", "data-testid": "kubeconfig" });
  const heading = element("h2");
  const popover = element("div", { class: "popover people-popover", popover: "auto", id: "people-popover" }, [
    heading, list, download,
  ]);
  const here = element("span", { class: "sr-only" });
  const button = element("button", {
    class: "people-button", type: "button", "data-testid": "people", popovertarget: "people-popover",
  }, [faces, count, " ", here]);
  root.append(button, popover);
  /** @type {readonly Person[] | null} */
  let shown = null;
  let shownLang = "";

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      if (view.people === shown && ui.lang === shownLang) return;
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
      syncList(list, sorted, (person) => `${person.id} ${person.name}`, personRow, (row, person) => {
        row.classList.toggle("away", !person.online);
        const note = person.id === view.me?.id ? "you" : person.online ? "" : "person_away";
        setText(/** @type {Element} */ (row.children[1]), person.name);
        setText(/** @type {Element} */ (row.children[2]), note ? text(ui.lang, note) : "");
        setText(/** @type {Element} */ (row.children[3]), text(ui.lang, `role_${person.role}`));
      });
    },
  };
}

/** @param {Person} person */
function personRow(person) {
  return element("li", {}, [
    face(person), element("b"), element("small"), element("span", { class: "chip" }),
  ]);
}
