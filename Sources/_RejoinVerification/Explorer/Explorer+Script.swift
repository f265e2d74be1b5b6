// SPDX-License-Identifier: Apache-2.0

extension Explorer {
  /// Returns a shortest script to a configuration, followed by the current
  /// attempt.
  func script(to index: Int) -> Script {
    var path = [index]
    while let last = path.last, last != 0 {
      path.append(table.parent(of: last))
    }
    path.reverse()
    var writer = ExplorerScriptWriter()
    writer.introduce(program)
    for (from, to) in zip(path, path.dropFirst()) {
      if let action = action(from: table[from], to: table[to]) {
        add(action, in: table[from], to: &writer)
      }
    }
    if let attempt { add(attempt, in: table[index], to: &writer) }
    return Script(deviceCount: 3, steps: writer.steps + tried)
  }

  private func action(
    from: ExplorerConfiguration, to: ExplorerConfiguration
  ) -> ExplorerAction? {
    var copy = self
    return actions.first {
      (try? copy.successor(of: from, $0)) == to
    }
  }

  private func add(
    _ action: ExplorerAction, in configuration: ExplorerConfiguration,
    to writer: inout ExplorerScriptWriter
  ) {
    switch action {
    case .save(let save, let i, let time):
      writer.save(save, of: program, on: i, at: program.times[time])
    case .sync(let i, let j): writer.steps.append(.sync(from: i, to: j))
    case .part(let i, let j):
      let letter = try? message(
        from: i, since: j, isPart: true, in: configuration)
      writer.writePart(letter ?? 0, on: i, since: j)
      writer.deliver(letter ?? 0, half: nil, to: j)
    case .writePart(let i, let j):
      let letter = try? message(
        from: i, since: j, isPart: true, in: configuration)
      writer.writePart(letter ?? 0, on: i, since: j)
    case .write(let i, let j):
      let letter = try? message(from: i, since: j, in: configuration)
      writer.write(letter ?? 0, on: i, since: j)
    case .deliver(let slot, let half, let i):
      writer.deliver(configuration.message(slot), half: half, to: i)
    }
  }
}

/// A writer that records an explorer's actions as a script.
struct ExplorerScriptWriter {
  var steps: [ScriptStep] = []
  /// The numbers of the messages in the script.
  private var names: [Int: Int] = [:]
  private var next = 0

  /// Adds the first save of each device, their exchange, and the drafts.
  mutating func introduce(_ program: ExplorerProgram) {
    if program.introduction.isEmpty { return }
    for (i, verbs) in program.introduction.enumerated() {
      steps.append(.save(on: i, verbs))
    }
    for i in 0..<3 {
      for j in 0..<3 where j != i { steps.append(.sync(from: i, to: j)) }
    }
    for (number, save) in program.saves.enumerated() {
      guard case .draft(let id, _) = save else { continue }
      for i in 0..<3 {
        steps.append(.fetch(on: i, id, context: 3 * number + i))
      }
    }
  }

  /// Adds a save while the device's clock shows `time`.
  mutating func save(
    _ number: Int, of program: ExplorerProgram, on i: Int, at time: Int64
  ) {
    if time != 0 { steps.append(.setClock(of: i, to: time)) }
    let step: ScriptStep =
      switch program.saves[number] {
      case .verbs(let verbs): .save(on: i, verbs)
      case .undo(let again): .undo(on: i, again: again)
      case .purge: .purge(i)
      case .retire(let j): .retire(on: i, j)
      case .bringIn(let rows): .bringIn(on: i, rows)
      case .pull(let rows, let modified):
        .pull(on: i, from: ExplorerProgram.server, at: modified, rows)
      case .draft(_, let edits):
        .commit(context: 3 * number + i, edits)
      }
    steps.append(step)
    if time != 0 { steps.append(.setClock(of: i, to: 0)) }
  }

  mutating func write(_ letter: Int, on i: Int, since j: Int?) {
    steps.append(.write(on: i, since: j, message: next))
    names[letter] = next
    next += 1
  }

  mutating func writePart(_ letter: Int, on i: Int, since j: Int) {
    steps.append(.writePart(on: i, since: j, byteLimit: 1, message: next))
    names[letter] = next
    next += 1
  }

  mutating func deliver(_ letter: Int, half: Int?, to i: Int) {
    guard let name = names[letter] else { return }
    guard let half else {
      return steps.append(.deliver(message: name, to: i))
    }
    steps.append(.split(message: name, into: next, next + 1))
    steps.append(.deliver(message: next + half, to: i))
    next += 2
  }
}
