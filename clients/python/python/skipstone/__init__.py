"""A low-level transport for multiplayer games. Times and spans are seconds."""

from ._library import explained as _explained
from ._library import fault as _fault

# A library without its end would end the process while it is loaded: it is read before.
if _why := _fault():
    raise ImportError(_why, name=__name__)
try:
    from .skipstone import *
    from .skipstone import __all__, __version__
except ImportError as error:
    raise ImportError(_explained(error), name=__name__) from error
if _why := _fault(__version__):
    raise ImportError(_why, name=__name__)
