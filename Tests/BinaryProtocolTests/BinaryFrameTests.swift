import APNs
import BinaryProtocol
import RandomTesting
import Testing

@Suite struct BinaryFrameTests {
    /// The result of a read, without borrowed bytes.
    enum Read: Hashable {
        case incomplete
        case notification(BinaryCommand, [UInt8], [UInt8], UInt32, UInt32?, UInt8?, Int)
        case unreadable(UInt32, Int?)
        case unknownCommand(UInt8)
    }

    private func read(_ bytes: [UInt8]) -> Read {
        bytes.withUnsafeBytes { bytes in
            switch BinaryFrame(readingFrontOf: bytes) {
            case .incomplete: .incomplete
            case .notification(let one, let command, let length):
                .notification(
                    command, Array(one.token), Array(one.payload), one.identifier, one.expiration,
                    one.priority,
                    length)
            case .unreadable(let identifier, let length): .unreadable(identifier, length)
            case .unknownCommand(let byte): .unknownCommand(byte)
            }
        }
    }

    @Test(arguments: Vectors.frames)
    func `reads recorded frames and leaves the bytes after a frame`(
        command: BinaryCommand, frame: [UInt8]
    ) {
        let isSimple = command == .simple
        #expect(
            read(frame + [2, 0, 0])
                == .notification(
                    command, Vectors.token, Vectors.payload, isSimple ? 0 : Vectors.identifier,
                    isSimple ? nil : Vectors.expiration, command == .framed ? 10 : nil, frame.count))
    }

    @Test(arguments: Vectors.frames)
    func `a frame is read once its last byte has arrived`(command: BinaryCommand, frame: [UInt8]) {
        for count in 0..<frame.count { #expect(read(Array(frame.prefix(count))) == .incomplete) }
    }

    @Test(arguments: [
        ("a command that nobody knows", "07 00", Read.unknownCommand(7)),
        (
            "items in another order", "02 00000010 03 0004 00000009 02 0001 41 01 0002 beef",
            .notification(.framed, [0xbe, 0xef], [0x41], 9, nil, nil, 21)
        ),
        ("no items at all", "02 00000000", .notification(.framed, [], [], 0, nil, nil, 5)),
        (
            "no payload", "02 0000000c 01 0002 beef 03 0004 00000007",
            .notification(.framed, [0xbe, 0xef], [], 7, nil, nil, 17)
        ),
        ("an item that goes beyond the frame", "02 00000005 01 0020 beef", .unreadable(0, 10)),
        (
            "an item after the identifier that goes beyond", "02 0000000a 03 0004 00000007 01 0020",
            .unreadable(7, 15)
        ),
        ("an unknown item", "02 00000004 09 0001 00", .unreadable(0, 9)),
        ("an item twice", "02 00000008 05 0001 0a 05 0001 0a", .unreadable(0, 13)),
        ("an identifier of three bytes", "02 00000006 03 0003 000007", .unreadable(0, 11)),
        ("an expiration of one byte", "02 00000004 04 0001 07", .unreadable(0, 9)),
        ("a priority of two bytes", "02 00000005 05 0002 000a", .unreadable(0, 10)),
        ("a frame that is longer than any", "02 00020001", .unreadable(0, nil)),
        ("a token without bytes", "00 0000 0001 41", .notification(.simple, [], [0x41], 0, nil, nil, 6)),
    ])
    func `reports the content of each frame`(what: String, text: String, expected: Read) {
        #expect(read(bytes(text)) == expected, "\(what)")
    }

    @Test func `random bytes are read without a trap and a frame ends within them`() {
        var random = SplitMix(seed: 2195)
        for _ in 0..<20_000 {
            var input = random.bytes(Int.random(in: 0...90, using: &random))
            if !input.isEmpty, !random.chance(4) { input[0] = UInt8.random(in: 0...2, using: &random) }
            if input.count > 5, !random.chance(3) { (input[1], input[2], input[3]) = (0, 0, 0) }
            switch read(input) {
            case .notification(_, _, _, _, _, _, let length): #expect((1...input.count).contains(length))
            case .unreadable(_, let length): #expect(length.map { (5...input.count).contains($0) } ?? true)
            case .incomplete, .unknownCommand: break
            }
        }
    }
}
