// What the browser knows of a tree: the open nodes, the children of these that were fetched, and
// which row each node is in. Rows that were not fetched are known by their position only.

const PAGE = 100;

export class TreeModel {
  constructor(base, token) {
    this.base = base;
    this.token = token;
    this.version = -1;
    this.canUndo = this.canRedo = false;
    this.root = null;
    this.open = new Map(); // label -> {node, at: Map(position -> node), inner: [open children]}
    this.nodes = new Map(); // label -> node, of all that were fetched
    this.pending = new Map(); // "label page" -> the promise of its children
    this.age = 0; // grows when what was fetched before is no longer true
  }

  get rowCount() {
    return this.root ? 1 + this.size(this.root.label) : 0;
  }

  // ---- talking to the server

  async get(path, words = {}) {
    return this.answer(await fetch(`${this.base}/${path}?${new URLSearchParams(words)}`));
  }

  async post(path, words) {
    const body = JSON.stringify(words);
    const headers = { "Content-Type": "application/json", "X-CSRF-Token": this.token };
    return this.answer(await fetch(`${this.base}/${path}`, { method: "POST", headers, body }));
  }

  async answer(response) {
    let words;
    try {
      words = await response.json();
    } catch {
      throw new TreeError({ error: "the page does not answer", remedy: "reload it" }, 0);
    }
    if (!response.ok) throw new TreeError(words, response.status);
    return words;
  }

  // Fetch again what is open; `reveal` also opens everything above a node.
  async reload(reveal = null) {
    const words = { open: [...this.open.keys()] };
    return this.adopt(await this.post("open", reveal === null ? words : { ...words, reveal }));
  }

  async change(path, words) {
    const open = [...this.open.keys()];
    return this.adopt(await this.post(path, { ...words, version: this.version, open }));
  }

  // Start again from the open nodes of an answer; the rest is fetched when it is seen.
  adopt(words) {
    this.age += 1;
    this.pending.clear();
    this.nodes.clear();
    this.open.clear();
    this.root = words.root;
    this.note(words);
    for (const node of words.open) this.open.set(node.label, { node, at: new Map(), inner: [] });
    for (const node of [words.root, ...words.open, words.revealed]) if (node) this.place(node);
    for (const label of [...this.open.keys()]) if (!this.isReached(label)) this.open.delete(label);
    this.recount();
    return words;
  }

  note(words) {
    this.version = words.version;
    this.canUndo = words.can_undo;
    this.canRedo = words.can_redo;
  }

  // ---- the shape of the rows

  place(node) {
    this.nodes.set(node.label, node);
    const above = this.open.get(node.parent);
    if (above) above.at.set(node.position, node);
  }

  isReached(label) {
    for (let node = this.nodes.get(label); node; node = this.nodes.get(node.parent)) {
      if (node.parent === null) return true;
      if (!this.open.has(node.parent)) return false;
    }
    return false;
  }

  // How many rows are below each open node, and which of its children are open, in order.
  recount() {
    for (const open of this.open.values()) open.inner = [];
    for (const [label, open] of this.open) {
      open.rows = undefined;
      const above = this.open.get(this.nodes.get(label).parent);
      if (above) above.inner.push(open);
    }
    for (const open of this.open.values()) {
      open.inner.sort((one, other) => one.node.position - other.node.position);
    }
  }

  size(label) {
    const open = this.open.get(label);
    if (!open) return 0;
    if (open.rows === undefined) {
      open.rows = open.inner.reduce((sum, each) => sum + this.size(each.node.label), 0);
      open.rows += open.node.children;
    }
    return open.rows;
  }

  // The rows from `first` up to, but not including, `stop`; a row without a node is not fetched.
  rows(first, stop) {
    const found = [];
    if (!this.root || first >= stop) return found;
    if (first <= 0) found.push({ row: 0, level: 1, position: 0, total: 1, node: this.root });
    const root = this.open.get(this.root.label);
    if (root) this.rowsBelow(root, 2, 1, first, stop, found);
    return found;
  }

  rowsBelow(open, level, top, first, stop, found) {
    let row = top;
    let position = 0;
    const total = open.node.children;
    const emit = (end) => {
      const skipped = Math.min(Math.max(first - row, 0), end - position);
      row += skipped;
      position += skipped;
      for (; position < end; position++, row++) {
        if (row >= stop) return;
        const node = open.at.get(position);
        found.push({ row, level, position, total, node, parent: open.node.label });
      }
    };
    for (const inner of open.inner) {
      if (row >= stop) return;
      emit(inner.node.position + 1);
      if (row >= stop) return;
      const size = this.size(inner.node.label);
      if (row + size > first) this.rowsBelow(inner, level + 1, row, first, stop, found);
      row += size;
    }
    emit(total);
  }

  // The row of a node that was fetched; -1 if a group above it is closed.
  rowOf(label) {
    const node = this.nodes.get(label);
    if (!node) return -1;
    if (node.parent === null) return 0;
    const above = this.open.get(node.parent);
    const top = above ? this.rowOf(node.parent) : -1;
    if (top < 0) return -1;
    let row = top + 1 + node.position;
    for (const inner of above.inner) {
      if (inner.node.position < node.position) row += this.size(inner.node.label);
    }
    return row;
  }

  // Fetch what is missing of some rows; true if anything came.
  async fetchRows(first, stop) {
    const wanted = new Map();
    for (const row of this.rows(Math.max(first, 0), Math.min(stop, this.rowCount))) {
      if (!row.node) {
        const page = Math.floor(row.position / PAGE);
        wanted.set(`${page} ${row.parent}`, [row.parent, page]);
      }
    }
    const asked = [...wanted].map(([key, [label, page]]) => {
      if (!this.pending.has(key)) this.pending.set(key, this.fetchPage(key, label, page));
      return this.pending.get(key);
    });
    await Promise.all(asked);
    return asked.length > 0;
  }

  async fetchPage(key, label, page) {
    const age = this.age;
    try {
      const words = { node: label, offset: page * PAGE, limit: PAGE };
      const answer = await this.get("children", words);
      if (age !== this.age) return;
      if (answer.version !== this.version) throw new TreeError({ error: "stale" }, 409);
      for (const node of answer.children) {
        if (!this.open.has(node.label)) this.place(node);
      }
    } finally {
      if (age === this.age) this.pending.delete(key);
    }
  }

  openNode(label) {
    const node = this.nodes.get(label);
    if (!node || node.is_item || this.open.has(label)) return;
    this.open.set(label, { node, at: new Map(), inner: [] });
    this.recount();
  }

  closeNode(label) {
    this.open.delete(label);
    for (const other of [...this.open.keys()]) if (!this.isReached(other)) this.open.delete(other);
    this.recount();
  }
}

// An answer that is not what was asked for.
export class TreeError extends Error {
  constructor(words, status) {
    const end = words.remedy ? `; ${words.remedy}` : "";
    super(`${words.error || "this did not work"}${end}`);
    this.status = status;
  }
}
