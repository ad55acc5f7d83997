# `cpack -G DEB` and `cpack -G RPM` pack what is installed; `make packages` builds both from a portable build
# (scripts/packages/packages.sh). The packages install into /opt/nacre, link /usr/bin/nacre to the command, and include
# the command's Python packages: RHEL and older Debian releases have none that are new enough.
include_guard(GLOBAL)

set(CPACK_PACKAGE_NAME nacre)
set(CPACK_PACKAGE_VENDOR "Nacre developers")
set(CPACK_PACKAGE_CONTACT "Nacre developers <nacre@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY ${PROJECT_DESCRIPTION})
set(CPACK_PACKAGE_DESCRIPTION "Nacre replaces the MPI-IO of the MPI that a program already uses. It lays out files on
Lustre, gathers data so that each writing process uses few storage targets, and reports what it did and why. Programs
are not changed; `nacre run` starts them.")
set(CPACK_PACKAGING_INSTALL_PREFIX ${CMAKE_INSTALL_PREFIX})
# The module files contain the prefix, so that it must be the real one during the installation.
set(CPACK_SET_DESTDIR ON)
set(CPACK_PRE_BUILD_SCRIPTS ${PROJECT_BINARY_DIR}/link_command.cmake)
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/link_command.cmake @ONLY CONTENT [[
file(MAKE_DIRECTORY ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin)
file(CREATE_LINK @CMAKE_INSTALL_FULL_BINDIR@/nacre ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/bin/nacre SYMBOLIC)
]])

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
# dpkg-shlibdeps would ask for the glibc of this machine, where libpthread is a part of libc.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= 2.28), python3 (>= 3.9)")
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/prerm)

set(CPACK_RPM_FILE_NAME RPM-DEFAULT)
set(CPACK_RPM_PACKAGE_LICENSE "BSD-3-Clause")
set(CPACK_RPM_PACKAGE_GROUP "System/Libraries")
set(CPACK_RPM_PACKAGE_REQUIRES "python3")
set(CPACK_RPM_PACKAGE_RELOCATABLE OFF)
set(CPACK_RPM_PRE_UNINSTALL_SCRIPT_FILE ${PROJECT_SOURCE_DIR}/packaging/prerm)
set(CPACK_RPM_EXCLUDE_FROM_AUTO_FILELIST_ADDITION /opt)
# The command's Python packages are for any Python from 3.9 on, whatever Python packs them.
set(CPACK_RPM_SPEC_MORE_DEFINE "%define _build_id_links none
%define __brp_python_bytecompile %{nil}")

include(CPack)
