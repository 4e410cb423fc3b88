/** A lesson's prose: blocks become elements, and every text of them is text. */

/** @import { Block } from "../../lib/class.d.ts" */
import { element } from "../../dom/dom.js";

const TAGS = /** @type {const} */ ({ strong: "strong", em: "em", code: "code", number: "b" });
const KINDS = /** @type {const} */ (["strong", "em", "code", "number"]);

/**
 * Write blocks into a place; what stands there already is left alone.
 * @param {HTMLElement} root
 * @param {readonly Block[]} blocks
 */
export function tellProse(root, blocks) {
  const key = JSON.stringify(blocks);
  root.hidden = blocks.length === 0;
  if (root.dataset["told"] === key) return;
  root.dataset["told"] = key;
  root.replaceChildren();
  /** @type {HTMLElement | null} */
  let list = null;
  for (const { kind, parts } of blocks) {
    const pieces = parts.map((part) => {
      const own = KINDS.find((one) => part[one] !== undefined);
      return own ? element(TAGS[own], {}, String(part[own])) : (part.text ?? "");
    });
    if (kind !== "li") {
      list = null;
      root.append(element(kind === "quote" ? "blockquote" : kind === "code" ? "pre" : "p", {}, pieces));
      continue;
    }
    if (!list) root.append(list = element("ul"));
    list.append(element("li", {}, pieces));
  }
}
