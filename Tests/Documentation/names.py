# SPDX-License-Identifier: Apache-2.0
"""Names that were given up, with what took their place.

A name is matched with the base name of a declaration, and with the labels and
names of its parameters. One with a dot is matched with the type and the base name
together; `.Name` is a declaration at the top of a module. One with a label in
parentheses is matched with declarations that have that label, and `label: Type` with
those that have a parameter of that label and type.
"""

OLD_NAMES = {
    "ReplicaClock": "ReplicaVersion",
    "Replica.clock": "version",
    "ReplicaState.clock": "version",
    "Replica.init(clock:)": "wallClock:",
    "Replica.fork(clock:)": "wallClock:",
    "drag": "maximumClockSkew",
    "defaultDrag": "defaultMaximumClockSkew",
    "renewal": "makeDeviceID",
    "doubtful": "lastSaveBeforeRollback",
    "noticeOwnSaves": "detectReusedIdentity",
    "lookForOwnSaves": "detectReusedIdentity",
    "mustRenew": "needsNewDeviceID",
    "disputed": "forked",
    "isDisputed": "isForked",
    "disputedDevices": "forkedDevices",
    "dispute": "fork",
    "clashes": "equivocations",
    "Encounter": "WriteConflict",
    "encounters": "conflicts",
    "wasLocal": "localWon",
    "Provenance": "Write",
    "MergeReport.Write": "Write",
    "LedgerLine": "DeviceEntries",
    "Presence": "AddMark",
    ".Edit": "Transaction",
    "touch(creatingAgain:)": "upsert",
    "FetchedRecord": "Record",
    "Replica.records": "recordIDs(of:)",
    "allRecords": "allRecordIDs",
    "Replica.missing": "latestMissingSaves",
    "ReplicaState.missing": "latestMissingSaves",
    "Replica.token": "restoreToken",
    "Dot.n": "sequence",
    "VectorClock.compare": "order(relativeTo:)",
    "isUntouched": "isInitial",
    "spells": "impliesContext",
    "unspelled": "explicitRemainder",
    "Code.foreign": "unrecognizedFormat",
    "Code.damaged": "checksumMismatch",
    "Code.otherKind": "unexpectedKind",
    "writeBeside": "writeConcurrently",
    "FieldOutcome.queue": "reportConflict",
    "DeletionOutcome.queue": "reportConflict",
    "HandSetClock": "ManualClock",
    "DrivenReplica": "ReplicaUnderTest",
    "StoredReplica": "ReplicaState",
    "MergeReport.Location": "FieldLocation",
    "rollbackDetected": "lastSaveBeforeRollback",
    "MergeReport.returned": "reactivatedDevices",
    "MergeReport.isClean": "hasFaults",
    "Detail.full": "changes",
    "Detail.values": "changesWithValues",
    "Replica.missingSaves": "latestMissingSaves",
    "ReplicaState.missingSaves": "latestMissingSaves",
    "acknowledge": "recordVersion(_:of:)",
    "Replica.import": "importRows",
    "Replica.pull": "importRows(from:modifiedAt:_:)",
}

# Names that the rebuild of their declarations will replace; until then they are
# counted and let pass.
WAITING_NAMES = {
    ".Stamped": "Write",
    ".CodedWrite": "Write",
    ".Tally": "PNCounter",
    ".LedgerLines": "Ledger",
    "Siblings.Element": "Write",
    ".Register": "MVRegister",
    ".Counter": "PNCounter",
    ".AddWins": "ORSet",
    ".Entries": "Ledger",
    "by: DeviceID": "on:",
    "at: DeviceID": "on:",
}
