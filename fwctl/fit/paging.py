"""How an engine pages the caches of one model: blocks, what a sequence needs of them, concurrency.

The paged plan repeats vLLM's arithmetic (v1 kv_cache_utils, checked against logged concurrency): one
pool of equal pages, layers in groups of equal size, recurrent state padded to an attention page. The
linear plan counts bytes without pages, for engines whose paging is not known.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from fwctl.fit.architecture import CacheKind
from fwctl.fit.kvcache import Growth, bytes_per_sequence, merged

# Groups of this ratio or less are padded to the larger one (vLLM: 1.5).
UNEVEN_RATIO = 1.5


class PageGroup(NamedTuple):
    """`groups` page tables of one kind of layer; a page holds `block_tokens` tokens. states: pages of a
    recurrent layer, one and one for each drafted token."""

    kind: CacheKind
    groups: int
    block_tokens: int
    window: int | None = None
    states: int = 1


class CachePlan(NamedTuple):
    """block_bytes: size of one block of the pool on one GPU. linear: what a sequence needs when there
    are no pages; the unit is then one byte."""

    block_bytes: float
    groups: tuple[PageGroup, ...]
    chunk: int
    linear: tuple[Growth, ...] = ()

    def capacity(self, pool_bytes: float) -> float:
        """Blocks in a pool, whole ones; bytes for the linear plan."""
        if pool_bytes <= 0:
            return 0.0
        return pool_bytes if self.linear else float(math.floor(pool_bytes / self.block_bytes))

    def need(self, tokens: int) -> float:
        """Blocks (or bytes) that one sequence of this length takes at its peak."""
        if self.linear:
            return bytes_per_sequence(self.linear, tokens, self.chunk)
        return float(sum(group.groups * _blocks(group, tokens, self.chunk) for group in self.groups))

    def shared(self, tokens: int) -> float:
        """What a common prefix takes once: the layers that keep all of it, in whole blocks."""
        if self.linear:
            return _linear_shared(self.linear, tokens)
        return float(sum(g.groups * (tokens // g.block_tokens) for g in self.groups if _keeps_all(g.kind)))

    def concurrency(self, pool_bytes: float, tokens: int, prefix: int = 0) -> float:
        """Sequences of this length that a pool holds, the prefix charged once."""
        once = self.shared(min(prefix, tokens)) if prefix else 0.0
        each = self.need(tokens) - once
        room = self.capacity(pool_bytes) - once
        if room <= 0:
            return 0.0
        return room / each if each > 0 else room / max(self.block_bytes, 1.0)

    def largest_context(self, pool_bytes: float, sequences: float, limit: int, prefix: int = 0) -> int:
        """Most tokens a sequence may have so that `sequences` of them fit; at most `limit`."""
        low, high = 0, limit
        while low < high:
            middle = (low + high + 1) // 2
            if self.concurrency(pool_bytes, middle, prefix) >= sequences:
                low = middle
            else:
                high = middle - 1
        return low


def _keeps_all(kind: CacheKind) -> bool:
    return kind in (CacheKind.FULL, CacheKind.LATENT)


def _blocks(group: PageGroup, tokens: int, chunk: int) -> int:
    if group.kind is CacheKind.STATE:
        return group.states
    if group.window is None:
        return -(-tokens // group.block_tokens)
    kept = min(group.window - 1 + chunk, tokens)
    return -(-kept // group.block_tokens) + 1


def _linear_shared(items: tuple[Growth, ...], tokens: int) -> float:
    return sum(
        (item.layers * item.per_token + item.index_layers * item.index_per_token) * tokens
        for item in items
        if _keeps_all(item.kind)
    )


def linear_plan(items: tuple[Growth, ...], chunk: int = 0) -> CachePlan:
    """Bytes without pages; a windowed layer keeps its window and the chunk in flight."""
    return CachePlan(1.0, (), chunk, items)


def paged_plan(
    items: tuple[Growth, ...], block_tokens: int, chunk: int, alignment: int | None = None, drafted: int = 0
) -> CachePlan:
    """vLLM's plan. One kind of growing layer: one group. Several: groups of equal layer count.

    alignment: what a block that is enlarged to hold a recurrent state is a multiple of (default: the
    block itself). drafted: tokens that speculation proposes at once; a recurrent layer keeps a state for
    each of them.
    """
    items = merged(items)
    growing = [item for item in items if item.per_token > 0]
    kinds = {(item.kind is CacheKind.WINDOW, item.window) for item in growing}
    states = [item for item in items if item.kind is CacheKind.STATE]
    if not states and len(kinds) <= 1:
        return _single(growing, block_tokens, chunk)
    plan = _grouped(items, growing, states, (alignment or block_tokens) if states else block_tokens, chunk)
    return plan._replace(groups=tuple(_drafting(group, drafted) for group in plan.groups))


def _drafting(group: PageGroup, drafted: int) -> PageGroup:
    return group._replace(states=1 + drafted) if group.kind is CacheKind.STATE else group


def _single(growing: list[Growth], block_tokens: int, chunk: int) -> CachePlan:
    if not growing:
        return linear_plan((), chunk)
    per_token = sum(g.per_token * g.layers + g.index_per_token * g.index_layers for g in growing)
    group = PageGroup(growing[0].kind, 1, block_tokens, growing[0].window)
    return CachePlan(per_token * block_tokens, (group,), chunk)


def _grouped(
    items: tuple[Growth, ...], growing: list[Growth], states: list[Growth], block_tokens: int, chunk: int
) -> CachePlan:
    """Pages of one size: blocks are enlarged until the attention page holds a state, then all pages
    are brought to the largest."""
    base = next((g for g in growing if _keeps_all(g.kind)), growing[0] if growing else None)
    state_page = max((s.fixed for s in states), default=0.0)
    if base is None:
        count = sum(s.layers for s in states)
        return CachePlan(state_page * count, (PageGroup(CacheKind.STATE, 1, 1),), chunk)
    if states:
        block_tokens *= max(1, math.ceil(state_page / (block_tokens * base.per_token)))
    largest = max(state_page, *(g.per_token * block_tokens for g in growing))
    size = _group_size([item.layers for item in items])
    groups = []
    for item in items:
        tokens = block_tokens
        page = item.per_token * block_tokens
        if page and page < largest and largest % page == 0:
            tokens *= int(largest // page)
        groups.append(PageGroup(item.kind, -(-item.layers // size), tokens, item.window))
    index = sum(item.index_layers * item.index_per_token for item in items) * block_tokens
    return CachePlan(size * largest + index, tuple(groups), chunk)


def _group_size(counts: list[int]) -> int:
    smallest, largest = min(counts), max(counts)
    return largest if largest < smallest * UNEVEN_RATIO else smallest
