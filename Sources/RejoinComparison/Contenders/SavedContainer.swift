// SPDX-License-Identifier: Apache-2.0

/// `NSPersistentCloudKitContainer` with edits that were saved offline.
///
/// No policy applies to these edits. Apple does not document whether the
/// container sends the whole record or only the changed properties, so there is
/// a strategy for each case. The actual losses are between the two.
struct SavedContainer: Contender {
  let name: String
  let rule: String
  let source = Source.assumption
  private let reading: any Contender

  /// A container that sends whole records.
  static let byRecord = SavedContainer(
    name: "container.savedByRecord",
    rule: "undocumented: an offline save is sent as a whole record",
    reading: RecordByServerTime())

  /// A container that sends the changed properties.
  static let byProperty = SavedContainer(
    name: "container.savedByProperty",
    rule: "undocumented: an offline save is sent as its changed properties",
    reading: ChangedKeys())

  func outcome(of episode: Episode) throws -> Outcome {
    try reading.outcome(of: episode)
  }
}
