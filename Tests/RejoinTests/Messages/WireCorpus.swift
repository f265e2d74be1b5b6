// SPDX-License-Identifier: Apache-2.0

@testable import Rejoin
import RejoinTesting
@testable import _RejoinVerification
import Testing

/// Messages of random histories, and the replicas that sent them.
struct WireCorpus: Sendable {
  private(set) var deltas: [Delta] = []
  private var states: [ReplicaState] = []

  /// The same corpus in every test: more than two hundred messages.
  static let shared = WireCorpus(histories: 90, steps: 10)

  /// A history without forked or retired devices, so replicas with equal saves are
  /// in equal states.
  static func orderly(seed: UInt64) -> WireCorpus {
    var weights = ScriptWeights()
    (weights.unnoticedRestores, weights.retirements) = (0, 0)
    return WireCorpus(seed: seed, histories: 1, weights: weights)
  }

  /// Runs `count` histories.
  private init(
    seed: UInt64 = 1, histories count: UInt64, steps: Int = 40,
    weights: ScriptWeights = ScriptWeights()
  ) {
    for seed in seed..<(seed + count) {
      let script = ScriptGenerator.script(
        seed: seed, steps: steps, weights: weights)
      add(script, seed, to: World<ReplicaUnderTest>.self)
      if count > 1, seed % 2 == 1 {
        add(script, seed, to: World<FragmentingReplica>.self)
      }
    }
  }

  private mutating func add<Size>(
    _ script: Script, _ seed: UInt64, to: World<TestedLibrary<Size>>.Type
  ) {
    var world = World<TestedLibrary<Size>>(deviceCount: script.deviceCount)
    for (number, step) in script.steps.enumerated() {
      do { try world.perform(step) } catch {
        // The messages before this step are still part of the corpus.
        Issue.record("seed \(seed), step \(number): \(error.what)")
        break
      }
    }
    let sent = world.letters.sorted { $0.key < $1.key }
      .map(\.value.message)
    deltas += sent + sent.flatMap { $0.split(into: 2) }
    let peers = world.peers.map(\.replica.replica)
    for basis in peers {
      deltas += peers.prefix(2).compactMap { $0.delta(since: basis.version) }
    }
    states += peers.map(\.state)
  }

  /// The replicas after their histories.
  var replicas: [Replica] {
    states.map { state in
      Replica(
        opening: state, token: RestoreToken(state),
        schema: ScriptUniverse.standard.schema,
        wallClock: ManualClock(2_000_000).wallClock,
        makeDeviceID: { DeviceID(high: 8, low: 8) })
    }
  }
}

extension Array where Element == UInt8 {
  /// The bytes with a valid checksum.
  var resealed: [UInt8] {
    guard count >= 7 else { return self }
    let sum = withUnsafeBytes {
      WireChecksum.of(UnsafeRawBufferPointer(rebasing: $0[..<(count - 4)]))
    }
    return dropLast(4)
      + (0..<4).map { UInt8(truncatingIfNeeded: sum >> UInt32(8 * $0)) }
  }

  /// The bytes with one bit flipped.
  func flipping(_ bit: Int) -> [UInt8] {
    var copy = self
    copy[bit / 8] ^= 1 << UInt8(bit % 8)
    return copy
  }

  var hexadecimal: String {
    map { byte in
      let digits = String(byte, radix: 16)
      return byte < 16 ? "0" + digits : digits
    }.joined()
  }
}
