"""Lines of code are counted by `tools/lines.py`."""

from __future__ import annotations

from tools.lines import TOP, Count, code_lines, counts, earlier, here

TEXT = '''"""Says
what."""

# why
X = (
    1,  # one

    2,
)
"""About X."""


def f():
    """Says."""
    return """a

    b"""
'''


def test_blank_lines_comments_and_docstrings_are_no_code():
    assert code_lines(TEXT) == {5, 6, 8, 9, 13, 15, 16, 17}


def test_every_file_counts_in_its_package_and_once():
    assert len({path for path, _ in here()}) == len([*(TOP / "src").rglob("*.py")])
    files = {"a/b/c.py": TEXT, "a/d.py": "x = 1\n", "e.py": ""}
    texts = ((f"src/setveil/{path}", text) for path, text in files.items())
    assert counts(texts) == {"a": Count(2, 18, 9), ".": Count(1, 0, 0)}


def test_new_files_with_a_word_in_their_path_can_be_left_out():
    found = {path for path, _ in here()}
    one, other, *_ = sorted(path for path in found if "/columns" in path)
    assert found - {path for path, _ in earlier({one}, ["/columns"])} >= {other}
    assert {path for path, _ in earlier([], [])} == found
    assert one in {path for path, _ in earlier({one}, ["/columns"])}
