/** The keys of the page, by where they are heard. Pure. */

/** @typedef {{press: readonly string[], does: string}} Key `does`: the end of a text key */

/** @type {readonly {where: string, keys: readonly Key[]}[]} */
export const KEYS = [
  {
    where: "page", keys: [
      { press: ["/"], does: "find" },
      { press: ["Space"], does: "play" },
      { press: ["Ctrl+Z"], does: "undo" },
      { press: ["Ctrl+Shift+Z"], does: "redo" },
      { press: ["F"], does: "follow" },
      { press: ["D"], does: "difference" },
      { press: ["Esc"], does: "leave" },
      { press: ["?"], does: "keys" },
    ],
  },
  {
    where: "bars", keys: [
      { press: ["Tab"], does: "next" },
      { press: ["←", "→", "↑", "↓"], does: "within" },
      { press: ["Home", "End"], does: "ends" },
    ],
  },
  {
    where: "nodes", keys: [
      { press: ["←", "→", "↑", "↓"], does: "node" },
      { press: ["Enter"], does: "select" },
      { press: ["PageUp", "PageDown"], does: "zone" },
      { press: ["+", "−", "0"], does: "zoom" },
    ],
  },
  {
    where: "class", keys: [
      { press: ["1", "–", "9"], does: "vote" },
      { press: ["Enter"], does: "send" },
      { press: ["B"], does: "because" },
      { press: ["]", "["], does: "fold" },
      { press: ["→", "←"], does: "lead" },
      { press: ["Z"], does: "freeze" },
    ],
  },
  {
    where: "command", keys: [
      { press: ["Tab"], does: "complete" },
      { press: ["↑", "↓"], does: "history" },
      { press: ["Esc"], does: "answer" },
    ],
  },
  {
    where: "yaml", keys: [
      { press: ["Ctrl+Space"], does: "fields" },
      { press: ["Tab"], does: "take" },
      { press: ["Ctrl+]"], does: "indent" },
    ],
  },
];
