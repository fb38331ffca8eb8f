"""How many requests the calls on commits cost where a table lies in S3: counted by a proxy before the server."""

from contextlib import contextmanager
from dataclasses import replace

from bench import proxied, sizing_commits

_running = {}


@contextmanager
def session():
    """The session of the environment `s3`, whose catalog talks to the bucket through a proxy that counts."""
    with proxied.behind("s3", "s3.endpoint") as (spark, between):
        _running["proxy"] = between
        yield spark


def counted(one):
    """Return a capability that counts the requests of its work."""

    def work(spark, given):
        begin = len(_running["proxy"].log)
        told = one.work(spark, given)
        return told, [each.method for each in _running["proxy"].log[begin:]]

    def found(spark, n, given, told):
        return one.found(spark, n, given, told[0])

    def requests(spark, n, given, told):
        counts = {f"requests_{name.lower()}": told[1].count(name) for name in sorted(set(told[1]))}
        return {"requests": len(told[1])} | counts

    return replace(one, work=work, found=found, counts=requests, rounds=1, warm=False, peak=False)


CAPABILITIES = [counted(one) for one in sizing_commits.CAPABILITIES]
