/** The panel of one component: what it knows, its flags, how it started, its endpoints. */

/** @import { Lang, Looks, Ui, View } from "../lib/types.d.ts" */
/** @import { Part } from "./model.js" */
import { element, keepFocus, setAttribute } from "../dom/dom.js";
import { number, text } from "../lib/text.js";
import { newestMade } from "../control/fresh.js";
import { Looked } from "../control/looked.js";
import { endpoints, flagList, listersTable, rulesTable, saidOf, startList } from "./component-parts.js";

/** How often a component is asked at most while it is looked at, in real milliseconds. */
const EVERY_MS = 2_000;

/** @typedef {{step: string, atMs: number | null, text: string, key: string,
 *   values: Record<string, string | number>, detail: Record<string, unknown>}} Step */
/**
 * @typedef {{name: string, resource: string, rows: number, revision?: number, lag?: number | null, mode?: string,
 *   watchEvents?: number}} Lister
 */
/**
 * @typedef {object} Answer what the session API tells of a component; each member only where there is such a thing
 * @property {Step[]} [startup]
 * @property {Lister[]} [listers]
 * @property {{text: string, key: string, values: Record<string, string | number>}[]} [threads]
 * @property {Record<string, string>} [flags]
 * @property {{now: Record<string, unknown>, then: Record<string, unknown>}} [server]
 * @property {{service: string, address: string, cluster: string[]}[]} [rules]
 * @property {{prefix: string, revision: number, count: number}} [store]
 */

/** Under which name flags and starts of a kind of part are told. @type {Partial<Record<Part["kind"], string>>} */
const COMPONENTS = {
  server: "kube-apiserver", scheduler: "kube-scheduler", manager: "kube-controller-manager", kubelet: "kubelet", proxy: "kube-proxy",
};
/** @type {Record<Part["kind"], string>} */
const ABOUT = {
  server: "arch.about.server", store: "arch.about.store", scheduler: "arch.about.scheduler", manager: "arch.about.manager",
  kubelet: "arch.about.kubelet", proxy: "arch.about.proxy", person: "arch.about.person", session: "arch.about.session",
  cloud: "arch.about.cloud", more: "arch.about.more",
};
/** What an API server is for, as the page tells it. */
const DUTIES = ["arch.duty.rest", "arch.duty.state", "arch.duty.plugins", "arch.duty.logs", "arch.duty.docs"];

/**
 * Ask what there is to know of a part.
 * @param {Part} part
 * @param {Looks} looks
 * @returns {Promise<Answer>}
 */
async function answerOf(part, looks) {
  const component = COMPONENTS[part.kind] ?? "";
  if (part.kind === "store") return { store: await looks.look("store?limit=1") };
  if (!component) return {};
  const flags = (await looks.look("flags"))[component] ?? {};
  if (part.kind === "scheduler" || part.kind === "manager") {
    const { inside, server } = await looks.look(`replicas/${encodeURIComponent(part.id)}`);
    return { flags, server, ...(inside ? { startup: inside.startup, listers: inside.listers, threads: inside.threads } : {}) };
  }
  if (part.kind === "proxy") {
    const proxies = /** @type {{node: string, rules: Answer["rules"]}[]} */ (await looks.look("proxies"));
    return { flags, rules: proxies.find(({ node }) => node === part.node)?.rules ?? [] };
  }
  const started = /** @type {{name: string, startup: Step[]}[]} */ (await looks.look("components"));
  const own = started.find(({ name }) => name === component);
  return { flags, ...(own ? { startup: own.startup } : {}) };
}

/** @param {Looks} looks */
export function componentPanel(looks) {
  const panel = new ComponentPanel(looks);
  return { root: panel.root, render: panel.render.bind(panel) };
}

class ComponentPanel {
  /** @param {Looks} looks */
  constructor(looks) {
    this.looks = looks;
    this.root = element("aside", { class: "arch-component ct-detail", tabindex: "0", "data-testid": "architecture-component" });
    /** @type {Part | null} */
    this.part = null;
    this.epochMs = 0;
    /** @type {Lang} */
    this.lang = "en";
    this.made = "";
    this.drawn = "";
    /** What its server answered last. */
    this.served = { path: "", said: "" };
    /** What the part that was asked about said. @type {{id: string, answer: Answer} | null} */
    this.known = null;
    this.asked = new Looked(async () => {
      const part = /** @type {Part} */ (this.part);
      return { id: part.id, answer: await answerOf(part, looks) };
    }, EVERY_MS, () => {
      if (this.asked.value) this.known = this.asked.value;
      this.draw();
    });
  }

  /** @param {string} path */
  async serve(path) {
    const { part, looks } = this;
    this.served = { path, said: text(this.lang, "control.loading") };
    this.draw();
    let said = "";
    try {
      const answer = await looks.look(`replicas/${encodeURIComponent(part?.id ?? "")}/${path}`);
      said = typeof answer === "string" ? answer : JSON.stringify(answer, null, 2);
    } catch (problem) {
      said = problem instanceof Error ? problem.message : String(problem);
    }
    if (part?.id !== this.part?.id || this.served.path !== path) return;
    this.served = { path, said };
    this.draw();
  }

  draw() {
    const { part, lang, known, served, asked } = this;
    if (!part) return;
    const answer = known && known.id === part.id ? known.answer : null;
    const sign = JSON.stringify([part.id, part.leads, part.down, lang, answer, served, asked.problem]);
    if (sign === this.drawn) return;
    this.drawn = sign;
    setAttribute(this.root, "aria-label", part.name);
    const problem = asked.problem && !answer ? element("p", { class: "bad" }, asked.problem) : null;
    const parts = [...about(part, lang), problem, ...this.told(answer ?? {})].filter((one) => one !== null);
    keepFocus(this.root, () => this.root.replaceChildren(...parts));
  }

  /** @param {Answer} answer */
  told({ store, listers, threads, rules, startup, flags, server }) {
    const { lang, served } = this;
    const section = (/** @type {string} */ key, /** @type {HTMLElement} */ inner) =>
      element("section", { class: "ct-card" }, element("h4", {}, text(lang, key)), inner);
    return [
      store ? element("p", {}, text(lang, "arch.storeFacts", { n: number(lang, store.count), rv: String(store.revision), prefix: store.prefix })) : null,
      listers ? section("arch.knows", listersTable(listers, lang)) : null,
      threads ? section("arch.threads", element("ul", {}, threads.map(({ key, values, text: said }) => element("li", {}, saidOf(key, values, said, lang))))) : null,
      rules ? section("arch.rules", rulesTable(rules, lang)) : null,
      startup ? section("arch.startup", startList(startup, this.epochMs, lang)) : null,
      flags ? section("arch.flags", flagList(flags)) : null,
      server ? section("arch.endpoints", endpoints(server, served, lang, (path) => void this.serve(path))) : null,
    ];
  }

  /**
   * @param {Part} next
   * @param {View} view
   * @param {Ui} ui
   */
  render(next, view, ui) {
    if (next.id !== this.part?.id) this.served = { path: "", said: "" };
    this.part = next;
    this.epochMs = view.epochMs;
    this.lang = ui.lang;
    const made = `${next.id} ${next.leads} ${newestMade(view)} ${ui.connection}`;
    if (made !== this.made) {
      this.made = made;
      this.asked.want();
    }
    this.draw();
  }
}

/**
 * What it is, in words.
 * @param {Part} part
 * @param {Lang} lang
 */
function about({ kind, name, node }, lang) {
  const title = kind === "cloud" ? text(lang, "arch.cloud") : kind === "more" ? text(lang, "arch.moreNodes", { n: name }) : name;
  return [
    element("h3", {}, title, node ? ` · ${node}` : ""), element("p", {}, text(lang, ABOUT[kind])),
    kind === "server" ? element("ol", { class: "arch-duties" }, DUTIES.map((duty) => element("li", {}, text(lang, duty)))) : null,
  ];
}
