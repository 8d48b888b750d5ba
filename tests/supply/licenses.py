"""The licenses of what evenkeel needs, and which of them software under Apache-2.0 may depend on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib.metadata import Distribution

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.utils import canonicalize_name

PERMISSIVE = frozenset(
    {
        *("0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause"),
        *("CC0-1.0", "ISC", "MIT", "MIT-0", "MIT-CMU", "PSF-2.0", "Unlicense", "Zlib"),
    }
)
"""What asks for no more than a notice."""

SHARED_BY_FILE = frozenset({"Artistic-1.0-Perl", "LGPL-3.0-only", "LGPL-3.0-or-later", "MPL-2.0"})
"""What asks for the source of its own files: evenkeel changes none and ships none, users install and replace them."""

BSD = "LicenseRef-BSD"
"""A package says no more than BSD, which is one of 2 or 3 clauses."""

ALLOWED = PERMISSIVE | SHARED_BY_FILE | {BSD}

CLASSIFIERS: Mapping[str, str] = {
    "Apache Software License": "Apache-2.0",
    "BSD License": BSD,
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
    "The Unlicense (Unlicense)": "Unlicense",
}
"""The last part of a classifier, as SPDX writes it."""

READ: Mapping[str, str] = {
    "greenback": "MIT OR Apache-2.0",
    "protobuf": "BSD-3-Clause",
    "psycopg2-binary": "LGPL-3.0-or-later",
    "text-unidecode": "Artistic-1.0-Perl OR GPL-1.0-or-later",
    "uvloop": "MIT AND Apache-2.0",
}
"""What a person read in the license of a package whose metadata does not say it in a standard way."""


def license_of(one: Distribution) -> str | None:
    """
    The license of a distribution as an SPDX expression; none if its metadata says nothing that is understood.

    Of several classifiers each has to be kept.
    """
    metadata = one.metadata
    name = canonicalize_name(metadata["Name"])
    for said in (READ.get(name), metadata.get("License-Expression"), metadata.get("License")):
        try:
            return str(canonicalize_license_expression(said or ""))
        except InvalidLicenseExpression:
            continue
    classified = {CLASSIFIERS.get(each) for each in _classified(one)}
    known = sorted(each for each in classified if each)
    return " AND ".join(known) if known and len(known) == len(classified) else None


def _classified(one: Distribution) -> Iterator[str]:
    for classifier in one.metadata.get_all("Classifier", []):
        if classifier.startswith("License :: ") and not classifier.endswith("OSI Approved"):
            yield classifier.rpartition(" :: ")[2]


def allowed(expression: str) -> bool:
    """
    Whether software under Apache-2.0 may depend on what has these terms.

    >>> allowed("MIT"), allowed("GPL-2.0-only OR MIT"), allowed("GPL-2.0-only AND MIT")
    (True, True, False)
    >>> allowed("MIT AND (GPL-2.0-only OR ISC)"), allowed("(GPL-2.0-only OR MIT) AND GPL-3.0-only")
    (True, False)
    """
    while "(" in expression:
        inner = re.compile(r"\(([^()]*)\)")
        expression = inner.sub(lambda found: "MIT" if allowed(found[1]) else "none", expression)
    return any(
        all(term in ALLOWED for term in choice.split(" AND "))
        for choice in expression.split(" OR ")
    )
