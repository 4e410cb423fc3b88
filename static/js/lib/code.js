/** Join codes as people type them: six letters and digits, case and dash do not matter. */

export const CODE_LENGTH = 6;

/**
 * The six characters typed so far, upper case, without dash or space.
 * @param {string} typed
 */
export function codeCharacters(typed) {
  return typed.toUpperCase().replace(/[^A-Z0-9]/g, "").slice(0, CODE_LENGTH);
}

/**
 * A whole code as it is shown, K7Q-M2X; null while characters are missing.
 * @param {string} typed
 */
export function formatCode(typed) {
  const characters = codeCharacters(typed);
  return characters.length === CODE_LENGTH ? `${characters.slice(0, 3)}-${characters.slice(3)}` : null;
}
