"""`setveil hierarchy`: build, check and show the tree over the items."""

from __future__ import annotations

from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from setveil.cli.options import (
    TREE,
    force_option,
    json_option,
    layout_option,
    reading,
    reading_options,
)
from setveil.cli.show import show
from setveil.errors import ParameterError
from setveil.words import plural

if TYPE_CHECKING:
    from setveil.hierarchy.files import Layout
    from setveil.hierarchy.tree import Hierarchy


@click.group("hierarchy")
def command() -> None:
    """Build, check and show the tree over the items."""


@command.command("build")
@click.argument("data", metavar="DATA")
@click.argument("recipe", metavar="balanced:5|prefix|wordnet")
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The file to write.  [default: standard output]",
)
@reading_options
@force_option
def build(data: str, recipe: str, output: Path | None, force: bool, **options: Any) -> None:
    """Build a tree over the items of DATA.

    RECIPE is `balanced:FANOUT`, with `:numeric`, `:alphabetical` or `:frequency` after it for the order of the items, or `prefix` for
    codes, with the lengths of the prefixes after it, as in `prefix:1,3`, or `wordnet` for English nouns, with its folder after it if it
    is not where Debian puts it; `wordnet+unknown` keeps other items under a node of their own.

    \b
    setveil hierarchy build clicks.dat balanced:5 -o clicks.hierarchy.csv
    setveil hierarchy build diagnoses.csv prefix:1,3 -o codes.hierarchy.csv
    setveil hierarchy build vocabularies.csv wordnet -o nouns.hierarchy.csv
    """
    from setveil.hierarchy.files import write_hierarchy
    from setveil.hierarchy.recipes import hierarchy_maker, is_recipe
    from setveil.pipeline import load

    if not is_recipe(recipe):
        raise ParameterError(
            "recipe",
            recipe,
            "it is balanced[:FANOUT[:ORDER]], prefix[:LENGTH,...] or wordnet[+unknown][:FOLDER]",
        )
    tree = hierarchy_maker(recipe)(load(data, reading(options)))
    assert tree is not None
    if output is None or str(output) == "-":
        _to_output(tree)
        return
    write_hierarchy(tree, output, force=force)
    click.echo(
        f"{output}: {plural(tree.leaf_count, 'leaf', 'leaves')}, {plural(len(tree), 'node')}, height {tree.height}"
    )


def _to_output(tree: Hierarchy) -> None:
    """Print a tree in UTF-8, as a file of it would be, whatever the terminal speaks."""
    from setveil.hierarchy.files import write_hierarchy
    from setveil.io.writing import write_to_output

    text = StringIO()
    write_hierarchy(tree, text)
    write_to_output([text.getvalue().removesuffix("\n")])


@command.command("check")
@click.argument("file", metavar="FILE")
@click.option(
    "--data",
    metavar="DATA",
    help="The data that the tree is for: check that each of its items has a leaf.",
)
@layout_option
@reading_options
@json_option
def check(
    file: str, data: str | None, layout: Layout | None, as_json: bool, **options: Any
) -> None:
    """List every fault of a hierarchy file.

    Errors (two roots, a cycle, a node with two parents, an item without a leaf, a label used at two levels) make the tree unusable, and
    the exit code 3. Notes are harmless.

    \b
    setveil hierarchy check products.hierarchy.csv --data baskets.csv
    """
    from setveil.hierarchy.check import find_faults
    from setveil.hierarchy.files import read_outline
    from setveil.pipeline import load
    from setveil.report.trees import report_faults

    vocabulary = load(data, reading(options)).vocabulary if data else None
    faults = find_faults(read_outline(file, layout=layout), vocabulary)
    show(report_faults(file, faults), as_json)
    if any(fault.severity == "error" for fault in faults):
        raise click.exceptions.Exit(3)


@command.command("show")
@click.argument("tree", metavar=TREE)
@click.option("--data", metavar="DATA", help="The data over whose items a tree is built.")
@click.option(
    "--depth",
    type=click.IntRange(min=0),
    default=2,
    show_default=True,
    help="How many levels to show.",
)
@click.option("--node", metavar="LABEL", help="Show the part of the tree under this node.")
@layout_option
@reading_options
@json_option
def show_tree(
    tree: str,
    data: str | None,
    depth: int,
    node: str | None,
    layout: Layout | None,
    as_json: bool,
    **options: Any,
) -> None:
    """Show the size of a tree and its upper levels.

    Each node stands there with the number of leaves under it.

    \b
    setveil hierarchy show products.hierarchy.csv
    setveil hierarchy show balanced:5 --data clicks.dat
    setveil hierarchy show products.hierarchy.csv --node drinks --depth 1
    """
    from setveil.hierarchy.recipes import hierarchy_maker, is_recipe
    from setveil.pipeline import load
    from setveil.report.trees import report_tree

    maker = hierarchy_maker(tree, layout)
    if data is None and is_recipe(tree):
        raise ParameterError(
            "data",
            None,
            f"the tree {tree} is built over the items of a data set: give it with --data",
        )
    made = maker(load(data, reading(options)) if data else load([]))
    assert made is not None
    show(report_tree(made, depth, node), as_json)
