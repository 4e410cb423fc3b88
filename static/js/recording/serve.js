/** The server of a page that has none: requests and the websocket of this document are answered from a recording. */

/** @import { Slim } from "../lib/types.d.ts" */
/** @import { Recorded } from "./recording.js" */
import { langOf } from "../lib/languages.js";
import { answerTo } from "./answers.js";
import { Recording } from "./recording.js";

/** What is said in either language: a page that only reads shows it as it would a server's refusal. */
const READ_ONLY = {
  en: "This is a recording: it can be watched, not changed.", "zh-hans": "这是一份录像：只能观看，不能更改。",
};
const UNKNOWN = {
  en: "This recording does not hold that: ask in the session itself.", "zh-hans": "这份录像里没有这些内容：请到原来的会话中查看。",
};

const CLOCKS = "clocks.clustersim.io";

/** Milliseconds between two frames of the stand-in socket: a task of its own each, as frames come. */
const FRAME_MS = 0;

const language = () => langOf(document.documentElement.lang);

/**
 * Answer everything that this document asks for from a recording, from now on.
 * @param {Recorded} recorded
 */
export function serve(recorded) {
  const recording = new Recording(recorded);
  // What happened is what people open it for; an address of their own goes before.
  if (!location.search) history.replaceState(null, "", `${location.pathname}?tab=dock-timeline`);
  window.fetch = async (input, options = {}) => {
    const address = input instanceof Request ? input.url : String(input);
    const path = address.replace(/^[a-z]+:\/\/[^/]*/, "");
    const { status, body } = answerTo(
      recording, options.method ?? "GET", path, READ_ONLY[language()], UNKNOWN[language()],
    );
    return new Response(JSON.stringify(body), { status, headers: { "Content-Type": "application/json" } });
  };
  // The page asks nothing of its socket but these.
  window.WebSocket = /** @type {any} */ (socketOf(recording));
}

/**
 * The clock at the end of what was recorded: time stands there.
 * @param {Slim} clock
 * @param {Recording} recording
 */
function standing(clock, recording) {
  const status = /** @type {any} */ (clock)["status"];
  return { ...clock, status: { ...status, paused: true, simTimeMs: recording.msAt(recording.newest) } };
}

/** @param {Recording} recording */
function socketOf(recording) {
  return class extends EventTarget {
    static OPEN = 1;

    constructor() {
      super();
      this.readyState = 1;
      setTimeout(() => this.tell(recording.recorded.hello), FRAME_MS);
    }

    /** @param {object} frame */
    tell(frame) {
      this.dispatchEvent(new MessageEvent("message", { data: JSON.stringify(frame) }));
    }

    /** @param {string} text */
    send(text) {
      if (JSON.parse(text).type !== "subscribe") return;
      const { newest, recorded } = recording;
      setTimeout(() => {
        const objects = recording.objectsAt(newest).map((object) => (object.resource === CLOCKS ? standing(object, recording) : object));
        this.tell({ type: "list", revision: newest, objects, last: true });
        this.tell({ type: "events", from: newest, to: newest, events: [], decisions: recorded.lines });
        this.tell({ type: "people", people: recorded.people });
        this.tell({ type: "looks", on: false, looks: [] });
      }, FRAME_MS);
    }

    close() {}
  };
}
