// SPDX-License-Identifier: Apache-2.0
import Rejoin
import RejoinSync

/// A breadth-first search of all orders of saves, messages and faults while some
/// stores and a hub call each other with `sync`.
///
///     let counts = try CallExplorer(.deviceAndHub).search()
///
/// A configuration consists of the states of the stores and of the hub, the call
/// of each store, and a kept message. The explorer tries every action from each
/// configuration: a save, the start of a call, the arrival of a request or an
/// answer, and faults. It executes each pair of a state and a message once, with
/// the library's replicas and ``SyncCall``.
///
/// It knows which saves each state claims to have, and that each save inserted an
/// element of its own into a set. After each action, it checks these laws:
///
/// - A state has the elements of all saves in its version, and of a prefix in its
///   first records. No version has a save that was not made.
/// - *Uploaded* means that the peer has all saves of the store. *Synced* means that
///   stores with equal versions have equal contents.
/// - From every pair of states, a call without faults ends synced, or its upload is
///   refused and the download complete. Another call is then one exchange without a
///   part.
public struct CallExplorer {
  let program: CallProgram
  var replicas: CalledReplicas
  private var configurations: [CallConfiguration] = []
  private var indices: [CallConfiguration: Int] = [:]
  /// The predecessor of each configuration, and the action that led to it.
  private var origins: [(parent: Int, action: CallAction?)] = []
  var counts = CallExplorerCounts()

  /// Creates an explorer.
  public init(_ program: CallProgram) {
    self.program = program
    replicas = CalledReplicas(program)
  }

  /// Visits every configuration, starting with the fewest actions.
  ///
  /// - Parameters:
  ///   - limit: The maximum number of configurations.
  ///   - goesOn: A closure that returns whether to continue. It is called every
  ///     few thousand configurations.
  /// - Returns: The counts of the search.
  /// - Throws: A mismatch with the actions that lead to it.
  public mutating func search(
    atMost limit: Int = .max, while goesOn: () -> Bool = { true }
  ) throws(ScriptMismatch) -> CallExplorerCounts {
    try Premises.check()
    insert(try start(), from: 0, by: nil)
    var index = 0
    while index < configurations.count {
      if index % 4_096 == 4_095, !goesOn() {
        counts.isComplete = false
        break
      }
      var attempt: CallAction?
      do throws(ScriptMismatch) {
        let configuration = configurations[index]
        try checkCalls(in: configuration)
        for action in actions(in: configuration) {
          attempt = action
          let next = try perform(action, in: configuration)
          counts.transitions += 1
          guard let next, next != configuration else { continue }
          if configurations.count < limit {
            insert(next, from: index, by: action)
          } else {
            counts.isComplete = false
          }
        }
      } catch {
        throw ScriptMismatch(
          "\(program.name): \(error.what)\n\(path(to: index, attempt))")
      }
      index += 1
    }
    counts.configurations = configurations.count
    counts.states = replicas.states.count
    counts.messages = replicas.messages.count
    counts.executions = replicas.executions
    return counts
  }

  private mutating func insert(
    _ configuration: CallConfiguration, from parent: Int,
    by action: CallAction?
  ) {
    if indices[configuration] != nil { return }
    indices[configuration] = configurations.count
    configurations.append(configuration)
    origins.append((parent, action))
  }

  /// Returns the actions that lead to a configuration, and the one that is tried.
  private func path(to index: Int, _ attempt: CallAction?) -> String {
    var (path, index) = ([] as [CallAction], index)
    while let action = origins[index].action {
      path.append(action)
      index = origins[index].parent
    }
    path.reverse()
    if let attempt { path.append(attempt) }
    return path.map { "  \($0)" }.joined(separator: "\n")
  }
}
