"""The folder of a grouped release is read back as it was written, and nothing else is."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from setveil.io.releases.folder import fill_release, read_release
from tests.strategies import SEEDS
from tests.tables import WITHIN, random_release


@given(SEEDS, st.sampled_from(WITHIN))
def test_a_release_is_read_back_as_it_was_written(tmp_path_factory, seed, within):
    folder = tmp_path_factory.mktemp("release")
    _, release = random_release(Random(seed), within)
    fill_release(release, folder)
    assert read_release(folder) == release
