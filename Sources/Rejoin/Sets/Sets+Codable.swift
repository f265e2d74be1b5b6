// SPDX-License-Identifier: Apache-2.0

/// An element of a set as it is encoded, with the changes that wrote it.
private struct CodedElement<Mark: Codable>: Codable {
  let element: Value
  let changes: [Mark]
}

/// A change of a remove-wins set as it is encoded.
private struct CodedMark: Codable {
  let device: DeviceID
  let sequence: UInt64
  let removed: Bool
}

private enum CodingKeys: CodingKey { case elements, seen }

extension ORSet: Codable {
  /// Encodes the elements, sorted, and the causal context.
  public func encode(to encoder: any Encoder) throws {
    try state.encode(to: encoder) { $0.dot }
  }

  /// Decodes the elements and the causal context.
  public init(from decoder: any Decoder) throws {
    self.init(
      state: try Causal(from: decoder) { (dot: Dot) in
        .init(dot: dot, payload: AddMark())
      })
  }
}

extension RemoveWinsSet: Codable {
  /// Encodes the elements, sorted, and the causal context.
  public func encode(to encoder: any Encoder) throws {
    try state.encode(to: encoder) {
      CodedMark(
        device: $0.dot.device, sequence: $0.dot.sequence,
        removed: $0.payload == .removed)
    }
  }

  /// Decodes the elements and the causal context.
  public init(from decoder: any Decoder) throws {
    self.init(
      state: try Causal(from: decoder) { (mark: CodedMark) in
        .init(
          dot: Dot(mark.device, mark.sequence),
          payload: mark.removed ? .removed : .added)
      })
  }
}

extension Causal {
  fileprivate func encode<Payload, Mark: Codable>(
    to encoder: any Encoder, _ mark: (Siblings<Payload>.Element) -> Mark
  ) throws where Store == DotMap<Payload> {
    var container = encoder.container(keyedBy: CodingKeys.self)
    let elements = store.contents.map {
      CodedElement(element: $0.key, changes: $0.siblings.map(mark))
    }
    try container.encode(elements, forKey: .elements)
    try container.encode(context, forKey: .seen)
  }

  fileprivate init<Payload, Mark: Codable>(
    from decoder: any Decoder, _ sibling: (Mark) -> Siblings<Payload>.Element
  ) throws where Store == DotMap<Payload> {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    let elements = try container.decode(
      [CodedElement<Mark>].self, forKey: .elements)
    let seen = try container.decode(CausalContext.self, forKey: .seen)
    guard
      zip(elements, elements.dropFirst()).allSatisfy({
        $0.element < $1.element
      })
    else { throw decoder.corrupted("expected each element once, sorted") }
    var store: [DotMap<Payload>.Entry] = []
    for coded in elements {
      let marks = coded.changes.map(sibling)
      guard !marks.isEmpty else {
        throw decoder.corrupted("expected at least one change of an element")
      }
      try decoder.check(marks.map(\.dot), areSeenBy: seen)
      store.append((coded.element, Siblings(sorted: marks)))
    }
    self.init(store: DotMap(store), context: seen)
  }
}
