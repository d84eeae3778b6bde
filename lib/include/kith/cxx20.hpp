// Stops compilers that do not read C++20, with one message instead of the many that other headers would give.
#pragma once

#if __cplusplus < 201709L  // gcc 10 has this value for -std=c++20
#error "kith needs C++20; compile with -std=c++20 or later"
#include "kith needs C++20"  // no such file: an error that ends the compilation
#endif
