/** English texts of making and undoing: the way back, the command line's answers, the keys. */

/** @type {Record<string, string>} */
export const EN = {
  "undo.undo": "Undo",
  "undo.nothing": "Nothing of yours to undo.",
  "undo.next_created": "Undo: {kind} {name} created",
  "undo.next_deleted": "Undo: {kind} {name} deleted",
  "undo.next_changed": "Undo: {kind} {name} changed",
  "undo.next_imported": "Undo: {count} {count|object|objects} made from a file",
  "undo.done_created": "Undone: {kind} {name} is deleted again",
  "undo.done_deleted": "Undone: {kind} {name} is made again as it was asked for; what went with it is not",
  "undo.done_changed": "Undone: {paths} of {kind} {name} is as it was before",
  "undo.done_imported": "Undone: {count} {count|object|objects} of the file deleted again",
  "undo.done_imported_part": "Undone: {count} {count|object|objects} of the file deleted again; {changed} that {changed|was|were} there before {changed|keeps|keep} what the file changed",
  "undo.gone": "Not undone: {kind} {name} is gone already.",
  "undo.other": "Not undone: another {kind} {name} stands in its place by now.",
  "undo.owned": "Not undone: {owner} makes another pod in place of {name} by itself.",
  "undo.leaving": "Not yet: {kind} {name} is still ending. Undo again once it is gone.",
  "undo.changed": "Not undone: {paths} of {kind} {name} was changed again since.",
};
