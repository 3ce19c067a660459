"""Errors, interruptions and pipes: one clear line, the right exit code, nothing half-done."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import pytest

from setveil import cli
from setveil.cli.root import COMMANDS

SETVEIL = [sys.executable, "-m", "setveil"]
PATIENCE = 300
"""Seconds until a process counts as stuck; long, because other work may slow it down."""


def test_without_a_command_the_help_is_shown(call):
    result = call()
    assert result.code == 2
    assert all(name in result.err for name in COMMANDS)


@pytest.mark.parametrize(
    "command",
    [
        *COMMANDS,
        "hierarchy build",
        "hierarchy check",
        "hierarchy show",
        "generate quest",
        "generate shop",
        "generate patients",
        "generate querylog",
    ],
)
def test_every_command_has_help(call, command):
    result = call(*command.split(), "--help")
    assert (result.code, result.err) == (0, "")
    assert result.out.startswith(f"Usage: setveil {command}")
    examples = [line for line in result.out.splitlines() if line.startswith("  setveil ")]
    assert all(line.count("setveil ") == 1 for line in examples), "one example per line"
    assert "\n   setveil" not in result.out


def test_the_help_shows_what_everybody_needs_first_and_one_group_per_method(call):
    text = call("anonymize", "--help").out
    titles = [line for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert titles[0] == "What everybody needs:"
    assert {"Only with --method disassociation:", "Only with --method ssc:"} <= set(titles)
    first = text[text.index(titles[0]) : text.index(titles[1])]
    assert [name in first for name in ("--output", "-k", "-m", "--hierarchy", "--method")] == [
        True
    ] * 5
    ssc = " ".join(text[text.index("Only with --method ssc:") :].split())
    for shown in ("4 if not given.", "[default: majority]", "[default: off]"):
        assert shown in ssc


def test_every_option_is_in_the_help_once(call):
    text = call("anonymize", "--help").out.split("What everybody needs:")[1]
    names = [word.rstrip(",") for word in text.split() if word.startswith("--")]
    for name in (
        "--term-epsilon",
        "--alignment",
        "--threads",
        "--min-people",
        "--json",
        "--record",
    ):
        assert names.count(name) == 1


def test_methods_are_listed_with_what_they_promise_and_need(call):
    listed = json.loads(call("methods", "--json").out)["methods"]
    assert [row["name"] for row in listed][:2] == ["partition", "disassociation"]
    assert listed[1]["promises"] == ["km-anonymity", "l-diversity"]
    assert "chosen     for km-anonymity: it needs no hierarchy" in call("methods").out


@pytest.mark.parametrize("command", [[], ["generate"], ["hierarchy"]])
def test_no_command_is_described_in_half_a_sentence(call, command):
    assert "..." not in call(*command, "--help").out.split("Commands:")[1]


def test_an_unknown_command_is_a_usage_error(call):
    result = call("anonymise")
    assert (result.code, result.out) == (2, "")
    assert (
        result.err
        == "setveil: No such command 'anonymise'; did you mean 'anonymize'? (`setveil --help` shows what is allowed)\n"
    )
    assert (
        call("zebra").err
        == "setveil: No such command 'zebra' (`setveil --help` shows what is allowed)\n"
    )


def test_an_unknown_option_is_a_usage_error(call, folder):
    result = call("inspect", "baskets.csv", "--colour")
    assert result.code == 2
    assert "No such option" in result.err
    assert "`setveil inspect --help` shows what is allowed" in result.err
    assert result.err.count("\n") == 1


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError(28, "No space left on device"), 3, "setveil: No space left on device\n"),
        (
            PermissionError(13, "Permission denied", "secret.csv"),
            3,
            "setveil: secret.csv: Permission denied\n",
        ),
        (MemoryError(), 3, "setveil: there is not enough memory for this data\n"),
        (KeyboardInterrupt(), 130, "setveil: interrupted, nothing half-written is left\n"),
        (
            ZeroDivisionError("odd"),
            70,
            "setveil: this is a bug in setveil, ZeroDivisionError: odd (--debug shows where)\n",
        ),
    ],
)
def test_what_nobody_expected_is_one_line_too(call, monkeypatch, folder, error, code, message):
    def fail(*arguments, **options):
        raise error

    monkeypatch.delenv("SETVEIL_DEBUG", raising=False)
    monkeypatch.setattr("setveil.pipeline.inputs.read_with_account", fail)
    result = call("inspect", "baskets.csv")
    assert (result.code, result.out, result.err) == (code, "", message)


def test_a_name_cannot_steer_the_terminal(call, folder):
    result = call("inspect", "\x1b[31mred.csv")
    assert result.code == 3
    assert "\x1b" not in result.err
    assert "\\x1b[31mred.csv" in result.err


@pytest.mark.parametrize(
    "arguments",
    [
        ["--debug", "inspect", "none.csv"],
        ["inspect", "none.csv", "--debug"],
        ["inspect", "none.csv"],
    ],
)
def test_debug_shows_the_traceback_and_keeps_the_exit_code(call, folder, monkeypatch, arguments):
    monkeypatch.setenv("SETVEIL_DEBUG", "" if "--debug" in arguments else "1")
    result = call(*arguments)
    assert (result.code, result.out) == (3, "")
    assert result.err.startswith("Traceback")
    assert result.err.endswith("setveil: none.csv: there is no such file\n")


def test_a_parameter_is_named_by_its_option(call, folder):
    assert (
        call("inspect", "baskets.csv", "-k", 1).err
        == "setveil: -k 1 is not allowed: it must be a whole number of 2 or more\n"
    )
    assert call("inspect", "baskets.csv", "--memory-limit", "lots").err.startswith(
        "setveil: --memory lots is not allowed: "
    )
    assert call("anonymize", "baskets.csv", "-o", "release").err.startswith(
        "setveil: -k is missing: say how many records each person is hidden among"
    )
    (folder / "odd.csv").write_text("a,b\nc,d\n", encoding="utf-8")
    assert "--input-format baskets" in call("inspect", "odd.csv").err
    assert "allow overwriting with --force" in call("generate", "quest", "-o", "odd.csv").err


INTERRUPTED_IMPORT = """
import sys
class Interrupt:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            raise KeyboardInterrupt
sys.meta_path.insert(0, Interrupt())
from setveil.cli import main
main(["--version"])
"""


def test_an_interruption_while_modules_are_loaded_is_one_line_too():
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED_IMPORT], capture_output=True, text=True
    )
    assert (done.returncode, done.stdout, done.stderr) == (
        130,
        "",
        "setveil: interrupted, nothing half-written is left\n",
    )


ENDED = """
import sys
from setveil.cli import main
class Loud:
    def find_spec(self, name, path=None, target=None):
        if name == "click":
            import atexit
            atexit.register(print, "cleaned up")
sys.meta_path.insert(0, Loud())
sys.argv = ["setveil", *sys.argv[1:]]
main()
"""


@pytest.mark.parametrize(
    ("arguments", "code"), [(["--version"], 0), (["inspect", "missing.csv"], 3), (["no"], 2)]
)
def test_a_command_that_has_ended_cleans_up_and_keeps_its_exit_code(arguments, code):
    done = subprocess.run([sys.executable, "-c", ENDED, *arguments], capture_output=True, text=True)
    assert done.returncode == code
    assert done.stdout.endswith("cleaned up\n")


@pytest.fixture
def letters(folder):
    """Data in letters that few encodings have, and the report of it in JSON."""
    (folder / "letters.csv").write_text(
        "record,item\n1,caf\u00e9\n1,\u65e5\u672c\n2,\U0001f600\n", encoding="utf-8"
    )
    return "letters.csv"


def run_in(encoding, *arguments):
    return subprocess.run(
        [*SETVEIL, *arguments],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": encoding},
    )


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_a_terminal_without_the_letters_of_the_data_is_no_defect(letters, encoding):
    text, as_json = (
        run_in(encoding, "inspect", letters),
        run_in(encoding, "inspect", letters, "--json"),
    )
    assert (text.returncode, text.stderr, as_json.returncode, as_json.stderr) == (0, b"", 0, b"")
    names = {entry["item"] for entry in json.loads(as_json.stdout)["summary"]["most_frequent"]}
    assert names == {"caf\u00e9", "\u65e5\u672c", "\U0001f600"}


def test_a_tree_is_printed_as_utf_8_whatever_the_terminal_speaks(letters):
    done = run_in("latin-1", "hierarchy", "build", letters, "balanced:2")
    assert (done.returncode, done.stderr.count(b"\n")) == (0, 1)
    assert done.stderr.startswith(b"setveil: The groups of this tree mean little")
    assert done.stdout.decode("utf-8").startswith("caf\u00e9;")


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no device that is always full"
)
def test_a_report_that_finds_no_room_says_so(folder):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*SETVEIL, "inspect", "baskets.csv"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (
        2,
        "setveil: cannot write the report: No space left on device\n",
    )


@pytest.mark.skipif(os.name == "nt", reason="closes streams in the manner of POSIX")
@pytest.mark.parametrize(("closed", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0)])
def test_a_closed_stream_is_no_defect(folder, closed, code):
    done = subprocess.run(
        f'"{sys.executable}" -m setveil inspect baskets.csv {closed}',
        shell=True,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr) == (code, "")


@pytest.mark.skipif(
    not os.path.exists("/dev/full"), reason="there is no device that is always full"
)
@pytest.mark.parametrize(
    ("arguments", "code"), [(["inspect", "none.csv"], 3), (["inspect", "--colour"], 2), ([], 2)]
)
@pytest.mark.parametrize("debug", ["", "1"])
def test_a_message_that_nobody_can_read_does_not_change_the_exit_code(
    folder, arguments, code, debug
):
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            [*SETVEIL, *arguments],
            stdout=subprocess.PIPE,
            stderr=full,
            env={**os.environ, "SETVEIL_DEBUG": debug},
        )
    assert (done.returncode, done.stdout) == (code, b"")
    reader, writer = os.pipe()
    os.close(reader)
    assert (
        subprocess.run(
            [*SETVEIL, *arguments], stderr=writer, env={**os.environ, "SETVEIL_DEBUG": debug}
        ).returncode
        == code
    )
    os.close(writer)


def test_an_argument_is_named_by_what_was_given(call, folder):
    assert call("hierarchy", "build", "baskets.csv", "odd").err.startswith(
        "setveil: odd is not allowed: it is balanced[:FANOUT"
    )


def test_main_may_be_called_by_other_code(folder):
    program = """
import io, sys, threading
from setveil.cli import main
def run():
    try:
        main(["--version"])
    except SystemExit as left:
        print(left.code, file=sys.__stdout__)
sys.stdout = io.StringIO()
run()
thread = threading.Thread(target=run)
thread.start()
thread.join()
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0\n0\n", "")


def start_and_wait(folder):
    """A command that waits for standard input, after it has made its temporary folder."""
    command = [
        *SETVEIL,
        "anonymize",
        "-",
        "-o",
        "release",
        "-k",
        "2",
        "--hierarchy",
        "balanced:2",
        "--alignment",
        "private.csv",
    ]
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    deadline = time.monotonic() + PATIENCE
    while not list(folder.glob(".setveil-*/new")):
        assert process.poll() is None, process.communicate()[1]
        assert time.monotonic() < deadline
        time.sleep(0.02)
    return process


@pytest.mark.skipif(os.name == "nt", reason="signals are sent in the manner of POSIX")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interruption_leaves_nothing(folder, nothing_new, number):
    if signal.getsignal(number) is signal.SIG_IGN:
        pytest.skip("the tests run in a process that ignores this signal, and so do its children")
    process = start_and_wait(folder)
    for _ in range(3):
        process.send_signal(number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (
        130,
        "",
        "setveil: interrupted, nothing half-written is left\n",
    )
    nothing_new()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_reader_that_goes_away_is_no_traceback(folder, monkeypatch, unbuffered):
    monkeypatch.setenv("PYTHONUNBUFFERED", unbuffered)
    (folder / "many.dat").write_text(
        " ".join(str(number) for number in range(50_000)) + "\n", encoding="utf-8"
    )
    process = subprocess.Popen(
        [*SETVEIL, "hierarchy", "build", "many.dat", "balanced:5"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stdout is not None
    process.stdout.read(10)
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    assert process.wait(timeout=PATIENCE) == cli.PIPE_CLOSED


def test_progress_is_silent_where_nobody_watches(call, folder):
    options = ("-o", "release", "-k", 2, "--hierarchy", "tree.csv", "--json")
    result = call("anonymize", "baskets.csv", *options)
    assert result.err == ""


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal in the manner of POSIX")
def test_progress_is_shown_on_a_terminal(folder):
    import pty

    leader, follower = pty.openpty()
    command = [
        *SETVEIL,
        "anonymize",
        "baskets.csv",
        "-o",
        "release",
        "-k",
        "2",
        "--hierarchy",
        "tree.csv",
        "--json",
    ]
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=follower, env={**os.environ, "TERM": "xterm"}
    )
    os.close(follower)
    shown = b""
    try:
        while chunk := os.read(leader, 4096):
            shown += chunk
    except OSError:
        pass
    out, _ = process.communicate(timeout=PATIENCE)
    os.close(leader)
    assert process.returncode == 0
    assert b"anonymizing" in shown or b"reading" in shown or b"measuring" in shown
    assert out.count(b"\n") == 1


@pytest.mark.skipif(os.name == "nt", reason="needs a terminal in the manner of POSIX")
@pytest.mark.parametrize(("ignored", "code"), [(signal.SIGUSR1, 130), (signal.SIGHUP, 0)])
def test_a_closed_terminal_is_not_an_error_of_the_data(folder, ignored, code):
    import fcntl
    import pty
    import termios

    leader, follower = pty.openpty()
    command = [*SETVEIL, "anonymize", "-", "-o", "release", "-k", "2", "--hierarchy", "tree.csv"]

    def take_the_terminal():
        signal.signal(signal.SIGHUP, signal.SIG_DFL)
        signal.signal(ignored, signal.SIG_IGN)
        fcntl.ioctl(follower, termios.TIOCSCTTY, 0)

    with open("report.txt", "wb") as report:
        how = {
            "stdin": subprocess.PIPE,
            "stdout": report,
            "stderr": follower,
            "env": {**os.environ, "TERM": "xterm"},
        }
        process = subprocess.Popen(
            command, **how, preexec_fn=take_the_terminal, start_new_session=True
        )
    os.close(follower)
    assert os.read(leader, 1)
    os.close(leader)
    if code == 0:
        process.communicate((folder / "baskets.csv").read_bytes(), timeout=PATIENCE)
    assert process.wait(timeout=PATIENCE) == code
    assert (folder / "release").exists() == (code == 0)


def test_the_old_name_of_a_method_is_understood_and_noted(call, folder):
    options = ("-k", 2, "-p", 1, "--h", 0.9, "--private", "wine")
    result = call("anonymize", "baskets.csv", "-o", "release", "--method", "coherence", *options)
    assert result.code == 0
    assert result.err.startswith("setveil: --method coherence is now called suppression\n")


def test_an_option_means_one_thing_in_each_command():
    from setveil.cli.anonymize import command

    names = [parameter.name for parameter in command.params]
    assert len(names) == len(set(names))


@pytest.mark.skipif(os.name == "nt", reason="limits in the manner of POSIX")
def test_too_little_address_space_is_refused_before_anything_is_loaded():
    import resource

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    done = subprocess.run(
        [*SETVEIL, "--help"], preexec_fn=limit, capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == (
        "setveil: the address space is limited to 1,024 MB (ulimit -v), and at least 1,536 MB are "
        "needed\n"
    )
