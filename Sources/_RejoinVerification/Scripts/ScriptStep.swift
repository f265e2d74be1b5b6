// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// One thing that happens to devices.
///
/// Devices are numbered in the order of their appearance; messages, backups and
/// contexts have numbers of their own. A step about something that is not there
/// does nothing, so that any part of a script is a script.
public enum ScriptStep: Hashable, Sendable {
  /// A device saves.
  case save(on: Int, [ScriptVerb])
  /// A device undoes the last of its saves of verbs that can be undone, or redoes
  /// it.
  case undo(on: Int, again: Bool)
  /// A device's wall clock is set, in milliseconds since 1970.
  case setClock(of: Int, to: Int64)
  /// A device sends another its unseen changes, and both record the other's
  /// version.
  case sync(from: Int, to: Int)
  /// A device merges the full state of another.
  case merge(from: Int, into: Int)
  /// A device encodes the changes another has not seen, or all of them.
  case write(on: Int, since: Int?, message: Int)
  /// A device encodes the first changes that another has not seen, in so many bytes.
  case writePart(on: Int, since: Int, byteLimit: Int, message: Int)
  /// A message is split in two.
  case split(message: Int, into: Int, Int)
  /// A message arrives, any number of times.
  case deliver(message: Int, to: Int)
  /// A device's state is stored away.
  case backUp(Int, as: Int)
  /// A stored state is put back and opened with a token.
  case restore(Int, from: Int, with: ScriptToken)
  /// A device's token is stored where no backup reaches.
  case storeToken(Int)
  /// A device is opened again as it was left.
  case reopen(Int)
  /// A device's state is copied for a new one, which takes the next number.
  case fork(Int)
  /// A device purges deleted records.
  case purge(Int)
  /// A device folds its ledgers.
  case fold(Int)
  /// A device is shown a version with the numbers of another and with digests that
  /// no device made.
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
  /// A device pulls rows that a server modified at a time, in milliseconds since
  /// 1970.
  case pull(on: Int, from: String, at: Int64, [ScriptVerb])
}

/// The verbs that share the save of a context, by an author who sees the current
/// state.
public struct ScriptCompany: Hashable, Sendable {
  /// The verbs before those of the context.
  public var before: [ScriptVerb]
  /// The verbs after those of the context.
  public var after: [ScriptVerb]

  /// Creates the company of a context, by default none.
  public init(before: [ScriptVerb] = [], after: [ScriptVerb] = []) {
    (self.before, self.after) = (before, after)
  }

  /// All verbs of the save.
  func around(_ verbs: [ScriptVerb]) -> [ScriptVerb] { before + verbs + after }

  func filter(_ isIncluded: (ScriptVerb) -> Bool) -> ScriptCompany {
    ScriptCompany(
      before: before.filter(isIncluded), after: after.filter(isIncluded))
  }
}

/// The token with which a stored state is opened.
public enum ScriptToken: Hashable, Sendable {
  /// None: it is lost, so that the replica takes a new device ID.
  case lost
  /// One that fits, so that the restore is not detected.
  case fitting
  /// The one that was stored last.
  case last
}

extension ScriptStep {
  /// Whether the step is a save, so that it adds to what there is to lose.
  var isSave: Bool {
    switch self {
    case .save, .undo, .commit, .discard, .purge, .retire, .bringIn, .pull:
      true
    default: false
    }
  }
}

/// What happens to some devices, from the beginning.
public struct Script: Hashable, Sendable {
  /// How many devices there are at the beginning.
  public var deviceCount: Int
  /// What happens.
  public var steps: [ScriptStep]

  /// Creates a script.
  public init(deviceCount: Int, steps: [ScriptStep] = []) {
    (self.deviceCount, self.steps) = (deviceCount, steps)
  }
}
