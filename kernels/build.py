#!/usr/bin/env python3
"""Compiles the kernels to PTX, which is committed and embedded in the program.

    python3 kernels/build.py              compiles what has changed into kernels/ptx/; fails if a kernel keeps values
                                          in local memory (spills)
    python3 kernels/build.py --registers  compiles everything, and prints the registers of each kernel
    python3 kernels/build.py --check      fails if the sources or the PTX have changed since a file was compiled;
                                          compares checksums alone and needs no compiler
    python3 kernels/build.py --check --all  compiles everything, and fails if that is not what kernels/ptx/ has

It needs no GPU and no CUDA toolkit: the compiler (NVRTC) comes from PyPI, by pip, into target/nvrtc. The PTX is for
compute capability 7.0, the oldest that is supported; the driver compiles it when a kernel is first used.

Each file in kernels/ptx/ has all variants of one source file, each after a line `// variant NAME`, compressed with
LZMA. Compilers of other versions may compress differently, so --check compares the text. checksums.json says from which
sources, by which compiler and with which options a file was compiled without spills.
"""

import argparse
import concurrent.futures
import ctypes
import glob
import hashlib
import json
import lzma
import os
import re
import subprocess
import sys
import zipfile

PACKAGE = "nvidia-cuda-nvrtc-cu12==12.4.127"
# The oldest GPU that is supported; the TITAN V of the paper and an H200, on which spills are checked.
PTX_FOR_ANY = "compute_70"
CHECKED_ON_ANY = ["sm_70", "sm_90"]
OPTIONS = ["--std=c++17", "--fmad=false"]

PRECISIONS = {"f32": 32, "f64": 64}
# In the order of FORM in stencil.cuh.
FORMS = ["1d-isotropic", "1d-general", "1d-per-point"]
FORMS += ["2d-isotropic", "2d-per-axis", "2d-general", "2d-per-point"]
FORMS += ["3d-isotropic", "3d-per-axis", "3d-general", "matrix"]

# Variants resemble each other, so the dictionary is as large as a file; the program needs as much memory to read it.
COMPRESSION = {
    "format": lzma.FORMAT_ALONE,
    "filters": [{"id": lzma.FILTER_LZMA1, "preset": 9 | lzma.PRESET_EXTREME, "dict_size": 4 << 20}],
}

HERE = os.path.dirname(os.path.abspath(__file__))
PTX = os.path.join(HERE, "ptx")
CHECKSUMS = os.path.join(PTX, "checksums.json")
CACHE = os.path.join(os.path.dirname(HERE), "target", "nvrtc")


class Kernel:
    """A source file, and what its line `// Variants: …` says: the dimensions of the grids it is compiled for, or
    `matrix`, whether it takes rows `per-point` or `symmetric` weights alone, one precision or both, and one
    architecture or any. `any` stands for a file that depends on neither."""

    def __init__(self, path):
        self.name = os.path.splitext(os.path.basename(path))[0]
        line = re.search(r"^// Variants: (.*)$", open(path).read(), flags=re.MULTILINE)
        if not line:
            sys.exit(f"{self.name}.cu has no line `// Variants: …`")
        words = line[1].split()
        refused = set()
        if "per-point" not in words:
            refused.add("per-point")
        if "symmetric" in words:
            refused.add("general")
        taken = lambda form: form.partition("-")[0] in words and form.partition("-")[2] not in refused
        forms = [form for form in FORMS if taken(form)]
        precisions = [name for name in PRECISIONS if name in words] or list(PRECISIONS)
        real = [word for word in words if word.startswith("sm_")]
        self.ptx_for = real[0].replace("sm_", "compute_") if real else PTX_FOR_ANY
        self.checked_on = real or CHECKED_ON_ANY
        # The name and the options of each variant.
        self.variants = [
            (f"{precision}-{form}", [f"-DREAL_BITS={PRECISIONS[precision]}", f"-DFORM={FORMS.index(form)}"])
            for precision in precisions
            for form in forms
        ]
        if words == ["any"]:
            self.variants = [("any", ["-DREAL_BITS=64", "-DFORM=0"])]
        if not self.variants:
            sys.exit(f"{self.name}.cu: `{line[0]}` names no variant")


def compiler():
    """The path of the NVRTC library, downloaded if it is not there yet."""
    pattern = os.path.join(CACHE, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.*")
    if not glob.glob(pattern):
        os.makedirs(CACHE, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", CACHE]
        subprocess.run([*pip, PACKAGE], check=True)
        for wheel in glob.glob(os.path.join(CACHE, "*.whl")):
            zipfile.ZipFile(wheel).extractall(CACHE)
    return glob.glob(pattern)[0]


def compile_file(kernel, options, architecture):
    """The PTX (empty for real architectures) and the log of one source file."""
    nvrtc = ctypes.CDLL(compiler())
    read = lambda path: open(path, "rb").read()
    headers = sorted(glob.glob(os.path.join(HERE, "*.cuh")))
    names = (ctypes.c_char_p * len(headers))(*[os.path.basename(h).encode() for h in headers])
    texts = (ctypes.c_char_p * len(headers))(*[read(h) for h in headers])
    program = ctypes.c_void_p()
    source = read(os.path.join(HERE, kernel + ".cu"))
    created = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source, (kernel + ".cu").encode(), len(headers), texts, names
    )
    if created != 0:
        sys.exit(f"{kernel}.cu: NVRTC could not be started (error {created})")
    options = [*OPTIONS, *options, "--gpu-architecture=" + architecture]
    array = (ctypes.c_char_p * len(options))(*[o.encode() for o in options])
    failed = nvrtc.nvrtcCompileProgram(program, len(options), array)

    def text(size_of, get):
        size = ctypes.c_size_t()
        size_of(program, ctypes.byref(size))
        buffer = ctypes.create_string_buffer(size.value)
        get(program, buffer)
        return buffer.value.decode()

    log = text(nvrtc.nvrtcGetProgramLogSize, nvrtc.nvrtcGetProgramLog)
    if failed:
        sys.exit(f"{kernel}.cu does not compile for {architecture}:\n{log}")
    is_ptx = architecture.startswith("compute")
    ptx = text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX) if is_ptx else ""
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx, log


def tidy(ptx):
    """PTX without comments, blank lines and the constants of the source, which no instruction reads."""
    lines = (re.sub(r"\s*//.*", "", line).rstrip() for line in ptx.splitlines())
    is_constant = re.compile(r"\.global \.align \d+ \.\w+ \w+( = -?\d+)?;$").match
    return "".join(line + "\n" for line in lines if line and not is_constant(line))


def begin_ptx(pool, kernel):
    """Begins to compile all variants of a source file."""
    return [
        (name, pool.submit(compile_file, kernel.name, options, kernel.ptx_for))
        for name, options in kernel.variants
    ]


def ptx_of(begun):
    """The PTX of all variants of a source file, as it is committed."""
    return "".join(f"// variant {name}\n" + tidy(compiled.result()[0]) for name, compiled in begun)


def begin_resources(pool, kernel):
    """Begins to compile all variants of a source file for the checked architectures."""
    return [
        (name, architecture, pool.submit(compile_file, kernel.name, [*options, "--ptxas-options=-v"], architecture))
        for name, options in kernel.variants
        for architecture in kernel.checked_on
    ]


def resources_of(kernel, begun):
    """For each function of a source file and each checked architecture: a title, the registers and the bytes
    that it spills."""
    pattern = r"entry function '(\w+)'.*?(\d+) bytes spill stores.*?Used (\d+) registers"
    for name, architecture, compiled in begun:
        for function, spilled, registers in re.findall(pattern, compiled.result()[1], flags=re.DOTALL):
            yield f"{kernel.name} {name} {function} {architecture}", int(registers), int(spilled)


def with_headers(name):
    """The names of a source file and of the headers that it includes."""
    names = [name]
    for name in names:
        text = open(os.path.join(HERE, name)).read()
        found = re.findall(r'^#include "(.*)"', text, flags=re.MULTILINE)
        names += [header for header in found if header not in names]
    return sorted(names)


def sources_checksum(kernel):
    """A checksum of all that the PTX of a source file depends on."""
    texts = [(name, open(os.path.join(HERE, name)).read()) for name in with_headers(kernel.name + ".cu")]
    what = [PACKAGE, OPTIONS, kernel.ptx_for, kernel.checked_on, kernel.variants, texts]
    return hashlib.sha256(json.dumps(what).encode()).hexdigest()


def checksum(ptx):
    return hashlib.sha256(ptx.encode()).hexdigest()


def path_of(kernel):
    return os.path.join(PTX, kernel.name + ".ptx.lzma")


def committed_ptx(kernel):
    """The PTX of a source file in kernels/ptx/, empty if there is none."""
    return lzma.open(path_of(kernel), "rt").read() if os.path.exists(path_of(kernel)) else ""


def compile_kernels(kernels, show_registers):
    """The PTX of each source file with what is wrong with it, in the order of the files."""
    compiler()
    # Processes, not threads: the compiler has a lock.
    with concurrent.futures.ProcessPoolExecutor() as pool:
        begun = [(kernel, begin_ptx(pool, kernel), begin_resources(pool, kernel)) for kernel in kernels]
        for kernel, ptx, resources in begun:
            problems = []
            for title, registers, spilled in resources_of(kernel, resources):
                if show_registers:
                    print(f"{title}: {registers} registers")
                if spilled:
                    problems.append(f"{title} spills {spilled} bytes")
            yield kernel, ptx_of(ptx), problems


def write(path, content):
    with open(path + ".new", "wb") as file:
        file.write(content)
    os.replace(path + ".new", path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--all", action="store_true", help="compile also what has not changed")
    parser.add_argument("--registers", action="store_true", help="compile everything, and print the registers of each kernel")
    arguments = parser.parse_args()

    os.makedirs(PTX, exist_ok=True)
    kernels = [Kernel(path) for path in sorted(glob.glob(os.path.join(HERE, "*.cu")))]
    recorded = json.load(open(CHECKSUMS)) if os.path.exists(CHECKSUMS) else {}
    problems = []
    changed = []
    for kernel in kernels:
        now = {"sources": sources_checksum(kernel), "ptx": checksum(committed_ptx(kernel))}
        if recorded.get(kernel.name) != now:
            changed.append(kernel)
            if arguments.check:
                problems.append(f"{kernel.name}.cu or its PTX has changed since it was compiled")
    everything = arguments.all or arguments.registers
    to_compile = kernels if everything else [] if arguments.check else changed
    for kernel, ptx, found in compile_kernels(to_compile, arguments.registers):
        problems += found
        if arguments.check:
            if ptx != committed_ptx(kernel):
                problems.append(f"{path_of(kernel)} is not what {kernel.name}.cu gives")
        elif found:
            recorded.pop(kernel.name, None)
        else:
            write(path_of(kernel), lzma.compress(ptx.encode(), **COMPRESSION))
            recorded[kernel.name] = {"sources": sources_checksum(kernel), "ptx": checksum(ptx)}

    expected = {path_of(kernel) for kernel in kernels} | {CHECKSUMS}
    for path in sorted(set(glob.glob(os.path.join(PTX, "*"))) - expected):
        if arguments.check:
            problems.append(f"{path} belongs to no kernel")
        else:
            os.remove(path)
    if not arguments.check:
        names = {kernel.name for kernel in kernels}
        recorded = {name: recorded[name] for name in sorted(recorded) if name in names}
        write(CHECKSUMS, (json.dumps(recorded, indent=2) + "\n").encode())
    if problems:
        sys.exit("\n".join([*problems, "run: python3 kernels/build.py"]))
    how = f"{len(to_compile)} compiled" if to_compile else "compared by their checksums, none compiled"
    print(f"{len(kernels)} files of PTX up to date: {how}")


if __name__ == "__main__":
    main()
