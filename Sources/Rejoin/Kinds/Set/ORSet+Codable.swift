// SPDX-License-Identifier: Apache-2.0

/// The encoded form of an element: its value and the changes that inserted it.
private struct CodedElement: Codable {
  let element: Value
  let changes: [Dot]
}

extension ORSet: Codable {
  private enum CodingKeys: CodingKey { case elements, seen }

  /// Encodes the elements, sorted, and the causal context.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let elements = state.store.contents.map {
      CodedElement(element: $0.key, changes: $0.siblings.map(\.dot))
    }
    try container.encode(elements, forKey: .elements)
    try container.encode(state.context, forKey: .seen)
  }

  /// Decodes the elements and the causal context.
  public init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let elements = try container.decode([CodedElement].self, forKey: .elements)
    let seen = try container.decode(CausalContext.self, forKey: .seen)
    guard
      zip(elements, elements.dropFirst()).allSatisfy({
        $0.element < $1.element
      })
    else { throw decoder.corrupted("expected each element once, sorted") }
    let store = try elements.map { coded -> DotMap.Entry in
      guard !coded.changes.isEmpty else {
        throw decoder.corrupted("expected at least one change of an element")
      }
      try decoder.check(coded.changes, areSeenBy: seen)
      return (
        coded.element,
        Siblings(
          sorted: coded.changes.map { .init(dot: $0, payload: AddMark()) })
      )
    }
    self.init(state: Causal(store: DotMap(store), context: seen))
  }
}
