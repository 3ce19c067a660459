"""What the kernels of disassociation are given."""

from typing import NamedTuple

from setveil.kernels.arrays import Flags, Floats, Int32s, Int64s


class Block(NamedTuple):
    """Clusters; c has the records `bounds[c]` to `bounds[c + 1] - 1`."""

    indptr: Int64s
    items: Int32s  # terms, ascending in each record
    bounds: Int64s


class Rule(NamedTuple):
    """What every chunk must keep."""

    k: int
    m: int
    sensitive: Flags  # for each term, whether it may only be in term chunks
    longest: int = 0  # the most terms of a subrecord; 0 for no limit


class Chunks(NamedTuple):
    """How the clusters of a block are cut into record chunks."""

    chunk: Int32s  # for each occurrence, its chunk within its cluster; -1 in the term chunk
    counts: Int64s  # the record chunks of each cluster
    is_short: Flags  # whether a cluster has too few subrecords for Lemma 2, and needs a term chunk


class Plan(NamedTuple):
    """How clusters are joined."""

    with_levels: bool  # whether neighbours are joined after the paper's rounds
    with_lost: bool  # whether a term that is in no chunk is shared as soon as it can be
    reach: float  # records that joint clusters have on average, at most, to share other terms
    weight: float  # how likely a joint cluster must make a term, compared to its clusters


class Given(NamedTuple):
    """What shared chunks give to clusters: to c from `ptr[c]` to `ptr[c + 1] - 1`."""

    ptr: Int64s
    items: Int64s
    chunks: Int64s
    masses: Floats  # in how many records of the cluster the item is expected
