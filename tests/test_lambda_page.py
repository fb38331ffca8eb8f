"""docs/light.md says of the function's proof in an account what its evidence says."""

import json

from conftest import ROOT

PAGE = " ".join((ROOT / "docs" / "light.md").read_text(encoding="utf-8").split())
EVIDENCE = json.loads((ROOT / "docs" / "evidence" / "lambda.json").read_text(encoding="utf-8"))


def test_what_the_page_says_of_the_account_is_its_evidence():
    handler, plain, expired = EVIDENCE["handler"], EVIDENCE["plain"], EVIDENCE["expired"]
    assert (handler["rows_lost"], handler["rows_doubled"]) == (0, 0)
    assert (
        handler["struck"] == handler["struck_expected"]
        and handler["dead_letters"] == handler["dead_letters_expected"]
    )
    assert f"([evidence](evidence/lambda.json), {EVIDENCE['date']}, 2 shared cores)" in PAGE
    assert (
        f"Of {handler['rows_expected']:,} rows none was lost and none doubled, and the {handler['dead_letters']} unreadable "
        f"messages were the dead letters, after {handler['seconds']:,} seconds."
    ) in PAGE
    left = plain["rows_expected"] + plain["rows_doubled"]
    assert f"left {left:,} rows for {plain['rows_expected']:,} of {plain['messages']} such messages" in PAGE
    assert f"{expired['sent_again']} old messages sent again: {expired['refused']} were refused" in PAGE
