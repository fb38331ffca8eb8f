"""The page as a person sees it, in a headless Chromium: log in, hidden cells, the reason, pages, log out."""

import browser
import pytest
from access_pages import PASSWORDS, access_cases

pytestmark = pytest.mark.skipif(browser.PROGRAM is None, reason="no Chromium here: apt-get install chromium")
pytest_plugins = ["access_pages"]
HIDDEN = (  # long enough to be no part of a random token by chance
    "Bodhild", "Carrington", "Cyprian", "Dunnigan", "Dionysia",
    "1 Mill Lane", "2 Rue Haute", "3 Havnegata", "4 High Street",
)  # fmt: skip


@pytest.fixture
def page():
    with browser.opened(1200, 700) as page:
        yield page


def test_a_person_logs_in_reads_and_logs_out(page, address, tmp_path):
    page.go(address)
    page.until('document.querySelector("[name=password]")')
    page.picture(tmp_path / "1-log-in.png")
    page.run('document.querySelector("[name=name]").value = "ann"')
    page.run(f'document.querySelector("[name=password]").value = "{PASSWORDS["ann"]}"')
    page.run('document.querySelector("button").click()')
    page.until('document.querySelector(".tables a")')
    page.picture(tmp_path / "2-tables.png")
    page.run('document.querySelector(".tables a").click()')
    page.until('document.querySelectorAll("td.hidden").length == 6')
    page.run('document.querySelector("td.hidden summary").click()')
    assert "name is shown to you where \"state\" = 'united kingdom'" in page.text()
    page.picture(tmp_path / "3-table.png")
    document = page.run("document.documentElement.outerHTML")
    assert not [value for value in HIDDEN if value in document]
    assert page.run("document.scripts.length") == 0
    page.size(420, 800)
    page.picture(tmp_path / "4-narrow.png")
    assert page.run("document.documentElement.scrollWidth <= 420")
    page.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark"}])
    page.picture(tmp_path / "5-dark.png")
    page.run('document.querySelector(".who button").click()')
    page.until('document.querySelector("[name=password]")')
    page.go(f"{address}/table?name=people.users")
    page.until('document.body && document.body.innerText.includes("log in first")')
    assert not [url for url in page.requested() if not url.startswith((address, "about:", "data:"))]


def test_a_script_in_a_value_or_a_name_never_runs(page, shared, address):
    import pyarrow as pa

    row = {"uid": 9, "name": "<img src=x onerror='document.title=1'>", "city": "<script>document.title=1</script>"}
    shared.catalog().load_table("people.users").append(pa.Table.from_pylist([row], access_cases.USER_TYPES))
    page.go(address)
    page.until('document.querySelector("[name=password]")')
    page.run('document.querySelector("[name=name]").value = "bob"')
    page.run(f'document.querySelector("[name=password]").value = "{PASSWORDS["bob"]}"')
    page.run('document.querySelector("button").click()')
    page.until('document.querySelector(".tables a")')
    page.run('document.querySelector(".tables a").click()')
    page.until('document.querySelectorAll("tbody tr").length == 5')
    assert page.run("document.title") == "people.users"
    planted = (
        "(() => { const s = document.createElement('script'); s.textContent = 'document.title = 1'; "
        "document.body.append(s); return document.title })()"
    )
    assert page.run(planted) == "people.users"  # what the policy of the page refuses, whoever puts it there
