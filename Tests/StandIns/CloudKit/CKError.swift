// SPDX-License-Identifier: Apache-2.0

/// An error of CloudKit.
public struct CKError: Error {
  /// The kinds of errors that the stand-in throws, with CloudKit's numbers.
  public enum Code: Int, Sendable {
    case internalError = 1
    case partialFailure = 2
    case networkUnavailable = 3
    case networkFailure = 4
    case serviceUnavailable = 6
    case requestRateLimited = 7
    case notAuthenticated = 9
    case permissionFailure = 10
    case unknownItem = 11
    case invalidArguments = 12
    case serverRecordChanged = 14
    case serverRejectedRequest = 15
    case operationCancelled = 20
    case changeTokenExpired = 21
    case batchRequestFailed = 22
    case zoneBusy = 23
    case quotaExceeded = 25
    case zoneNotFound = 26
    case limitExceeded = 27
    case userDeletedZone = 28
    case accountTemporarilyUnavailable = 36
  }

  public let code: Code
  public let retryAfterSeconds: Double?
  private let errors: [CKRecord.ID: CKError]?

  init(
    _ code: Code, retryAfterSeconds: Double? = nil,
    partialErrors: [CKRecord.ID: CKError]? = nil
  ) {
    (self.code, self.retryAfterSeconds) = (code, retryAfterSeconds)
    errors = partialErrors
  }

  /// The error of each item, if the code is `partialFailure`.
  public var partialErrorsByItemID: [AnyHashable: any Error]? {
    errors.map { errors in
      Dictionary(
        uniqueKeysWithValues: errors.map { (AnyHashable($0), $1 as any Error) })
    }
  }
}
