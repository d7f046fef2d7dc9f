# SPDX-License-Identifier: CC0-1.0
"""lists.json: what is in force after each root and list, and the code of each refusal."""
import lists_attacks
import lists_formats
import lists_members
import lists_signers
from material import write


def main():
    cases = [*lists_attacks.cases(), *lists_signers.cases(), *lists_formats.cases(),
             *lists_members.cases()]
    write("lists", "Envelopes, roots and lists: what is in force after each, and why one is refused.", cases)
