"""Uploads: what arrives in pieces is put together, and nothing else."""

from __future__ import annotations

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request

from setveil.errors import DataError
from setveil.web.incoming import TooLargeError, receive_bare, receive_form, safe_name

BOUNDARY = "----x"


def request_of(body: bytes, cuts: list[int], kind: str, query: bytes = b"") -> Request:
    """A request whose body comes in pieces."""
    places = [0, *sorted(cut % (len(body) + 1) for cut in cuts), len(body)]
    pieces = [body[a:b] for a, b in zip(places, places[1:], strict=False)]
    messages = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    messages.append({"type": "http.request", "body": b"", "more_body": False})

    async def receive():
        return messages.pop(0)

    headers = [(b"content-type", kind.encode())]
    scope = {
        "type": "http",
        "method": "POST",
        "headers": headers,
        "query_string": query,
        "path": "/",
    }
    return Request(scope, receive)


def form(content: bytes, name: str = "a.csv") -> bytes:
    head = f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="other"\r\n\r\nvalue\r\n'
    head += f'--{BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="{name}"\r\n'
    head += "Content-Type: text/csv\r\n\r\n"
    return head.encode() + content + f"\r\n--{BOUNDARY}--\r\n".encode()


KIND = f"multipart/form-data; boundary={BOUNDARY}"


@given(
    content=st.binary(max_size=300)
    | st.lists(st.sampled_from([b"\r\n", b"--", b"----x", b"a"])).map(b"".join),
    cuts=st.lists(st.integers(0, 2_000), max_size=12),
)
def test_a_form_in_any_pieces_gives_the_file(content, cuts, tmp_path_factory):
    if f"\r\n--{BOUNDARY}".encode() in b"\r\n" + content + b"\r\n":
        return
    folder = tmp_path_factory.mktemp("upload")
    found = asyncio.run(receive_form(request_of(form(content), cuts, KIND), folder, 10_000))
    assert found[0] == "a.csv"
    assert found[1].read_bytes() == content


@pytest.mark.parametrize("body", [b"", b"nonsense", form(b"x")[:-30], form(b"x", "")])
def test_a_broken_form_is_refused_and_leaves_nothing(body, tmp_path):
    with pytest.raises(DataError):
        asyncio.run(receive_form(request_of(body, [], KIND), tmp_path, 1_000))
    assert list(tmp_path.iterdir()) == []


def test_a_form_of_another_kind_is_refused(tmp_path):
    with pytest.raises(DataError, match="no file"):
        asyncio.run(receive_form(request_of(b"a=b", [], "text/plain"), tmp_path, 1_000))


@pytest.mark.parametrize("receive", [receive_bare, receive_form])
def test_more_than_is_allowed_is_refused_and_leaves_nothing(receive, tmp_path):
    body = form(b"x" * 2_000) if receive is receive_form else b"x" * 2_000
    with pytest.raises(TooLargeError):
        asyncio.run(receive(request_of(body, [100, 900], KIND), tmp_path, 1_000))
    assert list(tmp_path.iterdir()) == []


@given(st.text(max_size=400))
def test_a_name_is_always_plain(given):
    name = safe_name(given)
    assert name
    assert len(name) <= 160
    assert not set(name) & set('/\\\0\n:*?"<>|')
    assert not name.startswith((".", "-", "~"))
    assert safe_name(name) == name


@pytest.mark.parametrize("name", ["my baskets.csv", "Größe_1.tsv.gz", "data.parquet"])
def test_a_plain_name_stays(name):
    assert safe_name(name) == name
