import APNs
import BinaryProtocol
import Testing

@Suite struct BinaryNotificationTests {
    @Test(arguments: Vectors.frames) func `frames are the recorded ones`(
        command: BinaryCommand, frame: [UInt8]
    ) {
        #expect(Vectors.frame(command) == frame)
        #expect(frame.count == [59, 67, 83][Int(command.rawValue)])
    }

    @Test func `what a push does not say is left out of a frame of items`() {
        let frame = Vectors.frame(.framed, expiration: nil, priority: nil)
        #expect(frame.count == 72)
        #expect(frame[1..<5] == [0, 0, 0, 67])
        #expect(frame.suffix(7) == [3, 0, 4, 0, 0, 3, 0xe8])
    }

    @Test func `command 1 has to name an expiration, and names one that signed clocks understand`() {
        #expect(Vectors.frame(.enhanced, expiration: nil)[5..<9] == [0x7f, 0xff, 0xff, 0xff])
    }
}
