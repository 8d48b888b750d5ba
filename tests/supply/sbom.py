"""
``python -m tests.supply.sbom FOLDER``: the software bill of materials of the wheel in a folder, beside it.

CycloneDX 1.6: the wheel with what it bundles, each package that it needs on this platform as `constraints.txt` pins it,
their licenses, and what needs what. The same input makes the same file, but for the time; SOURCE_DATE_EPOCH sets it.
"""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib.metadata import Distribution
from pathlib import Path
from uuid import NAMESPACE_URL, uuid5

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import (
    ExternalReference,
    ExternalReferenceType,
    HashAlgorithm,
    HashType,
    Property,
    XsUri,
)
from cyclonedx.model.bom import Bom
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import License, LicenseAcknowledgement
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL
from packaging.utils import canonicalize_name

from tests.supply.bundled import BUNDLED, Bundled, java
from tests.supply.licenses import BSD, license_of
from tests.supply.pins import ROOT, pinned
from tests.supply.runtime import OURS, Installed, closure


class NotAsPinned(Exception):
    """What is installed here is not what is released."""


def bill(wheel: Path, at: datetime) -> str:
    """
    The bill of materials of a wheel, as JSON.

    Raises:
        NotAsPinned: Another version is installed than `constraints.txt` pins.
    """
    needed = closure()
    _check(needed)
    components = {name: _package(one.distribution) for name, one in needed.items()}
    root = components.pop(OURS)
    root.type = ComponentType.APPLICATION
    root.hashes = [_hash(wheel)]
    bundled = [*map(_bundled, BUNDLED), *map(_file, java())]
    root.components = bundled
    bom = Bom(components=components.values())
    bom.metadata.component = root
    bom.metadata.timestamp = at
    bom.metadata.properties = [Property(name="evenkeel:platform", value=_platform())]
    for name, one in needed.items():
        needs = [components[each] for each in one.needs]
        own = bundled if name == OURS else []
        bom.register_dependency(components.get(name, root), [*needs, *own])
    facts = [root.hashes[0].content, _platform(), *(str(each.purl) for each in bom.components)]
    bom.serial_number = uuid5(NAMESPACE_URL, "\n".join(facts))
    return make_outputter(bom, OutputFormat.JSON, SchemaVersion.V1_6).output_as_string(indent=2)


def _check(needed: Mapping[str, Installed]) -> None:
    pins = pinned()
    other = [
        f"{name} {one.distribution.version}"
        for name, one in needed.items()
        if name != OURS and pins.get(name) != one.distribution.version
    ]
    if other:
        raise NotAsPinned(f"installed, but not as constraints.txt pins it: {', '.join(other)}")


def _package(one: Distribution) -> Component:
    name, version = one.metadata["Name"], one.version
    purl = PackageURL("pypi", name=canonicalize_name(name), version=version)
    terms = license_of(one)
    return Component(
        type=ComponentType.LIBRARY,
        name=name,
        version=version,
        purl=purl,
        bom_ref=str(purl),
        description=one.metadata.get("Summary"),
        licenses=[_license(terms)] if terms else [],
    )


def _license(terms: str) -> License:
    return LicenseFactory().make_from_string(
        "BSD" if terms == BSD else terms, license_acknowledgement=LicenseAcknowledgement.DECLARED
    )


def _bundled(one: Bundled) -> Component:
    return Component(
        type=ComponentType.LIBRARY,
        name=one.name,
        version=one.version,
        purl=PackageURL.from_string(one.purl),
        bom_ref=one.purl,
        licenses=[_license(one.license)],
        external_references=[
            ExternalReference(type=ExternalReferenceType.WEBSITE, url=XsUri(one.home))
        ],
        components=map(_file, one.files),
    )


def _file(path: str) -> Component:
    """A file of the wheel; it has the license of what it belongs to."""
    return Component(
        type=ComponentType.FILE,
        name=f"evenkeel/{path}",
        bom_ref=path,
        hashes=[_hash(ROOT / path)],
    )


def _hash(file: Path) -> HashType:
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    return HashType(alg=HashAlgorithm.SHA_256, content=digest)


def _platform() -> str:
    return f"Python {sys.version_info.major}.{sys.version_info.minor}, {sys.platform}, {platform.machine()}"


def _now() -> datetime:
    seconds = os.environ.get("SOURCE_DATE_EPOCH")
    return datetime.fromtimestamp(int(seconds), UTC) if seconds else datetime.now(UTC)


def beside(wheel: Path, at: datetime) -> Path:
    """
    Write the bill of a wheel beside it.

    Raises:
        NotAsPinned: Another version is installed than `constraints.txt` pins.
    """
    target = wheel.with_suffix(".cdx.json")
    target.write_text(bill(wheel, at) + "\n", encoding="utf-8")
    return target


def main(folder: Path) -> int:
    """Write the bill of the newest wheel in a folder, beside it."""
    wheels = sorted(folder.glob("evenkeel-*.whl"), key=lambda file: file.stat().st_mtime)
    if not wheels:
        print(f"no wheel in {folder}: make sbom builds one", file=sys.stderr)
        return 1
    try:
        print(beside(wheels[-1], _now()))
    except NotAsPinned as error:
        print(f"{error}; run make install", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
