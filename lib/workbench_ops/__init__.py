"""The command `workbench` and what it does: runs, pages, schedules, exports to AWS Glue, policies."""
