// The hierarchy panel: keys, mouse, search, edits. The server holds the tree; see web/drafts.py.

import { TreeDrag } from "./treedrag.js";
import { showFacts } from "./treefacts.js";
import { TreeModel } from "./treemodel.js";
import { TreeSearch } from "./treesearch.js";
import { TreeView, count, plural } from "./treeview.js";

const MOST_IN_RANGE = 2000; // how many rows can be chosen in one sweep
const UNTIL_NEW_WORD = 800; // ms after which a letter begins a new word

class TreePanel {
  constructor(element) {
    this.element = element;
    const token = document.querySelector('meta[name="csrf-token"]')?.content ?? "";
    this.model = new TreeModel(element.dataset.base, token);
    this.chosen = new Set();
    this.cut = new Set();
    this.anchor = null;
    this.typed = "";
    this.queue = Promise.resolve();
    this.view = new TreeView(element.querySelector(".tree-view"), this.model, this);
    this.view.failed = (error) => this.failed(error);
    this.search = new TreeSearch(this);
    this.drag = new TreeDrag(this);
    this.listen();
  }

  async start() {
    this.element.classList.add("is-live");
    await this.model.reload();
    this.view.focus = this.model.root.label;
    await this.view.renew();
    await this.refresh();
    this.element.dataset.ready = "yes";
  }

  find(name) {
    return this.element.querySelector(`.tree-${name}`);
  }

  button(act) {
    return this.element.querySelector(`[data-act="${act}"]`);
  }

  say(text, isError = false) {
    const message = this.find("message");
    message.textContent = text;
    message.classList.toggle("is-error", isError);
  }

  // ---- events

  listen() {
    const view = this.view.element;
    view.addEventListener("keydown", (event) => this.onKey(event));
    view.addEventListener("click", (event) => this.onClick(event));
    view.addEventListener("dblclick", (event) => this.onDoubleClick(event));
    view.addEventListener("focusin", (event) => {
      const label = event.target.dataset?.label;
      if (label && label !== this.view.focus) {
        this.view.focus = label;
        this.view.draw();
        this.showState();
      }
    });
    this.element.addEventListener("click", (event) => {
      const act = event.target.closest("[data-act]")?.dataset.act;
      if (act) this.act(act);
    });
    this.find("lists").addEventListener("click", (event) => {
      if (event.target.dataset.reveal) this.reveal(event.target.dataset.reveal);
    });
  }

  onKey(event) {
    const control = event.ctrlKey || event.metaKey;
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    const name = `${control ? "Ctrl+" : ""}${event.shiftKey && key !== " " ? "Shift+" : ""}${key}`;
    const action = KEYS[name];
    if (action) {
      event.preventDefault();
      this.run(() => action(this, event));
    } else if (event.key.length === 1 && !control && !event.altKey) {
      event.preventDefault();
      this.run(() => this.typeAhead(event.key));
    }
  }

  onClick(event) {
    const row = event.target.closest(".tree-row");
    const label = row?.dataset.label;
    if (!label) return;
    if (event.target.closest(".tree-twist") && row.classList.contains("is-group")) {
      this.run(async () => {
        await this.view.goTo(label);
        await this.toggle(label);
      });
    } else {
      const isToggled = event.target.closest(".tree-check") || event.ctrlKey || event.metaKey;
      this.run(async () => {
        if (event.shiftKey) await this.chooseRange(label);
        else this.choose(label, isToggled);
        await this.view.goTo(label);
      });
    }
  }

  onDoubleClick(event) {
    const row = event.target.closest(".tree-row.is-group");
    const isPart = event.target.closest(".tree-twist, .tree-check");
    if (row && !isPart) this.run(() => this.toggle(row.dataset.label));
  }

  async typeAhead(letter) {
    const now = performance.now();
    this.typed = now - (this.typedAt ?? -Infinity) > UNTIL_NEW_WORD ? letter : this.typed + letter;
    this.typedAt = now;
    const text = this.typed.toLowerCase();
    const start = this.model.rowOf(this.view.focus) + (this.typed.length === 1 ? 1 : 0);
    const loaded = this.model.rows(start, start + MOST_IN_RANGE);
    const near = loaded.find((row) => row.node?.label.toLowerCase().startsWith(text));
    if (near) return this.view.goTo(near.node.label);
    const { found } = await this.model.get("search", { text: this.typed, limit: 1 });
    if (found[0]?.label.toLowerCase().startsWith(text)) return this.reveal(found[0].label);
    return this.say(`Nothing starts with \u201c${this.typed}\u201d.`);
  }

  // ---- open, close, choose

  async toggle(label) {
    if (this.model.open.has(label)) this.model.closeNode(label);
    else this.model.openNode(label);
    await this.view.renew();
  }

  async forward() {
    const node = this.model.nodes.get(this.view.focus);
    if (!node || node.is_item) return;
    if (!this.model.open.has(node.label)) await this.toggle(node.label);
    else if (node.children) await this.view.goToRow(this.model.rowOf(node.label) + 1);
  }

  async back() {
    const node = this.model.nodes.get(this.view.focus);
    if (!node) return;
    if (this.model.open.has(node.label)) await this.toggle(node.label);
    else if (node.parent !== null) await this.view.goTo(node.parent);
  }

  async step(rows, isChoosing = false) {
    const before = this.view.focus;
    const label = await this.view.goToRow(this.model.rowOf(before) + rows);
    if (isChoosing && label !== null) {
      if (this.anchor === null || !this.chosen.has(before)) this.choose(before);
      this.chosen.add(label);
      this.showState();
      this.view.draw();
    }
  }

  choose(label, isToggled = false) {
    if (!isToggled) this.chosen.clear();
    if (isToggled && this.chosen.has(label)) this.chosen.delete(label);
    else this.chosen.add(label);
    this.anchor = label;
    this.showState();
    this.view.draw();
  }

  async chooseRange(label) {
    const from = this.model.rowOf(this.anchor ?? label);
    const [first, last] = [from, this.model.rowOf(label)].sort((one, other) => one - other);
    if (first < 0 || last - first > MOST_IN_RANGE) {
      return this.say(`At most ${count(MOST_IN_RANGE)} rows can be chosen at once.`, true);
    }
    await this.model.fetchRows(first, last + 1);
    this.chosen.clear();
    for (const row of this.model.rows(first, last + 1)) this.chosen.add(row.node.label);
    this.showState();
    return this.view.draw();
  }

  chooseNothing() {
    const set = this.cut.size ? this.cut : this.chosen;
    set.clear();
    this.anchor = null;
    this.say("");
    this.showState();
    this.view.draw();
  }

  // What an edit is about: what is chosen, else the current row.
  targets() {
    return this.chosen.size ? [...this.chosen] : [this.view.focus];
  }

  // ---- edits

  act(act) {
    const action = ACTS[act];
    if (action) this.run(() => action(this));
  }

  // One thing after another, so that no edit overtakes the one before.
  run(work) {
    this.queue = this.queue.then(work).catch((error) => this.failed(error));
    return this.queue;
  }

  async failed(error) {
    this.say(sentence(error.message), true);
    if (error.status === 409) {
      await this.model.reload(this.view.focus).catch(() => this.model.reload());
      this.keepKnown({});
      await this.view.renew();
      await this.refresh();
    }
  }

  async edit(words, path = "edit") {
    const answer = await this.model.change(path, words);
    this.keepKnown(answer);
    this.say(answer.message);
    await this.view.goTo(answer.focus, { focus: !this.element.querySelector("dialog[open]") });
    await this.refresh();
    return answer;
  }

  // Follow renamed nodes, and forget removed ones.
  keepKnown({ renamed = {}, removed = [] }) {
    const gone = new Set(removed);
    const now = (label) => (gone.has(label) ? null : renamed[label] ?? label);
    for (const set of [this.chosen, this.cut]) {
      const labels = [...set].map(now).filter((label) => label !== null);
      set.clear();
      for (const label of labels) set.add(label);
    }
    this.anchor = this.anchor === null ? null : now(this.anchor);
    this.view.focus = this.view.focus === null ? null : now(this.view.focus);
    if (this.model.rowOf(this.view.focus) < 0) this.view.focus = this.model.root.label;
  }

  async rename() {
    const node = this.view.focus;
    const name = await this.ask(`Rename ${short(node)}`, node);
    if (name !== null && name.trim() !== node) await this.edit({ op: "rename", node, name });
  }

  async group() {
    const nodes = this.targets();
    const what = nodes.length === 1 ? short(nodes[0]) : plural(nodes.length, "node");
    const name = await this.ask(`Name of a new group for ${what}`, "");
    if (name === null) return;
    const { focus } = await this.edit({ op: "group", nodes, name });
    this.choose(focus);
  }

  startMove() {
    this.cut = new Set(this.targets());
    this.showState();
    this.view.draw();
    const what = this.cut.size === 1 ? short([...this.cut][0]) : plural(this.cut.size, "node");
    this.say(`Ready to move ${what}. Go to a group and press \u201cMove here\u201d (Ctrl+V).`);
  }

  async moveHere(to = this.view.focus, nodes = [...this.cut]) {
    if (!nodes.length) return this.say("Mark nodes to be moved first, with \u201cMove\u2026\u201d.");
    await this.edit({ op: "move", nodes, to });
    this.cut.clear();
    this.chosen.clear();
    this.showState();
    return this.view.draw();
  }

  async undo(path = "undo") {
    const isPossible = path === "undo" ? this.model.canUndo : this.model.canRedo;
    if (isPossible) await this.edit({}, path);
    else this.say(`There is nothing to ${path}.`);
  }

  // A name from the user; null if there is none.
  ask(title, value) {
    const dialog = this.find("dialog");
    const [form, input] = [dialog.querySelector("form"), dialog.querySelector("input")];
    dialog.querySelector("#tree-dialog-title").textContent = title;
    input.value = value;
    this.say("");
    dialog.showModal();
    input.select();
    return new Promise((resolve) => {
      let answer = null;
      form.onsubmit = (event) => {
        event.preventDefault();
        answer = input.value;
        dialog.close();
      };
      dialog.querySelector('[data-act="cancel"]').onclick = () => dialog.close();
      dialog.onclose = () => {
        this.view.elementOf(this.view.focus)?.focus({ preventScroll: true });
        resolve(answer);
      };
    });
  }

  async reveal(label) {
    await this.model.reload(label);
    await this.view.goTo(label);
    this.choose(label);
  }

  // ---- what is shown around the tree

  showState() {
    const node = this.model.nodes.get(this.view.focus);
    const isGroup = Boolean(node) && !node.is_item;
    const able = {
      rename: isGroup || node?.in_data === false,
      ungroup: isGroup && (node.parent !== null || node.children === 1),
      paste: isGroup && this.cut.size > 0,
      undo: this.model.canUndo,
      redo: this.model.canRedo,
    };
    for (const [act, isAble] of Object.entries(able)) this.button(act).disabled = !isAble;
    this.button("paste").classList.toggle("tree-main", this.cut.size > 0);
    const first = [...this.chosen].slice(0, 5).map(short).join(", ");
    const more = this.chosen.size > 5 ? " \u2026" : "";
    const text = `${count(this.chosen.size)} chosen: ${first}${more}`;
    this.find("chosen").textContent = this.chosen.size ? text : "Nothing is chosen.";
  }

  async refresh() {
    this.showState();
    showFacts(this, await this.model.get("coverage"));
  }
}

const ACTS = {
  rename: (panel) => panel.rename(),
  group: (panel) => panel.group(),
  cut: (panel) => panel.startMove(),
  paste: (panel) => panel.moveHere(),
  ungroup: (panel) => panel.edit({ op: "ungroup", node: panel.view.focus }),
  undo: (panel) => panel.undo(),
  redo: (panel) => panel.undo("redo"),
  "add-missing": (panel) => panel.edit({ op: "add" }),
  "remove-empty": (panel) => panel.edit({ op: "remove" }),
};

const KEYS = {
  ArrowDown: (panel) => panel.step(1),
  ArrowUp: (panel) => panel.step(-1),
  "Shift+ArrowDown": (panel) => panel.step(1, true),
  "Shift+ArrowUp": (panel) => panel.step(-1, true),
  PageDown: (panel) => panel.step(panel.view.perPage - 1),
  PageUp: (panel) => panel.step(1 - panel.view.perPage),
  Home: (panel) => panel.view.goToRow(0),
  End: (panel) => panel.view.goToRow(Infinity),
  ArrowRight: (panel) => panel.forward(),
  ArrowLeft: (panel) => panel.back(),
  " ": (panel, event) =>
    event.shiftKey ? panel.chooseRange(panel.view.focus) : panel.choose(panel.view.focus, true),
  Enter: (panel) => {
    const label = panel.view.focus;
    const isItem = panel.model.nodes.get(label)?.is_item;
    return isItem ? panel.choose(label, true) : panel.toggle(label);
  },
  F2: (panel) => panel.rename(),
  Escape: (panel) => panel.chooseNothing(),
  "Ctrl+g": (panel) => panel.group(),
  "Ctrl+x": (panel) => panel.startMove(),
  "Ctrl+v": ACTS.paste,
  "Ctrl+z": ACTS.undo,
  "Ctrl+Shift+z": ACTS.redo,
  "Ctrl+y": ACTS.redo,
};

function short(label) {
  return `\u201c${label.length > 40 ? `${label.slice(0, 39)}\u2026` : label}\u201d`;
}

function sentence(text) {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}

for (const element of document.querySelectorAll(".tree-panel")) {
  const panel = new TreePanel(element);
  panel.run(() => panel.start());
}
