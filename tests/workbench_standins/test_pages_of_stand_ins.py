"""Every stand-in that opens a port says on its page whether another user of the machine may reach it."""

import pytest
from conftest import ROOT

STAND_INS = ROOT / "lib" / "workbench_standins"
PAGES = {
    "account": "policies", "archive": "archive", "cluster": "cluster", "google": "pulls", "hbase": "collectors",
    "kafka": "kafka", "kinesis": "kinesis", "proxy": "proxy", "s3": "s3", "spark_connect": "access", "trino": "access",
}  # fmt: skip
SAID = ("another user of the machine can", "another user of the machine\ncan", "for other users of this machine")


def says_it(page):
    return any(words in page.lower() for words in SAID)


def test_each_has_a_page():
    assert sorted(folder.name for folder in STAND_INS.iterdir() if (folder / "__init__.py").is_file()) == sorted(
        PAGES
    )


@pytest.mark.parametrize("name", PAGES)
def test_each_page_says_who_may_reach_it(name):
    assert says_it((ROOT / "docs" / f"{PAGES[name]}.md").read_text(encoding="utf-8"))


def test_a_page_that_does_not_is_seen():
    assert not says_it("It listens on 127.0.0.1 only.")
