import Testing

@testable import Gateway
@testable import HTTP2

struct APNsServiceTests {
    private static let fields = APNsService.fields(authority: "localhost:443")

    @Test func `lists all headers in order, pseudo-headers first`() {
        #expect(
            Self.fields.map(\.name) == [
                ":method", ":scheme", ":authority", ":path", "authorization", "apns-topic", "apns-push-type",
                "apns-priority", "apns-expiration", "apns-collapse-id", "apns-id", "content-length",
            ])
    }

    @Test func `only repeated fields are indexed`() {
        #expect(
            Self.fields.filter(\.indexed).map(\.name) == [
                ":method", ":scheme", ":authority", "apns-topic", "apns-push-type", "apns-priority",
            ])
    }

    @Test func `values without a variable part are complete`() {
        #expect(
            Self.fields.filter { $0.capacity == nil }.map(\.prefix) == ["POST", "https", "localhost:443"])
        #expect(Self.fields[3].prefix == "/3/device/")
        #expect(Self.fields[4].prefix == "bearer ")
    }
}
