// Stops compilers that do not read C++20, before the other headers confuse them.
#pragma once

#if __cplusplus < 201709L  // what gcc 10 says for -std=c++20
#error "kith needs C++20; compile with -std=c++20 or later"
#include "kith needs C++20"  // no such file: an error that ends the compilation
#endif
