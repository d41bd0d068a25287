"""Writes the bundled demo data: `python tools/make_demo_data.py [FOLDER]`.

Needs Pillow and numpy, and the Debian packages fonts-courier-prime, fonts-gnutypewriter, fonts-gotico-antiqua,
fonts-junicode, fonts-kristi, fonts-breip, fonts-dancingscript, fonts-dkg-handwriting and fonts-urw-base35. The same
fonts and library versions give the same bytes; the texts do not depend on either.
"""

from __future__ import annotations

import sys
from pathlib import Path

from demo import answers, directories, letters, manuscripts

BUNDLED = Path(__file__).resolve().parents[1] / "src" / "histeval" / "datasets" / "bundled"


def main(folder: Path) -> None:
    letters.write(folder / "letters")
    manuscripts.write(folder / "manuscripts")
    rows = directories.write(folder / "directories")
    answers.write(folder / "answers", rows)


if __name__ == "__main__":
    main(Path(sys.argv[1]) if len(sys.argv) > 1 else BUNDLED)
