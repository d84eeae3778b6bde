# The CPU back end is part of libkith; its stages are compiled once for each instruction set and
# chosen at run time. All of them return the same bits.
