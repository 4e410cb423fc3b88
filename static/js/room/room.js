/** The room view: a tile a seat, what copies are stuck on, handing this moment out, looking into one. */

/** @import { Dispatch, Ui, View } from "../lib/types.d.ts" */
/** @import { Tile, Wish } from "./model.js" */
import { element, icon, setAttribute, setText, tellList } from "../dom/dom.js";
import { glide } from "../dom/glide.js";
import { counted, number, text } from "../lib/text.js";
import { MINIATURES_MAX, STATES, counts, filtered, groups, meaningOf, shown, steady } from "./model.js";
import { linesOf, miniature, seatOf, tileOf } from "./tile.js";

/**
 * What somebody has asked of the room, and what there is.
 * @typedef {{tiles: readonly Tile[] | null, wish: Wish, names: boolean, chosen: number, asking: boolean}} Own `asking`:
 *   whether names are to be on the wall, too
 */

/** Milliseconds after which it is told anew how long ago something was done. */
const AGO_MS = 10_000;
/** Milliseconds for which tiles keep their places once they have moved: what a copy comes to is told where it is. */
const REST_MS = 5_000;

/**
 * @param {HTMLElement} root
 * @param {object} world
 * @param {Dispatch} world.dispatch
 * @param {() => Promise<Tile[]>} world.load
 * @param {() => void} world.close
 */
export function mountRoom(root, { dispatch, load, close }) {
  /** @type {Own} */
  const own = { tiles: null, wish: { state: "", reason: "", words: "", order: "reason" }, names: false, chosen: -1, asking: false };
  let hints = -1;
  let loading = false;
  let look = "";
  /** @type {{view: View, ui: Ui} | null} */
  let last = null;
  const parts = build(root);
  const arrange = makeArranger(parts.tiles, own, () => redraw());
  const redraw = () => {
    look = "";
    if (last) draw(last.view, last.ui);
  };
  listen(root, parts, own, { dispatch, close, redraw });
  // How long ago something was done goes on also where nothing changes.
  setInterval(() => {
    if (last && !root.hidden) draw(last.view, last.ui);
  }, AGO_MS);

  async function fetchTiles() {
    if (loading) return;
    loading = true;
    try {
      own.tiles = await load();
      redraw();
    } catch {
      // The next hint asks again.
      hints = -1;
    } finally {
      loading = false;
    }
  }

  /** @param {View} view @param {Ui} ui */
  function draw({ wallNames }, { lang, reducedMotion }) {
    const nowMs = Date.now();
    const key = JSON.stringify([own, lang, wallNames, Math.floor(nowMs / 10_000)]);
    if (key === look) return;
    look = key;
    const all = own.tiles ?? [];
    drawWords(parts, all, lang);
    drawNames(parts, own, wallNames, lang);
    drawSummary(parts, counts(all), groups(all), own.wish, all.length, lang);
    const found = shown(all, own.wish);
    const some = arrange(found, nowMs);
    const how = { lang, names: own.names, nowMs, small: all.length > MINIATURES_MAX };
    parts.tiles.classList.toggle("small", how.small);
    const moved = some.map(({ seat }) => seat).join() !== seatsIn(parts.tiles).join();
    glide(parts.tiles, reducedMotion || !moved, () => tellList(parts.tiles, some, ({ seat }) => String(seat), (tile) => {
      const made = tileOf(tile, how);
      made.setAttribute("aria-pressed", String(tile.seat === own.chosen));
      return made;
    }));
    parts.handSome.hidden = !filtered(own.wish) || found.length === 0;
    setText(parts.handSome, counted(lang, "room.hand_some", { count: found.length }));
    parts.empty.hidden = own.tiles === null || some.length > 0;
    setText(parts.empty, text(lang, !all.length ? "room.none" : filtered(own.wish) ? "room.none_such" : "room.choose"));
    drawFoot(parts, all.find(({ seat }) => seat === own.chosen), how);
  }

  return {
    /** @param {View} view @param {Ui} ui */
    render(view, ui) {
      last = { view, ui };
      if (ui.copyHints !== hints) {
        hints = ui.copyHints;
        void fetchTiles();
      }
      setText(parts.title, text(ui.lang, "room.title"));
      setAttribute(root, "aria-label", text(ui.lang, "room.title"));
      draw(view, ui);
    },
  };
}

/**
 * Who wishes for another order gets it at once. By itself a tile moves when all have rested, and not from under a
 * pointer or the keyboard, nor while it is chosen.
 * @param {HTMLElement} place of the tiles
 * @param {Own} own
 * @param {() => void} again tell it anew, as tiles have rested
 */
function makeArranger(place, own, again) {
  /** @type {number[]} */
  let seats = [];
  /** @type {Wish | null} */
  let wish = null;
  let movedMs = 0;
  let waits = false;
  /** @param {readonly Tile[]} wanted @param {number} nowMs */
  return (wanted, nowMs) => {
    const left = movedMs + REST_MS - nowMs;
    const asked = wish !== own.wish;
    const held = asked ? [] : left > 0 ? seats : [own.chosen, ...seatsIn(place, ":is(:hover, :focus)")];
    const arranged = steady(seats, wanted, new Set(held));
    const now = arranged.map(({ seat }) => seat);
    if (asked || now.filter((seat) => seats.includes(seat)).join() !== seats.filter((seat) => now.includes(seat)).join()) movedMs = nowMs;
    if (left > 0 && !waits && now.join() !== wanted.map(({ seat }) => seat).join()) {
      waits = true;
      setTimeout(() => {
        waits = false;
        again();
      }, left);
    }
    seats = now;
    wish = own.wish;
    return arranged;
  };
}

/**
 * The seats whose tiles stand there, in their order.
 * @param {HTMLElement} place
 * @param {string} [which]
 */
function seatsIn(place, which = "") {
  return [...place.querySelectorAll(`[data-seat]${which}`)].map((one) => Number(/** @type {HTMLElement} */ (one).dataset["seat"]));
}

/**
 * @param {HTMLElement} root
 * @param {ReturnType<typeof build>} parts
 * @param {Own} own
 * @param {{dispatch: Dispatch, close: () => void, redraw: () => void}} world
 */
function listen(root, parts, own, { dispatch, close, redraw }) {
  parts.names.addEventListener("change", () => {
    own.names = own.asking = parts.names.checked;
    redraw();
  });
  const answered = () => {
    own.asking = false;
    parts.names.focus();
    redraw();
  };
  parts.hereAlone.addEventListener("click", answered);
  parts.wallToo.addEventListener("click", () => {
    dispatch({ type: "wallNames", on: true });
    answered();
  });
  parts.close.addEventListener("click", close);
  parts.search.addEventListener("input", () => {
    own.wish = { ...own.wish, words: parts.search.value };
    redraw();
  });
  parts.open.addEventListener("click", () => {
    const tile = own.tiles?.find(({ seat }) => seat === own.chosen);
    if (tile?.code) dispatch({ type: "enterCopy", code: tile.code });
  });
  const handOut = (/** @type {"all" | string[]} */ people) => dispatch({
    type: "handOut", people, seeds: parts.seeds.checked ? "each" : "same", until: parts.goal.value.trim(),
  });
  parts.hand.addEventListener("click", () => handOut("all"));
  parts.handSome.addEventListener("click", () => handOut(shown(own.tiles ?? [], own.wish).map(({ person }) => person)));
  parts.again.addEventListener("click", () => {
    const tile = own.tiles?.find(({ seat }) => seat === own.chosen);
    if (tile) handOut([tile.person]);
  });
  parts.wall.addEventListener("click", () => {
    const tile = own.tiles?.find(({ seat }) => seat === own.chosen);
    if (tile?.code) dispatch({ type: "putOnWall", code: tile.code });
  });
  root.addEventListener("click", (event) => {
    const target = /** @type {HTMLElement} */ (event.target).closest("button");
    const { state, reason, order, seat } = target?.dataset ?? {};
    const { wish } = own;
    if (state !== undefined) own.wish = { ...wish, state: wish.state === state ? "" : state };
    else if (reason !== undefined) own.wish = { ...wish, reason: wish.reason === reason ? "" : reason };
    else if (order === "reason" || order === "seat") own.wish = { ...wish, order };
    else if (seat !== undefined) own.chosen = own.chosen === Number(seat) ? -1 : Number(seat);
    else return;
    redraw();
  });
  root.addEventListener("keydown", (event) => {
    // What is heard here is not the session's below it.
    event.stopPropagation();
    if (event.key === "Escape") close();
    else if (!event.ctrlKey && !event.metaKey && !event.altKey && pressed(event, parts, own)) event.preventDefault();
  });
}

/**
 * Arrows go from tile to tile, Enter on the chosen one looks into it, W puts it on the wall, / finds, digits choose the
 * state of tiles. Who writes, writes.
 * @param {KeyboardEvent} event
 * @param {ReturnType<typeof build>} parts
 * @param {Own} own
 * @returns {boolean} whether it was a key of the room's
 */
function pressed({ key, target }, parts, own) {
  const at = /** @type {HTMLElement} */ (target);
  if (at instanceof HTMLInputElement && at.type !== "checkbox") return false;
  const tile = /** @type {HTMLElement | null} */ (at.closest("[data-seat]"));
  const by = { ArrowRight: 1, ArrowLeft: -1 }[key];
  if (by) {
    const next = /** @type {HTMLElement | null | undefined} */ (by > 0 ? tile?.nextElementSibling : tile?.previousElementSibling);
    next?.focus();
    return Boolean(tile);
  }
  const seat = tile ? Number(tile.dataset.seat) : -1;
  if (key === "Enter" && tile && seat === own.chosen && !parts.open.hidden) parts.open.click();
  else if (key === "w" || key === "W") {
    if (tile && seat !== own.chosen) tile.click();
    if (!parts.foot.hidden && !parts.wall.hidden) parts.wall.click();
  } else if (key === "/") parts.search.focus();
  else if (/^[1-5]$/.test(key)) /** @type {HTMLElement | undefined} */ (parts.states.children[Number(key) - 1])?.click();
  else return false;
  return true;
}

/**
 * @param {ReturnType<typeof build>} parts
 * @param {Tile | undefined} tile
 * @param {{lang: Ui["lang"], names: boolean, nowMs: number}} how
 */
function drawFoot(parts, tile, { lang, names, nowMs }) {
  parts.foot.hidden = !tile;
  if (!tile) return;
  const [first, ...more] = linesOf(tile, lang, nowMs);
  parts.footMini.replaceChildren(miniature(tile));
  setText(parts.footTitle, `${seatOf(tile, lang, names)}: ${first ?? ""}`);
  setText(parts.footNote, more.join(" · "));
  setText(parts.openText, text(lang, "room.open"));
  setText(parts.again, text(lang, "room.again"));
  setText(parts.wallText, text(lang, "room.wall"));
  parts.open.hidden = parts.wall.hidden = !tile.code;
  setAttribute(parts.wall, "aria-keyshortcuts", "W");
}

/** @param {HTMLElement} root */
function build(root) {
  const title = element("h2", { "data-testid": "room-title" });
  const note = element("p", { class: "hint" });
  const names = element("input", { type: "checkbox", role: "switch", "data-testid": "room-names" });
  const namesText = element("span");
  const wallAsk = element("span");
  const hereAlone = element("button", { class: "button", type: "button", "data-testid": "room-names-here" });
  const wallToo = element("button", { class: "button", type: "button", "data-testid": "room-names-wall" });
  const asks = element("span", { class: "room-asks", role: "group" }, [wallAsk, hereAlone, wallToo]);
  const goal = element("input", { class: "input room-goal mono", "data-testid": "room-goal", maxlength: 400, spellcheck: "false" });
  const seeds = element("input", { type: "checkbox", "data-testid": "room-seeds" });
  const seedsText = element("span");
  const handText = element("span");
  const hand = element("button", { class: "primary", type: "button", "data-testid": "room-hand-out" }, [icon("copy"), handText]);
  const close = element("button", { class: "ghost", type: "button", "data-testid": "room-close" }, icon("close"));
  const stuck = element("h3");
  const strip = element("div", { class: "room-strip", "aria-hidden": "true" });
  const legend = element("dl", { class: "room-legend" });
  const reasons = element("ul", { class: "room-reasons" });
  const hint = element("p", { class: "hint" });
  const signs = element("ul", { class: "room-signs" }, ["waits", "nominated", "leaving"].map((sign) =>
    element("li", {}, [element("span", { class: "room-bar", "aria-hidden": "true" }, element("i", { class: sign === "nominated" ? "waits nominated" : sign })), element("span", { "data-sign": sign })])));
  const states = element("div", { class: "segmented", role: "group" });
  const search = element("input", { class: "input room-search", type: "search", "data-testid": "room-search" });
  const handSome = element("button", { class: "button", type: "button", "data-testid": "room-hand-some" });
  const orders = element("div", { class: "segmented", role: "group" });
  const tiles = element("div", { class: "room-tiles", "data-testid": "room-tiles" });
  const empty = element("p", { class: "none" });
  const footMini = element("div");
  const footTitle = element("b");
  const footNote = element("p", { class: "hint" });
  const openText = element("span");
  const again = element("button", { class: "button", type: "button", "data-testid": "room-again" });
  const wallText = element("span");
  const wall = element("button", { class: "primary", type: "button", "data-testid": "room-wall" }, [icon("screen"), wallText]);
  const open = element("button", { class: "button", type: "button", "data-testid": "room-open" }, [icon("eye"), openText]);
  const foot = element("footer", { class: "room-foot" }, [footMini, element("div", {}, [footTitle, footNote]), again, open, wall]);
  root.append(
    element("header", { class: "room-head" }, [
      element("div", {}, [title, note]), goal,
      element("div", { class: "room-names" }, [element("label", { class: "people-switch" }, namesText, names), asks]),
      element("label", { class: "people-switch" }, seeds, seedsText), hand, close,
    ]),
    element("aside", { class: "room-side" }, [stuck, strip, legend, reasons, hint, signs]),
    element("div", { class: "room-main" }, [element("div", { class: "room-bar-top" }, [states, search, handSome, element("span", { class: "spacer" }), orders]), tiles, empty]),
    foot,
  );
  return { title, note, goal, asks, wallAsk, hereAlone, wallToo, names, namesText, handSome, seeds, seedsText, hand, handText, close, stuck, strip, legend,
    reasons, hint, signs, states, search, orders, tiles, empty, foot, footMini, footTitle, footNote, open, openText, again, wall, wallText };
}

/**
 * @param {ReturnType<typeof build>} parts
 * @param {Own} own
 * @param {boolean} wallNames whether names are on the wall
 * @param {Ui["lang"]} lang
 */
function drawNames(parts, { names, asking }, wallNames, lang) {
  setText(parts.namesText, text(lang, !names ? "room.names_off" : wallNames ? "room.names_wall" : "room.names_on"));
  parts.asks.hidden = !asking || wallNames;
  setAttribute(parts.asks, "aria-label", text(lang, "room.wall_too"));
  setText(parts.wallAsk, text(lang, "room.wall_too"));
  setText(parts.hereAlone, text(lang, "room.here_alone"));
  setText(parts.wallToo, text(lang, "room.on_wall"));
}

/**
 * @param {ReturnType<typeof build>} parts
 * @param {readonly Tile[]} all
 * @param {Ui["lang"]} lang
 */
function drawWords(parts, all, lang) {
  setText(parts.note, counted(lang, "room.note", { count: all.length }));
  setAttribute(parts.goal, "aria-label", text(lang, "room.goal"));
  setAttribute(parts.goal, "placeholder", text(lang, "room.goal"));
  setAttribute(parts.goal, "title", text(lang, "room.goal_title"));
  setText(parts.seedsText, text(lang, "room.seeds"));
  setText(parts.handText, text(lang, "room.hand_out"));
  setAttribute(parts.close, "aria-label", text(lang, "close"));
  setText(parts.stuck, text(lang, "room.stuck_on"));
  setText(parts.hint, text(lang, "room.hint"));
  for (const one of parts.signs.querySelectorAll("[data-sign]")) setText(one, text(lang, `room.sign_${one.getAttribute("data-sign")}`));
  setAttribute(parts.search, "aria-label", text(lang, "room.find"));
  setAttribute(parts.search, "placeholder", text(lang, "room.find"));
}

/**
 * @param {string} reason
 * @param {Ui["lang"]} lang
 */
function meaning(reason, lang) {
  const key = meaningOf(reason);
  return key ? element("small", {}, text(lang, key)) : null;
}

/**
 * @param {ReturnType<typeof build>} parts
 * @param {ReturnType<typeof counts>} found
 * @param {ReturnType<typeof groups>} stuck
 * @param {Wish} wish
 * @param {number} all
 * @param {Ui["lang"]} lang
 */
function drawSummary(parts, found, stuck, wish, all, lang) {
  const some = STATES.filter((state) => found[state] > 0);
  parts.strip.replaceChildren(...some.map((state) => {
    const part = element("i", { class: state });
    part.style.flexGrow = String(found[state]);
    return part;
  }));
  parts.legend.replaceChildren(...some.map((state) => element("div", {}, [
    element("dt", { class: state }, text(lang, `room.${state}`)), element("dd", {}, number(lang, found[state])),
  ])));
  tellList(parts.reasons, stuck, ({ reason }) => reason, ({ reason, count }) => element("li", {}, element("button", {
    type: "button", "data-reason": reason, "aria-pressed": String(wish.reason === reason),
  }, [element("span", {}, [element("b", {}, reason), meaning(reason, lang)]), element("span", {}, number(lang, count))])));
  tellList(parts.states, ["", ...STATES.filter((state) => found[state] > 0 || wish.state === state)], (state) => state, (state) => element("button", {
    type: "button", "data-state": state, "aria-pressed": String(wish.state === state),
  }, `${text(lang, state ? `room.${state}` : "room.all")} ${number(lang, state ? found[/** @type {"stuck"} */ (state)] : all)}`));
  tellList(parts.orders, ["reason", "seat"], (order) => order, (order) => element("button", {
    type: "button", "data-order": order, "aria-pressed": String(wish.order === order),
  }, text(lang, `room.by_${order}`)));
}
