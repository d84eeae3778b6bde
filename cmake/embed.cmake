# Writes text files into a C++ source as string literals.
#   cmake -DOUTPUT=x.cpp -DNAMESPACE=a::b -DHEADER=x.hpp -DFILES="name=path|name=path" -P embed.cmake
# The source defines `const EmbeddedFile embedded_files[]`, with {name, text} for each file, and
# `embedded_file_count`. HEADER declares both.

string(REPLACE "|" ";" entries "${FILES}")
set(text "#include \"${HEADER}\"\n\nnamespace ${NAMESPACE} {\n\nconst EmbeddedFile embedded_files[] = {\n")
set(count 0)
foreach(entry IN LISTS entries)
  string(REGEX MATCH "^([^=]*)=(.*)$" entry "${entry}")
  set(name "${CMAKE_MATCH_1}")
  file(READ "${CMAKE_MATCH_2}" body)
  string(APPEND text "{\"${name}\", R\"kith_text(${body})kith_text\"},\n")
  math(EXPR count "${count} + 1")
endforeach()
string(APPEND text "};\nconst std::size_t embedded_file_count = ${count};\n\n}  // namespace ${NAMESPACE}\n")
file(WRITE "${OUTPUT}" "${text}")
