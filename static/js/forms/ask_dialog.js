/** A question for the class, about a pod that waits or about what comes next: what is asked, its answers, how long a vote takes. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
import { append, element, setText } from "../dom/dom.js";
import { openDialog } from "./dialog.js";

const OF_POD = /** @type {const} */ (["node", "victims", "choice"]);
const OF_CLUSTER = /** @type {const} */ (["leader", "choice"]);
/** Answers of a question of one's own that there is room for. */
const ANSWERS = 4;
const SECONDS = 60;
const SECONDS_MAX = 3600;

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {string} options.pod namespace/name; "": about the cluster as it stands
 * @param {string} options.name the pod's as it is said
 * @param {string} options.point at which its cycle stands by now, where that is past what is held before; else ""
 * @param {(question: object) => Promise<Refusal>} options.ask
 */
export function openAsk({ t, pod, name, point, ask }) {
  const all = pod ? OF_POD : OF_CLUSTER;
  const kinds = all.map((kind, index) => {
    const input = element("input", { type: "radio", name: "ask-kind", value: kind, "data-testid": `ask-kind-${kind}`, checked: index === 0 });
    return { kind, input, row: element("label", { class: "ask-kind" }, [input, element("span", {}, t(`ask.kind_${kind}`))]) };
  });
  const limit = element("input", {
    class: "input", id: "ask-limit", type: "number", min: "0", max: String(SECONDS_MAX), value: String(SECONDS), "data-testid": "ask-limit",
  });
  const question = element("input", { class: "input", id: "ask-question", maxlength: "500", "data-testid": "ask-question" });
  const answers = Array.from({ length: ANSWERS }, (_, at) => ({
    label: element("input", { class: "input", maxlength: "120", "aria-label": t("ask.answer", { n: at + 1 }), "data-testid": `ask-answer-${at}` }),
    right: element("input", { class: "input mono", maxlength: "500", "aria-label": t("ask.right", { n: at + 1 }), placeholder: "pod('web').node == 'n1'", "data-testid": `ask-right-${at}` }),
  }));
  const own = element("div", { class: "ask-own", hidden: true }, [
    element("label", { for: "ask-question" }, t("ask.question")), question,
    element("p", { class: "hint" }, t("ask.answers_note")),
    ...answers.map(({ label, right }) => element("div", { class: "ask-answer" }, [label, right])),
  ]);
  const chosen = () => kinds.find(({ input }) => input.checked)?.kind ?? all[0];
  for (const { input } of kinds) input.addEventListener("change", () => {
    own.hidden = chosen() !== "choice";
  });
  const { body } = openDialog({
    title: pod ? t("ask.title", { name }) : t("ask.title_cluster"), action: t("ask.start"), cancel: t("cancel"), closeLabel: t("close"),
    className: "small", testId: "ask-dialog",
    async onSubmit({ error }) {
      const kind = chosen();
      const refusal = await ask({
        kind, limit: Number(limit.value), ...(pod ? { pod, hold: "before-prefilter" } : { hold: "now" }),
        ...(kind === "choice" ? {
          question: question.value.trim(),
          options: answers.map(({ label, right }) => ({ label: label.value.trim(), right: right.value.trim() })).filter(({ label }) => label),
        } : {}),
      });
      if (refusal) setText(error, refusal.message);
      return !refusal;
    },
  });
  append(body, [
    element("fieldset", {}, [element("legend", {}, t("ask.kind")), ...kinds.map(({ row }) => row)]),
    own, element("label", { for: "ask-limit" }, t("ask.limit")), limit, element("p", { class: "hint" }, t(pod ? "ask.note" : "ask.note_cluster")),
    point ? element("p", { class: "hint", "data-testid": "ask-seen" }, t("ask.seen", { point })) : null,
    pod ? null : element("p", { class: "hint" }, t("ask.note_pod")),
  ]);
}
