// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A step of a script.
///
/// Devices, messages, backups and contexts are numbered separately. Devices are
/// numbered in order of appearance. A step has no effect if it refers to a
/// missing item, so any part of a script is a script.
public enum ScriptStep: Hashable, Sendable {
  /// A device saves.
  case save(on: Int, [ScriptVerb])
  /// A device undoes its last undoable save, or redoes its last undone one.
  case undo(on: Int, again: Bool)
  /// A device's wall clock is set, in milliseconds since 1970.
  case setClock(of: Int, to: Int64)
  /// A device sends another its unseen changes, and both record the other's
  /// version.
  case sync(from: Int, to: Int)
  /// A device calls another with `sync`, in parts of a number of bytes.
  ///
  /// After a number of requests and answers, the line breaks, unless the number is
  /// `nil`.
  case call(from: Int, to: Int, byteLimit: Int, messages: Int?)
  /// A device merges the full state of another.
  case merge(from: Int, into: Int)
  /// A device encodes the changes that another has not seen, or all changes.
  case write(on: Int, since: Int?, message: Int)
  /// A device encodes the first unseen changes of another, limited in bytes.
  case writePart(on: Int, since: Int, byteLimit: Int, message: Int)
  /// A message is split into two.
  case split(message: Int, into: Int, Int)
  /// A message arrives, possibly not for the first time.
  case deliver(message: Int, to: Int)
  /// A device's state is backed up.
  case backUp(Int, as: Int)
  /// A backup is restored and opened with a token.
  case restore(Int, from: Int, with: ScriptToken)
  /// A device's token is stored outside all backups.
  case storeToken(Int)
  /// A device closes and reopens its current state.
  case reopen(Int)
  /// A device's state is copied to a new device, which takes the next number.
  case fork(Int)
  /// A device purges deleted records.
  case purge(Int)
  /// A device folds its ledgers.
  case fold(Int)
  /// A device receives a forged version, with the sequence numbers of another
  /// device and digests that no device made.
  case mislead(Int, with: Int)
  /// A device retires another.
  case retire(on: Int, Int)
  /// An editing context fetches a record.
  case fetch(on: Int, RecordID, context: Int)
  /// An editing context saves edits of its record.
  case commit(
    context: Int, [FieldKey: FieldEdit], with: ScriptCompany = .init())
  /// An editing context deletes its record.
  case discard(context: Int, with: ScriptCompany = .init())
  /// A device imports rows that every device already has.
  case bringIn(on: Int, [ScriptVerb])
  /// A device pulls rows with a server's modification time, in milliseconds
  /// since 1970.
  case pull(on: Int, from: String, at: Int64, [ScriptVerb])
}

/// The other verbs in the save of a context.
///
/// The author of these verbs sees the current state.
public struct ScriptCompany: Hashable, Sendable {
  /// The verbs before those of the context.
  public var before: [ScriptVerb]
  /// The verbs after those of the context.
  public var after: [ScriptVerb]

  /// Creates the other verbs of a context, by default none.
  public init(before: [ScriptVerb] = [], after: [ScriptVerb] = []) {
    (self.before, self.after) = (before, after)
  }

  /// Returns all verbs of the save.
  func around(_ verbs: [ScriptVerb]) -> [ScriptVerb] { before + verbs + after }

  func filter(_ isIncluded: (ScriptVerb) -> Bool) -> ScriptCompany {
    ScriptCompany(
      before: before.filter(isIncluded), after: after.filter(isIncluded))
  }
}

/// The token that opens a stored state.
public enum ScriptToken: Hashable, Sendable {
  /// No token: it is lost, so the replica takes a new device ID.
  case lost
  /// A token that fits, so the restore is not detected.
  case fitting
  /// The token that was stored last.
  case last
}

extension ScriptStep {
  /// Whether the step is a save, which a device could lose.
  var isSave: Bool {
    switch self {
    case .save, .undo, .commit, .discard, .purge, .retire, .bringIn, .pull:
      true
    default: false
    }
  }
}

extension ScriptStep {
  /// Returns the device that makes the save of the step, or `nil` if the step
  /// makes no save.
  func author(in script: Script) -> Int? {
    switch self {
    case .save(let i, _), .undo(let i, _), .purge(let i), .retire(let i, _),
      .bringIn(let i, _), .pull(let i, _, _, _):
      return i
    case .commit(let k, _, _), .discard(let k, _):
      return script.steps.firstNonNil { step in
        guard case .fetch(let i, _, k) = step else { return nil }
        return i
      }
    default: return nil
    }
  }
}

extension Sequence {
  fileprivate func firstNonNil<Value>(
    _ transform: (Element) -> Value?
  ) -> Value? {
    for element in self {
      if let value = transform(element) { return value }
    }
    return nil
  }
}

/// A sequence of steps, and the number of devices at the start.
public struct Script: Hashable, Sendable {
  /// The number of devices at the start.
  public var deviceCount: Int
  /// The steps.
  public var steps: [ScriptStep]

  /// Creates a script.
  public init(deviceCount: Int, steps: [ScriptStep] = []) {
    (self.deviceCount, self.steps) = (deviceCount, steps)
  }
}
