// SPDX-License-Identifier: Apache-2.0

/// What may happen in a search of an ``ObjectExplorer``.
package struct ObjectProgram: Sendable {
  package let name: String
  let isDrive: Bool
  /// The number of saves of each device.
  let saves: [Int]
  /// The number of objects that may be damaged or lost.
  var faults = 0
  /// The number of days that may pass.
  var days = 1
  /// Whether devices also meet without the storage.
  var meets = false
  /// Whether the second device is a copy of the first one, with its ID.
  var isForked = false

  /// Programs with two or three devices.
  package static let all = [
    ObjectProgram(name: "a bucket", isDrive: false, saves: [2, 1, 1]),
    ObjectProgram(
      name: "a bucket that loses objects", isDrive: false, saves: [2, 1],
      faults: 2, days: 2),
    ObjectProgram(
      name: "a bucket beside meetings", isDrive: false, saves: [1, 1, 0],
      faults: 1, meets: true),
    ObjectProgram(name: "a drive", isDrive: true, saves: [2, 0], days: 2),
    ObjectProgram(
      name: "a drive that loses files", isDrive: true, saves: [1, 1],
      faults: 1, days: 2),
    ObjectProgram(
      name: "a copied device", isDrive: false, saves: [1, 2, 0], isForked: true),
  ]
}
