/** Paths of pods in flight: pure geometry and time. */

/** @typedef {{x: number, y: number}} Spot */

/**
 * @typedef {object} Flight
 * @property {string} key of the pod
 * @property {{state: string, hue: number, ring: boolean} | null} look null: a request, drawn as a dot
 * @property {boolean} failed a request that came to nothing ends in a cross
 * @property {readonly Spot[]} path
 * @property {number} startMs real milliseconds, as requestAnimationFrame counts
 * @property {"fly" | "trail"} kind `trail`: the pod has jumped, only a line tells where from
 */

export const FLIGHT_MS = 360;
export const TRAIL_MS = 600;
/** Flights drawn at once; further pods appear in place, as at rates where motion is off. */
export const FLIGHTS_MAX = 24;
/** Simulated seconds per real second above which nothing flies. */
export const MOTION_RATE_MAX = 10;

/**
 * cubic-bezier(.3, 0, .1, 1): where a flight stands after a share of its time.
 * @param {number} share 0 to 1
 */
export function flightEase(share) {
  // Newton's method on x(t) of the curve; six rounds are far below a pixel.
  let t = share;
  for (let round = 0; round < 6; round += 1) {
    const x = 3 * (1 - t) ** 2 * t * 0.3 + 3 * (1 - t) * t * t * 0.1 + t ** 3 - share;
    const slope = 3 * (1 - t) ** 2 * 0.3 + 6 * (1 - t) * t * (0.1 - 0.3) + 3 * t * t * (1 - 0.1);
    if (Math.abs(slope) < 1e-6) break;
    t = Math.max(0, Math.min(1, t - x / slope));
  }
  return 3 * (1 - t) * t * t + t ** 3;
}

/**
 * The point a share of the way along a path of straight pieces.
 * @param {readonly Spot[]} path
 * @param {number} share 0 to 1
 * @returns {Spot}
 */
export function along(path, share) {
  const first = path[0] ?? { x: 0, y: 0 };
  const lengths = path.slice(1).map((spot, index) => distance(path[index] ?? first, spot));
  let left = lengths.reduce((sum, length) => sum + length, 0) * Math.max(0, Math.min(1, share));
  for (let index = 0; index < lengths.length; index += 1) {
    const from = path[index] ?? first;
    const to = path[index + 1] ?? first;
    const length = lengths[index] ?? 0;
    if (left <= length && length > 0) {
      return { x: from.x + ((to.x - from.x) * left) / length, y: from.y + ((to.y - from.y) * left) / length };
    }
    left -= length;
  }
  return path[path.length - 1] ?? first;
}

/**
 * @param {Spot} a
 * @param {Spot} b
 */
function distance(a, b) {
  return Math.hypot(b.x - a.x, b.y - a.y);
}

/**
 * The drawn connector from the hand to a tile: out of the card into the gutter, along it to the gap above the tile's
 * row, along the gap and down; straight into the side of a tile that stands at the gutter.
 * @param {Spot} from right edge of the card in hand
 * @param {{x: number, y: number, w: number, h: number}} tile
 * @param {number} gutterX
 * @param {number} gap free space above a tile
 * @returns {Spot[]}
 */
export function connector(from, tile, gutterX, gap) {
  if (tile.x - gutterX < 24) {
    const y = Math.max(tile.y + 10, Math.min(tile.y + tile.h - 10, from.y));
    return [from, { x: gutterX, y: from.y }, { x: gutterX, y }, { x: tile.x, y }];
  }
  const lane = tile.y - gap / 2;
  const x = tile.x + Math.min(26, tile.w / 2);
  return [from, { x: gutterX, y: from.y }, { x: gutterX, y: lane }, { x, y: lane }, { x, y: tile.y }];
}

/**
 * Whether pods fly: not when motion is reduced, not faster than ten simulated seconds a second.
 * @param {boolean} reduced
 * @param {number} rate
 */
export function motionOn(reduced, rate) {
  return !reduced && rate <= MOTION_RATE_MAX;
}
