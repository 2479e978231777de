from __future__ import annotations

import re
import subprocess
import sys

from wireproof_surfaces.random_ids import AT_ONCE, random_hex


def test_ids_are_hexadecimal_of_their_size_and_never_the_same() -> None:
    made = [random_hex(16) for _ in range(AT_ONCE)]
    assert all(re.fullmatch("[0-9a-f]{32}", one) for one in made)
    assert len(set(made)) == len(made)
    assert len(random_hex(2 * AT_ONCE)) == 4 * AT_ONCE


FORKS = """
import os, sys
from wireproof_surfaces.random_ids import random_hex
random_hex(1)
child = os.fork()
os.write(1, random_hex(16).encode() + b" ")
if child:
    os.waitpid(child, 0)
"""


def test_a_process_that_is_forked_off_makes_other_ids() -> None:
    made = subprocess.run([sys.executable, "-c", FORKS], stdout=subprocess.PIPE, check=True, text=True).stdout.split()
    assert [len(one) for one in made] == [32, 32]
    assert made[0] != made[1]
