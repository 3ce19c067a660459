"""A session of Spark: the one that is active, or a new one that ends with its block."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import warnings
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from setveil.data.tables.frames import needed
from setveil.errors import EngineError, ParameterError
from setveil.words import printable

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

PATIENCE = 60.0
"""Seconds that Java may take to end."""
_QUIET = """rootLogger.level = off
rootLogger.appenderRef.stderr.ref = console
appender.console.type = Console
appender.console.name = console
appender.console.target = SYSTEM_ERR
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %m%n
"""


@contextmanager
def session(master: str | None, work: Path) -> Iterator[SparkSession]:
    """The session that is active, or a new one that is stopped after the block.

    A new one on this machine can be reached from here alone, and keeps its files in `work`."""
    needed("pyarrow", "the engine spark", "spark", "pyspark")
    sql = needed("pyspark.sql", "the engine spark", "spark")
    active = sql.SparkSession.getActiveSession()
    if active is not None:
        if master is not None and active.sparkContext.master != master:
            allowed = f"a session on {active.sparkContext.master} is active; leave it out"
            raise ParameterError("master", master, allowed)
        yield active
        return
    master = master or "local[*]"
    (work / "log4j2.properties").write_text(_QUIET, encoding="ascii")
    builder = sql.SparkSession.builder.master(master).appName("setveil")
    for key, value in _settings(master, work).items():
        builder = builder.config(key, value)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        with _started(builder, master) as spark:
            yield spark


def _settings(master: str, work: Path) -> dict[str, str]:
    quiet = f"-Dlog4j2.configurationFile=file:{work / 'log4j2.properties'}"
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        # A machine that is busy with the work is not a machine that is lost.
        "spark.network.timeout": "600s",
        "spark.worker.timeout": "600",
        "spark.executor.heartbeatInterval": "20s",
        "spark.executorEnv.PYTHONPATH": _path(),
        "spark.driver.extraJavaOptions": quiet,
        "spark.executor.extraJavaOptions": quiet,
    }
    if master.startswith("local"):
        settings |= {
            "spark.driver.host": "127.0.0.1",
            "spark.driver.bindAddress": "127.0.0.1",
            "spark.local.dir": str(work),
            "spark.driver.memory": "2g",  # for all tasks, since there are no other executors
            "spark.sql.shuffle.partitions": "8",
        }
    return settings


def _path() -> str:
    return os.pathsep.join(filter(None, [*sys.path, os.environ.get("PYTHONPATH", "")]))


@contextmanager
def _started(builder: Any, master: str) -> Iterator[SparkSession]:
    """Start Java with this interpreter and these modules; it ends with the block."""
    import pyspark

    wanted = {"PYSPARK_PYTHON": sys.executable, "PYTHONPATH": _path()}
    wanted |= {"PYTHONWARNINGS": "ignore::FutureWarning"}  # of libraries newer than Spark knows
    if master.startswith("local"):
        wanted |= {"SPARK_LOCAL_IP": "127.0.0.1"}
    if master.startswith("local-cluster"):
        wanted |= {"SPARK_HOME": str(Path(pyspark.__file__).parent)}
    before = {name: os.environ.get(name) for name in wanted}
    os.environ.update(wanted)
    spark = None
    try:
        with _undisturbed():
            try:
                spark = builder.getOrCreate()
            except Exception as error:
                raise EngineError(f"Spark did not start: {_reason(error)}", remedy=_JAVA) from None
        yield spark
    finally:
        if spark is not None:
            with suppress(Exception):  # Java may have died, and there is nothing left to stop
                spark.stop()
        _forget_java()
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def _undisturbed() -> Iterator[None]:
    """Put off interruptions until the end of the block: one while Java starts would leave it
    running, and Spark would put in a handler of its own."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    waiting: list[int] = []
    names = [name for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    numbers = [getattr(signal, name) for name in names]
    before = {each: signal.getsignal(each) for each in numbers}
    for each in numbers:
        if before[each] not in (signal.SIG_IGN, None):
            signal.signal(each, lambda number, _: waiting.append(number))
    try:
        yield
    finally:
        for each, handler in before.items():
            if handler is not None:
                signal.signal(each, handler)
    for number in waiting[:1]:
        signal.raise_signal(number)


_JAVA = "it needs Java 17 or newer (java -version), and a master that can be reached"


def _forget_java() -> None:
    """End the Java process, so that the next session starts with its own settings."""
    from pyspark import SparkContext

    gateway = SparkContext._gateway
    if gateway is not None:
        with suppress(Exception):
            gateway.shutdown()
        process = getattr(gateway, "proc", None)
        if process is not None:
            with suppress(Exception):
                process.stdin.close()
            _wait_for(process)
        SparkContext._gateway = SparkContext._jvm = None


def _wait_for(process: Any) -> None:
    """Wait for the end of Java, which removes its files; end it if it takes too long."""
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


@contextmanager
def plain_errors() -> Iterator[None]:
    """Errors of Spark as one line."""
    from py4j.protocol import Py4JError  # type: ignore[import-untyped]
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, Py4JError, ConnectionError, EOFError) as error:
        raise EngineError(f"Spark failed: {_reason(error)}") from None


def _reason(error: BaseException) -> str:
    """The line of a long message that says what happened: that of Python, or the last cause."""
    lines = [line.strip(" :\t") for line in str(error).splitlines() if line.strip()]
    errors = [line for line in lines if ("Error: " in line or "Exception: " in line)]
    chosen = [line for line in errors if not line.startswith(("at ", "org.", "Caused"))] or errors
    text = printable((chosen or lines or [type(error).__name__])[-1 if chosen else 0])
    text = text.removeprefix("Caused by: ").removeprefix("org.apache.spark.SparkException: ")
    return text if len(text) <= 300 else f"{text[:300]} ..."
