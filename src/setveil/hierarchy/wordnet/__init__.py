"""WordNet as a tree of nouns and as a distance between nouns."""

from setveil.hierarchy.wordnet.network import WordNet

__all__ = ["WordNet"]
