import Testing

@testable import PushModel

struct BatchTests {
    static func build(_ fill: (inout BatchBuilder) -> Void) -> [UInt8] {
        var builder = BatchBuilder()
        fill(&builder)
        let size = builder.byteCount
        let body = builder.finish() ?? []
        #expect(body.count == size || body.isEmpty)
        return body
    }

    /// A batch with two job parts, written by hand according to the documented layout.
    static let recorded = bytes(
        hex: """
            01 0002
            0002 00 02 6a31
            0001 01 02 6a32
            0021 00 08 0a 00 00 00 0000000000000000 0000000000000000 0000000000000000 00 00 00
            00000002 7b7d
            02 aabb 01 cc
            0029 02 64 05 01 01 5f
            00000000000003e8 00000000000007d0 fffffffffffffff6 03 353033 01 63 04 612e6262
            00000000
            01 dd 00000003 7b207d
            """)

    static func writeRecorded(_ builder: inout BatchBuilder) {
        let first = JobPartHead(jobID: "j1", options: PushOptions())
        Array("{}".utf8).withUnsafeBytes { builder.begin(first, payload: $0) }
        [UInt8]([0xaa, 0xbb]).withUnsafeBytes { builder.append(token: $0) }
        [UInt8]([0xcc]).withUnsafeBytes { builder.append(token: $0) }
        let options = PushOptions(
            pushType: .background, priority: 5, expiration: 1000, deadline: 2000, collapseID: "c",
            topic: "a.bb",
            receipts: .all, delivery: .atMostOnce, maxAttempts: 100, registeredAt: -10,
            isStored: true)
        let second = JobPartHead(
            jobID: "j2", options: options, attempt: 2, cause: "503", payloadPerPush: true)
        builder.begin(second, payload: UnsafeRawBufferPointer(start: nil, count: 0))
        [UInt8]([0xdd]).withUnsafeBytes { token in
            Array("{ }".utf8).withUnsafeBytes { builder.append(token: token, payload: $0) }
        }
    }

    @Test func `writes the recorded bytes`() {
        #expect(hex(Self.build(Self.writeRecorded)) == hex(Self.recorded))
    }

    @Test func `reads the recorded bytes`() throws {
        let batch = try Batch(decoding: Self.recorded)
        #expect(batch.jobParts.count == 2 && batch.pushes.count == 3)
        #expect(batch.jobID(of: 0) == "j1" && batch.jobID(of: 1) == "j2")
        #expect(batch.jobParts[0].options == PushOptions())
        #expect(batch.jobParts[1].options.isStored)
        #expect(batch.jobParts[0].attempt == 0 && batch.jobParts[0].cause.isEmpty)
        #expect(batch.jobParts[0].pushes == 0..<2 && batch.jobParts[1].pushes == 2..<3)
        #expect(batch.jobParts[1].attempt == 2 && batch.text(batch.jobParts[1].cause) == "503")
        #expect(batch.jobParts[1].options.registeredAt == -10)
        #expect(batch.jobParts[1].options.delivery == .atMostOnce)
        #expect(batch.pushes.map { hex(batch.bytes[$0.token]) } == ["aabb", "cc", "dd"])
        #expect(batch.pushes.map { batch.text($0.payload) } == ["{}", "{}", "{ }"])
        #expect(batch.pushes.map(\.jobPart) == [0, 0, 1])
    }

    @Test func `a push takes 16 bytes of memory`() {
        #expect(MemoryLayout<Batch.Push>.stride == 16)
    }

    @Test func `a job part without pushes is not written`() {
        let empty = JobPartHead(jobID: "nobody", options: PushOptions())
        let nothing = UnsafeRawBufferPointer(start: nil, count: 0)
        var builder = BatchBuilder()
        builder.begin(empty, payload: nothing)
        Self.writeRecorded(&builder)
        builder.begin(empty, payload: nothing)
        #expect(builder.finish() == Self.recorded)
        #expect(builder.isEmpty && builder.finish() == nil)
        builder.begin(empty, payload: nothing)
        #expect(builder.finish() == nil)
    }

    @Test func `copies encoded job parts of another batch unchanged`() throws {
        let batch = try Batch(decoding: Self.recorded)
        let body = Self.build { builder in
            for jobPart in batch.jobParts {
                batch.bytes.withUnsafeBytes { bytes in
                    builder.append(
                        jobPart: UnsafeRawBufferPointer(rebasing: bytes[jobPart.encoded]),
                        tokens: jobPart.pushes.count, jobID: Array(bytes[jobPart.jobID]),
                        isAtMostOnce: jobPart.options.delivery == .atMostOnce)
                }
            }
        }
        #expect(body == Self.recorded)
    }

    @Test func `refuses every truncation and every extra byte`() {
        for length in 0..<Self.recorded.count {
            #expect(throws: CodecError.self) { try Batch(decoding: Array(Self.recorded[..<length])) }
        }
        #expect(throws: CodecError(fault: .trailing, offset: Self.recorded.count)) {
            try Batch(decoding: Self.recorded + [0])
        }
    }

    static let impossible: [(offset: Int, value: UInt8, fault: CodecError.Fault)] = [
        (0, 2, .version(2)), (2, 0, .value(.jobParts)), (4, 0, .value(.tokens)),
        (5, 1, .value(.flags)), (5, 2, .value(.flags)), (7, 0xff, .value(.jobID)),
        (16, 0x20, .value(.options)),
        (18, 0, .value(.maxAttempts)), (18, 101, .value(.maxAttempts)), (19, 2, .value(.priority)),
        (20, 11, .value(.pushType)), (21, 3, .value(.receipts)), (22, 32, .value(.flags)),
        (22, 1, .value(.payload)), (30, 1, .value(.expiration)), (38, 1, .value(.deadline)),
        (46, 1, .value(.registeredAt)), (56, 0, .value(.token)),
    ]

    @Test(arguments: impossible)
    func `refuses impossible values`(offset: Int, value: UInt8, fault: CodecError.Fault) {
        var body = Self.recorded
        body[offset] = value
        #expect {
            try Batch(decoding: body)
        } throws: {
            ($0 as? CodecError)?.fault == fault
        }
    }

    @Test func `a batch without job parts is refused`() {
        #expect(throws: CodecError.self) { try Batch(decoding: [1, 0, 0]) }
    }
}
