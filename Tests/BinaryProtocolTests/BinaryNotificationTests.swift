import APNs
import BinaryProtocol
import Testing

@Suite struct BinaryNotificationTests {
    @Test(arguments: Vectors.frames) func `writes the recorded frames`(
        command: BinaryCommand, frame: [UInt8]
    ) {
        #expect(Vectors.frame(command) == frame)
        #expect(frame.count == [59, 67, 83][Int(command.rawValue)])
    }

    @Test func `a frame of items leaves out the fields that a push does not have`() {
        let frame = Vectors.frame(.framed, expiration: nil, priority: nil)
        #expect(frame.count == 72)
        #expect(frame[1..<5] == [0, 0, 0, 67])
        #expect(frame.suffix(7) == [3, 0, 4, 0, 0, 3, 0xe8])
    }

    @Test func `command 1 always has an expiration that fits a signed 32-bit number`() {
        #expect(Vectors.frame(.enhanced, expiration: nil)[5..<9] == [0x7f, 0xff, 0xff, 0xff])
    }
}
