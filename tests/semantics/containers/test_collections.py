"""Deques, counters, chain maps, namespaces and generators of random numbers."""

import random
from collections import (
    ChainMap,
    Counter,
    OrderedDict,
    UserDict,
    UserList,
    UserString,
    defaultdict,
    deque,
)
from types import SimpleNamespace

import dyntrace
import pytest
from differential import Compiled, check


def append_(x):
    d = deque()
    d.append(x)
    d.appendleft(2)
    return d


def maxlen_(x):
    d = deque(maxlen=3)
    for i in range(6):
        d.append(i)
    return list(d), d.maxlen, len(d)


def maxlen_left_(x):
    d = deque([1, 2, 3], 3)
    d.appendleft(0)
    return d


def pop_(x):
    d = deque([1, 2, 3])
    return d.pop(), d.popleft(), d


def pop_empty_(x):
    deque().pop()


def popleft_empty_(x):
    try:
        deque().popleft()
    except IndexError as e:
        return str(e)


def bfs_(x):
    graph = {1: [2, 3], 2: [4], 3: [4], 4: []}
    seen, order, queue = set(), [], deque([1])
    while queue:
        n = queue.popleft()
        if n in seen:
            continue
        seen.add(n)
        order.append(n)
        queue.extend(graph[n])
    return order


def rotate_(x):
    d = deque(range(5))
    d.rotate(2)
    a = list(d)
    d.rotate(-3)
    return a, list(d)


def iter_(x):
    return [v * 2 for v in deque([1, 2, 3])], sum(deque([1, 2])), max(deque([1, 5, 2]))


def rev_(x):
    return list(reversed(deque([1, 2, 3])))


def index_(x):
    d = deque("abcab")
    return d.index("b"), d.index("b", 2), d.count("a"), "c" in d, "z" in d


def index_err_(x):
    return deque([1, 2]).index(5)


def getitem_(x):
    d = deque([1, 2, 3])
    d[0] = 9
    d[-1] += 1
    return d[0], d[-1], d[1]


def getitem_err_(x):
    return deque([1])[3]


def getitem_slice_(x):
    return deque([1])[0:1]


def del_(x):
    d = deque([1, 2, 3])
    del d[1]
    return d


def insert_remove_(x):
    d = deque([1, 2, 3])
    d.insert(1, "x")
    d.remove(3)
    return d


def remove_err_(x):
    deque([1]).remove(2)


def insert_full_(x):
    deque([1], 1).insert(0, 2)


def reverse_(x):
    d = deque([1, 2, 3])
    d.reverse()
    return d


def eq_(x):
    return (
        deque([1]) == deque([1]),
        deque([1]) != deque([2]),
        deque([1]) < deque([2]),
        deque([1]) == [1],
    )


def add_(x):
    return deque([1], 3) + deque([2]), deque([1]) * 2, 2 * deque([1, 2])


def iadd_(x):
    d = deque([1], maxlen=2)
    d += [2, 3]
    return d


def repr_(x):
    return repr(deque([1, "a"])), repr(deque([1], maxlen=2)), str(deque())


def copy_(x):
    d = deque([1, 2], 5)
    e = d.copy()
    e.append(3)
    return d, e


def bool_(x):
    return bool(deque()), bool(deque([0])), len(deque("ab"))


def mutated_(x):
    d = deque([1, 2])
    for v in d:
        d.append(v)


def unpack_(x):
    a, *b = deque([1, 2, 3])
    return a, b, (*deque([4]),)


def isinst_(x):
    return isinstance(deque(), deque), type(deque()) is deque, type(deque()).__name__


def arg_append_(d):
    d.append(1)
    return len(d)


def arg_sum_(d):
    return sum(d), d[0], d[-1], d.maxlen


def arg_pop_(d):
    a = d.popleft()
    d.append(a)
    return a


def arg_clear_(d):
    d.clear()
    d.extend([7, 8])
    return d


def arg_rotate_(d):
    d.rotate(1)
    return d


def arg_left_(d):
    d.appendleft(0)
    return d


def nested_(x):
    return deque([deque([1]), deque([2])])


def self_(x):
    d = deque()
    e = {"d": d}
    d.append(1)
    return e, d


def notiter_(x):
    return deque(5)


def negmax_(x):
    return deque([], -1)


def dictdeque_(x):
    d = defaultdict(deque)
    d["a"].append(1)
    d["a"].append(2)
    return {k: list(v) for k, v in d.items()}


def window_(x):
    out, w = [], deque(maxlen=2)
    for v in [1, 2, 3]:
        w.append(v)
        if len(w) == 2:
            out.append(tuple(w))
    return out


def counter_(x):
    c = Counter("abracadabra")
    return c.most_common(2), c["z"], c


def counter2_(x):
    c = Counter(a=1)
    c.update(["a", "b"])
    c.subtract({"b": 3})
    return c, +c, c + Counter(a=2), c.total() if hasattr(c, "total") else 0


def counter3_(x):
    return (
        Counter([1, 2, 1]) & Counter([1]),
        Counter([1]) | Counter([2]),
        Counter([1, 1]) - Counter([1]),
        sorted(Counter("ab").elements()),
    )


def chainmap2_(x):
    m = ChainMap({"a": 1}).new_child({"b": 2})
    return list(m), m.parents["a"], m.get("z", 5)


def userdict_(x):
    d = UserDict(a=1)
    d["b"] = 2
    return d.data, len(d), "a" in d, d.get("q"), list(d.items())


class MyDict(UserDict):
    def __setitem__(self, k, v):
        super().__setitem__(k.lower(), v)


def userdict2_(x):
    d = MyDict()
    d["AB"] = 1
    d.update(C=2)
    return d.data


def userlist_(x):
    l = UserList([3, 1])
    l.append(2)
    l.sort()
    return l.data, l[0], l + [5], len(l)


def userstring_(x):
    s = UserString("abc")
    return str(s.upper()), s + "d" == "abcd", len(s), s[0] == "a"


def ns_(x):
    n = SimpleNamespace(a=1, b=x)
    n.c = 3
    return n.a + n.b, n.c, n


def ns_repr_(x):
    return repr(SimpleNamespace(a=1, b="x"))


def ns_eq_(x):
    return (
        SimpleNamespace(a=1) == SimpleNamespace(a=1),
        SimpleNamespace(a=1) == SimpleNamespace(a=2),
        SimpleNamespace() != 3,
    )


def ns_missing_(x):
    return SimpleNamespace(a=1).b


def ns_del_(x):
    n = SimpleNamespace(a=1, b=2)
    del n.a
    return hasattr(n, "a"), n.b


def od_(x):
    d = OrderedDict(a=1, b=2)
    d.move_to_end("a")
    d["c"] = 3
    d.popitem(last=False)
    return d, list(reversed(d))


def rand_(x):
    r = random.Random(42)
    return r.random(), r.randint(1, 10), r.choice([1, 2, 3]), r.uniform(0, 1)


def rand_shuffle_(x):
    r = random.Random(7)
    l = list(range(6))
    r.shuffle(l)
    return l, r.sample(range(10), 3), r.choices("ab", k=3)


def rand_gauss_(x):
    r = random.Random(1)
    return (
        r.gauss(0, 1),
        r.gauss(0, 1),
        r.normalvariate(0, 1),
        r.expovariate(1.0),
        r.getrandbits(70),
    )


def rand_leaves_(x):
    r = random.Random(5)
    r.random()
    return r


def rand_state_(x):
    r = random.Random(5)
    s = r.getstate()
    a = r.random()
    r.setstate(s)
    return a == r.random()


def rand_seed_(x):
    r = random.Random(5)
    r.seed(x)
    return r.random(), r.randrange(0, 100, 7)


def rand_two_(x):
    a, b = random.Random(1), random.Random(1)
    return a.random() == b.random(), a.random()


def rand_unseeded_(x):
    return random.Random() is None


def rand_global_(x):
    random.seed(3)
    return random.random(), random.randint(0, 5)


WHOLE = [
    append_,
    maxlen_,
    maxlen_left_,
    pop_,
    popleft_empty_,
    bfs_,
    rotate_,
    iter_,
    rev_,
    index_,
    getitem_,
    del_,
    insert_remove_,
    reverse_,
    eq_,
    add_,
    iadd_,
    repr_,
    copy_,
    bool_,
    unpack_,
    isinst_,
    nested_,
    self_,
    dictdeque_,
    window_,
    counter_,
    counter2_,
    counter3_,
    chainmap2_,
    userdict_,
    userdict2_,
    ns_,
    ns_repr_,
    ns_eq_,
    ns_del_,
    od_,
    rand_,
    rand_shuffle_,
    rand_gauss_,
    rand_leaves_,
    rand_state_,
    rand_seed_,
    rand_two_,
    userlist_,
    userstring_,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


BROKEN = [
    (pop_empty_, "raises"),
    (index_err_, "raises"),
    (getitem_err_, "raises"),
    (getitem_slice_, "raises"),
    (remove_err_, "raises"),
    (insert_full_, "raises"),
    (mutated_, "unknown-callable"),
    (notiter_, "raises"),
    (negmax_, "raises"),
    (ns_missing_, "raises"),
    (rand_unseeded_, "unknown-callable"),
]


@pytest.mark.parametrize("fn, breaks", BROKEN)
def test_breaks(fn, breaks):
    check(fn, 3, breaks=breaks)


OF_A_DEQUE = [arg_append_, arg_sum_, arg_pop_, arg_clear_, arg_rotate_, arg_left_]


@pytest.mark.parametrize("limit", [None, 3, 5])
@pytest.mark.parametrize("fn", OF_A_DEQUE)
def test_changes_of_an_argument(fn, limit):
    def make():
        return (deque([1, 2, 3], limit),), {}

    def plain(d):
        before = d
        result = fn(d)
        assert d is before
        return result, list(d), d.maxlen

    check(plain, make=make)


def drawn_from_the_module(x):
    y = x + 1
    return y, random.random(), random.randint(0, 5), random.choice("abc")


def test_the_module_keeps_its_stream():
    random.seed(11)
    plain = [drawn_from_the_module(1) for _ in range(4)]
    state = random.getstate()
    compiled = Compiled(drawn_from_the_module)
    random.seed(11)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        assert [compiled(1) for _ in range(4)] == plain
    assert random.getstate() == state


def drawn_from_an_argument(x, rng):
    first = rng.random()
    if first > 2:
        raise ValueError
    return x + 1, first, rng.randrange(10)


def test_an_existing_generator_keeps_its_stream():
    plain_rng, rng = random.Random(4), random.Random(4)
    plain = [drawn_from_an_argument(1, plain_rng) for _ in range(4)]
    compiled = Compiled(drawn_from_an_argument)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        assert [compiled(1, rng) for _ in range(4)] == plain
    assert rng.getstate() == plain_rng.getstate()


def test_a_new_generator_leaves_in_its_state():
    def make(x):
        rng = random.Random(x)
        return rng, [rng.random() for _ in range(3)]

    compiled = Compiled(make)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        for seed in (1, 1, 2, -5, 10**30):
            (a, drawn), (b, expected) = compiled(seed), make(seed)
            assert drawn == expected
            assert a.getstate() == b.getstate()
            assert a.gauss(0, 1) == b.gauss(0, 1)
    assert not compiled.breaks, compiled.describe()


def test_a_deque_is_guarded():
    def look(d):
        return len(d), d.maxlen, list(d)

    compiled = Compiled(look)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        for items, limit in [
            ([1, 2], None),
            ([1, 2], 2),
            ([1, 2], 500),
            ([1, 2], 501),
            ([2, 1], None),
            ([1], None),
            ([1, "a"], None),
            ([], 0),
        ]:
            d = deque(items, limit)
            assert compiled(d) == look(d) == compiled(d)
    assert not compiled.breaks, compiled.describe()


def test_one_deque_under_two_names():
    def move(a, b):
        b.append(a.popleft())
        return len(a), len(b)

    def both(fn):
        found = []
        for same in (False, True, False):
            a = deque([1, 2, 3])
            b = a if same else deque([1, 2, 3])
            found.append((fn(a, b), list(a), list(b)))
        return found

    compiled = Compiled(move)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        assert both(compiled) == both(move)


class Recent:
    def __init__(self, size):
        self.items = deque(maxlen=size)
        self.total = 0

    def add(self, value):
        if len(self.items) == self.items.maxlen:
            self.total -= self.items[0]
        self.items.append(value)
        self.total += value
        return self.total / len(self.items)


def test_a_deque_of_an_object():
    def push(recent, value):
        return recent.add(value)

    compiled = Compiled(push)
    a, b = Recent(3), Recent(3)
    with dyntrace.config.patch(everything=True, strict=True, trace_budget_ns=0):
        for value in range(8):
            assert compiled(a, value) == push(b, value)
            assert list(a.items) == list(b.items)
    assert not compiled.breaks, compiled.describe()
