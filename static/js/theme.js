/** Before anything is painted: who never chose a theme gets the system's. A plain script, not a module, for that. */
{
  const page = document.documentElement;
  if (page.dataset["themeFollows"] === "system" && window.matchMedia("(prefers-color-scheme: dark)").matches)
    page.dataset["theme"] = "dark";
}
