// SPDX-License-Identifier: Apache-2.0

import Rejoin

/// Checks the encoding of a type, using random scripts.
///
///     try checkEncoding(
///       from: VectorClock(), encode: { $0.encoded() },
///       decode: { try VectorClock(decoding: $0) }
///     ) { clock, device, _ in
///       clock.advance(to: Dot(device, clock[device] + 1))
///       return [device: clock[device]]
///     }
///
/// The function checks these laws:
///
/// - A decoded value equals the encoded one and merges like it.
/// - Equal values have equal bytes, regardless of the order of delivery.
/// - Bytes that are truncated, have an extra byte or have a flipped bit can't
///   be decoded, unless they are the canonical encoding of another value.
///
/// - Parameters:
///   - initial: The initial value of every device.
///   - seeds: The seeds, one for each script.
///   - encode: A closure that encodes a value. If it throws, the check fails.
///   - decode: A closure that decodes bytes. It throws an error if the bytes
///     aren't an encoding.
///   - change: A closure that changes a value and returns the delta or the
///     value itself.
/// - Returns: The numbers of scripts and cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with a minimal script and
///   its seed.
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
/// - Returns: The number of cases that were checked.
/// - Throws: ``LawFailure`` if a law doesn't hold, with the values that show
///   it.
/// - Complexity: O(*n*²) merges and O(*b*) decodings, where *n* is the number
///   of samples and *b* is the number of bytes of all their encodings.
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
