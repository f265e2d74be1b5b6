// SPDX-License-Identifier: Apache-2.0
import Rejoin

/// A type that shortens a script while it still shows a fault.
///
/// The shrinker first removes large parts of the script, then single steps, and
/// then verbs of the remaining saves, until nothing more can go. This is the
/// delta debugging of Zeller and Hildebrandt, *Simplifying and Isolating
/// Failure-Inducing Input*, 2002. Then it reduces the number of devices, and
/// replaces kept messages by exchanges.
public struct Shrinker {
  /// A closure that returns whether a script shows the fault.
  let fails: (Script) -> Bool
  /// The number of scripts that were tried.
  public private(set) var attempts = 0

  /// Creates a shrinker.
  ///
  /// - Parameter fails: A closure that returns whether a script shows the
  ///   fault. It must be deterministic.
  public init(_ fails: @escaping (Script) -> Bool) { self.fails = fails }

  /// Returns the shortest script found that still shows the fault.
  ///
  /// - Returns: A shorter script, or `script` itself if it shows no fault.
  /// - Complexity: O(*n*²) trials, where *n* is the number of steps. If few
  ///   steps cause the fault, O(*n* log *n*).
  public mutating func shrink(_ script: Script) -> Script {
    guard fails(script) else { return script }
    var current = script
    while true {
      var next = withoutSteps(current)
      next = withoutVerbs(next)
      next = first(of: \.plainer, next)
      next = first(of: \.withFewerDevices, next)
      if next == current { return current }
      current = next
    }
  }

  private mutating func stillFails(_ script: Script) -> Bool {
    attempts += 1
    return fails(script)
  }

  private mutating func withoutSteps(_ script: Script) -> Script {
    var script = script
    var size = max(script.steps.count / 2, 1)
    while true {
      var end = script.steps.count
      while end > 0 {
        let start = max(end - size, 0)
        var shorter = script
        shorter.steps.removeSubrange(start..<end)
        if stillFails(shorter) { script = shorter }
        end = start
      }
      if size == 1 { return script }
      size /= 2
    }
  }

  /// Simplifies the script while a simplification still shows the fault.
  private mutating func first(
    of simplifications: (Script) -> [Script], _ script: Script
  ) -> Script {
    var script = script
    while let next = simplifications(script).first(where: { stillFails($0) }) {
      script = next
    }
    return script
  }

  private mutating func withoutVerbs(_ script: Script) -> Script {
    var script = script
    for i in script.steps.indices {
      for j in (0..<script.steps[i].verbCount).reversed() {
        var shorter = script
        shorter.steps[i] = script.steps[i].withoutVerb(j)
        if stillFails(shorter) { script = shorter }
      }
    }
    return script
  }
}

extension ScriptStep {
  /// The number of verbs that can be removed.
  fileprivate var verbCount: Int {
    switch self {
    case .save(_, let verbs), .bringIn(_, let verbs),
      .pull(_, _, _, let verbs):
      verbs.count > 1 ? verbs.count : 0
    case .commit(_, let edits, let company):
      company.count + (edits.count > 1 ? edits.count : 0)
    case .discard(_, let company): company.count
    default: 0
    }
  }

  fileprivate func withoutVerb(_ i: Int) -> ScriptStep {
    switch self {
    case .save(let device, let verbs):
      return .save(on: device, verbs.without(i))
    case .bringIn(let device, let verbs):
      return .bringIn(on: device, verbs.without(i))
    case .pull(let device, let server, let time, let verbs):
      return .pull(on: device, from: server, at: time, verbs.without(i))
    case .commit(let context, var edits, let company):
      if i < company.count {
        return .commit(context: context, edits, with: company.without(i))
      }
      let keys = edits.keys.sorted()
      edits[keys[min(i - company.count, keys.count - 1)]] = nil
      return .commit(context: context, edits, with: company)
    case .discard(let context, let company):
      return .discard(context: context, with: company.without(i))
    default: return self
    }
  }
}

extension ScriptCompany {
  fileprivate var count: Int { before.count + after.count }

  fileprivate func without(_ i: Int) -> ScriptCompany {
    i < before.count
      ? ScriptCompany(before: before.without(i), after: after)
      : ScriptCompany(
        before: before, after: after.without(i - before.count))
  }
}

extension [ScriptVerb] {
  fileprivate func without(_ i: Int) -> [ScriptVerb] {
    var rest = self
    rest.remove(at: Swift.min(i, count - 1))
    return rest
  }
}

extension World {
  /// Returns the shortest script found that shows a fault, and that fault.
  ///
  /// - Returns: The shortest script, or `nil` if `script` shows no fault.
  public static func counterexample(
    in script: Script, universe: ScriptUniverse = .standard
  ) -> (script: Script, mismatch: ScriptMismatch)? {
    func mismatch(_ script: Script) -> ScriptMismatch? {
      do {
        try run(script, universe: universe)
        return nil
      } catch { return error }
    }
    guard let first = mismatch(script) else { return nil }
    var candidate = script
    if let step = first.step {
      candidate.steps.removeSubrange((step + 1)...)
    } else {
      // If the steps contain the final exchanges, the shrinker can remove some.
      var spelt = script
      spelt.steps += exchanges(after: script)
      if mismatch(spelt)?.step != nil { candidate = spelt }
    }
    let showsAtStep = mismatch(candidate)?.step != nil
    var shrinker = Shrinker { script in
      mismatch(script).map { !showsAtStep || $0.step != nil } ?? false
    }
    let shortest = shrinker.shrink(candidate)
    return (shortest, mismatch(shortest) ?? first)
  }

  /// Returns two rounds of syncs between all pairs of devices.
  private static func exchanges(after script: Script) -> [ScriptStep] {
    let forks = script.steps.count {
      if case .fork = $0 { true } else { false }
    }
    let all = 0..<(script.deviceCount + forks)
    let round = all.flatMap { i in
      all.filter { $0 != i }.map { ScriptStep.sync(from: i, to: $0) }
    }
    return round + round
  }
}
