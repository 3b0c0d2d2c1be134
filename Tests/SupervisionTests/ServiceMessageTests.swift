import Supervision
import Testing

struct ServiceMessageTests {
    @Test(arguments: [
        (ServiceMessage.ready, "READY=1"),
        (.status("2 hosts"), "STATUS=2 hosts"),
        (.watchdog, "WATCHDOG=1"),
        (.reloading(monotonicMicroseconds: 12), "RELOADING=1\nMONOTONIC_USEC=12"),
        (.stopping, "STOPPING=1"),
        (.extendTimeout(.milliseconds(1500)), "EXTEND_TIMEOUT_USEC=1500000"),
        (.mainProcess(42), "MAINPID=42"),
    ])
    func `each message has the text of the protocol`(message: ServiceMessage, text: String) {
        #expect(message.text == text)
    }

    @Test func `several messages are one datagram`() {
        let bytes = ServiceMessage.datagram([.ready, .status("2 hosts")])
        #expect(String(decoding: bytes, as: UTF8.self) == "READY=1\nSTATUS=2 hosts")
    }

    @Test func `a status text cannot contain another message`() {
        #expect(ServiceMessage.status("a\nREADY=1\r\u{7F}b").text == "STATUS=a READY=1  b")
    }

    @Test func `a long status is cut between two characters`() {
        let text = ServiceMessage.status(String(repeating: "é", count: 400)).text
        #expect(text == "STATUS=" + String(repeating: "é", count: ServiceMessage.longestStatus / 2))
    }
}
