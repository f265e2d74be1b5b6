// SPDX-License-Identifier: Apache-2.0

import RejoinTesting

/// The subject of a comparison.
package enum Subject: Sendable {
  /// Episodes of a workload with a name.
  case generated(name: String, Workload)
  /// Records that were not generated.
  case records

  /// Whether figures of a workload resemble a rate of loss.
  ///
  /// Other workloads check features.
  package static func isRate(_ workload: String) -> Bool {
    !["hostile", "reported"].contains(workload)
  }

  /// The name in machine formats.
  var name: String {
    switch self {
    case .generated(let name, _): name
    case .records: "records"
    }
  }

  /// Returns the episodes in one sentence, without its end.
  func phrase(_ result: ComparisonResult) -> String {
    switch self {
    case .generated(_, let workload):
      return result.episodes.counted("generated record")
        + " that \(workload.devices.counted("device")) edited while apart"
    case .records:
      let repositories = result.strategies.first?.repositories.count ?? 0
      let records = result.episodes.counted("record")
      let sources = repositories.counted("Git repository", "Git repositories")
      return repositories == 0
        ? "\(records) that several devices changed while apart"
        : "\(records) of \(sources) that both sides of a merge changed"
    }
  }

  /// Returns a paragraph on the episodes and the limits of the figures.
  func title(_ result: ComparisonResult) -> String {
    let contention = result.contention
    let unit =
      "A change is lost if neither the final record nor its conflict list shows it."
    let met =
      "Changes of several devices met in "
      + "\(contention.contested.percent(of: contention.touched)) of the touched "
      + "fields"
    switch self {
    case .generated(let name, _) where !Self.isRate(name):
      return "\(name): a check of features, and not a rate. \(unit) \(met)."
    case .generated(let name, let workload):
      return
        "\(name): \(result.episodes.counted("generated record")), each edited by "
        + "\(workload.devices.counted("device")) while apart. How often that happens "
        + "is not shown. \(unit) \(met)."
    case .records:
      let different = contention.different.percent(of: contention.touched)
      return phrase(result).capitalizedFirst
        + ". How often that happens is not shown. \(unit) \(met), and left "
        + "different contents in \(different)."
    }
  }

  /// The parameters of generated episodes in a sentence, or `nil` for other
  /// records.
  var parameters: String? {
    guard case .generated(let name, let workload) = self else { return nil }
    return
      "\(name): \(workload.episodes.counted("episode")), \(workload.words)."
  }
}

extension Workload {
  /// The parameters in words.
  ///
  /// If devices sync before the end, a record covers the time between two
  /// syncs.
  var words: String {
    let count = contact > 0 ? min(contact, editsPerDevice) : editsPerDevice
    let edits = "\(count.counted("edit")) per device"
    let contact =
      contact > 0
      ? "then contact, until each device made "
        + editsPerDevice.counted("edit")
      : "no contact meanwhile"
    func percent(_ share: Double) -> String {
      let text = share.percent
      return text.hasSuffix(".0%") ? String(text.dropLast(3)) + "%" : text
    }
    var words = [
      devices.counted("device"), edits, fields.counted("field"),
      "\(percent(counters)) counters",
      "\(percent(sets)) sets", "\(percent(deletions)) deletions",
      "\(percent(clears)) clears",
    ]
    if resets > 0 { words.append("\(percent(resets)) resets") }
    if contention > 0 { words.append("contention \(contention)") }
    if deleted > 0 { words.append("\(percent(deleted)) deleted before") }
    if repeats > 0 { words.append("\(percent(repeats)) arrive again") }
    if tick > 1 { words.append("clocks in steps of \(tick) ms") }
    words += [contact, "clocks off by up to \(skew) ms", "seed \(seed)"]
    return words.joined(separator: ", ")
  }
}

extension String {
  var capitalizedFirst: String { prefix(1).uppercased() + dropFirst() }
}
