# `make install`: libraries, headers, pkg-config files, the CMake package and the program.
#
# SPDX-License-Identifier: MIT
