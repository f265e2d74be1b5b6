// SPDX-License-Identifier: Apache-2.0

import Foundation
import Rejoin
import RejoinTesting
import _RejoinVerification

/// The initial inputs of fuzzing, which the library generates.
public enum Seeds {
  /// The seeds of a target.
  public static func inputs(of target: FuzzTarget) -> [[UInt8]] {
    switch target {
    case .decode: messages + positions
    case .open:
      messages.filter { $0[1] == UInt8(ascii: "p") }
        + (1...6).flatMap { DamagedRows(seed: $0).all }
    case .apply: messages.filter { "dsr".utf8.contains($0[1]) }
    case .scripts: choices(upTo: 300)
    case .contexts: choices(upTo: 90)
    case .forge: choices(upTo: 60)
    case .exchange: ExchangeBody.seeds
    case .objects: ObjectsBody.seeds
    }
  }

  /// Writes the seeds of every target into a folder of its name.
  static func write(to path: String) throws {
    let folder = URL(fileURLWithPath: path, isDirectory: true)
    for target in FuzzTarget.allCases {
      let part = folder.appendingPathComponent(target.rawValue)
      try FileManager.default.createDirectory(
        at: part, withIntermediateDirectories: true)
      for (number, bytes) in inputs(of: target).enumerated() {
        let file = part.appendingPathComponent("seed-\(number)")
        try Data(bytes).write(to: file)
      }
    }
  }

  private static var messages: [[UInt8]] {
    LiveHistory.shared.messages
      + (10..<16).flatMap { LiveHistory(seed: $0, steps: 20).messages }
      + longestKey + undoSteps
  }

  /// The undo steps of random saves, and of their undos.
  private static var undoSteps: [[UInt8]] {
    let replica = LiveHistory.empty(DeviceID(1))
    let script = ScriptGenerator.script(seed: 4, steps: 60, devices: 1)
    var steps: [[UInt8]] = []
    for case .save(_, let verbs) in script.steps {
      let report = try? replica.save(undoable: "save") { transaction in
        transaction.perform(verbs)
      }
      let undo = try? report?.undo.map { try replica.undo($0) }
      steps += [report?.undo, undo?.undo].compactMap { $0?.storedBytes }
    }
    return steps
  }

  /// Messages of a record with the longest key.
  private static var longestKey: [[UInt8]] {
    let replica = Replica(
      device: DeviceID(1), schema: ScriptUniverse.standard.schema,
      wallClock: WallClock { 1_000_000 }, makeDeviceID: { DeviceID(2) })
    let key = String(repeating: "k", count: RecordID.keyByteLimit)
    _ = try? replica.save { $0.ensureExists(RecordID("Note", key)) }
    return [replica.delta()?.encoded() ?? [], replica.state.encoded()]
  }

  /// Positions that random saves made.
  private static var positions: [[UInt8]] {
    (0..<20).flatMap { seed in
      LiveHistory(seed: seed, steps: 40).states.flatMap { state in
        let replica = LiveHistory.open(state)
        return ScriptUniverse.standard.records.compactMap { id -> [UInt8]? in
          let lww = FieldKey("lww", .register)
          guard case .bytes(let bytes)? = replica.record(id)?.value(of: lww)
          else { return nil }
          return bytes
        }
      }
    }
  }

  /// Random bytes, of growing length.
  private static func choices(upTo size: Int) -> [[UInt8]] {
    var random = SeededRandom(seed: 1)
    return (0..<60).map { i in
      (0..<(8 + i * size / 60)).map { _ in UInt8(random.number(below: 256)) }
    }
  }
}

/// Writes the seeds instead of fuzzing if `REJOIN_FUZZ_SEEDS` names a folder.
///
/// libFuzzer calls this before anything else. A separate program for seeds
/// could not be linked: with the fuzzer's sanitizer, every program gets the
/// fuzzer's `main`.
@_cdecl("LLVMFuzzerInitialize")
public func writeSeedsIfAsked(
  _ count: UnsafeMutableRawPointer?, _ arguments: UnsafeMutableRawPointer?
) -> Int32 {
  let environment = ProcessInfo.processInfo.environment
  guard let folder = environment["REJOIN_FUZZ_SEEDS"] else { return 0 }
  do { try Seeds.write(to: folder) } catch {
    fatalError(
      "the seeds cannot be written to \(folder): \(error); set "
        + "REJOIN_FUZZ_SEEDS to a folder that can be written to")
  }
  _exit(0)
}
