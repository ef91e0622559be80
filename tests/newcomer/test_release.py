"""Releases: what is in them, and that they work on every Python at hand that newcomers may have."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest
from newcomer.environments import Environment, pythons
from newcomer.release import ROOT, built, smoke

import linkwork as lw

OTHERS = {version: path for version, path in pythons().items() if version != sys.version_info[:2]}
MADE_WHILE_WORKING = ("__pycache__", ".pyc", ".pytest_cache", ".hypothesis", ".lwo", ".lwk", ".egg-info", "/.git/")
PAGES = (".js", ".css", ".html", ".json", ".pyi", ".typed", ".webp")
BESIDE = ("LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "CONTRIBUTING.md", "SECURITY.md", "pyproject.toml")


def members(release: Path) -> dict[str, bytes]:
    """What is in a wheel or an sdist, by name; names in an sdist are those of the source tree."""
    if release.suffix == ".whl":
        with zipfile.ZipFile(release) as wheel:
            return {name: wheel.read(name) for name in wheel.namelist()}
    with tarfile.open(release) as sdist:
        files = [x for x in sdist.getmembers() if x.isfile()]
        return {x.name.partition("/")[2]: sdist.extractfile(x).read() for x in files}  # type: ignore[union-attr]


@pytest.fixture(scope="module")
def releases(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sdist and the wheel of this source tree."""
    sdist, wheel = sorted(built(ROOT, tmp_path_factory.mktemp("dist")), key=lambda path: path.suffix == ".whl")
    return sdist, wheel


def tracked() -> set[str]:
    names = subprocess.run(["git", "ls-files"], cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return {name for name in names if (ROOT / name).is_file()}


def test_the_sdist_has_the_source_tree(releases: tuple[Path, Path]) -> None:
    """All that is under version control but the settings of CI, and nothing that is not."""
    found = set(members(releases[0]))
    assert found - {"PKG-INFO"} == {name for name in tracked() if not name.startswith(".ci/")}
    assert found.issuperset(BESIDE)


def test_the_wheel_has_the_package_alone(releases: tuple[Path, Path]) -> None:
    found = members(releases[1])
    own = {name.removeprefix("src/") for name in tracked() if name.startswith("src/linkwork/")}
    pictures = {name.replace("docs/pictures", "linkwork/pictures") for name in tracked() if name.startswith("docs/pictures/")}
    info = f"linkwork-{lw.__version__}.dist-info"
    about = {f"{info}/{name}" for name in ("METADATA", "WHEEL", "RECORD", "entry_points.txt", "licenses/LICENSE")}
    assert set(found) == own | pictures | about
    assert not [name for name in found if any(x in name for x in MADE_WHILE_WORKING)]
    assert {Path(name).suffix for name in own} == {".py", *PAGES} - {".webp"}
    assert "linkwork = linkwork.cli:main" in found[f"{info}/entry_points.txt"].decode()
    assert "Requires-Python: >=3.11" in found[f"{info}/METADATA"].decode()
    assert sum(map(len, found.values())) < 8e6


def test_the_sdist_makes_the_same_wheel(releases: tuple[Path, Path], tmp_path: Path) -> None:
    sdist, wheel = releases
    with tarfile.open(sdist) as archive:
        archive.extractall(tmp_path / "source", filter="data")
    (tree,) = (tmp_path / "source").iterdir()
    (again,) = built(tree, tmp_path / "dist", "wheel")
    assert members(again) == members(wheel)


@pytest.mark.slow
@pytest.mark.parametrize("version", OTHERS, ids="{0[0]}.{0[1]}".format)
def test_a_wheel_in_a_fresh_environment(version: tuple[int, int], releases: tuple[Path, Path], tmp_path: Path) -> None:
    """The Python of the tests has its turn in the newcomer's environment."""
    user = Environment.made(OTHERS[version], tmp_path)
    user.call(f"python -m pip install --no-compile {releases[1]}")
    smoke(user)
