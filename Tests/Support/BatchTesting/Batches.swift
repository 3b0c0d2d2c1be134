package import PushModel

/// Builds batches for tests.
package enum Batches {
    /// One job's pushes in a test batch.
    package struct Part {
        package var job: String
        package var options: PushOptions
        package var attempt: UInt8
        package var count: Int
        package var payloadPerPush: Bool
        /// Whether the payload of each push is a template and values. Rendered, it is ``Batches/payload(_:)``.
        package var hasTemplate: Bool
        /// Whether the pushes of the part have the same tokens as the pushes of the batch's first part.
        package var repeatsTokens: Bool

        package init(
            job: String = "job", options: PushOptions = PushOptions(), attempt: UInt8 = 0, count: Int = 1,
            payloadPerPush: Bool = false, hasTemplate: Bool = false, repeatsTokens: Bool = false
        ) {
            (self.job, self.options, self.attempt, self.count) = (job, options, attempt, count)
            (self.payloadPerPush, self.repeatsTokens) = (payloadPerPush || hasTemplate, repeatsTokens)
            self.hasTemplate = hasTemplate
        }
    }

    /// Returns a token that no other position has.
    package static func token(_ position: Int) -> [UInt8] {
        [UInt8](repeating: 0xA7, count: 30) + [UInt8(position >> 8), UInt8(truncatingIfNeeded: position)]
    }

    package static func position(ofToken token: ArraySlice<UInt8>) -> Int {
        Int(token[token.endIndex - 2]) << 8 | Int(token[token.endIndex - 1])
    }

    package static func payload(_ position: Int) -> [UInt8] { Array("{\"n\":\(position)}".utf8) }

    /// Encodes a batch.
    /// - Parameter first: the number of the first token.
    package static func body(_ parts: [Part], from first: Int = 0) -> [UInt8] {
        var builder = BatchBuilder()
        var position = first
        for part in parts {
            if part.repeatsTokens { position = first }
            let head = JobPartHead(
                jobID: part.job, options: part.options, attempt: part.attempt,
                cause: part.attempt > 0 ? "before" : "",
                payloadPerPush: part.payloadPerPush, hasTemplates: part.hasTemplate)
            Array((part.payloadPerPush ? "" : "{}").utf8).withUnsafeBytes { builder.begin(head, payload: $0) }
            for _ in 0..<part.count {
                token(position).withUnsafeBytes { token in
                    if part.hasTemplate {
                        append(token, position, to: &builder)
                    } else if part.payloadPerPush {
                        payload(position).withUnsafeBytes { builder.append(token: token, payload: $0) }
                    } else {
                        builder.append(token: token)
                    }
                }
                position += 1
            }
        }
        return builder.finish()!
    }

    /// Adds a push with a template and a value, as the parser makes them from a job.
    private static func append(
        _ token: UnsafeRawBufferPointer, _ position: Int, to builder: inout BatchBuilder
    ) {
        let push = #"{"token":"aabbccddeeff0011","values":{"n":\#(position)}}"#
        let job = try! JobParser.parse(
            Array(#"{"payload":{"n":"{{=n}}"},"pushes":[\#(push)]}"#.utf8), app: "demo", topic: "a.b", now: 0)
        job.details.withValues(of: 0) {
            builder.append(token: token, template: 0, job.details.templates[0], values: $0)
        }
    }
}
