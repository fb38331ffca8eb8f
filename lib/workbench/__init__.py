"""Iceberg Workbench: what its notebooks share.

The map. Imports go downwards only, and within *top* nobody imports a neighbour:

    cli            the command `workbench`
    top            run/       a notebook run headless: notebook, tags, runner, watch, record, publishing, ledger,
                              report; several side by side: batch, member (the process of one), durations
                   quality/   which rows break which rules: AWS Glue's DQDL on Spark
                   wap/       write, audit, publish: the gate
                   history/   slowly changing dimensions, type 2, from a table's own commits
                   streams/   Kinesis and Kafka into Iceberg, every record once
                   conflicts/ two writers whose commits land in a stated order, and what becomes of them
                   archive/   what is archived, what bringing it back costs, and reading it
                   tpcds/     the TPC-DS derived benchmark: data, queries, answers and their verdicts
                   export/    notebooks for AWS Glue: what would be different there, the notebook, the job script
                   policies/  what a run asks of AWS, recorded, as an IAM policy that allows it and little else
                   schedules/ when notebooks run: schedules.yml, its next times, crontab lines and DAG files
    middle         session    the one SparkSession of an environment
                   account    what an AWS account must have before the first run, looked at read-only
                   tables/    what Iceberg tables are and did (snapshots), what a query reads of them (reads),
                              commits, their retries and unknown outcomes, upserts, changes between two snapshots,
                              maintenance: what would be done to keep a table healthy, and doing it beside writers;
                              doctor: what hurts a table, and what a cure would bring
                   data/      inputs: real ones from packages, generated ones with their planted truth
                   local/     stand-ins that run on this machine (kinesis, archive, s3 with a REST catalog, kafka,
                              a Spark cluster), shared
                              by a process and its children (stand_ins); the proxy that orders commits
    ground         settings   params/: environments, typed, unknown keys refused
                   yaml_files YAML written by hand, read safely
                   secrets    what a secret is, where it comes from, how it is kept out of what people read
                   lake       the embedded lake: an SQLite catalog and files in one folder
                   scratch    the folder of a run's throw-away lake
                   locks      a file that one process holds
                   hardware   cores and memory, or a container's share of them
                   java       a JVM, jars by coordinate and checksum
                   daemon     Spark's Python daemon, without the archives that cost each task time
                   children   a process of our own: told by lines of JSON, never there after us
                   releases   what Spark 3.5 says in another way than Spark 4
                   costs      what a service charges, from dated price files
                   show, plots, checks, results, identifiers     what a notebook says
                   arguments  wrong ones refused by a sentence

Nothing happens at import: no session, no environment read, no output.
"""

__version__ = "0.1.0"
