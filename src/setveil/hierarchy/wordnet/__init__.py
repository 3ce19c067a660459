"""WordNet as a tree over nouns and as a distance between them."""

from setveil.hierarchy.wordnet.network import WordNet

__all__ = ["WordNet"]
