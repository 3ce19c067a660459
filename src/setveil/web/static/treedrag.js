// Dragging the rows of a tree into a group.

const UNTIL_OPENED = 700; // ms over a closed group until a drag opens it

export class TreeDrag {
  constructor(panel) {
    this.panel = panel;
    this.dragged = this.target = null;
    const view = panel.view.element;
    view.addEventListener("dragstart", (event) => this.onDrag(event));
    view.addEventListener("dragover", (event) => this.onDragOver(event));
    view.addEventListener("dragleave", () => this.markTarget(null));
    view.addEventListener("dragend", () => this.markTarget(null));
    view.addEventListener("drop", (event) => this.onDrop(event));
  }

  onDrag(event) {
    const label = event.target.dataset?.label;
    if (!label) return;
    const isOther = !this.panel.chosen.has(label);
    this.dragged = isOther ? [label] : [...this.panel.chosen];
    if (isOther) setTimeout(() => this.panel.choose(label)); // a row that changes now is not dragged
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", this.dragged.join("\n"));
  }

  onDragOver(event) {
    const row = event.target.closest(".tree-row.is-group");
    const isFree = row && this.dragged && !this.dragged.includes(row.dataset.label);
    this.markTarget(isFree ? row : null);
    if (isFree) event.preventDefault();
  }

  onDrop(event) {
    const label = event.target.closest(".tree-row.is-group")?.dataset.label;
    const nodes = this.dragged;
    this.markTarget(null);
    this.dragged = null;
    if (label && nodes) {
      event.preventDefault();
      this.panel.run(() => this.panel.moveHere(label, nodes));
    }
  }

  markTarget(row) {
    if (row === this.target) return;
    this.target?.classList.remove("is-target");
    clearTimeout(this.timer);
    this.target = row;
    if (!row) return;
    row.classList.add("is-target");
    const label = row.dataset.label;
    if (!this.panel.model.open.has(label)) {
      this.timer = setTimeout(() => this.panel.run(() => this.panel.toggle(label)), UNTIL_OPENED);
    }
  }
}
