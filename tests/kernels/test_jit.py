"""How kernels are compiled: the cache must never answer with what a step was before it changed."""

from __future__ import annotations

import os
import subprocess
import sys

from setveil.kernels.jit import sources

STEPS = "from setveil.kernels.jit import step\n\n@step\ndef number():\n    return {}\n"
MIDDLE = "from {0}.steps import number\nfrom setveil.kernels.jit import step\n\n@step\ndef twice():\n    return 2 * number()\n"
KERNEL = "from {0}.middle import twice\nfrom setveil.kernels.jit import kernel\n\n@kernel\ndef answer():\n    return twice()\n"


def answer_of(folder, name):
    """What the kernel says in a new process, with the cache of the processes before."""
    run = [sys.executable, "-c", f"from {name}.kernels import answer; print(answer(), len(answer.stats.cache_hits))"]
    found = subprocess.run(run, env=os.environ | {"PYTHONPATH": str(folder)}, capture_output=True, text=True, check=True)
    return [int(number) for number in found.stdout.split()]


def test_a_step_of_another_file_that_changes_is_compiled_anew(tmp_path):
    folder = tmp_path / "changing"
    folder.mkdir()
    for name, text in {"__init__": "", "steps": STEPS.format(1), "middle": MIDDLE, "kernels": KERNEL}.items():
        (folder / f"{name}.py").write_text(text.format("changing"))
    assert answer_of(tmp_path, "changing") == [2, 0]
    assert answer_of(tmp_path, "changing") == [2, 1]
    (folder / "steps.py").write_text(STEPS.format(30))
    assert answer_of(tmp_path, "changing") == [60, 0]


def test_kernels_run_as_plain_functions_where_compiling_is_turned_off():
    run = (
        "from numpy import array; from setveil.kernels.assignment import match_table; print(match_table(*map(array, ([[7]], [2], [3])))[1])"
    )
    plain = os.environ | {"NUMBA_DISABLE_JIT": "1"}
    assert subprocess.run([sys.executable, "-c", run], env=plain, capture_output=True, text=True, check=True).stdout == "14\n"


def test_the_kernels_of_ssc_rest_on_those_of_centres_and_of_matching():
    from setveil.kernels import assignment, centre, ssc

    assert [text.split("\n")[0] for text in sources(ssc.__name__)] == [f'"""{m.__doc__.splitlines()[0]}' for m in (centre, assignment)]
    assert sources(assignment.__name__) == ()
