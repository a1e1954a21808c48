"""Loggers below their level, dates, and what the standard library computes of known values."""

import datetime
import logging
import statistics
import string
import textwrap
from fractions import Fraction

import dyntrace
import pytest
from differential import Compiled, check

log = logging.getLogger("dyntrace.tests.quiet")
log.setLevel(logging.WARNING)
child = logging.getLogger("dyntrace.tests.quiet.child")
off = logging.getLogger("dyntrace.tests.off")
off.disabled = True


class Service:
    log = logging.getLogger("dyntrace.tests.quiet.service")

    def __init__(self):
        self.total = 0

    def run(self, value):
        self.log.debug("run %r", value)
        self.total += value
        return self.total


def below_the_level(x):
    log.debug("x is %s", x)
    return x + 1


def of_a_child(x):
    child.info("x")
    return x


def of_a_disabled_one(x):
    off.error("no")
    return x


def asks_first(x):
    if log.isEnabledFor(logging.DEBUG):
        return 0
    return x, child.isEnabledFor(logging.ERROR)


def in_a_loop(x):
    total = 0
    for i in range(3):
        log.debug("i=%d", i)
        total += i
    return total


def in_methods(x):
    service = Service()
    service.run(x)
    return service.run(x)


def by_number(x):
    log.log(5, "a")
    log.log(logging.INFO, "b")
    return x


def in_a_handler(x):
    try:
        raise ValueError(x)
    except ValueError as error:
        log.debug("failed: %s", error)
        return str(error)


def a_day_later(x):
    return datetime.date(2020, 2, 28) + datetime.timedelta(days=x)


def seconds(x):
    return datetime.timedelta(hours=x, minutes=1).total_seconds()


def between(x):
    return (datetime.date(2021, 1, 1) - datetime.date(2020, 1, 1)).days * x


def parts_of_a_date(x):
    d = datetime.date(2020, 2, 28)
    return d.year, d.month, d.weekday(), d.isoformat(), d < datetime.date(2021, 1, 1)


def scaled(x):
    t = datetime.timedelta(minutes=3)
    return t * x, t / datetime.timedelta(minutes=1), t - t, t > datetime.timedelta(0)


def no_such_day(x):
    return datetime.date(2020, 2, 30)


def two_dates_added(x):
    return datetime.date(2020, 2, 3) + datetime.date(2020, 2, 3)


def statistics_of_numbers(x):
    data = [1, 2, 3, x]
    return statistics.mean(data), statistics.median(data), statistics.pvariance([1, 2, 3])


def modes(x):
    return statistics.mode([1, 2, 2]), statistics.multimode("aabb")


def deviation(x):
    return statistics.stdev([1.0, 2.0, 4.0]), statistics.fmean([1.0, 2.0])


def fractions(x):
    return Fraction(1, 3) + Fraction(x, 6), Fraction(3, 4) * 2, float(Fraction("0.25"))


def more_fractions(x):
    f = Fraction(7, 2)
    return f // 2, f % 2, -f, f**2, abs(f), f < 1, str(f)


def no_fraction(x):
    return Fraction(1, 0)


def templates(x):
    return string.Template("$a is ${b}").substitute(a=1, b=x), string.capwords("ab cd")


def wrapped_text(x):
    return textwrap.wrap("aaa bbb ccc ddd", 7), textwrap.dedent("  a\n   b\n")


def by_name(x):
    mine = logging.getLogger("dyntrace.tests.quiet")
    mine.debug("x is %s", x)
    if mine is not log or mine.getChild("child") is not child:
        return x
    mine.getChild("child").info("no")
    return x + mine.level, logging.getLogger().name, logging.getLogger("root") is logging.root


WHOLE = [
    by_name,
    below_the_level,
    of_a_child,
    of_a_disabled_one,
    asks_first,
    in_a_loop,
    in_methods,
    by_number,
    in_a_handler,
    a_day_later,
    seconds,
    between,
    parts_of_a_date,
    scaled,
    modes,
    templates,
    wrapped_text,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


@pytest.mark.parametrize("fn", [no_such_day, two_dates_added, no_fraction])
def test_errors(fn):
    check(fn, 3, breaks="raises")


def test_a_level_that_changes(caplog):
    def work(x):
        log.debug("x is %s", x)
        return x + 1

    compiled = Compiled(work)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        assert compiled(1) == compiled(1) == 2
        assert not compiled.breaks, compiled.describe()
        try:
            log.setLevel(logging.DEBUG)
            assert compiled(2) == 3
            assert [r.getMessage() for r in caplog.records] == ["x is 2"]
        finally:
            log.setLevel(logging.WARNING)
        caplog.clear()
        assert compiled(3) == 4
        try:
            logging.disable(logging.CRITICAL)
            assert compiled(3) == 4
        finally:
            logging.disable(logging.NOTSET)
        assert compiled(5) == 6
        assert not caplog.records


def test_a_level_that_was_never_asked_for():
    fresh = logging.getLogger("dyntrace.tests.quiet.never.asked")

    def work(x):
        fresh.debug("x is %s", x)
        return x + 1

    def forget():
        fresh._cache.clear()

    check(work, 1, reset=forget)


def test_all_that_are_disabled_at_once():
    fresh = logging.getLogger("dyntrace.tests.quiet.at.once")

    def work(x):
        fresh.error("x is %s", x)
        return x + 1

    compiled = Compiled(work)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        logging.disable(logging.CRITICAL)
        try:
            assert compiled(1) == compiled(1) == 2
            assert not compiled.breaks, compiled.describe()
        finally:
            logging.disable(logging.NOTSET)


def test_a_level_that_is_inherited(caplog):
    parent = logging.getLogger("dyntrace.tests.quiet")
    fresh = logging.getLogger("dyntrace.tests.quiet.inherits")

    def work(x):
        fresh.info("x is %s", x)
        return x

    compiled = Compiled(work)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        assert compiled(1) == 1
        try:
            parent.setLevel(logging.INFO)
            assert compiled(2) == 2
        finally:
            parent.setLevel(logging.WARNING)
        assert compiled(3) == 3
    assert [r.getMessage() for r in caplog.records] == ["x is 2"]


@pytest.mark.parametrize("fn", [statistics_of_numbers, deviation, fractions, more_fractions])
def test_fractions(fn):
    check(fn, 3)


def test_a_logger_that_is_made():
    def fn(x):
        made = logging.getLogger(f"dyntrace.tests.made.{x}")
        return made.level, logging.getLogger("dyntrace.tests.made").name, made.name

    def forget():
        known = logging.Logger.manager.loggerDict
        for name in [name for name in known if name.startswith("dyntrace.tests.made")]:
            del known[name]

    check(fn, 3, breaks="unknown-callable", entries=None, reset=forget)


def test_a_name_that_is_no_text():
    check(lambda x: logging.getLogger(x), 3, breaks="unknown-callable", entries=None)


def test_a_manager_of_the_program(monkeypatch):
    class Manager(logging.Manager):
        def getLogger(self, name):
            return name, super().getLogger(name)

    def fn(x):
        return logging.getLogger("dyntrace.tests.quiet"), x

    compiled = Compiled(fn, "native", None)
    assert compiled(1) == fn(1)
    monkeypatch.setattr(logging.Logger, "manager", Manager(logging.root))
    assert compiled(1) == fn(1)
