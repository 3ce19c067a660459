"""A toy engine: the records are in memory, but no task sees more than a few of them."""

from __future__ import annotations

from contextlib import contextmanager

from setveil.data.identifiers import Some
from setveil.data.summary import Tally
from setveil.engines.base import PartsSource, Read
from setveil.engines.parts import Block, InMemory, distinct_of, renumbered


@contextmanager
def open_crumbs(where, work, progress):
    yield Crumbs()


class Crumbs(PartsSource):
    """Records in parts of a few."""

    def read(self, data, reading, reader):
        found, account = reader(data, reading)
        self.block = Block(found.indptr, found.items)
        return Read(Tally.of_supports(found.vocabulary, found.supports()), len(found), account)

    def some(self, read):
        return Some(*self.block, read.data.vocabulary, read.data.supports(), read.records)

    def recode(self, numbers, size):
        self.block = renumbered(numbers, self.block)
        self.parts = InMemory(self.block)

    def gathered(self):
        return self.block

    def distinct(self):
        return distinct_of(self.block)

    def most(self, cost, length):
        return 6

    def publish(self, work):
        for number, parts in enumerate(work.parts):
            blocks = [self.block.take(self.parts.rows(part)) for part in parts]
            yield work.make(number, blocks, work.folder)
