# Compiler settings, dependencies and the functions every folder uses:
#   allreckon_library(<name> SOURCES ... LINKS ...)   one library per folder
#   allreckon_module(<name> [SOURCE...])              a shared object that the program loads when it is needed
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
set(CMAKE_POSITION_INDEPENDENT_CODE ON) # rooms are part of the program and of liballreckon
option(ALLRECKON_WERROR "Treat compiler warnings as errors" OFF)
option(ALLRECKON_FUZZ "Build sim/tools/fuzz with libFuzzer, and all with sanitizers; needs clang" OFF)
if(ALLRECKON_FUZZ AND NOT CMAKE_C_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "ALLRECKON_FUZZ needs clang: configure with CC=clang")
endif()
option(ALLRECKON_SANITIZE "Build with AddressSanitizer and UndefinedBehaviorSanitizer" OFF)
if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release)
endif()

# Asserts state programmer errors; they stay in release builds.
string(REPLACE "-DNDEBUG" "" CMAKE_C_FLAGS_RELEASE "${CMAKE_C_FLAGS_RELEASE}")

# Asserts name files as they lie in the source tree, not where it was built.
set(ALLRECKON_PLAIN_PATHS
  "$<$<COMPILE_LANGUAGE:C,CXX>:-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=;-fmacro-prefix-map=${PROJECT_BINARY_DIR}/=>")
add_library(allreckon_flags INTERFACE)
target_compile_options(allreckon_flags INTERFACE
  "${ALLRECKON_PLAIN_PATHS}"
  -ffp-contract=off # the same digits with and without -march=native
  -Wall -Wextra -Wshadow -Wconversion -Wvla
  "$<$<COMPILE_LANGUAGE:C>:-Wstrict-prototypes;-Wmissing-prototypes>"
  # Clang warns under these names, unlike GCC, of designated initialisers that leave out members, and of signs.
  "$<$<C_COMPILER_ID:Clang>:-Wno-missing-field-initializers;-Wno-sign-conversion>"
  $<$<BOOL:${ALLRECKON_WERROR}>:-Werror>)
target_compile_definitions(allreckon_flags INTERFACE _GNU_SOURCE)
if(ALLRECKON_SANITIZE)
  # Left out for time: what the address sanitizer stops as well, where it is read or written. What is
  # undefined traps: its texts and their library, which leak checks search, took more pages than a run.
  target_compile_options(allreckon_flags INTERFACE
    -fsanitize=address,undefined -fno-sanitize=null,object-size -fno-sanitize-recover=all
    $<IF:$<C_COMPILER_ID:Clang>,-fsanitize-trap=undefined,-fsanitize-undefined-trap-on-error>
    -fno-omit-frame-pointer -g1 -O1)
  # SimGrid throws, which the sanitizer looks for when a program starts. One at a fixed address starts
  # without 1,200 pages of relocations.
  target_link_options(allreckon_flags INTERFACE -fsanitize=address -lstdc++
    $<$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>:-no-pie>)
endif()
if(ALLRECKON_FUZZ) # the few lines of C++, of SimGrid's module, are left as they are
  set(checks address,undefined,float-cast-overflow)
  target_compile_options(allreckon_flags INTERFACE
    "$<$<COMPILE_LANGUAGE:C>:-fsanitize=fuzzer-no-link,${checks};-fno-sanitize-recover=all;-fno-omit-frame-pointer;-g1;-O1>")
  target_link_options(allreckon_flags INTERFACE $<$<LINK_LANGUAGE:C>:-fsanitize=${checks}>)
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
pkg_check_modules(JANSSON REQUIRED IMPORTED_TARGET jansson)
allreckon_note(jansson "${JANSSON_VERSION}")
pkg_check_modules(EXPAT REQUIRED IMPORTED_TARGET expat)
allreckon_note(expat "${EXPAT_VERSION}")
pkg_check_modules(PROTOBUF_C REQUIRED IMPORTED_TARGET libprotobuf-c)
allreckon_note(protobuf-c "${PROTOBUF_C_VERSION}")
pkg_check_modules(YAJL IMPORTED_TARGET yajl)
pkg_check_modules(ZLIB IMPORTED_TARGET zlib)
if(NOT YAJL_FOUND OR NOT ZLIB_FOUND)
  message(FATAL_ERROR "yajl or zlib not found; on Debian: apt-get install libyajl-dev zlib1g-dev")
endif()
allreckon_note(yajl "${YAJL_VERSION}")
allreckon_note(zlib "${ZLIB_VERSION}")

find_path(CSV_INCLUDE_DIR csv.h)
find_library(CSV_LIBRARY csv)
if(NOT CSV_INCLUDE_DIR OR NOT CSV_LIBRARY)
  message(FATAL_ERROR "libcsv not found; on Debian: apt-get install libcsv-dev")
endif()
add_library(allreckon_csv INTERFACE IMPORTED)
target_include_directories(allreckon_csv INTERFACE "${CSV_INCLUDE_DIR}")
target_link_libraries(allreckon_csv INTERFACE "${CSV_LIBRARY}")
allreckon_note(libcsv "${CSV_LIBRARY}")

# Programs take these from archives, where there are any: eight shared objects take longer to load
# than an empty program. Libraries stay linked to the shared objects.
foreach(target PkgConfig::GSL PkgConfig::JANSSON PkgConfig::EXPAT PkgConfig::PROTOBUF_C PkgConfig::YAJL PkgConfig::ZLIB allreckon_csv)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(NOT libraries)
    continue()
  endif()
  set(chosen "")
  foreach(library ${libraries})
    string(REGEX REPLACE "[.]so$" ".a" archive "${library}")
    string(REPLACE "libyajl.a" "libyajl_s.a" archive "${archive}")
    if(EXISTS "${archive}" AND NOT library MATCHES "/libm[.]so")
      list(APPEND chosen "$<IF:$<STREQUAL:$<TARGET_PROPERTY:TYPE>,EXECUTABLE>,${archive},${library}>")
    else()
      list(APPEND chosen "${library}")
    endif()
  endforeach()
  set_property(TARGET ${target} PROPERTY INTERFACE_LINK_LIBRARIES "${chosen}")
endforeach()

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
  include(CheckLanguage)
  if(CUDAToolkit_FOUND)
    # V100 (70) up to CUDA 12.9, which later releases no longer build for.
    if(NOT CMAKE_CUDA_ARCHITECTURES)
      if(CUDAToolkit_VERSION VERSION_LESS 13)
        set(CMAKE_CUDA_ARCHITECTURES 70)
      else()
        set(CMAKE_CUDA_ARCHITECTURES 75 80 86 89 90)
      endif()
    endif()
    check_language(CUDA)
  endif()
  if(CUDAToolkit_FOUND AND CMAKE_CUDA_COMPILER)
    enable_language(CXX) # for a test that runs the kernels' arithmetic on the processor
    enable_language(CUDA)
    set(ALLRECKON_HAS_CUDA ON)
    allreckon_note(CUDA "${CUDAToolkit_VERSION}, sm_${CMAKE_CUDA_ARCHITECTURES}")
  elseif(CUDAToolkit_FOUND)
    allreckon_note(CUDA "${CUDAToolkit_VERSION} without a compiler that works: no GPU measurements")
  else()
    allreckon_note(CUDA "not found: validate/ is built without GPU measurements")
  endif()
else()
  allreckon_note(CUDA "switched off by ALLRECKON_CUDA=OFF")
endif()
find_path(NCCL_INCLUDE_DIR nccl.h HINTS ${CUDAToolkit_INCLUDE_DIRS})
if(NCCL_INCLUDE_DIR AND ALLRECKON_HAS_CUDA)
  allreckon_note(NCCL "${NCCL_INCLUDE_DIR}; the library is looked for when the program runs")
elseif(NCCL_INCLUDE_DIR)
  allreckon_note(NCCL "${NCCL_INCLUDE_DIR}, without CUDA: validate/ is built without it")
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

function(allreckon_module name)
  add_library(${name} MODULE ${ARGN})
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}")
  install(TARGETS ${name} LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}/allreckon")
endfunction()

# What tests and what several of them share are compiled with.
function(allreckon_test_settings target)
  target_link_libraries(${target} PRIVATE allreckon_flags PkgConfig::CRITERION ${ARG_LINKS})
  # Tests take from long lists of like cases every AR_TEST_STRIDE-th: sanitizers look for wrong memory
  # and overflows, not at numbers. Cases that run no code but what others run are disabled there.
  target_compile_definitions(${target} PRIVATE AR_TEST_STRIDE=$<IF:$<BOOL:${ALLRECKON_SANITIZE}>,8,1>
    AR_TEST_SOURCE_DIR="${PROJECT_SOURCE_DIR}" AR_TEST_BINARY_DIR="${CMAKE_CURRENT_BINARY_DIR}")
  # Compiling tests takes longer than running what they do themselves. GCC warns with these options as with -O3.
  set_source_files_properties(${ARGN} PROPERTIES COMPILE_OPTIONS
    "$<IF:$<BOOL:${ALLRECKON_SANITIZE}>,-O0,$<$<CONFIG:Release>:-O1;$<$<C_COMPILER_ID:GNU>:-ftree-vrp>>>")
  # Criterion's test macros define functions without prototypes.
  target_compile_options(${target} PRIVATE -Wno-missing-prototypes)
endfunction()

function(allreckon_test unit)
  if(NOT CRITERION_FOUND)
    return()
  endif()
  cmake_parse_arguments(PARSE_ARGV 1 ARG "" "" "LINKS;SOURCES")
  set(target test_${unit})
  if(NOT TARGET allreckon_test_start)
    add_library(allreckon_test_start OBJECT "${PROJECT_SOURCE_DIR}/models/base/test_start.c")
  endif()
  set(sources test_${unit}.c $<TARGET_OBJECTS:allreckon_test_start>)
  foreach(source ${ARG_SOURCES})
    if(source MATCHES "(test_(cluster_load|platform|scenarios|support|trials))[.]c$") # once for all tests
      set(shared ${CMAKE_MATCH_1})
      if(NOT TARGET ${shared})
        add_library(${shared} OBJECT ${source})
        allreckon_test_settings(${shared} ${source})
      endif()
      list(APPEND sources $<TARGET_OBJECTS:${shared}>)
    else()
      list(APPEND sources ${source})
    endif()
  endforeach()
  add_executable(${target} ${sources})
  list(FILTER sources INCLUDE REGEX "[.]c$")
  allreckon_test_settings(${target} ${sources})
  add_test(NAME ${unit} COMMAND ${target})
  # Memory that was freed is kept for the next case, as the program keeps it (sim/cli/main.c).
  set_tests_properties(${unit} PROPERTIES
    ENVIRONMENT "MALLOC_TRIM_THRESHOLD_=536870912;MALLOC_MMAP_THRESHOLD_=33554432")
  if(GNUPLOT_PROGRAM)
    set_tests_properties(${unit} PROPERTIES
      ENVIRONMENT_MODIFICATION "PATH=path_list_prepend:${PROJECT_SOURCE_DIR}/plots/pictures/test")
  endif()
  if(unit MATCHES "^(cli|engines|gpu|plot|ranks|smpi|step)$")
    set_tests_properties(${unit} PROPERTIES COST 60) # seconds, about: the longest begin first
  endif()
endfunction()

function(allreckon_print_summary)
  get_property(summary GLOBAL PROPERTY ALLRECKON_SUMMARY)
  message(STATUS "Allreckon ${PROJECT_VERSION}, ${CMAKE_BUILD_TYPE} build:\n${summary}")
endfunction()
