# Shows that an include against the order of the rooms fails to compile: each room below includes a
# header of a room that it links to, which compiles, and one of a room above it, which must not be
# found. Included, this file makes the tests; run with `cmake -P`, it is one.
if(CMAKE_SCRIPT_MODE_FILE)
  foreach(header ${SEES} ${MISSES})
    execute_process(COMMAND ${COMPILER} -std=gnu17 -fsyntax-only ${FLAGS} -include ${header} -xc /dev/null
      RESULT_VARIABLE status ERROR_VARIABLE output)
    if(header STREQUAL SEES AND NOT status EQUAL 0)
      message(FATAL_ERROR "${ROOM} does not see ${header}:\n${output}")
    elseif(header STREQUAL MISSES AND NOT output MATCHES "${header}:? (No such file|file not found)|${header}. file not found")
      message(FATAL_ERROR "${ROOM} may include ${header}, which is above it:\n${output}")
    endif()
  endforeach()
  return()
endif()

# A room, a header that it sees, one that it must not see.
set(rows
  "ar_base ar_arena.h ar_cluster.h"
  "ar_fabric ar_cluster.h ar_discover.h"
  "ar_layers ar_csv.h ar_job.h"
  "ar_logs ar_csv.h ar_scenario.h"
  "ar_collective ar_operation.h ar_cluster.h"
  "ar_flows ar_collective.h ar_graph.h"
  "ar_trial ar_trial.h ar_scenario.h"
  "ar_predict ar_trial.h sweep.h"
  "ar_sweep ar_scenario.h options.h"
  "ar_export ar_scenario.h options.h"
  "ar_plots ar_csv.h ar_cluster.h"
  "ar_validate_run ar_order.h ar_cluster.h")

foreach(row ${rows})
  separate_arguments(words UNIX_COMMAND "${row}")
  list(GET words 0 room)
  list(GET words 1 sees)
  list(GET words 2 misses)
  add_test(NAME room_order_${room} COMMAND ${CMAKE_COMMAND} -DROOM=${room}
    "-DCOMPILER=${CMAKE_C_COMPILER}" "-DFLAGS=-I$<JOIN:$<TARGET_PROPERTY:${room},INCLUDE_DIRECTORIES>,;-I>"
    -DSEES=${sees} -DMISSES=${misses} -P "${CMAKE_CURRENT_LIST_FILE}")
endforeach()
