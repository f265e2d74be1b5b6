// SPDX-License-Identifier: Apache-2.0

import Foundation
import RejoinTesting
import Testing

@testable import Rejoin
@testable import RejoinStore
@testable import RejoinSync

/// A folder of the system, with the files that people and drives leave in it.
@Suite class FolderStorageTests: EngineSuite {
  private static let day = 86_400
  /// Whether the rights of a file apply to this process.
  static let hasRights = geteuid() != 0

  private let place: String
  private let storage: FolderStorage

  override init() throws {
    let folder = FileManager.default.temporaryDirectory.appending(
      path: "rejoin-objects-\(UUID())")
    try FileManager.default.createDirectory(
      at: folder, withIntermediateDirectories: true)
    place = folder.path
    storage = FolderStorage(at: folder.path)
    try super.init()
  }

  deinit {
    chmod(place, 0o755)
    try? FileManager.default.removeItem(atPath: place)
  }

  /// A name of an object, whose saves start at the first one.
  private func name(_ device: UInt64 = 1, nonce: UInt64 = 1) -> String {
    let save = DeviceSave(sequence: 2, time: .zero, digest: 3, isForked: false)
    return ObjectName(
      DeviceID(device), .saves(SaveInterval(from: 0, to: save)), nonce: nonce
    ).description
  }

  private func file(_ name: String) -> String { "\(place)/\(name)" }

  private func write(_ name: String, _ bytes: [UInt8] = [1]) throws {
    try Data(bytes).write(to: URL(filePath: file(name)))
  }

  private var files: Set<String> {
    get throws {
      Set(try FileManager.default.contentsOfDirectory(atPath: place))
    }
  }

  private var listed: Set<String> {
    get async throws { Set(try await storage.list().map(\.name)) }
  }

  private func engine(
    _ store: ReplicaStore, confirmsWrites: Bool = false
  ) -> SyncEngine {
    let storage = FolderStorage(at: place, confirmsWrites: confirmsWrites)
    return SyncEngine(
      store, routes: [SyncRoute("folder", scope: "s", objects: storage)],
      time: clock.time)
  }

  private func pass(_ engine: SyncEngine) async throws -> SyncStatus {
    try #require(await engine.sync().first)
  }

  @Test func storesAndDeletesObjects() async throws {
    let bytes = (0..<200_000).map { UInt8($0 % 251) }
    #expect(try await storage.list().isEmpty)
    try await storage.put(name(), bytes)
    try await storage.put(name(2), [])
    #expect(try await storage.get(name()) == bytes)
    #expect(try await storage.get(name(2)) == [])
    let sizes = try await storage.list().sorted { $0.name < $1.name }
    #expect(sizes.map(\.name) == [name(), name(2)])
    #expect(sizes.map(\.byteCount) == [200_000, 0])
    #expect(try files == [name(), name(2)])
    try await storage.delete([name(), name(3), name(2)])
    #expect(try files.isEmpty)
    #expect(try await storage.get(name()) == nil)
    #expect(try await storage.identity() == nil)
  }

  @Test func ignoresObjectThatDoesNotExist() async throws {
    #expect(try await storage.get(name()) == nil)
    try await storage.delete([name()])
  }

  @Test(arguments: ["missing", "file", "file/folder", "NUL"])
  func missingFolderThrows(end: String) async throws {
    try write("file")
    try write("folder")
    let path = file(end == "NUL" ? "folder\0" : end)
    let storage = FolderStorage(at: path)
    await #expect(throws: ObjectStorageError.noFolder(path: path)) {
      _ = try await storage.list()
    }
    let store = try await store()
    try await store.write("Milk")
    let engine = SyncEngine(
      store, routes: [SyncRoute("folder", scope: "s", objects: storage)],
      time: clock.time)
    let status = try await pass(engine)
    let error = try #require(status.error as? ObjectStorageError)
    #expect(error == .noFolder(path: path))
    #expect("\(error)".contains("Create it, or connect the volume."))
    #expect(!status.isUploaded && !status.isSynced)
  }

  /// The system reads `folder\0/name` as `folder`.
  @Test func pathWithNULTouchesNoFile() async throws {
    try write("file")
    for end in ["file\0", "new\0"] {
      let storage = FolderStorage(at: file(end))
      let error = ObjectStorageError.noFolder(path: file(end))
      await #expect(throws: error) { try await storage.put(name(), [1]) }
      await #expect(throws: error) { _ = try await storage.get(name()) }
      await #expect(throws: error) { try await storage.delete([name()]) }
    }
    #expect(try files == ["file"])
  }

  @Test func passKeepsForeignFiles() async throws {
    let (phone, tablet) = (try await store(), try await store())
    try await tablet.write("Milk")
    #expect(try await pass(engine(tablet)).isSynced)
    let object = try #require(
      try files.first { $0.hasSuffix(".rejoin") })
    let start = object.dropLast(7)
    let texts = [
      "notes.txt", ".DS_Store", "\(start) (1).rejoin", "\(object) (1)",
      "\(start) (Ada's conflicted copy 2026-01-02).rejoin", "A\(object)",
      object.uppercased(), ".x.part", ".\(object)", "\(object).part",
    ]
    for text in texts { try write(text) }
    let folders = FileManager.default
    try folders.createDirectory(
      atPath: file(name()), withIntermediateDirectories: false)
    try folders.createSymbolicLink(
      atPath: file(name(2)), withDestinationPath: object)
    try folders.createSymbolicLink(
      atPath: file(name(3)), withDestinationPath: "missing")
    #expect(mkfifo(file(name(4)), 0o600) == 0)
    let foreign = Set(texts + (1...4).map { name($0) })
    #expect(try await listed.isDisjoint(with: foreign))

    let one = engine(phone, confirmsWrites: true)
    for i in 0..<3 {
      try await phone.write("Rye \(i)", to: "2")
      #expect(try await pass(one).isSynced)
      clock.advance(by: Int64(2 * Self.day) * 1_000)
    }
    #expect(await phone.titles == ["Milk", "Rye 2"])
    #expect(try files.isSuperset(of: foreign))
  }

  @Test func passIgnoresManyForeignFiles() async throws {
    let source = file("0")
    try write("0")
    // Some file systems limit the names of a file.
    for i in 1..<100_000 where link(source, file("\(i)")) != 0 {
      close(open(file("\(i)"), O_WRONLY | O_CREAT, 0o600))
    }
    let (phone, tablet) = (try await store(), try await store())
    try await phone.write("Milk")
    #expect(try await pass(engine(phone)).isSynced)
    #expect(try await pass(engine(tablet)).isSynced)
    #expect(await tablet.titles == ["Milk"])
    #expect(try await listed.count < 5)
    #expect(try files.count >= 100_000)
  }

  @Test(.enabled(if: hasRights))
  func unreadableObjectDoesNotStopTheRest() async throws {
    let stores = [try await store(), try await store(), try await store()]
    for (i, store) in stores.dropLast().enumerated() {
      try await store.write("\(i)", to: "\(i)")
    }
    #expect(try await pass(engine(stores[0])).isUploaded)
    let object = try #require(try files.first { $0.hasSuffix(".rejoin") })
    _ = try await pass(engine(stores[1]))
    chmod(file(object), 0)
    await #expect(throws: ObjectStorageError.self) {
      _ = try await storage.get(object)
    }
    let last = engine(stores[2])
    let status = try await pass(last)
    #expect(status.error is ObjectStorageError)
    #expect(!status.isSynced)
    #expect(await stores[2].titles == ["1"])
    chmod(file(object), 0o644)
    await last.stop()
    await last.start()
    #expect(try await pass(last).isSynced)
    await last.stop()
    #expect(await stores[2].titles == ["0", "1"])
  }

  @Test(.enabled(if: hasRights))
  func folderWithoutWriteRightRefusesUpload() async throws {
    let (phone, tablet) = (try await store(), try await store())
    let other = engine(tablet)
    for text in ["Milk", "Rye"] {
      try await tablet.write(text)
      #expect(try await pass(other).isUploaded)
    }
    #expect(try files.count { $0.hasSuffix(".rejoin") } == 2)
    chmod(place, 0o555)
    await #expect(throws: SyncRefusal.denied) {
      try await storage.put(name(), [1])
    }
    let before = try files
    try await phone.write("Tea", to: "2")
    // It would delete the object that the other one contains.
    let status = try await pass(engine(phone, confirmsWrites: true))
    #expect(status.uploadRefusal == .denied && status.error == nil)
    #expect(status.unsentSaves == 1)
    #expect(await phone.titles == ["Rye", "Tea"])
    #expect(try files == before)
  }

  @Test func partOfKilledProcessIsDeletedAfterDay() async throws {
    let parts = [".\(name()).part", ".\(name(2)).part", ".x.part", "..part"]
    let ages = [Self.day - 100, Self.day + 100, 9 * Self.day, 9 * Self.day]
    for (part, age) in zip(parts, ages) {
      try write(part)
      let time = timeval(tv_sec: time(nil) - age, tv_usec: 0)
      #expect(utimes(file(part), [time, time]) == 0)
    }
    #expect(try await storage.list().isEmpty)
    #expect(try files == Set(parts).subtracting([parts[1]]))
  }

  @Test func secondObjectWithNameFails() async throws {
    try await storage.put(name(), [1])
    await #expect(throws: ObjectStorageError.self) {
      try await storage.put(name(), [2, 3])
    }
    #expect(try await storage.get(name()) == [1])
    #expect(try files == [name()])
  }

  @Test func canceledCallReturnsAtOnce() async throws {
    // Opening a FIFO waits for a writer.
    #expect(mkfifo(file(name()), 0o600) == 0)
    let call = Task { [storage, name = name()] in try await storage.get(name) }
    try await Task.sleep(for: .milliseconds(50))
    call.cancel()
    await #expect(throws: CancellationError.self) { _ = try await call.value }
    let late = Task { [storage] in
      withUnsafeCurrentTask { $0?.cancel() }
      return try await storage.list().count
    }
    await #expect(throws: CancellationError.self) { _ = try await late.value }
    let writer = open(file(name()), O_WRONLY)
    #expect(writer >= 0)
    close(writer)
    #expect(try await storage.list().isEmpty)
  }

  @Test func enginesEndEqual() async throws {
    let (phone, tablet) = (try await store(), try await store())
    let engines = [engine(phone), engine(tablet)]
    for i in 0..<10 {
      try await phone.write("phone \(i)", to: "\(i % 3)")
      try await tablet.write("tablet \(i)", to: "\(i % 4)")
      for engine in engines { #expect(try await pass(engine).isUploaded) }
      clock.advance(by: Int64(Self.day) * 400)
    }
    for engine in engines { #expect(try await pass(engine).isSynced) }
    for engine in engines { #expect(try await pass(engine).isSynced) }
    #expect(await phone.version.covers(await tablet.version))
    #expect(await tablet.version.covers(await phone.version))
    let titles = await phone.titles
    #expect(titles.count == 4)
    #expect(await tablet.titles == titles)
    #expect(try files.count < 12)
  }
}
