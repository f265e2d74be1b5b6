// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinComparison
import RejoinTesting

/// The merges of a Git repository, read with the system's `git`.
struct GitHistory {
  /// The path of the repository.
  let repository: String

  /// Returns the records of some files that both sides of a merge changed, with
  /// the results of the merges.
  ///
  /// - Parameter paths: Files or folders. Only JSON and CSV files count.
  func episodes(
    _ paths: [String], _ kinds: DeclaredKinds = DeclaredKinds()
  ) throws -> [Episode] {
    let merges = try lines(
      "rev-list", "--merges", "--min-parents=2", "--max-parents=2",
      "--reverse", "HEAD")
    if merges.isEmpty {
      throw CommandError.usage(
        "\(repository) has no merges of two parents; name a repository with merges"
      )
    }
    var line = ProgressLine("reading merges", of: merges.count)
    defer { line.finish() }
    var (episodes, crossed) = ([Episode](), 0)
    for (index, merge) in merges.enumerated() {
      line.update(index)
      let bases =
        (try? lines("merge-base", "--all", merge + "^1", merge + "^2")) ?? []
      if bases.count == 1 {
        episodes += try self.episodes(of: merge, since: bases[0], paths, kinds)
      } else {
        crossed += 1
      }
    }
    if crossed > 0 {
      // No single state is the base of both sides.
      Terminal.reportLeftOut(
        "\(crossed.counted("merge")) whose parents do not have exactly one common "
          + "ancestor"
      )
    }
    return episodes
  }

  private func episodes(
    of merge: String, since base: String, _ paths: [String],
    _ kinds: DeclaredKinds
  ) throws -> [Episode] {
    let parents = ["\(merge)^1", "\(merge)^2"]
    // Changed on both sides.
    let files = try parents.map { parent in
      Set(
        try lines(
          "diff-tree", "-r", "--name-only", "--no-renames", "-z", base, parent,
          "--", paths: paths, end: 0))
    }
    return try files[0].intersection(files[1]).sorted().filter(\.isTable)
      .flatMap { file in
        do {
          return try self.episodes(of: file, [base] + parents + [merge], kinds)
        } catch let error as RecordTable.Failure {
          // Report a bad file in a long history, and compare the others.
          Terminal.reportLeftOut("\(error)")
          return []
        }
      }
  }

  /// - Parameter versions: The base, the two parents, and the merge.
  private func episodes(
    of file: String, _ versions: [String], _ kinds: DeclaredKinds
  ) throws -> [Episode] {
    let merge = versions[3].prefix(10)
    let blobs = versions.map { version in
      let object = try? lines(
        "rev-parse", "--verify", "--quiet", "\(version):\(file)")
      return object?.first.flatMap { try? run(["cat-file", "blob", $0]) }
    }
    // Renaming a file does not delete its records.
    if blobs.dropFirst().contains(nil) {
      throw RecordTable.Failure(
        "\(merge):\(file)", "it is not a file on both sides and in the merge",
        "one that is")
    }
    let tables = try RecordTable.versions(
      zip(versions, blobs).map { version, blob in
        (blob.map { [UInt8]($0) }, "\(version.prefix(10)):\(file)")
      })
    var episodes = try RecordTable.episodes(
      "\(merge):\(file)", base: tables[0], mine: tables[1], theirs: tables[2],
      resolution: tables[3],
      times: (try time(versions[1], file), try time(versions[2], file)),
      kinds: kinds)
    for index in episodes.indices {
      episodes[index].group = "merge"
      episodes[index].source = "\(repository)@\(episodes[index].id)"
    }
    return episodes
  }

  /// When a file was last changed up to a commit, in milliseconds.
  private func time(_ commit: String, _ file: String) throws -> Int64 {
    // `log` could run programs that the repository's configuration names.
    let text = try lines(
      "rev-list", "-1", "--format=%at", commit, "--",
      paths: [":(top,literal)" + file])
    let seconds = text.last.flatMap { Int64($0) } ?? 0
    // A hybrid clock cannot represent later times.
    return min(max(seconds, 0), 1 << 37) * 1000
  }

  private func lines(
    _ arguments: String..., paths: [String] = [], end: UInt8 = 0x0a
  ) throws -> [String] {
    try run(arguments + paths).split(separator: end)
      .map { String(decoding: $0, as: UTF8.self) }
  }

  private func run(_ arguments: [String]) throws -> Data {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments =
      ["git", "-C", repository, "-c", "core.fsmonitor=false"] + arguments
    // Git's variables could select another repository, and reading must not
    // fetch anything.
    process.environment = ProcessInfo.processInfo.environment
      .filter { key, _ in
        !key.hasPrefix("GIT_") || key.hasPrefix("GIT_CONFIG_")
      }
      .merging(["GIT_ALLOW_PROTOCOL": "none"]) { $1 }
    process.standardOutput = output
    do {
      try process.run()
    } catch {
      throw CommandError.failed(
        "git cannot be run: \(Files.reason(error)); install it")
    }
    let bytes = try Files.read(output)
    process.waitUntilExit()
    guard process.terminationStatus == 0 else {
      throw CommandError.usage(
        "git \(arguments[0]) failed in \(repository); name a repository with merges"
      )
    }
    return Data(bytes)
  }
}

extension String {
  /// Whether a file has records, by its name.
  fileprivate var isTable: Bool {
    [".json", ".csv"].contains { lowercased().hasSuffix($0) }
  }
}
