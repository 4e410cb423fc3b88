/** The class, for its teacher: whether phones can reach this computer and who has arrived; rename, mute, take back; freeze; names. */

/** @import { Dispatch, Lang, Person, Ui, View } from "../lib/types.d.ts" */
import { checked, countHands, countsHands } from "../state/before.js";
import { twinOf } from "../state/twins.js";
import { element, icon, returnFocus, setAttribute, setText, syncList } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { counted, text } from "../lib/text.js";

/** @typedef {{reachable: boolean, shortUrl: string, addresses: {url: string}[]}} Check `GET …/check` */

/**
 * @param {object} world
 * @param {Dispatch} world.dispatch
 * @param {() => Promise<Check>} world.check
 * @param {string} world.qr address of the picture
 * @param {string} world.code of the session
 * @param {boolean} [world.first] it stands before a lesson that has been opened, which begins when it closes
 */
export function openClass({ dispatch, check, qr, code: session, first = false }) {
  const before = document.activeElement;
  const heading = element("h2", { id: "class-title" });
  const cross = element("button", { class: "ghost", type: "button" }, icon("close"));
  const size = first ? 232 : 132;
  const code = element("img", { class: "class-qr", alt: "", src: qr, width: size, height: size });
  const short = element("p", { class: "class-short", "data-testid": "class-short" });
  const others = element("ul", { class: "class-addresses" });
  const arrived = element("p", { class: "class-arrived", "data-testid": "class-arrived" });
  const reach = element("section", { class: "class-reach" }, [code, element("div", {}, [arrived, short, others])]);
  const freeze = switchFor("class-freeze", (on) => dispatch({ type: "freeze", on }));
  const names = switchFor("class-names", (on) => dispatch({ type: "wallNames", on }));
  const hands = switchFor("class-hands", (on) => countHands(session, on));
  const how = element("p", { class: "hint" });
  const begin = element("button", { class: "primary", type: "button", "data-testid": "class-begin", autofocus: "", onclick: () => dialog.close() });
  const list = element("ul", { class: "class-people" });
  const dialog = element("dialog", { class: `dialog wide class-dialog${first ? " first" : ""}`, "aria-labelledby": "class-title", "data-testid": "class-dialog" }, [
    element("header", {}, [heading, cross]),
    element("div", { class: "dialog-body" }, [reach, element("div", { class: "class-switches" }, [freeze.label, names.label, hands.label]), list]),
    first ? element("footer", {}, [how, begin]) : null,
  ]);
  cross.addEventListener("click", () => dialog.close());
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) dialog.close();
  });
  dialog.addEventListener("close", () => {
    dialog.remove();
    checked();
    returnFocus(before);
  });
  document.body.append(dialog);
  dialog.showModal();
  /** @type {Check | null} */
  let found = null;
  let asked = false;

  return {
    get open() {
      return dialog.isConnected;
    },
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const { lang } = ui;
      if (!asked) {
        asked = true;
        check().then((answer) => {
          found = answer;
          dispatch({ type: "tab", tab: "class" });
        }, () => setText(short, text(ui.lang, "unreachable")));
      }
      setText(heading, text(lang, first ? "seats.first" : "seats.title"));
      setText(how, text(lang, "seats.first_how"));
      setText(begin, text(lang, "seats.begin"));
      setAttribute(cross, "aria-label", text(lang, "close"));
      const students = view.people.filter(({ role, left }) => role === "student" && !left);
      const here = students.filter(({ online }) => online).length;
      setText(arrived, counted(lang, "seats.arrived", { count: here, all: students.length }));
      if (found) renderCheck(found, { short, others, code }, lang);
      freeze.render(view.frozen, text(lang, "seats.freeze"));
      names.render(view.wallNames, text(lang, "seats.names"));
      hands.render(countsHands(session), text(lang, "seats.hands"));
      syncList(list, students, ({ id }) => id, () => personRow(dispatch), (row, person) => renderPerson(row, person, lang, twinOf(person, students)));
    },
  };
}

/**
 * @param {string} testId
 * @param {(on: boolean) => void} turn
 */
function switchFor(testId, turn) {
  const input = element("input", { type: "checkbox", "data-testid": testId });
  const words = element("span");
  input.addEventListener("change", () => turn(input.checked));
  return {
    label: element("label", { class: "people-switch" }, input, words),
    /** @param {boolean} on @param {string} said */
    render(on, said) {
      input.checked = on;
      setText(words, said);
    },
  };
}

/**
 * @param {Check} found
 * @param {{short: HTMLElement, others: HTMLElement, code: HTMLElement}} parts
 * @param {Lang} lang
 */
function renderCheck({ reachable, shortUrl, addresses }, { short, others, code }, lang) {
  code.hidden = !reachable;
  setText(short, reachable ? shortUrl.replace(/^https?:\/\//, "") : `${text(lang, "join_closed_how")} HOST=0.0.0.0 make run`);
  const more = reachable ? addresses.filter(({ url }) => url !== shortUrl) : [];
  syncList(others, more, ({ url }) => url, ({ url }) => element("li", { class: "mono" }, url.replace(/^https?:\/\//, "")));
}

/**
 * @param {Dispatch} dispatch
 */
function personRow(dispatch) {
  const name = element("input", { class: "input class-name", maxlength: 40 });
  const mute = element("button", { class: "button", type: "button" });
  const undo = element("button", { class: "button", type: "button" });
  const same = element("button", { class: "button", type: "button", "data-testid": "seat-same" });
  const remove = element("button", { class: "button danger", type: "button", "data-testid": "seat-remove" });
  const twin = element("p", { class: "class-twin" }, [element("span"), same, remove]);
  const row = element("li", {}, [element("span", { class: "class-light" }), element("span"), name, mute, undo, twin]);
  const id = () => row.dataset["person"] ?? "";
  name.addEventListener("change", () => {
    const wanted = name.value.trim();
    if (wanted) dispatch({ type: "renamePerson", id: id(), name: wanted });
  });
  mute.addEventListener("click", () => dispatch({ type: "mutePerson", id: id(), on: mute.getAttribute("aria-pressed") !== "true" }));
  undo.addEventListener("click", () => dispatch({ type: "undoPerson", id: id(), name: name.value }));
  same.addEventListener("click", () => dispatch({ type: "mergePeople", id: row.dataset["twin"] ?? "", other: id(), name: name.value }));
  remove.addEventListener("click", () => dispatch({ type: "removePerson", id: id(), name: name.value }));
  return row;
}

/**
 * @param {HTMLElement} row
 * @param {Person} person
 * @param {Lang} lang
 * @param {Person | undefined} twin who was called the same before
 */
function renderPerson(row, person, lang, twin) {
  row.dataset["person"] = person.id;
  const [light, seat, name, mute, undo, second] = /** @type {HTMLElement[]} */ ([...row.children]);
  if (!light || !seat || !name || !mute || !undo || !second) return;
  renderTwin(row, second, person, lang, twin);
  light.classList.toggle("on", person.online);
  setAttribute(light, "role", "img");
  setAttribute(light, "aria-label", text(lang, person.online ? "seats.here" : "person_away"));
  syncList(seat, [person], (one) => `${one.id} ${one.name}`, face);
  const field = /** @type {HTMLInputElement} */ (name);
  setAttribute(field, "aria-label", text(lang, "seats.name"));
  if (document.activeElement !== field) field.value = person.name;
  setText(mute, text(lang, person.muted ? "seats.unmute" : "seats.mute"));
  setAttribute(mute, "aria-pressed", String(Boolean(person.muted)));
  setAttribute(mute, "title", text(lang, "seats.mute_title", { name: person.name }));
  setText(undo, text(lang, "seats.undo"));
  setAttribute(undo, "title", text(lang, "seats.undo_title", { name: person.name }));
}

/**
 * A second seat of the same name: perhaps one person who lost the first, perhaps two people. Who teaches knows.
 * @param {HTMLElement} row
 * @param {HTMLElement} second
 * @param {Person} person
 * @param {Lang} lang
 * @param {Person | undefined} twin
 */
function renderTwin(row, second, person, lang, twin) {
  second.hidden = !twin;
  if (!twin) return;
  row.dataset["twin"] = twin.id;
  const [words, same, remove] = /** @type {HTMLElement[]} */ ([...second.children]);
  if (words) setText(words, text(lang, twin.online ? "seats.twin_both" : "seats.twin"));
  for (const [button, key] of /** @type {const} */ ([[same, "seats.same"], [remove, "seats.remove"]])) {
    if (!button) continue;
    setText(button, text(lang, key));
    setAttribute(button, "title", text(lang, `${key}_title`, { name: person.name }));
  }
}
