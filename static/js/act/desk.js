/** What only a page with a dock asks the server for: models, the last decision, elections, watches, two writers that meet. Fetched with the desk. */

/** @import { Ui, View } from "../lib/types.d.ts" */
/** @import { SessionApi } from "../net/rest.js" */
import { showConflict } from "./conflict.js";
import { ElectionLoader } from "./election.js";
import { LastLoader } from "./last.js";
import { ModelLoader } from "./model.js";
import { WatchesLoader } from "./watches.js";

/**
 * @param {SessionApi} api
 * @param {(changes: Partial<Ui>) => void} setUi
 */
export function deskAsks(api, setUi) {
  const model = new ModelLoader(api, () => setUi({ model: model.state }));
  const election = new ElectionLoader(api, () => setUi({ leases: election.marks }));
  const last = new LastLoader(api, (trace) => setUi({ last: trace }));
  const watches = new WatchesLoader(api, () => setUi({ watches: watches.told }));
  return {
    /** @param {string} namespace */
    showConflict: (namespace) => showConflict(api, namespace),
    /**
     * Asks for what the open tab of the dock shows.
     * @param {{view: View, showing: View, liveMs: number, tab: string, pod: string, hints: number}} now `showing`: the moment that is
     *   held, or now; `hints`: how often the server told of requests
     */
    follow({ view, showing, liveMs, tab, pod, hints }) {
      last.follow(view);
      election.follow(view, tab === "election");
      watches.follow(view, liveMs, tab === "watches" && showing === view, hints);
      model.follow(showing, tab === "model" ? pod : "");
    },
  };
}
