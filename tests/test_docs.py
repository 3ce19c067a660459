"""The documentation is tested: every name has a page, every link leads somewhere, every example
runs."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import click
import pytest

from setveil import FORMATS, METHODS, METRICS, PROMISES, WordNet
from setveil.cli import answer
from setveil.cli.root import COMMANDS, root
from setveil.parameters import parameters
from tools.docs_tables import marked_pages, renewed

TOP = Path(__file__).resolve().parents[1]
DOCS = TOP / "docs"
PAGES = sorted([*DOCS.rglob("*.md"), *TOP.glob("*.md")])
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ (.+)$", re.MULTILINE)
EXIT_CODE = re.compile(r"\s+# exit code (\d+)$")
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def named(path: Path) -> str:
    return str(path.relative_to(TOP))


def every_command() -> Iterator[tuple[str, click.Command]]:
    """Each command and each of its subcommands, with the name of the page it belongs to."""
    context = click.Context(root)
    for name in COMMANDS:
        command = root.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            yield from ((name, inner) for inner in command.commands.values())


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        *(("commands", name) for name in COMMANDS),
        *(("methods", name) for name in METHODS),
        *(("promises", name) for name in PROMISES),
        *(("metrics", name) for name in METRICS),
        *(("formats", name) for name in FORMATS),
    ],
)
def test_every_name_of_a_table_has_a_page(folder, name):
    page = DOCS / folder / f"{name}.md"
    assert page.is_file(), f"{named(page)} is missing"
    assert page.read_text(encoding="utf-8").startswith("# "), f"{named(page)} has no title"


@pytest.mark.parametrize(
    ("page", "command"),
    [pytest.param(page, command, id=command.name) for page, command in every_command()],
)
def test_the_page_of_a_command_names_each_of_its_options(page, command):
    text = (DOCS / "commands" / f"{page}.md").read_text(encoding="utf-8")
    assert page == command.name or f"## {command.name}" in text, (
        f"the subcommand {command.name} has no heading"
    )
    for option in (
        parameter
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ):
        assert f"`{option.opts[-1]}" in text, (
            f"{option.opts[-1]} of {command.name} is not on its page"
        )


@pytest.mark.parametrize("page", marked_pages(), ids=named)
def test_the_derived_tables_of_a_page_agree_with_the_code(page):
    assert page.read_text(encoding="utf-8") == renewed(page), "run `make docs-tables`"


@pytest.mark.parametrize(
    "kind", [*METHODS.values(), *PROMISES.values()], ids=lambda kind: kind.__name__
)
def test_every_parameter_says_what_it_means(kind):
    assert [each.name for each in parameters(kind).values() if not each.about.help] == []


@pytest.mark.parametrize("page", PAGES, ids=named)
def test_no_link_is_dead(page):
    text = page.read_text(encoding="utf-8")
    for target in LINK.findall(FENCE.sub("", text)):
        if target.startswith(("http://", "https://")):
            continue
        path, _, anchor = target.partition("#")
        goal = (page.parent / path).resolve() if path else page
        assert goal.exists(), f"{named(page)} links to {target}, which is not there"
        if anchor:
            anchors = {
                _anchor(heading) for heading in HEADING.findall(goal.read_text(encoding="utf-8"))
            }
            assert anchor in anchors, f"{named(page)} links to {target}, which has no such heading"


def _anchor(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def test_every_page_is_reached_from_the_index():
    seen, pending = set(), [DOCS / "index.md"]
    while pending:
        page = pending.pop()
        if page in seen or page.suffix != ".md" or not page.is_file():
            continue
        seen.add(page)
        targets = [
            target.partition("#")[0] for target in LINK.findall(page.read_text(encoding="utf-8"))
        ]
        pending += [
            (page.parent / target).resolve()
            for target in targets
            if target and not target.startswith("http")
        ]
    assert sorted(named(page) for page in DOCS.rglob("*.md") if page not in seen) == []


def test_every_paper_that_is_cited_is_in_the_references():
    known = set(
        re.findall(
            r"^@\w+\{(\w+),", (DOCS / "references.bib").read_text(encoding="utf-8"), re.MULTILINE
        )
    )
    for path in [*PAGES, *(TOP / "src").rglob("*.py")]:
        cited = set(re.findall(r"\[([A-Z][a-z]+\d{4}[a-z]?)\]", path.read_text(encoding="utf-8")))
        assert cited <= known, f"{named(path)} cites {sorted(cited - known)}"


@dataclass(frozen=True)
class Example:
    """A command of a `console` block and what it should print."""

    command: str
    expected: str

    @property
    def exit_code(self) -> int:
        found = EXIT_CODE.search(self.command)
        return int(found[1]) if found else 0

    def run(self, capfd: pytest.CaptureFixture[str]) -> tuple[int, str]:
        words = shlex.split(EXIT_CODE.sub("", self.command))
        if words[0] == "setveil" and not {"|", ">", "<"} & set(words):
            capfd.readouterr()
            code = answer(words[1:])
            out, err = capfd.readouterr()
            return code, out + err
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
        shell = EXIT_CODE.sub("", self.command)
        done = subprocess.run(
            shell,
            shell=True,
            capture_output=True,
            text=True,
            env={**os.environ, "PATH": path},
            check=False,
        )
        return done.returncode, done.stdout + done.stderr


def examples(block: str) -> Iterator[Example]:
    parts = re.split(r"^\$ ", block.replace("\\\n", " "), flags=re.MULTILINE)
    assert not parts[0].strip(), f"a console block starts with a command: {parts[0]!r}"
    for part in parts[1:]:
        command, _, expected = part.partition("\n")
        yield Example(command, expected)


def runnable(page: Path) -> list[tuple[str, str]]:
    """The blocks of a page that are run, in their order."""
    blocks = FENCE.findall(page.read_text(encoding="utf-8"))
    return [(kind, body) for kind, body in blocks if kind == "console" or ">>> " in body]


@pytest.mark.parametrize("page", [page for page in PAGES if runnable(page)], ids=named)
def test_the_examples_of_a_page_run(page, tmp_path, monkeypatch, capfd):
    """All blocks of a page run one after the other in one empty folder; Python blocks share
    their names."""
    if WordNet.find() is None and any("wordnet" in body.lower() for _, body in runnable(page)):
        pytest.skip("WordNet is not on this machine (Debian: wordnet-base)")
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for number, (kind, body) in enumerate(runnable(page)):
        if kind == "console":
            for example in examples(body):
                code, output = example.run(capfd)
                assert code == example.exit_code, f"{example.command}\n{output}"
                matches = doctest.OutputChecker().check_output(example.expected, output, FLAGS)
                assert not example.expected.strip() or matches, (
                    f"{example.command}\nexpected:\n{example.expected}\ngot:\n{output}"
                )
        else:
            test = doctest.DocTestParser().get_doctest(
                body, names, f"{named(page)}, block {number + 1}", str(page), 0
            )
            runner = doctest.DocTestRunner(optionflags=FLAGS)
            complaints: list[str] = []
            runner.run(test, out=complaints.append, clear_globs=False)
            names = test.globs
            assert runner.failures == 0, "".join(complaints)


def test_the_readme_names_every_extra():
    project = tomllib.loads((TOP / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    readme = (TOP / "README.md").read_text(encoding="utf-8")
    extras = set(project["optional-dependencies"]) - {"dev"}
    assert [name for name in sorted(extras) if f".[{name}]" not in readme] == []
