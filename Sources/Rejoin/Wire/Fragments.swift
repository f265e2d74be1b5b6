// SPDX-License-Identifier: Apache-2.0

/// What a fragment is relative to.
struct FragmentBasis {
  /// The saves that the receiver must hold.
  var clock = VectorClock()
  /// The devices whose line of a ledger continues one that the receiver has.
  var continued: Set<DeviceID> = []
}

extension MessageWriter {
  /// Writes a fragment: what it has of the field, and of each device in its clock
  /// how many saves are new.
  mutating func write(_ fragment: Fragment) {
    write(fragment.state, continued: fragment.continued)
    for entry in fragment.state.clock.entries {
      out.varint(entry.count - fragment.basis[entry.device])
    }
  }
}

extension MessageReader {
  /// The fragment that was read last, of which this is the state; `nil` if it
  /// was no fragment.
  func fragment(_ state: FieldState) -> Fragment? {
    fragment.map {
      Fragment(state: state, basis: $0.clock, continued: $0.continued)
    }
  }

  /// Reads what a fragment is relative to, after its content.
  ///
  /// - Parameters:
  ///   - isWhole: Whether it is taken as one, so that devices without new saves
  ///     are in its clock.
  ///   - lines: The devices that it has entries of.
  mutating func readBasis(
    isWhole: Bool, lines: [Int], continued: Set<DeviceID>
  ) throws(WireError) {
    let start = reader.offset
    guard lines.allSatisfy({ dots[$0] > 0 }) else {
      throw reader.error(
        .invalid, "entries of devices whose saves the fragment has seen",
        at: start)
    }
    var basis: [VectorClock.Entry] = []
    var hasNews = false
    for line in dots.touched.sorted() {
      let start = reader.offset
      let new = try reader.varint()
      let last = dots[Int(line)]
      guard new <= last, new > 0 || isWhole else {
        throw reader.error(
          .invalid, "from \(isWhole ? 0 : 1) to \(last) new saves", at: start)
      }
      hasNews = hasNews || new > 0
      if isBuilding, new < last {
        basis.append(
          .init(device: saves.device(of: Int(line)), count: last - new))
      }
    }
    guard hasNews else {
      throw reader.error(.invalid, "a fragment with a new save", at: start)
    }
    fragment = FragmentBasis(
      clock: VectorClock(sorted: basis), continued: continued)
  }
}
