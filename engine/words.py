"""Words that every layer needs."""

from __future__ import annotations


def several(count: int, noun: str) -> str:
    """
    A number of things.

    >>> several(1, "group"), several(2000, "group")
    ('1 group', '2,000 groups')
    """
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def money(amount: float, currency: str) -> str:
    """
    An amount of money, its sign left to the sentence around it.

    >>> money(1234.5, "EUR"), money(0.001, "USD"), money(0, "USD")
    ('1,234.50 EUR', 'less than 0.01 USD', '0.00 USD')
    """
    return f"less than 0.01 {currency}" if 0 < amount < 0.005 else f"{amount:,.2f} {currency}"


def byte_rate(per_second: float) -> str:
    """
    Bytes per second in the decimal unit that reads best.

    >>> byte_rate(0), byte_rate(950), byte_rate(1_234_000), byte_rate(5e12)
    ('0 B/s', '950 B/s', '1.2 MB/s', '5,000.0 GB/s')
    """
    for unit, size in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if per_second >= size:
            return f"{per_second / size:,.1f} {unit}/s"
    return f"{per_second:,.0f} B/s"
