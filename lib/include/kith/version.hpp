// Gives the version of this copy of kith; CMakeLists.txt reads it from here.
#pragma once

#define KITH_VERSION_MAJOR 0
#define KITH_VERSION_MINOR 1
#define KITH_VERSION_PATCH 0
