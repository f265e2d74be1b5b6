// SPDX-License-Identifier: Apache-2.0

import Rejoin
import RejoinPolicies

/// A model of how the contexts of `NSPersistentCloudKitContainer` merge.
///
/// It consists of a server that checks change tags and, on each device, a
/// context with a merge policy. Edits made offline wait unsaved in the context.
/// When the device imports the server's record, the context saves, and the
/// policy decides between the two. The result is exported under the imported
/// tag. If edits were saved offline, no policy applies to them: see
/// ``SavedContainer``.
///
/// Counters and sets are plain values, and the record's existence is another
/// field. In a mirrored store, no attribute can be unique, so two insertions
/// create two objects. Nothing is lost, and the outcome shows the content of
/// both.
///
/// If a policy drops an edit, the edit is lost. `error` throws, passes both
/// sides to the app, and leaves the edits unsaved on their device until the
/// user acts.
///
/// It is an assumption that edits are unsaved when an import arrives. Most apps
/// save immediately, and then no policy applies.
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

  /// A strategy for each policy of Core Data and for two that articles add.
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

/// A save with CloudKit's `ifServerRecordUnchanged`, by an app that does not
/// handle `serverRecordChanged`.
///
/// A refused device keeps its edits, and all later edits wait behind them. The
/// error showed the device the ancestor, its own copy and the server's copy. A
/// deletion takes an ID and no tag, so it is never refused.
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
