/** What a recording answers to a page's requests: a status and a body, as the session API would. Pure. */

/** @import { Recording } from "./recording.js" */

/** @typedef {{status: number, body: any}} Answer */

/** @param {any} body @returns {Answer} */
const ok = (body) => ({ status: 200, body });

/**
 * @param {number} status
 * @param {string} reason
 * @param {string} message
 * @returns {Answer}
 */
const refusal = (status, reason, message) => ({
  status, body: { kind: "Status", apiVersion: "v1", status: "Failure", code: status, reason, message },
});

/** @param {string} text */
const whole = (text) => (/^[1-9]\d{0,15}$/.test(text) ? Number(text) : undefined);

/**
 * @param {Recording} recording
 * @param {string} method
 * @param {string} address path and query
 * @param {string} readOnly what is said to whoever wants to write
 * @param {string} unknown what is said where a file has no answer
 * @returns {Answer}
 */
export function answerTo(recording, method, address, readOnly, unknown) {
  const url = new URL(address, "http://recording.invalid");
  const session = /^\/api\/sessions\/[^/]+(?:\/(.*))?$/.exec(url.pathname);
  if (method !== "GET") return refusal(403, "Forbidden", readOnly);
  if (!session) return refusal(404, "NotFound", unknown);
  const parts = (session[1] ?? "").split("/").map(decodeURIComponent);
  const query = url.searchParams;
  const [from, to] = [whole(query.get("from") ?? ""), whole(query.get("to") ?? "")];
  const range = { ...(from !== undefined && { from }), ...(to !== undefined && { to }) };
  switch (parts.map((part, place) => (place ? "*" : part)).join("/")) {
    case "": return ok(recording.recorded.info);
    case "door": return ok({ open: false });
    case "changes/*/*": {
      const [there, here] = [whole(parts[1] ?? ""), whole(parts[2] ?? "")];
      if (there === undefined || here === undefined || !recording.keeps(there) || !recording.keeps(here))
        return refusal(410, "Expired", unknown);
      return ok(recording.changes(there, here));
    }
    case "before/*": {
      const there = whole(parts[1] ?? "");
      if (there === undefined || !recording.keeps(there)) return refusal(410, "Expired", unknown);
      return ok(recording.before(there, whole(query.get("seconds") ?? "") ?? 240, whole(query.get("moments") ?? "") ?? 120));
    }
    case "timeline": return ok(recording.timeline({
      ...range, limit: whole(query.get("limit") ?? "") ?? 500, lane: query.get("lane") ?? "", language: query.get("language") ?? "en",
    }));
    case "timeline/*": return ok(recording.counts(whole(query.get("slots") ?? "") ?? 40, from, to));
    case "decisions": return ok(recording.decisions({ pod: query.get("pod") ?? "", uid: query.get("uid") ?? "" }));
    case "decisions/*": {
      const found = recording.decision(parts[1] ?? "");
      return found ? ok(found) : refusal(404, "NotFound", unknown);
    }
    default: return refusal(404, "NotFound", unknown);
  }
}
