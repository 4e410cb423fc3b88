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
 * Bring the children of a list into line with items, keyed: rows that stay keep their element, focus and scroll. Where the
 * row that held the keyboard is gone, the list itself holds it: a neighbour's button would be pressed for it.
 * @template T
 * @param {Element} parent
 * @param {readonly T[]} items
 * @param {(item: T) => string} keyOf
 * @param {(item: T) => HTMLElement} create
 * @param {(row: HTMLElement, item: T) => void} [update]
 */
export function syncList(parent, items, keyOf, create, update) {
  const held = heldIn(parent);
  const keys = items.map(keyOf);
  const wanted = new Set(keys);
  /** @type {Map<string, HTMLElement>} */
  const existing = new Map();
  // What goes is taken out first, so that what stays need not be moved past it: a moved row lets go of the keyboard.
  for (const child of /** @type {HTMLElement[]} */ ([...parent.children])) {
    const key = child.dataset["key"] ?? "";
    if (wanted.has(key) && !existing.has(key)) existing.set(key, child);
    else child.remove();
  }
  let cursor = parent.firstElementChild;
  items.forEach((item, index) => {
    const key = /** @type {string} */ (keys[index]);
    let row = existing.get(key);
    if (row) existing.delete(key);
    else {
      row = create(item);
      row.dataset["key"] = key;
    }
    update?.(row, item);
    if (row === cursor) cursor = cursor.nextElementSibling;
    else parent.insertBefore(row, cursor);
  });
  if (!held || heldIn(parent)) return;
  if (!parent.hasAttribute("tabindex")) setAttribute(parent, "tabindex", "-1");
  returnFocus(held.isConnected ? held : parent);
}

/**
 * What holds the keyboard within an element.
 * @param {Element} root
 */
function heldIn(root) {
  return root.contains(document.activeElement) ? /** @type {HTMLElement} */ (document.activeElement) : null;
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
  /** @type {HTMLElement | null} */
  let made = null;
  syncList(parent, items, keyOf, (item) => (made = make(item)), (row, item) => {
    if (row === made) return;
    const fresh = make(item);
    fresh.dataset["key"] = keyOf(item);
    if (!row.isEqualNode(fresh)) become(row, fresh);
  });
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
    if (at instanceof HTMLElement && at.checkVisibility() && !at.matches(":disabled") && (at.tabIndex >= 0 || at.hasAttribute("tabindex")))
      return at.focus({ preventScroll: true });
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
 * Tell a region anew; what held the keyboard in it holds it again, or the one that stands for it by now.
 * @param {Element} root
 * @param {() => void} tell
 */
export function keepFocus(root, tell) {
  const held = heldIn(root);
  const find = held && standIn(root, held);
  tell();
  if (find && !heldIn(root)) returnFocus(find());
}

/**
 * How to find what stands for an element after its region was told anew: best by what it is called for programs (id and
 * `data-*`), then by the words that people read on it, then by its look and its turn among all of its tag.
 * @param {Element} root
 * @param {HTMLElement} held
 * @returns {() => Element} the region itself where nothing does
 */
function standIn(root, held) {
  const all = () => /** @type {HTMLElement[]} */ ([...root.querySelectorAll(held.localName)]);
  const turn = all().indexOf(held);
  return () => {
    if (root.contains(held)) return held;
    const names = new Set(namesOf(held));
    const [words, look] = [wordsOf(held), held.getAttribute("class")];
    let found = /** @type {Element} */ (root);
    let most = STANDS_IN_FROM - 1;
    all().forEach((one, index) => {
      const points = 4 * namesOf(one).filter((name) => names.has(name)).length + (words && wordsOf(one) === words ? 2 : 0)
        + (one.getAttribute("class") === look ? 1 : 0) + (index === turn ? 1 : 0);
      if (points > most) [found, most] = [one, points];
    });
    return found;
  };
}

/** Points from which an element stands for another: the same words are enough, or the same look in the same place. */
const STANDS_IN_FROM = 2;

/** @param {HTMLElement} one */
function namesOf({ id, dataset }) {
  return [...(id ? [id] : []), ...Object.entries(dataset).map((pair) => pair.join("="))];
}

/**
 * What people read on an element, or hear of it.
 * @param {Element} one
 */
export function wordsOf(one) {
  return one.getAttribute("aria-label") ?? one.textContent ?? "";
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
