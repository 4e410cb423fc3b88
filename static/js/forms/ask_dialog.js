/** A question for the class about a pod that waits: what is asked, how long a vote takes, how it is held. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
import { append, element, setText } from "../dom/dom.js";
import { openDialog } from "./dialog.js";

const KINDS = /** @type {const} */ (["node", "victims"]);
const SECONDS = 60;
const SECONDS_MAX = 3600;

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {string} options.pod namespace/name
 * @param {(question: object) => Promise<Refusal>} options.ask
 */
export function openAsk({ t, pod, ask }) {
  const name = pod.split("/").pop() ?? pod;
  const kinds = KINDS.map((kind, index) => {
    const input = element("input", { type: "radio", name: "ask-kind", value: kind, "data-testid": `ask-kind-${kind}`, checked: index === 0 });
    return { kind, input, row: element("label", { class: "ask-kind" }, [input, element("span", {}, t(`ask.kind_${kind}`))]) };
  });
  const limit = element("input", {
    class: "input", id: "ask-limit", type: "number", min: "0", max: String(SECONDS_MAX), value: String(SECONDS), "data-testid": "ask-limit",
  });
  const { body } = openDialog({
    title: t("ask.title", { name }), action: t("ask.start"), cancel: t("cancel"), closeLabel: t("close"),
    className: "small", testId: "ask-dialog",
    async onSubmit({ error }) {
      const kind = kinds.find(({ input }) => input.checked)?.kind ?? KINDS[0];
      const refusal = await ask({ kind, pod, hold: "before-prefilter", limit: Number(limit.value) });
      if (refusal) setText(error, refusal.message);
      return !refusal;
    },
  });
  append(body, [
    element("fieldset", {}, [element("legend", {}, t("ask.kind")), ...kinds.map(({ row }) => row)]),
    element("label", { for: "ask-limit" }, t("ask.limit")), limit, element("p", { class: "hint" }, t("ask.note")),
  ]);
}
