# Run by `cmake --install`: pages from `source` to `documents`, whose links lead to what is installed: headers by
# `to_headers`, the rest beside them. A link to a source file becomes its text.
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
