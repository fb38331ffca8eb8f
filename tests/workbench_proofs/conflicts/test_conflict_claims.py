"""What is said elsewhere, held against results."""

from dataclasses import replace

from workbench_proofs.conflicts import Result, claims

RED = Result("merge_insert_only", "merge_insert_only", "serializable", "same", "v3", "silent_anomaly", None, None, 10,
             "neither", "differ", "4.1.4", "1.11.0")  # fmt: skip
TWICE = next(one for one in claims.CLAIMS if one.source == "apache/iceberg#12653")
SEEN = next(one for one in claims.CLAIMS if one.equal_to == "second_first")
LOOSE = replace(
    RED,
    first="append",
    second="merge",
    isolation="snapshot",
    outcome="retried_and_committed",
    equal_to="second_first",
)


def verdicts(claim, *results):
    (found,) = claims.held(results, [claim])
    return found.verdict, found.cells, found.against


def test_a_claim_agrees_when_all_of_its_cells_do():
    assert verdicts(TWICE, RED, replace(RED, mode="copy-on-write"), LOOSE) == ("agrees", 2, ())
    green = replace(RED, mode="copy-on-write", outcome="retried_and_committed", equal_to="both")
    assert verdicts(TWICE, RED, green) == ("differs", 2, (green,))


def test_a_claim_about_rows_is_held_against_the_order():
    assert verdicts(SEEN, LOOSE) == ("agrees", 1, ())
    other = replace(LOOSE, equal_to="first_second")
    assert verdicts(SEEN, other) == ("differs", 1, (other,))


def test_what_was_not_measured_is_said():
    assert verdicts(TWICE, LOOSE, replace(RED, partition="other")) == ("not measured", 0, ())


def test_every_claim_is_about_cells_that_there_are():
    from workbench_proofs import conflicts

    for claim in claims.CLAIMS:
        wanted = [
            cell
            for cell in conflicts.cells()
            if all(claims._fits(getattr(cell, k), v) for k, v in claim.where.items())
        ]
        assert wanted, claim
