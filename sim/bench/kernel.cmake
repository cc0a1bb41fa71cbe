# The loops that the speed of the recurrence rests on must be vector code: the test compiles their
# file with this build's compiler and the release flags, and reads the compiler's report.
set(kernel_source "${PROJECT_SOURCE_DIR}/sim/engine/ring_kernel.c")

if(BUILD_TESTING)
  separate_arguments(kernel_flags UNIX_COMMAND
    "${CMAKE_C_FLAGS} ${CMAKE_C_FLAGS_RELEASE} -std=gnu17 -D_GNU_SOURCE -ffp-contract=off")
  set(kernel_command sh "${CMAKE_CURRENT_SOURCE_DIR}/check_vectorised.sh" "${CMAKE_C_COMPILER}"
    "${kernel_source}" all
    ${kernel_flags} "-I$<JOIN:$<TARGET_PROPERTY:ar_engine,INTERFACE_INCLUDE_DIRECTORIES>,$<SEMICOLON>-I>")
  add_test(NAME kernel_is_vectorised COMMAND ${kernel_command} COMMAND_EXPAND_LISTS)
  # The same check must refuse code that is not.
  add_test(NAME kernel_check_can_fail COMMAND ${kernel_command}
    -fno-tree-vectorize COMMAND_EXPAND_LISTS)
  set_tests_properties(kernel_is_vectorised kernel_check_can_fail PROPERTIES SKIP_RETURN_CODE 77)
  set_tests_properties(kernel_check_can_fail PROPERTIES
    PASS_REGULAR_EXPRESSION "no loop of [a-z0-9_]* is vectorised")
endif()
