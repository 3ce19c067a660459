"""Faults of a page for people who cannot see it, see little, or use no mouse.

The rules are those of axe-core that it calls serious or critical and that matter here: names of
fields, buttons, links and pictures; landmarks; headings; language; unique ids; contrast (WCAG AA);
what can be scrolled can be reached; and an order of focus that is that of the text."""

from __future__ import annotations

from typing import Any

SCRIPT = r"""() => {
  const found = [];
  const say = (rule, element) =>
    found.push(rule + ": " + (element ? element.outerHTML.slice(0, 160) : ""));
  const shown = (element) => element.getClientRects().length > 0;
  const all = (selector) => [...document.querySelectorAll(selector)];
  const nameOf = (element) => {
    if (element.getAttribute("aria-label")) return element.getAttribute("aria-label");
    const by = element.getAttribute("aria-labelledby");
    if (by) return by.split(" ").map((id) => document.getElementById(id)?.textContent).join(" ");
    if (element.labels && element.labels.length) return [...element.labels].map((l) => l.textContent).join(" ");
    return element.textContent || element.getAttribute("title") || "";
  };

  if (document.documentElement.lang !== "en") say("no language");
  if (!document.title.trim()) say("no title");
  if (all("main").length !== 1) say("not one main landmark");
  if (all("header").length < 1) say("no banner");
  if (all("h1").length !== 1) say("not one h1");
  let last = 0;
  for (const heading of all("h1, h2, h3, h4, h5, h6")) {
    const level = Number(heading.tagName[1]);
    if (level > last + 1) say("heading skips a level", heading);
    if (!heading.textContent.trim()) say("empty heading", heading);
    last = level;
  }
  const ids = all("[id]").map((element) => element.id);
  for (const id of ids) if (ids.filter((other) => other === id).length > 1) say("id twice: " + id);
  for (const field of all("input:not([type=hidden]), select, textarea"))
    if (!nameOf(field).trim() && !field.closest("dialog:not([open])")) say("field without a label", field);
  for (const each of all("button, a[href], summary"))
    if (!nameOf(each).trim()) say("control without a name", each);
  for (const each of all("svg[role=img], img, progress"))
    if (!(each.getAttribute("aria-label") || each.getAttribute("alt"))) say("picture without a text", each);
  for (const group of all("fieldset")) if (!group.querySelector("legend")) say("group without a legend", group);
  for (const each of all("[aria-describedby]"))
    for (const id of each.getAttribute("aria-describedby").split(" "))
      if (!document.getElementById(id)) say("describedby leads nowhere", each);
  for (const list of all("ul, ol"))
    for (const child of list.children) if (child.tagName !== "LI") say("list with another child", list);
  for (const each of all("[tabindex]")) if (Number(each.tabIndex) > 0) say("order of focus is changed", each);
  for (const link of all('a[href^="#"]'))
    if (!document.getElementById(link.getAttribute("href").slice(1))) say("link leads nowhere", link);
  for (const each of all("pre")) {
    if (!shown(each)) continue;
    if ((each.scrollHeight > each.clientHeight + 1 || each.scrollWidth > each.clientWidth + 1) && each.tabIndex < 0)
      say("can be scrolled but not reached", each);
  }

  const parse = (color) => {
    const unit = color.startsWith("color(srgb") ? 255 : 1;  // a mix of colours counts to 1
    const parts = color.match(/[\d.]+(e-?\d+)?/g).map((part, at) => Number(part) * (at < 3 ? unit : 1));
    return { r: parts[0], g: parts[1], b: parts[2], a: parts.length > 3 ? parts[3] : 1 };
  };
  const over = (top, below) => ({
    r: top.r * top.a + below.r * (1 - top.a), g: top.g * top.a + below.g * (1 - top.a),
    b: top.b * top.a + below.b * (1 - top.a), a: 1,
  });
  const backdrop = (element) => {
    const layers = [];
    for (let at = element; at; at = at.parentElement) layers.unshift(parse(getComputedStyle(at).backgroundColor));
    const dark = matchMedia("(prefers-color-scheme: dark)").matches;
    return layers.reduce((below, top) => over(top, below), dark ? { r: 18, g: 18, b: 18, a: 1 } : { r: 255, g: 255, b: 255, a: 1 });
  };
  const light = ({ r, g, b }) => {
    const [x, y, z] = [r, g, b].map((c) => { c /= 255; return c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4; });
    return 0.2126 * x + 0.7152 * y + 0.0722 * z;
  };
  for (const element of all("main *, header *, nav *, footer *")) {
    const words = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!words || !shown(element) || element.closest("svg, .hidden, .skip, noscript, option")) continue;
    const style = getComputedStyle(element);
    if (parseFloat(style.fontSize) === 0) continue;
    const behind = backdrop(element);
    const [one, other] = [light(over(parse(style.color), behind)), light(behind)];
    const ratio = (Math.max(one, other) + 0.05) / (Math.min(one, other) + 0.05);
    const large = parseFloat(style.fontSize) >= 24 || (parseFloat(style.fontSize) >= 18.66 && Number(style.fontWeight) >= 700);
    if (ratio < (large ? 3 : 4.5)) say("contrast " + ratio.toFixed(2), element);
  }
  if (document.documentElement.scrollWidth > innerWidth + 1) say("the page is wider than the window");
  return [...new Set(found)];
}"""


def faults(page: Any) -> list[str]:
    """Every fault that was found, one line each."""
    found: list[str] = page.evaluate(SCRIPT)
    return found
