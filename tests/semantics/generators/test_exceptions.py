"""Exceptions and generators: StopIteration, throw, close, finally, what a generator raises."""

import numpy as np
import pytest
from differential import check

A = np.linspace(0.5, 2.0, 4)


def count_up(n):
    for i in range(n):
        yield i


def stop_iteration_is_caught(x):
    numbers = count_up(1)
    next(numbers)
    try:
        next(numbers)
    except StopIteration:
        x = x + 1
    return x


def stop_iteration_value(x):
    def g():
        yield 1
        return "result"

    numbers = g()
    next(numbers)
    try:
        next(numbers)
    except StopIteration as stop:
        return stop.value, stop.args, x + 1


def stop_iteration_once(x):
    def g():
        yield 1
        return 5

    numbers, out = g(), []
    for _ in range(3):
        try:
            out.append(next(numbers))
        except StopIteration as stop:
            out.append(("stop", stop.value))
    return out, x + 1


def send_to_the_end(x):
    def g():
        got = yield 1
        return got * 2

    numbers = g()
    next(numbers)
    try:
        numbers.send(21)
    except StopIteration as stop:
        return x * stop.value


def loop_with_next(x):
    numbers = count_up(4)
    while True:
        try:
            x = x + next(numbers)
        except StopIteration:
            break
    return x


def raises_in_generator(x):
    def g():
        yield 1
        raise ValueError("from g")

    out = []
    try:
        for i in g():
            out.append(i)
    except ValueError as error:
        out.append(error.args[0])
    return out, x + 1


def after_raising_it_is_exhausted(x):
    def g():
        yield 1
        raise KeyError("k")

    numbers = g()
    next(numbers)
    try:
        next(numbers)
    except KeyError:
        pass
    return list(numbers), next(numbers, "end"), x + 1


def try_inside_generator(x):
    def safe(items):
        for item in items:
            try:
                yield 10 // item
            except ZeroDivisionError:
                yield None

    return list(safe([1, 0, 5])), x + 1


def try_around_computation(x):
    def parsed(words):
        for w in words:
            try:
                n = int(w)
            except ValueError:
                continue
            yield n

    return list(parsed(["1", "x", "3"])), x + 1


def finally_at_exhaustion(x):
    log = []

    def g():
        try:
            yield 1
            yield 2
        finally:
            log.append("closed")

    out = []
    for i in g():
        out.append(i)
        log.append(i)
    log.append("after")
    return out, log, x + 1


def finally_at_close(x):
    log = []

    def g():
        try:
            yield 1
        finally:
            log.append("closed")

    numbers = g()
    next(numbers)
    log.append("before")
    numbers.close()
    log.append("after")
    numbers.close()
    return log, list(numbers), x + 1


def finally_at_raise(x):
    log = []

    def g():
        try:
            yield 1
            raise ValueError("inside")
        finally:
            log.append("finally")

    try:
        list(g())
    except ValueError as error:
        log.append(error.args[0])
    return log, x + 1


def close_without_handlers(x):
    numbers = count_up(5)
    next(numbers)
    result = numbers.close()
    return result, list(numbers), x + 1


def close_before_start(x):
    log = []

    def g():
        log.append("started")
        yield 1

    numbers = g()
    numbers.close()
    return log, list(numbers), x + 1


def close_catches_generator_exit(x):
    log = []

    def g():
        try:
            yield 1
        except GeneratorExit:
            log.append("exit")
            raise

    numbers = g()
    next(numbers)
    numbers.close()
    return log, x + 1


def close_swallowed(x):
    log = []

    def g():
        try:
            yield 1
        except GeneratorExit:
            log.append("exit")

    numbers = g()
    next(numbers)
    numbers.close()
    return log, x + 1


def close_ignored(x):
    def g():
        try:
            yield 1
        except GeneratorExit:
            yield 2

    numbers = g()
    next(numbers)
    try:
        numbers.close()
    except RuntimeError as error:
        return error.args[0], x + 1


def close_of_delegation(x):
    log = []

    def inner():
        try:
            yield 1
        finally:
            log.append("inner")

    def outer():
        try:
            yield from inner()
        finally:
            log.append("outer")

    numbers = outer()
    next(numbers)
    numbers.close()
    return log, x + 1


def throw_into(x):
    def g():
        try:
            yield 1
        except ValueError as error:
            yield "caught " + error.args[0]

    numbers = g()
    next(numbers)
    return numbers.throw(ValueError("v")), next(numbers, "end"), x + 1


def throw_class(x):
    def g():
        while True:
            try:
                yield "waiting"
            except KeyError:
                yield "key"

    numbers = g()
    out = next(numbers), numbers.throw(KeyError), next(numbers)
    numbers.close()
    return out, x + 1


def throw_not_caught(x):
    numbers = count_up(3)
    next(numbers)
    try:
        numbers.throw(ValueError("out"))
    except ValueError as error:
        return error.args[0], list(numbers), x + 1


def throw_before_start(x):
    log = []

    def g():
        log.append("started")
        yield 1

    numbers = g()
    try:
        numbers.throw(ValueError("early"))
    except ValueError as error:
        log.append(error.args[0])
    return log, list(numbers), x + 1


def throw_at_end(x):
    numbers = count_up(1)
    list(numbers)
    try:
        numbers.throw(ValueError("late"))
    except ValueError as error:
        return error.args[0], x + 1


def throw_returns(x):
    def g():
        try:
            yield 1
        except ValueError:
            return "done"

    numbers = g()
    next(numbers)
    try:
        numbers.throw(ValueError)
    except StopIteration as stop:
        return stop.value, x + 1


def throw_through_delegation(x):
    log = []

    def inner():
        try:
            yield 1
        except ValueError:
            log.append("inner")
            yield 2
        return "r"

    def outer():
        got = yield from inner()
        log.append(got)
        yield 3

    numbers = outer()
    next(numbers)
    return numbers.throw(ValueError), next(numbers), log, x + 1


def throw_ends_delegation(x):
    def inner():
        try:
            yield 1
        except ValueError:
            return "inner result"

    def outer():
        got = yield from inner()
        yield got

    numbers = outer()
    next(numbers)
    return numbers.throw(ValueError()), list(numbers), x + 1


def throw_falls_through_delegation(x):
    def inner():
        yield 1

    def outer():
        try:
            yield from inner()
        except ValueError as error:
            yield error.args[0]

    numbers = outer()
    next(numbers)
    return numbers.throw(ValueError("deep")), x + 1


def throw_into_delegated_list(x):
    def outer():
        try:
            yield from [1, 2, 3]
        except ValueError:
            yield "list has no throw"

    numbers = outer()
    next(numbers)
    return numbers.throw(ValueError), list(numbers), x + 1


def raise_stop_iteration_inside(x):
    def g():
        yield 1
        raise StopIteration("wrong")

    try:
        list(g())
    except RuntimeError as error:
        return error.args[0], type(error.__cause__).__name__, error.__cause__.args, x + 1


def next_inside_leaks(x):
    def first(items):
        yield next(iter(items))

    out = []
    for items in ([1], []):
        try:
            out.append(list(first(items)))
        except RuntimeError as error:
            out.append(error.args[0])
    return out, x + 1


def cause_and_context_of_leak(x):
    def g():
        raise StopIteration
        yield

    try:
        next(g())
    except RuntimeError as error:
        return error.__cause__ is error.__context__, error.__suppress_context__, x + 1


def send_non_none_first(x):
    try:
        count_up(2).send(1)
    except TypeError as error:
        return error.args[0], x + 1


def already_executing(x):
    def g():
        yield next(me)

    me = g()
    try:
        next(me)
    except ValueError as error:
        return error.args[0], x + 1


def handled_exception_in_generator(x):
    def g():
        try:
            raise ValueError("a")
        except ValueError:
            yield 1
            try:
                raise KeyError("b")
            except KeyError as error:
                yield type(error.__context__).__name__

    return list(g()), x + 1


def handler_state_is_the_generators_own(x):
    def g():
        try:
            raise ValueError("inner")
        except ValueError:
            yield 1
            yield 2

    numbers = g()
    next(numbers)
    try:
        raise LookupError("first")
    except LookupError:
        next(numbers)
        try:
            raise KeyError("outer")
        except KeyError as error:
            context = type(error.__context__).__name__
    return list(numbers), context, x + 1


def raise_again_in_generator(x):
    def g():
        try:
            1 // 0
        except ZeroDivisionError:
            yield "handling"
            raise

    numbers = g()
    out = [next(numbers)]
    try:
        next(numbers)
    except ZeroDivisionError as error:
        out.append(error.args[0])
    return out, x + 1


def with_inside_generator(x):
    log = []

    def g():
        with Scope(log):
            yield 1
            yield 2

    return list(g()), log, x + 1


def with_swallows_throw(x):
    def g():
        with Swallow():
            yield 1
        yield 2

    numbers = g()
    next(numbers)
    return numbers.throw(ValueError("x")), x + 1


def generator_in_try(x):
    try:
        return sum(10 // i for i in (1, 0)), x
    except ZeroDivisionError:
        return "zero", x + 1


def sum_raises_in_the_middle(x):
    seen = []

    def g():
        for i in range(5):
            seen.append(i)
            if i == 2:
                raise ValueError(i)
            yield i

    try:
        sum(g())
    except ValueError as error:
        return seen, error.args, x + 1


def extend_keeps_what_came_before(x):
    out = [0]

    def g():
        yield 1
        yield 2
        raise KeyError("k")

    try:
        out.extend(g())
    except KeyError:
        pass
    return out, x + 1


def user_iterator(x):
    return list(Countdown(3)), sum(Countdown(4)), x + 1


def user_iterator_with_value(x):
    it = Countdown(1)
    next(it)
    try:
        next(it)
    except StopIteration as stop:
        return stop.value, next(it, "default"), x + 1


def user_iterator_in_yield_from(x):
    def g():
        got = yield from Countdown(2)
        yield got

    return list(g()), x + 1


class Scope:
    def __init__(self, log):
        self.log = log

    def __enter__(self):
        self.log.append("in")
        return self

    def __exit__(self, *error):
        self.log.append("out")
        return False


class Swallow:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, tb):
        return kind is ValueError


class Countdown:
    def __init__(self, n):
        self.n = n

    def __iter__(self):
        return self

    def __next__(self):
        if self.n <= 0:
            raise StopIteration("lift off")
        self.n -= 1
        return self.n


class Squares:
    def __init__(self, n):
        self.n = n

    def __getitem__(self, i):
        if i >= self.n:
            raise IndexError(i)
        return i * i


def sequence_protocol(x):
    s = Squares(4)
    return list(s), sum(Squares(3)), [*zip(s, "ab")], 4 in s, 5 in s, x + 1


def sequence_protocol_iterator(x):
    it = iter(Squares(2))
    return next(it), next(it), next(it, "end"), next(it, "end"), x + 1


def callable_that_stops(x):
    values = [1, 2]

    def pull():
        if not values:
            raise StopIteration
        return values.pop(0)

    return list(iter(pull, "never")), x + 1


def unpack_too_many(x):
    try:
        a, b = count_up(5)
    except ValueError as error:
        return error.args[0], x + 1


def unpack_too_few(x):
    try:
        a, b, c = count_up(2)
    except ValueError as error:
        return error.args[0], x + 1


def unpack_star_too_few(x):
    try:
        a, b, *c = count_up(1)
    except ValueError as error:
        return error.args[0], x + 1


def dict_changes_size(x):
    d = {"a": 1, "b": 2}
    try:
        for k in d:
            d[k + "!"] = 0
    except RuntimeError as error:
        return error.args[0], x + 1


def dict_items_change_size(x):
    d = {1: 1, 2: 2}
    try:
        for k, _ in d.items():
            del d[k]
    except RuntimeError as error:
        return error.args[0], d, x + 1


def zip_strict_raises(x):
    out = []
    for args in (([1, 2], [1]), ([1], [1, 2]), ([1, 2], [1, 2], [1])):
        try:
            list(zip(*args, strict=True))
        except ValueError as error:
            out.append(error.args[0])
    return out, x + 1


def next_of_a_list(x):
    try:
        next([1])
    except TypeError as error:
        return error.args[0], x + 1


def iter_of_int(x):
    try:
        iter(5)
    except TypeError as error:
        return error.args[0], x + 1


def coroutine_style_pipeline(x):
    received = []

    def sink():
        try:
            while True:
                received.append((yield))
        except GeneratorExit:
            received.append("closed")

    def scale(target, factor):
        try:
            while True:
                target.send((yield) * factor)
        except GeneratorExit:
            target.close()

    end = sink()
    next(end)
    start = scale(end, 3)
    next(start)
    start.send(1)
    start.send(2)
    start.close()
    return received, x + 1


def retry_with_throw(x):
    def worker():
        attempts = 0
        while True:
            try:
                got = yield attempts
                return got
            except ConnectionError:
                attempts += 1

    w = worker()
    out = [next(w), w.throw(ConnectionError), w.throw(ConnectionError())]
    try:
        w.send("ok")
    except StopIteration as stop:
        out.append(stop.value)
    return out, x + 1


def scheduler(x):
    log = []

    def task(name, n):
        for i in range(n):
            log.append((name, i))
            yield
        return name

    tasks, done = [task("a", 2), task("b", 1)], []
    while tasks:
        t = tasks.pop(0)
        try:
            next(t)
        except StopIteration as stop:
            done.append(stop.value)
        else:
            tasks.append(t)
    return log, done, x + 1


CASES = [
    value
    for value in list(globals().values())
    if getattr(value, "__module__", None) == __name__
    and getattr(value, "__code__", None)
    and value is not count_up
]


@pytest.mark.parametrize("fn", CASES, ids=lambda fn: fn.__name__)
def test_captured(fn):
    check(fn, A)


def uncaught_stop(x):
    return next(count_up(0)), x


def uncaught_in_generator(x):
    def g():
        yield 1
        raise ValueError("not caught")

    return [x * i for i in g()]


def uncaught_leak(x):
    def g():
        yield next(iter(()))

    return list(g()), x


def uncaught_throw(x):
    numbers = count_up(3)
    next(numbers)
    numbers.throw(KeyError("k"))
    return x


@pytest.mark.parametrize(
    "fn", [uncaught_stop, uncaught_in_generator, uncaught_leak, uncaught_throw]
)
def test_what_is_not_caught_is_raised_plainly(fn):
    check(fn, A, breaks="raises")
