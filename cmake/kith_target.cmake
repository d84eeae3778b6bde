# Settings that all targets of kith share.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES AND PROJECT_IS_TOP_LEVEL)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(KITH_LIBRARY_DIR ${PROJECT_BINARY_DIR}/lib)
set(KITH_PLUGIN_DIR ${KITH_LIBRARY_DIR}/kith)
set(KITH_RUNTIME_DIR ${PROJECT_BINARY_DIR}/bin)

# For the command and the tests, which compile in half the time with fewer optimisations; hot code is in libkith.
# Sanitizers add much code to optimise, and find faults in the tests without optimisation.
set(KITH_QUICK_TO_COMPILE $<$<CONFIG:Release>:-O1>)
set(KITH_QUICK_IF_SANITIZED "")  # for parts of the library, too, in which the tests spend little time; libFuzzer does not
if(KITH_SANITIZE)
  set(KITH_QUICK_TO_COMPILE -O0)
  if(NOT KITH_FUZZ)
    set(KITH_QUICK_IF_SANITIZED -O0)
  endif()
endif()

# kith_target(NAME) sets the flags that the contract needs (no contraction, no fast-math), warnings, and output folders.
function(kith_target name)
  target_compile_features(${name} PUBLIC cxx_std_20)
  set_target_properties(${name} PROPERTIES
    CXX_EXTENSIONS OFF CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    POSITION_INDEPENDENT_CODE ON
    LIBRARY_OUTPUT_DIRECTORY ${KITH_LIBRARY_DIR} ARCHIVE_OUTPUT_DIRECTORY ${KITH_LIBRARY_DIR}
    RUNTIME_OUTPUT_DIRECTORY ${KITH_RUNTIME_DIR})
  target_compile_options(${name} PRIVATE
    $<$<COMPILE_LANGUAGE:CXX>:-ffp-contract=off -fno-fast-math -Wall -Wextra -Wconversion>
    # gcc 12 and 13 wrongly report overlapping copies in `"text" + std::string` (gcc bug 105651), and uninitialised
    # members in temporaries that hold vectors (gcc bug 105562). clang, which the gate asan uses, does not.
    $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CXX_COMPILER_ID:GNU>>:-Wno-restrict -Wno-maybe-uninitialized>)
  get_target_property(type ${name} TYPE)
  if(type STREQUAL SHARED_LIBRARY)  # if the compiler links libstdc++ into it, other code must not use those symbols
    target_link_options(${name} PRIVATE LINKER:--exclude-libs,libstdc++.a)
  endif()
  if(KITH_WERROR)
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-Werror>)
  endif()
  if(KITH_SANITIZE)
    target_compile_options(${name} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${KITH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
    target_link_options(${name} PRIVATE -fsanitize=${KITH_SANITIZE})
  endif()
endfunction()

# kith_unity(TARGET [ROOMS...]) compiles the files of each folder as one, those of C++ and of CUDA each, since most of their
# time goes to the headers that they share. ROOMS is a regular expression: a folder that matches is compiled as one with all folders below it. Names in
# files compiled together must differ. Files that have options of their own by now stay separate, and so do those with
# the property SKIP_UNITY_BUILD_INCLUSION. -DCMAKE_UNITY_BUILD=OFF compiles each file by itself.
#
# CMake's UNITY_BUILD would put the joint files into another folder where kith is a part of another project. Here their
# paths are relative, and seen from the folder in which ninja runs they are always the same, so ccache finds their objects.
function(kith_unity target)
  if(DEFINED CMAKE_UNITY_BUILD AND NOT CMAKE_UNITY_BUILD)
    return()
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
  set(joint_folder ${CMAKE_BINARY_DIR}/kith-joint)
  get_target_property(sources ${target} SOURCES)
  set(groups "")
  set(kept "")
  foreach(source IN LISTS sources)
    get_filename_component(source ${source} ABSOLUTE)
    set(own "")
    foreach(property SKIP_UNITY_BUILD_INCLUSION COMPILE_OPTIONS COMPILE_DEFINITIONS COMPILE_FLAGS INCLUDE_DIRECTORIES)
      get_property(value SOURCE ${source} PROPERTY ${property})
      list(APPEND own ${value})
    endforeach()
    get_filename_component(language ${source} LAST_EXT)
    if(own OR NOT language MATCHES "^\\.(cpp|cu)$")
      list(APPEND kept ${source})
      continue()
    endif()
    get_filename_component(folder ${source} DIRECTORY)
    file(RELATIVE_PATH group ${PROJECT_SOURCE_DIR} ${folder})
    foreach(rooms IN LISTS ARGN)
      if(group MATCHES "^(${rooms})(/|$)")
        set(group ${rooms})
        break()
      endif()
    endforeach()
    string(MAKE_C_IDENTIFIER "${group}" group)
    string(APPEND group ${language})
    list(APPEND groups ${group})
    file(RELATIVE_PATH path ${joint_folder} ${source})
    string(APPEND text_${group} "#include \"${path}\"\n")
    list(APPEND files_${group} ${source})
  endforeach()
  list(REMOVE_DUPLICATES groups)
  foreach(group IN LISTS groups)
    list(LENGTH files_${group} count)
    if(count EQUAL 1)
      list(APPEND kept ${files_${group}})
      continue()
    endif()
    set(joint ${joint_folder}/${target}_${group})
    file(CONFIGURE OUTPUT ${joint} CONTENT "${text_${group}}" @ONLY)
    list(APPEND kept ${joint})
  endforeach()
  set_property(TARGET ${target} PROPERTY SOURCES ${kept})
endfunction()

# kith_plugin(NAME SOURCES...) builds the back end NAME as libkith_NAME.so beside libkith.so.
function(kith_plugin backend)
  add_library(kith_${backend} MODULE ${ARGN})
  kith_target(kith_${backend})
  target_link_libraries(kith_${backend} PRIVATE kith::kith)
  target_link_options(kith_${backend} PRIVATE -Wl,--version-script=${CMAKE_CURRENT_FUNCTION_LIST_DIR}/plugin.map)
  set_target_properties(kith_${backend} PROPERTIES
    LIBRARY_OUTPUT_DIRECTORY ${KITH_PLUGIN_DIR}
    BUILD_RPATH "\$ORIGIN/.." INSTALL_RPATH "\$ORIGIN/.."
    BUILD_RPATH_USE_ORIGIN ON)
  if(KITH_INSTALL)
    install(TARGETS kith_${backend} LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/kith COMPONENT runtime)
  endif()
endfunction()
