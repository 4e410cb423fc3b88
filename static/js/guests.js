/** What main.js puts into three of the inspector's tabs: YAML editor, Decision panel and What if, fetched when first shown. */

/** @import { DecisionPanel, Dispatch, PodSlim, Slim, Ui, View } from "./lib/types.d.ts" */
/** @import { Actions } from "./act/actions.js" */
/** @import { Guests } from "./panels/inspector-body.js" */
import { refusalOf } from "./act/actions.js";
import { forms } from "./act/forms.js";
import { addStyles } from "./dom/styles.js";
import { kindOfResource, splitKey } from "./lib/kinds.js";
import { counted, loadTexts, text } from "./lib/text.js";
import { refusedWrite } from "./state/roles.js";
import { fullKey } from "./state/people.js";
import { pluginHues } from "./state/selectors.js";
import { whyUndecided } from "./state/undecided.js";
import { keyOf } from "./state/view.js";

/**
 * @param {object} world
 * @param {Actions} world.actions
 * @param {Dispatch} world.dispatch
 * @param {() => View} world.view
 * @param {() => Ui} world.ui
 * @param {(message: string, tone: "done" | "bad", closeLabel: string, action?: {label: string, run: () => void}) => void} world.toast
 * @param {() => void} world.redraw
 * @returns {Guests}
 */
export function createGuests({ actions, dispatch, view, ui, toast, redraw }) {
  const yaml = guest("yaml-root", redraw, async (root) => {
    const { createYamlTab } = await forms.yaml();
    const tab = createYamlTab({
      schemas: (apiVersion) => actions.schemas(apiVersion),
      load: (object) => actions.read(object.resource, keyOf(object)),
      save: (object, edited) => refusalOf(async () => {
        await actions.saveYaml(object.resource, keyOf(object), edited);
        const kind = kindOfResource(object.resource)?.kind ?? object.resource;
        toast(text(ui().lang, "done_save", { kind, name: object.metadata.name }), "done", text(ui().lang, "close"));
      }, text(ui().lang, "unreachable")),
    });
    root.append(tab.element);
    return tab;
  });
  // The charts and Plotly behind them: a phone may never need them.
  const decision = guest("decision-root", redraw, async (root) => {
    const [{ mountDecision }] = await Promise.all([
      import("./decision/decision.js"), addStyles("decision"), loadTexts(ui().lang, "stage"),
    ]);
    return /** @type {DecisionPanel} */ (mountDecision(root, dispatch, (id) => actions.api.refusals(id)));
  });
  const whatif = guest("whatif-root", redraw, async (root) => {
    const [{ mountWhatIf }, { whatIfAsks }] = await Promise.all([
      import("./whatif/panel.js"), import("./act/whatif.js"), addStyles("whatif"), loadTexts(ui().lang, "whatif"),
    ]);
    const asks = whatIfAsks(actions.api, () => text(ui().lang, "unreachable"));
    const t = (/** @type {string} */ key) => text(ui().lang, key);
    return mountWhatIf(root, {
      ...asks,
      // The pod may have found its node at once, and then nothing in the tab says any more what was done.
      apply: async (changes, pod) => {
        const answer = await asks.apply(changes, pod);
        const { undo } = answer;
        if (undo) toast(t("whatif.applied"), "done", t("close"), { label: t("whatif.undo"), run: () => void takeBack(undo) });
        return answer;
      },
    }, (trial) => dispatch({ type: "showTrial", trial }));

    /** @param {() => Promise<void>} undo */
    async function takeBack(undo) {
      const refusal = await refusalOf(undo, t("unreachable"));
      if (refusal) toast(refusal.message, "bad", t("close"));
    }
  });

  return {
    yaml: {
      element: yaml.element,
      show(object, current, { me }) {
        const refused = refusedWrite(me, object.metadata.namespace ?? "");
        const reason = refused ? text(current.lang, refused, { namespace: me?.namespace ?? "" }) : "";
        yaml.get()?.show(object, current, reason);
      },
    },
    whatif: {
      element: whatif.element,
      show(object, { lang, decisions: { traces, selectedTraceId, loading } }, current) {
        const pod = /** @type {PodSlim} */ (object);
        whatif.get()?.render({ pod, view: current, traces, selectedTraceId, loading, lang, me: current.me });
      },
    },
    decision: {
      element: decision.element,
      show(object, { theme, lang, decisions, lit }) {
        const { traces, selectedTraceId, loading } = decisions;
        const why = traces.length ? null : whyUndecided(view(), /** @type {PodSlim} */ (object), lang);
        decision.get()?.render({ traces, selectedTraceId, loading, theme, lang, hues: pluginHues(view()), epochMs: view().epochMs,
          say: (key) => fullKey(view(), key), people: view().people, lit, why: why ? counted(lang, why.key, why.values) : "" });
      },
    },
  };
}

/**
 * A place and what will stand in it, fetched at the first question for it.
 * @template T
 * @param {string} className
 * @param {() => void} redraw
 * @param {(root: HTMLElement) => Promise<T>} load
 */
function guest(className, redraw, load) {
  const element = document.createElement("div");
  element.className = className;
  // What has come is shown, and read out, with its words: whoever gets it renders it at once.
  element.hidden = true;
  /** @type {T | null} */
  let loaded = null;
  let asked = false;
  const begin = async () => {
    try {
      loaded = await load(element);
      redraw();
    } catch {
      // Without the network it is not there; the next time it is shown asks again.
      asked = false;
    }
  };
  return {
    element,
    /** @returns {T | null} null while it is on its way */
    get() {
      if (!asked) {
        asked = true;
        void begin();
      }
      element.hidden = !loaded;
      return loaded;
    },
  };
}
