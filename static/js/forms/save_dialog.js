/** What can be taken home: a recording that opens by itself, the objects as a file, a lesson's handout. */

/** @import { Translate } from "./dialog.js" */
import { append, element } from "../dom/dom.js";
import { openDialog } from "./dialog.js";

const FILES = ["html", "yaml", "json"];
/** A page for the printer, which opens beside this one. */
const HANDOUT = "handout";

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {boolean} options.lesson whether the session has a lesson
 * @param {(form: string) => string} options.hrefOf
 */
export function openSave({ t, lesson, hrefOf }) {
  const choices = [...FILES, ...(lesson ? [HANDOUT] : [])].map((form, place) => {
    const input = element("input", { type: "radio", name: "save", id: `save-${form}`, value: form, "data-testid": `save-${form}` });
    input.checked = place === 0;
    return { form, input };
  });
  const shell = openDialog({
    title: t("save_title"), action: t("save_go"), cancel: t("close"), closeLabel: t("close"), testId: "save-dialog",
    async onSubmit() {
      const chosen = choices.find(({ input }) => input.checked)?.form ?? "html";
      // The server names the file.
      element("a", { href: hrefOf(chosen), ...(chosen === HANDOUT ? { target: "_blank", rel: "noopener" } : { download: "" }) }).click();
      return true;
    },
  });
  append(shell.body, choices.map(({ form, input }) => element("div", { class: "form-field save-form" }, [
    element("label", { for: input.id }, [input, " ", element("b", {}, t(`save_${form}`))]),
    element("p", { class: "hint" }, t(`save_${form}_hint`)),
  ])));
  choices[0]?.input.focus();
}
