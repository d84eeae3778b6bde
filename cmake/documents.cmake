# `cmake --install` runs this. It copies pages from `source` to `documents` and adapts their links to what is installed:
# headers are found by `to_headers`, pages beside each other. A link to a source file becomes plain text.
file(GLOB pages RELATIVE ${source} ${source}/*.md ${source}/docs/*.md ${source}/docs/howto/*.md)
file(REMOVE_RECURSE ${documents})
foreach(page ${pages})
  file(READ ${source}/${page} text)
  foreach(up "" "../" "../../")
    string(REPLACE "](${up}lib/include/kith/" "](${up}${to_headers}/" text "${text}")
  endforeach()
  string(REGEX REPLACE "\\[([^]]*)\\]\\((\\.\\./)*(lib|tools|\\.clang-tidy)[^)]*\\)" "\\1" text "${text}")
  file(WRITE ${documents}/${page} "${text}")
endforeach()
