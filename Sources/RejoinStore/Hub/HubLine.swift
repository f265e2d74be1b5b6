// SPDX-License-Identifier: Apache-2.0

/// The position of a request in a line.
struct HubPlace: Sendable {
  let number: Int
  /// The bytes of the scope's name.
  let scope: [UInt8]
  let recordCount: Int
}

/// Requests that wait for a transaction.
///
/// A transaction has many small requests or a single large one. They alternate,
/// so a small request waits for at most one large one, and large ones do not
/// wait permanently. If requests waited for a large one, the next large one
/// waits for twice the time that it took. Otherwise, a client that sends large
/// requests without a pause would delay every request of the others. The scopes
/// take turns, because a client can send many requests for its own scope.
struct HubLine<Request> {
  /// The maximum number of records in a small request.
  static var smallRecordCount: Int { 500 }
  /// The maximum number of records in a transaction of small requests.
  static var recordLimit: Int { 10_000 }
  /// The maximum number of small requests in a transaction.
  static var requestLimit: Int { 64 }

  private var small = ScopesInTurn<Request>()
  private var large = ScopesInTurn<Request>()
  private var isLargeNext = false
  /// Whether large requests wait, because others waited for the last one.
  var isResting = false
  /// Whether a task performs the requests.
  var isServed = false

  var isEmpty: Bool { small.isEmpty && large.isEmpty }
  var hasSmall: Bool { !small.isEmpty }
  /// Whether a transaction can begin.
  var isReady: Bool { hasSmall || !isResting && !large.isEmpty }

  /// The requests, in any order.
  var requests: [Request] { small.requests + large.requests }

  mutating func append(_ request: Request, at place: HubPlace) {
    if place.recordCount > Self.smallRecordCount {
      large.append(request, at: place)
    } else {
      small.append(request, at: place)
    }
  }

  /// - Returns: The request, or `nil` if it does not wait.
  mutating func remove(_ place: HubPlace) -> Request? {
    place.recordCount > Self.smallRecordCount
      ? large.remove(place) : small.remove(place)
  }

  /// Removes the requests of the next transaction.
  mutating func removeNext() -> [Request] {
    if small.isEmpty || isLargeNext, !isResting,
      let request = large.removeNext(.max)
    {
      isLargeNext = false
      return [request.0]
    }
    isLargeNext = true
    var (requests, room) = ([] as [Request], Self.recordLimit)
    while requests.count < Self.requestLimit,
      let (request, recordCount) = small.removeNext(room)
    {
      requests.append(request)
      room -= recordCount
    }
    return requests
  }
}

/// Requests in the order of their arrival for each scope.
private struct ScopesInTurn<Request> {
  private typealias Requests = WaitingQueue<
    Int, (request: Request, recordCount: Int)
  >

  /// The requests of each scope, in the order of the scopes' turns.
  ///
  /// No queue is empty.
  private var scopes = WaitingQueue<[UInt8], Requests>()

  var isEmpty: Bool { scopes.isEmpty }

  var requests: [Request] {
    scopes.elements.flatMap { $0.elements.map(\.request) }
  }

  mutating func append(_ request: Request, at place: HubPlace) {
    let element = (request, place.recordCount)
    let isAdded: Void? = scopes.update(place.scope) {
      $0.append(element, for: place.number)
    }
    if isAdded != nil { return }
    var requests = Requests()
    requests.append(element, for: place.number)
    scopes.append(requests, for: place.scope)
  }

  mutating func remove(_ place: HubPlace) -> Request? {
    let removed = scopes.update(place.scope) { $0.remove(place.number) }
    if scopes[place.scope]?.isEmpty == true { scopes.remove(place.scope) }
    return removed??.request
  }

  /// Removes the first request of the first scope, which waits for its next
  /// turn.
  ///
  /// - Returns: The request with the number of its records, or `nil` if it has
  ///   more records than `room`.
  mutating func removeNext(_ room: Int) -> (Request, Int)? {
    guard let scope = scopes.firstKey,
      let first = scopes.first?.first, first.recordCount <= room,
      var requests = scopes.remove(scope), let next = requests.removeFirst()
    else { return nil }
    if !requests.isEmpty { scopes.append(requests, for: scope) }
    return next
  }
}
