"""Claims: created once, replaced only where unchanged, by processes at once, in a folder and in a bucket."""

import os

import pytest
from submit_kills import forked

from workbench_ops.submit import Bucket, Claim, ClaimBusy, Folder, all_of
from workbench_ops.submit import claims as documents


@pytest.fixture
def folder(tmp_path):
    return Folder(tmp_path / "claims")


@pytest.fixture(scope="module")
def bucket():
    import boto3

    from workbench_standins import s3

    with s3.serve() as server, pytest.MonkeyPatch.context() as patch:
        patch.setattr(boto3, "DEFAULT_SESSION", None)  # it keeps the keys that an earlier test had
        patch.setenv("AWS_ACCESS_KEY_ID", server.access_key)
        patch.setenv("AWS_SECRET_ACCESS_KEY", server.secret_key)
        yield Bucket(server.client(), s3.BUCKET, "claims")


def behaves(claims):
    claim = documents.opened(claims, Claim("a", "1"))
    assert documents.opened(claims, Claim("a", "2")) == claim
    assert documents.load(claims, "b") is None
    content, mark = claims.read(documents.key_of("a"))
    assert claims.swap(documents.key_of("a"), content + b" ", mark)
    assert not claims.swap(documents.key_of("a"), content, mark)
    assert not claims.swap(documents.key_of("b"), content, mark)
    documents.opened(documents.at(claims.address()), Claim("c", "3", "q"))
    assert [(claim.token, claim.digest, claim.queue) for claim in all_of(claims)] == [
        ("a", "1", None),
        ("c", "3", "q"),
    ]


def counted(claims, racers, changes):
    """Raise a claim's generation by processes at once; a change that another overwrites would be missing."""
    documents.opened(claims, Claim("counted", "1"))

    def raise_it():
        for _ in range(changes):
            documents.change(claims, "counted", lambda claim: claim.changed(generation=claim.generation + 1))

    pids = [forked(raise_it) for _ in range(racers)]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0] * racers
    return documents.load(claims, "counted")[0].generation - 1


def test_in_a_folder(folder):
    behaves(folder)
    assert sorted(path.name for path in folder.path.iterdir() if path.name.startswith(".")) == []


def test_processes_at_once_in_a_folder(folder):
    assert counted(folder, 4, 8) == 32


class Careless(Folder):
    """The planted fault: a replacement that looks at no mark."""

    def swap(self, key, content, mark):
        return super().swap(key, content, self.read(key)[1])


@pytest.mark.parametrize(("kind", "changes"), [(Folder, 2), (Careless, 1)])
def test_a_change_that_another_overtakes_is_decided_anew(tmp_path, kind, changes):
    claims, overtaken = kind(tmp_path), []
    documents.opened(claims, Claim("a", "1"))

    def raised(claim):
        if not overtaken:
            overtaken.append(True)
            documents.change(claims, "a", raised)
        return claim.changed(generation=claim.generation + 1)

    assert documents.change(claims, "a", raised).generation == 1 + changes


@pytest.mark.proof("test_in_a_folder has the same promises for a folder")
def test_in_a_bucket(bucket):
    behaves(bucket)
    assert counted(bucket, 4, 10) == 40


class Lost(Folder):
    """Claims whose first replacement lands while its answer is lost."""

    lost = False

    def swap(self, key, content, mark):
        landed = super().swap(key, content, mark)
        if not self.lost:
            self.lost = True
            return False
        return landed


def test_a_change_whose_answer_is_lost_is_not_made_twice(tmp_path):
    claims = Lost(tmp_path)
    documents.opened(claims, Claim("a", "1"))
    changed = documents.change(claims, "a", lambda claim: claim.changed(generation=claim.generation + 1))
    assert changed.generation == 2 and documents.load(claims, "a")[0] == changed


def test_claims_that_cannot_be_changed_or_read(folder):
    class Stubborn(Folder):
        def swap(self, key, content, mark):
            return False

    documents.opened(folder, Claim("a", "1"))
    with pytest.raises(ClaimBusy, match="the claim of a was replaced 200 times while it was to be changed"):
        documents.change(Stubborn(folder.path), "a", lambda claim: claim.changed(cancelled=True))
    (folder.path / f"{documents.key_of('a')}.json").write_text("{}")
    with pytest.raises(ValueError, match="the claim of a cannot be read: 'attempts'"):
        documents.load(folder, "a")
    for where in ("gs://bucket", "s3://", "s3:///prefix"):
        with pytest.raises(ValueError, match="claims must be a folder or s3://bucket/prefix, found"):
            documents.place(where)


def test_keys_are_readable_and_differ():
    keys = [documents.key_of(token) for token in ("load 1", "load_1", "load/1", "..", "Ü" * 100)]
    assert len(set(keys)) == 5 and all(key.startswith("load_1-") for key in keys[:3])
    assert all("/" not in key and not key.startswith(".") for key in keys)
