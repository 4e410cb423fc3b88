/** The top bar: title, code, role, people, clock, language, theme. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
import { append, element, icon, setAttribute, setText } from "../dom/dom.js";
import { LANGUAGES } from "../lib/languages.js";
import { text } from "../lib/text.js";
import { roleKey } from "../state/classroom.js";
import { mountClock } from "./clock.js";
import { mountPeople } from "./people.js";

const NEXT_THEME = /** @type {const} */ ({ light: "dark", dark: "projector", projector: "light" });
const THEME_ICON = { light: "moon", dark: "screen", projector: "sun" };

/**
 * @param {HTMLElement} root
 * @param {Dispatch} dispatch
 * @param {{code: string, title: string}} session
 */
export function mount(root, dispatch, session) {
  const title = element("h1", {}, session.title);
  const subtitle = element("small");
  const logo = document.getElementById("logo-template");
  const home = element("a", { class: "logo-link", href: "/", "aria-label": "Clustersim" });
  if (logo instanceof HTMLTemplateElement) home.append(logo.content.cloneNode(true));
  const qr = element("img", { class: "code-qr", alt: "", width: 32, height: 32 });
  const shut = element("span", { class: "code-shut", "data-testid": "join-warning" }, icon("warn"));
  const shownCode = element("span", { class: "mono" }, session.code);
  const code = element("button", { class: "code-button", type: "button", "data-testid": "join-code" }, [qr, shut, shownCode]);
  code.addEventListener("click", () => dispatch({ type: "showCode" }));
  const role = element("span", { class: "chip accent role-chip" });
  const peopleRoot = element("div", { class: "people" });
  const clockRoot = element("div", { class: "clock" });
  const languages = element("div", { class: "segmented languages", role: "toolbar" });
  const speaks = LANGUAGES.map(({ lang, tag, name, short }) => ({
    lang, button: element("button", { type: "button", lang: tag, "aria-label": name, onclick: () => dispatch({ type: "lang", lang }) }, short),
  }));
  append(languages, speaks.map(({ button }) => button));
  const theme = element("button", { class: "ghost theme-button", type: "button" });
  /** @type {Ui["theme"]} */
  let shownTheme = "light";
  theme.addEventListener("click", () => dispatch({ type: "theme", theme: NEXT_THEME[shownTheme] }));

  const slot = element("div", { class: "desk-slot" });
  append(root, [
    home,
    element("div", { class: "title" }, [title, subtitle]),
    code, role, peopleRoot, clockRoot,
    element("span", { class: "spacer" }),
    slot, languages, theme,
  ]);
  const people = mountPeople(peopleRoot, dispatch);
  const clock = mountClock(clockRoot, dispatch);

  return {
    /** For what only a desk has. */
    slot,
    /**
     * @param {View} view
     * @param {Ui} ui
     */
    render(view, ui) {
      const { lang } = ui;
      if (view.session) {
        setText(title, view.session.titles?.[lang === "zh-hans" ? "zh" : "en"] ?? view.session.title);
        setText(subtitle, subtitleOf(view, ui));
      }
      setText(shownCode, ui.join.code);
      setAttribute(code, "aria-label", `${ui.join.code}: ${text(lang, ui.join.reachable ? "show_code" : "join_closed")}`);
      // A QR that no other device can open is not shown.
      qr.hidden = !ui.join.reachable;
      if (ui.join.reachable && !ui.phone && view.me && !view.me.recorded) setAttribute(qr, "src", `/api/sessions/${ui.join.code}/qr.svg`);
      shut.hidden = ui.join.reachable;
      setAttribute(code, "title", text(lang, ui.join.reachable ? "show_code" : "join_closed"));
      // Who only watches moves no clock: on a wall the room is wanted.
      root.classList.toggle("teaches", view.me?.role === "teacher");
      root.classList.toggle("watches", (view.me?.role === "viewer" || view.me?.role === "student") && !view.me.recorded);
      role.hidden = !view.me;
      if (view.me) setText(role, text(lang, view.me.recorded ? "role_recording" : roleKey(view, view.me.role)));
      for (const { lang: own, button } of speaks) setAttribute(button, "aria-pressed", String(lang === own));
      setAttribute(languages, "aria-label", text(lang, "language"));
      if (ui.theme !== shownTheme || !theme.firstChild) {
        shownTheme = ui.theme;
        theme.replaceChildren(icon(THEME_ICON[ui.theme]));
      }
      const next = text(lang, `theme_${NEXT_THEME[ui.theme]}`);
      setAttribute(theme, "aria-label", next);
      setAttribute(theme, "title", next);
      people.render(view, ui);
      clock.render(view, ui);
    },
    /** Time alone: called in every frame, also when nothing else changed. */
    tick: clock.tick,
  };
}

/**
 * @param {View} view
 * @param {Ui} ui
 */
function subtitleOf(view, ui) {
  const seed = text(ui.lang, "seed", { seed: String(view.session?.seed ?? "") });
  const config = view.objects.get("schedulerconfigs.clustersim.io")?.get("default");
  const era = config?.spec?.["era"];
  if (view.me?.role === "student") return `${view.me.name} · ${view.me.namespace}`;
  return era ? `${seed} · ${era}` : `${seed} · v1.34 default`;
}
