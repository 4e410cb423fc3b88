/** Pictures in SVG, drawn by own code. */

const SVG = "http://www.w3.org/2000/svg";

/**
 * An SVG element with attributes and children; `text` is its text, `false`, `null` and `undefined` are not written.
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, string | number | boolean | null | undefined>} [attributes]
 * @param {...(Node | null | undefined | false)} children
 * @returns {SVGElementTagNameMap[K]}
 */
export function svg(tag, attributes = {}, ...children) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (name === "text") made.textContent = String(value);
    else made.setAttribute(name, String(value));
  }
  for (const child of children) if (child) made.append(child);
  return made;
}
