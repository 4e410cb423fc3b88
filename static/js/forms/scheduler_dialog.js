/** Another scheduler for the session: an era, and its configuration as YAML; the server says what is wrong, by line. */

/** @import { Translate } from "./dialog.js" */
/** @import { Refusal } from "./object_form.js" */
import { append, element, setText } from "../dom/dom.js";
import { toYaml } from "../lib/yaml.js";
import { openDialog } from "./dialog.js";
import { createYamlEditor } from "./yaml_editor.js";

/**
 * @typedef {object} Scheduler
 * @property {string} era
 * @property {Record<string, any> | null} configuration
 * @property {Record<string, any> | null} policy
 * @property {string | null} provider
 * @property {readonly {schedulerName: string, plugins: readonly {name: string, weight: number}[]}[]} [profiles]
 * @property {number} [podInitialBackoffSeconds]
 * @property {number} [podMaxBackoffSeconds]
 * @property {{name: string, title: string}[]} eras
 * @property {{name: string, distribution: string, version: string, refused: string}[]} [installed]
 */

/** Lines that `bodyOf` puts above what a person wrote. */
const LINES_ABOVE = 2;

/** The era whose configuration is a Policy; the others read a KubeSchedulerConfiguration. */
const POLICY_ERA = "algorithm-provider";
/** What that era runs where nobody asked for anything. */
const PROVIDER = "DefaultProvider";
/** The era whose profiles can be written as plugins that run at all of their points. */
const TODAY = "v1.34";

/**
 * @param {object} options
 * @param {Translate} options.t
 * @param {Scheduler} options.scheduler as it is now
 * @param {(body: string) => Promise<Refusal>} options.apply
 */
export function openScheduler({ t, scheduler, apply }) {
  const era = element("select", { class: "input", id: "scheduler-era", "data-testid": "scheduler-era-select" },
    scheduler.eras.map(({ name, title }) => element("option", { value: name }, `${name} – ${title}`)));
  era.value = scheduler.era;
  const editor = createYamlEditor(t("scheduler_configuration"), (line) => t("line", { line }));
  const hint = element("p", { class: "hint" });
  const written = writtenOf(scheduler);
  const turn = () => {
    editor.value = era.value === scheduler.era ? written : "";
    setText(hint, t(era.value === POLICY_ERA ? "scheduler_hint_policy" : "scheduler_hint_configuration"));
  };
  era.addEventListener("change", turn);
  const shell = openDialog({
    title: t("scheduler_title"), action: t("scheduler_apply"), cancel: t("cancel"), closeLabel: t("close"),
    className: "wide", testId: "scheduler-dialog",
    async onSubmit() {
      editor.clear();
      // What runs goes on running.
      if (era.value === scheduler.era && editor.value === written) return true;
      const refusal = await apply(bodyOf(era.value, editor.value));
      if (refusal) {
        const causes = refusal.causes.map(({ field, message }) => ({ field: fieldOf(field), message }));
        editor.showProblems(causes, lineAsWritten(refusal.message));
      }
      return !refusal;
    },
  });
  append(shell.body, [
    element("div", { class: "form-field" }, [element("label", { for: "scheduler-era" }, t("scheduler_era")), era]),
    hint, editor.element, installedList(scheduler.installed ?? [], t),
  ]);
  turn();
  era.focus();
}

/**
 * The plugins that packages of this installation bring, and why one of them cannot be used; null where there are none.
 * @param {NonNullable<Scheduler["installed"]>} installed
 * @param {Translate} t
 */
function installedList(installed, t) {
  if (installed.length === 0) return null;
  return element("details", { class: "installed-plugins", "data-testid": "installed-plugins" }, [
    element("summary", {}, t("scheduler_installed", { count: installed.length })),
    element("ul", {}, installed.map(({ name, distribution, version, refused }) => element("li", {}, [
      element("b", {}, name), ` ${distribution} ${version}`,
      refused ? element("span", { class: "field-error" }, ` ${refused}`) : null,
    ]))),
  ]);
}

/**
 * What a person would have to write to get what runs now; "" where an era cannot be written so.
 * @param {Scheduler} scheduler
 */
export function writtenOf(scheduler) {
  const { era, configuration, policy, provider } = scheduler;
  if (provider) return toYaml({ provider });
  if (configuration) return toYaml(configuration);
  if (policy) return toYaml(policy);
  if (era === POLICY_ERA) return toYaml({ provider: PROVIDER });
  return era === TODAY && scheduler.profiles?.length ? toYaml(running(scheduler)) : "";
}

/**
 * The configuration that says in so many words what a profile has by default: its plugins, their order and weights.
 * @param {Scheduler} scheduler
 */
function running({ profiles = [], podInitialBackoffSeconds, podMaxBackoffSeconds }) {
  return {
    apiVersion: "kubescheduler.config.k8s.io/v1",
    kind: "KubeSchedulerConfiguration",
    podInitialBackoffSeconds,
    podMaxBackoffSeconds,
    profiles: profiles.map(({ schedulerName, plugins }) => ({
      schedulerName,
      plugins: {
        multiPoint: {
          enabled: plugins.map(({ name, weight }) => (weight ? { name, weight } : { name })),
          disabled: [{ name: "*" }],
        },
      },
    })),
  };
}

/**
 * The request's body: what was written, below the field of the era that it is for.
 * @param {string} era
 * @param {string} written
 */
export function bodyOf(era, written) {
  const text = written.replace(/^---\s*\n/, "");
  if (!text.trim()) return `era: ${era}\n`;
  if (/^provider:/m.test(text)) return `era: ${era}\n${text}`;
  const field = era === POLICY_ERA ? "policy" : "configuration";
  return `era: ${era}\n${field}:\n${text.replace(/^/gm, "  ")}`;
}

/** The path of a field in what a person wrote. */
function fieldOf(/** @type {string} */ path) {
  return path.replace(/^(configuration|policy)\./, "");
}

/** A parser's sentence with the line as the person sees it. */
function lineAsWritten(/** @type {string} */ message) {
  return message.replace(/line (\d+)/g, (_, line) => `line ${Math.max(1, Number(line) - LINES_ABOVE)}`);
}
