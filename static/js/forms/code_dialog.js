/** The join code over the whole screen: QR, address and code, readable from the last row. */

/** @import { Translate } from "./dialog.js" */
import { element, icon, returnFocus } from "../dom/dom.js";

/**
 * @param {{code: string, title: string, joinUrl: string, t: Translate}} options
 */
export function openCode({ code, title, joinUrl, t }) {
  const before = document.activeElement;
  const copy = element("button", { class: "button", type: "button" }, [icon("copy"), element("span", {}, t("copy_link"))]);
  const close = element("button", { class: "button code-close", type: "button" }, [icon("close"), t("close")]);
  const dialog = element("dialog", { class: "code-dialog", "aria-label": title, "data-testid": "code-dialog" }, [
    element("img", { alt: "QR", src: `/api/sessions/${code}/qr.svg` }),
    element("div", {}, [
      element("h2", {}, title),
      element("p", { class: "hint" }, t("join_at")),
      element("p", { class: "code-address" }, joinUrl.replace(/^https?:\/\//, "").replace(/\/join\/.*$/, "")),
      element("p", { class: "hint" }, t("or_code")),
      element("p", { class: "code-large mono" }, code),
      element("p", { class: "code-link" }, [copy, element("code", {}, joinUrl)]),
    ]),
    close,
  ]);
  copy.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(joinUrl);
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
