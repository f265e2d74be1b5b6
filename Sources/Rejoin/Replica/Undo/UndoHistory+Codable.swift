// SPDX-License-Identifier: Apache-2.0

extension UndoHistory: Codable {
  private enum CodingKeys: CodingKey { case done, undone }

  /// Encodes the saves that can be undone, and those that can be redone.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(done.saves, forKey: .done)
    try container.encode(undone.saves, forKey: .undone)
  }

  /// Decodes the saves that can be undone, and those that can be redone.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let done = try container.decode([UndoStep].self, forKey: .done)
    let undone = try container.decode([UndoStep].self, forKey: .undone)
    guard (done + undone).allSatisfy({ !$0.changes.isEmpty }) else {
      throw decoder.corrupted("Each save of a history must have changes.")
    }
    guard undone.allSatisfy({ $0.undone != nil }) else {
      throw decoder.corrupted(
        "Each save that can be redone must name the save that it has undone.")
    }
    self.init(done: done, undone: undone)
  }
}
