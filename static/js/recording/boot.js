/**
 * What a recording's file runs first: it unpacks the page's own modules, styles and the session, and starts the page. A plain
 * script: its hash stands in the file's policy, which lets nothing else run but what it unpacks, and nothing go out.
 */
void (async () => {
  const packed = Uint8Array.from(atob(document.getElementById("packed")?.textContent ?? ""), (char) => char.charCodeAt(0));
  const unpacked = new Response(new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip")));
  /** @type {{modules: [string, string][], styles: [string, string][], recorded: any}} */
  const { modules, styles, recorded } = await unpacked.json();
  /** @param {string} text @param {string} type */
  const address = (text, type) => URL.createObjectURL(new Blob([text], { type }));
  for (const [name, text] of styles) {
    const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href: address(text, "text/css") });
    link.dataset["style"] = name;
    document.head.append(link);
  }
  /** @type {Map<string, string>} */
  const addresses = new Map();
  // In order: what a module imports comes before it.
  for (const [path, source] of modules) {
    const ready = source.replace(/"module:([^"]+)"/g, (_, other) => JSON.stringify(addresses.get(other)));
    addresses.set(path, address(ready, "text/javascript"));
  }
  Object.assign(window, { importPacked: (/** @type {string} */ path) => import(/** @type {string} */ (addresses.get(path))) });
  // A file's address cannot always be written anew; what is shown does not hang on it.
  for (const method of /** @type {const} */ (["pushState", "replaceState"])) {
    const write = history[method].bind(history);
    history[method] = (...given) => {
      try {
        write(...given);
      } catch {
        // The bar keeps the address of the file.
      }
    };
  }
  const { serve } = await import(/** @type {string} */ (addresses.get("recording/serve.js")));
  serve(recorded);
  await import(/** @type {string} */ (addresses.get("main.js")));
})();
