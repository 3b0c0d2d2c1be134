import APNs
import Testing

struct RequestHeadersTests {
    private func list(_ headers: borrowing RequestHeaders) -> [String] {
        (0..<headers.count).map {
            let (header, value) = headers[$0]
            return "\(header.name): \(String(decoding: value, as: UTF8.self))"
        }
    }

    private func setOptions(
        _ headers: inout RequestHeaders, topic: String?, type: String, priority: UInt8 = 10,
        expiration: Int64? = nil,
        collapseID: String? = nil
    ) {
        let topicBytes = topic.map { Array($0.utf8) }
        let collapseBytes = collapseID.map { Array($0.utf8) }
        func with(_ bytes: [UInt8]?, _ body: (UnsafeRawBufferPointer?) -> Void) {
            if let bytes { bytes.withUnsafeBytes { body($0) } } else { body(nil) }
        }
        with(topicBytes) { topic in
            with(collapseBytes) { collapse in
                withBytes(type) {
                    headers.setOptions(
                        topic: topic, pushType: $0, priority: priority, expiration: expiration,
                        collapseID: collapse)
                }
            }
        }
    }

    @Test func `lists all headers in order`() {
        var headers = RequestHeaders(authority: "api.push.apple.com")
        withBytes("aaa.bbb.ccc") { headers.setProviderToken($0) }
        setOptions(
            &headers, topic: "com.example", type: "alert", expiration: 1_700_000_000, collapseID: "order")
        ([0x00, 0xFC, 0x13, 0xAD, 0x9f] as [UInt8]).withUnsafeBytes { headers.setToken($0) }
        headers.setID { $0.copyBytes(from: "123e4567-e89b-82d3-a456-426614174000".utf8) }
        #expect(
            list(headers) == [
                ":method: POST", ":scheme: https", ":authority: api.push.apple.com",
                ":path: /3/device/00fc13ad9f",
                "authorization: bearer aaa.bbb.ccc", "apns-topic: com.example", "apns-push-type: alert",
                "apns-priority: 10", "apns-expiration: 1700000000", "apns-collapse-id: order",
                "apns-id: 123e4567-e89b-82d3-a456-426614174000",
            ])
    }

    @Test func `leaves out what is absent and brings it back`() {
        var headers = RequestHeaders(authority: "a:2197")
        setOptions(&headers, topic: nil, type: "background", priority: 5)
        let short = [
            ":method: POST", ":scheme: https", ":authority: a:2197", "apns-push-type: background",
            "apns-priority: 5",
        ]
        #expect(list(headers) == short)
        withBytes("t") { headers.setProviderToken($0) }
        setOptions(&headers, topic: "x", type: "voip", priority: 1, expiration: 0, collapseID: "c")
        #expect(
            list(headers) == [
                ":method: POST", ":scheme: https", ":authority: a:2197", "authorization: bearer t",
                "apns-topic: x",
                "apns-push-type: voip", "apns-priority: 1", "apns-expiration: 0", "apns-collapse-id: c",
            ])
        headers.setProviderToken(nil)
        setOptions(&headers, topic: nil, type: "background", priority: 5)
        #expect(list(headers) == short)
    }

    @Test func `values stay where they are when another push is written`() {
        var headers = RequestHeaders(authority: String(repeating: "h", count: 300))
        setOptions(&headers, topic: "x", type: "alert")
        let long = [UInt8](repeating: 0xAB, count: RequestHeaders.longestToken)
        long.withUnsafeBytes { headers.setToken($0) }
        let before = headers[3].value
        ([1] as [UInt8]).withUnsafeBytes { headers.setToken($0) }
        #expect(headers[3].value.baseAddress == before.baseAddress)
        #expect(list(headers)[3] == ":path: /3/device/01")
        #expect(list(headers)[2] == ":authority: " + String(repeating: "h", count: 300))
        #expect(list(headers)[4] == "apns-topic: x")
    }

    @Test func `only what repeats is indexed`() {
        let indexed = RequestHeader.allCases.filter(\.isIndexed)
        #expect(indexed == [.method, .scheme, .authority, .topic, .pushType, .priority])
    }
}
