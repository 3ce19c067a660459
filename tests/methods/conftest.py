"""Noise that is the same in each run of a test."""

from __future__ import annotations

import numpy as np
import pytest

from tests.methods.quicknoise import QuickNoise


@pytest.fixture(autouse=True)
def same_noise(monkeypatch):
    monkeypatch.setattr(QuickNoise, "random", np.random.default_rng(7))
