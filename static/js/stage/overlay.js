/** What moves above everything on the stage: pods in flight, their trails, and the connector to tied nodes. */

/** @import { Colours } from "../dom/colours.js" */
/** @import { Flight, Spot } from "./motion.js" */
import { devicePixels } from "../dom/dom.js";
import { drawGlyph } from "./glyphs.js";
import { FLIGHT_MS, FLIGHTS_MAX, TRAIL_MS, along, flightEase } from "./motion.js";

const FLYING_SIZE = 16;

/**
 * @param {HTMLElement} host the whole stage
 * @param {HTMLCanvasElement} canvas over it, letting the pointer through
 */
export function makeOverlay(host, canvas) {
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  /** @type {Flight[]} */
  let flights = [];
  let dirty = true;
  let last = "";

  /** @param {Flight} flight */
  function launch(flight) {
    if (flights.length >= FLIGHTS_MAX || flight.path.length < 2) return;
    flights = [...flights.filter((other) => other.key !== flight.key), flight];
  }

  /**
   * @param {number} timeMs as requestAnimationFrame counts
   * @param {Colours} colours
   * @param {readonly (readonly Spot[])[]} connectors paths to the nodes of the tie or to the winner
   * @param {{left: number, top: number, right: number, bottom: number}} clip the field of nodes, within the host
   * @returns {boolean} whether a later picture differs: something flies, or is to be wiped away
   */
  function paint(timeMs, colours, connectors, clip) {
    const alive = flights.filter((flight) => timeMs - flight.startMs < (flight.kind === "fly" ? FLIGHT_MS : TRAIL_MS));
    const look = `${colours.key} ${JSON.stringify(connectors)} ${clip.top} ${host.clientWidth} ${host.clientHeight}`;
    if (flights.length === 0 && !dirty && look === last) return false;
    dirty = flights.length > 0 && alive.length === 0;
    flights = alive;
    last = look;
    const dpr = resize();
    context.clearRect(0, 0, host.clientWidth, host.clientHeight);
    for (const path of connectors) line(path, colours, clip);
    for (const flight of flights) {
      const age = timeMs - flight.startMs;
      if (age < 0) continue;
      if (flight.kind === "trail") trail(flight.path, 1 - age / TRAIL_MS, colours);
      else {
        const spot = along(flight.path, flightEase(age / FLIGHT_MS));
        if (!flight.look) drawRequest(context, spot, flight.failed, age / FLIGHT_MS, colours);
        else drawGlyph(context, flight.look, spot.x - FLYING_SIZE / 2, spot.y - FLYING_SIZE / 2, FLYING_SIZE, colours, dpr);
      }
    }
    return flights.length > 0;
  }

  function resize() {
    const dpr = devicePixels();
    const width = Math.round(host.clientWidth * dpr);
    const height = Math.round(host.clientHeight * dpr);
    if (canvas.width !== width || canvas.height !== height) {
      canvas.width = width;
      canvas.height = height;
    }
    context.setTransform(dpr, 0, 0, dpr, 0, 0);
    return dpr;
  }

  /**
   * @param {readonly Spot[]} path
   * @param {Colours} colours
   * @param {{left: number, top: number, right: number, bottom: number}} clip
   */
  function line(path, colours, clip) {
    const end = path[path.length - 1];
    const before = path[path.length - 2];
    if (!end || !before || end.y < clip.top || end.y > clip.bottom) return;
    context.strokeStyle = context.fillStyle = colours.amb;
    context.lineWidth = 2;
    context.lineJoin = "round";
    context.beginPath();
    path.forEach((spot, index) => (index ? context.lineTo(spot.x, spot.y) : context.moveTo(spot.x, spot.y)));
    context.stroke();
    const angle = Math.atan2(end.y - before.y, end.x - before.x);
    context.save();
    context.translate(end.x, end.y);
    context.rotate(angle);
    context.beginPath();
    context.moveTo(1, 0);
    context.lineTo(-6, -4);
    context.lineTo(-6, 4);
    context.fill();
    context.restore();
  }

  /**
   * @param {readonly Spot[]} path
   * @param {number} alpha
   * @param {Colours} colours
   */
  function trail(path, alpha, colours) {
    context.save();
    context.globalAlpha = Math.max(0, alpha);
    context.strokeStyle = colours.acc;
    context.lineWidth = 1;
    context.beginPath();
    path.forEach((spot, index) => (index ? context.lineTo(spot.x, spot.y) : context.moveTo(spot.x, spot.y)));
    context.stroke();
    context.restore();
  }

  return { launch, paint };
}

/**
 * A request on its way: a dot, or at the end of one that failed a cross.
 * @param {CanvasRenderingContext2D} context
 * @param {Spot} spot
 * @param {boolean} failed
 * @param {number} share of its way
 * @param {Colours} colours
 */
function drawRequest(context, { x, y }, failed, share, colours) {
  context.fillStyle = context.strokeStyle = failed ? colours.ver : colours.acc;
  context.beginPath();
  if (failed && share > 0.7) {
    context.lineWidth = 2.5;
    for (const side of [-1, 1]) {
      context.moveTo(x - 5, y - 5 * side);
      context.lineTo(x + 5, y + 5 * side);
    }
    context.stroke();
    return;
  }
  context.arc(x, y, 4.5, 0, Math.PI * 2);
  context.fill();
}
