"""Checks of refunds.py: run `python check_refunds.py` or `python -m pytest check_refunds.py` in this folder."""
# ruff: noqa: S101

import sys
import traceback
from collections.abc import Callable
from datetime import date, timedelta

from refunds import Line, Order, RefundDesk, RefundRefusedError  # type: ignore[import-not-found]

BOUGHT = date(2025, 3, 1)
ORDER = Order(
    number="A-17",
    customer="Noor",
    bought=BOUGHT,
    lines=(Line("mug", 899, 4), Line("teapot", 3250, 1)),
    shipping_cents=495,
)


def after(days: int) -> date:
    """The date so many days after the purchase."""
    return BOUGHT + timedelta(days=days)


def refused(action: Callable[[], object]) -> str:
    """The reason why the shop refuses; empty if it does not."""
    try:
        action()
    except RefundRefusedError as reason:
        return str(reason)
    return ""


def test_one_item_gives_its_price() -> None:
    """Part of an order, in time."""
    assert RefundDesk().refund(ORDER, {"mug": 1}, today=after(3)) == 899


def test_whole_order_gives_shipping_too() -> None:
    """All of an order at once, in time."""
    assert RefundDesk().refund(ORDER, {"mug": 4, "teapot": 1}, today=after(3)) == 4 * 899 + 3250 + 495


def test_thirtieth_day_is_free() -> None:
    """The last day without a fee."""
    assert RefundDesk().refund(ORDER, {"teapot": 1}, today=after(30)) == 3250


def test_late_return_costs_a_fee() -> None:
    """15 percent of 32.50 are 4.875, rounded up to 4.88."""
    assert RefundDesk().refund(ORDER, {"teapot": 1}, today=after(31)) == 3250 - 488


def test_late_whole_order_gives_no_shipping() -> None:
    """The shipping comes back within thirty days only."""
    assert RefundDesk().refund(ORDER, {"mug": 4, "teapot": 1}, today=after(60)) == 6846 - 1027


def test_too_late_is_refused() -> None:
    """The day after the last."""
    assert "61 days old" in refused(lambda: RefundDesk().refund(ORDER, {"mug": 1}, today=after(61)))


def test_item_is_refunded_only_once() -> None:
    """What has come back cannot come back again."""
    desk = RefundDesk()
    desk.refund(ORDER, {"mug": 3}, today=after(2))
    assert "1 left" in refused(lambda: desk.refund(ORDER, {"mug": 2}, today=after(5)))


def test_strange_item_is_refused() -> None:
    """An article that was never part of the order."""
    assert "not part of order A-17" in refused(lambda: RefundDesk().refund(ORDER, {"lamp": 1}, today=after(2)))


def test_refused_refund_changes_nothing() -> None:
    """A refusal leaves the desk as it was."""
    desk = RefundDesk()
    assert refused(lambda: desk.refund(ORDER, {"mug": 1, "teapot": 2}, today=after(2)))
    assert desk.returned(ORDER, "mug") == 0


def main() -> int:
    """Run every check in this file and say how many hold."""
    checks = [(name, check) for name, check in globals().items() if name.startswith("test_")]
    failed = 0
    for name, check in checks:
        try:
            check()
        except Exception:  # noqa: BLE001 - whatever a check raises, it failed
            failed += 1
            print(f"FAILED {name}")
            traceback.print_exc(limit=-1, file=sys.stdout)
        else:
            print(f"ok     {name}")
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
