# Compiler settings, dependencies and the two functions every folder uses:
#   allreckon_library(<name> SOURCES ... LINKS ...)   one library per folder
#   allreckon_test(<unit> LINKS ...)                  test_<unit>.c, run by Criterion under CTest
# A library sees the public headers (ar_*.h) of exactly the libraries it links to, so the link graph
# is the dependency rule: base <- traces, topologies <- models <- sim.

include(GNUInstallDirs)
include(CTest)
include(CheckCCompilerFlag)
find_package(PkgConfig REQUIRED)

set(CMAKE_C_STANDARD 17)
set(CMAKE_C_STANDARD_REQUIRED ON)
set(CMAKE_C_EXTENSIONS ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
option(ALLRECKON_WERROR "Treat compiler warnings as errors" OFF)
option(ALLRECKON_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Asserts state programmer errors; they stay in release builds.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")

add_library(allreckon_flags INTERFACE)
target_compile_options(allreckon_flags INTERFACE
  -ffp-contract=off # the same digits with and without -march=native
  -Wall -Wextra -Wshadow -Wconversion -Wstrict-prototypes -Wmissing-prototypes -Wvla
  $<$<BOOL:${ALLRECKON_WERROR}>:-Werror>)
target_compile_definitions(allreckon_flags INTERFACE _GNU_SOURCE)
if(ALLRECKON_SANITIZE)
  target_compile_options(allreckon_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(allreckon_flags INTERFACE -fsanitize=address,undefined)
endif()

# --- dependencies -------------------------------------------------------------------------------
set(ALLRECKON_SUMMARY "")
function(allreckon_note name text)
  string(LENGTH "${name}" length)
  math(EXPR pad "12 - ${length}")
  if(pad LESS 1)
    set(pad 1)
  endif()
  string(REPEAT " " ${pad} space)
  set_property(GLOBAL APPEND_STRING PROPERTY ALLRECKON_SUMMARY "  ${name}${space}${text}\n")
endfunction()

pkg_check_modules(SIMGRID REQUIRED IMPORTED_TARGET simgrid>=3.32)
allreckon_note(SimGrid "${SIMGRID_VERSION}")
pkg_check_modules(GSL REQUIRED IMPORTED_TARGET gsl)
allreckon_note(GSL "${GSL_VERSION}")

find_path(CSV_INCLUDE_DIR csv.h)
find_library(CSV_LIBRARY csv)
if(NOT CSV_INCLUDE_DIR OR NOT CSV_LIBRARY)
  message(FATAL_ERROR "libcsv not found; on Debian: apt-get install libcsv-dev")
endif()
add_library(allreckon_csv INTERFACE IMPORTED)
target_include_directories(allreckon_csv INTERFACE "${CSV_INCLUDE_DIR}")
target_link_libraries(allreckon_csv INTERFACE "${CSV_LIBRARY}")
allreckon_note(libcsv "${CSV_LIBRARY}")

find_program(GNUPLOT_PROGRAM gnuplot)
if(GNUPLOT_PROGRAM)
  allreckon_note(gnuplot "${GNUPLOT_PROGRAM}")
else()
  allreckon_note(gnuplot "not found: 'allreckon plot' looks for it in PATH when it runs")
endif()

if(BUILD_TESTING)
  pkg_check_modules(CRITERION IMPORTED_TARGET criterion)
  pkg_check_modules(JANSSON IMPORTED_TARGET jansson) # reads what is exported
endif()
if(CRITERION_FOUND)
  allreckon_note(Criterion "${CRITERION_VERSION}")
else()
  allreckon_note(Criterion "not found or BUILD_TESTING off: no tests are built")
endif()
if(CRITERION_FOUND AND NOT JANSSON_FOUND)
  allreckon_note(Jansson "not found: the test of exported timelines is not built")
endif()

# Optional: needed by the measurement programs in validate/ only.
option(ALLRECKON_CUDA "Look for the CUDA Toolkit" ON)
set(ALLRECKON_HAS_CUDA OFF)
option(ALLRECKON_REQUIRE_CUDA "Stop when the CUDA Toolkit is missing" OFF)
if(ALLRECKON_REQUIRE_CUDA)
  find_package(CUDAToolkit REQUIRED)
endif()
if(ALLRECKON_CUDA)
  find_package(CUDAToolkit QUIET)
  if(CUDAToolkit_FOUND)
    set(ALLRECKON_HAS_CUDA ON)
    allreckon_note(CUDA "${CUDAToolkit_VERSION} (found; no program uses it yet)")
  else()
    allreckon_note(CUDA "not found: validate/ is built without GPU measurements")
  endif()
else()
  allreckon_note(CUDA "switched off by ALLRECKON_CUDA=OFF")
endif()
find_path(NCCL_INCLUDE_DIR nccl.h)
if(NCCL_INCLUDE_DIR)
  allreckon_note(NCCL "${NCCL_INCLUDE_DIR} (no program uses it yet)")
else()
  allreckon_note(NCCL "not found: validate/ is built without NCCL")
endif()
option(ALLRECKON_MPI "Build 'allreckon sweep' for mpirun and srun if MPI is found" ON)
set(ALLRECKON_HAS_MPI OFF)
if(ALLRECKON_MPI)
  find_package(MPI QUIET COMPONENTS C)
  if(MPI_C_FOUND)
    set(ALLRECKON_HAS_MPI ON)
    allreckon_note(MPI "${MPI_C_VERSION}")
  else()
    allreckon_note(MPI "not found: 'allreckon sweep' runs on one machine")
  endif()
else()
  allreckon_note(MPI "switched off by ALLRECKON_MPI=OFF")
endif()

# --- functions ----------------------------------------------------------------------------------
function(allreckon_library name)
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "SOURCES;LINKS;PRIVATE_LINKS")
  add_library(${name} STATIC ${ARG_SOURCES})
  target_include_directories(${name} PUBLIC "${CMAKE_CURRENT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${ARG_LINKS} PRIVATE allreckon_flags ${ARG_PRIVATE_LINKS})
endfunction()

function(allreckon_test unit)
  if(NOT CRITERION_FOUND)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINKS;SOURCES")
  set(target test_${unit})
  add_executable(${target} test_${unit}.c ${ARG_SOURCES})
  target_link_libraries(${target} PRIVATE allreckon_flags PkgConfig::CRITERION ${ARG_LINKS})
  target_compile_definitions(${target} PRIVATE
    AR_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" AR_TEST_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")
  # Criterion's test macros define functions without prototypes.
  target_compile_options(${target} PRIVATE -Wno-missing-prototypes)
  add_test(NAME ${unit} COMMAND ${target})
endfunction()

function(allreckon_print_summary)
  get_property(summary GLOBAL PROPERTY ALLRECKON_SUMMARY)
  message(STATUS "Allreckon ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE} build:\n${summary}")
endfunction()
