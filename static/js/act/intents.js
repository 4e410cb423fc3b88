/** What each intent does: a change of Ui, a request, or a dialog. Part of the wiring, so it may know every folder. */

/** @import { Intent, Ui, View } from "../lib/types.d.ts" */
/** @import { DecisionLoader } from "./decisions.js" */
import { openCode } from "../forms/code_dialog.js";
import { openExpression } from "../forms/expression_dialog.js";
import { openImport, openOpenb } from "../forms/import_dialog.js";
import { openNodeForm, openObjectForm } from "../forms/object_form.js";
import { openScheduler } from "../forms/scheduler_dialog.js";
import { readCommand } from "../lib/commands.js";
import { itemOf } from "../lib/items.js";
import { kindOfResource, splitKey } from "../lib/kinds.js";
import { number, text } from "../lib/text.js";
import { Actions, refusalOf } from "./actions.js";
import { rememberDockHeight, rememberLanguage, rememberTheme } from "../net/recent.js";
import { ApiError, request } from "../net/rest.js";
import { objectsOf } from "../state/selectors.js";

/** Milliseconds a trace of 1,523 nodes and 8,152 pods may take to be stored. */
const REPLAY_TIMEOUT_MS = 180_000;

/**
 * @param {object} world
 * @param {Actions} world.actions
 * @param {DecisionLoader} world.decisions
 * @param {() => View} world.view
 * @param {() => Ui} world.ui
 * @param {(change: Partial<Ui>) => void} world.setUi
 * @param {(message: string, bad: boolean, closeLabel: string) => void} world.toast
 * @param {(tab: string) => void} world.openTab
 * @param {() => void} world.focusInspector
 * @param {() => {code: string, joinUrl: string}} world.session
 * @returns {(intent: Intent) => void}
 */
export function createIntents({ actions, decisions, view, ui, setUi, toast, openTab, focusInspector, session }) {
  const { api } = actions;
  /** @param {string} key @param {Record<string, string | number>} [values] */
  const t = (key, values) => text(ui().lang, key, values);
  const say = (/** @type {string} */ message, bad = false) => toast(message, bad, t("close"));
  const unreachable = () => t("unreachable");

  /**
   * Do some work and say how it went.
   * @param {() => Promise<unknown>} work
   * @param {string} [done]
   */
  const attempt = async (work, done) => {
    const refusal = await refusalOf(work, unreachable());
    if (refusal) say(refusal.message, true);
    else if (done) say(done);
  };

  /** @param {string} id */
  const create = (id) => {
    const item = itemOf(id);
    if (!item) return;
    void attempt(async () => {
      const made = await actions.createItem(item);
      const done = t("done_create", { kind: item.kind, name: made.metadata.name });
      const waits = item.kind === "Pod" && (view().clock?.paused || view().clock?.held);
      say(waits ? `${done}. ${t("held_note")}` : done);
    });
  };

  /** @param {string} id */
  const openForm = (id) => {
    if (id === "taint" || id === "label") {
      const node = ui().selected?.resource === "nodes" ? (ui().selected?.key ?? "") : "";
      if (node) openNodeForm({ kind: id, node, t, apply: (values) => refusalOf(() => changeNode(id, node, values), unreachable()) });
      return;
    }
    const item = itemOf(id);
    if (!item) return;
    openObjectForm({
      item,
      label: item.kind === item.label ? item.kind : `${item.kind}, ${t(item.label)}`,
      values: actions.valuesFor(item),
      t,
      create: (document) => refusalOf(() => api.createDocument(document, actions.namespace), unreachable()),
      createYaml: (yaml) => refusalOf(() => actions.createYaml(yaml, item), unreachable()),
    });
  };

  /**
   * @param {"taint" | "label"} id
   * @param {string} node
   * @param {Record<string, string>} values
   */
  const changeNode = (id, node, values) => {
    if (id === "label") return actions.label(node, values);
    const { key = "", value, effect = "NoSchedule" } = values;
    return actions.taint(node, [value ? { key, value, effect } : { key, effect }], []);
  };

  /** @param {"yaml" | "openb"} kind */
  const openFile = (kind) => {
    if (kind === "yaml") {
      openImport({
        t,
        namespace: actions.namespace,
        apply: (body, type) => answer("outcome", () => api.importText(body, type)),
      });
      return;
    }
    openOpenb({
      t,
      start: (body) => answer("started", async () => {
        const started = await request("POST", `${api.session}/replays`, body, { timeoutMs: REPLAY_TIMEOUT_MS });
        const { created, unchanged } = started.nodes;
        const count = (/** @type {number} */ value) => number(ui().lang, value);
        say(t("openb_done", { nodes: count(created + unchanged), pods: count(started.pods) }));
      }),
    });
  };

  /**
   * @template {string} K
   * @param {K} name
   * @param {() => Promise<any>} work
   * @returns {Promise<any>} `{[name]: value}` or `{refusal}`
   */
  const answer = async (name, work) => {
    /** @type {any} */
    let value = null;
    const refusal = await refusalOf(async () => {
      value = await work();
    }, unreachable());
    return refusal ? { refusal } : { [name]: value };
  };

  /** @param {string} line */
  const command = (line) => {
    const read = readCommand(line, actions.namespace);
    if ("error" in read) {
      say(t(read.error, read.values), true);
      return;
    }
    void attempt(async () => {
      const result = await actions.run(read);
      if (result.select) setUi({ selected: result.select });
      if (result.key) say(t(result.key, result.values));
    });
  };

  /**
   * @param {string} resource
   * @param {string} key
   */
  const remove = (resource, key) => {
    const kind = kindOfResource(resource)?.kind ?? resource;
    void attempt(() => actions.remove(resource, key), t("done_delete", { kind, name: splitKey(key).name }));
  };

  const changeScheduler = async () => {
    const scheduler = await api.scheduler();
    openScheduler({
      t,
      scheduler,
      apply: (body) => refusalOf(async () => {
        const { title } = await api.setScheduler(body);
        say(t("done_scheduler", { title }));
      }, unreachable()),
    });
  };

  const tryExpression = () => openExpression({
    t,
    pods: podsToTry(view()),
    ask: (body) => answer("tried", () => api.tryExpression(body)),
  });

  return (intent) => {
    switch (intent.type) {
      case "select":
        setUi({ selected: { resource: intent.resource, key: intent.key } });
        if (intent.tab) openTab(intent.tab);
        if (intent.focus) focusInspector();
        return;
      case "deselect":
        return setUi({ selected: null });
      case "play":
      case "pause":
        return void attempt(() => api.clock({ paused: intent.type === "pause" }));
      case "step":
        return void attempt(async () => {
          const { stepped } = await api.step(intent.by, intent.count);
          if (stepped === 0) say(t("nothing_to_step", { by: t(`step_${intent.by}`) }));
        });
      case "clock": {
        const { type: _type, ...change } = intent;
        return void attempt(() => api.clock(change));
      }
      case "selectTrace":
        return decisions.select(intent.id);
      case "colourBy":
        return setUi({ colourBy: intent.by });
      case "tab":
        return setUi({});
      case "create":
        return create(intent.item);
      case "openForm":
        return openForm(intent.item);
      case "openImport":
        return openFile(intent.kind);
      case "command":
        return command(intent.line);
      case "delete":
        return remove(intent.resource, intent.key);
      case "fault":
        return void attempt(() => api.fault(intent.identity, intent.kind),
          t(`done_fault_${intent.kind}`, { identity: intent.identity }));
      case "openScheduler":
        return void attempt(changeScheduler);
      case "openExpression":
        return tryExpression();
      case "judge":
        return void attempt(() => api.judge(intent.uid, intent.plugin, intent.verdict), t(`done_${intent.verdict}`));
      case "lang":
        rememberLanguage(intent.lang);
        document.documentElement.lang = intent.lang === "zh-hans" ? "zh-Hans" : "en";
        return setUi({ lang: intent.lang });
      case "dockHeight":
        rememberDockHeight(intent.height);
        return setUi({ dockHeight: intent.height });
      case "theme":
        rememberTheme(intent.theme);
        document.documentElement.dataset["theme"] = intent.theme;
        return setUi({ theme: intent.theme });
      case "showCode":
        return openCode({ ...session(), title: view().session?.title ?? "", t });
    }
  };
}

/** Pods that one may try an expression on: those that wait for a node first. */
const PODS_TO_TRY = 200;

/**
 * @param {View} view
 * @returns {string[]} namespace/name
 */
function podsToTry(view) {
  const pods = [...objectsOf(view, "pods")].map(([key, pod]) => ({ key, placed: pod.spec?.["nodeName"] ? 1 : 0 }));
  pods.sort((a, b) => a.placed - b.placed || (a.key < b.key ? -1 : 1));
  return pods.slice(0, PODS_TO_TRY).map(({ key }) => key);
}

/**
 * Save an edited object; the refusal carries the field paths.
 * @param {Actions} actions
 * @param {string} resource
 * @param {string} key
 * @param {string} yaml
 */
export function saveYaml(actions, resource, key, yaml) {
  const kind = kindOfResource(resource);
  if (!kind) throw new ApiError({ kind: "Status", code: 404, reason: "NotFound", message: resource });
  const { namespace, name } = splitKey(key);
  return actions.api.putYaml(kind, namespace, name, yaml);
}
