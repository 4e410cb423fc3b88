/** The band over the stage: who presents and the way out of it or back, the presenter's own controls, a class that is frozen. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Standing } from "../state/presenting.js" */
import { element, icon, setAttribute, setText, syncList } from "../dom/dom.js";
import { face } from "../dom/face.js";
import { text } from "../lib/text.js";
import { SCENES, isProjector, presenterName, stopped } from "../state/presenting.js";

/**
 * @param {HTMLElement} root
 * @param {object} acts
 * @param {Dispatch} acts.dispatch
 * @param {() => void} acts.leave
 * @param {() => void} acts.back
 * @param {(scene: string) => void} acts.setScene
 */
export function mountBand(root, { dispatch, leave, back, setScene }) {
  const who = element("span", { class: "band-face" });
  const title = element("b", { "data-testid": "band-title" });
  const note = element("span", { class: "band-note" });
  const scenes = element("select", { class: "band-scenes", "data-testid": "band-scene" });
  const scenesLabel = element("label", { class: "band-label" }, [element("span"), scenes]);
  scenes.addEventListener("change", () => setScene(scenes.value));
  for (const scene of SCENES) scenes.append(element("option", { value: scene }));
  const freeze = element("button", { class: "band-button", type: "button", "data-testid": "band-freeze" });
  freeze.addEventListener("click", () => dispatch({ type: "freeze", on: freeze.getAttribute("aria-pressed") !== "true" }));
  const out = element("button", { class: "band-button", type: "button", "data-testid": "band-leave" });
  const outText = element("span");
  const outKey = element("kbd");
  out.append(outText, outKey);
  /** @type {Standing} */
  let standing = "free";
  out.addEventListener("click", () => {
    if (standing === "presents") dispatch({ type: "present", view: null });
    else if (standing === "left") back();
    else leave();
  });
  const sign = icon("screen");
  root.append(who, sign, title, note, scenesLabel, freeze, out);

  return {
    /**
     * @param {View} view
     * @param {Ui} ui
     * @param {Standing} now
     * @param {string} scene
     */
    render(view, ui, now, scene) {
      standing = now;
      const { lang } = ui;
      const reason = stopped(view);
      const teaches = view.me?.role === "teacher";
      const thaws = teaches && view.frozen;
      root.hidden = (standing === "free" && !reason && !thaws) || isProjector(view, ui, standing);
      document.body.classList.toggle("is-presented", !root.hidden);
      root.classList.toggle("leads", standing === "presents");
      if (root.hidden) return;
      setAttribute(root, "aria-label", text(lang, "presenting.band"));
      const name = presenterName(view);
      const person = standing === "follows" || standing === "left" ? view.people.find(({ id }) => id === view.presenting.by) : null;
      syncList(who, person ? [person] : [], (one) => `${one.id} ${one.name}`, face);
      sign.toggleAttribute("hidden", Boolean(person));
      setText(title, titleOf(lang, standing, name, reason, thaws));
      setText(note, noteOf(lang, standing, reason, thaws));
      scenesLabel.hidden = standing !== "presents";
      setText(/** @type {Element} */ (scenesLabel.firstElementChild), text(lang, "presenting.wall"));
      for (const [index, option] of [...scenes.options].entries()) setText(option, text(lang, `presenting.scene_${SCENES[index] || "auto"}`));
      if (scenes.value !== scene) scenes.value = scene;
      freeze.hidden = !teaches || standing === "follows";
      setText(freeze, text(lang, view.frozen ? "presenting.unfreeze" : "presenting.freeze"));
      setAttribute(freeze, "aria-pressed", String(view.frozen));
      setAttribute(freeze, "title", text(lang, "presenting.freeze_title"));
      out.hidden = standing === "free";
      setText(outText, text(lang, `presenting.out_${standing}`, { name }));
      outKey.hidden = standing === "presents";
      setText(outKey, standing === "left" ? "F" : "Esc");
    },
  };
}

/**
 * @param {Ui["lang"]} lang
 * @param {Standing} standing
 * @param {string} name
 * @param {"" | "frozen" | "muted"} reason
 * @param {boolean} thaws
 */
function titleOf(lang, standing, name, reason, thaws) {
  if (standing !== "free") return text(lang, `presenting.title_${standing}`, { name });
  return text(lang, thaws ? "presenting.class_frozen" : `stopped_${reason}`);
}

/**
 * @param {Ui["lang"]} lang
 * @param {Standing} standing
 * @param {"" | "frozen" | "muted"} reason
 * @param {boolean} thaws
 */
function noteOf(lang, standing, reason, thaws) {
  if (reason) return text(lang, standing === "free" ? `stopped_${reason}_note` : `stopped_${reason}`);
  if (thaws) return text(lang, "presenting.note_thaw");
  return standing === "free" ? "" : text(lang, `presenting.note_${standing}`);
}
