"""Who may use the page: each rule with a request that breaks it."""

from __future__ import annotations

import os
import re
import socket
import stat
import sys
from html import unescape
from http.client import HTTPConnection
from urllib.parse import quote, urlencode

import psutil
import pytest
from starlette.routing import Mount, Route

from setveil.web.security import POLICY, Address
from setveil.web.server import routes
from tests.web.serving import BASKETS, served

FORM = "application/x-www-form-urlencoded"
LIMIT = 1_000_000


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "mine.csv").write_text(BASKETS, encoding="utf-8")
    with served(folder, "--max-upload", "1MB") as page:
        yield page


def addresses(found, before=""):
    """Every address of the application with its methods."""
    for each in found:
        if isinstance(each, Mount) and each.path != "/static":
            yield from addresses(each.routes, before + each.path)
        elif isinstance(each, Route):
            path = (
                (before + each.path)
                .replace("{verb:str}", "attack")
                .replace("{file:str}", "job.toml")
            )
            path = path.replace("{project}", "abc").replace("{job}", "abc")
            yield from ((method, path) for method in each.methods if method != "HEAD")


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:{port}",
        "127.0.0.1",
        "127.0.0.1:1",
        "localhost.evil:{port}",
        "",
    ],
)
def test_a_foreign_host_is_refused(page, host):
    port = page.host.split(":")[1]
    answer = page.get("/", Host=host.format(port=port))
    assert answer.status == 421
    assert "setveil" not in answer.text


def test_the_names_of_this_machine_are_its_hosts(page):
    port = page.host.split(":")[1]
    assert page.get("/", Host=f"localhost:{port}").status == 200
    assert Address("0.0.0.0", 80).is_host("192.168.1.7:80")
    assert not Address("0.0.0.0", 80).is_host("evil.example:80")
    assert Address("::1", 80).is_host("[::1]:80")
    assert Address("::1", 80).url == "http://[::1]:80"


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://127.0.0.1:1", "null", "https://{host}"]
)
@pytest.mark.parametrize("method", ["GET", "POST", "PUT"])
def test_a_foreign_origin_is_refused_even_with_the_cookie(page, origin, method):
    headers = {
        "Cookie": page.signed_in(),
        "Origin": origin.format(host=page.host),
        "X-CSRF-Token": page.csrf(),
    }
    assert page.ask(method, "/", headers=headers).status == 403


def test_a_page_of_another_site_cannot_load_anything(page):
    headers = {
        "Cookie": page.signed_in(),
        "Sec-Fetch-Site": "same-site",
        "Sec-Fetch-Mode": "no-cors",
    }
    assert page.ask("GET", "/static/page.js", headers=headers).status == 403


@pytest.mark.parametrize(("method", "path"), sorted(set(addresses(routes()))))
def test_without_the_token_no_address_answers(page, method, path):
    answer = page.ask(method, path, headers={"Origin": page.url})
    assert answer.status == 403
    assert "not signed in" in answer.text


@pytest.mark.parametrize("token", ["", "wrong", "x" * 43])
def test_a_wrong_token_is_refused(page, token):
    assert page.ask("GET", f"/?token={token}").status == 403
    assert page.ask("GET", "/", headers={"Authorization": f"Bearer {token}"}).status == 403
    name = page.signed_in().split("=")[0]
    assert page.ask("GET", "/", headers={"Cookie": f"{name}={token}"}).status == 403


def test_the_token_becomes_a_cookie_that_scripts_and_other_sites_do_not_get(page):
    answer = page.ask("GET", f"/projects/x/load?a=1&token={page.ticket}")
    assert (answer.status, onward(answer)) == (200, "/projects/x/load?a=1")
    cookie = answer.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=strict" in cookie
    assert page.token not in cookie
    assert page.ask("GET", "/", headers={"Cookie": cookie.split(";")[0]}).status == 200


@pytest.mark.parametrize("path", ["//evil.example", "/\\evil.example"])
def test_the_token_never_leads_to_another_site(page, path):
    answer = page.ask("GET", f"{quote(path, safe='/')}?token={page.ticket}")
    assert onward(answer).replace("\\", "/")[:2] != "//"


def onward(answer):
    """Where the page leads that takes a ticket."""
    (place,) = re.findall(r'http-equiv="refresh" content="0; url=([^"]*)"', answer.text)
    return unescape(place)


def test_a_form_without_the_check_value_is_refused(page):
    headers = {"Cookie": page.signed_in(), "Origin": page.url, "Content-Type": FORM}
    for form in ({}, {"csrf": "wrong"}):
        assert page.ask("POST", "/projects", urlencode(form), headers).status == 403
    assert page.ask("POST", "/wipe", "", {**headers, "X-CSRF-Token": "wrong"}).status == 403
    good = urlencode({"csrf": page.csrf()})
    assert page.ask("POST", "/projects", good, headers).status == 303


def test_a_form_without_an_origin_is_refused(page):
    headers = {"Cookie": page.signed_in(), "Content-Type": FORM, "X-CSRF-Token": page.csrf()}
    assert page.ask("POST", "/projects", "", headers).status == 403


@pytest.mark.parametrize(
    "kind", ["multipart/form-data; boundary=x", "text/plain", "application/json"]
)
def test_other_kinds_of_forms_need_the_check_value_too(page, kind):
    place = page.project()
    headers = {"Cookie": page.signed_in(), "Origin": page.url, "Content-Type": kind}
    body = b'--x\r\nContent-Disposition: form-data; name="f"; filename="a"\r\n\r\nb\r\n--x--\r\n'
    assert page.ask("POST", f"{place}/load/file", body, headers).status == 403
    assert page.ask("PUT", f"{place}/load/file?name=a", body, headers).status == 403


@pytest.mark.parametrize("path", ["/", "/static/style.css", "/nowhere", "/projects/abc/load"])
def test_every_answer_says_what_a_page_may_load(page, path):
    for answer in (page.page(path), page.ask("GET", path)):
        assert answer.headers["content-security-policy"] == POLICY
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["cache-control"] in ("no-store", "no-cache")
    assert "unsafe" not in POLICY
    assert "default-src 'none'" in POLICY


@pytest.fixture(scope="module")
def place(page):
    """A project with data and a release."""
    place = page.loaded()
    page.run(place, k=2, m=2, seed=1)
    return place


def test_no_page_has_a_script_or_a_style_of_its_own(page, place):
    for step in (
        "",
        "load",
        "exposure",
        "goal",
        "hierarchy",
        "run",
        "result",
        "compare",
        "download",
    ):
        text = page.page(f"{place}/{step}" if step else "/").text
        assert "<style" not in text
        assert " style=" not in text
        assert "javascript:" not in text
        assert text.count("<script") == text.count('<script src="/static/')
        assert "http://" not in text.replace("http://www.w3.org", "")
        assert "https://" not in text


def test_the_page_listens_on_this_machine_alone(page):
    assert page.url.startswith("http://127.0.0.1:")
    found = psutil.Process(page.process.pid).net_connections("tcp")
    assert {each.laddr.ip for each in found if each.status == "LISTEN"} == {"127.0.0.1"}


TRAVERSALS = [
    "/static/../security.py", "/static/..%2fsecurity.py", "/static/%2e%2e/security.py",
    "/projects/../page.db", "/projects/..%2f..%2fkey/load", "/static//etc/passwd",
]  # fmt: skip


@pytest.mark.parametrize("path", TRAVERSALS)
def test_no_address_leads_out_of_its_folder(page, path):
    answer = page.get(path)
    assert answer.status == 404
    assert b"def " not in answer.body
    assert b"root:" not in answer.body


@pytest.mark.parametrize(
    "name",
    [
        "../../../escaped",
        "..\\..\\escaped",
        "/etc/escaped",
        ".escaped",
        "a\0escaped",
        "-rf escaped",
        "x" * 300,
    ],
)
def test_the_name_of_an_upload_cannot_leave_its_folder(page, name):
    place = page.project()
    answer = page.put(f"{place}/hierarchy/file?name={quote(name)}", b"a;b;c")
    assert answer.status == 200
    inside = page.folder / "data" / place.removeprefix("/") / "input"
    (file,) = inside.iterdir()
    assert file.parent.resolve() == inside.resolve()
    assert not file.name.startswith((".", "-"))
    outside = [path for path in page.folder.rglob("*escaped*") if inside not in path.parents]
    assert [
        path for path in outside if "jobs" not in path.parts and "input" not in path.parts
    ] == []


def test_only_files_in_the_users_folders_can_be_named(page, tmp_path):
    place = page.project()
    (tmp_path / "secret.csv").write_text(BASKETS, encoding="utf-8")
    link = page.folder / "link.csv"
    link.symlink_to(tmp_path / "secret.csv")
    key = page.folder / "data" / "key"
    for path in ("/etc/passwd", "../secret.csv", str(tmp_path / "secret.csv"), str(link), str(key)):
        answer = page.post(f"{place}/load/path", path=path)
        assert answer.status == 400
        assert "must be in" in answer.json["error"]
    assert page.post(f"{place}/load/path", path="mine.csv").status == 200
    link.unlink()


@pytest.mark.parametrize("announced", [True, False])
def test_an_upload_that_is_too_large_is_refused_and_leaves_nothing(page, announced):
    place = page.project()
    content = b"1,2\n" * (LIMIT // 2)
    body = content if announced else iter([content[:LIMIT], content[LIMIT:]])
    connection = HTTPConnection(page.host)
    headers = {"Authorization": f"Bearer {page.token}", "Accept": "application/json"}
    try:
        connection.request("PUT", f"{place}/load/file?name=a.csv", body, headers)
        answer = connection.getresponse()
        assert answer.status == 413
        assert b"larger than the 1 MB" in answer.read()
    except (BrokenPipeError, ConnectionResetError):
        pass  # the page has hung up before the end, as it may
    connection.close()
    inside = page.folder / "data" / place.removeprefix("/") / "input"
    page.until("/", lambda now: not list(inside.iterdir()))
    assert page.get(f"{place}/load").json["file"] is None


def test_an_upload_that_breaks_off_leaves_nothing(page):
    place = page.project()
    raw = socket.create_connection(page.host.split(":"))
    head = f"PUT {place}/load/file?name=a.csv HTTP/1.1\r\nHost: {page.host}\r\n"
    head += f"Authorization: Bearer {page.token}\r\nContent-Length: 1000\r\n\r\nonly this"
    raw.sendall(head.encode())
    inside = page.folder / "data" / place.removeprefix("/") / "incoming"
    page.until("/", lambda now: list(inside.iterdir()))
    raw.close()
    page.until("/", lambda now: not list(inside.iterdir()))


def test_a_form_that_is_too_large_is_refused(page):
    assert page.post("/projects", name="x" * 2_000_000).status == 413


def test_all_that_is_kept_is_private(page, place):
    if sys.platform == "win32":
        pytest.skip("Windows has no such permissions")
    data = page.folder / "data"
    for path in [data, *data.rglob("*")]:
        if not path.is_symlink():
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode & 0o077 == 0, (path, oct(mode))
    assert stat.S_IMODE(data.stat().st_mode) == 0o700
    assert stat.S_IMODE((data / "page.db").stat().st_mode) == 0o600


def test_a_folder_of_others_is_not_taken(tmp_path):
    import subprocess

    (tmp_path / "letter.txt").write_text("mine", encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "setveil",
        "serve",
        "--no-browser",
        "--data-dir",
        str(tmp_path),
    ]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1
    assert "--data-dir" in done.stderr


def test_two_pages_do_not_share_a_folder(page):
    import subprocess

    command = [sys.executable, "-m", "setveil", "serve", "--no-browser", "--port", "0"]
    command += ["--data-dir", str(page.folder / "data")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2
    assert "another `setveil serve` uses this folder" in done.stderr
    assert done.stderr.count("\n") == 1
