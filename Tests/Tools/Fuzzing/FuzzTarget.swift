/// A reader of untrusted bytes, with the properties that must hold for all bytes.
package struct FuzzTarget: Sendable {
    package let name: String
    /// Byte strings with a meaning to the reader. Mutations insert these byte strings.
    package let words: [String]
    /// The length limit of inputs. Longer inputs find no further faults.
    package let longestInput: Int
    /// Checks the properties for an input. The check is pure: equal inputs have equal results. A trap counts as a violation too.
    package let check: @Sendable ([UInt8]) throws(Violation) -> Void

    init(
        _ name: String, words: [String], longestInput: Int = 4096,
        check: @escaping @Sendable ([UInt8]) throws(Violation) -> Void
    ) {
        (self.name, self.words, self.longestInput, self.check) = (name, words, longestInput, check)
    }

    package static let all: [FuzzTarget] = [
        .job, .device, .response, .batch, .results, .configuration, .resp, .replies, .control, .http2,
        .frames,
        .gatewayReply, .feedback, .zone, .cron, .segment, .campaignState,
    ]
}

/// A property that did not hold.
package struct Violation: Error, CustomStringConvertible {
    package let description: String

    init(_ description: String) { self.description = description }

    static func unless(
        _ condition: Bool, _ description: @autoclosure () -> String
    ) throws(Violation) {
        if !condition { throw Violation(description()) }
    }
}
