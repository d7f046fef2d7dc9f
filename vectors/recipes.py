# SPDX-License-Identifier: CC0-1.0
"""Long texts are written as recipes, so that the files stay small: `{"$join": [...]}`, `{"$repeat": "text with #", "times":
n, "between": ","}` where # is the number of the repetition from 0, and `{"$base64": text}`. They are made into texts before
a question is asked and an answer compared; a program that answers never sees one."""
import base64


def expand(value):
    """The value with its recipes made into texts."""
    if isinstance(value, list):
        return [expand(part) for part in value]
    if not isinstance(value, dict):
        return value
    if "$join" in value:
        return "".join(expand(part) for part in value["$join"])
    if "$repeat" in value:
        text = value["$repeat"]
        return value.get("between", "").join(text.replace("#", str(index)) for index in range(value["times"]))
    if "$base64" in value:
        return base64.b64encode(expand(value["$base64"]).encode()).decode()
    return {name: expand(part) for name, part in value.items()}
