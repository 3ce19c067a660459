"""VERPART of large clusters, plain: chunks that keep the most of what occurs together."""

from __future__ import annotations

from itertools import combinations
from math import sqrt

ROUNDS, TRIES, LEAST = 2, 2, 1e-6

Record = frozenset[int]


def chunk_domains(rows: list[Record], terms: list[int], k: int, m: int, longest: int) -> list[set]:
    """The chunks of some terms, which are in k records or more, the most frequent first."""
    made = Gathering(rows, terms, k, m, longest)
    for term in terms:
        made.place(term, None)
    for _ in range(ROUNDS):
        moved = [made.move(term) for term in terms]
        if not any(moved):
            break
    found: dict[int, set[int]] = {}
    for term in terms:
        found.setdefault(made.chunk[term], set()).add(term)
    return list(found.values())


class Gathering:
    """The chunk of each term, and what it gains there."""

    def __init__(self, rows: list[Record], terms: list[int], k: int, m: int, longest: int) -> None:
        self.rows, self.k, self.m, self.longest = rows, k, m, longest
        self.rank = {term: at for at, term in enumerate(terms)}
        self.chunk: dict[int, int] = {}
        self.own = dict.fromkeys(terms, 0.0)
        self.gain: dict[int, dict[int, float | None]] = {term: {} for term in terms}
        supports = {term: sum(term in row for row in rows) for term in terms}
        for term in terms:
            together: dict[int, int] = {}
            for row in rows:
                if term in row:
                    for other in sorted((self.rank[x], x) for x in row if x in self.rank):
                        if other[0] < self.rank[term]:
                            together[other[1]] = together.get(other[1], 0) + 1
            for other, count in together.items():
                weight = None
                if count >= k:
                    weight = abs(count - supports[term] * supports[other] / len(rows))
                    weight *= sqrt(weight)
                self.gain[term][other] = self.gain[other][term] = weight

    def met(self, term: int) -> tuple[dict[int, float], dict[int, float], dict[int, list[int]]]:
        """By chunk: what the term gains, what its foes gain there, and who they are."""
        score: dict[int, float] = {}
        clash: dict[int, float] = {}
        foes: dict[int, list[int]] = {}
        for other, gain in self.gain[term].items():
            if other in self.chunk:
                number = self.chunk[other]
                score.setdefault(number, 0.0)
                clash.setdefault(number, 0.0)
                foes.setdefault(number, [])
                if gain is None:
                    clash[number] += self.own[other]
                    foes[number].append(other)
                else:
                    score[number] += gain
        return score, clash, foes

    def place(self, term: int, barred: int | None) -> None:
        score, _, foes = self.met(term)
        able = [number for number in score if number != barred and not foes[number]]
        best = None
        for _ in range(TRIES):
            if not able:
                break
            best = max(able, key=lambda number: score[number])
            if self.fits(term, best, []):
                break
            able.remove(best)
            best = None
        if best is None:
            best = 0
            while best in score or best == barred:
                best += 1
        self.enter(term, best)

    def enter(self, term: int, number: int) -> None:
        self.chunk[term], total = number, 0.0
        for other, gain in self.gain[term].items():
            if self.chunk.get(other) == number and gain:
                self.own[other] += gain
                total += gain
        self.own[term] = total

    def leave(self, term: int) -> None:
        number = self.chunk.pop(term)
        for other, gain in self.gain[term].items():
            if self.chunk.get(other) == number and gain:
                self.own[other] -= gain
        self.own[term] = 0.0

    def move(self, term: int) -> bool:
        score, clash, foes = self.met(term)
        score.pop(self.chunk[term], None)
        for _ in range(TRIES):
            most, best = self.own[term] + LEAST, None
            for number in score:
                if score[number] - clash[number] > most:
                    most, best = score[number] - clash[number], number
            if best is None:
                return False
            if self.fits(term, best, foes[best]):
                break
            score[best] = 0.0
        else:
            return False
        self.leave(term)
        for foe in foes[best]:
            self.leave(foe)
        self.enter(term, best)
        for foe in foes[best]:
            self.place(foe, best)
        return True

    def fits(self, term: int, number: int, foes: list[int]) -> bool:
        """Whether no subrecord gets too long and, if m is 3, no triple with the term is rare."""
        domain = {x for x, at in self.chunk.items() if at == number} - {term} - set(foes)
        parts = [row & domain for row in self.rows if term in row]
        if self.longest and any(len(part) + 1 > self.longest for part in parts):
            return False
        triples = [pair for part in parts for pair in combinations(sorted(part), 2)]
        return self.m < 3 or all(triples.count(pair) >= self.k for pair in set(triples))
