"""Loggers by name, and loggers that do not log: a call below the level costs nothing in compiled code.

Whether a logger is enabled is read as ``Logger.isEnabledFor`` reads it, and guarded; what is logged is
left to plain execution.
"""

from __future__ import annotations

import logging
from typing import Any

from dyntrace.polyfills import polyfill, unfollowable


def _enabled(self: Any, level: Any) -> Any:
    if self.disabled:
        return False
    cache = self._cache
    if level in cache:
        return cache[level]
    manager = self.manager
    if type(manager) is not logging.Manager:
        unfollowable("a logger of a manager of another class")
    if manager._disable >= level:  # what the property `disable` gives
        return False
    logger = self
    while logger is not None:
        if logger.level:
            return level >= logger.level
        logger = logger.parent
    return level >= logging.NOTSET


def _log(self: Any, level: Any) -> None:
    if type(self) is not logging.Logger and type(self) is not logging.RootLogger:
        unfollowable("a logger of another class")
    if _enabled(self, level):
        unfollowable("something is logged")


@polyfill(logging.getLogger)
def get_logger(name: Any = None) -> Any:
    root = logging.root
    if not name or (isinstance(name, str) and name == root.name):
        return root
    return logging.Logger.manager.getLogger(name)


@polyfill(logging.Manager.getLogger)
def get_of_manager(self: Any, name: Any) -> Any:
    if type(name) is not str:
        unfollowable("a logger whose name is no text")
    found = self.loggerDict.get(name)
    if found is None or isinstance(found, logging.PlaceHolder):
        unfollowable("a logger is made")
    return found


@polyfill(logging.Logger.getChild)
def get_child(self: Any, suffix: Any) -> Any:
    if type(suffix) is not str:
        unfollowable("a logger whose name is no text")
    return self.manager.getLogger(suffix if self.root is self else f"{self.name}.{suffix}")


@polyfill(logging.Logger.isEnabledFor)
def is_enabled_for(self: Any, level: Any) -> Any:
    if type(level) is not int:
        unfollowable("a level that is no int")
    return _enabled(self, level)


@polyfill(logging.Logger.debug)
def debug(self: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    _log(self, logging.DEBUG)


@polyfill(logging.Logger.info)
def info(self: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    _log(self, logging.INFO)


@polyfill(logging.Logger.warning)
def warning(self: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    _log(self, logging.WARNING)


@polyfill(logging.Logger.error)
def error(self: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    _log(self, logging.ERROR)


@polyfill(logging.Logger.critical)
def critical(self: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    _log(self, logging.CRITICAL)


@polyfill(logging.Logger.log)
def log(self: Any, level: Any, msg: Any, *args: Any, **kwargs: Any) -> None:
    if type(level) is not int:
        unfollowable("a level that is no int")
    _log(self, level)
