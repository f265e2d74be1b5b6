// SPDX-License-Identifier: Apache-2.0

// An app needs one import, because it declares its records with types of these
// modules, such as `Entity` and `Date`.
@_exported import Foundation
@_exported import Rejoin
@_exported import RejoinFoundation
