"""Makes the reports that check.py checks: all kinds, with names that cause trouble."""

import random
import struct
import subprocess

LONG = "a class with a name so long that a table has no room for it, " * 3 + "x" * 150
NAMES = ["plain", LONG, "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "\u202eoverride", "\u05d0\u05d1\u05d2 \u05d3",
         "\x1b[31mred", "</title></svg>", "caf\u00e9 & \U0001f600", "two\nlines", "Ankle boot", "\u0627\u0644\u0633"]


def images(path, rows):
    with open(path, "wb") as file:
        file.write(struct.pack(">IIII", 0x803, len(rows), 12, 12) + b"".join(rows))


def labels(path, values):
    with open(path, "wb") as file:
        file.write(struct.pack(">II", 0x801, len(values)) + bytes(values))


def picture(dice, kind):
    return bytes(min(255, max(0, int(120 + 90 * ((x * (kind % 4 + 1) + y * (kind // 4 + 1)) % 12 < 5) + dice.gauss(0, 220))))
                 for y in range(12) for x in range(12))


def quoted(text):
    return '"' + text.replace('"', '""') + '"'


def rows(path, dice, names, count, columns, spread):
    heads = ["plain", '"a column, with a long name and <b>"', "\u202ecolumn"] + ["column %d" % c for c in range(3, columns)]
    lines = [",".join(heads[:columns] + ["kind"])]
    for i in range(count):
        kind = i % len(names)
        lines.append(",".join(["%.4f" % (123.45 * (kind // (c + 1) % 5) + dice.gauss(0, spread)) for c in range(columns)] + [quoted(names[kind])]))
    with open(path, "w", encoding="utf-8", newline="") as file:
        file.write("\n".join(lines) + "\n")


def neighbors(truth, found, dice):
    """Writes the results of an approximate search for 500 queries: some are empty, most are nearly complete."""
    with open(truth, "wb") as right, open(found, "wb") as some:
        right.write(struct.pack("<II", 500, 20))
        some.write(struct.pack("<II", 500, 10))
        far = b""
        for query in range(500):
            nearest = dice.sample(range(100000), 20)
            right.write(struct.pack("<20i", *nearest))
            far += struct.pack("<20f", *(0.25 * ((j + 1) // 2) for j in range(20)))
            lost = min(10, int(dice.expovariate(0.8)))
            some.write(struct.pack("<10i", *(nearest[: 10 - lost] + dice.sample(range(100000, 200000), lost))))
        right.write(far)


def write(kith, folder):
    """Writes the data and the reports, by `kith` and the kith-lab beside it; returns (name, path of the page, most pages it may print to)."""
    dice = random.Random(7)

    def path(name):
        return "%s/%s" % (folder, name)

    for part, count in (("train", 300), ("test", 90)):
        kinds = [i % 10 for i in range(count)]
        images(path(part + "-images-idx3-ubyte"), [picture(dice, kind) for kind in kinds])
        labels(path(part + "-labels-idx1-ubyte"), kinds)
    rows(path("names.csv"), dice, NAMES, 240, 14, 150)
    rows(path("\u05d0-caf\u00e9.csv"), dice, ["class %d" % i for i in range(45)], 450, 6, 90)
    rows(path("many.csv"), dice, ["class %d" % i for i in range(130)], 520, 6, 90)
    names = "T-shirt/top,Trouser,Pullover,Dress,Coat,Sandal,Shirt,Sneaker,Bag,Ankle boot"
    experiments = "pbknn-groups,pbknn-table1,gsknn-table1,knn-ladder"
    neighbors(path("gt.ibin"), path("ann.ibin"), dice)
    pages = []

    def page(name, most, *arguments):
        device = [] if arguments[0] == "recall" else ["--device", "cpu"]
        program = kith + "-lab" if arguments[0] == "reproduce" else kith
        command = [program, *arguments, *device, "--report", path(name + ".html")]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace")
        if done.returncode != 0:
            raise SystemExit("%s\nended with %d: %s" % (" ".join(command), done.returncode, done.stdout[-2000:]))
        pages.append((name, path(name + ".html"), most))

    page("images", 5, "classify", "--train", path("train-images-idx3-ubyte"), "--labels", path("train-labels-idx1-ubyte"), "--queries",
         path("test-images-idx3-ubyte"), "--truth", path("test-labels-idx1-ubyte"), "--write", "class-names=" + names, "-k", "5", "--k-sweep", "1,3,5,9,20")
    page("rows", 8, "classify", "--train", path("names.csv"), "--label", "kind", "--leave-one-out", "-k", "1")
    page("many", 12, "classify", "--train", path("many.csv"), "--label", "kind", "--leave-one-out", "-k", "3")
    page("evaluate", 5, "evaluate", "--train", path("names.csv"), "--label", "kind", "--k-max", "60")
    page("structure", 5, "structure", "--train", path("names.csv"), "--label", "kind")
    page("large", 6, "structure", "--train", path("\u05d0-caf\u00e9.csv"), "--label", "kind")
    page("features", 3, "select-features", "--train", path("names.csv"), "--label", "kind")
    page("recall", 3, "recall", "--truth", path("gt.ibin"), "--found", path("ann.ibin"), "-k", "10")
    page("experiments", 12, "reproduce", experiments, "--quick")
    return pages
