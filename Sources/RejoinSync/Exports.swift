// SPDX-License-Identifier: Apache-2.0

// An app that syncs a store needs no other import.
@_exported import RejoinStore
