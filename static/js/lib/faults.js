/**
 * What a teacher can do to a replica, as the server's table of faults has it (tests/pages holds the two together), and
 * values with which each shows something. Seconds are simulated.
 */

/** @typedef {"seconds" | "rate"} FaultField */

/**
 * @typedef {object} Fault
 * @property {string} kind
 * @property {readonly FaultField[]} needs
 * @property {readonly FaultField[]} takes that may be left out: it lasts until the replica recovers
 * @property {Partial<Record<FaultField, number>>} usual
 */

/** @type {readonly Fault[]} */
export const FAULTS = [
  { kind: "crash", needs: [], takes: ["seconds"], usual: {} },
  { kind: "release", needs: [], takes: [], usual: {} },
  { kind: "partition", needs: [], takes: ["seconds"], usual: { seconds: 30 } },
  { kind: "skew", needs: ["seconds"], takes: [], usual: { seconds: 60 } },
  { kind: "rate", needs: ["rate"], takes: ["seconds"], usual: { rate: 0.1, seconds: 60 } },
  { kind: "slow-watch", needs: ["seconds"], takes: [], usual: { seconds: 5 } },
  { kind: "drop-watch", needs: [], takes: ["seconds"], usual: {} },
  { kind: "pause", needs: [], takes: ["seconds"], usual: { seconds: 30 } },
  { kind: "recover", needs: [], takes: [], usual: {} },
];
