// SPDX-License-Identifier: Apache-2.0

import Rejoin
import _RejoinVerification
import Testing

@Suite struct RandomScriptTests {
  @Test(arguments: 0..<30)
  func replicasMatchOracle(block: UInt64) {
    for seed in (block * 5)..<(block * 5 + 5) {
      let script = ScriptGenerator.script(seed: seed, steps: 80)
      do { try World<ReplicaUnderTest>.run(script) } catch {
        Issue.record("seed \(seed): \(error)")
      }
    }
  }

  /// At least one in 20 meets either, and one in 50 meets a purge.
  @Test func contextsAndUndoMeetPurgesAndRetirements() throws {
    var counts = WorldCounts()
    for seed in 0..<100 as Range<UInt64> {
      let script = ScriptGenerator.script(seed: seed, steps: 80)
      counts += try World<ReplicaUnderTest>.run(script)
    }
    for saves in [counts.contextSaves, counts.undoings] {
      #expect(saves.count > 100)
      #expect(20 * saves.met >= saves.count, "\(saves)")
      #expect(50 * saves.metPurges >= saves.count, "\(saves)")
      #expect(20 * saves.metRetirements >= saves.count, "\(saves)")
    }
  }

  /// The context fetched the record before the deletion.
  @Test func contextOfPurgedRecordIsRefused() throws {
    let (id, tags) = (RecordID("Task", "a"), FieldKey("set", .set))
    let steps: [ScriptStep] = [
      .fetch(on: 0, id, context: 0),
      .save(on: 0, [.edit(id, tags, .members(SetEdit(inserting: ["y"])))]),
      .save(on: 0, [.delete(id)]), .purge(0),
      .commit(context: 0, [tags: .members(.clearing)]),
      .save(on: 0, [.undelete(id)]),
    ]
    let world = try World<ReplicaUnderTest>.ran(
      Script(deviceCount: 1, steps: steps))
    #expect(world.counts.purges == 1 && world.counts.refusals == 2)
  }

  /// An undetected copy finds the fork first, and its message reports it to the
  /// original.
  @Test func originalTakesNewDeviceAfterCopySyncs() throws {
    let id = RecordID("Note", "a")
    let save = ScriptStep.save(on: 0, [.touch(id)])
    let script = Script(
      deviceCount: 2,
      steps: [
        save, .backUp(0, as: 2), save, .restore(1, from: 2, with: .fitting),
        .sync(from: 1, to: 0), save,
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// The digest of a forked device belongs to no save, so the owner's save is
  /// not a second one.
  @Test func ownSaveOfForkedDeviceIsNotReported() throws {
    let save = ScriptStep.save(on: 0, [.touch(RecordID("Note", "a"))])
    let script = Script(
      deviceCount: 3,
      steps: [
        save, .backUp(0, as: 1), save, .sync(from: 0, to: 1),
        .restore(2, from: 1, with: .fitting), .sync(from: 2, to: 1),
        .write(on: 1, since: 0, message: 0), .deliver(message: 0, to: 0),
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// A crash frees the ID of an unsent save that a backup still has.
  @Test func backupRestoresSaveWithFreedID() throws {
    let saves = ["a", "b"].map {
      ScriptStep.save(on: 0, [.touch(RecordID("Note", $0))])
    }
    let script = Script(
      deviceCount: 2,
      steps: [
        .backUp(0, as: 0), .storeToken(0), saves[0], .backUp(0, as: 1),
        .restore(0, from: 0, with: .last), saves[1],
        .restore(0, from: 1, with: .fitting),
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// One save of a shared dot deletes the record, so a later save may create it
  /// again.
  @Test func pullMemoryIsUncertainLikeItsRecord() throws {
    let (id, lww) = (RecordID("Task", "a"), FieldKey("lww", .register))
    let script = Script(
      deviceCount: 2,
      steps: [
        .pull(on: 1, from: "S", at: 1, [.edit(id, lww, .write(nil))]),
        .backUp(1, as: 0), .save(on: 1, [.delete(id)]), .sync(from: 1, to: 0),
        .restore(1, from: 0, with: .fitting), .save(on: 1, [.touch(id)]),
        .sync(from: 1, to: 0), .save(on: 0, [.touch(id)]),
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// A relay does not send the time of a save that the version of a forked
  /// device cannot contain.
  @Test func uncountedSaveHasNoTime() throws {
    let script = Script(
      deviceCount: 3,
      steps: [
        .save(on: 2, [.touch(RecordID("Task", "a"))]), .backUp(2, as: 0),
        .restore(1, from: 0, with: .fitting),
        .save(on: 2, [.touch(RecordID("Note", "b"))]), .sync(from: 2, to: 1),
        .sync(from: 1, to: 0),
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// One save creates, edits and deletes the record again, so its edits can be
  /// restored.
  @Test func editedRecordIsNotPurged() throws {
    let (id, key) = (RecordID("Task", "a"), FieldKey("lww", .register))
    func save(on i: Int, _ value: Value?) -> ScriptStep {
      .save(on: i, [.edit(id, key, .write(value))])
    }
    let script = Script(
      deviceCount: 2,
      steps: [
        save(on: 1, "x"), save(on: 0, nil), .save(on: 0, [.delete(id)]),
        .save(on: 0, [.edit(id, key, .write("y")), .delete(id)]),
        .sync(from: 0, to: 1), .save(on: 1, [.undelete(id)]),
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// A later write overwrites the only trace of the drop.
  @Test func overwrittenDropDoesNotCountAsPurge() throws {
    let (id, register) = (
      RecordID("Task", "a"), FieldKey("register", .register)
    )
    let write = ScriptVerb.edit(id, FieldKey("lww", .register), .write("x"))
    let script = Script(
      deviceCount: 2,
      steps: [
        .save(on: 1, [write]),
        .save(on: 0, [.edit(id, register, .write(nil)), .delete(id)]),
        .sync(from: 0, to: 1),
        .save(on: 1, [.edit(id, register, .write(15)), .delete(id)]),
        .setClock(of: 0, to: 1_000_000), .save(on: 0, [write]),
        .sync(from: 1, to: 0), .save(on: 0, [.undelete(id)]),
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// A message for a receiver with later saves of the author reports these
  /// saves, even to the author.
  @Test func messageReportsCopy() throws {
    let save = ScriptStep.save(on: 0, [.touch(RecordID("Note", "a"))])
    let script = Script(
      deviceCount: 2,
      steps: [
        save, .backUp(0, as: 0), save, .sync(from: 0, to: 1),
        .restore(0, from: 0, with: .fitting),
        .write(on: 0, since: 1, message: 0), .deliver(message: 0, to: 0), save,
      ])
    try World<ReplicaUnderTest>.run(script)
  }

  /// A fork contains its original's saves even if no token covers them.
  @Test func forkedSavesCountAsSent() throws {
    let save = ScriptStep.save(on: 0, [.touch(RecordID("Task", "a"))])
    let script = Script(
      deviceCount: 1,
      steps: [
        save, .backUp(0, as: 0), .storeToken(0), save, .fork(0),
        .restore(0, from: 0, with: .last), .sync(from: 0, to: 1),
      ])
    try World<ReplicaUnderTest>.run(script)
  }
}
