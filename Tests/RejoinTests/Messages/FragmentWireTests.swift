// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import Testing

/// Fragments that no replica writes.
@Suite struct FragmentWireTests {
  private let a = DeviceID(1)
  private let b = DeviceID(2)

  private func message(_ kind: FieldKind, _ fragment: Fragment) -> [UInt8] {
    let change = RecordChange(
      id: Sailor.ada, fragments: [FieldKey("field", kind): fragment])
    return Delta([change]).encoded()
  }

  private func refusal(of bytes: [UInt8]) -> String? {
    do throws(WireError) {
      _ = try Delta(decoding: bytes)
      return nil
    } catch { return error.expected }
  }

  private func tally(_ clock: VectorClock) -> FieldState {
    let entries = clock.entries.map {
      PNCounter.Entry(
        device: $0.device, sequence: $0.count, increments: 1, decrements: 0)
    }
    return FieldState(Causal(PNCounter(entries: entries), clock))
  }

  @Test func fragmentIsReadAsWritten() throws {
    let fragment = Fragment(
      state: tally([a: 3, b: 2]), basis: [a: 1], continued: [])
    let bytes = message(.counter, fragment)
    let delta = try Delta(decoding: bytes)
    #expect(
      delta.changes[0].fragments == [FieldKey("field", .counter): fragment])
    #expect(
      Delta(changes: delta.changes, intervals: [:]).encoded() == bytes)
  }

  @Test func fragmentWithoutNewSaveIsRefused() {
    let set = FieldState(
      Causal(
        ORSetStore([(.int(1), Siblings(AddMark(), at: Dot(a, 2)))]), [a: 2]))
    let fragment = Fragment(state: set, basis: [a: 2], continued: [])
    #expect(
      refusal(of: message(.set, fragment)) == "a fragment with a new save")
  }

  @Test func partialFragmentNeedsNewSavesOfEachDevice() {
    let fragment = Fragment(
      state: tally([a: 3, b: 2]), basis: [a: 3], continued: [])
    #expect(
      refusal(of: message(.counter, fragment)) == "from 1 to 3 new saves")
  }

  @Test func lineOfDeviceOutsideClockIsRefused() {
    let line = DeviceEntries(
      folded: 1, sum: 5, tail: [])
    let ledger = FieldState(
      Causal(Ledger(lines: [a: line]), [b: 1]))
    let (log, tally) = (FieldKey("log", .ledger), tally([a: 1]))
    let fragment = Fragment(state: ledger, basis: [:], continued: [])
    for change in [
      RecordChange(
        id: Sailor.ada, fields: [FieldKey("a", .counter): tally],
        fragments: [log: fragment]),
      RecordChange(
        id: Sailor.ada,
        fields: [FieldKey("a", .counter): tally, log: ledger]),
    ] {
      #expect(
        refusal(of: Delta(changes: [change]).encoded())
          == "entries of devices whose saves the field has seen")
    }
  }

  @Test func registerHasNoFragments() {
    let register = Fragment(
      state: FieldState(
        Causal(Siblings(Stamped(.int(1), at: .zero), at: Dot(a, 1)), nil)),
      basis: [:], continued: [])
    #expect(
      refusal(of: message(.register, register))
        == "a fragment of a set, a counter or a ledger, in a delta")
  }

  @Test func continuedLineHasNoSum() throws {
    let line = DeviceEntries(
      folded: 3, sum: 0, cancellation: Cancellation(upTo: 2, sum: 9), tail: [])
    let ledger = FieldState(
      Causal(Ledger(lines: [a: line]), [a: 4, b: 1]))
    let fragment = Fragment(state: ledger, basis: [a: 4], continued: [a])
    let bytes = message(.ledger, fragment)
    let delta = try Delta(decoding: bytes)
    let read = delta.changes[0].fragments[FieldKey("field", .ledger)]
    #expect(read == fragment && read?.continued == [a])
    #expect(read?.isWhole == true)
  }
}
