// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// The laws of a type's encoding.
struct WireLaws<State: Lattice & Equatable> {
  let encode: (State) throws -> [UInt8]
  let decode: ([UInt8]) throws -> State

  private typealias Written = (value: State, bytes: [UInt8])

  func violation(
    in run: LatticeRun<State>, _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    let routes = cases.orders(of: run.replicas.map(\.state)).map { order in
      order.dropFirst().reduce(order[0]) { $0.merging($1) }
    }
    let values = run.reached.map(\.state) + routes
    return violation(among: values, damaging: routes.prefix(1), &cases)
  }

  func violation(
    among samples: [State], _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    violation(among: samples, damaging: samples[...], &cases)
  }

  /// Returns the first violation.
  ///
  /// Damaging bytes is slow, so the method damages only the bytes of `some`
  /// values.
  private func violation(
    among values: [State], damaging some: ArraySlice<State>,
    _ cases: inout LatticeCases
  ) -> LatticeViolation? {
    if values.isEmpty { return nil }
    do throws(LatticeViolation) {
      var written: [Written] = []
      for value in values {
        cases.tried()
        written.append((value, try bytesRead(of: value)))
      }
      try equal(among: written, &cases)
      for pair in cases.tuples(of: values, size: 2) {
        cases.tried()
        try join(pair[0], pair[1])
      }
      for value in some { try damage(value, &cases) }
      return nil
    } catch { return error }
  }

  /// Returns the bytes of a value, after decoding and encoding them again.
  private func bytesRead(
    of a: State
  ) throws(LatticeViolation) -> [UInt8] {
    let bytes = try bytes(of: a)
    let read = try value(of: bytes, from: a)
    let given = [Named("a", a).exhibit, exhibit("bytes", bytes)]
    guard read == a else {
      throw LatticeViolation(.roundTrip, given + [Named("read", read).exhibit])
    }
    let again = try self.bytes(of: read)
    guard again == bytes else {
      throw LatticeViolation(.writtenAgain, given + [exhibit("again", again)])
    }
    return bytes
  }

  private func equal(
    among all: [Written], _ cases: inout LatticeCases
  ) throws(LatticeViolation) {
    for (i, a) in all.enumerated() {
      for b in all[..<i] {
        cases.tried()
        try equal(a, b)
      }
    }
  }

  private func equal(_ a: Written, _ b: Written) throws(LatticeViolation) {
    guard (a.value == b.value) == (a.bytes == b.bytes) else {
      throw LatticeViolation(
        .equalBytes,
        [
          Named("a", a.value).exhibit, Named("b", b.value).exhibit,
          exhibit("bytes of a", a.bytes), exhibit("bytes of b", b.bytes),
        ])
    }
  }

  private func join(_ a: State, _ b: State) throws(LatticeViolation) {
    let (ab, ba) = (a.merging(b), b.merging(a))
    let joined = try bytes(of: ab)
    try equal((ab, joined), (ba, try bytes(of: ba)))
    let read = try value(of: try bytes(of: a), from: a)
      .merging(try value(of: try bytes(of: b), from: b))
    let expected = try value(of: joined, from: ab)
    let (left, right) = (try bytes(of: read), try bytes(of: expected))
    guard left == right else {
      throw LatticeViolation(
        .joinedBytes,
        [
          Named("a", a).exhibit, Named("b", b).exhibit,
          exhibit("read a ⊔ read b", left), exhibit("read (a ⊔ b)", right),
        ])
    }
  }

  /// Truncates the bytes of a value, appends a byte, and flips bits.
  private func damage(
    _ a: State, _ cases: inout LatticeCases
  ) throws(LatticeViolation) {
    let bytes = try bytes(of: a)
    for count in bytes.indices {
      cases.tried()
      try refuse(Array(bytes[..<count]), insteadOf: bytes, of: a)
    }
    cases.tried()
    try refuse(bytes + [0], insteadOf: bytes, of: a)
    guard !bytes.isEmpty else { return }
    for bit in cases.numbers(below: bytes.count * 8) {
      cases.tried()
      var damaged = bytes
      damaged[bit / 8] ^= 1 << UInt8(bit % 8)
      try refuse(damaged, insteadOf: bytes, of: a)
    }
  }

  /// Checks that damaged bytes can't be decoded, or are the encoding of a
  /// value.
  private func refuse(
    _ damaged: [UInt8], insteadOf bytes: [UInt8], of a: State
  ) throws(LatticeViolation) {
    guard let read = try? decode(damaged) else { return }
    let again = try self.bytes(of: read)
    guard again == damaged else {
      throw LatticeViolation(
        .canonicalBytes,
        [
          Named("a", a).exhibit, exhibit("bytes", bytes),
          exhibit("damaged", damaged), Named("read", read).exhibit,
          exhibit("again", again),
        ])
    }
  }

  private func bytes(of a: State) throws(LatticeViolation) -> [UInt8] {
    do { return try encode(a) } catch {
      throw LatticeViolation(
        .roundTrip, [Named("a", a).exhibit, thrown(error)])
    }
  }

  private func value(
    of bytes: [UInt8], from a: State
  ) throws(LatticeViolation) -> State {
    do { return try decode(bytes) } catch {
      throw LatticeViolation(
        .roundTrip,
        [Named("a", a).exhibit, exhibit("bytes", bytes), thrown(error)])
    }
  }

  private func thrown(_ error: any Error) -> LawFailure.Exhibit {
    LawFailure.Exhibit(name: "thrown", text: "\(error)")
  }

  private func exhibit(
    _ name: String, _ bytes: [UInt8]
  ) -> LawFailure.Exhibit {
    LawFailure.Exhibit(name: name, text: ValueText.hexadecimal(bytes))
  }
}
