"""Refunds of a small web shop.

Money is counted in whole cents. An order can be returned in parts; no item is refunded twice.

    days since the purchase    refund
    0-30                       the price of the items, and the shipping if the whole order comes back at once
    31-60                      the price of the items less a fee of 15 percent
    later                      nothing
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date

FREE_DAYS = 30
LATE_DAYS = 60
LATE_FEE_PERCENT = 15


class RefundRefusedError(Exception):
    """The shop does not refund this; the message says why."""


@dataclass(frozen=True, slots=True)
class Line:
    """One article of an order."""

    sku: str
    unit_cents: int
    quantity: int


@dataclass(frozen=True, slots=True)
class Order:
    """What a customer bought on one day."""

    number: str
    customer: str
    bought: date
    lines: tuple[Line, ...]
    shipping_cents: int = 0

    def line(self, sku: str) -> Line:
        """The line of an article; refuses an article that is not part of the order."""
        for line in self.lines:
            if line.sku == sku:
                return line
        message = f"{sku} is not part of order {self.number}"
        raise RefundRefusedError(message)


class RefundDesk:
    """Works out refunds and remembers what has come back."""

    def __init__(self) -> None:
        """Nothing has come back yet."""
        self._returned: dict[tuple[str, str], int] = {}

    def refund(self, order: Order, items: Mapping[str, int], *, today: date) -> int:
        """Take items back and return the cents to pay out."""
        days = (today - order.bought).days
        if days < 0:
            message = f"order {order.number} is dated after today"
            raise RefundRefusedError(message)
        if days > LATE_DAYS:
            message = f"order {order.number} is {days} days old, more than {LATE_DAYS}"
            raise RefundRefusedError(message)
        self._check(order, items)

        goods = sum(order.line(sku).unit_cents * quantity for sku, quantity in items.items())
        if days > FREE_DAYS:
            goods -= fee(goods)
        shipping = order.shipping_cents if days <= FREE_DAYS and is_whole(order, items) else 0

        for sku, quantity in items.items():
            self._returned[order.number, sku] = self.returned(order, sku) + quantity
        return goods + shipping

    def returned(self, order: Order, sku: str) -> int:
        """How many of an article of this order have come back so far."""
        return self._returned.get((order.number, sku), 0)

    def _check(self, order: Order, items: Mapping[str, int]) -> None:
        if not items:
            message = "nothing to refund"
            raise RefundRefusedError(message)
        for sku, quantity in items.items():
            still_out = order.line(sku).quantity - self.returned(order, sku)
            if not 0 < quantity <= still_out:
                message = f"cannot take back {quantity} of {sku}: {still_out} left"
                raise RefundRefusedError(message)


def fee(cents: int) -> int:
    """The fee for a late return, half a cent rounded up."""
    return (cents * LATE_FEE_PERCENT + 50) // 100


def is_whole(order: Order, items: Mapping[str, int]) -> bool:
    """Whether these items are all of the order."""
    return {line.sku: line.quantity for line in order.lines} == dict(items)
