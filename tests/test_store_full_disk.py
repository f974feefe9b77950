"""Room that ends in the middle of a run is said in a line, and with room the run goes on."""

import sys

import pytest


@pytest.mark.skipif(sys.platform == "win32", reason="files have no limit of their size to be set there")
def test_a_run_that_reaches_a_limit_of_its_files_says_so_and_goes_on_without_it() -> None:
    from benchmarks.full_disk import measure

    (found,) = measure(["limit"], [640 << 10])["limit"]
    assert found["wrong"] == []
    assert 0 < found["kept"] < found["of"]
    assert "make room and run again, nothing answered is lost" in found["said"][0]
