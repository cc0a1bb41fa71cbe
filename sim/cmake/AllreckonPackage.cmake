# The last files to install, and packages: cmake --workflow --preset package leaves allreckon_*.deb
# (program, library, data), liballreckon-dev_*.deb and a source tarball in build/package. The same
# commit gives the same files.

# Completions and manual pages, made by the program when it and its data are installed.
set(shell_files "${PROJECT_BINARY_DIR}/shell_files")
install(CODE "execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND \"${PROJECT_SOURCE_DIR}/sim/cli/shell_files\"
  \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_BINDIR}/allreckon\" \"${shell_files}\")
  execute_process(COMMAND_ERROR_IS_FATAL ANY COMMAND gzip -9nf \"${shell_files}/allreckon.1\")")
install(FILES "${shell_files}/allreckon.1.gz" DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES "${shell_files}/allreckon.bash" DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME allreckon)
install(FILES "${shell_files}/_allreckon" DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES "${shell_files}/allreckon.fish" DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

set(CPACK_PACKAGE_NAME allreckon)
set(CPACK_PACKAGE_VENDOR Allreckon)
set(CPACK_PACKAGE_CONTACT "Allreckon developers <allreckon@example.org>" CACHE STRING "Maintainer of packages")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "simulator and performance model for large-scale collectives")
set(CPACK_COMPONENT_UNSPECIFIED_DESCRIPTION
  "Predicts how training scales on a cluster, and which collective algorithm,\ngrid and layout it should use: messages are simulated with SimGrid or\nfollowed by faster engines, calibrated to measured machines.")
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)

set(CPACK_GENERATOR DEB)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${PROJECT_BINARY_DIR}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_COMPONENTS_ALL Unspecified dev python)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_NAME allreckon)
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_DEPENDS "gnuplot-nox | gnuplot-qt | gnuplot-x11")
set(CPACK_DEBIAN_UNSPECIFIED_PACKAGE_CONTROL_EXTRA "${PROJECT_BINARY_DIR}/triggers")
file(WRITE "${PROJECT_BINARY_DIR}/triggers" "activate-noawait ldconfig\n")
set(CPACK_DEBIAN_DEV_PACKAGE_NAME liballreckon-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "allreckon (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_DEV_DESCRIPTION
  "predictions of Allreckon from programs in C\nHeader, pkg-config file and an example for liballreckon.")
set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-allreckon)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_ARCHITECTURE all)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3, allreckon (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "predictions of Allreckon from Python\nA module over liballreckon, by ctypes.")

set(CPACK_SOURCE_GENERATOR TGZ)
set(CPACK_SOURCE_PACKAGE_FILE_NAME "allreckon-${PROJECT_VERSION}")
set(CPACK_SOURCE_IGNORE_FILES "/\\\\.git(/|$);${PROJECT_SOURCE_DIR}/build/;${PROJECT_SOURCE_DIR}/out/;\\\\.tmp$")

# Times in packages are that of the commit.
execute_process(COMMAND git -C "${PROJECT_SOURCE_DIR}" log -1 --format=%ct
  OUTPUT_VARIABLE commit_time OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
if(NOT commit_time)
  file(TIMESTAMP "${PROJECT_SOURCE_DIR}/CHANGELOG.md" commit_time "%s" UTC)
endif()
execute_process(COMMAND date -R -u -d "@${commit_time}" OUTPUT_VARIABLE commit_date OUTPUT_STRIP_TRAILING_WHITESPACE)
file(WRITE "${PROJECT_BINARY_DIR}/package_times.cmake" "set(ENV{SOURCE_DATE_EPOCH} ${commit_time})\n")
set(CPACK_PROJECT_CONFIG_FILE "${PROJECT_BINARY_DIR}/package_times.cmake")

# Debian wants in every package who may do what, and a changelog in its own form.
foreach(package allreckon liballreckon-dev)
  set(folder "${PROJECT_BINARY_DIR}/doc/${package}")
  file(WRITE "${folder}/changelog" "allreckon (${PROJECT_VERSION}) unstable; urgency=medium\n\n"
    "  * Packaged from its source; see CHANGELOG.md there.\n\n -- ${CPACK_PACKAGE_CONTACT}  ${commit_date}\n")
  execute_process(COMMAND gzip -9nf "${folder}/changelog")
  file(WRITE "${folder}/copyright" "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\n"
    "Upstream-Name: allreckon\n\nFiles: *\nCopyright: 2026 Allreckon developers\nLicense: GPL-3+\n"
    " On Debian systems, the full text of the GNU General Public License version 3\n"
    " is in /usr/share/common-licenses/GPL-3.\n")
  set(component Unspecified)
  if(package MATCHES "-dev$")
    set(component dev)
  endif()
  install(FILES "${folder}/changelog.gz" "${folder}/copyright"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT ${component})
endforeach()
include(CPack)
