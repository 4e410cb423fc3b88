/** A fault for a replica: which, for how long, how strong, and what each of them does. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
/** @import { Fault, FaultField } from "../lib/faults.js" */
import { append, element, setText } from "../dom/dom.js";
import { FAULTS } from "../lib/faults.js";
import { openDialog } from "./dialog.js";

const FIELDS = /** @type {const} */ (["seconds", "rate"]);

/** @typedef {{kind: string, seconds?: number, rate?: number}} FaultBody what the route of faults takes */

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {readonly string[]} options.identities all replicas
 * @param {string} options.identity the one that is meant first
 * @param {string} [options.kind] the fault that is meant first
 * @param {(identity: string, body: FaultBody) => Promise<Refusal>} options.begin
 */
export function openFault({ t, identities, identity, kind = "", begin }) {
  const replica = element("select", { class: "input", id: "fault-replica", "data-testid": "fault-replica" },
    identities.map((name) => element("option", { value: name, selected: name === identity }, name)));
  const amounts = new Map(FIELDS.map((name) => [name, amountField(name, t)]));
  let chosen = /** @type {Fault} */ (FAULTS.find((fault) => fault.kind === kind) ?? FAULTS[0]);
  const kinds = FAULTS.map((fault) => kindRow(fault, t, () => choose(fault)));

  /** @param {Fault} fault */
  function choose(fault) {
    chosen = fault;
    for (const [name, amount] of amounts) amount.ask(fault, name);
  }

  const shell = openDialog({
    title: t("fault.title"), action: t("fault.begin"), cancel: t("cancel"), closeLabel: t("close"),
    className: "wide", testId: "fault-dialog",
    async onSubmit({ error }) {
      const refusal = await begin(replica.value, bodyOf(chosen, (name) => amounts.get(name)?.value ?? ""));
      for (const [name, amount] of amounts) amount.show(refusal?.causes.find(({ field }) => field === name)?.message ?? "");
      if (refusal && !refusal.causes.some(({ field }) => amounts.has(/** @type {FaultField} */ (field))))
        setText(error, refusal.message);
      return !refusal;
    },
  });
  append(shell.body, [
    element("div", { class: "form-field" }, [element("label", { for: "fault-replica" }, t("fault.replica")), replica]),
    element("div", { class: "fault-kinds", role: "radiogroup", "aria-label": t("fault.which") }, kinds),
    element("div", { class: "fields" }, [...amounts.values()].map((amount) => amount.element)),
  ]);
  const first = /** @type {HTMLInputElement} */ (shell.body.querySelector(`#fault-${chosen.kind}`));
  first.checked = true;
  choose(chosen);
  first.focus();
}

/**
 * @param {Fault} fault
 * @param {Translate} t
 * @param {() => void} choose
 */
function kindRow(fault, t, choose) {
  const id = `fault-${fault.kind}`;
  const radio = element("input", {
    type: "radio", name: "fault", id, value: fault.kind, "aria-describedby": `${id}-about`, "data-testid": id,
    onchange: choose,
  });
  return element("div", { class: "fault-kind" }, [
    radio, element("label", { for: id }, t(`fault.name.${fault.kind}`)),
    element("p", { class: "hint", id: `${id}-about` }, t(`fault.about.${fault.kind}`)),
  ]);
}

/**
 * @param {FaultField} name
 * @param {Translate} t
 */
function amountField(name, t) {
  const id = `fault-${name}`;
  const label = element("label", { for: id });
  const input = element("input", {
    class: "input", id, type: "number", step: "any", autocomplete: "off", "aria-describedby": `${id}-error`,
    "data-testid": id,
  });
  const error = element("p", { class: "field-error", id: `${id}-error` });
  const field = element("div", { class: "form-field" }, [label, input, error]);
  return {
    element: field,
    get value() {
      return input.value;
    },
    /** @param {Fault} fault @param {FaultField} asked */
    ask(fault, asked) {
      const needed = fault.needs.includes(asked);
      field.hidden = !needed && !fault.takes.includes(asked);
      input.required = needed;
      input.value = String(fault.usual[asked] ?? "");
      setText(label, t(`fault.field.${asked}${needed ? "" : ".optional"}`));
      setText(error, "");
    },
    /** @param {string} message */
    show(message) {
      setText(error, message);
      input.toggleAttribute("aria-invalid", message !== "");
    },
  };
}

/**
 * The request's body: the fields that the fault knows, where something stands in them.
 * @param {Fault} fault
 * @param {(name: FaultField) => string} read
 * @returns {FaultBody}
 */
export function bodyOf(fault, read) {
  /** @type {FaultBody} */
  const body = { kind: fault.kind };
  for (const name of [...fault.needs, ...fault.takes]) {
    const text = read(name).trim();
    if (text !== "") body[name] = Number(text);
  }
  return body;
}
