// SPDX-License-Identifier: Apache-2.0
import Rejoin

extension Script {
  /// Returns the script in the format of `rejoin replay`: a JSON object per
  /// line.
  ///
  /// Forged versions are omitted, and so are steps that refer to a missing
  /// device, message, backup or context. A save that a replay script cannot
  /// express, such as deleting and recreating a record, becomes several lines
  /// and a comment. A touch of a record becomes a comment.
  ///
  /// - Parameters:
  ///   - universe: The universe of the script.
  ///   - showing: The devices to show at the end, or `nil` for all devices.
  public func replayText(
    universe: ScriptUniverse = .standard, showing: [Int]? = nil
  ) -> String {
    var printer = ReplayPrinter(deviceCount: deviceCount)
    printer.printSchema(universe, used: locations)
    for step in steps { printer.print(step) }
    for i in showing ?? Array(0..<printer.deviceCount) { printer.show(i) }
    return printer.lines.joined(separator: "\n") + "\n"
  }

  /// The fields that the script names.
  private var locations: Set<FieldLocation> {
    var records: [Int: RecordID] = [:]
    var locations: Set<FieldLocation> = []
    for step in steps {
      switch step {
      case .save(_, let verbs), .bringIn(_, let verbs),
        .pull(_, _, _, let verbs):
        locations.formUnion(verbs.locations)
      case .fetch(_, let id, let context):
        records[context] = id
        locations.insert(FieldLocation(record: id, field: .existence))
      case .commit(let context, let edits, let company):
        guard let id = records[context] else { continue }
        for key in edits.keys {
          locations.insert(FieldLocation(record: id, field: key))
        }
        locations.formUnion(company.around([]).locations)
      case .discard(_, let company):
        locations.formUnion(company.around([]).locations)
      default: break
      }
    }
    return locations
  }
}

extension [ScriptVerb] {
  /// The fields that the verbs name, including the existence of records.
  fileprivate var locations: [FieldLocation] {
    flatMap { verb in
      let existence = FieldLocation(record: verb.id, field: .existence)
      switch verb {
      case .edit(let id, let key, _), .move(let id, let key, _, _):
        return [existence, FieldLocation(record: id, field: key)]
      case .touch, .delete, .undelete: return [existence]
      }
    }
  }
}

/// A printer of steps, which tracks the devices, messages, backups and contexts
/// that a later line can name.
private struct ReplayPrinter {
  var lines: [String] = []
  private(set) var deviceCount: Int
  private var now: [Int: Int64] = [:]
  private var messages: Set<Int> = []
  private var backups: Set<Int> = []
  private var contexts: [Int: Int] = [:]

  init(deviceCount: Int) { self.deviceCount = deviceCount }

  mutating func printSchema(
    _ universe: ScriptUniverse, used: Set<FieldLocation>
  ) {
    let entities = Set(used.map(\.record.entity)).sorted().map { entity in
      let definition = universe.schema[entity]
      let fields = Set(
        used.filter { $0.record.entity == entity && $0.field != .existence }
          .map(\.field)
      ).sorted()
        .map { key in
          let isQuiet = definition.quietFields.contains(key)
          let kind = isQuiet ? "lww" : key.kind.rawValue
          return "\(ReplayJSON.text(key.name)):\"\(kind)\""
        }
      let rule =
        definition.deletion == .deleteWins
        ? ",\"deletion\":\"deleteWins\"" : ""
      return "\(ReplayJSON.text(entity)):{\"fields\":"
        + "{\(fields.joined(separator: ","))}\(rule)}"
    }
    lines.append("{\"entities\":{\(entities.joined(separator: ","))}}")
  }

  mutating func show(_ i: Int) { add("show", "on", i) }

  private mutating func add(
    _ what: String, _ role: String? = nil, _ i: Int? = nil,
    _ rest: [(String, String)] = []
  ) {
    var members = [("do", ReplayJSON.text(what))]
    if let role, let i { members.append((role, name(i))) }
    members += rest
    if let i, what != "show" { members.append(("at", "\(now[i] ?? 0)")) }
    lines.append(ReplayJSON.object(members))
  }

  private func name(_ i: Int) -> String {
    ReplayJSON.text(DeviceNames.name(i))
  }

  private func isThere(_ devices: Int...) -> Bool {
    devices.allSatisfy { (0..<deviceCount).contains($0) }
      && Set(devices).count == devices.count
  }

  mutating func print(_ step: ScriptStep) {
    switch step {
    case .save(let i, let verbs) where isThere(i): save(i, verbs)
    case .undo(let i, let again) where isThere(i):
      add(again ? "redo" : "undo", "on", i)
    case .setClock(let i, let time): now[i] = time
    case .sync(let i, let j) where isThere(i, j):
      add("sync", "to", j, [("from", name(i))])
    case .call(let i, let j, let limit, let messages) where isThere(i, j):
      call(from: i, to: j, in: limit, messages)
    case .merge(let i, let j) where isThere(i, j):
      add("merge", "to", j, [("from", name(i))])
    case .write(let i, let basis, let k) where isThere(i):
      guard basis.map({ isThere($0) }) != false else { return }
      messages.insert(k)
      add(
        "delta", "on", i,
        [("since", basis.map(name) ?? "null"), ("as", "\"m\(k)\"")])
    case .writePart(let i, let j, let limit, let k) where isThere(i, j):
      messages.insert(k)
      add(
        "delta", "on", i,
        [("since", name(j)), ("bytes", "\(limit)"), ("as", "\"m\(k)\"")])
    case .split(let k, let a, let b) where messages.contains(k):
      messages.formUnion([a, b])
      add(
        "split", nil, nil,
        [("delta", "\"m\(k)\""), ("as", "[\"m\(a)\",\"m\(b)\"]")])
    case .deliver(let k, let i) where isThere(i) && messages.contains(k):
      add("apply", "on", i, [("delta", "\"m\(k)\"")])
    case .backUp(let i, let k) where isThere(i):
      backups.insert(k)
      add("backup", "on", i, [("as", "\"b\(k)\"")])
    case .restore(let i, let k, let token)
    where isThere(i) && backups.contains(k):
      contexts = contexts.filter { $0.value != i }
      let flag: [(String, String)] =
        switch token {
        case .lost: []
        case .fitting: [("unnoticed", "true")]
        case .last: [("token", "true")]
        }
      add("restore", "on", i, [("from", "\"b\(k)\"")] + flag)
    case .storeToken(let i) where isThere(i): add("token", "on", i)
    case .reopen(let i) where isThere(i):
      contexts = contexts.filter { $0.value != i }
      add("crash", "on", i)
    case .fork(let i) where isThere(i):
      let copy = deviceCount
      deviceCount += 1
      now[copy] = now[i]
      add("fork", "on", i, [("as", name(copy))])
    case .purge(let i) where isThere(i): add("purge", "on", i)
    case .fold(let i) where isThere(i): add("fold", "on", i)
    case .retire(let i, let j) where isThere(i) && isThere(j):
      add("retire", "on", i, [("device", name(j))])
    case .fetch(let i, let id, let k) where isThere(i):
      contexts[k] = i
      add(
        "fetch", "on", i,
        [
          ("context", "\"c\(k)\""), ("record", ReplayJSON.text("\(id)")),
          ("policy", "\"merge\""),
        ])
    case .commit(let k, let edits, let company):
      commit(k, company) {
        $0.add("edit", nil, nil, $1 + ReplayJSON.members(edits))
      }
    case .discard(let k, let company):
      commit(k, company) { $0.add("delete", nil, nil, $1) }
    case .bringIn(let i, let rows) where isThere(i):
      add("import", "on", i, [("records", records(rows))])
    case .pull(let i, let server, let time, let rows) where isThere(i):
      lines.append(
        ReplayJSON.object([
          ("do", "\"pull\""), ("on", name(i)),
          ("server", ReplayJSON.text(server)), ("records", records(rows)),
          ("at", "\(time)"), ("now", "\(now[i] ?? 0)"),
        ]))
    default: break
    }
  }

  /// Prints a call, which is two exchanges unless its line breaks.
  ///
  /// A request has no part before the first answer, because a replayed device
  /// assumes no version.
  private mutating func call(
    from i: Int, to j: Int, in limit: Int, _ messages: Int?
  ) {
    guard let messages else {
      add("sync", "to", j, [("from", name(i))])
      return add("sync", "to", i, [("from", name(j))])
    }
    for number in 1..<max(messages, 1) {
      let (from, to) = number % 2 == 1 ? (j, i) : (i, j)
      add(
        "delta", "on", from,
        [("since", name(to)), ("bytes", "\(limit)"), ("as", "\"call\"")])
      add("apply", "on", to, [("delta", "\"call\"")])
    }
  }

  private mutating func commit(
    _ k: Int, _ company: ScriptCompany,
    _ edit: (inout ReplayPrinter, [(String, String)]) -> Void
  ) {
    guard let i = contexts.removeValue(forKey: k) else { return }
    let isShared = company != ScriptCompany()
    if isShared {
      lines.append("# What follows up to the next comment was one save.")
    }
    save(i, company.before)
    let context = [("context", "\"c\(k)\"")]
    edit(&self, context)
    add("commit", nil, nil, context + [("at", "\(now[i] ?? 0)")])
    save(i, company.after)
    if isShared { lines.append("#") }
  }

  /// Returns the rows that some verbs write.
  private func records(_ verbs: [ScriptVerb]) -> String {
    var records: [(id: RecordID, edits: [FieldKey: FieldEdit])] = []
    for case .edit(let id, let key, let edit) in verbs {
      add(edit, of: key, in: id, to: &records)
    }
    return objects(records)
  }

  private func objects(
    _ records: [(id: RecordID, edits: [FieldKey: FieldEdit])]
  ) -> String {
    let objects = records.filter { !$0.edits.isEmpty }.map { record in
      ReplayJSON.object(
        [("record", ReplayJSON.text("\(record.id)"))]
          + ReplayJSON.members(record.edits))
    }
    return "[\(objects.joined(separator: ","))]"
  }

  private func add(
    _ edit: FieldEdit, of key: FieldKey, in id: RecordID,
    to records: inout [(id: RecordID, edits: [FieldKey: FieldEdit])]
  ) {
    let index = records.firstIndex { $0.id == id } ?? records.count
    if index == records.count { records.append((id, [:])) }
    if records[index].edits[key]?.append(edit) == nil {
      records[index].edits[key] = edit
    }
  }

  private mutating func save(_ i: Int, _ verbs: [ScriptVerb]) {
    let ownLines = verbs.filter {
      switch $0 {
      case .delete, .undelete, .move: true
      default: false
      }
    }
    if !ownLines.isEmpty, verbs.count > 1 {
      lines.append("# What follows up to the next comment was one save.")
    }
    var records: [(id: RecordID, edits: [FieldKey: FieldEdit])] = []
    func flush(_ printer: inout ReplayPrinter) {
      if records.contains(where: { !$0.edits.isEmpty }) {
        printer.add(
          "save", "on", i, [("records", printer.objects(records))])
      }
      records = []
    }
    for verb in verbs {
      switch verb {
      case .touch(let id):
        // A line without a verb makes no edit.
        lines.append(
          "# \(DeviceNames.name(i)) touches \(id), which no verb says.")
      case .delete(let id):
        flush(&self)
        add("delete", "on", i, [("record", ReplayJSON.text("\(id)"))])
      case .undelete(let id):
        flush(&self)
        add("undelete", "on", i, [("record", ReplayJSON.text("\(id)"))])
      case .edit(let id, let key, let edit):
        add(edit, of: key, in: id, to: &records)
      case .move(let id, let key, let left, let right):
        flush(&self)
        let gap = ReplayJSON.array(
          [left, right].map { $0.map { ReplayJSON.text("\($0)") } ?? "null" })
        add(
          "save", "on", i,
          [
            ("record", ReplayJSON.text("\(id)")),
            ("move", ReplayJSON.object([(key.name, gap)])),
          ])
      }
    }
    flush(&self)
    if !ownLines.isEmpty, verbs.count > 1 { lines.append("#") }
  }
}
