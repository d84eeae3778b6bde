"""Records digests of the answers to blocks of seeds, and compares later answers with them.

Each line of the file has the device, the first seed of a block, and the digest of its answers.
"""
CASES = 500  # seeds of a block
ONE_CASE = 2**80  # added to the digest of each case, so that a sum says how many it has


def block_of(seed):
    return seed - seed % CASES


def compare_or_record(options, answers):
    """Appends the digests to a file, or returns how many differ from the file's."""
    whole = {block: f"{answers[block] % 2**64:016x}" for block in sorted(answers)
             if answers[block] // ONE_CASE == CASES}
    if options.record:
        with open(options.record, "a") as file:
            file.writelines(f"{options.device} {block} {digest}\n" for block, digest in whole.items())
        return 0
    with open(options.digests) as file:
        recorded = dict(line.rsplit(None, 1) for line in file)
    wrong = 0
    for block, digest in whole.items():
        expected = recorded.get(f"{options.device} {block}", "not recorded")
        if digest != expected:
            wrong += 1
            print(f"WRONG: the answers on {options.device} of seeds {block} ... {block + CASES - 1} have the digest {digest} "
                  f"instead of {expected}")
    if not whole:
        print(f"WRONG: no whole block of {CASES} seeds")
    return wrong + (not whole)
