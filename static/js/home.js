/** Wiring of the home and join pages: start, join, recent sessions, theme. */

/** @import { Theme } from "./lib/types.d.ts" */
import { isCluster } from "./lib/clusterfile.js";
import { CODE_LENGTH, codeCharacters, formatCode } from "./lib/code.js";
import { ApiError, request, SessionApi } from "./net/rest.js";
import { forgetSession, recentSessions, rememberSession, rememberTheme } from "./net/recent.js";
import { element, icon, keepFocus } from "./dom/dom.js";
import { showLessons } from "./lessons.js";

/** @type {Record<string, string>} */
const TEXTS = JSON.parse(document.getElementById("texts")?.textContent ?? "{}");
/** Characters of a title that the server takes; a longer file name is cut. */
const TITLE_MAX = 120;
/** Milliseconds a manifest of thousands of objects may take to be stored. */
const IMPORT_TIMEOUT_MS = 120_000;
const LANG = document.documentElement.lang;

/**
 * @param {string} key
 * @param {Record<string, string>} [values]
 */
function t(key, values = {}) {
  return (TEXTS[key] ?? key).replace(/\{(\w+)\}/g, (whole, name) => values[name] ?? whole);
}

/** @param {unknown} problem */
function sentence(problem) {
  if (problem instanceof ApiError) return problem.status.code === 0 ? t("unreachable") : problem.message;
  return String(problem);
}

function wireTheme() {
  const group = document.getElementById("theme-switch");
  const mark = () => {
    for (const button of group?.querySelectorAll("button") ?? []) {
      const pressed = button.dataset["themeChoice"] === document.documentElement.dataset["theme"];
      button.setAttribute("aria-pressed", String(pressed));
    }
  };
  group?.addEventListener("click", (event) => {
    const button = /** @type {Element} */ (event.target).closest("button");
    const theme = /** @type {Theme | undefined} */ (button?.dataset["themeChoice"]);
    if (!theme) return;
    document.documentElement.dataset["theme"] = theme;
    mark();
    rememberTheme(theme);
  });
  mark();
}

/** @param {HTMLFormElement} form */
function wireStart(form) {
  const label = /** @type {HTMLElement} */ (document.getElementById("start-label"));
  const button = /** @type {HTMLButtonElement} */ (document.getElementById("start-button"));
  const error = /** @type {HTMLElement} */ (document.getElementById("start-error"));
  const file = /** @type {HTMLInputElement} */ (document.getElementById("import-file"));
  const phrase = /** @type {HTMLInputElement | null} */ (document.getElementById("pass-phrase"));
  const chosen = () => /** @type {HTMLInputElement} */ (form.querySelector("input[name=template]:checked"));

  const relabel = () => {
    const name = chosen().value === "import" ? (file.files?.[0]?.name ?? chosen().dataset["title"]) : undefined;
    label.textContent = t("start", { template: name ?? chosen().dataset["title"] ?? "" });
  };
  form.addEventListener("change", relabel);
  form.addEventListener("click", (event) => {
    const radio = /** @type {Element} */ (event.target).closest(".template")?.querySelector("input");
    if (radio?.value === "import" && event.target === radio) file.click();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    error.textContent = "";
    const importing = chosen().value === "import";
    const picked = importing ? file.files?.[0] : undefined;
    if (importing && !picked) {
      file.click();
      return;
    }
    button.disabled = true;
    label.textContent = t("starting");
    try {
      const title = picked?.name ?? chosen().dataset["title"] ?? "";
      const template = chosen().value;
      /** @type {Record<string, string>} */
      const wish = { title: title.slice(0, TITLE_MAX), template };
      if (phrase) wish["passPhrase"] = phrase.value;
      if (picked) {
        label.textContent = t("importing", { file: picked.name });
        wish["manifest"] = await picked.text();
      }
      // The answer also set the cookie, so the secret in its address need not show in the bar on the wall.
      const made = await open(wish);
      rememberSession({ code: made.code, title: wish["title"] ?? "", role: "teacher", revision: 0, atMs: Date.now() });
      location.assign(`/s/${made.code}${made.pod ? `?pod=${encodeURIComponent(made.pod)}` : ""}`);
    } catch (problem) {
      error.textContent = sentence(problem);
      button.disabled = false;
      relabel();
      if (problem instanceof ApiError && problem.status.code === 401) phrase?.focus();
    }
  });
  wireDrop(form, (files) => {
    file.files = files;
    /** @type {HTMLInputElement} */ (form.querySelector("input[value=import]")).checked = true;
    relabel();
    form.requestSubmit();
  });
  relabel();
}

/**
 * Open what is wished for: a real cluster's file at the pod that waits there, any other as its objects.
 * @param {Record<string, string>} wish
 * @returns {Promise<any>}
 */
function open({ manifest, ...wish }) {
  if (manifest === undefined || !isCluster(manifest))
    return request("POST", "/api/sessions", manifest === undefined ? wish : { ...wish, manifest }, { timeoutMs: IMPORT_TIMEOUT_MS });
  const phrase = wish["passPhrase"];
  return request("POST", `/api/clusters?title=${encodeURIComponent(wish["title"] ?? "")}`, manifest, {
    timeoutMs: IMPORT_TIMEOUT_MS, headers: phrase ? { "X-Pass-Phrase": encodeURIComponent(phrase) } : {},
  });
}

/**
 * A file dropped anywhere on the page is taken; what else is dragged over it is left alone.
 * @param {HTMLElement} form marked while a file is over the page
 * @param {(files: FileList) => void} take
 */
function wireDrop(form, take) {
  const brings = (/** @type {DragEvent} */ event) => Boolean(event.dataTransfer?.types.includes("Files"));
  const mark = (/** @type {boolean} */ over) => form.classList.toggle("over", over);
  document.addEventListener("dragover", (event) => {
    if (!brings(event)) return;
    event.preventDefault();
    mark(true);
  });
  document.addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(false);
  });
  document.addEventListener("drop", (event) => {
    mark(false);
    if (!brings(event) || !event.dataTransfer?.files.length) return;
    event.preventDefault();
    take(event.dataTransfer.files);
  });
}

/** @param {HTMLFormElement} form */
function wireJoin(form) {
  const code = /** @type {HTMLInputElement} */ (form.querySelector("#code"));
  const name = /** @type {HTMLInputElement} */ (form.querySelector("#name"));
  const error = /** @type {HTMLElement} */ (form.querySelector("#join-error"));
  const button = /** @type {HTMLButtonElement} */ (form.querySelector("button[type=submit]"));
  const cells = Array.from({ length: CODE_LENGTH }, () => element("span"));
  form.querySelector("#code-cells")?.append(...cells.slice(0, 3), element("i"), ...cells.slice(3));

  const draw = () => {
    const characters = codeCharacters(code.value);
    const at = Math.min(characters.length, cells.length - 1);
    cells.forEach((cell, index) => {
      cell.textContent = characters[index] ?? "";
      cell.classList.toggle("at", index === at);
    });
    return characters;
  };
  code.addEventListener("input", () => {
    error.textContent = "";
    if (draw().length === cells.length) name.focus();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const whole = formatCode(code.value);
    if (!whole) {
      error.textContent = t("code_incomplete");
      code.focus();
      return;
    }
    if (!name.value.trim()) {
      error.textContent = t("name_missing");
      name.focus();
      return;
    }
    button.disabled = true;
    button.textContent = t("joining");
    try {
      const joined = await new SessionApi(whole).join(name.value.trim());
      rememberSession({ code: whole, title: joined.title ?? whole, role: joined.role, revision: 0, atMs: Date.now() });
      // The moment that somebody sent comes along through the door.
      location.assign(`/s/${whole}${location.search}`);
    } catch (problem) {
      error.textContent = sentence(problem);
      button.disabled = false;
      button.textContent = t("join");
    }
  });
  draw();
}

/** @param {number} atMs */
function when(atMs) {
  const format = new Intl.RelativeTimeFormat(LANG, { numeric: "auto", style: "narrow" });
  const minutes = Math.round((Date.now() - atMs) / 60_000);
  if (minutes < 60) return format.format(-minutes, "minute");
  if (minutes < 24 * 60) return format.format(-Math.round(minutes / 60), "hour");
  return format.format(-Math.round(minutes / 60 / 24), "day");
}

/** @param {HTMLElement} list */
function drawRecent(list) {
  const rows = recentSessions().map((session) => {
    const forget = element("button", { class: "ghost", type: "button" }, icon("close"));
    forget.setAttribute("aria-label", t("forget", { title: session.title }));
    forget.addEventListener("click", () => {
      forgetSession(session.code);
      drawRecent(list);
    });
    return element("li", {}, [
      element("b", {}, session.title),
      element("code", {}, session.code),
      element("span", { class: session.role === "teacher" ? "chip accent" : "chip" }, t(`role_${session.role}`)),
      element("small", {}, session.revision ? t("at_revision", { revision: session.revision.toLocaleString(LANG) }) : ""),
      element("time", { datetime: new Date(session.atMs).toISOString() }, when(session.atMs)),
      element("a", { class: "button", href: `/s/${session.code}` }, t("open")),
      forget,
    ]);
  });
  keepFocus(list, () => list.replaceChildren(...(rows.length ? rows : [element("li", { class: "none" }, t("recent_none"))])));
}

wireTheme();
const startForm = document.getElementById("start-form");
if (startForm instanceof HTMLFormElement) wireStart(startForm);
const joinForm = document.getElementById("join-form");
if (joinForm instanceof HTMLFormElement) wireJoin(joinForm);
const lessons = document.getElementById("lessons");
if (lessons) {
  void showLessons({
    root: lessons, t, sentence, lang: LANG.startsWith("zh") ? "zh-hans" : "en",
    phrase: () => /** @type {HTMLInputElement | null} */ (document.getElementById("pass-phrase"))?.value ?? "",
  });
}
const recent = document.getElementById("recent");
if (recent) drawRecent(recent);
