/* Puts a page into the window that is open, so that axe-core, styles and scripts are loaded once, and says what keeps
   people out of it. */
(() => {
  const contrast = { runOnly: ["color-contrast"], resultTypes: ["violations"], preload: false };
  const seen = new Set();

  const opaque = (color) => !/^rgba\(.*, 0(\.\d+)?\)$/.test(color);

  /* Everything by which axe-core decides on a text: its colour, size and weight, and the grounds that it stands on. */
  function look(element) {
    const style = getComputedStyle(element);
    const parts = [style.color, style.fontSize, style.fontWeight, element.matches(":disabled, [aria-disabled=true], :disabled *")];
    for (let each = element; each; each = each.parentElement) {
      const ground = getComputedStyle(each);
      if (ground.opacity !== "1") parts.push(ground.opacity);
      if (ground.backgroundImage !== "none") parts.push(ground.backgroundImage);
      if (ground.backgroundColor === "rgba(0, 0, 0, 0)") continue;
      parts.push(ground.backgroundColor);
      if (opaque(ground.backgroundColor)) break;
    }
    return parts.join("|");
  }

  /* The elements with text that look like none before. */
  function fresh() {
    const found = [];
    for (const element of document.querySelectorAll("body *")) {
      const typed = element.matches("input, textarea, select");
      const texts = typed || [...element.childNodes].some((node) => node.nodeType === 3 && node.data.trim());
      if (!texts || !element.checkVisibility({ opacityProperty: true, visibilityProperty: true })) continue;
      const looks = look(element);
      if (!seen.has(looks)) found.push(element);
      seen.add(looks);
    }
    return found;
  }

  /* The parts of the layout that an earlier page had as well; they are checked once, apart from the values of fields. */
  const layouts = new Set();
  function repeated() {
    return [...document.querySelectorAll("header.top, body > footer")].filter((part) => {
      const markup = part.outerHTML.replace(/ value="[^"]*"/g, "");
      return layouts.has(markup) || !layouts.add(markup);
    });
  }

  const colours = async () => {
    const include = fresh();
    return include.length ? (await axe.run({ include }, contrast)).violations : [];
  };

  window.readPage = async (path, sent, rules) => {
    const token = document.querySelector("[name=authenticity_token]")?.value ?? "";
    const form = sent && new URLSearchParams({ authenticity_token: token, ...sent });
    const answer = await fetch(path, form ? { method: "POST", body: form } : {});
    const text = await answer.text();
    const page = new DOMParser().parseFromString(text, "text/html");
    document.documentElement.lang = page.documentElement.lang;
    document.title = page.title;
    document.body.replaceWith(page.body);
    htmx.process(document.body);
    document.body.dispatchEvent(new CustomEvent("htmx:load", { bubbles: true }));
    document.documentElement.dataset.theme = "light";
    /* What is folded is read too; what lies over others is folded again before colours are held against their ground. */
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    const { violations } = await axe.run({ exclude: repeated() }, { ...rules, rules: { "color-contrast": { enabled: false } } });
    for (const menu of document.querySelectorAll("details.menu")) menu.open = false;
    violations.push(...(await colours()));
    document.documentElement.dataset.theme = "dark";
    violations.push(...(await colours()));
    scrollTo(0, 0);
    return { violations, status: answer.status };
  };
})();
