// Marks the names that libkith.so exports.
#pragma once

#include "kith/cxx20.hpp"

#define KITH_API __attribute__((visibility("default")))
