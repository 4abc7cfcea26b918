# SPDX-License-Identifier: Apache-2.0
"""What the scripts that plot share; needs matplotlib."""

import pathlib
import re
import sys

try:
    import matplotlib
except ImportError:
    sys.exit(f"{pathlib.Path(sys.argv[0]).name} needs matplotlib")
matplotlib.use("Agg")
# Equal figures give equal bytes.
matplotlib.rcParams["svg.hashsalt"] = "sluice"
# Text as text, not as outlines of its letters.
matplotlib.rcParams["svg.fonttype"] = "none"
import matplotlib.pyplot as plt  # noqa: E402  (after the choice of a backend that needs no display)


def file_name(*parts, kind):
    return re.sub(r"[^A-Za-z0-9.]+", "-", " ".join(str(part) for part in parts)).strip("-") + "." + kind


def finish(figure, axes, title, path):
    """Adds what all plots have, writes the file and says so."""
    for one in axes:
        one.grid(True, alpha=0.3)
        if one.get_legend_handles_labels()[0] and one.get_legend() is None:
            one.legend(fontsize="small")
    figure.suptitle(title)
    figure.tight_layout()
    figure.savefig(path, dpi=120, metadata={"Date": None} if path.suffix == ".svg" else None)
    plt.close(figure)
    print(path)
