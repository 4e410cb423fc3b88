/** Style sheets of what is fetched when it is first shown. */

/** @type {Map<string, Promise<void>>} */
const asked = new Map();

/**
 * Add style sheets of this release to the page, each once; done when they are in force.
 * @param {...string} names without folder and ending
 */
export async function addStyles(...names) {
  await Promise.all(names.map((name) => {
    let loading = asked.get(name);
    if (!loading) asked.set(name, (loading = add(name)));
    return loading;
  }));
}

/**
 * @param {string} name
 * @returns {Promise<void>}
 */
function add(name) {
  // A recording comes with all of them.
  if (document.querySelector(`link[data-style="${name}"]`)) return Promise.resolve();
  const link = document.createElement("link");
  link.rel = "stylesheet";
  link.href = `${document.documentElement.dataset["static"]}css/${name}.css`;
  return new Promise((resolve) => {
    // Without its style sheet a part is ugly and whole; not showing it would be worse.
    for (const end of ["load", "error"]) link.addEventListener(end, () => resolve());
    document.head.append(link);
  });
}
