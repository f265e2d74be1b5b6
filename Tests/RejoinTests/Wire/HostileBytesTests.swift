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

/// Damaged messages: refused with the place, or accepted as what they then say.
@Suite struct HostileBytesTests {
  private typealias Message = (kind: WireKind, bytes: [UInt8])

  /// Whether the bytes are accepted; then they must be the one way to say it.
  private func accepts(_ message: Message) -> Bool {
    do throws(WireError) {
      let again: [UInt8]
      let delta: Delta
      if message.kind == .delta {
        delta = try Delta(decoding: message.bytes)
        again = Delta(changes: delta.changes, intervals: delta.intervals)
          .encoded(version: delta.message?.version ?? .current)
      } else {
        delta = try Snapshot(decoding: message.bytes).delta
        again = Delta(changes: delta.changes, intervals: delta.intervals)
          .encoded(as: .snapshot, delta.message?.version ?? .current)
      }
      #expect(again == message.bytes, "not canonical")
      return true
    } catch {
      #expect(error.offset >= 0 && error.offset <= message.bytes.count)
      #expect(!error.expected.isEmpty)
      return false
    }
  }

  private var sample: [Message] {
    let all = WireCorpus.shared.messages
    #expect(all.count >= 200)
    return all
  }

  @Test func everyPrefixIsRefused() {
    for message in sample {
      for count in 0..<message.bytes.count {
        let part = Array(message.bytes.prefix(count))
        #expect(!accepts((message.kind, part)))
      }
    }
  }

  @Test func everyPrefixWithItsChecksumIsRefused() {
    for message in sample {
      for count in 7..<message.bytes.count {
        let part = Array(message.bytes.prefix(count)).resealed
        #expect(!accepts((message.kind, part)))
      }
    }
  }

  @Test func everyTurnedBitIsFound() {
    for message in sample {
      for bit in 0..<(message.bytes.count * 8) {
        #expect(!accepts((message.kind, message.bytes.flipping(bit))))
      }
    }
  }

  @Test func everyTurnedBitWithItsChecksumIsRefusedOrCanonical() {
    var accepted = 0
    for message in sample {
      for bit in 16..<((message.bytes.count - 4) * 8) {
        let bytes = message.bytes.flipping(bit).resealed
        if accepts((message.kind, bytes)) { accepted += 1 }
      }
    }
    #expect(accepted > 0)
  }

  @Test func whatIsAcceptedCanBeAppliedAndSavedOver() throws {
    for (i, message) in sample.enumerated() where i.isMultiple(of: 5) {
      for bit in stride(from: 24, to: (message.bytes.count - 4) * 8, by: 7) {
        let bytes = message.bytes.flipping(bit).resealed
        let read =
          message.kind == .delta
          ? try? Delta(decoding: bytes) : try? Snapshot(decoding: bytes).delta
        if let read { try survive(read) }
      }
    }
  }

  private func survive(_ delta: Delta) throws {
    let replica = Replica(
      device: DeviceID(high: 5, low: 5), schema: HistoryUniverse.schema,
      clock: HandSetClock().wall, renewal: { DeviceID(high: 6, low: 6) })
    replica.apply(delta)
    replica.apply(delta)
    try replica.save { edit in
      for key in HistoryUniverse.keys {
        for id in HistoryUniverse.ids.prefix(2) {
          if key.kind == .register {
            edit.apply(.write(.int(1)), to: key, of: id)
          } else if key.kind == .counter {
            edit.apply(.count(CounterEdit(by: 1)), to: key, of: id)
          } else if key.kind == .ledger {
            var entry = LedgerEdit()
            entry.append(1, memo: nil)
            edit.apply(.append(entry), to: key, of: id)
          }
        }
      }
    }
    _ = replica.allRecords.map { replica.record($0)?.total(of: "ledger") }
    #expect(try Snapshot(decoding: replica.encoded()).delta == replica.delta())
  }
}
