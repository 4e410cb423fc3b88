/** The few words the page is written in. Text enters as text only. */

const SVG = "http://www.w3.org/2000/svg";

/** `nodeType` of a text. */
const TEXT_NODE = 3;

/** @typedef {Node | string | null | undefined | false} Child */

/**
 * An element with attributes and children, alone or in lists; strings become text. A `true` attribute is written empty,
 * `false`, `null` and `undefined` not at all; `text` is its text, a function under `on<event>` listens.
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} tag
 * @param {Record<string, any>} [attributes]
 * @param {...(Child | readonly Child[])} children
 * @returns {HTMLElementTagNameMap[K]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === undefined || value === null) continue;
    if (name === "text") made.textContent = String(value);
    else if (typeof value === "function") made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children) append(made, child);
  return made;
}

/**
 * A plugin's or a kind's name, which may be broken between its words where there is no room for all of it.
 * @param {string} name
 * @returns {(string | HTMLElement)[]}
 */
export function breakable(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((word, index) => (index ? [element("wbr"), word] : [word]));
}

/**
 * @param {Element} parent
 * @param {Child | readonly Child[]} children
 */
export function append(parent, children) {
  const list = /** @type {readonly Child[]} */ (Array.isArray(children) ? children : [children]);
  parent.append(...list.filter((child) => child !== null && child !== undefined && child !== false));
}

/**
 * An icon of the sprite in templates/icons.svg, in the colour of its text; decoration only.
 * @param {string} name
 * @param {number} [size] pixels; else as the style sheets have it
 */
export function icon(name, size) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  if (size) svg.style.width = svg.style.height = `${size}px`;
  const use = document.createElementNS(SVG, "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}

/** How much the projector theme enlarges the page; pointers and bounding boxes are told in enlarged pixels. */
export function pageZoom() {
  return /** @type {{currentCSSZoom?: number}} */ (document.body).currentCSSZoom ?? 1;
}

/** Device pixels that one CSS pixel of the page has: the screen's, times the enlargement. */
export function devicePixels() {
  return Math.max(1, (window.devicePixelRatio || 1) * pageZoom());
}

/**
 * Write text only where it differs: an untouched text node keeps selection and spares the screen reader. One that is
 * alone is written into: another node in its place would have much of what stands around it styled anew.
 * @param {Element} target
 * @param {string} value
 */
export function setText(target, value) {
  if (target.textContent === value) return;
  const only = target.firstChild;
  if (value && only?.nodeType === TEXT_NODE && only === target.lastChild) only.nodeValue = value;
  else target.textContent = value;
}

/**
 * @param {Element} target
 * @param {string} name
 * @param {string | null} value null removes it
 */
export function setAttribute(target, name, value) {
  if (value === null) target.removeAttribute(name);
  else if (target.getAttribute(name) !== value) target.setAttribute(name, value);
}

/**
 * Bring the children of a list into line with items, keyed: rows that stay keep their element, focus and scroll.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(row: HTMLElement, item: T) => void} [update]
 */
export function syncList(parent, items, keyOf, create, update) {
  /** @type {Map<string, HTMLElement>} */
  const existing = new Map();
  for (const child of /** @type {Iterable<HTMLElement>} */ (parent.children)) {
    existing.set(child.dataset["key"] ?? "", child);
  }
  let cursor = parent.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let row = existing.get(key);
    if (row) existing.delete(key);
    else {
      row = create(item);
      row.dataset["key"] = key;
    }
    update?.(row, item);
    if (row === cursor) cursor = cursor.nextElementSibling;
    else parent.insertBefore(row, cursor);
  }
  for (const stale of existing.values()) stale.remove();
}

/**
 * Tell a list anew, keyed: a row that stays keeps its element and the keyboard; where it is told otherwise than before,
 * it takes over what it would be made as, but for listeners: those belong on the list.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} make
 */
export function tellList(parent, items, keyOf, make) {
  keepFocus(parent, () => syncList(parent, items, keyOf, make, (row, item) => {
    const fresh = make(item);
    fresh.dataset["key"] = keyOf(item);
    if (!row.isEqualNode(fresh)) become(row, fresh);
  }));
}

/**
 * Bring an element into line with one of its kind, as deep as both are built alike; what differs below is the other's.
 * @param {Element} row
 * @param {Element} fresh
 */
function become(row, fresh) {
  for (const { name } of [...row.attributes]) if (!fresh.hasAttribute(name)) row.removeAttribute(name);
  for (const { name, value } of fresh.attributes) setAttribute(row, name, value);
  const [now, then] = [[...row.childNodes], [...fresh.childNodes]];
  for (const [index, child] of then.entries()) {
    const old = now[index];
    if (!old) row.append(child);
    else if (old.isEqualNode(child)) continue;
    else if (old instanceof Element && child instanceof Element && old.tagName === child.tagName) become(old, child);
    else old.replaceWith(child);
  }
  for (const stale of now.slice(then.length)) stale.remove();
}

/**
 * Give the keyboard back to where it was, or to the nearest region around that where it is gone or hidden by now.
 * @param {Element | null} before
 */
export function returnFocus(before) {
  for (let at = sameAs(before); at; at = at.parentElement)
    if (at instanceof HTMLElement && at.checkVisibility() && (at.tabIndex >= 0 || at.hasAttribute("tabindex")))
      return at.focus();
}

/**
 * The element itself, or the one that stands for it since its surroundings were told anew.
 * @param {Element | null} element
 * @returns {Element | null}
 */
function sameAs(element) {
  const id = element instanceof HTMLElement && !element.isConnected ? element.dataset["testid"] : undefined;
  return (id && document.querySelector(`[data-testid="${CSS.escape(id)}"]`)) || element;
}

/**
 * Tell a region anew; what held the keyboard in it holds it again.
 * @param {Element} root
 * @param {() => void} tell
 */
export function keepFocus(root, tell) {
  const held = root.contains(document.activeElement) ? document.activeElement : null;
  tell();
  // What was only moved has lost it, too.
  if (held && document.activeElement !== held) returnFocus(held);
  if (held && document.activeElement === document.body) returnFocus(root);
}

/**
 * Arrow keys, Home and End among the buttons of a tab list: focus moves and the tab opens.
 * @param {HTMLElement} tablist
 */
export function arrowKeys(tablist) {
  tablist.addEventListener("keydown", (event) => {
    const tabs = /** @type {HTMLElement[]} */ ([...tablist.querySelectorAll("[role=tab]")]);
    const at = tabs.findIndex((tab) => tab.getAttribute("aria-selected") === "true");
    const next = {
      ArrowRight: (at + 1) % tabs.length, ArrowLeft: (at + tabs.length - 1) % tabs.length, Home: 0, End: tabs.length - 1,
    }[event.key];
    const tab = next === undefined ? undefined : tabs[next];
    if (!tab) return;
    event.preventDefault();
    tab.focus();
    tab.click();
  });
}
