"""Which files are meant, with what they were made, and how to make all of it again."""

from setveil.pipeline.approval import Approval
from setveil.report.approval.part import Column, Grid, Part

_FILES = {"file": Column("file"), "sha256": Column("SHA-256", "code")}
_VERSIONS = {"name": Column("name"), "version": Column("version")}
_METHOD = {"parameter": Column("parameter"), "value": Column("value")}


def part(found: Approval) -> Part:
    """Hashes, versions and commands."""
    dossier, private = found.dossier, found.dossier.private
    files = [{"file": name, "sha256": digest} for name, digest in dossier.files.items()]
    if private is not None and private.digest:
        name = f"{private.source} (the original; private)"
        files.append({"file": name, "sha256": private.digest})
    made_by = {"setveil that made the release": dossier.made_by, **dossier.versions}
    versions = [{"name": name, "version": version} for name, version in made_by.items()]
    method = [{"parameter": name, "value": str(each)} for name, each in dossier.method.items()]
    return Part(
        facts={
            "day": ("This page was made on", found.made),
            "seed": ("Seed of the draws of the attack", found.seed),
        },
        commands={
            "release_command": ("A release like this one", dossier.command),
            "command": ("This page", found.command),
        },
        grids={
            "files": Grid("Files", _FILES, files),
            "method": Grid("Method and parameters", _METHOD, method),
            "versions": Grid("Versions", _VERSIONS, versions),
        },
        said=[
            "DATA, TREE and RELEASE replace names that the release does not say. Methods that draw "
            "noise or a seed of their own make another release each time."
        ],
    )
