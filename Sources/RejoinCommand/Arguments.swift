// SPDX-License-Identifier: Apache-2.0

/// The parsed arguments of a subcommand: options with a value, flags, and
/// operands.
///
/// An option is written `--name value` or `--name=value`. Everything after `--`
/// is an operand.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: String] = [:]
  private var lists: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// Parses arguments.
  ///
  /// - Parameters:
  ///   - words: The words after the subcommand.
  ///   - options: The names of the options that take a value, without dashes.
  ///   - flags: The names of the options that take none.
  ///   - repeatable: The names of the options that take a value and may be given
  ///     several times.
  /// - Throws: A usage error for an unknown or repeated option, a missing
  ///   value, or a value for a flag.
  init(
    _ words: some Sequence<String>, options: [String], flags: [String] = [],
    repeatable: [String] = []
  ) throws(CommandError) {
    var words = Array(words)[...]
    while let word = words.popFirst() {
      if word == "--" {
        operands += words
        return
      }
      guard word.hasPrefix("-"), word != "-" else {
        operands.append(word)
        continue
      }
      try take(word, from: &words, options + repeatable, flags, repeatable)
    }
  }

  private mutating func take(
    _ word: String, from words: inout ArraySlice<String>,
    _ options: [String], _ known: [String], _ repeatable: [String]
  ) throws(CommandError) {
    let parts = word.split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let spelled = String(parts.first ?? "")
    let name = spelled == "-h" ? "help" : String(spelled.dropFirst(2))
    if spelled != "-h" && !spelled.hasPrefix("--") {
      throw unknown(spelled, options + known)
    }
    if known.contains(name) {
      guard parts.count == 1 else {
        throw .usage("\(spelled) takes no value; write it alone")
      }
      flags.insert(name)
      return
    }
    guard options.contains(name) else {
      throw unknown(spelled, options + known)
    }
    guard let value = parts.count == 2 ? String(parts[1]) : words.popFirst()
    else {
      throw .usage("\(spelled) needs a value; write \(spelled)=VALUE")
    }
    if repeatable.contains(name) {
      lists[name, default: []].append(value)
      return
    }
    guard values.updateValue(value, forKey: name) == nil else {
      throw .usage("\(spelled) is given twice; give it once")
    }
  }

  private func unknown(_ word: String, _ known: [String]) -> CommandError {
    let names = known.sorted().map { "--\($0)" }.joined(separator: ", ")
    return .usage("unknown option \(word); the options are \(names)")
  }
}

extension Arguments {
  /// Whether a flag is given.
  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// Whether an option or a flag is given.
  func isGiven(_ name: String) -> Bool {
    flags.contains(name) || values[name] != nil || lists[name] != nil
  }

  /// The only operand, which is the file that a command needs.
  ///
  /// - Throws: A usage error if there is none, or another.
  func file(of command: String) throws(CommandError) -> String {
    guard let file = operands.first, operands.count == 1 else {
      throw .usage(
        "\(command) needs one FILE; see `rejoin \(command) --help`")
    }
    return file
  }

  /// The value of an option; `nil` if it is not given.
  func value(_ option: String) -> String? { values[option] }

  /// The values of an option that may be given several times.
  func values(_ option: String) -> [String] { lists[option] ?? [] }

  /// The value of an option as a number, which may have a fraction, or `nil`
  /// without the option.
  ///
  /// - Throws: A usage error for a value that is not a number in `range`.
  func number(
    _ option: String, in range: ClosedRange<Double>
  ) throws(CommandError) -> Double? {
    guard let text = values[option] else { return nil }
    guard let number = Double(text), range.contains(number) else {
      throw .usage(
        "--\(option) needs a number from \(Int(range.lowerBound)) to "
          + "\(Int(range.upperBound)), not \"\(text)\"")
    }
    return number
  }

  /// The integer value of an option; `nil` if it is not given.
  ///
  /// - Throws: A usage error for a value that is no integer in `range`.
  func integer<Number: FixedWidthInteger>(
    _ option: String, in range: ClosedRange<Number>
  ) throws(CommandError) -> Number? {
    guard let text = values[option] else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw .usage(
        "--\(option) needs an integer from \(range.lowerBound) to "
          + "\(range.upperBound), not \"\(text)\"")
    }
    return number
  }
}
