/** The rate slider: a tenth to a hundred simulated seconds per real second, on a logarithmic scale. */

export const RATE_MIN = 0.1;
export const RATE_MAX = 100;

/**
 * A rate in the precision people say it in: two significant digits.
 * @param {number} rate
 */
export function roundRate(rate) {
  return Number(rate.toPrecision(2));
}

/** @param {number} position -1 … 2, the power of ten */
export function rateOfSlider(position) {
  return Math.min(RATE_MAX, Math.max(RATE_MIN, roundRate(10 ** position)));
}

/** @param {number} rate */
export function sliderOfRate(rate) {
  return Math.log10(Math.min(RATE_MAX, Math.max(RATE_MIN, rate)));
}
