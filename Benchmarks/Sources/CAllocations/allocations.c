// SPDX-License-Identifier: Apache-2.0

// What the allocator knows. On Linux its functions are wrapped, to count calls.

#include "CAllocations.h"

#include <stdlib.h>

#if defined(__GLIBC__)

#include <malloc.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);

// The benchmarks run on one thread, and the count is only read there.
static size_t count;

void *malloc(size_t size) {
  count += 1;
  return __libc_malloc(size);
}

void *calloc(size_t number, size_t size) {
  count += 1;
  return __libc_calloc(number, size);
}

void *realloc(void *block, size_t size) {
  count += 1;
  return __libc_realloc(block, size);
}

size_t allocated_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return info.uordblks + info.hblkhd;
}

size_t allocation_count(void) { return count; }

#elif defined(__APPLE__)

#include <malloc/malloc.h>

size_t allocated_bytes(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return statistics.size_in_use;
}

size_t allocation_count(void) { return 0; }

#else

size_t allocated_bytes(void) { return 0; }
size_t allocation_count(void) { return 0; }

#endif
