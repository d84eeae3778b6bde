# kith_embed_files(TARGET HEADER NAMESPACE name=path...) adds to TARGET a generated source with the text of these files
# (see embed.cmake). It is generated again when one of them changes.
set(KITH_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed.cmake)

function(kith_embed_files target header namespace)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${target}_embedded.cpp)
  set(paths "")
  foreach(entry IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]*=" "" path "${entry}")
    list(APPEND paths "${path}")
  endforeach()
  list(JOIN ARGN "|" files)
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DHEADER=${header} -DNAMESPACE=${namespace}
            -DFILES=${files} -P ${KITH_EMBED_SCRIPT}
    DEPENDS ${paths} ${KITH_EMBED_SCRIPT}
    COMMENT "Embedding the files of ${target}" VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
