"""Compiles C, C++ and CMake blocks as programs of one CMake project, against an installed kith."""

import dataclasses
import re
import shutil
import subprocess

from blocks import Mistake

# Maps a header to what a program that includes it links to.
LINKS = {
    "mpi.h": "MPI::MPI_CXX",
    "kith/mpi.hpp": "kith::mpi",
    "CL/opencl.hpp": "OpenCL::OpenCL",
    "cuda_runtime.h": "CUDA::cudart",
}
PROJECT = """cmake_minimum_required(VERSION 3.22)
project(pages LANGUAGES C CXX)
find_package(kith REQUIRED OPTIONAL_COMPONENTS mpi)
find_package(MPI QUIET)
find_package(OpenCL QUIET)
find_package(CUDAToolkit QUIET)
function(page name file)
  foreach(target ${ARGN})
    if(NOT TARGET ${target})
      return()
    endif()
  endforeach()
  add_executable(${name} ${file})
  target_link_libraries(${name} PRIVATE kith::kith ${ARGN})
endfunction()
"""


@dataclasses.dataclass
class Program:
    name: str
    blocks: list

    def source(self):
        """Returns the blocks unchanged if they define `main`, else in one `main` behind their includes."""
        texts = [(block.line, block.page, block.text) for block in self.blocks]
        if any(re.search(r"\bint main\(", text) for _, _, text in texts):
            return "".join(f'#line {line + 1} "{page}"\n{text}' for line, page, text in texts)
        includes = "".join(line + "\n" for _, _, text in texts for line in text.splitlines() if line.startswith("#include"))
        bodies = "".join(
            f'#line {line + 1} "{page}"\n' + re.sub(r"^#include.*", "", text, flags=re.MULTILINE) for line, page, text in texts)
        return f"{includes}int main(int argc, char** argv) {{\n(void)argc, (void)argv;\n{bodies}}}\n"

    def links(self):
        return [target for header, target in LINKS.items() if any(f"<{header}>" in block.text for block in self.blocks)]


def find_programs(blocks):
    """Groups blocks into programs: a block with an #include begins one, a block without continues it."""
    programs = []
    for block in blocks:
        if block.language not in ("c", "cpp") or block.file_name:
            continue
        if re.search(r"^#include", block.text, re.MULTILINE):
            programs.append(Program(re.sub(r"\W", "_", f"{block.page}_{block.line}"), []))
        elif not programs:
            raise Mistake(f"{block.place}: no program has begun; the first block of a page includes what it needs")
        elif block.needs:
            raise Mistake(f"{block.place}: a mark stands before the block that begins a program")
        programs[-1].blocks.append(block)
    for program in programs:
        program.blocks[-1].needs = program.blocks[0].needs
        program.blocks[-1].printed = [line for block in program.blocks for line in block.printed or []] or None
    return programs


def build(programs, folder, installed):
    """Writes and builds the programs whose libraries are installed. Returns their folder."""
    folder.mkdir(parents=True)
    project = PROJECT
    for program in programs:
        file = f"{program.name}.{'c' if program.blocks[0].language == 'c' else 'cpp'}"
        (folder / file).write_text(program.source())
        project += " ".join(["page(" + program.name, file, *program.links()]) + ")\n"
    (folder / "CMakeLists.txt").write_text(project)
    for command in (
        ["cmake", "-S", folder, "-B", folder / "build", f"-DCMAKE_PREFIX_PATH={installed}",
         f"-DCMAKE_CXX_COMPILER_LAUNCHER={shutil.which('ccache') or ''}"],
        ["cmake", "--build", folder / "build", "--parallel", "2"],
    ):
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode != 0:
            errors = re.findall(r"^.*\berror\b.*$|^CMake Error.*(?:\n.+)*", done.stdout + done.stderr, re.MULTILINE | re.IGNORECASE)
            raise Mistake("\n".join(errors[:20]))
    return folder / "build"
