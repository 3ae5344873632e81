#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What harness/ARCHITECTURE.md says one has to do to add something, done.
load helpers

@test "make reads the flags of every instruction set" {
	table=$ASSAY_SOURCE/harness/include/assay/isa_table.h
	for arch in x86_64 aarch64; do
		flags=$(env -u MAKEFLAGS -u MAKELEVEL make -pn -C "$ASSAY_SOURCE" help ARCH=$arch | sed -n 's/^ISA_FLAGS := //p')
		[ "$(wc -w <<<"$flags")" = "$(grep -c "^ISA([a-z0-9]*, \"$arch\"" "$table")" ]
	done
	[[ $flags == *"dotprod=-march=armv8.2-a+dotprod" ]]
}
