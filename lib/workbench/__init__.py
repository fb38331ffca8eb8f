"""Iceberg Workbench: what its notebooks, and a user's own session, import.

The map. Four packages, one distribution:

    workbench            this one: capabilities for a session with Iceberg tables
    workbench_ops        the command `workbench`: notebooks run headless, reports, schedules, exports, policies
    workbench_standins   servers of this machine in the place of Kinesis, Kafka, S3, an archive, a cluster, Google
    workbench_proofs     races of two writers, the TPC-DS derived benchmark, kills of a stream and of functions

The stand-ins know `workbench._base` alone; ops and proofs know this package and the stand-ins, and not each other.
This package knows none of them, but that `session/services` starts the stand-in that an environment names.

Within this package imports go downwards only, and on the first floor nobody imports a neighbour:

    capabilities   wap/       write, audit, publish: the gate
                   quality/   which rows break which rules: AWS Glue's DQDL on Spark
                   history/   slowly changing dimensions, type 2, from a table's own commits
                   streams/   Kinesis and Kafka into Iceberg, every record once
                   archive/   what is archived, what bringing it back costs, and reading it
                   light/     small questions and small writes without Spark, and when Spark pays
                   anonymity/ whether a table is anonymous, also in what it keeps of the past
                   access/    who sees which columns, rows and cells: decided once, for every engine
                   pulls/     services that restate what they said: days replaced whole where they changed
                   metrics/   what a run did, what went wrong, and whether a cure helped; garbage collectors
                   dbt/       tests of a dbt project, each answered by the cheapest evidence that is proof
    ,
    tables         session/   the one SparkSession of an environment; services: the door to the stand-ins
                   tables/    snapshots of Iceberg tables (snapshots), what a query reads of them (reads),
                              how it joins them, and why by a shuffle (joins),
                              commits, their retries and unknown outcomes, publication: a branch, a check, main
                              moved in one commit; upserts, changes between two snapshots,
                              maintenance: what would be done to keep a table healthy, and doing it beside writers;
                              doctor: what hurts a table, and what a cure would bring
                   engines/   profiles of other Sparks and readers, their kernels, how they are installed
                   data/      inputs: real ones from packages, generated ones with their planted truth
    notebooks      show, plots, checks, results     what a notebook says
                   verdicts   what an audit says of a set of rows
                   records/   what the bytes of a record hold, or why they do not: JSON, Avro, Protobuf
                   costs/     what a service charges, from dated price files
    ground         _base/     private: settings, identifiers, arguments, secrets, locks, files, progress, children,
                              Java and jars, the embedded lake, scratch folders, differences of Spark's releases
                   daemon     Spark's Python daemon, without the archives that cost each task time

Nothing happens at import: no session, no environment read, no output. The names of version 0.1 can be imported.
"""

from workbench._base import moved

__version__ = "0.2.0"

moved.install()
