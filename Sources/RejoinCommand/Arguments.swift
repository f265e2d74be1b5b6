// SPDX-License-Identifier: Apache-2.0

/// The arguments of a subcommand: options that take a value, flags, and the rest.
///
/// An option is written `--name value` or `--name=value`; after `--` nothing is
/// an option.
struct Arguments {
  private(set) var operands: [String] = []
  private var values: [String: String] = [:]
  private var flags: Set<String> = []

  /// Sorts `words` into options and operands.
  ///
  /// - Parameters:
  ///   - words: The words after the subcommand.
  ///   - options: The options that take a value, without dashes.
  ///   - flags: The options that take none.
  /// - Throws: A usage error for an option that is unknown, doubled, without
  ///   its value, or with one that it does not take.
  init(
    _ words: some Sequence<String>, options: [String], flags: [String] = []
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
      try take(word, from: &words, options, flags)
    }
  }

  private mutating func take(
    _ word: String, from words: inout ArraySlice<String>,
    _ options: [String], _ known: [String]
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
        throw .usage("\(spelled) takes no value")
      }
      flags.insert(name)
      return
    }
    guard options.contains(name) else {
      throw unknown(spelled, options + known)
    }
    guard let value = parts.count == 2 ? String(parts[1]) : words.popFirst()
    else { throw .usage("\(spelled) needs a value") }
    guard values.updateValue(value, forKey: name) == nil else {
      throw .usage("\(spelled) stands twice")
    }
  }

  private func unknown(_ word: String, _ known: [String]) -> CommandError {
    let names = known.sorted().map { "--\($0)" }.joined(separator: ", ")
    return .usage("unknown option \(word); there are \(names)")
  }
}

extension Arguments {
  /// Whether a flag is given.
  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// The value of an option, if it is given.
  func value(_ option: String) -> String? { values[option] }

  /// The integer that an option gives, within `range`.
  func integer<Number: FixedWidthInteger>(
    _ option: String, in range: ClosedRange<Number>
  ) throws(CommandError) -> Number? {
    guard let text = values[option] else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw .usage(
        "--\(option) needs a whole number from \(range.lowerBound) to "
          + "\(range.upperBound), not \"\(text)\"")
    }
    return number
  }
}
