// SPDX-License-Identifier: Apache-2.0

// An app declares its records with types of these modules, such as `Entity` and
// `Date`. The exports spare it three more imports.
@_exported import Foundation
@_exported import Rejoin
@_exported import RejoinFoundation
