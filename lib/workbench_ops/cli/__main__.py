"""The command for an interpreter that has no `workbench` beside it: `python -m workbench_ops.cli`."""

from workbench_ops.cli import main

if __name__ == "__main__":
    main()
