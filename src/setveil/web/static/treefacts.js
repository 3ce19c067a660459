// How a tree fits the data, in words, with lists of what does not fit.

import { count } from "./treeview.js";

const LISTS = [
  ["missing", "Not in the tree", false],
  ["shadowed", "Groups with the name of an item", true],
  ["unused", "Not in the data", true],
  ["empty", "Empty groups", true],
];

export function showFacts(panel, words) {
  const facts = words.sentences.map((text) => listItem(text));
  panel.find("facts").replaceChildren(...facts);
  panel.button("add-missing").hidden = !words.counts.missing;
  panel.button("remove-empty").hidden = !words.counts.empty;
  const lists = LISTS.filter(([name]) => words.counts[name]);
  panel.find("lists").hidden = !lists.length;
  panel.find("listed").replaceChildren(
    ...lists.flatMap(([name, title, isNode]) => {
      const head = document.createElement("h3");
      head.textContent = title;
      const list = document.createElement("ul");
      list.append(...words[name].map((label) => listItem(label, isNode)));
      const rest = words.counts[name] - words[name].length;
      if (rest) list.append(listItem(`and ${count(rest)} more`));
      return [head, list];
    }),
  );
}

function listItem(text, isNode = false) {
  const item = document.createElement("li");
  if (!isNode) {
    item.textContent = text;
    return item;
  }
  const button = document.createElement("button");
  button.type = "button";
  button.className = "tree-link";
  button.textContent = text;
  button.dataset.reveal = text;
  item.append(button);
  return item;
}
