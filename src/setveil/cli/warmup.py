"""`setveil warmup`: compile the kernels once."""

from __future__ import annotations

import time

import click


@click.command("warmup")
def command() -> None:
    """Compile the kernels once, so that the first real run is quick.

    The machine code is kept beside the package, or in the user's cache folder.
    """
    import setveil
    from setveil.methods import warmup

    start = time.perf_counter()
    warmup()
    setveil.top_itemsets(setveil.Transactions.of([["a", "b", "c"]] * 3), 4)
    click.echo(f"kernels are ready, after {time.perf_counter() - start:.1f} s")
