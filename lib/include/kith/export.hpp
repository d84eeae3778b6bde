// Which names libkith.so shows to programs that link it.
#pragma once

#include "kith/cxx20.hpp"

#define KITH_API __attribute__((visibility("default")))
