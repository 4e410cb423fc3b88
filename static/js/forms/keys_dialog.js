/** The keys of the page on one sheet. */

/** @import { Translate } from "./dialog.js" */
import { append, element } from "../dom/dom.js";
import { KEYS } from "../lib/shortcuts.js";
import { openDialog } from "./dialog.js";

/** @param {{t: Translate}} options */
export function openKeys({ t }) {
  const { dialog, body } = openDialog({
    title: t("keys.title"), action: t("close"), cancel: t("close"), closeLabel: t("close"), className: "wide", testId: "keys-dialog",
    onSubmit: async () => true,
  });
  dialog.querySelector("footer button:not([type=submit])")?.remove();
  // Nothing in it takes the focus, and on a small screen it scrolls.
  body.tabIndex = 0;
  append(body, KEYS.map(({ where, keys }) => element("section", { class: "keys-part" }, [
    element("h3", {}, t(`keys.in_${where}`)),
    element("dl", {}, keys.flatMap(({ press, does }) => [
      element("dt", {}, press.map((one) => element("kbd", {}, one))), element("dd", {}, t(`keys.${does}`)),
    ])),
  ])));
}
