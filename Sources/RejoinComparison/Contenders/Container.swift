// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// `NSPersistentCloudKitContainer`, as far as its contexts merge: a server that
/// checks change tags, and a context with a merge policy on each device.
///
/// What a device has edited offline waits, unsaved, in its context. When it imports
/// the server's record, the context saves, the policy decides between the two, and the
/// result is exported under the tag just fetched. Edits that were saved offline never
/// meet a policy: see ``SavedContainer``.
/// Counters and sets are plain values, and the record's existence is one more field.
///
/// As no attribute of a mirrored store can be unique, two insertions are two objects:
/// nothing is lost, and what shows is what both have.
///
/// What a policy drops is lost. `error` throws, hands both sides to the app, and
/// leaves the edits unsaved on their device until the user acts.
///
/// That edits are unsaved when an import arrives is an assumption. Most apps save at
/// once, and then no policy applies.
struct Container: Contender {
  let name: String
  var rule: String {
    "when an import meets unsaved edits, the context's policy \(policy) decides"
  }
  let source = Source.assumption
  let policy: MergePolicy

  /// Creates the strategy for one policy.
  init(_ policy: MergePolicy) {
    self.policy = policy
    name = "container.\(policy)"
  }

  /// A strategy for each policy of Core Data, and for two that articles add.
  static let all: [Container] = [
    Container(.error), Container(.mergeByPropertyStoreTrump),
    Container(.mergeByPropertyObjectTrump), Container(.overwrite),
    Container(.rollback), Container(.mergeNonNil), Container(.serverWins),
  ]

  func outcome(of episode: Episode) -> Outcome {
    let saves = episode.contextSaves
    let insertions = saves.count { $0.isCreation && $0.after != nil }
    if insertions > 1 { return ThreeWayHandler().outcome(of: episode) }
    var server = ChangeTagServer(policy, episode)
    for upload in saves { server.receive(upload) }
    return server.outcome
  }
}

/// A save that asks CloudKit for `ifServerRecordUnchanged`, by an app that does not
/// handle `serverRecordChanged`.
///
/// A refused device keeps its edits, and all later ones wait behind them. The error
/// has shown it the ancestor, its own copy and the server's. A deletion takes an ID
/// and no tag, and is never refused.
struct IfServerRecordUnchanged: Contender {
  let name = "ifServerRecordUnchanged"
  let rule =
    "a save is refused if the server's record changed, and the app ignores it"
  let source = Source.apple("CKModifyRecordsOperation.RecordSavePolicy")

  func outcome(of episode: Episode) -> Outcome {
    var server = ChangeTagServer(.error, episode)
    for upload in episode.uploads {
      if upload.after == nil {
        server.delete(for: upload.device)
      } else {
        server.receive(upload)
      }
    }
    return server.outcome
  }
}
