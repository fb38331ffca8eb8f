"""A notebook run headless, in three stages: prepared, executed, published.

preparing     what can be refused before work starts; the environment, read once for the whole run
requests      whose turn a job is, and by which earlier run it is answered
runner        the run: the process that executes the notebook, followed until its end
child         that process; processes, kernel and watch: its parts
publishing    the verdict and its record, the report, the index, the ledger
record        run.json; ledger: the table of all of them; measured: tables of what watched runs did
metering      a watched run: what its kernel needs and what becomes of its log; fold: the process that reads it
batch         several runs side by side, each by a member
durations     how long a run is likely to take
notebook      a notebook as a job; refresh: one executed for its outputs
"""
