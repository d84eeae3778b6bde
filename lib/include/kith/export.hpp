// Which names libkith.so shows to programs that link it.
#pragma once

#define KITH_API __attribute__((visibility("default")))
