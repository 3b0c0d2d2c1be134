import APNs
import Testing

struct RequestHeaderTests {
    @Test func `lists all headers in order, pseudo-headers first`() {
        #expect(
            RequestHeader.allCases.map(\.name) == [
                ":method", ":scheme", ":authority", ":path", "authorization", "apns-topic", "apns-push-type",
                "apns-priority", "apns-expiration", "apns-collapse-id", "apns-id",
                "content-length",
            ])
        #expect(RequestHeader.allCases.map(\.rawValue) == Array(0..<12))
    }

    @Test func `only what repeats is indexed`() {
        let indexed = RequestHeader.allCases.filter(\.isIndexed)
        #expect(indexed == [.method, .scheme, .authority, .topic, .pushType, .priority])
    }

    @Test func `values without a changing part are whole`() {
        let fixed = RequestHeader.allCases.filter { $0.capacity == 0 }
        #expect(fixed.map(\.prefix) == ["POST", "https"])
        #expect(RequestHeader.path.prefix == "/3/device/")
        #expect(RequestHeader.authorization.prefix == "bearer ")
    }
}
