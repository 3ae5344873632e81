/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions as their source has them, of what compilers of C++ and Rust make of these. */
#ifndef ASSAY_BASE_DEMANGLE_H
#define ASSAY_BASE_DEMANGLE_H

/*
 * "ns::Table<long>::count" of "_ZN2ns5TableIlE5countERKSt6vectorIiSaIiEE": without parameters and what is returned, as
 * perf has it; suffixes that tell clones apart (".cold") stay. Malloc'ed; NULL where @symbol is no such name, or where
 * this system has no libstdc++.so.6, which knows how. Rust's newer names ("_R…") stay as they are.
 */
char *assay_demangle(const char *symbol);

#endif
