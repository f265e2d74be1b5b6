// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks the encoding of a type on the values that random scripts reach.
///
///     try checkEncoding(
///       from: VectorClock(), encode: { $0.encoded() },
///       decode: { try VectorClock(decoding: $0) }
///     ) { clock, device, _ in
///       clock.advance(to: Dot(device, clock[device] + 1))
///       return [device: clock[device]]
///     }
///
/// A decoded value equals the encoded one and merges like it; equal values have
/// equal bytes, whatever the order of delivery; and bytes that are truncated, have
/// an extra byte or a flipped bit are refused with an error, or are the canonical
/// encoding of the value they decode to.
///
/// - Parameters:
///   - initial: The value on which every device begins.
///   - seeds: One script is played for each.
///   - encode: Encodes a value; it should not throw.
///   - decode: Decodes a value, and throws if the bytes are not an encoding.
///   - change: Changes a value and returns the delta or the value itself.
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with a smallest script and its seed.
@discardableResult
public func checkEncoding<State: Lattice & Equatable>(
  from initial: State, seeds: Range<UInt64> = 0..<100,
  encode: @escaping (State) throws -> [UInt8],
  decode: @escaping ([UInt8]) throws -> State,
  change: @escaping RandomChange<State>
) throws(LawFailure) -> LawChecks {
  try check(
    "checkEncoding", from: initial, seeds, change,
    WireLaws(encode: encode, decode: decode).violation(in:_:))
}

/// Checks the encoding of the given values.
///
///     try checkEncoding(
///       samples: [[], [phone: 1], [phone: 300]], encode: { $0.encoded() },
///       decode: { try VectorClock(decoding: $0) })
///
/// - Returns: How much was tried.
/// - Throws: ``LawFailure``, with the values that show it.
/// - Complexity: O(*n*²) merges for *n* samples, and for each of them as many
///   readings as it has bytes, times nine if it has few.
@discardableResult
public func checkEncoding<State: Lattice & Equatable>(
  samples: [State], encode: (State) throws -> [UInt8],
  decode: ([UInt8]) throws -> State
) throws(LawFailure) -> LawChecks {
  try check("checkEncoding", samples) { samples, cases in
    withoutActuallyEscaping(encode) { encode in
      withoutActuallyEscaping(decode) { decode in
        WireLaws(encode: encode, decode: decode)
          .violation(among: samples, &cases)
      }
    }
  }
}
