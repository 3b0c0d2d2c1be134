import RandomTesting
import Testing

@testable import PushModel

/// Batches of version 2, whose payloads are rendered when the batch is decoded.
struct TemplateBatchTests {
    /// A batch with one template, written by hand according to the documented layout.
    private static let recorded = bytes(
        hex: """
            02 0002
            0002 00 02 6a31
            0001 00 02 6a32
            0021 00 08 0a 00 00 21 0000000000000000 0000000000000000 0000000000000000 00 00 00
            00000000
            02 aabb 0000001a ffff 02 ff 03 796f75 0002 00 0003 7b2278 01 0002 227d 03 416461 ff
            01 cc 00000007 0000 02 4d65 01 21
            0021 00 08 0a 00 00 00 0000000000000000 0000000000000000 0000000000000000 00 00 00
            00000002 7b7d 01 dd
            """)

    private static func append(
        _ builder: inout BatchBuilder, token: [UInt8], template: Int, _ encoded: [UInt8], _ values: [String?]
    ) {
        var bytes: [UInt8] = []
        for value in values {
            let text = value.map { Array($0.utf8) }
            if let text {
                text.withUnsafeBytes { SlotText.write($0, to: &bytes) }
            } else {
                SlotText.write(nil, to: &bytes)
            }
        }
        token.withUnsafeBytes { token in
            bytes.withUnsafeBytes { builder.append(token: token, template: template, encoded, values: $0) }
        }
    }

    private static func template(_ payload: String) throws -> Template {
        try Array(payload.utf8).withUnsafeBytes {
            try PayloadTemplate(compiling: 0..<$0.count, of: $0).template
        }
    }

    private static var empty: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: nil, count: 0) }

    private static func head(_ job: String, _ options: PushOptions = PushOptions()) -> JobPartHead {
        JobPartHead(jobID: job, options: options, payloadPerPush: true, hasTemplates: true)
    }

    private static func payloads(_ batch: Batch) -> [String] { batch.pushes.map { batch.text($0.payload) } }

    @Test func `reads the recorded bytes and renders them`() throws {
        let batch = try Batch(decoding: Self.recorded)
        #expect(Self.payloads(batch) == [#"{"xAda"}you"#, #"{"xMe"}!"#, "{}"])
        #expect(batch.jobParts.map(\.pushes) == [0..<2, 2..<3] && batch.jobID(of: 1) == "j2")
        #expect(batch.jobParts.map(\.hasPayloadPerPush) == [true, false])
        #expect(batch.pushes.map { hex(batch.bytes[$0.token]) } == ["aabb", "cc", "dd"])
        #expect(batch.bytes.first == BatchLayout.version, "the rendered batch has no templates")
    }

    @Test func `a template is written once in a batch, whatever the job parts`() throws {
        let (hello, bye) = (
            try Self.template(#"{"a":"Hi {{n|you}}"}"#), try Self.template(#"{"b":"{{n}} {{m}}"}"#)
        )
        var builder = BatchBuilder()
        builder.begin(Self.head("one"), payload: Self.empty)
        Self.append(&builder, token: [1], template: 7, hello.encoded, ["Ada"])
        Self.append(&builder, token: [2], template: 9, bye.encoded, ["x", "1"])
        Self.append(&builder, token: [3], template: 7, hello.encoded, [nil])
        builder.begin(JobPartHead(jobID: "two", options: PushOptions()), payload: Self.empty)
        [UInt8]([4]).withUnsafeBytes { builder.append(token: $0) }
        let other = PushOptions(collapseID: "c", delivery: .atMostOnce)
        builder.begin(Self.head("one", other), payload: Self.empty)
        let before = builder.byteCount
        let long = String(repeating: "y", count: 254)
        Self.append(&builder, token: [5], template: 9, bye.encoded, [long, "2"])
        #expect(builder.byteCount - before == 2 + 4 + 2 + 3 + 254 + 2, "the template is not repeated")
        #expect(builder.contains(template: 9) && !builder.contains(template: 8))
        let body = builder.finish() ?? []
        #expect(body[0] == 2 && !builder.contains(template: 9))

        let batch = try Batch(decoding: body)
        #expect(
            Self.payloads(batch) == [
                #"{"a":"Hi Ada"}"#, #"{"b":"x 1"}"#, #"{"a":"Hi you"}"#, "",
                "{\"b\":\"\(long) 2\"}",
            ])
        #expect(batch.jobParts.map { batch.text($0.jobID) } == ["one", "two", "one"])
        #expect(batch.jobParts[2].options == other && batch.jobParts[0].options == PushOptions())
    }

    @Test func `a batch without templates has version 1, and an old worker refuses version 2`() throws {
        var builder = BatchBuilder()
        builder.begin(JobPartHead(jobID: "j", options: PushOptions()), payload: Self.empty)
        [UInt8]([4]).withUnsafeBytes { builder.append(token: $0) }
        let body = builder.finish()
        #expect(body?.first == 1)
        // A release without templates decodes a batch as version 1.
        let fault = #expect(throws: CodecError.self) {
            try Self.recorded.withUnsafeBytes { try Batch.decode($0, version: 1) }
        }
        #expect(fault?.fault == .version(2))
        // If the version is 1, the decoder refuses a batch with templates, so that no template is sent as a payload.
        #expect(throws: CodecError.self) { try Batch(decoding: [1] + Self.recorded.dropFirst()) }
        // The table of a batch must be readable in every version: Redis uses the table, and so does the farm when it settles a
        // batch that it cannot decode.
        #expect(try Batch.table(Self.recorded).map(\.job) == ["j1", "j2"])
    }

    @Test(arguments: [
        // Each pair replaces valid bytes by damaged bytes. For example, the damaged bytes name a template or a slot that does not
        // exist, or a value is missing.
        ("01 cc 00000007 0000 02", "01 cc 00000007 0001 02"), ("0002 00 0003 7b2278", "0002 02 0003 7b2278"),
        ("03 416461 ff", "ff 03 416461"), ("02 4d65 01 21", "02 4d65 00 21"),
    ]) func `damage is refused`(right: String, wrong: String) {
        let text = hex(Self.recorded)
        let (right, wrong) = (right.replacing(" ", with: ""), wrong.replacing(" ", with: ""))
        #expect(text.contains(right))
        #expect(throws: CodecError.self) {
            try Batch(decoding: bytes(hex: text.replacing(right, with: wrong)))
        }
    }

    @Test func `a damaged template cannot exhaust the memory`() {
        // The template uses one slot 2,000 times. With a value of 65,000 bytes, the payload would have 130 MB.
        var template = Template()
        template.addSlot(default: nil)
        for _ in 0..<2000 { template.addPart(Self.empty, slot: 0) }
        var builder = BatchBuilder()
        builder.begin(Self.head("j"), payload: Self.empty)
        Self.append(
            &builder, token: [1], template: 0, template.encoded, [String(repeating: "x", count: 65_000)])
        let body = builder.finish() ?? []
        #expect(throws: CodecError.self) { try Batch(decoding: body) }
    }

    @Test func `damaged bodies are read or refused and never trap`() throws {
        var random = SplitMix(seed: 23)
        let template = try Self.template(#"{"a":"Hi {{n|you}} {{m}}"}"#).encoded
        var (read, refused) = (0, 0)
        for _ in 0..<5000 {
            var builder = BatchBuilder()
            builder.begin(Self.head("j"), payload: Self.empty)
            for number in 0..<random.int(in: 1...4) {
                Self.append(
                    &builder, token: random.bytes(8), template: number % 2, template,
                    [random.chance(2) ? nil : "abc", "d"])
            }
            var body = builder.finish() ?? []
            for _ in 0..<random.int(in: 0...3) {
                body[random.int(in: 0...body.count - 1)] = UInt8(truncatingIfNeeded: random.next())
            }
            if random.chance(8) { body.removeLast(random.int(in: 1...body.count)) }
            do {
                let batch = try Batch(decoding: body)
                for push in batch.pushes { #expect(push.payload.upperBound <= batch.bytes.count) }
                read += 1
            } catch {
                refused += 1
            }
        }
        #expect(read > 500 && refused > 1000, "\(read) \(refused)")
    }
}
