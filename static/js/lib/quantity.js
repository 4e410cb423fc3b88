/** Kubernetes quantities as numbers, and back in the short form that fits on a tile. */

/** @type {Record<string, number>} */
const SUFFIXES = {
  "": 1, n: 1e-9, u: 1e-6, m: 1e-3, k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18,
  Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40, Pi: 2 ** 50, Ei: 2 ** 60,
};

const PATTERN = /^([+-]?(?:\d+\.?\d*|\.\d+))(?:([eE][+-]?\d+)|(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei))?$/;

/**
 * The value of a quantity in its base unit (cores, bytes, pieces); NaN when it is none.
 * @param {unknown} text
 * @returns {number}
 */
export function parseQuantity(text) {
  if (typeof text === "number") return text;
  const match = typeof text === "string" ? PATTERN.exec(text.trim()) : null;
  if (!match) return Number.NaN;
  const base = Number(match[1] + (match[2] ?? ""));
  return base * (SUFFIXES[match[3] ?? ""] ?? 1);
}

/**
 * A cpu quantity in millicores, rounded up as the API server does; 0 when absent.
 * @param {unknown} text
 */
export function cpuMilli(text) {
  const cores = parseQuantity(text);
  // Subtracting a hair keeps 0.35 * 1000 = 350.00000000000006 from becoming 351.
  return Number.isNaN(cores) ? 0 : Math.ceil(cores * 1000 - 1e-6);
}

/**
 * A memory quantity in bytes; 0 when absent.
 * @param {unknown} text
 */
export function memoryBytes(text) {
  const bytes = parseQuantity(text);
  return Number.isNaN(bytes) ? 0 : Math.ceil(bytes - 1e-6);
}

/**
 * "250m", "4", "2.85": cores with at most two decimals, or millicores below one core.
 * @param {number} milli
 */
export function formatCpu(milli) {
  if (milli > 0 && milli < 1000) return `${milli}m`;
  return String(Math.round(milli / 10) / 100);
}

/**
 * "512 Mi", "8 Gi": the largest binary unit that leaves a number of at most one decimal.
 * @param {number} bytes
 */
export function formatMemory(bytes) {
  const units = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
  let value = bytes;
  let unit = 0;
  while (value >= 1024 && unit < units.length - 1) {
    value /= 1024;
    unit += 1;
  }
  const rounded = Math.round(value * 10) / 10;
  return units[unit] ? `${rounded} ${units[unit]}` : String(rounded);
}

/**
 * What a pod asks for, in short: "500m · 512 Mi"; of what it does not ask for it says nothing, and then what the rest is of.
 * @param {number} cpuMilli
 * @param {number} memoryBytes
 */
export function formatRequests(cpuMilli, memoryBytes) {
  if (!memoryBytes) return cpuMilli ? `${formatCpu(cpuMilli)} CPU` : "";
  return cpuMilli ? `${formatCpu(cpuMilli)} · ${formatMemory(memoryBytes)}` : formatMemory(memoryBytes);
}

/**
 * The same where there is room: "500m cpu · 512 Mi · 1 nvidia.com/gpu"; "" where a pod asks for nothing.
 * @param {{cpuMilli: number, memoryBytes: number, extended?: Readonly<Record<string, number>>}} asked
 */
export function formatAsked({ cpuMilli, memoryBytes, extended = {} }) {
  const others = Object.entries(extended).map(([name, amount]) => (amount ? `${amount}\u00a0${name}` : ""));
  return [cpuMilli ? `${formatCpu(cpuMilli)} cpu` : "", memoryBytes ? formatMemory(memoryBytes) : "", ...others].filter(Boolean).join(" · ");
}

/**
 * Gibibytes with at most one decimal, for "3.4/8" on a bar whose header says Gi.
 * @param {number} bytes
 */
export function formatGi(bytes) {
  return String(Math.round((bytes / 2 ** 30) * 10) / 10);
}
