/** The join code over the whole screen: QR, address and code, readable from the last row. */

/** @import { Ui } from "../lib/types.d.ts" */
/** @import { Translate } from "./dialog.js" */
import { element, icon, returnFocus } from "../dom/dom.js";

/**
 * @typedef {object} Door whether newcomers may join, for whom may say so
 * @property {() => Promise<{open: boolean}>} read
 * @property {(open: boolean) => Promise<{message: string} | null>} set what was refused, null when it is so
 */

/** @param {{code: string, title: string, join: Ui["join"], t: Translate, door: Door | null}} options */
export function openCode({ code, title, join, t, door }) {
  const before = document.activeElement;
  const copy = element("button", { class: "button", type: "button" }, [icon("copy"), element("span", {}, t("copy_link"))]);
  const close = element("button", { class: "button code-close", type: "button" }, [icon("close"), t("close")]);
  const dialog = element("dialog", { class: "code-dialog", "aria-label": title, "data-testid": "code-dialog" }, [
    join.reachable ? element("img", { alt: t("qr_alt"), src: `/api/sessions/${code}/qr.svg` }) : closed(join.networkUrl, t),
    element("div", {}, [
      element("h2", {}, title),
      element("p", { class: "hint" }, t(join.reachable ? "join_at" : "join_at_here")),
      element("p", { class: "code-address" }, hostOf(join.url)),
      element("p", { class: "hint" }, t("or_code")),
      element("div", { class: "code-large mono" }, code),
      element("p", { class: "code-link" }, [copy, element("code", {}, join.url)]),
      ...(door ? [doorSwitch(door, t)] : []),
    ]),
    close,
  ]);
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(join.url);
    copy.lastElementChild?.replaceChildren(t("copied"));
  });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => {
    dialog.remove();
    returnFocus(before);
  });
  document.body.append(dialog);
  dialog.showModal();
}

/**
 * What stands where the QR would: a phone that scanned it would find nothing, so how to open the network.
 * @param {string | null} networkUrl
 * @param {Translate} t
 */
function closed(networkUrl, t) {
  return element("section", { class: "code-closed", role: "note", "data-testid": "join-closed" }, [
    element("h3", {}, [icon("warn"), t("join_closed")]),
    element("p", {}, t("join_closed_why")),
    element("p", {}, t("join_closed_how")),
    element("pre", { class: "mono" }, "HOST=0.0.0.0 make run"),
    networkUrl ? element("p", {}, [t("join_closed_then"), " ", element("b", {}, hostOf(networkUrl))]) : element("p", {}, t("join_no_network")),
  ]);
}

/**
 * The teacher's switch: a class that is whole needs nobody who tries the code.
 * @param {Door} door
 * @param {Translate} t
 */
function doorSwitch(door, t) {
  const box = /** @type {HTMLInputElement} */ (element("input", { type: "checkbox", "data-testid": "door-open" }));
  const problem = element("p", { class: "field-error", role: "alert" });
  box.disabled = true;
  void door.read().then(({ open }) => {
    box.checked = open;
    box.disabled = false;
  }, () => {});
  box.addEventListener("change", async () => {
    const refused = await door.set(box.checked);
    problem.textContent = refused?.message ?? "";
    if (refused) box.checked = !box.checked;
  });
  return element("div", { class: "code-door" }, [element("label", {}, [box, " ", t("door_open")]), problem]);
}

/** @param {string} url */
function hostOf(url) {
  return url.replace(/^https?:\/\//, "").replace(/\/join\/.*$/, "");
}
