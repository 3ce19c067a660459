"""axe-core finds no fault on any screen: light and dark, on a desk and on a phone."""

from __future__ import annotations

import pytest

from setveil.web.screens import STEPS
from tests.web.axe import axe_faults, axe_script
from tests.web.serving import BASKETS, TREE, ended, served
from tests.web.visiting import Tab

OPEN = "() => document.querySelectorAll('main details').forEach((each) => { each.open = true; })"
SIZES = {"desk": {"width": 1040, "height": 900}, "phone": {"width": 390, "height": 844}}


@pytest.fixture(scope="module")
def script():
    return axe_script()


@pytest.fixture(scope="module")
def page(tmp_path_factory, script):
    folder = tmp_path_factory.mktemp("axe")
    (folder / "baskets.csv").write_text(BASKETS, encoding="utf-8")
    with served(folder) as page:
        yield page


@pytest.fixture(scope="module")
def addresses(page):
    """Every screen: empty, with data, with a tree to edit, with releases of three forms."""
    bad = page.project("bad")
    page.put(f"{bad}/load/file?name=bad.csv", b"record,item\n1,beer\n,wine\n")
    page.until(f"{bad}/load", lambda now: now["jobs"].get("inspect", {}).get("error"))
    empty, place = page.project("empty"), page.loaded()
    page.put(f"{place}/hierarchy/file?name=tree.csv", TREE.encode())
    page.until(f"{place}/hierarchy", lambda now: ended(now["job"]["status"]))
    runs = []
    for model, method, numbers in (
        ("k-anonymity", "partition", {"k": 3}),
        ("km-anonymity", "suppression", {"k": 3, "m": 2}),
        ("km-anonymity", "disassociation", {"k": 3, "m": 2}),
    ):
        page.post(f"{place}/goal/choose", promise=model)
        runs.append(page.run(place, method=method, seed=1, **numbers)["place"])
    asked(page, runs[-1])
    page.post(f"{place}/compare", **{"method.disassociation": "yes", "k": "2,4", "m": "2"})
    page.until(f"{place}/compare", lambda now: ended(now["job"]["status"]))
    steps = [f"{each}/{step}" for each in (empty, place) for step in STEPS]
    files = [f"{place}/files", f"{place}/files?for=tree&folder=/etc", f"{place}/nowhere"]
    return ["/", f"{bad}/load", *steps, *files, *runs]


def asked(page, run):
    forms = {"attack": {"knows": "1,2", "trials": 200}, "support": {"items": ""}}
    forms["reconstruct"] = {"n": 1, "seed": 1}
    forms["approval"] = {"purpose": "Teaching"}
    for verb, form in forms.items():
        assert page.post(f"{run}/{verb}", **form).status == 200
    page.until(run, lambda now: all(ended(now[verb]["status"]) for verb in forms))


@pytest.mark.long
@pytest.mark.parametrize("colours", ["light", "dark"])
@pytest.mark.parametrize("size", SIZES)
def test_axe_finds_no_fault(browser, page, addresses, script, colours, size):
    tab = Tab(browser, page, color_scheme=colours, viewport=SIZES[size])
    found = {}
    for address in addresses:
        tab.go(address)
        if tab.page.locator(".tree-panel").count():
            tab.tree_is_ready()
        for opened in (False, True):
            if opened:
                tab.page.evaluate(OPEN)
            faults = axe_faults(tab.page, script)
            if faults:
                found[address, opened] = faults
    assert found == {}
    tab.close()
