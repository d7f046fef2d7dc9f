# SPDX-License-Identifier: CC0-1.0
"""Times: RFC 3339 in UTC, whole seconds, `Z`. As seconds since 1970."""
import datetime
import re

from strictjson import Malformed

_FORM = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z", re.ASCII)


def read(text):
    """The seconds of a time."""
    if not isinstance(text, str) or not _FORM.fullmatch(text):
        raise Malformed("no time")
    try:
        moment = datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ")
    except ValueError as error:
        raise Malformed("no time") from error
    if moment.second > 59:
        raise Malformed("no time")
    return int(moment.replace(tzinfo=datetime.timezone.utc).timestamp())


def write(seconds):
    """The text of a time."""
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
