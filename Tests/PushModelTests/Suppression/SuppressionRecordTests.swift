import Testing

@testable import PushModel

struct SuppressionRecordTests {
    @Test func `a record contains its letter, scope, time and token`() {
        let record = SuppressionRecord(
            reason: .unregistered, scope: 0x0102_0304, time: 1_700_000_000, token: [0xAA, 0xBB])
        #expect(record.bytes == [0x55, 1, 2, 3, 4, 0x65, 0x53, 0xF1, 0x00, 0xAA, 0xBB])
        #expect(SuppressionRecord(decoding: record.bytes) == record)
    }

    @Test(arguments: SuppressionReason.allCases.map(Optional.some) + [nil])
    func `every reason and a removal are read as they were written`(reason: SuppressionReason?) {
        let record = SuppressionRecord(reason: reason, scope: .max, time: 0, token: [UInt8](0..<100)[...])
        #expect(SuppressionRecord(decoding: record.bytes) == record)
    }

    @Test(
        arguments: [[], [0x55], [0x55, 1, 2, 3, 4, 5, 6, 7, 8], [0x21, 1, 2, 3, 4, 5, 6, 7, 8, 9]]
            as [[UInt8]])
    func `bytes that are not a record are refused`(bytes: [UInt8]) {
        #expect(SuppressionRecord(decoding: bytes) == nil)
    }

    @Test(arguments: [(Int64(-1), UInt32(0)), (1 << 40, .max)])
    func `a time that does not fit becomes the nearest possible time`(time: Int64, kept: UInt32) {
        #expect(SuppressionRecord(reason: nil, scope: 0, time: time, token: [1]).time == kept)
    }

    @Test(arguments: [
        ("BadDeviceToken", 400, SuppressionReason.badDeviceToken), ("Unregistered", 410, .unregistered),
        ("ExpiredToken", 410, .expiredToken), ("DeviceTokenNotForTopic", 400, .deviceTokenNotForTopic),
        ("InvalidToken", 8, .invalidToken), ("InvalidTokenSize", 5, .invalidTokenSize),
        ("SomethingNew", 410, .unregistered), ("SomethingNew", 400, nil), ("Feedback", 400, nil),
        ("Operator", 410, .unregistered),
    ])
    func `a response is stored under its own letter`(name: String, status: Int, reason: SuppressionReason?) {
        #expect(SuppressionReason(response: name, status: status) == reason)
    }

    @Test func `a scope is an environment and a topic and has a number`() {
        let scope = SuppressionScope(environment: "production", topic: "com.example.demo")
        #expect(scope.text == "production com.example.demo")
        #expect(SuppressionScope(text: scope.text) == scope)
        #expect(SuppressionScope(text: "production ")?.topic == "")
        #expect(SuppressionScope(text: "production") == nil)
        let others = [
            SuppressionScope(environment: "sandbox", topic: "com.example.demo"),
            SuppressionScope(environment: "production", topic: "com.example.demo.voip"),
        ]
        #expect(Set((others + [scope]).map(\.number)).count == 3)
        // Stored records contain the number of a reason, so this number must never change.
        #expect(
            scope.number
                == UInt32(truncatingIfNeeded: XXH64.hash(Array("production com.example.demo".utf8), seed: 0)))
    }
}
