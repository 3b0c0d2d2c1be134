import APNs
import Testing

struct CertificateTopicsTests {
    private func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        content.count < 128
            ? [tag, UInt8(content.count)] + content
            : [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
    }

    private func text(_ text: String) -> [UInt8] { element(0x0C, Array(text.utf8)) }

    private func list(_ topics: [(String, String)]) -> [UInt8] {
        element(0x30, topics.flatMap { text($0.0) + element(0x30, text($0.1)) })
    }

    private func topics(_ uid: String?, _ bytes: [UInt8]?) -> CertificateTopics? {
        guard let bytes else { return CertificateTopics(subjectUID: uid, topicsExtension: nil) }
        return bytes.withUnsafeBytes { CertificateTopics(subjectUID: uid, topicsExtension: $0) }
    }

    @Test func `reads the topics and skips their kinds`() {
        let all = [("com.x", "app"), ("com.x.voip", "voip"), ("com.x.complication", "complication")]
        let read = topics("com.x", list(all))
        #expect(read?.allowed == ["com.x", "com.x.voip", "com.x.complication"])
        #expect(read?.subjectTopic == "com.x")
        #expect(read?.onlyTopic == nil)
        #expect(withBytes("com.x.voip") { read?.allows($0) } == true)
        #expect(withBytes("app") { read?.allows($0) } == false)
        #expect(withBytes("com.x.voi") { read?.allows($0) } == false)
    }

    @Test func `the topic of the subject is added and may be the only topic`() {
        #expect(topics("com.y", list([("com.x", "app")]))?.allowed == ["com.x", "com.y"])
        #expect(topics("com.y", nil)?.onlyTopic == "com.y")
        #expect(topics("com.x", list([("com.x", "app")]))?.onlyTopic == "com.x")
        #expect(topics(nil, list([]))?.onlyTopic == nil)
    }

    @Test func `reads lists of more than 127 bytes`() {
        let many = (0..<60).map { ("com.example.number\($0)", "app") }
        #expect(topics(nil, list(many))?.allowed.count == 60)
    }

    @Test func `malformed extensions are refused`() {
        let good = list([("com.x", "app")])
        for count in 0..<good.count { #expect(topics("com.x", Array(good.prefix(count))) == nil) }
        #expect(topics("com.x", good + [0]) == nil)
        #expect(topics("com.x", element(0x31, [])) == nil)
        #expect(topics("com.x", element(0x30, element(0x0C, [0xFF]))) == nil)
        #expect(topics("com.x", element(0x30, [0x1F, 0x81, 0x00, 0x00])) == nil)
    }

    @Test(
        arguments: [
            [], [0x30], [0x30, 0x80], [0x30, 0x02, 0x0C], [0x30, 0x03, 0x0C, 0x02, 0x61], [0x0C, 0x01, 0x61],
            [0x30, 0x84, 0xFF, 0xFF, 0xFF, 0xFF],
            [0x30, 0x88, 0x7F, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF],
        ] as [[UInt8]])
    func `a malformed topic list is refused`(value: [UInt8]) {
        #expect(topics("com.x", value) == nil)
    }
}
