// SPDX-License-Identifier: Apache-2.0

// What the allocator knows. On Linux its functions are wrapped, to count calls and
// to watch the peak; blocks of an unusual alignment are not watched.

#include "CAllocations.h"

#include <stdbool.h>
#include <stdlib.h>

#if defined(__GLIBC__)

#include <malloc.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *block, size_t size);
extern void __libc_free(void *block);

// The benchmarks run on one thread, and the counts are only read there.
static size_t count;
static bool is_watching;
static ptrdiff_t watched;
static ptrdiff_t peak;

static void note(ptrdiff_t bytes) {
  watched += bytes;
  if (watched > peak) peak = watched;
}

static void *allocated(void *block) {
  count += 1;
  if (is_watching) note((ptrdiff_t)malloc_usable_size(block));
  return block;
}

void *malloc(size_t size) { return allocated(__libc_malloc(size)); }

void *calloc(size_t number, size_t size) {
  return allocated(__libc_calloc(number, size));
}

void *realloc(void *block, size_t size) {
  // A block that moves is there twice for a moment.
  size_t old = is_watching ? malloc_usable_size(block) : 0;
  void *moved = allocated(__libc_realloc(block, size));
  if (is_watching && (moved != NULL || size == 0)) note(-(ptrdiff_t)old);
  return moved;
}

void free(void *block) {
  if (is_watching) note(-(ptrdiff_t)malloc_usable_size(block));
  __libc_free(block);
}

void watch_peak(void) {
  watched = peak = 0;
  is_watching = true;
}

size_t watched_peak(void) {
  is_watching = false;
  return (size_t)peak;
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
void watch_peak(void) {}
size_t watched_peak(void) { return 0; }

#else

size_t allocated_bytes(void) { return 0; }
size_t allocation_count(void) { return 0; }
void watch_peak(void) {}
size_t watched_peak(void) { return 0; }

#endif

#if defined(__linux__)

#include <stdio.h>
#include <unistd.h>

size_t resident_bytes(void) {
  FILE *file = fopen("/proc/self/statm", "r");
  size_t pages = 0;
  if (file == NULL) return 0;
  if (fscanf(file, "%*u %zu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * (size_t)sysconf(_SC_PAGESIZE);
}

#elif defined(__APPLE__)

#include <mach/mach.h>

size_t resident_bytes(void) {
  mach_task_basic_info_data_t info;
  mach_msg_type_number_t number = MACH_TASK_BASIC_INFO_COUNT;
  kern_return_t result = task_info(
      mach_task_self(), MACH_TASK_BASIC_INFO, (task_info_t)&info, &number);
  return result == KERN_SUCCESS ? info.resident_size : 0;
}

#else

size_t resident_bytes(void) { return 0; }

#endif
