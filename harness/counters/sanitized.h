/* SPDX-License-Identifier: Apache-2.0 */
/* Was this program built with a sanitizer that keeps its own heap? Then nothing else may be placed before malloc. */
#ifndef ASSAY_COUNTERS_SANITIZED_H
#define ASSAY_COUNTERS_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define ASSAY_SANITIZED_HEAP 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer) || __has_feature(memory_sanitizer)
#define ASSAY_SANITIZED_HEAP 1
#endif
#endif
#ifndef ASSAY_SANITIZED_HEAP
#define ASSAY_SANITIZED_HEAP 0
#endif

#endif
