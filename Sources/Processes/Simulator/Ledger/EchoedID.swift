import APNs
import PushModel

/// The `apns-id` of an answer: the request's own, or a new one. A plain value, so that an answer can wait
/// with it.
struct EchoedID {
    static let longest = 36

    private var storage: (UInt64, UInt64, UInt64, UInt64, UInt32) = (0, 0, 0, 0, 0)
    private var count: UInt8 = 0

    private init() {}

    /// Takes the request's id if it is short enough to be one, else makes one.
    init(_ id: UnsafeRawBufferPointer?, random: inout RandomSource) {
        self.init()
        guard let id, !id.isEmpty, id.count <= Self.longest else {
            self = EchoedID(random: &random)
            return
        }
        count = UInt8(id.count)
        withUnsafeMutableBytes(of: &storage) { $0.copyMemory(from: id) }
    }

    /// A new lower-case UUID, version 4.
    init(random: inout RandomSource) {
        self.init()
        let high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000
        let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        count = UInt8(Self.longest)
        withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes in
            withUnsafeMutableBytes(of: &storage) { room in
                for (from, to, length) in [(0, 0, 4), (4, 9, 2), (6, 14, 2), (8, 19, 2), (10, 24, 6)] {
                    Hexadecimal.write(
                        UnsafeRawBufferPointer(rebasing: bytes[from..<from + length]),
                        to: UnsafeMutableRawBufferPointer(rebasing: room[to...]))
                }
                for dash in [8, 13, 18, 23] { room[dash] = UInt8(ascii: "-") }
            }
        }
    }

    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        withUnsafeBytes(of: storage) { body(UnsafeRawBufferPointer(rebasing: $0[..<Int(count)])) }
    }
}
