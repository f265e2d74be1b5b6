//===----------------------------------------------------------------------===//
//
// This source file is part of the Rejoin open source project
//
// Copyright (c) 2026 the Rejoin authors
// SPDX-License-Identifier: Apache-2.0
//
//===----------------------------------------------------------------------===//

@testable import Rejoin
import Testing

/// Stored replicas whose parts contradict each other.
@Suite struct StoredContentTests {
  private let own = DeviceID(1)

  /// What a section of the device says, for a replica that need not be renewed.
  private var device: WireWriter {
    var section = WireWriter()
    section.raw(own.bytes)
    section.fixed(0)
    section.signed(0)
    section.byte(0)
    return section
  }

  private func fault(
    _ changes: [Delta.Change] = [],
    _ intervals: [DeviceID: Delta.Interval] = [:],
    sections: (inout WireWriter) -> Void = { _ in }
  ) -> WireError? {
    var message = MessageWriter(changes, intervals, as: .stored)
    message.out.section(.device, device)
    sections(&message.out)
    let bytes = message.out.sealed()
    do throws(WireError) {
      let read = try StoredReplica(decoding: bytes)
      #expect(read.encoded() == bytes)
      return nil
    } catch { return error }
  }

  @Test func ownSavesDoNotOutnumberTheClock() {
    let register = FieldState.register(
      Causal(
        store: Siblings(Stamped(.int(1), at: .zero), at: Dot(own, 5)),
        context: CausalContext([own: 5])))
    let change = Delta.Change(
      id: RecordID("e", "k"), fields: [FieldKey("f", .register): register])
    #expect(fault([change]) != nil)
  }

  @Test func ownDigestsAreOfOwnSaves() {
    let error = fault {
      var digests = WireWriter()
      digests.varint(0)
      digests.fixed(7)
      $0.section(.digests, digests)
    }
    #expect(error != nil)
  }
}
