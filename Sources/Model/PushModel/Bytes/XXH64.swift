/// Computes the 64-bit xxHash of one buffer, or of several buffers (parts) as if they were one buffer.
///
/// Between two parts, keeps fewer than 32 bytes of the input. Allocates no memory.
/// - Source: xxHash specification 0.1.1, "XXH64 Algorithm Description".
package struct XXH64: Sendable {
    private var lanes: Lanes
    private let seed: UInt64
    private var length: UInt64 = 0
    /// The bytes at the end of the input that do not fill a stripe of 32 bytes. Only the first `length % 32` bytes are valid.
    private var rest: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)

    package init(seed: UInt64) {
        self.seed = seed
        lanes = Lanes(seed: seed)
    }

    /// The hash of `bytes`.
    package static func hash(_ bytes: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        var offset = 0
        var hash = seed &+ prime5
        if bytes.count >= 32 {
            var lanes = Lanes(seed: seed)
            repeat {
                lanes.consume(bytes, at: offset)
                offset += 32
            } while bytes.count - offset >= 32
            hash = lanes.merged
        }
        return finish(hash &+ UInt64(bytes.count), bytes, from: offset)
    }

    package static func hash(_ bytes: [UInt8], seed: UInt64) -> UInt64 {
        bytes.withUnsafeBytes { hash($0, seed: seed) }
    }

    /// Adds the next part of the input.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        var taken = 0
        let held = Int(length % 32)
        length &+= UInt64(bytes.count)
        if held > 0 {
            taken = min(32 - held, bytes.count)
            keep(bytes, from: 0, count: taken, at: held)
            guard held + taken == 32 else { return }
            withUnsafeBytes(of: rest) { lanes.consume($0, at: 0) }
        }
        while bytes.count - taken >= 32 {
            lanes.consume(bytes, at: taken)
            taken += 32
        }
        keep(bytes, from: taken, count: bytes.count - taken, at: 0)
    }

    package mutating func update(_ byte: UInt8) {
        withUnsafeBytes(of: byte) { update($0) }
    }

    /// The hash of all parts so far. More parts may follow.
    package var digest: UInt64 {
        let hash = length >= 32 ? lanes.merged : seed &+ Self.prime5
        return withUnsafeBytes(of: rest) {
            Self.finish(hash &+ length, UnsafeRawBufferPointer(rebasing: $0[..<Int(length % 32)]), from: 0)
        }
    }

    private mutating func keep(_ bytes: UnsafeRawBufferPointer, from start: Int, count: Int, at offset: Int) {
        guard count > 0 else { return }
        withUnsafeMutableBytes(of: &rest) {
            let target = UnsafeMutableRawBufferPointer(rebasing: $0[offset..<offset + count])
            target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[start..<start + count]))
        }
    }
}

extension XXH64 {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5

    /// The four accumulators of the hash. Each accumulator processes 8 bytes of a stripe of 32 bytes.
    private struct Lanes: Sendable {
        var first, second, third, fourth: UInt64

        init(seed: UInt64) {
            first = seed &+ prime1 &+ prime2
            second = seed &+ prime2
            third = seed
            fourth = seed &- prime1
        }

        @inline(__always)
        mutating func consume(_ bytes: UnsafeRawBufferPointer, at offset: Int) {
            first = round(first, word(bytes, at: offset))
            second = round(second, word(bytes, at: offset + 8))
            third = round(third, word(bytes, at: offset + 16))
            fourth = round(fourth, word(bytes, at: offset + 24))
        }

        var merged: UInt64 {
            var hash = rotate(first, 1) &+ rotate(second, 7) &+ rotate(third, 12) &+ rotate(fourth, 18)
            hash = (hash ^ round(0, first)) &* prime1 &+ prime4
            hash = (hash ^ round(0, second)) &* prime1 &+ prime4
            hash = (hash ^ round(0, third)) &* prime1 &+ prime4
            return (hash ^ round(0, fourth)) &* prime1 &+ prime4
        }
    }

    /// Adds the bytes from `first` to the end (fewer than 32) to the hash `start`, and mixes all bits of the hash.
    @inline(__always)
    private static func finish(_ start: UInt64, _ bytes: UnsafeRawBufferPointer, from first: Int) -> UInt64 {
        var hash = start
        var offset = first
        while bytes.count - offset >= 8 {
            hash = rotate(hash ^ round(0, word(bytes, at: offset)), 27) &* prime1 &+ prime4
            offset += 8
        }
        if bytes.count - offset >= 4 {
            let half = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash = rotate(hash ^ (UInt64(half) &* prime1), 23) &* prime2 &+ prime3
            offset += 4
        }
        while offset < bytes.count {
            hash = rotate(hash ^ (UInt64(bytes[offset]) &* prime5), 11) &* prime1
            offset += 1
        }
        hash = (hash ^ (hash &>> 33)) &* prime2
        hash = (hash ^ (hash &>> 29)) &* prime3
        return hash ^ (hash &>> 32)
    }

    @inline(__always)
    private static func round(_ lane: UInt64, _ input: UInt64) -> UInt64 {
        rotate(lane &+ input &* prime2, 31) &* prime1
    }

    @inline(__always)
    private static func rotate(_ value: UInt64, _ bits: UInt64) -> UInt64 {
        value &<< bits | value &>> (64 &- bits)
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }
}
