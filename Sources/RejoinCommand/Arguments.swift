// SPDX-License-Identifier: Apache-2.0

/// The parsed arguments of a subcommand: options with a value, flags, and
/// operands.
///
/// An option is written `--name value` or `--name=value`. Everything after `--`
/// is an operand.
struct Arguments {
  private(set) var operands: [String] = []
  /// Whether the help is asked for.
  private(set) var isHelp = false
  private var values: [String: [String]] = [:]
  private var flags: Set<String> = []

  /// Parses the words after the subcommand.
  ///
  /// - Throws: A usage error for an unknown or repeated option, a missing
  ///   value, or a value for a flag.
  init(
    _ words: some Sequence<String>, of command: Command
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
      try take(word, from: &words, command)
    }
  }

  private mutating func take(
    _ word: String, from words: inout ArraySlice<String>, _ command: Command
  ) throws(CommandError) {
    let parts = word.split(
      separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let written = String(parts.first ?? "")
    if word == "-h" || word == "--help" {
      isHelp = true
      return
    }
    let name = String(written.dropFirst(2))
    guard written.hasPrefix("--"),
      let option = command.options.first(where: { $0.names.contains(name) })
    else {
      let names = command.options.flatMap(\.names).sorted()
        .map { "--\($0)" }.joined(separator: ", ")
      throw .usage("unknown option \(written); the options are \(names)")
    }
    guard option.takesValue else {
      if parts.count > 1 {
        throw .usage("\(written) takes no value; write it alone")
      }
      flags.insert(name)
      return
    }
    guard let value = parts.count == 2 ? String(parts[1]) : words.popFirst()
    else {
      throw .usage("\(written) needs a value; write \(written)=VALUE")
    }
    if !option.isRepeatable, values[name] != nil {
      throw .usage("\(written) is given twice; give it once")
    }
    values[name, default: []].append(value)
  }
}

extension Arguments {
  /// Whether a flag is given.
  func has(_ flag: String) -> Bool { flags.contains(flag) }

  /// Whether an option or a flag is given.
  func isGiven(_ name: String) -> Bool {
    flags.contains(name) || values[name] != nil
  }

  /// The only operand, which is the file that a command reads.
  ///
  /// - Throws: A usage error if the number of operands is not one.
  func file(of command: String) throws(CommandError) -> String {
    guard let file = operands.first, operands.count == 1 else {
      throw .usage(
        "\(command) needs one FILE; see `rejoin \(command) --help`")
    }
    return file
  }

  /// The value of an option, or `nil` if it is not given.
  func value(_ option: String) -> String? { values[option]?.first }

  /// The values of a repeatable option.
  func values(_ option: String) -> [String] { values[option] ?? [] }

  /// The value of an option as a number, which may have a fraction, or `nil`
  /// without the option.
  ///
  /// - Throws: A usage error for a value that is not a number in `range`.
  func number(
    _ option: String, in range: ClosedRange<Double>
  ) throws(CommandError) -> Double? {
    guard let text = value(option) else { return nil }
    guard let number = Double(text), range.contains(number) else {
      throw .usage(
        "--\(option) needs a number from \(Int(range.lowerBound)) to "
          + "\(Int(range.upperBound)), not \"\(text)\"")
    }
    return number
  }

  /// The integer value of an option, or `nil` if it is not given.
  ///
  /// - Throws: A usage error for a value that is not an integer in `range`.
  func integer<Number: FixedWidthInteger>(
    _ option: String, in range: ClosedRange<Number>
  ) throws(CommandError) -> Number? {
    guard let text = value(option) else { return nil }
    guard let number = Number(text), range.contains(number) else {
      throw .usage(
        "--\(option) needs an integer from \(range.lowerBound) to "
          + "\(range.upperBound), not \"\(text)\"")
    }
    return number
  }
}
