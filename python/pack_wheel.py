#!/usr/bin/env python3
"""Pack a wheel from an existing build, without compiling anything.

    pack_wheel.py --build build --out dist

`pip wheel .` compiles; this takes libkith.so.0, the plug-ins and kith-ask-driver of the build, as
`cmake --install` gives them, and python/kith. The tag names the oldest glibc that has every symbol they need.
Prints the path of the wheel, and what it lacks: a build without nvcc has no CUDA plug-in.

Exit status: 0; 2 the build or the package is not what it should be.
"""

import argparse
import base64
import hashlib
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile

try:
    import tomllib
except ImportError:
    sys.exit("pack_wheel.py: Python 3.11 or later reads pyproject.toml by itself; run it by that")

ROOT = pathlib.Path(__file__).resolve().parents[1]
# Libraries that a wheel may expect: those of manylinux (PEP 600), the package's own, and OpenCL's loader.
ALLOWED = {
    "libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1", "libgcc_s.so.1", "libstdc++.so.6",
    "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1", "libkith.so.0", "libOpenCL.so.1",
}  # fmt: skip
LARGEST = 40 << 20
# Lists (X, Y): manylinux_2_Y has GLIBCXX_3.4.X and nothing newer, as auditwheel's policies say.
GLIBCXX = ((24, 28), (28, 31), (29, 34), (30, 35), (33, 39))


def fail(text):
    print(f"pack_wheel.py: {text}", file=sys.stderr)
    sys.exit(2)


def installed(build, folder):
    """Put the library, the plug-ins and the helper, stripped, below `folder`/kith/_lib, and return their paths."""
    stage = folder / "stage"
    done = subprocess.run(
        ["cmake", "--install", str(build), "--prefix", str(stage), "--component", "runtime"],
        capture_output=True, text=True,
    )  # fmt: skip
    if done.returncode:
        fail(f"{build} cannot be installed: {done.stderr.strip() or done.stdout.strip()}; build the target `all` first")
    found = sorted(stage.rglob("libkith.so.0"))
    if len(found) != 1:
        fail(f"{build} installs {len(found)} files called libkith.so.0; configure it by `cmake --preset default`")
    to = folder / "kith" / "_lib"
    (to / "kith").mkdir(parents=True)
    shutil.copy2(found[0].resolve(), to / "libkith.so.0")
    for file in (found[0].parent / "kith").iterdir():
        shutil.copy2(file, to / "kith" / file.name)
    files = [to / "libkith.so.0", *sorted((to / "kith").iterdir())]
    if shutil.which("strip"):
        subprocess.run(["strip", "--strip-unneeded", *map(str, files)], check=True)
    return files


def symbol_version(files, name):
    """Return the newest version `name`_X.Y that any file needs, as numbers."""
    newest = (0,)
    for file in files:
        for match in re.finditer(name.encode() + rb"_(\d+(?:\.\d+)+)\0", file.read_bytes()):
            newest = max(newest, tuple(int(part) for part in match[1].split(b".")))
    return newest


def manylinux(files):
    """Return the oldest manylinux_2_Y that has every symbol version which the files need."""
    needed = symbol_version(files, "GLIBCXX")[2]
    by_cxx = [glibc for newest, glibc in GLIBCXX if needed <= newest]
    if not by_cxx:
        fail(f"the libraries need GLIBCXX_3.4.{needed}, which no manylinux has; build with gcc 14 or earlier")
    return f"manylinux_2_{max(symbol_version(files, 'GLIBC')[1], by_cxx[0])}_{platform.machine()}"


def check_needed(files):
    """Refuse files that need a library which a wheel may neither hold nor expect."""
    if not shutil.which("readelf"):
        print(
            "pack_wheel.py: note: without readelf (binutils) nothing looks at what the libraries need", file=sys.stderr
        )
        return
    for file in files:
        text = subprocess.run(["readelf", "-d", str(file)], capture_output=True, text=True, check=True).stdout
        foreign = set(re.findall(r"NEEDED.*\[(.*)\]", text)) - ALLOWED
        if foreign:
            fail(f"{file.name} needs {', '.join(sorted(foreign))}, which other machines may lack; link it statically")


def metadata(project, version):
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
    ]
    lines += [f"Requires-Python: {project['requires-python']}", f"License-Expression: {project['license']}"]
    lines += [f"License-File: {name}" for name in project["license-files"]]
    lines += [f"Keywords: {','.join(project['keywords'])}"]
    lines += [f"Classifier: {name}" for name in project["classifiers"]]
    lines += [f"Requires-Dist: {name}" for name in project["dependencies"]]
    for extra, names in project["optional-dependencies"].items():
        lines += [f"Provides-Extra: {extra}", *(f'Requires-Dist: {name}; extra == "{extra}"' for name in names)]
    text = (ROOT / project["readme"]).read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", text])


def kith_version():
    text = (ROOT / "lib/include/kith/version.hpp").read_text(encoding="ascii")
    return ".".join(re.findall(r"#define KITH_VERSION_\w+ (\d+)", text))


def write_wheel(path, members, info):
    """Write a wheel of `members`, which maps names to bytes or files. All have the same date, so that equal inputs
    give equal bytes.
    """
    record = []
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            executable = isinstance(content, pathlib.Path) and os.access(content, os.X_OK)
            data = content.read_bytes() if isinstance(content, pathlib.Path) else content.encode()
            entry = zipfile.ZipInfo(name, (2026, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")
        record.append(f"{info}/RECORD,,")
        archive.writestr(zipfile.ZipInfo(f"{info}/RECORD", (2026, 1, 1, 0, 0, 0)), "\n".join(record) + "\n")


def pack(build, out, folder):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    version = kith_version()
    files = installed(build, folder)
    check_needed(files)
    tag = f"py3-none-{manylinux(files)}"
    info = f"kith_knn-{version}.dist-info"
    members = {f"kith/_lib/{file.relative_to(folder / 'kith' / '_lib').as_posix()}": file for file in files}
    package = ROOT / "python" / "kith"
    for file in sorted(package.rglob("*")):
        if file.suffix == ".py" or file.name == "py.typed":
            members[f"kith/{file.relative_to(package).as_posix()}"] = file
    members[f"{info}/METADATA"] = metadata(project, version)
    members[f"{info}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: kith pack_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"
    members[f"{info}/licenses/LICENSE"] = ROOT / "LICENSE"
    out.mkdir(parents=True, exist_ok=True)
    wheel = out / f"kith_knn-{version}-{tag}.whl"
    write_wheel(wheel, members, info)
    if wheel.stat().st_size > LARGEST:
        fail(f"{wheel} has {wheel.stat().st_size} bytes, more than {LARGEST}; name fewer KITH_CUDA_ARCHITECTURES")
    for backend in ("opencl", "cuda"):
        if not any(file.name == f"libkith_{backend}.so" for file in files):
            print(
                f"pack_wheel.py: note: there is no {backend} plug-in in {build}, so none in the wheel", file=sys.stderr
            )
    print(wheel)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build", help="a folder that CMake has built")
    parser.add_argument("--out", type=pathlib.Path, default=pathlib.Path("dist"), help="where the wheel goes")
    arguments = parser.parse_args()
    if not (arguments.build / "CMakeCache.txt").exists():
        fail(f"{arguments.build} is no build of CMake; cmake --preset default && cmake --build build")
    with tempfile.TemporaryDirectory() as folder:
        pack(arguments.build, arguments.out, pathlib.Path(folder))


if __name__ == "__main__":
    main()
