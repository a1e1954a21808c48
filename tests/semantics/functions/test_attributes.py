"""Attributes of functions, read and written, and what decorators do with them."""

import contextlib
import functools
import inspect
import types

import dyntrace
import pytest
from differential import check


def helper(x, y=2, *, z=3) -> int:
    "the doc"
    return x + y + z


helper.tag = "hello"
helper.table = {"a": 1}


def nodoc(x):
    return x


def clos():
    n = 5

    def inner(x):
        return x + n

    return inner


inner = clos()


def deco(f):
    @functools.wraps(f)
    def wrapper(*a, **k):
        return f(*a, **k) * 2

    return wrapper


@deco
def decorated(x):
    "decorated doc"
    return x + 1


class C:
    def m(self, x):
        "m doc"
        return x

    @staticmethod
    def s(x):
        return x

    @classmethod
    def c(cls, x):
        return cls, x


def name_(x):
    return helper.__name__


def qual_(x):
    return C.m.__qualname__


def doc_(x):
    return helper.__doc__, nodoc.__doc__


def module_(x):
    return helper.__module__


def defaults_(x):
    return helper.__defaults__, nodoc.__defaults__


def kwdefaults_(x):
    return helper.__kwdefaults__


def code_(x):
    return helper.__code__.co_name, helper.__code__.co_argcount, helper.__code__.co_varnames


def closure_(x):
    return inner.__closure__[0].cell_contents + x


def closure_none_(x):
    return helper.__closure__ is None


def annotations_(x):
    return helper.__annotations__


def annotations2_(x):
    return nodoc.__annotations__


def dict_(x):
    return helper.__dict__["tag"]


def attr_(x):
    return helper.tag, helper.table["a"]


def hasattr_(x):
    return hasattr(helper, "nope"), hasattr(helper, "tag")


def getattr_default_(x):
    return getattr(helper, "nope", 3)


def missing_(x):
    return helper.nope


def wrapped_(x):
    return decorated.__wrapped__(x), decorated.__name__, decorated.__doc__


def new_name_(x):
    def g(a, b=1):
        "gdoc"
        return a

    return (
        g.__name__,
        g.__qualname__,
        g.__doc__,
        g.__module__,
        g.__defaults__,
        g.__kwdefaults__,
        g.__closure__,
    )


def new_ann_(x):
    def g(a: int, b: str = "x") -> float:
        return a

    return g.__annotations__


def new_ann2_(x):
    def g(a):
        return a

    return g.__annotations__


def new_set_(x):
    def g(a):
        return a

    g.__name__ = "other"
    g.__doc__ = "docs"
    g.__qualname__ = "q.other"
    g.__module__ = "mod"
    return g.__name__, g.__doc__, g.__qualname__, g.__module__


def new_set_leaves_(x):
    def g(a):
        return a

    g.__name__ = "other"
    g.__doc__ = "docs"
    g.tag = x
    return g


def new_defaults_(x):
    def g(a, b):
        return a, b

    g.__defaults__ = (5,)
    return g(x)


def new_kwdefaults_(x):
    def g(a, *, b):
        return a, b

    g.__kwdefaults__ = {"b": 6}
    return g(x)


def wraps_(x):
    def d(f):
        @functools.wraps(f)
        def w(*a):
            return f(*a) + 1

        return w

    g = d(helper)
    return g(x), g.__name__, g.__doc__, g.tag, g.__wrapped__ is helper


def wraps_new_(x):
    def d(f):
        @functools.wraps(f)
        def w(*a):
            return f(*a) + 1

        return w

    @d
    def h(y):
        "hdoc"
        return y * 2

    return h(x), h.__name__, h.__doc__


def wraps_leaves_(x):
    @functools.wraps(helper)
    def w(*a):
        return x

    return w


def update_wrapper_(x):
    def w(*a):
        return x

    functools.update_wrapper(w, helper, assigned=("__doc__",), updated=())
    return w.__doc__, w.__name__


def update_wrapper_partial_(x):
    p = functools.partial(helper, 1)

    def w(*a):
        return x

    functools.update_wrapper(w, p)
    return w.__name__


def partial_(x):
    p = functools.partial(helper, 1, z=5)
    return p(x), p.func.__name__, p.args, p.keywords


def cm_(x):
    @contextlib.contextmanager
    def cm(v):
        yield v + 1

    with cm(x) as y:
        return y


def exitstack_(x):
    out = []
    with contextlib.ExitStack() as st:
        st.callback(out.append, 1)
        st.enter_context(contextlib.nullcontext(3))
        out.append(2)
    return out


def exitstack_exc_(x):
    out = []
    try:
        with contextlib.ExitStack() as st:
            st.callback(out.append, 1)
            raise ValueError("a")
    except ValueError:
        out.append(9)
    return out


def exitstack_push_(x):
    with contextlib.ExitStack() as st:
        st.push(lambda *exc: True)
        raise ValueError("a")
    return x


def closing_(x):
    class R:
        pass

    return x


class Res:
    def __init__(self):
        self.log = []

    def close(self):
        self.log.append("closed")


def closing2_(x):
    r = Res()
    with contextlib.closing(r) as q:
        q.log.append("used")
    return r.log


def suppress_(x):
    with contextlib.suppress(KeyError):
        {}["a"]
    return x


def suppress_many_(x):
    with contextlib.suppress(KeyError, ValueError):
        raise ValueError(x)
    return x


def nullcontext_(x):
    with contextlib.nullcontext(x) as y:
        return y


def method_name_(x):
    return C().m.__name__, C().m.__doc__, C().m.__func__ is C.m


def static_(x):
    return C.s.__name__, C.c.__name__, C.c.__func__.__name__


def builtin_name_(x):
    return len.__name__, len.__doc__ is None, dict.get.__name__, [].append.__name__


def builtin_mod_(x):
    return len.__module__, len.__qualname__, dict.get.__qualname__


def class_name_(x):
    return C.__name__, type(x).__name__, C.__qualname__, C.__module__


def class_doc_(x):
    return C.__doc__, C.__mro__, C.__bases__, C.__base__


def lambda_(x):
    return (lambda a: a).__name__


def counter_(x):
    def g():
        g.calls += 1
        return g.calls

    g.calls = 0
    g()
    g()
    return g.calls


def set_existing_(x):
    helper.tag = "hello"
    return helper.tag


def set_existing_name_(x):
    nodoc.__name__ = "nodoc"
    return nodoc.__name__


def set_bad_name_(x):
    def g():
        pass

    g.__name__ = 3


def set_bad_defaults_(x):
    def g():
        pass

    g.__defaults__ = [3]


def del_attr_(x):
    def g():
        pass

    g.a = 1
    del g.a
    return hasattr(g, "a")


def del_missing_(x):
    def g():
        pass

    del g.a


def call_attr_(x):
    return helper.__call__(x)


def get_(x):
    return helper.__get__(3)()


def isfunction_(x):
    return (
        inspect.isfunction(helper),
        inspect.ismethod(helper),
        callable(helper),
        inspect.isclass(C),
    )


def type_(x):
    return type(helper) is types.FunctionType, isinstance(helper, types.FunctionType)


def eq_(x):
    return helper == helper, helper != nodoc, hash(helper) == hash(helper)


def dict_of_funcs_(x):
    d = {f.__name__: f for f in (helper, nodoc)}
    return d["nodoc"](x)


def register_(x):
    reg = {}

    def register(f):
        reg[f.__name__] = f
        return f

    @register
    def a(v):
        return v + 1

    @register
    def b(v):
        return v + 2

    return {k: f(x) for k, f in reg.items()}


def docloop_(x):
    return [f.__doc__ or "" for f in (helper, nodoc, decorated)]


def default_mut_(x):
    def g(a, acc=[]):
        acc.append(a)
        return acc

    g(1)
    g(2)
    return g.__defaults__


def signature_(x):
    return str(inspect.signature(helper))


def types_(x):
    def g():
        pass

    return type(g) is types.FunctionType, callable(g), isinstance(g, types.FunctionType)


def kw_mut_(x):
    def g(*, a=1):
        return a

    g.__kwdefaults__["a"] = 5
    return g()


def memo_(x):
    def memo(f):
        cache = {}

        @functools.wraps(f)
        def w(n):
            if n not in cache:
                cache[n] = f(n)
            return cache[n]

        w.cache = cache
        return w

    @memo
    def fib(n):
        return n if n < 2 else fib(n - 1) + fib(n - 2)

    return fib(10), len(fib.cache)


WHOLE = [
    exitstack_,
    exitstack_exc_,
    exitstack_push_,
    name_,
    qual_,
    doc_,
    module_,
    defaults_,
    kwdefaults_,
    code_,
    closure_,
    closure_none_,
    annotations_,
    annotations2_,
    attr_,
    hasattr_,
    getattr_default_,
    wrapped_,
    new_name_,
    new_ann_,
    new_ann2_,
    new_set_,
    new_set_leaves_,
    new_defaults_,
    new_kwdefaults_,
    wraps_,
    wraps_new_,
    wraps_leaves_,
    update_wrapper_,
    update_wrapper_partial_,
    partial_,
    cm_,
    closing2_,
    suppress_,
    suppress_many_,
    nullcontext_,
    method_name_,
    static_,
    builtin_name_,
    builtin_mod_,
    class_name_,
    class_doc_,
    lambda_,
    counter_,
    set_existing_,
    set_existing_name_,
    del_attr_,
    call_attr_,
    get_,
    isfunction_,
    type_,
    dict_of_funcs_,
    register_,
    docloop_,
    default_mut_,
    types_,
    kw_mut_,
    memo_,
]


@pytest.mark.parametrize("fn", WHOLE)
def test_captured_whole(fn):
    check(fn, 3)


BROKEN = [
    (dict_, "missing-slot"),
    (missing_, "raises"),
    (set_bad_name_, "raises"),
    (set_bad_defaults_, "raises"),
    (del_missing_, "raises"),
    (eq_, "unknown-callable"),
]


@pytest.mark.parametrize("fn, breaks", BROKEN)
def test_breaks(fn, breaks):
    check(fn, 3, breaks=breaks)


def test_signatures_are_as_plainly():
    compiled = dyntrace.compile(signature_)
    assert [compiled(3) for _ in range(3)] == [signature_(3)] * 3
