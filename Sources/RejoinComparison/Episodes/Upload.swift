// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// An edit on its way to a server, with the device's record before and after
/// it.
struct Upload {
  /// The edit, or the last of several edits that are sent as one save.
  let edit: Episode.Edit
  /// The fields that the save changes.
  let fields: Set<String>
  let before: PlainRecord?
  let after: PlainRecord?
  /// The fields that the device had seen before it deleted the record.
  ///
  /// The set is empty unless this edit creates the record again.
  let forgotten: Set<String>

  var device: String { edit.device }

  /// Whether the record did not exist for the device before this edit.
  var isCreation: Bool { before == nil }

  /// The content of every changed field, or `nil` for a field to unset.
  var changes: [String: Content?] {
    fields.union(forgotten).reduce(into: [:]) { changes, field in
      changes.updateValue(after?[field], forKey: field)
    }
  }
}

extension Episode {
  /// The edits that change the record, in the order of arrival.
  ///
  /// An empty save does not change it, nor does the deletion of a missing
  /// record.
  var uploads: [Upload] {
    let edits = Dictionary(grouping: edits, by: \.device)
    return devices.flatMap { uploads(of: $0, edits: edits[$0] ?? []) }
  }

  /// The uploads, sorted by time and then by device.
  var uploadsByTime: [Upload] {
    let uploads = uploads
    let indices = uploads.indices.sorted {
      let (a, b) = (uploads[$0].edit, uploads[$1].edit)
      return (a.at, a.device, $0) < (b.at, b.device, $1)
    }
    return indices.map { uploads[$0] }
  }

  /// The edits of each device as one save, in the order of arrival.
  var contextSaves: [Upload] {
    let uploads = Dictionary(grouping: self.uploads, by: \.device)
    return devices.compactMap { device in
      guard let made = uploads[device], let last = made.last else { return nil }
      return Upload(
        edit: last.edit,
        fields: made.reduce(into: []) { $0.formUnion($1.fields) },
        before: copy(of: device), after: last.after,
        forgotten: made.reduce(into: []) { $0.formUnion($1.forgotten) })
    }
  }

  private func uploads(of device: String, edits: [Episode.Edit]) -> [Upload] {
    var copy = copy(of: device)
    var seen = Set((copy ?? [:]).keys)
    var uploads: [Upload] = []
    for edit in edits where !edit.isEmpty {
      if edit.isDeletion && copy == nil { continue }
      let after = edit.applied(to: copy, of: kinds)
      let forgotten = copy == nil ? seen : []
      uploads.append(
        Upload(
          edit: edit, fields: edit.fields, before: copy, after: after,
          forgotten: forgotten))
      copy = after
      seen.formUnion((after ?? [:]).keys)
    }
    return uploads
  }
}
