// The rows of a tree that can be seen, and no others; and which of them has the focus.

const SPARE = 8; // rows above and below those that can be seen

export class TreeView {
  constructor(element, model, state) {
    this.element = element;
    this.model = model;
    this.state = state; // {chosen: Set, cut: Set} of labels
    this.size = element.querySelector(".tree-sizer");
    this.rows = new Map(); // key -> element
    this.focus = null; // the label of the row that Tab leads to
    this.failed = () => {};
    this.height = 32;
    element.addEventListener("scroll", () => this.schedule(), { passive: true });
    new ResizeObserver(() => this.schedule()).observe(element);
  }

  get perPage() {
    return Math.max(Math.floor(this.element.clientHeight / this.height), 1);
  }

  schedule() {
    if (this.frame) return;
    this.frame = requestAnimationFrame(() => {
      this.frame = 0;
      this.show();
    });
  }

  range() {
    const first = Math.floor(this.element.scrollTop / this.height) - SPARE;
    return [Math.max(first, 0), first + this.perPage + 2 * SPARE + 2];
  }

  // Draw what is known, and fetch the rest.
  show() {
    this.draw();
    const [first, stop] = this.range();
    this.model.fetchRows(first, stop).then(
      (came) => came && this.draw(),
      (error) => this.failed(error),
    );
  }

  // After an edit: what was drawn stays until the new rows are here, so that nothing flickers.
  async renew() {
    this.resize();
    const [first, stop] = this.range();
    await this.model.fetchRows(first, stop);
    this.draw();
  }

  resize() {
    this.size.style.height = `${this.model.rowCount * this.height}px`;
  }

  draw() {
    this.resize();
    const [first, stop] = this.range();
    const wanted = this.model.rows(first, Math.min(stop, this.model.rowCount));
    const at = this.focus === null ? -1 : this.model.rowOf(this.focus);
    if (at >= 0 && (at < first || at >= stop)) wanted.push(...this.model.rows(at, at + 1));
    const old = this.rows;
    this.rows = new Map();
    let before = this.size.firstChild;
    for (const row of wanted.sort((one, other) => one.row - other.row)) {
      const key = row.node ? `n${row.node.label}` : `p${row.position} ${row.parent}`;
      const element = old.get(key) || newRow();
      old.delete(key);
      this.rows.set(key, element);
      this.fill(element, row);
      if (element === before) before = before.nextSibling;
      else if (!element.isConnected) this.size.insertBefore(element, before);
    }
    for (const element of old.values()) element.remove();
    this.measure();
  }

  fill(element, { row, level, position, total, node }) {
    const isOpen = node && this.model.open.has(node.label);
    const isChosen = Boolean(node) && this.state.chosen.has(node.label);
    element.style.transform = `translateY(${row * this.height}px)`;
    element.style.setProperty("--level", Math.min(level - 1, 24));
    element.dataset.row = row;
    element.dataset.label = node ? node.label : "";
    set(element, "aria-level", level);
    set(element, "aria-setsize", total);
    set(element, "aria-posinset", position + 1);
    set(element, "aria-expanded", node && !node.is_item ? String(isOpen) : null);
    set(element, "aria-selected", node ? String(isChosen) : null);
    set(element, "aria-busy", node ? null : "true");
    set(element, "tabindex", node && node.label === this.focus ? "0" : "-1");
    element.draggable = Boolean(node) && node.parent !== null;
    element.classList.toggle("is-group", Boolean(node) && !node.is_item);
    element.classList.toggle("is-cut", Boolean(node) && this.state.cut.has(node.label));
    const [, , name, size, mark] = element.children;
    name.textContent = node ? node.label : "\u2026";
    name.title = node ? node.label : "";
    size.textContent = node ? sizeOf(node) : "";
    size.title = node && node.occurrences !== null ? "\u00d7: how often this occurs in the data" : "";
    mark.hidden = !(node && node.in_data === false);
    mark.textContent = mark.hidden ? "" : "not in the data";
  }

  // The height of a row depends on the size of the letters.
  measure() {
    const first = this.rows.values().next().value;
    const height = first ? first.offsetHeight : 0;
    if (height && height !== this.height) {
      const at = this.element.scrollTop / this.height;
      this.height = height;
      this.resize();
      this.element.scrollTop = at * height;
      this.draw();
    }
  }

  elementOf(label) {
    return this.rows.get(`n${label}`);
  }

  // Make a node the one that Tab leads to, show it, and give it the focus unless told otherwise.
  async goTo(label, { focus = true } = {}) {
    const row = this.model.rowOf(label);
    if (row < 0) return;
    this.focus = label;
    this.resize();
    const top = row * this.height;
    const view = this.element;
    if (top < view.scrollTop) view.scrollTop = top;
    else if (top + this.height > view.scrollTop + view.clientHeight) {
      view.scrollTop = top + this.height - view.clientHeight;
    }
    await this.renew();
    const element = this.elementOf(label);
    if (!element || this.focus !== label) return;
    if (focus) element.focus({ preventScroll: true });
    element.scrollIntoView({ block: "nearest", inline: "nearest" }); // the page may scroll, too
  }

  async goToRow(row) {
    const goal = Math.min(Math.max(row, 0), this.model.rowCount - 1);
    await this.model.fetchRows(goal, goal + 1);
    const [found] = this.model.rows(goal, goal + 1);
    if (!found?.node) return null;
    await this.goTo(found.node.label);
    return found.node.label;
  }
}

function newRow() {
  const element = document.createElement("div");
  element.setAttribute("role", "treeitem");
  element.className = "tree-row";
  for (const name of ["twist", "check", "name", "size", "mark"]) {
    const part = document.createElement("span");
    part.className = `tree-${name}`;
    if (name === "twist" || name === "check") part.setAttribute("aria-hidden", "true");
    element.append(part);
  }
  return element;
}

function set(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

function sizeOf(node) {
  const parts = [];
  if (!node.is_item) parts.push(plural(node.items, "item"));
  if (node.occurrences !== null) parts.push(`${count(node.occurrences)}\u00d7`);
  return parts.join(" \u00b7 ");
}

export function count(number) {
  return number.toLocaleString("en-US");
}

export function plural(number, noun) {
  return `${count(number)} ${noun}${number === 1 ? "" : "s"}`;
}
