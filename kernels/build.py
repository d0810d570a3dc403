#!/usr/bin/env python3
"""Compiles the kernels to PTX, which is committed and embedded in the program.

    python3 kernels/build.py            writes kernels/ptx/
    python3 kernels/build.py --check    fails if kernels/ptx/ is not what the sources give, or if a
                                        kernel keeps values in local memory (spills) on a card that
                                        it is meant for

It needs no GPU and no CUDA toolkit: the compiler (NVRTC) comes from PyPI, by pip, into target/nvrtc.
The PTX is for compute capability 7.0, the oldest that is supported; the driver makes machine code of
it when the program starts.
"""

import argparse
import ctypes
import glob
import os
import re
import subprocess
import sys
import zipfile

PACKAGE = "nvidia-cuda-nvrtc-cu12==12.4.127"
PTX_FOR = "compute_70"
# The paper's TITAN V, and an H200: neither may spill.
CHECKED_ON = ["sm_70", "sm_90"]

KERNELS = ["classic", "shared", "register", "observe", "statistics", "gather"]
PRECISIONS = {"f32": 32, "f64": 64}
FORMS = ["line-isotropic", "line-general", "plane-isotropic", "plane-per-axis", "plane-general"]
OPTIONS = ["--std=c++17", "--fmad=false"]

HERE = os.path.dirname(os.path.abspath(__file__))
PTX = os.path.join(HERE, "ptx")
CACHE = os.path.join(os.path.dirname(HERE), "target", "nvrtc")


def load_compiler():
    """The NVRTC library, fetched if it is not there yet."""
    pattern = os.path.join(CACHE, "nvidia", "cuda_nvrtc", "lib", "libnvrtc.so.*")
    if not glob.glob(pattern):
        os.makedirs(CACHE, exist_ok=True)
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", CACHE]
        subprocess.run([*pip, PACKAGE], check=True)
        for wheel in glob.glob(os.path.join(CACHE, "*.whl")):
            zipfile.ZipFile(wheel).extractall(CACHE)
    return ctypes.CDLL(glob.glob(pattern)[0])


def compile_file(nvrtc, name, options, architecture):
    """The PTX (empty for real architectures) and the log of one file."""
    read = lambda path: open(path, "rb").read()
    headers = sorted(glob.glob(os.path.join(HERE, "*.cuh")))
    names = (ctypes.c_char_p * len(headers))(*[os.path.basename(h).encode() for h in headers])
    texts = (ctypes.c_char_p * len(headers))(*[read(h) for h in headers])
    program = ctypes.c_void_p()
    source = read(os.path.join(HERE, name + ".cu"))
    created = nvrtc.nvrtcCreateProgram(
        ctypes.byref(program), source, (name + ".cu").encode(), len(headers), texts, names
    )
    if created != 0:
        sys.exit(f"{name}.cu: NVRTC could not be started (error {created})")
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
        sys.exit(f"{name}.cu does not compile for {architecture}:\n{log}")
    is_ptx = architecture.startswith("compute")
    ptx = text(nvrtc.nvrtcGetPTXSize, nvrtc.nvrtcGetPTX) if is_ptx else ""
    nvrtc.nvrtcDestroyProgram(ctypes.byref(program))
    return ptx, log


def variants():
    for kernel in KERNELS:
        for precision, bits in PRECISIONS.items():
            for number, form in enumerate(FORMS):
                yield f"{kernel}-{precision}-{form}", kernel, [
                    f"-DREAL_BITS={bits}",
                    f"-DFORM={number}",
                ]


def spills(log):
    """The kernels of a log that spill, with the bytes."""
    for kernel, bytes_stored in re.findall(
        r"entry function '(\w+)'.*?(\d+) bytes spill stores", log, flags=re.DOTALL
    ):
        if int(bytes_stored) > 0:
            yield kernel, bytes_stored


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, and write nothing")
    parser.add_argument("--registers", action="store_true", help="print what each kernel takes")
    arguments = parser.parse_args()

    nvrtc = load_compiler()
    os.makedirs(PTX, exist_ok=True)
    problems = []
    expected = set()
    for name, kernel, options in variants():
        path = os.path.join(PTX, name + ".ptx")
        expected.add(path)
        ptx, _ = compile_file(nvrtc, kernel, options, PTX_FOR)
        if arguments.check:
            if not os.path.exists(path) or open(path).read() != ptx:
                problems.append(f"{path} is not what {kernel}.cu gives")
        else:
            with open(path + ".new", "w") as file:
                file.write(ptx)
            os.replace(path + ".new", path)
        if not (arguments.check or arguments.registers):
            continue
        for architecture in CHECKED_ON:
            _, log = compile_file(
                nvrtc, kernel, [*options, "--ptxas-options=-v"], architecture
            )
            if arguments.registers:
                for function, registers in re.findall(
                    r"entry function '(\w+)'.*?Used (\d+) registers", log, flags=re.DOTALL
                ):
                    print(f"{name} {function} {architecture}: {registers} registers")
            for function, stored in spills(log):
                problems.append(f"{name}: {function} spills {stored} bytes on {architecture}")
    for path in sorted(set(glob.glob(os.path.join(PTX, "*.ptx"))) - expected):
        if arguments.check:
            problems.append(f"{path} belongs to no kernel")
        else:
            os.remove(path)
    if arguments.check and problems:
        sys.exit("\n".join([*problems, "run: python3 kernels/build.py"]))
    print(f"{len(expected)} files of PTX " + ("are up to date" if arguments.check else "written"))


if __name__ == "__main__":
    main()
