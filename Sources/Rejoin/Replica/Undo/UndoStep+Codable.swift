// SPDX-License-Identifier: Apache-2.0

extension UndoStep: Codable {
  private enum CodingKeys: CodingKey { case dot, name, undone, changes }

  /// Encodes the save and its changes, sorted by record, field and element.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encodeIfPresent(dot, forKey: .dot)
    try container.encodeIfPresent(name, forKey: .name)
    try container.encodeIfPresent(undone, forKey: .undone)
    try container.encode(changes.map(CodedChange.init), forKey: .changes)
  }

  /// Decodes the save and its changes.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let dot = try container.decodeIfPresent(Dot.self, forKey: .dot)
    let undone = try container.decodeIfPresent(Dot.self, forKey: .undone)
    do throws(UndoFault) { try Self.check(dot, undone) } catch {
      throw decoder.corrupted(error.message)
    }
    let name = try container.decodeIfPresent(String.self, forKey: .name)
    self.init(dot: dot, name: name, undone: undone)
    var list = try container.nestedUnkeyedContainer(forKey: .changes)
    while !list.isAtEnd {
      let decoder = try list.superDecoder()
      let coded = try CodedChange(from: decoder)
      do throws(UndoFault) { try add(coded) } catch {
        throw decoder.corrupted(error.message)
      }
    }
    do throws(UndoFault) { try checkDot() } catch {
      throw decoder.corrupted(error.message)
    }
  }
}

// The checks of all encoded forms.
extension UndoStep {
  /// Throws a fault if a save is numbered with zero.
  static func check(_ dots: Dot?...) throws(UndoFault) {
    try require(
      dots.allSatisfy { $0?.sequence != 0 }, "Saves must be numbered from one.")
  }

  /// Throws a fault if the save lacks a dot or changes.
  func checkDot() throws(UndoFault) {
    try require(
      (dot == nil) == changes.isEmpty,
      "A save must have a dot if it has changes.")
  }

  /// Adds a decoded change after all others.
  mutating func add(_ coded: CodedChange) throws(UndoFault) {
    let place = try coded.place()
    if let last = changes.keys.last {
      try require(
        last < place,
        "Changes must be sorted by record, field and element, one for each.")
    }
    changes.append(try coded.change(to: place), at: place)
  }
}
