// SPDX-License-Identifier: Apache-2.0

extension UndoStep: Codable {
  private enum CodingKeys: CodingKey { case dot, name, undone, changes }

  /// Encodes the save and its changes, sorted by record, field and element.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(dot, forKey: .dot)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(undone, forKey: .undone)
    try container.encode(
      changes.sorted { $0.key < $1.key }.map(CodedChange.init),
      forKey: .changes)
  }

  /// Decodes the save and its changes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let dot = try container.decodeIfPresent(Dot.self, forKey: .dot)
    let undone = try container.decodeIfPresent(Dot.self, forKey: .undone)
    guard [dot, undone].allSatisfy({ $0?.sequence != 0 }) else {
      throw decoder.corrupted("Saves must be numbered from one.")
    }
    let name = try container.decodeIfPresent(String.self, forKey: .name)
    self.init(dot: dot, name: name, undone: undone)
    var list = try container.nestedUnkeyedContainer(forKey: .changes)
    var last: Place?
    while !list.isAtEnd {
      let place = try readChange(from: list.superDecoder(), after: last)
      last = place
    }
    guard (dot == nil) == changes.isEmpty else {
      throw decoder.corrupted("A save must have a dot if it has changes.")
    }
  }

  private mutating func readChange(
    from decoder: any Decoder, after last: Place?
  ) throws -> Place {
    let coded = try CodedChange(from: decoder)
    let place = try coded.place(decoder)
    if let last, !(last < place) {
      throw decoder.corrupted(
        "Changes must be sorted by record, field and element, one for each.")
    }
    changes[place] = try coded.change(to: place, decoder)
    return place
  }
}

extension UndoStep.Place: Comparable {
  static func < (a: UndoStep.Place, b: UndoStep.Place) -> Bool {
    if a.record != b.record { return a.record < b.record }
    if a.field != b.field { return a.field < b.field }
    return a.element.isBefore(b.element)
  }
}
