// The search box of the hierarchy panel: results with their paths, each leads to its row.

import { count, plural } from "./treeview.js";

const SHOWN = 50; // results in the list
const MOST_CHOSEN = 500; // results that can be chosen at once
const PAUSE = 200; // ms after the last letter

export class TreeSearch {
  constructor(panel) {
    this.panel = panel;
    this.form = panel.find("search");
    this.input = this.form.querySelector("input");
    this.results = panel.find("results");
    this.asked = 0;
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(this.timer);
      this.look();
    });
    this.input.addEventListener("input", () => {
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.look(), PAUSE);
    });
    for (const element of [this.input, this.results]) {
      element.addEventListener("keydown", (event) => this.onKey(event));
    }
  }

  onKey(event) {
    const buttons = [...this.results.querySelectorAll("li button")];
    const at = buttons.indexOf(document.activeElement);
    if (event.key === "Escape") this.close();
    else if (event.key === "ArrowDown" && buttons.length) {
      event.preventDefault();
      buttons[Math.min(at + 1, buttons.length - 1)].focus();
    } else if (event.key === "ArrowUp" && at >= 0) {
      event.preventDefault();
      (buttons[at - 1] ?? this.input).focus();
    }
  }

  close() {
    clearTimeout(this.timer);
    this.asked += 1; // an answer that is still on its way comes too late
    this.input.value = "";
    this.show(null);
    this.input.focus();
  }

  async look() {
    const text = this.input.value.trim();
    const number = ++this.asked;
    try {
      const words = text ? { text, limit: SHOWN } : null;
      const answer = words && (await this.panel.model.get("search", words));
      if (number === this.asked) this.show(answer, text);
    } catch (error) {
      this.panel.failed(error);
    }
  }

  show(answer, text = "") {
    this.results.hidden = !answer;
    this.results.replaceChildren();
    if (!answer) return;
    const { total, found } = answer;
    const head = document.createElement("div");
    head.className = "tree-found";
    const all = total > found.length ? ` (the first ${count(found.length)} are shown)` : "";
    const summary = document.createElement("span");
    summary.textContent = `${plural(total, "node")} found${all}`;
    head.append(summary);
    if (total > 1 && total <= MOST_CHOSEN) {
      const choose = () => this.panel.run(() => this.chooseAll());
      head.append(button(`Choose all ${count(total)}`, choose));
    }
    head.append(button("Close", () => this.close()));
    const list = document.createElement("ul");
    list.append(...found.map((node) => this.line(node)));
    this.results.append(head, list);
    this.panel.say(`${plural(total, "node")} found for \u201c${text}\u201d.`);
  }

  line(node) {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "tree-result";
    const name = document.createElement("strong");
    name.textContent = node.label;
    const path = document.createElement("span");
    path.textContent = node.path.slice(0, -1).join(" \u203a ");
    button.append(name, " ", path);
    button.addEventListener("click", () => this.panel.run(() => this.panel.reveal(node.label)));
    item.append(button);
    return item;
  }

  async chooseAll() {
    const words = { text: this.input.value.trim(), limit: MOST_CHOSEN };
    const { found } = await this.panel.model.get("search", words);
    this.panel.chosen.clear();
    for (const node of found) this.panel.chosen.add(node.label);
    this.panel.showState();
    this.panel.view.draw();
    this.panel.say(`${plural(found.length, "node")} chosen.`);
  }
}

function button(title, work) {
  const made = document.createElement("button");
  made.type = "button";
  made.textContent = title;
  made.addEventListener("click", work);
  return made;
}
