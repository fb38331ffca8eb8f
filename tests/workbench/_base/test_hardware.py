"""A container's share counts, not the machine that it is on."""

import os

from workbench._base import hardware


def test_without_limits_it_is_the_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(hardware, "CGROUP", tmp_path)
    (tmp_path / "cpu.max").write_text("max 100000\n")
    (tmp_path / "memory.max").write_text("max\n")
    assert hardware.cores() == len(os.sched_getaffinity(0))
    assert hardware.memory_bytes() == os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def test_a_container_has_its_share(tmp_path, monkeypatch):
    monkeypatch.setattr(hardware, "CGROUP", tmp_path)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(16)))
    (tmp_path / "memory.max").write_text("1073741824\n")
    for quota, cores in (("250000 100000\n", 2), ("50000 100000\n", 1), ("max 100000\n", 16)):
        (tmp_path / "cpu.max").write_text(quota)
        assert hardware.cores() == cores
    assert hardware.memory_bytes() == 1 << 30
