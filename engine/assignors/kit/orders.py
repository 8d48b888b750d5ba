"""Orders as arrays of indices: sorting by several small whole numbers, and where in an order each one stands."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints

_SHORT = 1 << 16


def stable_order(*keys: npt.NDArray[np.signedinteger]) -> Ints:
    """
    The order that sorts by the first key, then the next; what is equal in all stays in its order.

    Args:
        keys: Arrays of one length, at least one.

    >>> stable_order(np.array([1, 0, 1]), np.array([5, 9, 4])).tolist()
    [1, 2, 0]
    """
    order = np.argsort(_short(keys[-1]), kind="stable")
    for key in keys[-2::-1]:
        order = order[np.argsort(_short(key)[order], kind="stable")]
    return order


def places(order: Ints) -> Ints:
    """
    Where each one stands in an order of all.

    >>> places(np.array([2, 0, 1])).tolist()
    [1, 2, 0]
    """
    place = np.empty(len(order), np.int64)
    place[order] = np.arange(len(order))
    return place


def _short(key: npt.NDArray[np.signedinteger]) -> npt.NDArray[np.integer]:
    """The key in 16 bits where it fits: numpy then sorts digit by digit, many times faster."""
    fits = len(key) and 0 <= int(key.min()) and int(key.max()) < _SHORT
    return key.astype(np.uint16) if fits else key
