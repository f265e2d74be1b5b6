// SPDX-License-Identifier: Apache-2.0

/// `NSPersistentCloudKitContainer` with edits that were saved offline.
///
/// No policy applies to them. Apple does not document whether the container sends
/// the whole record or the changed properties. The two readings are the ends of a
/// bracket.
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
