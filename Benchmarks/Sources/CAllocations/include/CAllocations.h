// SPDX-License-Identifier: Apache-2.0

#include <stddef.h>

/// The bytes that are allocated and not freed.
size_t allocated_bytes(void);

/// How often memory has been allocated; 0 where the system does not tell.
size_t allocation_count(void);

/// Begins to watch how many bytes are allocated.
void watch_peak(void);

/// How many bytes there were at most more than when they began to be watched; 0
/// where the system does not tell.
size_t watched_peak(void);

/// The bytes of this process that are in memory; 0 where the system does not
/// tell.
size_t resident_bytes(void);
