// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
@testable import _RejoinVerification
import Testing

/// Damaged messages are refused with an offset unless they are canonical.
@Suite(.encodes) struct HostileBytesTests {
  private typealias Message = (kind: WireKind, bytes: [UInt8])

  /// Returns whether the bytes are accepted, which requires canonical bytes.
  private func accepts(_ message: Message) -> Bool {
    do throws(WireError) {
      let again: [UInt8]
      let delta: Delta
      if message.kind == .delta {
        delta = try Delta(decoding: message.bytes)
        again =
          Delta(
            changes: delta.changes, intervals: delta.intervals,
            range: delta.range
          ).encoded()
      } else {
        delta = try ReplicaSnapshot(decoding: message.bytes).delta
        again =
          MessageWriter(
            MessageContent(delta.changes), delta.intervals, as: .snapshot
          ).sealed().bytes
      }
      #expect(again == message.bytes, "not canonical")
      return true
    } catch {
      #expect(error.offset >= 0 && error.offset <= message.bytes.count)
      #expect(!error.expected.isEmpty)
      return false
    }
  }

  /// The smallest distinct messages of the corpus.
  private var sample: [Message] {
    var known: Set<[UInt8]> = []
    let all = WireCorpus.shared.messages
      .sorted { $0.bytes.count < $1.bytes.count }
      .filter { known.insert($0.bytes).inserted }
    let sample =
      all.filter { $0.kind == .delta }.prefix(190)
      + all.filter { $0.kind == .snapshot }.prefix(20)
    #expect(sample.count >= 200)
    return Array(sample)
  }

  /// A replica that must stay unchanged when it refuses a message.
  private struct Victim {
    let replica: Replica
    private let before: [UInt8]

    init() throws {
      replica = try #require(WireCorpus.shared.replicas.last)
      before = replica.state.encoded()
    }

    func refuses(_ bytes: [UInt8]) -> Bool {
      bytes.withUnsafeBytes { bytes in
        do throws(WireError) {
          _ = try replica.apply(decoding: bytes)
          return false
        } catch { return true }
      }
    }

    var isUnchanged: Bool { replica.state.encoded() == before }
  }

  @Test func everyPrefixIsRefused() throws {
    let victim = try Victim()
    for message in sample {
      for count in 0..<message.bytes.count {
        let part = Array(message.bytes.prefix(count))
        #expect(!accepts((message.kind, part)) && victim.refuses(part))
      }
    }
    #expect(victim.isUnchanged)
  }

  @Test func resealedPrefixIsRefusedOrLacksDigests() throws {
    let victim = try Victim()
    for message in sample {
      var accepted = 0
      for count in 7..<message.bytes.count {
        let part = Array(message.bytes.prefix(count)).resealed
        if accepts((message.kind, part)) {
          accepted += 1
        } else {
          #expect(victim.refuses(part))
        }
      }
      #expect(accepted <= 1)
    }
    #expect(victim.isUnchanged)
  }

  @Test func everyFlippedBitIsDetected() throws {
    let victim = try Victim()
    for message in sample {
      for bit in 0..<(message.bytes.count * 8) {
        let bytes = message.bytes.flipping(bit)
        if accepts((message.kind, bytes)) || !victim.refuses(bytes) {
          Issue.record("bit \(bit) of \(message.bytes.hexadecimal)")
        }
      }
    }
    #expect(victim.isUnchanged)
  }

  @Test func resealedFlippedBitIsRefusedOrCanonical() throws {
    let victim = try Victim()
    var accepted = 0
    for message in sample {
      for bit in 16..<((message.bytes.count - 4) * 8) {
        let bytes = message.bytes.flipping(bit).resealed
        if accepts((message.kind, bytes)) {
          accepted += 1
        } else if !victim.refuses(bytes) {
          Issue.record("bit \(bit) of \(message.bytes.hexadecimal)")
        }
      }
    }
    #expect(accepted > 0)
    #expect(victim.isUnchanged)
  }

  @Test func acceptedMessageCanBeAppliedAndSavedOver() throws {
    for (i, message) in sample.enumerated() where i.isMultiple(of: 5) {
      for bit in stride(from: 24, to: (message.bytes.count - 4) * 8, by: 7) {
        let bytes = message.bytes.flipping(bit).resealed
        let read =
          message.kind == .delta
          ? try? Delta(decoding: bytes)
          : try? ReplicaSnapshot(decoding: bytes).delta
        if let read { try survive(read) }
      }
    }
  }

  private func blank() -> Replica {
    Replica(
      device: DeviceID(high: 5, low: 5), schema: ScriptUniverse.standard.schema,
      wallClock: ManualClock().wallClock,
      makeDeviceID: { DeviceID(high: 6, low: 6) }
    )
  }

  private func survive(_ delta: Delta) throws {
    let replica = blank()
    replica.apply(delta)
    replica.apply(delta)
    try replica.save { transaction in
      for key in ScriptUniverse.standard.fields {
        for id in ScriptUniverse.standard.records.prefix(2) {
          transaction.apply(key.kind.adding(1), to: key, of: id)
        }
      }
    }
    _ = replica.allRecordIDs.map {
      replica.record($0)?.total(of: FieldKey("ledger", .ledger))
    }
    #expect(
      try ReplicaSnapshot(decoding: replica.encoded()).delta == replica.delta())
  }

  @Test func applyingBytesMatchesApplyingDelta() throws {
    for delta in WireCorpus.shared.deltas.prefix(60) {
      let (a, b) = (blank(), blank())
      let (x, y) = (
        a.apply(delta),
        try delta.encoded().withUnsafeBytes { try b.apply(decoding: $0) }
      )
      #expect(x.changedRecords == y.changedRecords && x.gaps == y.gaps)
      #expect(a.state.encoded() == b.state.encoded())
    }
  }
}
