"""A policy file: read strictly, and refused with a sentence."""

import pytest

from workbench import costs
from workbench.tables import maintenance


def written(tmp_path, text):
    path = tmp_path / "orders.yml"
    path.write_text(text)
    return path


def test_a_policy_is_read_and_keeps_its_defaults(tmp_path):
    text = """
    actions: [compact_data, expire_snapshots]
    target_file_bytes: 1048576
    snapshots_older_than_days: 7
    keep_snapshots: 3
    solitary_refs: [eoy_*]
    limits: {max_minutes: 30}
    """
    expected = maintenance.Policy(
        actions=("compact_data", "expire_snapshots"),
        target_file_bytes=1048576,
        snapshots_older_than_days=7,
        keep_snapshots=3,
        solitary_refs=("eoy_*",),
        limits=maintenance.Limits(max_minutes=30),
    )
    found = maintenance.read_policy(written(tmp_path, text))
    assert found == expected
    assert (found.min_input_files, found.orphans_older_than_days, found.limits.max_bytes) == (5, 3, None)


def test_an_empty_file_is_the_default_policy(tmp_path):
    assert maintenance.read_policy(written(tmp_path, "")) == maintenance.Policy()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("target_file_byte: 1", "target_file_byte is not a setting (did you mean target_file_bytes?); there are actions, "),
        ("limits: {max_hours: 1}", "limits.max_hours is not a setting (did you mean max_minutes?); there are max_bytes, max_minutes, max_commits"),
        ("actions: [compact]", "'compact' is not an action; there are compact_data, rewrite_deletes, "),
        ("actions: [compact_data, compact_data]", "the action 'compact_data' is given twice"),
        ("solitary_refs: eoy_*", "solitary_refs: expected a list, such as [eoy_*], found 'eoy_*'"),
        ("keep_snapshots: 0", "keep_snapshots: Input should be greater than or equal to 1, found 0"),
        ("min_input_files: 1", "min_input_files: Input should be greater than or equal to 2, found 1"),
        ("snapshots_older_than_days: .nan", "snapshots_older_than_days: Input should be "),
        ("orphans_older_than_days: .inf", "orphans_older_than_days: Input should be less than or equal to 36500"),
        ("target_file_bytes: 9223372036854775808", "target_file_bytes: Input should be less than 4611686018427387904"),
        ("min_input_files: 2147483648", "min_input_files: Input should be less than or equal to 2147483647"),
        ("min_deletes_per_file: 2147483648", "min_deletes_per_file: Input should be less than or equal to 2147483647"),
        ("limits: {max_commits: 2147483648}", "limits.max_commits: Input should be less than or equal to 2147483647"),
        ("keep_snapshots: true", "keep_snapshots: expected a number, found True"),
        ("[1, 2]", "expected keys and values, found list"),
        ("keep_snapshots: 3\nkeep_snapshots: 4", "keep_snapshots is given twice"),
        ("keep_snapshots: 010", "010 is not a decimal number"),
        ("actions: !!python/object/apply:os.getcwd []", "could not determine a constructor"),
    ],
)  # fmt: skip
def test_a_wrong_policy_is_refused(tmp_path, text, said):
    path = written(tmp_path, text)
    with pytest.raises(ValueError) as caught:
        maintenance.read_policy(path)
    assert str(path) in str(caught.value) and said in str(caught.value)


def planned(*actions):
    return maintenance.Planned("a.t", "u", 1, None, maintenance.Policy(), (), actions, ())


def test_a_plan_has_a_price():
    listed = costs.prices("compute")
    rewrite = maintenance.Action("compact_data", 100, 1, bytes_read=6000 * 1024**2, bytes_written=6000 * 1024**2)
    found = maintenance.usd(planned(rewrite), listed, dpus=2, mb_per_second=20)
    assert found == costs.glue_usd(listed, dpus=2, seconds=300) > 0
    assert maintenance.usd(planned(), listed, dpus=2, mb_per_second=20) == 0
    with pytest.raises(
        ValueError, match="mb_per_second must be a number or Decimal above 0 and below inf, found 0"
    ):
        maintenance.usd(planned(rewrite), listed, dpus=2, mb_per_second=0)


def test_a_file_that_is_not_there_is_named(tmp_path):
    with pytest.raises(ValueError, match="nothing.yml cannot be read"):
        maintenance.read_policy(tmp_path / "nothing.yml")
