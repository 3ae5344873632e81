/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the symbols that compilers of C++ and Rust make back into the names of functions in their source. */
#ifndef ASSAY_BASE_DEMANGLE_H
#define ASSAY_BASE_DEMANGLE_H

/*
 * For example "ns::Table<long>::count" from "_ZN2ns5TableIlE5countERKSt6vectorIiSaIiEE": without parameters and return
 * type, as perf shows it. Suffixes that tell clones apart (".cold") stay. Malloc'ed; NULL if @symbol is not such a
 * name, or if this system has no libstdc++.so.6, which does the work. Rust's newer names ("_R…") stay as they are.
 */
char *assay_demangle(const char *symbol);

#endif
