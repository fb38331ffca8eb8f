"""How many requests the calls on commits cost where a table lies in S3: counted by a proxy before the server."""

from contextlib import contextmanager
from dataclasses import replace

from bench import sizing_commits
from workbench_standins import proxy

_running = {}


@contextmanager
def session():
    """The session of the environment `s3`, whose catalog talks to the bucket through a proxy that counts."""
    from workbench import session as sessions

    spark = sessions.start("s3")
    try:
        key = f"spark.sql.catalog.{spark.conf.get('spark.sql.defaultCatalog')}"
        settings = {one: value for one, value in spark.conf.getAll.items() if one.startswith(key)}
        with proxy.between(settings[f"{key}.s3.endpoint"]) as between:
            behind = spark.newSession()
            for name, value in (settings | {f"{key}.s3.endpoint": between.endpoint}).items():
                behind.conf.set(name, value)
            behind.sql("CREATE NAMESPACE IF NOT EXISTS bench")
            _running["proxy"] = between
            yield behind
    finally:
        sessions.stop(spark)


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
