"""What rests on the inside of Numba: cheaper compiling, and a cache that withstands damage."""

from __future__ import annotations

import inspect
import os
import pickle
import sys
from collections.abc import Callable
from contextlib import suppress
from hashlib import sha256
from typing import Any

from numba._dynfunc import make_function
from numba.core.caching import FunctionCache, IndexDataCacheFile, NullCache
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import PassManager, register_pass
from numba.core.typed_passes import NativeLowering

JIT = "setveil.kernels.jit"
_SEAL = sha256().digest_size


def load_arrays() -> None:
    """Import Numba's array functions without scipy's linear algebra: 0.08 instead of 0.28 s.

    Numba asks whether it is there, and asks again before it is used."""
    from numba.np import linalg

    asked = linalg.ensure_blas
    linalg.ensure_blas = lambda: None
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = asked
    vars(arraymath)["ensure_blas"] = asked


def cache_of(function: Callable[..., Any], on_miss: Callable[[], None]) -> Any:
    """The cache of a kernel, which calls `on_miss` before the kernel is compiled."""
    try:
        return _KernelCache(function, on_miss)
    except RuntimeError:  # no folder for the cache can be written
        return _NoCache(on_miss)


def sources(module: str) -> tuple[str, ...]:
    """The text of a kernel file and of all that it imports from, directly or through others."""
    start, pending = f"from {module.partition('.')[0]}.", [module]
    texts: list[str] = []
    for name in pending:
        texts.append(inspect.getsource(sys.modules[name]))
        lines = (line for line in texts[-1].splitlines() if line.startswith(start))
        pending += sorted({line.split()[1] for line in lines} - {*pending, JIT})
    return tuple(texts)


class StepCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, except for what only a function that Python calls needs.

    The kernels of Apriori with their steps take 8.6 s to compile, and 12.4 s without this class."""

    def define_pipelines(self) -> list[PassManager]:
        passes = PassManager("step")
        for each, meaning in DefaultPassBuilder.define_nopython_pipeline(self.state).passes:
            passes.add_pass(_StepLowering if each is NativeLowering else each, meaning)
        passes.finalize()
        return [passes]


@register_pass(mutates_CFG=True, analysis_only=False)
class _StepLowering(NativeLowering):  # type: ignore[misc]
    """Writes the code of a step into a library of its own, without a door for Python."""

    _name = "step_lowering"

    def run_pass(self, state: Any) -> bool:
        state.library = _StepLibrary(state.targetctx.codegen(), state.func_id.func_qualname)
        state.flags.no_compile = state.flags.no_cpython_wrapper = True
        state.flags.no_cfunc_wrapper = True
        super().run_pass(state)
        described, env = state.cr.fndesc, state.cr.env
        place = described.lookup_module(), described.qualname, ""
        name = make_function(*place, 0, env, (state.library,))
        state.targetctx.insert_user_function(name, described, [state.library])
        state["cr"] = state.cr._replace(cfunc=name)
        return True


class _StepLibrary(JITCodeLibrary):  # type: ignore[misc]
    """Code that is linked into kernels: only there it is optimized and becomes machine code.

    Numba would do both for each step, with all the steps that it calls, and do it again for each
    kernel."""

    def _optimize_final_module(self) -> None: ...

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


class _KernelCache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, but a damaged file is as good as none and a full disk is not an error.

    Of several processes that miss a kernel at the same time, one compiles it and the others wait.
    """

    def __init__(self, function: Callable[..., Any], on_miss: Callable[[], None]) -> None:
        super().__init__(function)
        self._on_miss = on_miss
        kept = self._cache_file
        self._cache_file = _SealedFile(
            kept._cache_path, self._impl.filename_base, kept._source_stamp
        )
        # Numba compares only the kernel's own file, but steps of other files change too.
        texts = "".join(sources(function.__module__)).encode()
        self._cache_file.version = sha256(kept._version.encode() + texts).digest()
        self._turn = _Turn(self._cache_file._index_path + ".lock")

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        found = super().load_overload(sig, target_context)
        if found is None:
            self._on_miss()
            if self._turn.take():
                found = super().load_overload(sig, target_context)
        return found

    def save_overload(self, sig: Any, data: Any) -> None:
        with suppress(OSError):
            super().save_overload(sig, data)
        self._turn.end()

    @property
    def is_empty(self) -> bool:
        """Whether no variant of the kernel is stored."""
        return not self._cache_file._load_index()


class _Turn:
    """The turn of one process to compile a kernel, by a lock that ends with the process."""

    def __init__(self, path: str) -> None:
        self._path, self._file = path, -1

    def take(self) -> bool:
        """Wait for the turn; returns whether another process had it first."""
        self.end()
        with suppress(ImportError, OSError):  # without locks, each process compiles for itself
            import fcntl

            self._file = os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600)
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                fcntl.flock(self._file, fcntl.LOCK_EX)
                self.end()
                return True
        return False

    def end(self) -> None:
        """Let the next process have its turn."""
        if self._file >= 0:
            os.close(self._file)
            self._file = -1


class _SealedFile(IndexDataCacheFile):  # type: ignore[misc]
    """Files that start with a checksum of what follows and of all sources, checked before use.

    Numba would run damaged machine code, and fail on a damaged index in every run.
    """

    version = b""

    def _load_index(self) -> dict[Any, str]:
        try:
            stamp, overloads = pickle.loads(self._unsealed(self._index_path))
        except OSError:
            return {}
        return dict(overloads) if stamp == self._source_stamp else {}

    def _save_index(self, overloads: dict[Any, str]) -> None:
        self._seal(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return pickle.loads(self._unsealed(self._data_path(name)))

    def _save_data(self, name: str, data: Any) -> None:
        self._seal(self._data_path(name), data)

    def _seal(self, path: str, content: Any) -> None:
        body = self._dump(content)
        with self._open_for_write(path) as file:
            file.write(sha256(self.version + body).digest() + body)

    def _unsealed(self, path: str) -> bytes:
        with open(path, "rb") as file:
            seal, body = file.read(_SEAL), file.read()
        if sha256(self.version + body).digest() != seal:
            raise OSError(f"{path} is damaged or of another version")
        return body


class _NoCache(NullCache):  # type: ignore[misc]
    """Keeps nothing."""

    def __init__(self, on_miss: Callable[[], None]) -> None:
        self._on_miss = on_miss

    def load_overload(self, sig: Any, target_context: Any) -> None:
        self._on_miss()
