/** Taints of a node, as a command or a form changes them. */

/**
 * A node's taints after a taint command: same key and effect replaces, `key-` removes every effect.
 * @param {readonly {key: string, value?: string, effect: string}[]} taints
 * @param {{key: string, value?: string, effect: string}[]} add
 * @param {{key: string, effect: string}[]} remove
 */
export function changeTaints(taints, add, remove) {
  const kept = taints.filter((taint) =>
    !add.some((other) => other.key === taint.key && other.effect === taint.effect)
    && !remove.some((other) => other.key === taint.key && (!other.effect || other.effect === taint.effect)));
  return [...kept, ...add];
}
