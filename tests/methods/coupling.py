"""Replays the noisy results of one data set on another one, and computes the exact privacy loss.

A run on D writes every noisy result on a tape, by what it is about (an item, a pair, a part), never
by its place. The run on D', which has one more person with one record or several, gets the same results for the same things.
If what a method does next depends on noisy results alone, both runs then publish the same, and the
loss is exact: the sum of (|o - c'| - |o - c|) / scale over all results o of counts c and c'. It must
not exceed epsilon for any results, so these need not be likely: they are chosen to be nasty, with
many ties. Items that only D' counts are the delta event: its chance is exact, too."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from decimal import Decimal, localcontext
from fractions import Fraction
from itertools import combinations
from random import Random
from unittest import mock

import numpy as np

from setveil.data.transactions import Transactions
from setveil.methods import DiffPart, Frequent
from setveil.methods.diffpart import STEADY, Walk
from setveil.methods.frequent.contribution import ranks
from setveil.promises import DifferentialPrivacy
from setveil.published.ledger import exact
from tests.oracle.privacy import laplace_cdf

NEW = "new"
"""The name of the record that only one of two neighbours has."""


class Leak(AssertionError):
    """What one record changes beyond what was promised."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """Two neighbours and how they are published."""

    method: Frequent | DiffPart
    promise: DifferentialPrivacy
    records: list[list[str]]
    new: list[str]
    at: int
    """The place of the new record."""
    seed: int
    tree: object = None
    domain: list[str] | None = None
    others: list[list[str]] = field(default_factory=list)
    """More records of the same person."""

    def run(self, tape, *, longer):
        """What is published of one of the neighbours, with the noise of a tape."""
        records, names = list(self.records), list(range(len(self.records)))
        if longer:
            for place, record in enumerate((self.new, *self.others)):
                records.insert(self.at, record)
                names.insert(self.at, (NEW, place))
        tape.begin(names, again=longer)
        how = {"domain": self.domain, "noise": tape}
        fixed = np.random.default_rng
        with mock.patch.object(np.random, "default_rng", side_effect=lambda: fixed(self.seed)):
            return self.method.anonymize(Transactions.of(records), self.promise, self.tree, **how)


def loss_of(case):
    """The exact loss of one case, by stage; a `Leak` if it exceeds what was promised."""
    chance = Random(case.seed)
    most = case.promise.most_records
    tape = Tape(chance, bits=chance.choice([1, 2, 64]), style=chance.randrange(5), most=most)
    one = case.run(tape, longer=False)
    try:
        other = case.run(tape, longer=True)
    except Leak as leak:
        lost = float(abs(sum(tape.losses.values())))
        raise Leak(f"{leak}; a loss of {lost:.4f} at epsilon = {case.promise.epsilon}") from None
    _check_losses(case, tape, one.ledger)
    for name in ("people", "ledger", "supports", "items"):
        if getattr(one, name) != getattr(other, name):
            raise Leak(f"the same noisy results lead to other {name}")
    if one != other:
        raise Leak("the same noisy results lead to other records")
    return tape


def _check_losses(case, tape, ledger):
    shares = {entry.counts: entry.epsilon for entry in ledger}
    for stage, part in tape.losses.items():
        if abs(part) > shares.get(stage, 0) + (1e-9 if stage == "partitions" else 0):
            most = float(shares.get(stage, 0))
            raise Leak(f"a loss of {float(abs(part)):.4f} by {stage}, which may lose {most:.4f}")
    total = abs(sum(tape.losses.values()))
    if total > exact(case.promise.epsilon) + Fraction(1, 10**9) * bool(case.tree):
        raise Leak(f"a loss of {float(total):.4f} at epsilon = {case.promise.epsilon}")
    if tape.news:
        (entry,) = (entry for entry in ledger if entry.counts == "domain")
        chance = chance_of_any(tape.news, entry.threshold, entry.scale)
        if chance > Decimal(repr(case.promise.delta)):
            raise Leak(f"a chance of {chance:.4g} to publish an item of one person")


def chance_of_any(counts, threshold, scale):
    """The exact chance that at least one of some items with these counts, with discrete Laplace
    noise each, reaches a threshold."""
    with localcontext(prec=60):
        one, exact_scale, none = Decimal(1), Decimal(scale), Decimal(1)
        whole = one + (-one / exact_scale).exp()
        for above in (threshold - count for count in counts):
            if above >= 1:
                none *= one - (-above / exact_scale).exp() / whole
            else:
                none *= ((above - 1) / exact_scale).exp() / whole
        return one - none


@dataclass
class Tape:
    """A source of noise: the first run writes results on it, and the second one replays them."""

    chance: Random
    bits: int = 64
    """Of the random numbers by which records are cut; few give many ties."""
    style: int = 0
    """How results are chosen."""
    results: dict = field(default_factory=dict)
    """By stage and name: the noisy result, the count and the scale of the first run."""
    keys_of: dict = field(default_factory=dict)
    losses: dict = field(default_factory=dict)
    news: list[int] = field(default_factory=list)
    """How often the second run counted items that the first one counted with 0."""
    most: int = 1
    """How many records the new person has."""

    def begin(self, names, *, again):
        """Start a run over records with these names."""
        self.record_names, self.again, self.calls = names, again, 0
        self.used = set()

    def watch(self, private):
        """Learn what the counts of a run are about from its data and its ledger."""
        self.data, self.budget = private.data, private.budget
        labels = private.data.vocabulary.labels
        self.about = {"records": ["all"], "domain": labels, "ranking": labels}

    def laplace(self, counts, scale):
        self.calls += 1
        ledger = self.budget.ledger
        if self.calls != len(ledger) or ledger[-1].scale < scale:
            raise Leak("a count that is not in the ledger")
        stage = ledger[-1].counts
        names = list(self.about.get(stage, ()))
        names += [("more", place) for place in range(len(counts) - len(names))]
        found = zip(names, counts.tolist(), strict=True)
        return np.array([self.result((stage, *key), scale) for key in found], dtype=np.int64)

    def result(self, counted, scale):
        """The noisy result for a stage, a name and a count."""
        stage, name, count = counted
        if not self.again:
            value = self._chosen(stage, count, scale)
            if stage != "domain" or count:  # items that do not occur are never published
                self.results[stage, name] = value, count, scale
            return value
        if (stage, name) not in self.results:
            if stage != "domain" or count > self.most:
                raise Leak(f"only one of the neighbours counts {name} among {stage}")
            self.news += [count] if count else []
            return 0
        value, before, same = self.results[stage, name]
        if scale != same:
            raise Leak(f"the noise of {stage} depends on the data")
        lost = Fraction(abs(value - count) - abs(value - before)) / Fraction(scale)
        self.losses[stage] = self.losses.get(stage, Fraction(0)) + lost
        return value

    def _chosen(self, stage, count, scale):
        """Any result is possible; these are often the same for many counts."""
        step = max(int(scale), 1)
        usual = self.budget.ledger[-1].threshold if stage == "domain" else 4 * step
        draw = self.chance.randint
        return (
            usual,
            usual + draw(-1, 1),
            usual + step * draw(-1, 2),
            count + draw(-step, step) + (usual if stage == "domain" else 0),
            usual + draw(-3, 20) * step // 2,
        )[self.style]

    def keys(self, size):
        """A random number for each record and item; the same in both runs."""
        labels = self.data.vocabulary.labels
        entries = zip(self.data.rows.tolist(), self.data.items.tolist(), strict=True)
        names = [(self.record_names[row], labels[item]) for row, item in entries]
        assert len(names) == size
        for name in sorted(names, key=str):
            self.keys_of.setdefault(name, self.chance.getrandbits(self.bits))
        return np.array([self.keys_of[name] for name in names], dtype=np.uint64)


class TapedFrequent(Frequent):
    """Says what items and pairs are counted."""

    def _publish(self, private):
        private.budget.noise.watch(private)
        return super()._publish(private)

    def _counted(self, private, data, rank, shares):
        private.budget.noise.about["items"] = data.vocabulary.labels
        return super()._counted(private, data, rank, shares)

    def _with_pairs(self, private, data, wanted, counts, share):
        items = np.argsort(ranks(counts))[: self.paired].tolist()
        labels = [data.vocabulary[item] for item in items]
        private.budget.noise.about["pairs"] = [frozenset(two) for two in combinations(labels, 2)]
        return super()._with_pairs(private, data, wanted, counts, share)


class TapedWalk(Walk):
    """Says which parts are counted. Whether a part passes is all that a division shows, so the loss
    of a division is that of passing or not."""

    def __init__(self, private, max_fanout):
        super().__init__(private, max_fanout)
        self.noise = self
        self.tape = private.budget.noise
        self.tape.watch(private)

    def laplace(self, counts, scale):
        names = self.names if self.names is not None else range(len(counts))
        if self.stage == "leaves":
            found = [self.tape.result((self.stage, self.names, int(counts[0])), scale)]
            return np.array(found, dtype=np.int64)
        found = zip(names, counts.tolist(), strict=True)
        passed = [self._passes((*self.cut, name), count, scale) for name, count in found]
        return np.where(passed, self.threshold, self.threshold - 1)

    def _first(self):
        self.stage, self.cut, self.names = "partitions", ("first",), None
        share = self.half / (int(self.taxonomy.inner[self.taxonomy.root]) + 1)
        self.threshold = math.ceil(STEADY * self._scale(share))
        return super()._first()

    def _divided(self, part):
        self.stage, self.cut = "partitions", part.cut
        return super()._divided(part)

    def _division(self, part):
        division = super()._division(part)
        self.threshold = division.threshold
        return division

    def _masks(self, rows, children):
        masks = super()._masks(rows, children)
        self.names = np.unique(masks).tolist()
        return masks

    def _drawn(self, division, taken):
        """The parts without records that pass, by the tape."""
        masks = range(1, division.cells + 1)
        return {
            mask
            for mask in masks
            if mask not in taken and self._passes((*self.cut, mask), 0, division.scale)
        }

    def _counted(self, part):
        self.stage, self.names = "leaves", part.cut
        return super()._counted(part)

    def _passes(self, name, count, scale):
        tape, key = self.tape, ("partitions", name)
        if not tape.again:
            likely = 0.97 if count else 0.1
            tape.results[key] = tape.chance.random() < likely, count, (scale, self.threshold)
            return tape.results[key][0]
        passed, before, same = tape.results[key]
        if same != (scale, self.threshold):
            raise Leak("the noise of a part depends on the data")
        now, then = (_chance(passed, self.threshold - each, scale) for each in (count, before))
        lost = Fraction(math.log(then / now)) if then != now else Fraction(0)
        tape.losses["partitions"] = tape.losses.get("partitions", Fraction(0)) + lost
        return passed


def _chance(passed, needed, scale):
    """The chance that noise is at least, or less than, a number; by symmetry always a small tail."""
    return laplace_cdf(-needed if passed else needed - 1, scale)


class TapedDiffPart(DiffPart):
    """Walks with a tape."""

    def _publish(self, private):
        with mock.patch("setveil.methods.diffpart.Walk", TapedWalk):
            return super()._publish(private)
