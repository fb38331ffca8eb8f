"""The sentences of a plan and of what was done: one for each reason and hindrance, made of its fields alone."""

import pytest

from workbench.tables import maintenance
from workbench.tables.maintenance import Action, Done, Hindrance, Obstacle, Reason, Remark, wording
from workbench.tables.maintenance.groups import Group

GC = Obstacle(Hindrance.GC_DISABLED)
FORBIDDEN = "the table has gc.enabled false, its files may belong to others"
REMARKS = {
    Reason.SNAPSHOTS_HELD: ({"count": 2, "name": "a"}, "fact", "2 older snapshots stay, needed from a on"),
    Reason.COLUMN_NOT_COUNTED: (
        {"name": "a.b"}, "fact", "column a.b is not counted: Iceberg finds none by a name with a dot or backtick",
    ),
    Reason.NO_COLUMN_COUNTED: (
        {}, "fact", "no distinct values are counted: the table has no column of a plain type",
    ),
    Reason.THROUGH_SPARK: (
        {"obstacle": Obstacle(Hindrance.SORT_ORDER)}, "fact", "through Spark: the table has a sort order",
    ),
    Reason.ACTION_NOT_BEGUN: ({"limit": "max_commits"}, "limited", "not begun: max_commits is reached"),
    Reason.PARTITIONS_LEFT: (
        {"limit": "max_minutes", "count": 3}, "limited", "max_minutes is reached: 3 partitions are left",
    ),
    Reason.PARTITION_IN_PART: (
        {"limit": "max_bytes", "name": '{"v": "x"}'}, "limited",
        'max_bytes left room for a part of partition {"v": "x"}',
    ),
    Reason.PARTITION_TOO_LARGE: (
        {"limit": "max_bytes", "name": "{}"}, "limited", "max_bytes leaves no room for the table's files",
    ),
    Reason.FILES_LEFT: (
        {"limit": "max_commits", "count": 9}, "limited", "max_commits is reached: 9 files were left as they are",
    ),
    Reason.ORPHANS_LEFT: (
        {"limit": "max_minutes", "count": 1}, "limited",
        "max_minutes is reached: 1 orphan left, or known to the table by now",
    ),
    Reason.FILES_CHANGED: (
        {"count": 4, "tries": 5}, "undone",
        "4 files were left as they are: other commits changed them each of 5 times",
    ),
    Reason.REWRITE_REFUSED: ({"error": "x: y"}, "undone", "left as they are: x: y"),
    Reason.DELETES_NOT_REWRITTEN: (
        {"obstacle": GC}, "undone", f"delete files are left as they are: {FORBIDDEN}",
    ),
    Reason.EXPIRY_NOT_PLANNED: ({"obstacle": GC}, "undone", f"no snapshot is expired: {FORBIDDEN}"),
    Reason.NOTHING_EXPIRED: ({"error": "a mark went"}, "undone", "nothing is expired: a mark went"),
    Reason.ORPHANS_NOT_PLANNED: ({"obstacle": GC}, "undone", f"no orphan is looked for: {FORBIDDEN}"),
    Reason.NOTHING_REMOVED: ({"obstacle": GC}, "undone", f"nothing is removed: {FORBIDDEN}"),
    Reason.REMOVAL_NOT_AGREED: ({"count": 3}, "asked", "3 orphans are found; say remove_orphans=True"),
}  # fmt: skip
VALUES = {
    Hindrance.FAST_REFUSED: ({"number": 5, "error": "x"}, "the fast way was refused 5 times: x"),
    Hindrance.FORMAT_VERSION: ({"number": 3}, "the table has format 3, whose row lineage would be lost"),
    Hindrance.PARTITION_TYPE: ({"name": "uuid"}, "it is partitioned by values of type uuid"),
    Hindrance.LARGE_GROUP: ({"number": 512 * 1024**2}, "a group is larger than 512 MB"),
    Hindrance.COLUMN_TYPE: ({"name": "s", "kind": "struct"}, "its column s is of type struct"),
    Hindrance.WRITE_FORMAT: ({"name": "orc"}, "its files are written as orc"),
    Hindrance.PROPERTY: ({"name": "a.b"}, "it has the property a.b, which only Iceberg's own writer knows"),
    Hindrance.CODEC: ({"name": "lz4"}, "its files are compressed by lz4"),
    Hindrance.CODEC_LEVEL: ({"name": "zstd", "number": 30}, "its files are compressed by zstd at level 30"),
    Hindrance.FILE_IO: ({"name": "HadoopFileIO", "kind": "hdfs"}, "its files are reached by HadoopFileIO at hdfs:"),
    Hindrance.STORAGE_SETTING: (
        {"name": "s3.acl"}, "its storage has the setting s3.acl, which only Iceberg's own writer knows",
    ),
    Hindrance.FILES_ELSEWHERE: ({"kind": "s3"}, "some of its files lie elsewhere, at s3:"),
    Hindrance.UUID_PARTITION: (
        {"name": "tenant"},
        "partition field tenant holds a UUID, and Iceberg's actions for delete files cannot read such a partition "
        "on Spark",
    ),
    Hindrance.SOURCE_OWNS: (
        {"location": "s3://a/b"},
        "its files are those of s3://a/b, which it follows: formats.take_over makes them its own",
    ),
    Hindrance.MARK_EXPIRES: (
        {"name": "a"}, "a is a reader's mark, and its maximum age is over: expiry would drop it",
    ),
    Hindrance.BRANCH_SNAPSHOT_AGE: (
        {"name": "b", "number": 2},
        "branch b has a maximum snapshot age of its own, by which Iceberg would also expire 2 that are needed: "
        "drop that setting",
    ),
    Hindrance.LISTING_REFUSED: (
        {"name": "a.t", "error": "x"}, "what is an orphan of a.t cannot be told, nothing is removed: x",
    ),
    Hindrance.UNREADABLE_METADATA: (
        {"location": "/t", "folder": "/t/u"},
        "metadata that cannot be read lies below /t, in /t/u: its table's files may be among what is taken for "
        "orphans. Nothing is removed",
    ),
    Hindrance.METADATA_OF_ANOTHER: (
        {"location": "/t", "folder": "/t/u"},
        "another table's metadata lies below /t, in /t/u: its files would be taken for orphans. Nothing is removed",
    ),
    Hindrance.UNKNOWN_COMMIT: (
        {"location": "/m"},
        "/m was committed, and the metadata file that the catalog names does not know it: the catalog came back "
        "from an old copy, or another one has the table too. Nothing is removed",
    ),
}  # fmt: skip
GROUPS = (Group('{"v": 1}', 0, 3, 30, 10, 0, 1), Group('{"v": 2}', 0, 4, 40, 10, 2, 1))


@pytest.mark.parametrize("reason", Reason)
def test_a_reason_has_a_kind_and_a_sentence_of_its_fields(reason):
    values, kind, sentence = REMARKS[reason]
    remark = Remark(reason, **values)
    assert (remark.kind, wording.sentence(remark)) == (kind, sentence)


@pytest.mark.parametrize("hindrance", Hindrance)
def test_a_hindrance_has_a_sentence_of_its_fields(hindrance):
    """Those without values have a sentence that needs none."""
    values, sentence = VALUES.get(hindrance, ({}, None))
    text = wording.obstacle(Obstacle(hindrance, **values))
    assert text == sentence if values else text and "None" not in text


@pytest.mark.parametrize(
    ("action", "sentence", "breaks"),
    [
        (
            Action("compact_data", 7, 2, groups=GROUPS, evolved=3),
            "7 data files of 2 partitions become about 2; 2 of them lose their deleted rows; 3 take the table's "
            "present partitioning",
            ("who reads changes from here on has to skip the snapshots of operation replace",),
        ),
        (
            Action("rewrite_deletes", 6, 1, dangling=1),
            "5 small delete files become about 1; 1 dangling delete file goes", (),
        ),
        (Action("rewrite_manifests", 2000, 1), "2,000 manifests become about 1", ()),
        (
            Action("rewrite_manifests", 1, 1, by_partition=True),
            "1 manifest becomes about 1, ordered by partition", (),
        ),
        (
            Action("expire_snapshots", 1, snapshots=(5,), drops=("old",)),
            "1 snapshot goes, and 1 data or delete file that only they needed",
            ("1 snapshot can no longer be read, compared or gone back to", "old goes: its maximum age is over"),
        ),
        (
            Action("remove_orphans", None, location="/t", older_than_days=3.0),
            "files below /t that no snapshot knows and that are older than 3 days are found, and removed when told "
            "so", (),
        ),
        (Action("compute_statistics", 4, 4), "distinct values of each column are counted; reads 4 data files", ()),
    ],
)  # fmt: skip
def test_an_action_of_a_plan_and_who_would_notice(action, sentence, breaks):
    assert (wording.action(action), wording.breaks(action)) == (sentence, breaks)


def test_every_action_of_a_policy_has_a_sentence_and_no_other_name():
    assert tuple(wording._ACTIONS) == maintenance.ACTIONS
    with pytest.raises(ValueError, match="'tidy' is not an action; there are compact_data, "):
        wording.action(Action("tidy"))


@pytest.mark.parametrize(
    ("done", "figures", "sentences"),
    [
        (Done("compact_data", 6, 1, 1234, 1, 2), "6 files before, 1 after, 1,234 bytes read, 1 commit, 2 tries", ()),
        (
            Done("expire_snapshots", 3, commits=1, tries=1, snapshots=(7, 8), metadata_files=5),
            "3 files deleted, 1 commit, 1 try",
            ("2 snapshots went, 5 manifests and manifest lists with them",),
        ),
        (
            Done("expire_snapshots", remarks=(Remark(Reason.ACTION_NOT_BEGUN, limit="max_commits"),)),
            "0 files deleted, 0 commits, 0 tries", ("not begun: max_commits is reached",),
        ),
        (Done("remove_orphans", 1, orphans=("a", "b")), "2 orphans found, 1 deleted", ()),
    ],
)  # fmt: skip
def test_what_was_done_in_figures_and_sentences(done, figures, sentences):
    assert (wording.figures(done), wording.sentences(done)) == (figures, sentences)
