"""Each example works as documented."""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "examples"))

import bots
import echo
from skipstone import Server


def test_echo_answers_over_both_carriers() -> None:
    server = Server("127.0.0.1:0")
    serving = threading.Thread(target=echo.serve, args=(server, 2))
    serving.start()
    for url in (server.url, f"ws://{server.address}"):
        assert echo.ask(url, "is anybody there?") == "is anybody there?"
    serving.join()


def test_fifty_bots_see_fifty_dots() -> None:
    worlds, dots = bots.main(4.0)
    assert dots == bots.BOTS
    assert worlds > bots.BOTS * 10
