#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Each rule of scripts/check_source.py finds its offence and lets the like that is allowed pass."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check_source.py"
SPDX = "// SPDX-License-" + "Identifier: Apache-2.0\n"


def findings(rule, name, text):
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        subprocess.run(["git", "init", "-q", folder], check=True)
        run = subprocess.run([sys.executable, str(SCRIPT), "--root", folder, rule], capture_output=True, text=True)
        assert run.returncode == (1 if run.stdout else 0), run.stderr
        return run.stdout.splitlines()


class Rules(unittest.TestCase):
    def refuses(self, rule, name, text):
        self.assertEqual(len(findings(rule, name, text)), 1, (rule, name, text))

    def accepts(self, rule, name, text):
        self.assertEqual(findings(rule, name, text), [], (rule, name, text))

    def test_licence(self):
        self.accepts("licence", "a.cpp", SPDX)
        self.accepts("licence", "a.sh", "#!/bin/sh\n#" + SPDX[2:])
        self.refuses("licence", "a.cpp", "int a;\n" + SPDX)
        self.refuses("licence", "CMakeLists.txt", "project(x)\n")
        self.accepts("licence", "notes.md", "words\n")

    def test_includes(self):
        self.accepts("includes", "kernels/include/sluice/core/a.hpp", '#include <vector>\n#include "sluice/core/b.hpp"\n')
        self.refuses("includes", "kernels/include/sluice/core/a.hpp", "#include <tbb/task.h>\n")
        self.refuses("includes", "kernels/include/sluice/core/a.hpp", '#include "sluice/kernels/b.hpp"\n')
        self.refuses("includes", "kernels/cpu/a.cpp", "#include <cuda_runtime.h>\n")
        self.accepts("includes", "kernels/cpu/a.cpp", "#include <tbb/task.h>\n")
        self.refuses("includes", "kernels/cuda/a.cu", "#include <oneapi/tbb/task.h>\n")
        self.accepts("includes", "kernels/cuda/a.cu", "#include <cub/cub.cuh>\n")
        self.refuses("includes", "kernels/cpu/a.cpp", '#include "sluice/pipeline.hpp"\n')
        self.refuses("includes", "engine/src/a.cpp", '#include "sluice/io/read.hpp"\n')
        self.accepts("includes", "engine/src/a.cpp", '#include "sluice/kernels/registry.hpp"\n')
        self.refuses("includes", "engine/include/sluice/a.hpp", "#include <cuda_runtime.h>\n")
        self.refuses("includes", "io/src/a.cpp", '#include "sluice/kernels/registry.hpp"\n')
        self.refuses("includes", "io/src/a.cpp", '#include "sluice/pipeline.hpp"\n')
        self.refuses("includes", "io/src/a.cpp", "#include <pcl/point_types.h>\n")
        self.accepts("includes", "io/src/pcl/a.cpp", "#include <pcl/point_types.h>\n")
        self.accepts("includes", "io/src/a.cpp", "// #include <pcl/point_types.h>\n")

    def test_printing(self):
        self.refuses("printing", "io/src/a.cpp", 'void f() { printf("x"); }\n')
        self.refuses("printing", "engine/src/a.cpp", "void f() { std::cerr << 1; }\n")
        self.refuses("printing", "kernels/cpu/a.cpp", "void f() { std::abort(); }\n")
        self.accepts("printing", "io/src/a.cpp", 'void f(char* b) { std::snprintf(b, 1, "x"); }\n')
        self.accepts("printing", "io/src/a.cpp", "// never calls abort()\n")
        self.accepts("printing", "apps/sluice/main.cpp", 'void f() { std::printf("x"); }\n')

    def test_paths(self):
        self.refuses("paths", "a.md", "see /ho" + "me/someone/file\n")
        self.accepts("paths", "a.md", "see ../shared/data and https://example.org/home/x\n")

    def test_leftovers(self):
        self.refuses("leftovers", "a.cpp", "// TO" + "DO: more\n")
        self.accepts("leftovers", "a.cpp", "// done\n")


if __name__ == "__main__":
    unittest.main()
