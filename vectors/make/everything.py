# SPDX-License-Identifier: CC0-1.0
"""Writes all files of vectors."""
import importlib
import json

from material import HERE

kept = HERE / "certificates.json"
drawn = json.loads(kept.read_text()) if kept.exists() else {}
for name in ("pins", "hosts", "lists", "transparency", "decisions", "paths", "nspinneddomains", "rollout", "reports"):
    try:
        module = importlib.import_module(f"{name}_vectors")
    except ModuleNotFoundError as error:
        if error.name != f"{name}_vectors":
            raise
        continue
    module.main(*((drawn,) if name == "pins" else ()))
kept.write_text(json.dumps(drawn, indent=1, sort_keys=True) + "\n")
importlib.import_module("schemas").main()
