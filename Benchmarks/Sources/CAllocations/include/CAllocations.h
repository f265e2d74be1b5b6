// SPDX-License-Identifier: Apache-2.0

#include <stddef.h>

/// The bytes that are allocated and not freed.
size_t allocated_bytes(void);

/// How often memory has been allocated; 0 where the system does not tell.
size_t allocation_count(void);
