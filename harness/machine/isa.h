/* SPDX-License-Identifier: Apache-2.0 */
/* Instruction sets by name, as a cap on what variants may use. */
#ifndef ASSAY_MACHINE_ISA_H
#define ASSAY_MACHINE_ISA_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

/* 0, or ASSAY_EUSAGE with the names that exist. */
int assay_isa_check(const char *isa, const char *what, struct assay_err *err);

/*
 * Are all CPU features of the comma separated @needs part of @isa, which must be a known one? The first that is not is
 * copied into @beyond. NULL needs nothing.
 */
bool assay_isa_holds(const char *isa, const char *needs, char *beyond, size_t size);

/* The architecture whose feature is the first of the comma separated @needs; NULL if that is not known here. */
const char *assay_isa_arch(const char *needs);

/* The width of the widest vectors of @isa, which must be a known one. */
unsigned assay_isa_vector_bits(const char *isa);

#endif
