/** What can be taken home: a recording that opens by itself, or the objects as a file. */

/** @import { Translate } from "./dialog.js" */
import { append, element } from "../dom/dom.js";
import { openDialog } from "./dialog.js";

const FORMS = ["html", "yaml", "json"];

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {(form: string) => string} options.hrefOf
 */
export function openSave({ t, hrefOf }) {
  const choices = FORMS.map((form, place) => {
    const input = element("input", { type: "radio", name: "save", id: `save-${form}`, value: form, "data-testid": `save-${form}` });
    input.checked = place === 0;
    return { form, input };
  });
  const shell = openDialog({
    title: t("save_title"), action: t("save_go"), cancel: t("close"), closeLabel: t("close"), testId: "save-dialog",
    async onSubmit() {
      const chosen = choices.find(({ input }) => input.checked)?.form ?? "html";
      // The server names the file.
      element("a", { href: hrefOf(chosen), download: "" }).click();
      return true;
    },
  });
  append(shell.body, choices.map(({ form, input }) => element("div", { class: "form-field save-form" }, [
    element("label", { for: input.id }, [input, " ", element("b", {}, t(`save_${form}`))]),
    element("p", { class: "hint" }, t(`save_${form}_hint`)),
  ])));
  choices[0]?.input.focus();
}
