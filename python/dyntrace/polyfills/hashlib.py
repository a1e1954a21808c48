"""Digests of bytes that are known: computed while tracing, by objects that the trace itself makes."""

from __future__ import annotations

import _hashlib
import hashlib
import sys
from importlib import import_module
from typing import Any

from dyntrace.polyfills import fold, polyfill, unfollowable

#: CPython's own, of which module random makes seeds.
try:
    _PLAIN_SHA512 = import_module("_sha2" if sys.version_info >= (3, 12) else "_sha512").sha512
except ImportError:  # built without: random takes hashlib's
    _PLAIN_SHA512 = None


def _digest(name: str, data: bytes, length: Any) -> Any:
    made: Any = hashlib.new(name, data)
    return made.digest() if length is None else made.digest(length)


def _facts(name: str) -> Any:
    made = hashlib.new(name)
    return made.name, made.digest_size, made.block_size


def _hmac_digest(key: bytes, data: bytes, name: str) -> Any:
    return _hashlib.hmac_new(key, data, name).digest()


def _hmac_facts(key: bytes, name: str) -> Any:
    made = _hashlib.hmac_new(key, b"", name)
    return made.name, made.digest_size, made.block_size


def _checked(data: Any) -> bytes:
    if type(data) is bytes:
        return data
    if type(data) is not bytearray:
        unfollowable(f"a digest of a {type(data).__name__}")
    return bytes(data)


class _Hash:
    """What hashlib makes: the bytes so far; never leaves the trace."""

    def __init__(self, name: str, data: bytes) -> None:
        self.name, self.digest_size, self.block_size = fold(_facts, name)
        self._of_algorithm = name
        self._of_data = data

    def update(self, obj: Any, /) -> None:
        self._of_data += _checked(obj)

    def digest(self) -> Any:
        return fold(_digest, self._of_algorithm, self._of_data, None)

    def hexdigest(self) -> Any:
        return self.digest().hex()

    def copy(self) -> Any:
        return _Hash(self._of_algorithm, self._of_data)


class _Extendable(_Hash):
    """SHAKE: the caller says how long the digest is."""

    def digest(self, length: Any) -> Any:  # type: ignore[override]
        return fold(_digest, self._of_algorithm, self._of_data, length)

    def hexdigest(self, length: Any) -> Any:  # type: ignore[override]
        return self.digest(length).hex()


class _Hmac:
    """What hmac makes; as _Hash."""

    def __init__(self, key: bytes, data: bytes, name: str) -> None:
        self.name, self.digest_size, self.block_size = fold(_hmac_facts, key, name)
        self._of_key = key
        self._of_algorithm = name
        self._of_data = data

    def update(self, msg: Any) -> None:
        self._of_data += _checked(msg)

    def digest(self) -> Any:
        return fold(_hmac_digest, self._of_key, self._of_data, self._of_algorithm)

    def hexdigest(self) -> Any:
        return self.digest().hex()

    def copy(self) -> Any:
        return _Hmac(self._of_key, self._of_data, self._of_algorithm)


def _constructor(name: str, kind: Any) -> None:
    original = getattr(_hashlib, f"openssl_{name}", None)
    if original is None:
        return

    def make(string: Any = b"", *, usedforsecurity: Any = True) -> Any:
        return kind(name, _checked(string))

    polyfill(original)(make)
    if name == "sha512" and _PLAIN_SHA512 is not None:
        polyfill(_PLAIN_SHA512)(make)


for _name in ("md5", "sha1", "sha224", "sha256", "sha384", "sha512"):
    _constructor(_name, _Hash)
for _name in ("sha3_224", "sha3_256", "sha3_384", "sha3_512"):
    _constructor(_name, _Hash)
for _name in ("shake_128", "shake_256"):
    _constructor(_name, _Extendable)


@polyfill(_hashlib.new)
def new(name: Any, string: Any = b"", *, usedforsecurity: Any = True) -> Any:
    if type(name) is not str:
        unfollowable("hashlib.new() of something that is no text")
    if name.lower() not in _KNOWN:
        unfollowable(f"hashlib.new() of {name!r}")
    return _Hash(name, _checked(string))


_KNOWN = frozenset(("md5", "sha1", "sha224", "sha256", "sha384", "sha512"))


@polyfill(_hashlib.hmac_new)
def hmac_new(key: Any, msg: Any = b"", digestmod: Any = None) -> Any:
    if type(digestmod) is not str or digestmod.lower() not in _KNOWN:
        unfollowable("hmac of something that is not the name of a digest")
    return _Hmac(_checked(key), _checked(msg) if msg is not None else b"", digestmod)
