/** What a teacher settles before a lesson begins, kept in this browser's tab: the check that is still to be looked at, hands or phones. */

const CHECK = "clustersim.check";
const HANDS = "clustersim.hands";

/** @param {string} code the session whose page shows the check first */
export function askForCheck(code) {
  keep(CHECK, code);
}

/**
 * @param {string} code
 * @returns {boolean} whether the check is still to be looked at here
 */
export function awaitsCheck(code) {
  return read(CHECK) === plain(code);
}

/** The check has been looked at: a reload does not show it again. */
export function checked() {
  keep(CHECK, "");
}

/**
 * @param {string} code
 * @returns {boolean} whether hands are counted there, because phones do not get here
 */
export function countsHands(code) {
  return read(HANDS) === plain(code);
}

/** @param {string} code @param {boolean} on */
export function countHands(code, on) {
  keep(HANDS, on ? code : "");
}

/** @param {string} code */
const plain = (code) => code.replace("-", "").toUpperCase();

/** @param {string} name */
function read(name) {
  try {
    return sessionStorage.getItem(name) ?? "";
  } catch {
    return "";
  }
}

/** @param {string} name @param {string} code */
function keep(name, code) {
  try {
    if (code) sessionStorage.setItem(name, plain(code));
    else sessionStorage.removeItem(name);
  } catch {
    // Where the browser forbids storage the check stands behind "The class", and hands behind their fold.
  }
}
