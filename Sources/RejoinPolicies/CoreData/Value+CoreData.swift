// SPDX-License-Identifier: Apache-2.0

#if canImport(CoreData)
  import CoreData
  import Foundation
  import Rejoin

  extension Value {
    /// Returns field values for the values of a property, such that different
    /// objects get different values.
    static func distinguishing(
      _ objects: [Any?], _ type: NSAttributeType?
    ) -> [Value?] {
      var seen: [(object: NSObject, value: Value)] = []
      return objects.map { object in
        guard let object else { return nil }
        if let value = Value(object, type) { return value }
        // No field value can represent this type, so compare objects with
        // `isEqual` and give equal objects the same substitute value.
        let other = object as? NSObject ?? "\(object)" as NSString
        if let same = seen.first(where: { $0.object.isEqual(other) }) {
          return same.value
        }
        let value = Value.string("\(object) (\(seen.count))")
        seen.append((other, value))
        return value
      }
    }

    private init?(_ object: Any, _ type: NSAttributeType?) {
      if let other = object as? NSManagedObject {
        self.init(other.objectID)
        return
      }
      let number = object as? NSNumber
      switch type {
      case .booleanAttributeType:
        guard let flag = object as? Bool ?? number?.boolValue else {
          return nil
        }
        self = .bool(flag)
      case .integer16AttributeType, .integer32AttributeType,
        .integer64AttributeType:
        guard let integer = number?.int64Value ?? (object as? Int64) else {
          return nil
        }
        self = .int(integer)
      case .doubleAttributeType, .floatAttributeType:
        guard let number = object as? Double ?? number?.doubleValue else {
          return nil
        }
        self = .double(number)
      case .stringAttributeType:
        guard let text = object as? String else { return nil }
        self = .string(text)
      case .binaryDataAttributeType:
        guard let data = object as? Data else { return nil }
        self = .bytes(Array(data))
      case .dateAttributeType:
        guard let date = object as? Date,
          let time = Int64(
            exactly: (date.timeIntervalSince1970 * 1e6).rounded())
        else { return nil }
        self = .date(time)
      default: return nil
      }
    }

    private init(_ id: NSManagedObjectID) {
      self = .reference(
        RecordID(
          id.entity.name ?? "", id.uriRepresentation().absoluteString))
    }

    /// Core Data's object for a value that a custom rule created.
    var object: Any? {
      switch self {
      case .null, .reference: nil
      case .bool(let flag): flag
      case .int(let number): number
      case .double(let number): number
      case .string(let text): text
      case .bytes(let bytes): Data(bytes)
      case .date(let time): Date(timeIntervalSince1970: Double(time) / 1e6)
      }
    }
  }
#endif
