// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
@testable import _RejoinVerification
import Testing

/// Damaged messages are refused with an offset unless they are canonical.
@Suite(.encodes) struct HostileBytesTests {
  /// Returns whether the bytes are accepted, which requires canonical bytes.
  private func accepts(_ bytes: [UInt8]) -> Bool {
    do throws(WireError) {
      let delta = try Delta(decoding: bytes)
      let again = Delta(
        changes: delta.changes, intervals: delta.intervals, range: delta.range)
      #expect(again.encoded() == bytes, "not canonical")
      return true
    } catch {
      #expect(error.offset >= 0 && error.offset <= bytes.count)
      #expect(!error.expected.isEmpty)
      return false
    }
  }

  /// The smallest distinct messages of the corpus.
  private var sample: [[UInt8]] {
    var known: Set<[UInt8]> = []
    func smallest(_ count: Int, of deltas: [Delta]) -> ArraySlice<[UInt8]> {
      deltas.map { $0.encoded() }.sorted { $0.count < $1.count }
        .filter { known.insert($0).inserted }.prefix(count)
    }
    let corpus = WireCorpus.shared
    let sample =
      smallest(190, of: corpus.deltas)
      + smallest(20, of: corpus.replicas.compactMap { $0.delta() })
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
      for count in 0..<message.count {
        let part = Array(message.prefix(count))
        #expect(!accepts(part) && victim.refuses(part))
      }
    }
    #expect(victim.isUnchanged)
  }

  @Test func resealedPrefixIsRefusedOrLacksDigests() throws {
    let victim = try Victim()
    for message in sample {
      var accepted = 0
      for count in 7..<message.count {
        let part = Array(message.prefix(count)).resealed
        if accepts(part) {
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
      for bit in 0..<(message.count * 8) {
        let bytes = message.flipping(bit)
        if accepts(bytes) || !victim.refuses(bytes) {
          Issue.record("bit \(bit) of \(message.hexadecimal)")
        }
      }
    }
    #expect(victim.isUnchanged)
  }

  @Test func resealedFlippedBitIsRefusedOrCanonical() throws {
    let victim = try Victim()
    var accepted = 0
    for message in sample {
      for bit in 16..<((message.count - 4) * 8) {
        let bytes = message.flipping(bit).resealed
        if accepts(bytes) {
          accepted += 1
        } else if !victim.refuses(bytes) {
          Issue.record("bit \(bit) of \(message.hexadecimal)")
        }
      }
    }
    #expect(accepted > 0)
    #expect(victim.isUnchanged)
  }

  @Test func acceptedMessageCanBeAppliedAndSavedOver() throws {
    for (i, message) in sample.enumerated() where i.isMultiple(of: 5) {
      for bit in stride(from: 24, to: (message.count - 4) * 8, by: 7) {
        let bytes = message.flipping(bit).resealed
        if let read = try? Delta(decoding: bytes) { try survive(read) }
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
    let whole = try #require(replica.delta())
    #expect(try Delta(decoding: whole.encoded()) == whole)
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
