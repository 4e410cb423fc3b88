/** A modal dialog with title, body and one main action; errors of the server appear in it. */

import { append, element, icon, returnFocus, setText } from "../dom/dom.js";

/** @typedef {(key: string, values?: Record<string, string | number>) => string} Translate */

/**
 * @typedef {object} Shell
 * @property {HTMLDialogElement} dialog
 * @property {HTMLFormElement} form
 * @property {HTMLElement} body
 * @property {HTMLElement} error
 * @property {HTMLButtonElement} submit
 * @property {() => void} close
 */

/**
 * Open a dialog. It is removed from the page when it closes; focus returns to where it was.
 * @param {object} options
 * @param {string} options.title
 * @param {string} options.action what the main button says will happen
 * @param {string} options.cancel
 * @param {string} options.closeLabel
 * @param {string} [options.className]
 * @param {string} [options.testId]
 * @param {(shell: Shell) => Promise<boolean>} options.onSubmit true closes the dialog
 * @returns {Shell}
 */
export function openDialog({ title, action, cancel, closeLabel, className, testId, onSubmit }) {
  const before = document.activeElement;
  const body = element("div", { class: "dialog-body" });
  const error = element("p", { class: "field-error dialog-error", role: "alert" });
  const submit = element("button", { class: "primary", type: "submit", "data-testid": "dialog-submit" }, action);
  const no = element("button", { class: "button", type: "button" }, cancel);
  const cross = element("button", { class: "ghost", type: "button", "aria-label": closeLabel }, icon("close"));
  const heading = element("h2", { id: "dialog-title" }, title);
  const form = element("form", { novalidate: true }, [
    element("header", {}, [heading, cross]),
    body, error,
    element("footer", {}, [no, submit]),
  ]);
  const dialog = element("dialog", {
    class: `dialog ${className ?? ""}`, "aria-labelledby": "dialog-title", "data-testid": testId,
  }, form);
  const close = () => dialog.close();
  const shell = { dialog, form, body, error, submit, close };
  cross.addEventListener("click", close);
  no.addEventListener("click", close);
  dialog.addEventListener("close", () => {
    dialog.remove();
    returnFocus(before);
  });
  dialog.addEventListener("click", (event) => {
    if (event.target === dialog) close();
  });
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (submit.disabled) return;
    submit.disabled = true;
    setText(error, "");
    try {
      if (await onSubmit(shell)) close();
    } finally {
      submit.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  return shell;
}

/**
 * A segmented control of pages inside a dialog; returns the control and the way to turn to one.
 * @param {readonly {id: string, label: string, page: HTMLElement}[]} pages
 * @param {string} label
 * @param {(id: string) => void} onTurn
 */
export function pageSwitch(pages, label, onTurn) {
  const control = element("div", { class: "segmented", role: "group", "aria-label": label });
  /** @param {string} id */
  const turn = (id) => {
    for (const { id: other, page } of pages) page.hidden = other !== id;
    for (const button of control.querySelectorAll("button"))
      button.setAttribute("aria-pressed", String(button.dataset["page"] === id));
  };
  append(control, pages.map(({ id, label: name }) => {
    const button = element("button", { type: "button", "data-page": id, "data-testid": `page-${id}` }, name);
    button.addEventListener("click", () => {
      onTurn(id);
      turn(id);
    });
    return button;
  }));
  return { control, turn };
}
