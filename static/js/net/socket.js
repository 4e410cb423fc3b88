/**
 * The session's websocket: it connects, resumes after the last revision, answers pings and tries again with back-off.
 * It keeps no objects; every frame goes to `onFrame`.
 */

/** @import { Frame } from "../lib/types.d.ts" */

/** Milliseconds before the first new try; doubled for each further one up to the maximum, with jitter. */
const RETRY_FIRST_MS = 400;
const RETRY_MAX_MS = 8_000;
/** Milliseconds without any frame after which the connection counts as dead: the server pings every 10 s. */
const SILENCE_MAX_MS = 35_000;
/** The same where somebody has just turned to the page: a phone that was locked does not know that its connection is dead. */
const SILENCE_AWAKE_MS = 15_000;

/** Close codes after which trying again cannot help. */
export const CLOSED_UNAUTHORIZED = 4401;
const CLOSED_NO_SESSION = 4404;
const REFUSALS = new Set([CLOSED_UNAUTHORIZED, 4403, CLOSED_NO_SESSION]);

/**
 * @typedef {object} SocketHandlers
 * @property {(frame: Frame) => void} onFrame
 * @property {(status: "connecting" | "live" | "offline") => void} onStatus
 * @property {(code: number) => void} onRefused the server will not have us: 4401, 4403, 4404
 * @property {() => number | null} revision where to resume; null asks for a fresh list
 */

/**
 * @param {string} code
 * @param {SocketHandlers} handlers
 * @returns {{resubscribe: () => void, follow: (what: "requests" | "copies", wanted: boolean) => void, send: (frame: object) => void, close: () => void}}
 */
export function openSocket(code, handlers) {
  const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/ws/sessions/${code}`;
  /** @type {WebSocket | null} */
  let socket = null;
  let tries = 0;
  let retryTimer = 0;
  let silenceTimer = 0;
  let closed = false;
  let heardMs = 0;
  const follows = { requests: false, copies: false };

  const subscribe = () => {
    const revision = handlers.revision();
    send(revision === null ? { type: "subscribe" } : { type: "subscribe", revision });
  };
  const send = (/** @type {object} */ frame) => {
    if (socket?.readyState === WebSocket.OPEN) socket.send(JSON.stringify(frame));
  };
  const follow = () => send({ type: "follow", ...follows });
  const heard = () => {
    heardMs = Date.now();
    clearTimeout(silenceTimer);
    silenceTimer = window.setTimeout(drop, SILENCE_MAX_MS);
  };
  // Whoever is silent answers no farewell either: a closing handshake would be waited for a minute longer.
  const drop = () => {
    clearTimeout(retryTimer);
    const former = socket;
    socket = null;
    former?.close();
    lost();
  };
  const lost = () => {
    clearTimeout(silenceTimer);
    handlers.onStatus("offline");
    tries += 1;
    const wait = Math.min(RETRY_MAX_MS, RETRY_FIRST_MS * 2 ** (tries - 1));
    // Jitter: thirty browsers that lost the same server must not come back in the same instant.
    retryTimer = window.setTimeout(connect, wait * (0.5 + Math.random() / 2));
  };
  const receive = (/** @type {MessageEvent} */ event) => {
    heard();
    /** @type {Frame} */
    const frame = JSON.parse(event.data);
    if (frame.type === "ping") return send({ type: "pong", id: frame.id });
    handlers.onFrame(frame);
    if (frame.type === "hello") {
      tries = 0;
      subscribe();
      if (follows.requests || follows.copies) follow();
      handlers.onStatus("live");
    }
  };
  const connect = () => {
    clearTimeout(retryTimer);
    // Who has been told that there is no connection is told nothing else until there is one.
    if (!tries) handlers.onStatus("connecting");
    const mine = new WebSocket(address);
    socket = mine;
    heard();
    mine.addEventListener("message", (event) => {
      if (socket === mine) receive(event);
    });
    mine.addEventListener("close", ({ code: why }) => {
      if (closed || socket !== mine) return;
      if (REFUSALS.has(why)) {
        closed = true;
        clearTimeout(silenceTimer);
        handlers.onRefused(why);
        return;
      }
      lost();
    });
  };
  const stopListening = onReturn((seen) => {
    const silent = seen && Date.now() - heardMs > SILENCE_AWAKE_MS;
    if (closed || (!silent && socket?.readyState === WebSocket.OPEN)) return;
    tries = 0;
    drop();
  });
  connect();
  return {
    resubscribe: subscribe,
    follow: (what, wanted) => {
      if (wanted === follows[what]) return;
      follows[what] = wanted;
      follow();
    },
    send,
    close: () => {
      closed = true;
      clearTimeout(retryTimer);
      clearTimeout(silenceTimer);
      stopListening();
      socket?.close();
    },
  };
}

/**
 * Hear when there may be a connection again: the network is back, or somebody looks at the page again, who waits for nothing that was
 * planned while it was out of sight.
 * @param {(seen: boolean) => void} back
 * @returns {() => void} stops it
 */
function onReturn(back) {
  const online = () => back(false);
  const seen = () => {
    if (document.visibilityState === "visible") back(true);
  };
  window.addEventListener("online", online);
  document.addEventListener("visibilitychange", seen);
  return () => {
    window.removeEventListener("online", online);
    document.removeEventListener("visibilitychange", seen);
  };
}
